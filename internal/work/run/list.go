package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/store"
)

// ListResult is the result of [List].
type ListResult struct {
	OK   codec.True  `json:"ok"`
	Home string      `json:"home"`
	Runs []ListedRun `json:"runs"`
}

// ListedRun is one run of a home.
type ListedRun struct {
	RunID     string `json:"run_id"`
	Root      string `json:"root"`
	Stage     Stage  `json:"stage"`
	Status    Status `json:"status"`
	Mode      string `json:"mode"`
	UpdatedAt string `json:"updated_at"`
	Query     string `json:"query"`
	Problem   string `json:"problem,omitzero"` // why the run cannot be opened

	question string // the whole of it
}

// ListInput are the arguments of [List].
type ListInput struct {
	Status string `json:"status,omitzero" jsonschema:"only runs of this status" enum:"created,running,paused,failed,completed,cancelled"`
	Since  string `json:"since,omitzero" jsonschema:"only runs that were updated at this time or later, such as 2026-05-04 or 2026-05-04T12:00:00Z"`
	Words  string `json:"words,omitzero" jsonschema:"only runs whose id or question has all of these words, or words that begin with them"`
}

// List lists the runs in a home, the last updated first. A home that does not exist has
// none, and a run that cannot be opened is listed with its problem, at the end, unless
// only runs of a status or a time are asked for. It returns INVALID_ARGS and READ_FAILED.
func List(ctx context.Context, desk Desk, home string, in ListInput) (ListResult, error) {
	if err := checkHome(home); err != nil {
		return ListResult{}, err
	}
	since, ok := tidegate.ParseTime(in.Since)
	if in.Since != "" && !ok {
		return ListResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("since", tidegate.Cut(in.Since)), "since must be a day or a time such as 2026-05-04 or 2026-05-04T12:00:00Z, got %q", tidegate.Cut(in.Since))
	}
	out := ListResult{Home: home, Runs: []ListedRun{}}
	err := store.Runs.Each(desk.Reach, home, func(_ *artifact.Folder, id string) {
		r := Listed(ctx, desk, filepath.Join(home, id, ManifestFile))
		updated, _ := tidegate.ParseTime(r.UpdatedAt)
		if (in.Status == "" || in.Status == string(r.Status)) && (in.Since == "" || !updated.Before(since)) && hasWords(r.RunID+" "+r.question, in.Words) {
			out.Runs = append(out.Runs, r)
		}
	})
	slices.SortStableFunc(out.Runs, func(a, b ListedRun) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
	return out, err
}

// hasWords reports whether a text has words that begin with each of some.
func hasWords(text, words string) bool {
	has := " "
	page.EachFolded(text, func(word []byte, _ int) { has += string(word) + " " })
	all := true
	page.EachFolded(words, func(word []byte, _ int) { all = all && strings.Contains(has, " "+string(word)) })
	return all
}

// Listed is the run of a manifest as [List] shows it.
func Listed(ctx context.Context, desk Desk, manifestPath string) ListedRun {
	r, err := Open(ctx, desk, manifestPath)
	if err != nil {
		root := filepath.Dir(manifestPath)
		return ListedRun{RunID: filepath.Base(root), Root: root, Problem: tidegate.AsError(err).Message}
	}
	defer r.Close()
	m := r.Manifest()
	var problem string
	if err := r.folder.CheckEnd(LogFile); tidegate.CodeOf(err) == tidegate.Tampered {
		problem = tidegate.AsError(r.damaged(tidegate.AsError(err).Message)).Message
	}
	return ListedRun{RunID: m.ID(), Root: r.Root(), Stage: m.Stage(), Status: m.Status(), Mode: m.Mode(),
		UpdatedAt: m.doc.Get("updated_at").Str(), Query: tidegate.Cut(m.Query()), Problem: problem, question: m.Query()}
}

// Stamped is a run of a home with the time at which its manifest was written
// last.
type Stamped struct {
	ID string // of its folder
	At time.Time
}

// Recent names the runs in a home, the last written first, without opening any.
// It returns READ_FAILED.
func Recent(desk Desk, home string) ([]Stamped, error) {
	if err := checkHome(home); err != nil {
		return nil, err
	}
	var runs []Stamped
	err := store.Runs.Each(desk.Reach, home, func(folder *artifact.Folder, id string) {
		if info, err := fs.Stat(folder.FS(), id+"/"+ManifestFile); err == nil {
			runs = append(runs, Stamped{id, info.ModTime()})
		}
	})
	slices.SortFunc(runs, func(a, b Stamped) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	return runs, err
}

// Report shows the list to a person.
func (l ListResult) Report() report.Report {
	out := report.Report{Name: "run_list", Title: "runs in " + l.Home, Summary: report.Counted(len(l.Runs), "run")}
	if len(l.Runs) == 0 {
		out.Add(report.Paragraph("No runs yet."), report.Preformatted(`tidegate research "your question"`))
		return out
	}
	table := report.NewTable("Run", "Stage", "Status", "Updated", "Question")
	for _, r := range l.Runs {
		status := report.None
		switch {
		case r.Problem != "" || r.Status == Failed:
			status = report.Fail
		case r.Status == Completed:
			status = report.Pass
		}
		table.Row(status, r.RunID, string(r.Stage), string(r.Status), r.UpdatedAt, cmp.Or(r.Problem, r.Query))
	}
	out.Add(table)
	return out
}

// Find is the path of the manifest of the run that a person names: by the path
// of its manifest or folder, by its id under home, or by a path relative to
// workdir. An id takes precedence over a relative path. It returns NOT_FOUND with
// the name and the places that were searched, and READ_FAILED where the caller may
// not look into such a place.
func Find(desk Desk, home, workdir, name string) (string, error) {
	return store.Runs.Find(desk.Reach, home, workdir, name)
}

// FindByBeginning is [Find] for somebody who only looks: it also takes the beginning
// of the id of one run under home, and without a name it finds the run that was
// written last. Others says how many runs there were to choose from in that case. It
// returns INVALID_ARGS for the beginning of several ids, and NOT_FOUND.
func FindByBeginning(desk Desk, home, workdir, name string) (manifest string, others int, err error) {
	if name == "" {
		runs, err := Recent(desk, home)
		if err != nil {
			return "", 0, err
		}
		if len(runs) == 0 {
			return "", 0, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("home", home), "there is no run under %s", home)
		}
		return filepath.Join(home, runs[0].ID, ManifestFile), len(runs) - 1, nil
	}
	manifest, err = store.Runs.FindByBeginning(desk.Reach, home, workdir, name)
	return manifest, 0, err
}

