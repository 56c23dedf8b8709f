// Package marker runs resolution fixtures: small repositories in txtar form
// whose expectations are written as comments beside the lines that make them.
// Tests of all languages share it; nothing else imports it.
//
// A marker is everything after the last "//@" (or "#@") of a line, as clauses
// separated by ";". It speaks of its own line; when nothing else stands on the
// line, of the next line that is not a marker alone. Clauses:
//
//	calls TARGET [STRENGTH [RULE]]   a reference of this kind has this target;
//	                                 likewise imports, inherits, references
//	external [TARGET]                a reference is external, and is TARGET
//	unresolved [REASON]              a reference is unresolved for REASON
//	none [NAME]                      no reference (called NAME) became an edge
//	def KIND QUALIFIED [FLAG...]     a definition is named on this line; flags:
//	                                 exported test conditional damaged, or !flag
//	status parsed|partial|failed     of the file
//
// TARGET is "Qualified", "path::Qualified", or "path::" for a file; a package is
// "path::name" of any of its files. "NAME=" before a TARGET (or a REASON)
// narrows the clause to references whose identifier is NAME. STRENGTH is
// resolved_static or candidate.
//
// The targets of a reference are checked as a set: once a clause names one of
// them, every other must be named too. Whatever the markers say, each reference
// must have exactly one verdict, in the form that package graph documents.
package marker
