#!/usr/bin/env python3
"""A second verifier of Exhibit bundles, depths 1 and 2, written from docs/format.md alone.

Usage: verify.py BUNDLE... --trust FILE [--revoked FILE] [--repo DIR] [--now TIMESTAMP]
       [--recipient R] [--issuer P] [--repository ID] [--revision COMMIT] [--max-age SECONDS] [--require-worktree]

Prints one JSON object a line for each bundle: ok, depth, reasons, and the verdicts of the citations. Exit code 0 only
when every bundle holds.
Numbers such as 9.3 are sections of docs/format.md. Only the standard library is used; Git objects are read with
`git cat-file` and hashed again here. Worktree bytes are compared as they are: where Git could convert them (14.2)
the verdict is "undecided".
"""

import argparse
import base64
import binascii
import calendar
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import time


class Refused(Exception):
    """A check that does not hold: reason and detail."""

    def __init__(self, reason, detail=""):
        super().__init__(reason + ": " + detail)
        self.reason, self.detail = reason, detail


class Invalid(Exception):
    """A document that breaks a rule: the member and the rule."""

    def __init__(self, field, detail=""):
        super().__init__(field + ": " + detail)
        self.field, self.detail = field, detail


def need(ok, field, detail=""):
    if not ok:
        raise Invalid(field, detail)


# 7.1 strict JSON. A schema is a type: str, int, bool, [element], or {name: schema}; a name that ends in ? may be
# absent and is then absent when empty; one that ends in ?? may be absent or empty.

MAX_INT = 2**53 - 1
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
ESCAPES = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def space(self):
        while self.data[self.at : self.at + 1] in (b" ", b"\t", b"\n", b"\r"):
            self.at += 1

    def take(self, token):
        if self.data.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def value(self, schema, field):
        if isinstance(schema, dict):
            return self.object(schema, field)
        if isinstance(schema, list):
            return self.array(schema[0], field)
        if schema is str:
            return self.string(field)
        if schema is bool:
            if self.take(b"true"):
                return True
            need(self.take(b"false"), field, "want a boolean")
            return False
        return self.integer(field)

    def object(self, schema, field):
        need(self.take(b"{"), field, "want an object")
        names = {name.rstrip("?"): (name, sub) for name, sub in schema.items()}
        out = {}
        self.space()
        if not self.take(b"}"):
            while True:
                name = self.string(field)
                need(name in names, field, "unknown member %r" % name)
                need(name not in out, field, "member %r twice" % name)
                inner = field + "." + name if field else name
                self.space()
                need(self.take(b":"), field, "want a colon")
                self.space()
                v = self.value(names[name][1], inner)
                full = names[name][0]
                if full.endswith("?") and not full.endswith("??"):
                    need(isinstance(v, dict) or v not in ("", 0, False, []), inner, "empty and not left out")
                out[name] = v
                self.space()
                if self.take(b"}"):
                    break
                need(self.take(b","), field, "want a comma")
                self.space()
        for name, (full, _) in names.items():
            need(name in out or full.endswith("?"), field, "member %r is missing" % name)
        return out

    def array(self, schema, field):
        need(self.take(b"["), field, "want an array")
        out = []
        self.space()
        if self.take(b"]"):
            return out
        while True:
            out.append(self.value(schema, "%s[%d]" % (field, len(out))))
            self.space()
            if self.take(b"]"):
                return out
            need(self.take(b","), field, "want a comma")
            self.space()

    def integer(self, field):
        m = NUMBER.match(self.data, self.at)
        need(m is not None, field, "want an integer")
        self.at = m.end()
        need(self.data[self.at : self.at + 1] not in (b".", b"e", b"E") and not self.data[self.at : self.at + 1].isdigit(), field, "not a plain integer")
        need(m.group() != b"-0" and abs(int(m.group())) <= MAX_INT, field, "not a plain integer below 2^53")
        return int(m.group())

    def string(self, field):
        need(self.take(b'"'), field, "want a string")
        out = bytearray()
        while True:
            c = self.data[self.at : self.at + 1]
            need(c != b"", field, "the string does not end")
            if c == b'"':
                self.at += 1
                break
            if c != b"\\":
                need(c >= b" ", field, "a control character")
                out += c
                self.at += 1
                continue
            self.at += 1
            c = self.data[self.at : self.at + 1]
            self.at += 1
            if c in ESCAPES:
                out += ESCAPES[c].encode()
                continue
            need(c == b"u", field, "unknown escape")
            code = self.hex4(field)
            if 0xD800 <= code < 0xE000:
                need(code < 0xDC00 and self.take(b"\\u"), field, "a lone surrogate")
                low = self.hex4(field)
                need(0xDC00 <= low < 0xE000, field, "a lone surrogate")
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            out += chr(code).encode()
        try:
            return out.decode("utf-8")
        except UnicodeDecodeError:
            raise Invalid(field, "not UTF-8")

    def hex4(self, field):
        digits = self.data[self.at : self.at + 4]
        need(re.fullmatch(rb"[0-9a-fA-F]{4}", digits) is not None, field, "want four hex digits")
        self.at += 4
        return int(digits, 16)


def read_json(data, schema, limit):
    need(len(data) <= limit, "", "too large")
    r = Reader(data)
    r.space()
    v = r.value(schema, "")
    r.space()
    need(r.at == len(data), "", "data after the document")
    return v


