package replay

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// walk is one replay under way: the record of the run, and a copy of the run that
// goes through every state in the record.
type walk struct {
	kept  *run.Run
	stage *artifact.Replica // the run as it stood
	moves []change
	root  string // where the run lay when the next lines were written, as they say themselves

	recorded map[string]string // what the lines so far say of each file: its digest, "" when it was removed
	order    []string          // the files of recorded, as they were first named
	later    map[string]int    // how many lines that are still to come name a file
	log      []byte            // the whole log
	ends     map[int]int64     // where each of its lines ends
	logged   int64             // how much of it the copy has
	byDigest map[string]bool   // files of changes that are not done again
	byRecord map[string][]byte // what the present change wrote, according to the record alone
	begun    bool              // the log begins with the run
	asThen   bool              // manifest and gates are, byte for byte, what they were
	board    *job.Board        // of the copy; nil where none is open
	now      time.Time         // for it

	out Result
}

// change is what one update of the run wrote into its log.
type change struct {
	lines []line
	files map[string]string // digests of the files that it wrote, "" for one that it removed
	order []string
}

// line is one line of the log.
type line struct {
	number int
	event  run.Event
	kind   string
	entry  *codec.Value
}

func (l line) get(key string) string { return l.entry.Get(key).Str() }

// read reads the log and splits it into changes.
func (w *walk) read() error {
	w.recorded, w.later, w.ends, w.byDigest, w.asThen = map[string]string{}, map[string]int{}, map[int]int64{}, map[string]bool{}, true
	w.root = w.kept.Manifest().Doc().Get("artifacts").Get("root").Str()
	if !filepath.IsAbs(w.root) {
		w.root = w.kept.Root()
	}
	events, err := w.kept.Events()
	if err != nil {
		return err
	}
	if w.log, err = w.kept.Folder().Read(run.AuditFile); err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	for l := range artifact.ReadLog(bytes.NewReader(w.log)) {
		w.ends[l.Number] = l.End
	}
	var last line
	for _, e := range events {
		l := line{e.Number, e.Event, e.Entry.Get("kind").Str(), e.Entry}
		if len(w.moves) == 0 || begins(last, l) {
			w.moves = append(w.moves, change{files: map[string]string{}})
		}
		last = l
		t := &w.moves[len(w.moves)-1]
		if l.event == run.EventFiles || slices.Contains(gone, l.kind) {
			for _, m := range l.entry.Get("files").Members() {
				if _, named := t.files[m.Key]; !named {
					t.order = append(t.order, m.Key)
					w.later[m.Key]++
				}
				t.files[m.Key] = m.Value.Str()
			}
		}
		t.lines = append(t.lines, l)
	}
	return nil
}

// begins reports whether a line is the first of an update, so that the line before
// it belongs to another. In an update the digests of files stand last, and before
// them a move or the judgements of gates; the time, the actor and the state of the
// documents are the same in all lines; some lines are always the first.
func begins(before, l line) bool {
	switch {
	case l.get("state") == "":
		return true
	case l.event != run.EventFiles && slices.Contains([]run.Event{run.EventFiles, run.EventFetched, run.EventMoved}, before.event):
		return true
	case before.kind == "gate_judged" && l.kind != "gate_judged" && l.event != run.EventFiles:
		return true
	case l.event == run.EventVerdict, l.event == run.EventAnswered, l.event == run.EventLeased, l.event == run.EventFetched:
		return true
	}
	for _, key := range []string{"ts", "state", "actor"} {
		if before.get(key) != l.get(key) {
			return true
		}
	}
	return false
}

