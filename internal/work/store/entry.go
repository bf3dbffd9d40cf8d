package store

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
