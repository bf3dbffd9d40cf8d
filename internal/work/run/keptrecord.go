package run

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
)

// RecordsPerLine keeps the lines about a large batch of records short enough for the log.
const RecordsPerLine = 500

// KeptLine is a line of the log of a folder that a home keeps beside its runs.
func KeptLine(desk Desk, event string, more tidegate.Details) tidegate.Details {
	out := tidegate.Pairs("ts", desk.Stamp(), "event", event)
	if desk.Pinned {
		out = append(out, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return append(out, more...)
}

// CreateKept makes a folder under home with what fill writes, and the first line of its log,
// which has the digests of the files that fill returns. It appears whole or not at all. Its id
// is made from the day, the time and a seed. More, which may be nil, adds files and lines. It
// returns WRITE_FAILED and the errors of fill and more.
func CreateKept(desk Desk, home, seed string, fill func(d *artifact.Draft, id, stamp string) (files tidegate.Details, err error), more func(d *artifact.Draft, path string) error) (path string, err error) {
	stamp := desk.Stamp()
	for n := byte(0); ; n++ {
		sum := sha256.Sum256(append([]byte(stamp+seed), n))
		id := stamp[:len("2006-01-02")] + "-" + hex.EncodeToString(sum[:3])
		path = filepath.Join(home, id)
		err = desk.Reach.CreateFolder("home", path, func(d *artifact.Draft) error {
			files, err := fill(d, id, stamp)
			if err == nil {
				err = d.Record(AuditFile, KeptLine(desk, "created", tidegate.Pairs("program", desk.Program, "files", files)))
			}
			if err == nil && more != nil {
				err = more(d, path)
			}
			return err
		})
		if tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict || n == 255 {
			return path, err
		} // the same at the same time
	}
}

// KeptRecord is what the log of a folder says that a home keeps beside its runs: of an audit,
// an update or an answer.
type KeptRecord struct {
	Entries []Entry
	Counts  map[string]bool   // digests of the records of the archive
	Files   map[string]string // digests of files, as they were recorded last

	records []kept
}

// ReadKept reads the log of a folder. A torn line counts for nothing, and a missing log
// says nothing. It returns READ_FAILED.
func ReadKept(folder *artifact.Folder) (KeptRecord, error) {
	l := KeptRecord{Counts: map[string]bool{}, Files: map[string]string{}}
	var err error
	if l.Entries, err = ReadEntries(folder, AuditFile); err != nil {
		return l, err
	}
	for _, e := range l.Entries {
		for _, record := range e.Entry.Get("records").Elems() {
			offset, _ := record.Get("offset").Int()
			length, _ := record.Get("length").Int()
			digest := record.Get("digest").Str()
			l.Counts[digest] = true
			l.records = append(l.records, kept{ArchiveFile, offset, length, digest, e.Number})
		}
		for _, m := range e.Entry.Get("files").Members() {
			l.Files[m.Key] = m.Value.Str()
		}
	}
	return l, nil
}

// Verify holds the log against itself and against the files and the archive of its folder,
// and says what does not agree. It returns READ_FAILED.
func (l KeptRecord) Verify(folder *artifact.Folder) (log artifact.LogReport, wrong []string, err error) {
	if log, err = folder.VerifyLog(AuditFile); err != nil {
		return log, nil, err
	}
	for _, b := range log.Breaks {
		wrong = append(wrong, "line "+strconv.Itoa(b.Line)+" of the log does not follow from the one before it")
	}
	if log.Unchained > 0 {
		wrong = append(wrong, report.Counted(log.Unchained, "line")+" of the log are not ours")
	}
	if log.Mismatch != "" {
		wrong = append(wrong, "the log: "+log.Mismatch)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if digest, err := folder.Digest(name); err != nil || digest != l.Files[name] {
			wrong = append(wrong, name+" is not the file that the log records")
		}
	}
	if len(l.records) == 0 {
		return log, wrong, nil
	}
	lost := l.records
	if file, err := folder.Open(ArchiveFile); err == nil {
		lost = missing(file, l.records)
		file.Close()
	}
	if len(lost) > 0 {
		wrong = append(wrong, report.Counted(len(lost), "record")+" of "+ArchiveFile+" are not there as they were added")
	}
	return log, wrong, nil
}
