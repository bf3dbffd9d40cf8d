// Package artifact keeps files that survive: a reader sees the old file or the
// new one, a killed process leaves nothing that stops the next, and no name
// leads out of its folder.
//
//   - [Folder] is a folder that access cannot leave, by [os.Root]. Names in it
//     are relative, with slashes.
//   - [Folder.Write] and [Reach.WriteFile] replace one file durably.
//   - [Folder.Lock] is the one lock of a folder, and [Tx] changes under it all
//     the files that belong together, or none of them.
//   - [Folder.Claim] says that this process is at work in a folder.
//   - [Lock.Append] adds to a file that only grows.
//   - [Tx.Record] adds a line to a chained log as part of a transaction, and
//     [Tx.Log] as well as it can. [Lock.CheckLog] looks whether lines were taken
//     off a log or added to it; [ReadLog], [VerifyLog] and [Folder.Follow] read
//     one.
//   - [Reach.CreateFolder] makes a folder that appears whole or not at all.
//   - [Reach] confines all access by path to the folders that a caller may
//     touch.
//
// New files have mode 0600 and new folders 0700, unless [Folder.Share] asks for
// what other programs give. A file that is replaced keeps the permission bits
// that it had.
//
// Names that the package keeps for itself in a folder: .tidegate.lock (the
// lock, never deleted), .tidegate-tx (a transaction under way), and
// .tidegate-*.tmp (a write under way). When a process is killed, the next one
// that locks the folder finishes or undoes its transaction, and the next one that
// writes the same file removes what it had begun to write. A log that has recorded
// lines has its head beside it: audit.head for audit.jsonl.
//
// Errors are [*tidegate.Error]: NOT_FOUND, READ_FAILED, INVALID_JSON,
// WRITE_FAILED, PATH_NOT_ALLOWED, LOCK_HELD, TAMPERED, ALREADY_EXISTS_CONFLICT
// and CANCELLED. Their details name the path, under the name of the argument
// where the caller gave one and under "path" otherwise.
//
// The package knows no schema and no tool: what a file says is for others.
package artifact