// begin brings the copy into the state in which the run began.
func (w *walk) begin() error {
	first := line{}
	if len(w.moves) > 0 {
		first = w.moves[0].lines[0]
	}
	w.out.Recorded = first.get("program")
	named := func(name string) bool { return w.later[name] > 0 }
	l := w.kept.Layout()
	begun := map[string][]byte{}
	if w.begun = first.kind == "run_init" && !w.kept.Legacy(); w.begun {
		for _, doc := range []struct {
			name, digest string
			make         func() ([]byte, error)
		}{
			{run.ManifestFile, first.get("manifest_digest"), w.firstManifest},
			{l.Gates, first.get("gates_digest"), func() ([]byte, error) { return codec.MarshalFile(run.NewGates(w.kept.ID(), first.get("ts"))) }},
			{run.PolicyFile, first.get("policy_digest"), w.firstPolicy},
			{run.ScopeFile, first.get("scope_digest"), func() ([]byte, error) { return w.kept.Folder().Read(run.ScopeFile) }},
		} {
			data, err := doc.make()
			if err != nil {
				return err
			}
			if codec.DigestBytes(data) != doc.digest {
				if doc.name == run.ManifestFile || doc.name == l.Gates {
					w.asThen = false
				}
				if !w.patched() {
					w.step(doc.name, "what it was when the run was made cannot be had from what it is")
				}
			}
			begun[doc.name] = data
			if doc.name != run.ScopeFile {
				w.later[doc.name]++ // others follow
			}
		}
		for _, name := range run.Folders {
			if err := w.stage.MakeFolder(name); err != nil {
				return err
			}
		}
	} else {
		w.asThen = false
	}
	return fs.WalkDir(w.kept.Folder().FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular(), strings.HasPrefix(path.Base(name), ".tidegate"), name == ".lock", name == run.AuditFile, name == run.HeadFile:
			return nil
		}
		if data, ok := begun[name]; ok {
			return w.stage.Write(name, data)
		}
		if named(name) {
			return nil // it comes with its line
		}
		data, err := w.kept.Folder().Read(name)
		if err != nil {
			return err
		}
		return w.stage.Write(name, data)
	})
}

// patched reports whether somebody changed the manifest by hand: what stood there
// before is not kept.
func (w *walk) patched() bool {
	return slices.ContainsFunc(w.moves, func(c change) bool {
		return slices.ContainsFunc(c.lines, func(l line) bool { return l.event == run.EventPatched || l.get("kind") == "run_accept" })
	})
}

// firstManifest is the manifest as the run was made with it: as it is, without what
// the log says was written to it since.
func (w *walk) firstManifest() ([]byte, error) {
	doc := w.kept.Manifest().Doc().Clone()
	for _, m := range w.kept.Manifest().Doc().Members() {
		if !run.IsManifestField(m.Key) { // a note that an agent put there
			doc.Delete(m.Key)
		}
	}
	created := doc.Get("created_at")
	doc.Set("updated_at", created)
	doc.Set("revision", codec.Of(1))
	doc.Set("status", codec.Of(run.Created))
	doc.Set("stage", codec.Of(tidegate.D("current", run.Init, "started_at", created, "last_progress_at", created, "history", []string{})))
	doc.Set("metrics", codec.NewObject())
	doc.Set("failures", codec.Of([]string{}))
	for _, l := range w.limits(func(l line) bool { return l.entry.Get("from") != nil }) {
		if limits := doc.Get("limits"); limits.Kind() == codec.Object {
			limits.Set(l.get("limit"), l.entry.Get("from"))
		}
	}
	return codec.MarshalFile(doc)
}

// firstPolicy is the policy as the run was made with it.
func (w *walk) firstPolicy() ([]byte, error) {
	data, err := w.kept.Folder().Read(run.PolicyFile)
	if err != nil {
		return nil, err
	}
	doc, err := codec.ParseFile("path", w.kept.Path(run.PolicyFile), data)
	if err != nil {
		return nil, err
	}
	doc = doc.Clone()
	for _, l := range w.limits(func(l line) bool { return l.entry.Get("from") == nil }) {
		budget := doc.Get("budget")
		switch was := l.entry.Get("was"); {
		case budget.Kind() != codec.Object:
		case was != nil:
			budget.Set(l.get("limit"), was)
		default:
			budget.Delete(l.get("limit"))
		}
	}
	if w.confirmed() {
		doc.Set("confirm_plan", codec.Of(true))
	}
	if budget := doc.Get("budget"); budget.Kind() == codec.Object && budget.Len() == 0 {
		doc.Delete("budget")
	}
	return codec.MarshalFile(doc)
}

