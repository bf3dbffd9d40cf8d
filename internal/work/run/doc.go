// Package run is the record of a research run: the documents in its folder
// (manifest.v1, gates.v1, scope.v1, run_policy.v1), the places of everything else
// in it, and the audit log. It creates, finds, opens, reads, lists, verifies and
// updates runs; every update holds the run's lock from the first read to the last
// rename and lands whole or not at all.
//
// It is the only reader and writer of manifest and gates. It holds no rules: it
// does not know which stage may follow which, nor when a gate is needed. Those
// are in package stage, which alone calls [Update.EditManifest].
//
// A gate counts only as long as the files that it judged are what they were then:
// its [Binding] says so. Package step pairs each row of [GateTable] with its judge.
//
// Documents are edited as ordered trees, so that fields this program does not
// know, and the order of all of them, survive every write.
package run