def canonical(v):
    """7.2"""
    return json.dumps(v, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


# 1 words

CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def is_code(s):
    return CODE.fullmatch(s) is not None


def is_hex(s, digits):
    return len(s) == digits and re.fullmatch(r"[0-9a-f]*", s) is not None


def is_recipient(s):
    parts = s.split(":")
    return len(parts) == 2 and all(NAME.fullmatch(p) for p in parts)


def is_text(s):
    return 1 <= len(s.encode()) <= 256 and s.isprintable()


def seconds(s, field):
    need(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", s) is not None, field, "no timestamp")
    try:
        t = calendar.timegm(time.strptime(s, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        raise Invalid(field, "no such time")
    need(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t)) == s, field, "no such time")
    return t


def from_base64(s, field):
    try:
        raw = base64.b64decode(s, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(field, "not base64")
    need(base64.b64encode(raw).decode() == s, field, "not canonical base64")
    return raw


def sha256(b):
    return hashlib.sha256(b).hexdigest()


def id_length(object_format):
    return 64 if object_format == "sha256" else 40


# 9 the packet

PATH = {"path?": str, "path_base64?": str}
ENTITY = {"id": str, "kind": str, "language": str, "name": str, "qualified_name": str, "start_line": int, "end_line": int, **PATH}
CITATION = {"start_line": int, "end_line": int, "role": str, "blob": str, "snippet_sha256": str, "snippet?": str, "snippet_base64?": str, **PATH}
RANGE = {"start_line": int, "end_line": int}
COVERAGE = {"eligible": int, "parsed": int, "partial": int, "failed": int, "skipped": [{"reason": str, "files": int}],
            "partial_files": [{"ranges": [RANGE], **PATH}], "failed_files": [PATH], "resolved_references": int,
            "candidate_references": int, "unresolved_references": int, "external_references": int}
CLAIM = {"subject": ENTITY, "relation": str, "object?": ENTITY, "hop?": int, "via?": str, "candidates?": int, "granularity?": str,
         "reason?": str, "tier?": str, "witness_path?": [str], "within?": ENTITY}
DOCUMENT = {"text": str, "claim": CLAIM, "strength?": str, "rule_id?": str, "confidence": str, "source_kind": str, "citations": [CITATION]}
PACKET = {"schema": str, "provider": str, "kind": str, "repository": {"object_format": str, "commit": str, "tree": str},
          "content_fingerprint": str, "source": str, "dirty": bool, "worktree_digest?": str, "question": str, "target": str, "paths?": [str],
          "bounds": {"depth": int, "node_budget": int, "max_bytes": int, "limit?": int, "path_prefix?": str, "language?": str, "node_kind?": str, "level?": str},
          "seeds": [{"entity": ENTITY, "citations": [CITATION]}], "completeness": str, "generation_completeness": str,
          "query_completeness": str, "truncated": bool, "omissions": [str], "cuts": [{"bound": str, "limit": int, "dropped": int}],
          "limitations": [str], "unresolved_entities?": [ENTITY], "unresolved_mentions?": {"name": str, "count": int, "sites": [CITATION], "external": int},
          "coverage?": COVERAGE, "documents": [DOCUMENT]}
OMISSIONS = {"provider_partial", "provider_has_more", "unresolved_entities", "provider_warning", "provider_compaction", "text_limit",
             "document_limit", "source_title_unavailable", "missing_citation", "unsupported_record_kind", "secret_suspected"}
WORDS = {"calls": ("calls", "may call"), "imports": ("imports", "may import"), "inherits": ("inherits from", "may inherit from"),
         "references": ("references", "may reference"), "contains": ("contains", "may contain"), "tests": ("tests", "may test")}


def two_members(d, name, field):
    """The rule of path and path_base64, of snippet and snippet_base64; gives the bytes, or None."""
    if name + "_base64" in d:
        need(name not in d, field, "stands in both members")
        raw = from_base64(d[name + "_base64"], field)
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw
        raise Invalid(field, "base64 of text")
    return d[name].encode() if name in d else None


def check_path(d, field):
    raw = two_members(d, "path", field)
    need(raw is not None and 1 <= len(raw) <= 4096 and b"\0" not in raw, field, "no path")
    need(not any(part in (b"", b".", b"..") for part in raw.split(b"/")), field, "no path")
    return raw


def check_entity(e, field):
    need(1 <= len(e["id"].encode()) <= 64, field + ".id")
    need(is_code(e["kind"]), field + ".kind")
    need(e["language"] == "" or is_code(e["language"]), field + ".language")
    need(len(e["name"].encode()) <= 4112 and 1 <= len(e["qualified_name"].encode()) <= 4112, field + ".qualified_name")
    need(0 <= e["start_line"] <= e["end_line"], field + ".start_line")
    check_path(e, field + ".path")


def lines_of(content, start, end):
    """The exact bytes of lines start to end, or None."""
    lines = content.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if start < 1 or end < start or end > len(lines):
        return None
    return b"".join(lines[start - 1 : end])


def check_citation(c, field, digits):
    check_path(c, field + ".path")
    n = c["end_line"] - c["start_line"] + 1
    need(c["start_line"] >= 1 and 1 <= n <= 12, field + ".start_line")
    role = c["role"]
    kind, colon, relation = role.partition(": ")
    need(role in ("definition", "definition: subject", "definition: object", "unresolved mention")
         or kind in ("call site", "witness") and colon and relation in WORDS, field + ".role")
    need(is_hex(c["blob"], digits), field + ".blob")
    need(is_hex(c["snippet_sha256"], 64), field + ".snippet_sha256")
    raw = two_members(c, "snippet", field + ".snippet")
    if raw is not None:
        need(lines_of(raw, 1, n) == raw, field + ".snippet", "other lines")
        need(sha256(raw) == c["snippet_sha256"], field + ".snippet", "other digest")


def sentence(claim, strength):
    s, r = claim["subject"]["qualified_name"], claim["relation"]
    if r == "defines":
        return "%s is defined (%s)" % (s, claim["subject"]["kind"])
    o = claim["object"]["qualified_name"]
    if r == "resembles":
        if claim.get("reason") == "directory_hint":
            return "%s stands near %s; a hint by folder only" % (s, o)
        return "%s is named like %s; a hint by name only" % (s, o)
    text = "%s %s %s" % (s, WORDS[r][strength == "candidate"], o)
    if strength == "candidate" and claim["candidates"] > 1:
        text += ", one of %d candidates" % claim["candidates"]
    text += {"module": ", by its module", "class": ", by its class"}.get(claim.get("granularity"), "")
    if "within" in claim:
        text += ", inside " + claim["within"]["qualified_name"]
    if claim.get("hop", 0) > 0:
        text += "; hop %d" % claim["hop"]
        if claim.get("via", "") == claim["object"]["id"]:
            text += ", reached from " + o
        elif claim.get("via", "") == claim["subject"]["id"]:
            text += ", reached from " + s
    return text


def check_document(d, field, digits):
    claim, strength = d["claim"], d.get("strength")
    r, subject, thing, within = claim["relation"], claim["subject"], claim.get("object"), claim.get("within")
    check_entity(subject, field + ".claim.subject")
    need(r in WORDS or r in ("defines", "resembles"), field + ".claim.relation")
    need((thing is None) == (r == "defines"), field + ".claim.object")
    if thing is not None:
        check_entity(thing, field + ".claim.object")
    if within is not None:
        check_entity(within, field + ".claim.within")
        need(r in WORDS, field + ".claim.within")
    need(claim.get("hop", 0) >= 0 and claim.get("candidates", 0) >= 0, field + ".claim")
    need(strength in ("resolved_static", "candidate") if r in WORDS else strength is None, field + ".strength")
    need((claim.get("candidates", 0) > 0) == (strength == "candidate"), field + ".claim.candidates")
    for owner, name in ((d, "rule_id"), (claim, "granularity"), (claim, "reason"), (claim, "tier")):
        need(name not in owner or is_code(owner[name]), field + "." + name)
    need(d["text"] == sentence(claim, strength), field + ".text", "not the sentence of the claim")
    confidence = "extracted"
    if strength == "candidate" and claim["candidates"] > 1:
        confidence = "unknown"
    elif strength == "candidate" or r == "resembles":
        confidence = "inferred"
    need(d["confidence"] == confidence, field + ".confidence")
    need(d["source_kind"] == "local_repository_graph", field + ".source_kind")
    need(1 <= len(d["citations"]) <= 10, field + ".citations")
    for i, c in enumerate(d["citations"]):
        check_citation(c, "%s.citations[%d]" % (field, i), digits)
    roles = {c["role"] for c in d["citations"]}
    need(not (r in WORDS and r != "contains") or "call site: " + r in roles, field + ".citations", "no site")
    need(not (r == "defines" or within is not None and within["kind"] != "file") or "definition" in roles, field + ".citations", "no definition")
    if r != "defines":
        need(subject["kind"] == "file" or "definition: subject" in roles, field + ".citations", "no subject")
        need(thing["kind"] == "file" or thing["id"] == subject["id"] or "definition: object" in roles, field + ".citations", "no object")


def ascending(values, field, most):
    need(len(values) <= most and all(is_code(v) for v in values), field)
    need(all(a < b for a, b in zip(values, values[1:])), field, "not ascending")


def check_coverage(c):
    need(all(v >= 0 for v in c.values() if isinstance(v, int)), "coverage")
    ascending([s["reason"] for s in c["skipped"]], "coverage.skipped", len(c["skipped"]))
    need(all(s["files"] >= 0 for s in c["skipped"]), "coverage.skipped")
    need(len(c["partial_files"]) <= 20 and len(c["failed_files"]) <= 20, "coverage")
    for f in c["partial_files"]:
        check_path(f, "coverage.partial_files")
        need(len(f["ranges"]) <= 100 and all(1 <= r["start_line"] <= r["end_line"] for r in f["ranges"]), "coverage.partial_files")
    for f in c["failed_files"]:
        check_path(f, "coverage.failed_files")


def check_packet(p):
    need(p["schema"] == "exhibit.packet.v1" and p["provider"] == "exhibit" and p["kind"] == "repository", "schema")
    repo, source = p["repository"], p["source"]
    need(repo["object_format"] in ("sha1", "sha256"), "repository.object_format")
    need(source in ("commit", "worktree"), "source")
    digits = id_length(repo["object_format"])
    if source == "commit" or repo["commit"] or repo["tree"]:
        need(is_hex(repo["commit"], digits) and is_hex(repo["tree"], digits), "repository")
    if source == "commit":
        need(not p["dirty"] and "worktree_digest" not in p, "dirty")
    else:
        need(is_hex(p.get("worktree_digest", ""), 64), "worktree_digest")
    need(is_hex(p["content_fingerprint"], 64), "content_fingerprint")
    need(is_code(p["question"]), "question")
    need(len(p["target"].encode()) <= 8192 and len(p.get("paths", [])) <= 100, "target")
    need(all(v >= 0 for v in p["bounds"].values() if isinstance(v, int)), "bounds")
    need(p["generation_completeness"] in ("complete", "partial", "unknown"), "generation_completeness")
    ascending(p["omissions"], "omissions", 10)
    need(set(p["omissions"]) <= OMISSIONS, "omissions")
    ascending(p["limitations"], "limitations", 64)
    need(len(p["cuts"]) <= 20 and all(is_code(c["bound"]) and c["limit"] >= 0 and c["dropped"] >= 0 for c in p["cuts"]), "cuts")
    # 9.4
    has = set(p["omissions"])
    truncated = bool(p["cuts"]) or bool(has & {"provider_has_more", "document_limit"})
    lossy = {"provider_has_more", "provider_warning", "document_limit", "missing_citation", "unsupported_record_kind"}
    query = "partial" if truncated or has & lossy else "complete"
    mentions = p.get("unresolved_mentions")
    if "partial" in (query, p["generation_completeness"]):
        whole = "partial"
    elif (p["generation_completeness"] == "unknown" or not p["documents"] and ("coverage" not in p or mentions is None)
          or mentions is not None and (mentions["count"] > 0 or not p["documents"] and mentions["external"] > 0)
          or "unresolved_entities" in has or {"no_such_definition", "member_reads_not_indexed"} & set(p["limitations"])):
        whole = "unknown"
    else:
        whole = "complete"
    need(p["truncated"] == truncated and p["query_completeness"] == query and p["completeness"] == whole, "completeness", "contradicts the other members")
    need(len(p["seeds"]) <= 50, "seeds")
    for i, s in enumerate(p["seeds"]):
        check_entity(s["entity"], "seeds[%d].entity" % i)
        need(len(s["citations"]) <= 1, "seeds[%d].citations" % i)
        for c in s["citations"]:
            check_citation(c, "seeds[%d].citations" % i, digits)
    need(len(p.get("unresolved_entities", [])) <= 20, "unresolved_entities")
    for e in p.get("unresolved_entities", []):
        check_entity(e, "unresolved_entities")
    if mentions is not None:
        need(mentions["count"] >= len(mentions["sites"]) and len(mentions["sites"]) <= 5, "unresolved_mentions")
        for c in mentions["sites"]:
            check_citation(c, "unresolved_mentions.sites", digits)
    if "coverage" in p:
        check_coverage(p["coverage"])
    need(len(p["documents"]) <= 50, "documents")
    for i, d in enumerate(p["documents"]):
        check_document(d, "documents[%d]" % i, digits)


def read_packet(data):
    p = read_json(data, PACKET, 262144)
    need(canonical(p) == data, "", "not canonical")
    check_packet(p)
    return p


# 10 the grant

DIGEST = {"sha256?": str, "gitCommit?": str, "gitTree?": str}
GRANT = {"issuer": str, "audience": [str], "connection": str, "generation": str, "repository": {"id": str, "object_format": str},
         "work_item": str, "policy": {"version": str, "digest": str}, "source_built_at": str, "issued_at": str, "not_before": str,
         "not_after": str, "nonce": str, "max_deliveries?": int}
STATEMENT = {"_type": str, "subject": [{"name": str, "digest": DIGEST}], "predicateType": str, "predicate": GRANT}
ENVELOPE = {"payloadType": str, "payload": str, "signatures": [{"keyid??": str, "sig": str}]}
BUNDLE = {"schema": str, "packet": str, "grants": [ENVELOPE]}
PAYLOAD_TYPE = "application/vnd.in-toto+json"
NAMESPACE = "exhibit-packet@exhibit.dev"


def read_statement(data):
    st = read_json(data, STATEMENT, 32768)
    need(canonical(st) == data, "", "not canonical")
    need(st["_type"] == "https://in-toto.io/Statement/v1", "_type")
    need(st["predicateType"] == "https://exhibit.dev/grant/v1", "predicateType")
    g = st["predicate"]
    need(g["repository"]["object_format"] in ("sha1", "sha256"), "predicate.repository.object_format")
    digits = id_length(g["repository"]["object_format"])
    kinds = {"packet": ("sha256", 64), "commit": ("gitCommit", digits), "tree": ("gitTree", digits), "content_fingerprint": ("sha256", 64)}
    names = [s["name"] for s in st["subject"]]
    need(names in (["packet", "commit", "tree", "content_fingerprint"], ["packet", "content_fingerprint"]), "subject")
    for s in st["subject"]:
        kind, n = kinds[s["name"]]
        need(list(s["digest"]) == [kind] and is_hex(s["digest"][kind], n), "subject")
    need(is_text(g["issuer"]), "predicate.issuer")
    a = g["audience"]
    need(1 <= len(a) <= 32 and all(is_recipient(r) for r in a) and all(x < y for x, y in zip(a, a[1:])), "predicate.audience")
    need(NAME.fullmatch(g["connection"]) is not None, "predicate.connection")
    need(is_hex(g["generation"], 64), "predicate.generation")
    need(is_text(g["repository"]["id"]) and is_text(g["work_item"]) and is_text(g["policy"]["version"]), "predicate")
    need(is_hex(g["policy"]["digest"], 64), "predicate.policy.digest")
    built, issued, start, end = (seconds(g[k], "predicate." + k) for k in ("source_built_at", "issued_at", "not_before", "not_after"))
    need(built <= issued <= end and start < end, "predicate.not_after")
    need(is_hex(g["nonce"], 32), "predicate.nonce")
    need(g.get("max_deliveries", 1) >= 1, "predicate.max_deliveries")
    return st


def check_envelope(e):
    """Gives the payload. Reasons: payload_type, payload_invalid."""
    if e["payloadType"] != PAYLOAD_TYPE:
        raise Refused("payload_type", e["payloadType"])
    try:
        need(1 <= len(e["signatures"]) <= 16, "signatures")
        for s in e["signatures"]:
            need(len(s.get("keyid", "").encode()) <= 256, "keyid")
            need(from_base64(s["sig"], "sig") != b"", "sig")
        payload = from_base64(e["payload"], "payload")
        need(1 <= len(payload) <= 32768, "payload")
        return payload
    except Invalid as err:
        raise Refused("payload_invalid", str(err))


def pae(kind, body):
    return b"DSSEv1 %d %s %d %s" % (len(kind.encode()), kind.encode(), len(body), body)


# Signatures. Ed25519 (RFC 8032) and ECDSA on P-256, in plain integers: slow, and nothing secret is handled.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def ed_add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def ed_mul(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = ed_add(q, p)
        p, n = ed_add(p, p), n >> 1
    return q


def ed_point(b):
    y = int.from_bytes(b, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * I % P
    if (x * x - x2) % P or x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


ED_BASE = ed_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_verify(public, message, sig):
    a = ed_point(public)
    if a is None or len(sig) != 64:
        return False
    s = int.from_bytes(sig[32:], "little")
    if s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(sig[:32] + public + message).digest(), "little") % L
    r = ed_add(ed_mul(s, ED_BASE), ed_mul(k, (P - a[0], a[1], a[2], P - a[3])))
    z = pow(r[2], P - 2, P)
    x, y = r[0] * z % P, r[1] * z % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == sig[:32]


EC_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
EC_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
EC_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
EC_G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296, 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def ec_add(p, q):
    if p is None or q is None:
        return p or q
    if p[0] == q[0] and (p[1] + q[1]) % EC_P == 0:
        return None
    if p == q:
        m = (3 * p[0] * p[0] - 3) * pow(2 * p[1], -1, EC_P)
    else:
        m = (q[1] - p[1]) * pow(q[0] - p[0], -1, EC_P)
    x = (m * m - p[0] - q[0]) % EC_P
    return x, (m * (p[0] - x) - p[1]) % EC_P


def ec_mul(n, p):
    q = None
    while n:
        if n & 1:
            q = ec_add(q, p)
        p, n = ec_add(p, p), n >> 1
    return q


def p256_verify(point, message, sig):
    def number(b):
        if len(b) < 3 or b[0] != 2 or b[1] != len(b[2 : 2 + b[1]]) or b[1] == 0 or b[2] & 0x80 or b[1] > 1 and b[2] == 0 and not b[3] & 0x80:
            return None, b""
        return int.from_bytes(b[2 : 2 + b[1]], "big"), b[2 + b[1] :]

    if len(sig) < 2 or sig[0] != 0x30 or sig[1] != len(sig) - 2:
        return False
    r, rest = number(sig[2:])
    s, rest = number(rest)
    if not r or not s or rest or r >= EC_N or s >= EC_N:
        return False
    w = pow(s, -1, EC_N)
    z = int.from_bytes(hashlib.sha256(message).digest(), "big")
    at = ec_add(ec_mul(z * w % EC_N, EC_G), ec_mul(r * w % EC_N, point))
    return at is not None and at[0] % EC_N == r


# 13 the trust file

BLANKS = " \t\r"
KEY_TYPES = {"ssh-ed25519", "ecdsa-sha2-nistp256"}


def ssh_strings(wire):
    out = []
    while wire:
        n = int.from_bytes(wire[:4], "big")
        if len(wire) < 4 or n > len(wire) - 4:
            return None
        out.append(wire[4 : 4 + n])
        wire = wire[4 + n :]
    return out


def usable_key(kind, encoded):
    """The wire encoding of a usable key, or None."""
    if kind not in KEY_TYPES:
        return None
    try:
        wire = from_base64(encoded, "")
    except Invalid:
        return None
    parts = ssh_strings(wire)
    if not parts or parts[0].decode("latin-1") != kind:
        return None
    if kind == "ssh-ed25519":
        return wire if len(parts) == 2 and len(parts[1]) == 32 else None
    if len(parts) != 3 or parts[1] != b"nistp256" or len(parts[2]) != 65 or parts[2][0] != 4:
        return None
    x, y = int.from_bytes(parts[2][1:33], "big"), int.from_bytes(parts[2][33:], "big")
    return wire if x < EC_P and y < EC_P and (y * y - x**3 + 3 * x - EC_B) % EC_P == 0 else None


def key_verifies(wire, message, sig):
    parts = ssh_strings(wire)
    if parts[0] == b"ssh-ed25519":
        return ed25519_verify(parts[1], message, sig)
    x, y = int.from_bytes(parts[2][1:33], "big"), int.from_bytes(parts[2][33:], "big")
    return p256_verify((x, y), message, sig)


def fingerprint(wire):
    return "SHA256:" + base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")


def matches(value, patterns):
    found = False
    for pattern in patterns.split(","):
        negated, pattern = pattern.startswith("!"), pattern.removeprefix("!")
        if len(pattern.encode()) > 1022:
            return False
        expression = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern.encode().decode("latin-1"))
        if re.fullmatch(expression, value.encode().decode("latin-1"), re.S):
            if negated:
                return False
            found = True
    return found


def trust_time(value):
    digits, z = value[:-1], value[-1:]
    layout = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}.get(len(digits))
    if z != "Z" or layout is None or not digits.isascii() or not digits.isdigit():
        raise ValueError(value)
    t = time.strptime(digits, layout)
    if calendar.timegm(t) <= 0 or time.strftime(layout, time.gmtime(calendar.timegm(t))) != digits:
        raise ValueError(value)
    return calendar.timegm(t)


OPTION = re.compile(r'(cert-authority)|(namespaces|valid-after|valid-before)="((?:\\"|[^"])*)"', re.I)


def trust_line(line):
    """Reads one allowed_signers line; ValueError when it vouches for nothing."""
    m = re.match(r'([^ \t\r"]*)"([^"]*)"[ \t\r]*|([^ \t\r"]+)[ \t\r]+', line)
    if m is None:
        raise ValueError("principals")
    entry = {"principals": m.group(3) if m.group(3) is not None else m.group(1) + m.group(2), "namespaces": None, "after": None, "before": None, "authority": False}
    rest = line[m.end() :]
    fields = re.split(r"[ \t\r]+", rest)
    if fields[0] not in KEY_TYPES:
        at = 0
        while True:
            m = OPTION.match(rest, at)
            if m is None:
                raise ValueError("option")
            at = m.end()
            if m.group(1):
                entry["authority"] = True
            else:
                name = {"namespaces": "namespaces", "valid-after": "after", "valid-before": "before"}[m.group(2).lower()]
                value = m.group(3).replace('\\"', '"')
                if entry[name] is not None:
                    raise ValueError("option twice")
                entry[name] = value if name == "namespaces" else trust_time(value)
            if rest[at : at + 1] != ",":
                break
            at += 1
        if rest[at : at + 1] == "" or rest[at] not in BLANKS:
            raise ValueError("option")
        fields = re.split(r"[ \t\r]+", rest[at:].lstrip(BLANKS))
    if entry["after"] is not None and entry["before"] is not None and entry["before"] <= entry["after"]:
        raise ValueError("times")
    entry["key"] = usable_key(fields[0], fields[1]) if len(fields) > 1 else None
    if entry["key"] is None:
        raise ValueError("key")
    return entry


def bare(wire):
    return {"principals": "*", "namespaces": NAMESPACE, "after": None, "before": None, "authority": False, "key": wire}


def spki(text):
    m = re.fullmatch(r"\s*-----BEGIN PUBLIC KEY-----\s*([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*", text)
    der = base64.b64decode("".join(m.group(1).split())) if m else b""
    if der[:12] == bytes.fromhex("302a300506032b6570032100") and len(der) == 44:
        return ssh_wire(b"ssh-ed25519", der[12:])
    if der[:26] == bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") and len(der) == 91:
        wire = ssh_wire(b"ecdsa-sha2-nistp256", b"nistp256", der[26:])
        return usable_key("ecdsa-sha2-nistp256", base64.b64encode(wire).decode())
    return None


def ssh_wire(*parts):
    return b"".join(len(p).to_bytes(4, "big") + p for p in parts)


def read_trust(data):
    if len(data) > 1 << 20 or b"\0" in data:
        raise ValueError("the trust file is too large or no text")
    text = data.decode("latin-1")
    if "-----BEGIN" in text:
        wire = spki(text)
        if wire is None:
            raise ValueError("the trust file is no single public key")
        return [bare(wire)]
    lines = [line for line in (raw.strip(BLANKS) for raw in text.split("\n")) if line and line[0] != "#"]
    keys = []
    for line in lines:
        fields = re.split(r"[ \t\r]+", line)
        keys.append(usable_key(fields[0], fields[1]) if len(fields) > 1 else None)
    if lines and all(keys):
        return [bare(k) for k in keys]
    entries = []
    for line in lines:
        try:
            entries.append(trust_line(line))
        except ValueError:
            pass
    if not entries:
        raise ValueError("no line of the trust file is usable")
    return entries


def read_revoked(data):
    revoked = set()
    if data.startswith(b"SSHKRL\n"):
        raise ValueError("a binary list of revoked keys")
    for raw in data.decode("latin-1").split("\n"):
        line = raw.strip(BLANKS)
        if not line or line[0] == "#":
            continue
        fields = re.split(r"[ \t\r]+", line)
        wire = usable_key(fields[0], fields[1]) if len(fields) > 1 else None
        if wire is None and (fields[0] in KEY_TYPES or not re.match(r"(ssh|sk|ecdsa)-", fields[0])):
            raise ValueError("a line of the list of revoked keys is no key")
        if wire is not None:
            revoked.add(wire)
    return revoked


def vouch(entries, revoked, message, sig, keyid, now):
    made = None
    for key in dict.fromkeys(e["key"] for e in entries):
        if key_verifies(key, message, sig):
            made = key
            break
    if made is None:
        if keyid and any(fingerprint(e["key"]) == keyid for e in entries):
            raise Refused("signature_invalid")
        raise Refused("signer_untrusted")
    if made in revoked:
        raise Refused("key_revoked")
    reason, good = "key_is_authority", []
    for e in entries:
        if e["key"] != made or e["authority"]:
            continue
        if e["namespaces"] is not None and not matches(NAMESPACE, e["namespaces"]):
            reason = "namespace_not_allowed"
        elif e["after"] is not None and int(now) < e["after"]:
            reason = "key_not_yet_valid"
        elif e["before"] is not None and int(now) > e["before"]:
            reason = "key_expired"
        else:
            good.append(e)
    if not good:
        raise Refused(reason)
    return good


# 14 verification


def check_grant(envelope, raw, packet, packet_fault, entries, revoked, revision, o):
    """7 to 25."""
    payload = check_envelope(envelope)
    message, first, lines = pae(envelope["payloadType"], payload), None, None
    for s in envelope["signatures"]:
        try:
            lines = vouch(entries, revoked, message, base64.b64decode(s["sig"]), s.get("keyid", ""), o.now)
            break
        except Refused as err:
            first = first or err
    if lines is None:
        raise first
    try:
        st = read_statement(payload)
    except Invalid as err:
        reasons = {"_type": "statement_type", "predicateType": "predicate_type"}
        raise Refused("subject_set" if err.field.startswith("subject") else reasons.get(err.field, "statement_invalid"), str(err))
    g = st["predicate"]
    if not any(matches(g["issuer"], e["principals"]) for e in lines):
        raise Refused("issuer_not_allowed", g["issuer"])
    if st["subject"][0]["digest"]["sha256"] != sha256(raw):
        raise Refused("packet_digest")
    if packet is None:
        raise Refused("packet_invalid", str(packet_fault))
    repo = packet["repository"]
    want = [("packet", sha256(raw))]
    if repo["commit"]:
        want += [("commit", repo["commit"]), ("tree", repo["tree"])]
    want.append(("content_fingerprint", packet["content_fingerprint"]))
    if [s["name"] for s in st["subject"]] != [name for name, _ in want]:
        raise Refused("subject_set")
    for s, (name, value) in zip(st["subject"], want):
        if list(s["digest"].values()) != [value]:
            raise Refused("packet_digest" if name == "packet" else "subject_" + name)
    if g["repository"]["object_format"] != repo["object_format"]:
        raise Refused("object_format")
    issued, start, end = (seconds(g[k], k) for k in ("issued_at", "not_before", "not_after"))
    if issued > o.now + 60 or start > o.now + 60:
        raise Refused("grant_not_yet_valid")
    if o.now >= end:
        raise Refused("grant_expired", g["not_after"])
    if o.max_age and o.now - issued > o.max_age:
        raise Refused("grant_too_old", g["issued_at"])
    if o.recipient and o.recipient not in g["audience"]:
        raise Refused("recipient_not_named")
    if o.issuer and o.issuer != g["issuer"]:
        raise Refused("issuer_mismatch")
    if o.repository and o.repository != g["repository"]["id"]:
        raise Refused("repository_mismatch")
    if o.revision:
        if not revision:
            raise Refused("revision_unresolved", o.revision)
        if revision != repo["commit"]:
            raise Refused("revision_mismatch", revision)


class Clone:
    def __init__(self, path, object_format):
        self.path, self.hash = path, hashlib.sha256 if object_format == "sha256" else hashlib.sha1
        top = self.git("rev-parse", "--show-toplevel")
        self.root = os.fsencode(top.stdout.decode().rstrip("\n")) if top.returncode == 0 else None

    def git(self, *args):
        env = dict(os.environ, GIT_NO_REPLACE_OBJECTS="1", GIT_NO_LAZY_FETCH="1", GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
        return subprocess.run(["git", "-C", self.path, *args], capture_output=True, env=env, stdin=subprocess.DEVNULL)

    def resolve(self, revision):
        done = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def object(self, kind, name):
        """The bytes of an object, hashed again; None when there is no sound one."""
        done = self.git("cat-file", kind, name)
        data = done.stdout
        if done.returncode != 0 or self.hash(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest() != name:
            return None
        return data

    def lookup(self, tree, path):
        """(mode, id), None when there is no such path, False when a tree is missing."""
        size = self.hash().digest_size
        parts = path.split(b"/")
        for i, part in enumerate(parts):
            data = self.object("tree", tree)
            if data is None:
                return False
            found = None
            while data:
                head, _, rest = data.partition(b"\0")
                mode, _, name = head.partition(b" ")
                if name == part:
                    found = int(mode, 8), rest[:size].hex()
                data = rest[size:]
            if found is None or i < len(parts) - 1 and found[0] != 0o040000:
                return None
            if i == len(parts) - 1:
                return found
            tree = found[1]

    def worktree(self, path):
        """Bytes of a regular file, reached through folders only; None when there is none."""
        at = self.root
        try:
            for part in path.split(b"/")[:-1]:
                at = os.path.join(at, part)
                if not stat.S_ISDIR(os.lstat(at).st_mode):
                    return None
            f = os.open(os.path.join(self.root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(f, "rb") as f:
            return f.read() if stat.S_ISREG(os.fstat(f.fileno()).st_mode) else None

    def tracked(self, path):
        done = subprocess.run(["git", "-C", self.root, "--literal-pathspecs", "ls-files", "-z", "--", path], capture_output=True)
        return path in done.stdout.split(b"\0")

    def converted(self, path):
        """Whether Git may convert between blob and worktree here."""
        done = subprocess.run(["git", "-C", self.root, "check-attr", "-z", "text", "eol", "crlf", "ident", "filter", "working-tree-encoding", "--", path], capture_output=True)
        values = done.stdout.split(b"\0")[2::3]
        auto = self.git("config", "core.autocrlf").stdout.strip()
        return any(v not in (b"unspecified", b"unset", b"") for v in values) or auto not in (b"", b"false")


def forbidden(path):
    return any(re.fullmatch(rb"|\.|\.\.|\.git", part, re.I) for part in path.split(b"/"))


def judge(clone, tree, citation):
    path = two_members(citation, "path", "path")
    start, end, want = citation["start_line"], citation["end_line"], citation["snippet_sha256"]
    # at the commit
    found = None if not tree or forbidden(path) else clone.lookup(tree, path)
    if found is None:
        commit = "missing"
    elif found is False:
        commit = "unavailable"
    elif found[0] & 0o170000 != 0o100000 or found[1] != citation["blob"]:
        commit = "changed"
    else:
        content = clone.object("blob", found[1])
        lines = lines_of(content, start, end) if content is not None else None
        if content is None:
            commit = "unavailable"
        elif lines is None:
            commit = "out_of_range"
        else:
            commit = "verified" if sha256(lines) == want else "changed"
    # in the worktree
    if clone.root is None:
        return commit, "no_worktree", None, False
    data = None if forbidden(path) else clone.worktree(path)
    if data is None:
        return commit, "missing", None, False
    if not clone.tracked(path):
        return commit, "untracked", None, False
    whole = clone.hash(b"blob %d\0" % len(data) + data).hexdigest() == citation["blob"]
    if (lines := lines_of(data, start, end)) is not None and sha256(lines) == want:
        return commit, "same", None, whole
    n = len(data.split(b"\n")) - data.endswith(b"\n")
    for line in sorted(range(1, n - (end - start) + 1), key=lambda k: (abs(k - start), k)):
        if sha256(lines_of(data, line, line + end - start)) == want:
            return commit, "moved", line, False
    return commit, "undecided" if clone.converted(path) else "changed", None, False


def cited(p):
    for i, s in enumerate(p["seeds"]):
        for j, c in enumerate(s["citations"]):
            yield "seeds[%d].citations[%d]" % (i, j), c
    for i, d in enumerate(p["documents"]):
        for j, c in enumerate(d["citations"]):
            yield "documents[%d].citations[%d]" % (i, j), c
    for i, c in enumerate(p.get("unresolved_mentions", {}).get("sites", [])):
        yield "unresolved_mentions.sites[%d]" % i, c


def verify(data, entries, revoked, o):
    report = {"ok": False, "depth": 2 if o.repo else 1, "reasons": [], "citations": []}

    def refuse(reason, detail=""):
        report["reasons"].append(reason)
        report.setdefault("details", []).append(detail)
        return report

    if len(data) > 1572864:
        return refuse("too_large")
    try:
        bundle = read_json(data, BUNDLE, 1572864)
        need(bundle["schema"] == "exhibit.bundle.v1" and len(bundle["packet"].encode()) <= 262144 and len(bundle["grants"]) <= 16, "schema")
    except Invalid as err:
        return refuse("bundle_invalid", str(err))
    try:
        for e in bundle["grants"]:
            check_envelope(e)
    except Refused as err:
        return refuse(err.reason, err.detail)
    if not bundle["grants"]:
        return refuse("no_grant")
    if entries is None:
        return refuse("no_trust")
    raw, packet, packet_fault = bundle["packet"].encode(), None, None
    try:
        packet = read_packet(raw)
    except Invalid as err:
        packet_fault = err
    clone = Clone(o.repo, packet["repository"]["object_format"] if packet else "sha1") if o.repo else None
    revision = (clone.resolve(o.revision) if clone else o.revision.lower()) if o.revision else None
    refusals = []
    for e in bundle["grants"]:
        try:
            check_grant(e, raw, packet, packet_fault, entries, revoked, revision, o)
            break
        except Refused as err:
            refusals.append(err)
    else:
        for err in refusals:
            refuse(err.reason, err.detail)
        return report
    report["address"] = "sha256:" + sha256(raw)
    if clone:
        content(report, packet, clone, refuse, o)
    report["ok"] = not report["reasons"]
    return report


def content(report, packet, clone, refuse, o):
    """26 to 31."""
    repo, by_commit = packet["repository"], packet["source"] == "commit"
    have = clone.git("rev-parse", "--show-object-format").stdout.decode().strip() or "sha1"
    if have != repo["object_format"]:
        return refuse("object_format", have)
    if repo["commit"]:
        data = clone.object("commit", repo["commit"])
        if data is None:
            if by_commit:
                return refuse("commit_unavailable", repo["commit"])
        elif data.split(b"\n", 1)[0] != b"tree " + repo["tree"].encode():
            return refuse("tree_mismatch")
    for at, c in cited(packet):
        commit, worktree, moved, whole = judge(clone, repo["tree"], c)
        ok = commit == "verified" if by_commit else worktree == "same" and whole
        report["citations"].append({"at": at, "ok": ok, "commit": commit, "worktree": worktree, **({"moved_to": moved} if moved else {})})
        if not ok:
            refuse("citation_failed", at)
        elif o.require_worktree and worktree not in ("same", "moved"):
            refuse("worktree_failed", at)
    if o.revision and clone.resolve(o.revision) != repo["commit"]:
        refuse("revision_moved")


def outside(path, clone):
    """13: trust never comes from the repository under examination."""
    folders = [clone.root] if clone.root else []
    for name in ("--absolute-git-dir", "--git-common-dir"):
        folder = clone.git("rev-parse", "--path-format=absolute", name).stdout.rstrip(b"\n")
        folders.append(folder)
    for p in (os.path.abspath(os.fsencode(path)), os.path.realpath(os.fsencode(path))):
        for folder in folders:
            for f in (folder, os.path.realpath(folder)):
                if os.path.commonpath([p, f]) == f:
                    return False
    return True


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("bundles", nargs="+")
    for name in ("trust", "revoked", "repo", "now", "recipient", "issuer", "repository", "revision"):
        a.add_argument("--" + name)
    a.add_argument("--max-age", type=int, default=0)
    a.add_argument("--require-worktree", action="store_true")
    o = a.parse_args()
    o.now = seconds(o.now, "now") if o.now else time.time()
    entries, revoked = None, set()
    if o.trust:
        beside = o.revoked or o.trust + ".revoked"
        if o.repo and not outside(o.trust, Clone(o.repo, "sha1")):
            sys.exit("the trust file lies inside the repository under examination")
        with open(o.trust, "rb") as f:
            entries = read_trust(f.read())
        if o.revoked or os.path.exists(beside):
            with open(beside, "rb") as f:
                revoked = read_revoked(f.read())
    ok = True
    for name in o.bundles:
        with open(name, "rb") as f:
            report = verify(f.read(1572864 + 1), entries, revoked, o)
        print(json.dumps(report))
        ok = ok and report["ok"]
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