// confirmed reports whether the plan of the run waited for a person's yes, and got it.
func (w *walk) confirmed() bool {
	return slices.ContainsFunc(w.moves, func(c change) bool {
		return slices.ContainsFunc(c.lines, func(l line) bool {
			return l.event == run.EventAccepted && l.get("what") == "plan"
		})
	})
}

// limits are the lines by which a person changed a limit, the last one first.
func (w *walk) limits(of func(line) bool) []line {
	var list []line
	for _, c := range w.moves {
		for _, l := range c.lines {
			if l.event == run.EventLimit && of(l) {
				list = append(list, l)
			}
		}
	}
	slices.Reverse(list)
	return list
}

// at is the context and the clock of what a change did: the copy stands where the
// run lay, and the time is that of the record.
func (w *walk) at(ctx context.Context, c change) (context.Context, run.Clock) {
	l := c.lines[0]
	ctx = tidegate.WithActor(w.stage.At(ctx, w.root), tidegate.Actor(l.get("actor")))
	then, _ := time.Parse(time.RFC3339Nano, l.get("ts"))
	return ctx, run.Clock{Now: func() time.Time { return then }, Pinned: l.get("clock") == "pinned"}
}

func (w *walk) manifestPath() string { return filepath.Join(w.root, run.ManifestFile) }

// follow does a change again, compares, and brings the copy into the state after it.
func (w *walk) follow(ctx context.Context, c change) error {
	w.locate(c)
	given := map[int]bool{}
	for _, l := range c.lines {
		given[l.number] = l.event != run.EventFiles
	}
	fresh := map[string][]byte{}
	w.byRecord = nil
	for _, l := range principalFirst(c.lines) {
		if w.leaveOut(c, l) {
			given[l.number] = false
			continue
		}
		again := redo(l)
		if !given[l.number] || again == nil {
			continue
		}
		rehearsed, err := w.rehearse(ctx, c, l, again)
		if err != nil {
			return err
		}
		if rehearsed != nil {
			w.compareLines(c, rehearsed, given)
			w.compareFiles(c, rehearsed.files)
			maps.Copy(fresh, rehearsed.files)
		}
	}
	maps.Copy(fresh, w.byRecord)
	for _, l := range c.lines {
		if given[l.number] {
			w.out.Given++
		}
	}
	if err := w.adopt(c, fresh); err != nil {
		return err
	}
	return w.refreshBoard(c)
}

// leaveOut notes a line that is not done again, because its tool is gone or the run
// was made to count what others wrote. What the change wrote is compared by digest.
func (w *walk) leaveOut(c change, l line) bool {
	if w.kept.Legacy() {
		w.leave("all lines of the log: the run was made with --legacy-gates; its files are compared by their digests")
		return true
	}
	if !slices.Contains(gone, l.kind) {
		return false
	}
	w.leave("%s, whose tool is gone; what it wrote is compared by its digest", w.name(l))
	for _, name := range c.order {
		w.byDigest[name] = true
	}
	return true
}

// principalFirst puts first the line from which the others of a change follow.
func principalFirst(lines []line) []line {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b line) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return sorted
}

func rank(l line) int {
	switch {
	case l.event == run.EventMoved, l.event == run.EventVerdict, l.event == run.EventPlanned, l.kind == "gate_accept":
		return 0
	}
	return 1
}

// locate learns from the lines of a change where the run lay: paths in them are
// absolute.
func (w *walk) locate(c change) {
	l := w.kept.Layout()
	for _, each := range c.lines {
		for key, name := range map[string]string{"plan_path": l.Wave1Plan(), "pivot_path": l.Pivot, "citations_path": l.Citations, "path": l.Perspectives} {
			if root, ok := strings.CutSuffix(filepath.ToSlash(each.get(key)), "/"+name); ok && filepath.IsAbs(root) {
				if root = filepath.FromSlash(root); root != w.root {
					w.closeBoard()
				}
				w.root = root
			}
		}
	}
}

