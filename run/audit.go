package run

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// maxNote is how many code points of a text a log line keeps. A line that is
// too long for the log would not be written, and a change without its line
// cannot be told from tampering.
const maxNote = 4096

// Note is a reason or note as the run keeps it: trimmed and cut to 4096 code
// points.
func Note(text string) string { return cut(strings.TrimSpace(text)) }

func cut(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxNote {
			return text[:i]
		}
	}
	return text
}

func auditLine(clock Clock, now, kind, runID string, fields tidegate.Details) tidegate.Details {
	line := append(tidegate.D("ts", now, "kind", kind, "run_id", runID), fields...)
	for i, f := range line {
		if text, ok := f.Value.(string); ok {
			line[i].Value = cut(text)
		}
	}
	if clock.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return line
}

// kindFiles is the kind of the lines that keep the digests of the files that an
// update wrote, beside manifest and gates, whose own lines do.
const kindFiles = "files_write"

// writtenFile is a file that an update wrote, or removed when digest is "".
type writtenFile struct{ name, digest string }

// filesPerLine keeps a line of digests short enough for the log.
const filesPerLine = 1000

// logFiles stages the digests of what the update writes. An update that says
// nothing itself does not begin a log.
func (u *Update) logFiles() {
	if len(u.files) == 0 {
		return
	}
	if _, err := fs.Stat(u.folder.FS(), AuditFile); err != nil && !u.logged {
		return
	}
	// What is not there need not be said to be gone.
	u.files = slices.DeleteFunc(u.files, func(f writtenFile) bool {
		if f.digest != "" {
			return false
		}
		_, err := fs.Stat(u.folder.FS(), f.name)
		return err != nil
	})
	for part := range slices.Chunk(u.files, filesPerLine) {
		files := codec.NewObject()
		for _, f := range part {
			if f.digest == "" {
				files.Set(f.name, codec.Of(nil))
			} else {
				files.Set(f.name, codec.Of(f.digest))
			}
		}
		u.tx.Log(AuditFile, auditLine(u.clock, u.now, kindFiles, u.runID, tidegate.D("files", files)))
	}
}
