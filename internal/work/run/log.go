package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/store"
)

// LogResult is the result of [Log].
type LogResult struct {
	OK      codec.True `json:"ok"`
	RunID   string     `json:"run_id"`
	Path    string     `json:"path"`
	Lines   int        `json:"lines"` // in the log, shown or not
	Entries []LogEntry `json:"entries"`
	Damaged string     `json:"damaged,omitzero"` // why nothing that rests on the log counts
}

// LogEntry is one line of the audit log.
type LogEntry struct {
	Line    int          `json:"line"`
	Chained bool         `json:"chained"`                     // the line carries the digest of the one before it
	Torn    bool         `json:"torn,omitzero"`               // the last line, cut short by a crash
	Entry   *codec.Value `json:"entry" holds:"object,string"` // the line, or its text when it is not JSON
}

// LogInput are the arguments of [Log].
type LogInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Last         int    `json:"last,omitzero" jsonschema:"how many of the last lines to show; all when absent" min:"1"`
}

// Log reads the audit log of a run, all of it when Last is 0. A run without a
// log has no entries. It returns the errors of [Open], and READ_FAILED.
func Log(ctx context.Context, desk Desk, in LogInput) (LogResult, error) {
	return With(ctx, desk, in.ManifestPath, func(r *Run, out *LogResult) error {
		*out = LogResult{RunID: r.ID(), Path: r.Path(LogFile), Entries: []LogEntry{}}
		if err := r.CheckLog(); tidegate.CodeOf(err) == tidegate.Tampered {
			out.Damaged = tidegate.AsError(err).Message
		}
		return r.eachLine(func(line artifact.Line) {
			out.Lines++
			entry, err := codec.Parse(line.Text)
			if err != nil {
				entry = codec.Of(tidegate.Cut(string(line.Text)))
			}
			out.Entries = append(out.Entries, LogEntry{Line: line.Number, Chained: line.Prev != "", Torn: line.Torn, Entry: entry})
			if in.Last > 0 && len(out.Entries) > in.Last {
				out.Entries = slices.Delete(out.Entries, 0, 1)
			}
		})
	})
}

func (r *Run) eachLine(visit func(artifact.Line)) error {
	return store.EachLine(r.folder, LogFile, visit)
}

// parsedLine is a line of the log with what it says; err is why it is not JSON.
type parsedLine struct {
	artifact.Line
	entry *codec.Value
	err   error
}

// parsedAtOnce is how many lines are parsed at the same time, on all cores.
const parsedAtOnce = 1024

// eachParsed is eachLine with the lines parsed, of those whose text is wanted; nil: all.
func (r *Run) eachParsed(wanted func(text []byte) bool, visit func(parsedLine)) error {
	var lines []parsedLine
	visitAll := func() {
		_ = parallel.All(context.Background(), len(lines), func(i int) error {
			lines[i].entry, lines[i].err = codec.Parse(lines[i].Text)
			return nil
		})
		for _, l := range lines {
			visit(l)
		}
		lines = lines[:0]
	}
	err := r.eachLine(func(line artifact.Line) {
		if wanted != nil && !wanted(line.Text) {
			return
		}
		line.Text = bytes.Clone(line.Text)
		if lines = append(lines, parsedLine{Line: line}); len(lines) == parsedAtOnce {
			visitAll()
		}
	})
	visitAll()
	return err
}

// Entry is one line of the log with what it means.
type Entry = store.Entry

// Events reads the lines of the log, oldest first. Lines that are not JSON are
// left out. It returns READ_FAILED.
func (r *Run) Events() ([]Entry, error) { return store.ReadEntries(r.folder, LogFile) }

// EventsOf reads the lines of the log that record one of some events, oldest
// first, without parsing the others: most lines of a long run are about its jobs.
// An opened run reads each line once, and later only what was added since. A log that
// is not the one that was read before, because lines of a failed write were taken
// back, is read again from its first line. The caller must not change the entries,
// which are the same values each time. It returns READ_FAILED.
func (r *Run) EventsOf(events ...Event) ([]Entry, error) {
	file, err := r.folder.Open(LogFile)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	defer file.Close()
	r.eventsMu.Lock()
	defer r.eventsMu.Unlock()
	key := fmt.Sprint(events)
	read, known := r.events[key]
	if !known {
		read = &readEvents{events: events}
		for _, event := range events {
			read.marks = append(read.marks, []byte(string(event)+`"`))
		}
		r.events[key] = read
	}
	err = read.on(file)
	if tidegate.CodeOf(err) == tidegate.Tampered {
		read.entries, read.last = nil, artifact.Line{}
		err = read.on(file)
	}
	if err != nil {
		return nil, err
	}
	return slices.Clip(read.entries), nil
}

// readEvents are the entries of some events in the log as far as it was read.
type readEvents struct {
	events  []Event
	marks   [][]byte // a line about one of them holds one of these
	entries []Entry
	last    artifact.Line
}

// on reads on to the end of the log. An unfinished line is read once it has its end.
func (e *readEvents) on(log *os.File) error {
	for line, err := range artifact.ReadLogAfter(log, e.last) {
		if err != nil {
			return err
		}
		if line.Torn {
			continue
		}
		e.last = artifact.Line{Number: line.Number, Digest: line.Digest, End: line.End}
		if !slices.ContainsFunc(e.marks, func(mark []byte) bool { return bytes.Contains(line.Text, mark) }) {
			continue
		}
		if entry, ok := store.EntryOf(line); ok && slices.Contains(e.events, entry.Event) {
			e.entries = append(e.entries, entry)
		}
	}
	return nil
}

// Tail yields the entries of the run's log whose number is at least from: those
// that are there and then each that is added, until ctx ends. It never writes
// and takes no lock; however many callers follow one run, the process looks at its
// log ten times a second. It yields an error and ends when the log shrinks or is
// replaced (TAMPERED), and when it cannot be read (READ_FAILED).
func (r *Run) Tail(ctx context.Context, from int) iter.Seq2[Entry, error] {
	return store.Tail(ctx, r.folder, LogFile, from)
}

// Report shows the log to a person.
func (l LogResult) Report() report.Report {
	out := report.Report{Name: "run_log", Title: "log of run " + l.RunID, Summary: report.Counted(l.Lines, "line")}
	if shown := len(l.Entries); shown < l.Lines {
		out.Summary = "the last " + strconv.Itoa(shown) + " of " + out.Summary
	}
	if l.Damaged != "" {
		out.Status, out.Summary = report.Fail, out.Summary+"; "+l.Damaged
	}
	table := report.NewTable(">Line", "Time", "What", "By", "Revision", "Reason")
	for _, e := range l.Entries {
		revision := ""
		if n, ok := e.Entry.Get("new_revision").Int(); ok {
			revision = strconv.FormatInt(n, 10)
		}
		kind := e.Entry.Get("kind").Str()
		what, reason := cmp.Or(e.Entry.Get("event").Str(), kind), e.Entry.Get("reason").Str()
		if files := e.Entry.Get("files").Members(); kind == kindFiles && len(files) > 0 {
			reason = files[0].Key
			if more := len(files) - 1; more > 0 {
				reason += " and " + strconv.Itoa(more) + " more"
			}
		}
		status := report.None
		if e.Torn || what == "" {
			status, what, reason = report.Warn, "unreadable", e.Entry.Str()
		}
		table.Row(status, e.Line, e.Entry.Get("ts").Str(), what, e.Entry.Get("actor").Str(), revision, reason)
	}
	out.Add(table)
	return out
}
