package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
)

// RecordsPerLine keeps the lines about a large batch of records short enough for the log.
const RecordsPerLine = 500

// Writer is what the first line of a folder says of who wrote it, and where it may write.
type Writer struct {
	Reach   artifact.Reach
	Now     func() time.Time
	Pinned  bool   // Now was fixed by the caller; lines say so
	Program string // by name and version
}

// Line is a line of the log of a folder.
func (w Writer) Line(event string, more tidegate.Details) tidegate.Details {
	out := tidegate.Pairs("ts", tidegate.Stamp(w.Now()), "event", event)
	if w.Pinned {
		out = append(out, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return append(out, more...)
}

// Create makes a folder under home with what fill writes, and the first line of its log,
// which has the digests of the files that fill returns. It appears whole or not at all. Its id
// is made from the day, the time and a seed. More, which may be nil, adds files and lines. It
// returns WRITE_FAILED and the errors of fill and more.
func (w Writer) Create(home, seed string, fill func(d *artifact.Draft, id, stamp string) (files tidegate.Details, err error), more func(d *artifact.Draft, path string) error) (path string, err error) {
	if err := CheckHome(home); err != nil {
		return "", err
	}
	stamp := tidegate.Stamp(w.Now())
	for n := byte(0); ; n++ {
		sum := sha256.Sum256(append([]byte(stamp+seed), n))
		id := stamp[:len("2006-01-02")] + "-" + hex.EncodeToString(sum[:3])
		path = filepath.Join(home, id)
		err = w.Reach.CreateFolder("home", path, func(d *artifact.Draft) error {
			files, err := fill(d, id, stamp)
			if err == nil {
				err = d.Record(LogFile, w.Line("created", tidegate.Pairs("program", w.Program, "files", files)))
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

// Record is what the log of a folder says.
type Record struct {
	Lines  []Entry
	Counts map[string]bool   // digests of the records of the archive
	Files  map[string]string // digests of files, as they were recorded last

	added []Added
}

// Read reads the log of a folder. A torn line counts for nothing, and a missing log says
// nothing. It returns READ_FAILED.
func Read(folder *artifact.Folder) (Record, error) {
	r := Record{Counts: map[string]bool{}, Files: map[string]string{}}
	err := EachLine(folder, LogFile, func(line artifact.Line) {
		e, ok := EntryOf(line)
		if !ok {
			return
		}
		r.Lines = append(r.Lines, e)
		for _, record := range e.Entry.Get("records").Elems() {
			added := AddedBy(record, ArchiveFile, line.Number)
			r.Counts[added.Digest] = true
			r.added = append(r.added, added)
		}
		for _, m := range e.Entry.Get("files").Members() {
			r.Files[m.Key] = m.Value.Str()
		}
	})
	return r, err
}

// Added is a record that, by a line of the log, was added to a file that only grows.
type Added struct {
	File           string
	Offset, Length int64
	Digest         string
	Line           int
}

// AddedBy is a record as a line of the log names it.
func AddedBy(record *codec.Value, file string, line int) Added {
	offset, _ := record.Get("offset").Int()
	length, _ := record.Get("length").Int()
	return Added{file, offset, length, record.Get("digest").Str(), line}
}

// Missing are the records that a file does not have at their places.
func Missing(file io.ReaderAt, records []Added) (lost []Added) {
	for _, r := range records {
		if digest, err := codec.DigestReader(io.NewSectionReader(file, r.Offset, r.Length)); err != nil || digest != r.Digest {
			lost = append(lost, r)
		}
	}
	return lost
}

// Named are the files of the folder of which the log speaks, with the log itself.
func (r Record) Named() seal.Recorded {
	out := seal.Recorded{LogFile: -1, HeadFile: -1}
	for name := range r.Files {
		out[name] = -1
	}
	CountEnds(out, r.added)
	return out
}

// CountEnds adds the files that grow by records, as far as these go.
func CountEnds(out seal.Recorded, records []Added) {
	for _, a := range records {
		out[a.File] = max(out[a.File], a.Offset+a.Length)
	}
}

// Verify holds the log against itself and against the files and the archive of its folder,
// and says what does not agree. It returns READ_FAILED.
func (r Record) Verify(folder *artifact.Folder) (log artifact.LogReport, wrong []string, err error) {
	if log, err = folder.VerifyLog(LogFile); err != nil {
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
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		if digest, err := folder.Digest(name); err != nil || digest != r.Files[name] {
			wrong = append(wrong, name+" is not the file that the log records")
		}
	}
	if len(r.added) == 0 {
		return log, wrong, nil
	}
	lost := r.added
	if file, err := folder.Open(ArchiveFile); err == nil {
		lost = Missing(file, r.added)
		file.Close()
	}
	if len(lost) > 0 {
		wrong = append(wrong, report.Counted(len(lost), "record")+" of "+ArchiveFile+" are not there as they were added")
	}
	return log, wrong, nil
}

// Event says what a line of a log records.
type Event string

// Entry is one line of a log with what it means.
type Entry struct {
	Number int
	Event  Event // "" for a line that another program wrote
	Actor  tidegate.ActorKind
	Time   time.Time // zero when the line has none
	Entry  *codec.Value
}

// EntryOf is a line as the rules read it; ok is false when it is not JSON, and for one that
// is cut short.
func EntryOf(line artifact.Line) (e Entry, ok bool) {
	entry, err := codec.Parse(line.Text)
	if err != nil || line.Torn {
		return Entry{}, false
	}
	at, _ := tidegate.ParseTime(entry.Get("ts").Str())
	return Entry{line.Number, Event(entry.Get("event").Str()), tidegate.ActorKind(entry.Get("actor").Str()), at, entry}, true
}

// String is the entry on one line, for a person who follows the log.
func (e Entry) String() string {
	what := cmp.Or(string(e.Event), e.Entry.Get("kind").Str())
	parts := []string{e.Entry.Get("ts").Str(), what}
	if e.Actor != "" {
		parts = append(parts, "by "+string(e.Actor))
	}
	for _, key := range []string{"from", "to", "gate", "status", "wave", "limit", "progress", "reason"} {
		if v := e.Entry.Get(key); v.Kind() == codec.String && v.Str() != "" {
			parts = append(parts, key+": "+tidegate.Cut(v.Str()))
		}
	}
	return strings.Join(parts, "  ")
}

// EachLine visits the lines of a log; one that is not there has none. It returns READ_FAILED.
func EachLine(folder *artifact.Folder, name string, visit func(artifact.Line)) error {
	file, err := folder.Open(name)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	defer file.Close()
	for line, err := range artifact.ReadLog(file) {
		if err != nil {
			return err
		}
		visit(line)
	}
	return nil
}

// ReadEntries reads the lines of a log, oldest first, without those that are not JSON. It
// returns READ_FAILED.
func ReadEntries(folder *artifact.Folder, name string) ([]Entry, error) {
	var entries []Entry
	err := EachLine(folder, name, func(line artifact.Line) {
		if entry, ok := EntryOf(line); ok {
			entries = append(entries, entry)
		}
	})
	return entries, err
}

// Tail yields the entries of a log as [artifact.Folder.Follow] yields its lines.
func Tail(ctx context.Context, folder *artifact.Folder, name string, from int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for line, err := range folder.Follow(ctx, name, from) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if entry, ok := EntryOf(line); ok && !yield(entry, nil) {
				return
			}
		}
	}
}

// Memory keeps what the steps of one call make of a folder, each under a name that stands
// for all the bytes it follows from, so that steps which need the same thing make it
// once. The zero value is ready for use, by several goroutines.
type Memory struct {
	mu   sync.Mutex
	kept []*remembered // the latest used last
}

type remembered struct {
	name  string
	made  sync.Once
	value any
	err   error
}

// remembers is how many things a memory keeps: those that are not used for the longest
// time are forgotten.
const remembers = 24

// Recall is what make makes, or made before under the same name; nobody may change it. A
// nil memory keeps nothing, and none keeps errors. It returns the error of make.
func Recall[T any](m *Memory, name string, make func() (T, error)) (T, error) {
	if m == nil {
		return make()
	}
	r := m.find(name)
	mine := false
	r.made.Do(func() {
		mine = true
		r.value, r.err = make()
	})
	if r.err == nil {
		return r.value.(T), nil
	}
	m.forget(r)
	if mine {
		value, _ := r.value.(T)
		return value, r.err
	}
	return make() // the error may be another's alone: its context ended
}

// find is what has a name, as the latest used.
func (m *Memory) find(name string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range m.kept {
		if r.name == name {
			m.kept = append(append(m.kept[:i], m.kept[i+1:]...), r)
			return r
		}
	}
	r := &remembered{name: name}
	if m.kept = append(m.kept, r); len(m.kept) > remembers {
		m.kept = append(m.kept[:0], m.kept[1:]...)
	}
	return r
}

func (m *Memory) forget(r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.kept {
		if m.kept[i] == r {
			m.kept = append(m.kept[:i], m.kept[i+1:]...)
			return
		}
	}
}
