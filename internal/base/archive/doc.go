// Package archive keeps what was fetched, and gives it back: a WARC 1.1 file,
// one gzip member for each record, that only grows and that other people's
// readers open.
//
//   - [Capture] is one complete fetch of a URL with all its hops, or a file that
//     a person attached in its place. [Pack] makes records of it.
//   - [Open] reads an archive, [Archive.Find] finds what counts for a URL, and
//     [Archive.Read] reads it whole.
//   - [Archive.Append] adds captures, durably. It says where each record lies and
//     what its digest is, so that the caller can write that down.
//   - [Mask] takes the credentials out of a URL.
//
// A hop is a request record and a response record; an attached file is a
// resource record. A metadata record ends each capture and names the records
// before it that belong to it. Its JSON says how the capture ended: kind, url,
// address, time. Without that record a capture is not complete, so a process
// that is killed loses the capture that it was writing and nothing else. The
// next one cuts the part of a record that was left.
//
// Reading is strict and takes little memory, because an archive may come from
// an adversary: lengths and digests must be right, every record has a limit of
// its own, and a record counts only if the caller says that its digest does.
//
// The package opens no connection and imports nothing that could: judging what
// was fetched needs no network.
package archive