// ByID is the path of the manifest of the run with that id under home, whether it
// exists or not. It returns INVALID_ARGS without a home, and for an id that no run
// can have.
func ByID(home, id string) (string, error) {
	if CheckID(id) != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("run", tidegate.Cut(id)), "run must be the id of a run, got %q", tidegate.Cut(id))
	}
	if err := checkHome(home); err != nil {
		return "", err
	}
	return filepath.Join(home, id, ManifestFile), nil
}

// checkHome returns INVALID_ARGS unless home is an absolute path.
func checkHome(home string) error {
	if err := store.CheckHome(home); err != nil {
		return err
	}
	return CheckPath("home", home)
}

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

// DeleteInput are the arguments of [Delete].
type DeleteInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
}

// DeleteResult is the result of [Delete].
type DeleteResult struct {
	OK    codec.True `json:"ok"`
	RunID string     `json:"run_id"`
	Root  string     `json:"root" jsonschema:"the folder that was deleted"`
	Files int64      `json:"files"`
	Bytes int64      `json:"bytes"`
}

// Delete deletes a run: its folder, with everything in it. It is a person's
// decision, and must be signed in a run whose decisions are; nothing brings the
// run back. Its line in the ledger of its home stays.
//
// It returns the errors of [Open], INVALID_ARGS where a signature is needed and
// does not count, LOCK_HELD while a process drives the run, PATH_NOT_ALLOWED for
// a link to a run, NOT_FOUND for a folder without gates.json, and WRITE_FAILED.
func Delete(ctx context.Context, desk Desk, in DeleteInput) (DeleteResult, error) {
	r, err := Open(ctx, desk, in.ManifestPath)
	if err != nil {
		return DeleteResult{}, err
	}
	out, err := r.deletable()
	if err == nil {
		err = r.yield(ctx, desk)
	}
	r.Close() // some systems do not move a folder while something in it is open
	if err != nil {
		return DeleteResult{}, err
	}
	home, err := desk.Reach.Open("manifest_path", filepath.Dir(out.Root))
	if err != nil {
		return DeleteResult{}, err
	}
	defer home.Close()
	return out, home.RemoveFolder(filepath.Base(out.Root))
}

// Deletable is what [Delete] would delete. It returns the errors of [Open], and
// NOT_FOUND for a folder without gates.json: a manifest.json alone is not a run.
func Deletable(ctx context.Context, desk Desk, manifestPath string) (DeleteResult, error) {
	return With(ctx, desk, manifestPath, func(r *Run, out *DeleteResult) (err error) {
		*out, err = r.deletable()
		return err
	})
}

func (r *Run) deletable() (DeleteResult, error) {
	if _, err := r.Gates(); err != nil {
		return DeleteResult{}, err
	}
	files, bytes, err := r.folder.Size()
	return DeleteResult{RunID: r.ID(), Root: r.Root(), Files: files, Bytes: bytes}, err
}

// yield makes sure that the person may delete the run and that no process is at
// work in it.
func (r *Run) yield(ctx context.Context, desk Desk) error {
	signed, err := r.sign(ctx, Decision{What: "delete"})
	if err != nil {
		return err
	}
	if signed != nil {
		signers, err := r.signers()
		if err != nil {
			return err
		}
		if _, err := signed.verify(signers, desk); err != nil {
			return err
		}
	}
	claim, err := r.folder.Claim(HomeFile, nil)
	if err != nil {
		return err
	}
	defer claim.Release()
	lock, err := r.folder.Lock(ctx, desk.Now)
	if err != nil {
		return err
	}
	lock.Unlock()
	return nil
}

// Report shows the result to a person.
func (d DeleteResult) Report() report.Report {
	return report.Report{Name: "run_delete", Title: "run " + d.RunID, Summary: "deleted " + d.Root + ", " + d.Size()}
}

// Size says how much is deleted.
func (d DeleteResult) Size() string {
	size, unit := float64(d.Bytes)/(1<<10), "KiB"
	if size >= 1<<10 {
		size, unit = size/(1<<10), "MiB"
	}
	return fmt.Sprintf("%s, %.1f %s", report.Counted(int(d.Files), "file"), size, unit)
}
