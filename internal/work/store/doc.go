// Package store is what the folders of a home have in common: runs, reviews, audits, answers
// and updates. A folder has a chained log, files whose digests the log records, and perhaps
// an archive that only grows; it is made whole or not at all, found by its id, and verified
// against its log. [Kind] names each kind with its place. What a folder means is said by the
// package of its kind. A [Memory] keeps what one call makes of such a folder.
package store

// Where every folder has its log, and the pages that were fetched for it.
const (
	LogFile     = "logs/audit.jsonl"
	HeadFile    = "logs/audit.head"
	ArchiveFile = "evidence/archive.warc.gz"
)
