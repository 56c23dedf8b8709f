// Holds a grant of ours against verifiers that are not: node:crypto over the
// pre-authentication encoding, and @sigstore/verify over the exported Sigstore
// bundle; and our canonical JSON against the npm package canonicalize.
//
// usage: node verify.mjs DIR
// DIR holds grant.dsse.json, grant.sigstore.json, signer.pem and packet.json.
// Every check is done twice: as it is, which must pass, and with one byte
// changed, which must not.

import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFromJSON } from '@sigstore/bundle';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import canonicalize from 'canonicalize';

const dir = process.argv[2];
const read = (name) => readFileSync(join(dir, name));
const envelope = JSON.parse(read('grant.dsse.json'));
const sigstore = JSON.parse(read('grant.sigstore.json'));
const pem = read('signer.pem').toString();
const packet = read('packet.json');

let failed = false;
function report(name, ok) {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
  failed ||= !ok;
}

function holds(check) {
  try {
    return check() !== false;
  } catch {
    return false;
  }
}

// A copy with the first byte of the payload changed: "{" is then no longer "{".
function altered(e) {
  const payload = Buffer.from(e.payload, 'base64');
  payload[0] ^= 1;
  return { ...e, payload: payload.toString('base64') };
}

function nodeCrypto(e) {
  const body = Buffer.from(e.payload, 'base64');
  const head = `DSSEv1 ${Buffer.byteLength(e.payloadType)} ${e.payloadType} ${body.length} `;
  return verify(null, Buffer.concat([Buffer.from(head), body]), createPublicKey(pem), Buffer.from(e.signatures[0].sig, 'base64'));
}
report('node:crypto verifies the grant', holds(() => nodeCrypto(envelope)));
report('node:crypto refuses an altered grant', !holds(() => nodeCrypto(altered(envelope))));

function sigstoreVerify(json) {
  const keys = (hint) => {
    if (hint !== envelope.signatures[0].keyid) throw new Error(`no key under the hint ${hint}`);
    return { publicKey: createPublicKey(pem), validFor: () => true };
  };
  const material = toTrustMaterial({ certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] }, keys);
  const verifier = new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0, tsaThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(json)));
}
report('@sigstore/verify verifies the exported bundle', holds(() => sigstoreVerify(sigstore)));
report('@sigstore/verify refuses an altered bundle',
  !holds(() => sigstoreVerify({ ...sigstore, dsseEnvelope: altered(sigstore.dsseEnvelope) })));

const statement = Buffer.from(envelope.payload, 'base64');
report('canonicalize agrees on the statement', canonicalize(JSON.parse(statement)) === statement.toString());
report('canonicalize agrees on the packet', canonicalize(JSON.parse(packet)) === packet.toString());

const named = JSON.parse(statement).subject.find((s) => s.name === 'packet').digest.sha256;
const digest = (b) => createHash('sha256').update(b).digest('hex');
report('the statement names the packet by its SHA-256', named === digest(packet));
packet[packet.length - 2] ^= 1;
report('and an altered packet is another', named !== digest(packet));

process.exit(failed ? 1 : 0);