// rehearsed is what a change would have done.
type rehearsed struct {
	lines   []*codec.Value
	partial bool // the lines have only some of their fields
	files   map[string][]byte
}

// rehearse does again what a line records. It returns nil where that cannot be
// done, after it noted why.
func (w *walk) rehearse(ctx context.Context, c change, l line, again operation) (*rehearsed, error) {
	ctx, clock := w.at(ctx, c)
	ctx, notes := run.Rehearse(ctx)
	out := &rehearsed{files: notes.Files}
	err := again(&scene{walk: w, ctx: ctx, clock: clock, change: c, line: l, out: out})
	if err != nil {
		if tidegate.CodeOf(err) == tidegate.Cancelled {
			return nil, err
		}
		if err == errGiven {
			return nil, nil
		}
		w.step(w.name(l), "it cannot be done again: "+string(tidegate.CodeOf(err))+": "+tidegate.AsError(err).Message)
		return nil, nil
	}
	for _, note := range notes.Lines {
		out.lines = append(out.lines, note.Value())
	}
	return out, nil
}

// adopt brings the copy into the state that the record gives it after a change.
func (w *walk) adopt(c change, fresh map[string][]byte) error {
	for _, l := range c.lines {
		for key, name := range map[string]string{"manifest_digest": run.ManifestFile, "gates_digest": w.kept.Layout().Gates} {
			if digest := l.get(key); digest != "" && l.event != run.EventCreated {
				c.order, c.files[name] = append(c.order, name), digest
			}
		}
	}
	for _, name := range c.order {
		if err := w.adoptFile(name, c.files[name], fresh[name]); err != nil {
			return err
		}
	}
	return w.extendLog(c)
}

// adoptFile puts a file into the copy as the record has it: what was made again, if
// that has the digest, otherwise what the run keeps.
func (w *walk) adoptFile(name, digest string, made []byte) error {
	if _, known := w.recorded[name]; !known {
		w.order = append(w.order, name)
	}
	w.recorded[name] = digest
	w.later[name]--
	if digest == "" {
		return w.stage.Remove(name)
	}
	if made != nil && codec.DigestBytes(made) == digest {
		return w.stage.Write(name, made)
	}
	kept, err := w.kept.Folder().Read(name)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	if err == nil && (codec.DigestBytes(kept) == digest || isAttempt(name)) {
		return w.stage.Write(name, kept)
	}
	if name == run.ManifestFile {
		if recovered := w.withKeptHistory(made); codec.DigestBytes(recovered) == digest {
			return w.stage.Write(name, recovered)
		}
	}
	if name == run.ManifestFile || name == w.kept.Layout().Gates {
		w.asThen = false
	}
	if made == nil {
		return nil // a state that is not kept; lines that need it say so
	}
	return w.stage.Write(name, made)
}

// withKeptHistory is a manifest that was made again, with the moves that the run
// keeps in place of those that came out: a move that differs is one finding, and
// does not end the replay.
func (w *walk) withKeptHistory(made []byte) []byte {
	doc, err := codec.Parse(made)
	if err != nil || doc.Get("stage").Kind() != codec.Object {
		return nil
	}
	doc = doc.Clone()
	history := codec.Of([]string{})
	for i, move := range w.kept.Manifest().History() {
		if i < doc.Get("stage").Get("history").Len() {
			history.Append(move)
		}
	}
	doc.Get("stage").Set("history", history)
	data, _ := codec.MarshalFile(doc)
	return data
}

// isAttempt reports whether a file belongs to an attempt at a job: the run keeps only
// its last state, which has all that was in those before.
func isAttempt(name string) bool {
	return strings.HasPrefix(name, run.JobsDir+"/") && path.Base(name) == "attempt.json"
}

// extendLog adds the lines of a change to the log of the copy.
func (w *walk) extendLog(c change) error {
	end := w.ends[c.lines[len(c.lines)-1].number]
	from := w.logged
	w.logged = end
	return w.stage.Append(run.AuditFile, w.log[from:end])
}
