// Package audit keeps audits of reports, whoever wrote them. An audit is a folder like
// that of a run: the report byte for byte, the archive of what it cites, a chained log,
// and the result, which is a function of the three. [Make] makes one, [Verify] holds its
// record against itself, and [Audit.Again] judges it again from what it keeps.
package audit
