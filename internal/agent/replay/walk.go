package replay

import (
	"bytes"
	"context"
	"fmt"
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
	"github.com/tidegate/tidegate/internal/work/store"
)

// walk is one replay under way: the record of the run, and a copy of the run that
// goes through every state in the record.
type walk struct {
	kept     *run.Run
	stage    *artifact.Replica // the run as it stood
	memory   store.Memory
	moves    []change
	root     string            // where the copy stands
	first    []run.First       // the documents that the run began with
	recorded map[string]string // what the lines so far say of each file: its digest, "" when it was removed
	order    []string          // the files of recorded, as they were first named
	later    map[string]int    // how many lines that are still to come name a file
	log      []byte            // the whole log
	ends     map[int]int64     // where each of its lines ends
	logged   int64             // how much of it the copy has
	byRecord map[string][]byte // what the present change wrote, according to the record alone
	left     map[string]bool   // what the result says was left out
	begun    bool              // the log begins with the run
	exact    bool              // manifest and gates are, byte for byte, what they were
	board    *job.Board        // of the copy; nil where none is open
	now      time.Time         // for it
	pinned   bool              // its clock

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

// args are what the line says beside its fields of what was asked for; nil where
// nothing is done again by it.
func (l line) args() *codec.Value { return l.entry.Get("args") }

// readLog reads the log and splits it into changes.
func (w *walk) readLog() error {
	w.recorded, w.later, w.ends, w.exact = map[string]string{}, map[string]int{}, map[int]int64{}, true
	w.root = w.kept.Root()
	events, err := w.kept.Events()
	if err != nil {
		return err
	}
	if w.log, err = w.kept.Folder().Read(run.LogFile); err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
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
		if l.event == run.EventFiles || l.event == run.EventAccepted && l.get("what") == "record" {
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

// begins reports whether a line is the first of a transaction, so that the line
// before it belongs to another.
func begins(before, l line) bool {
	was, _ := before.entry.Get("tx").Int()
	is, numbered := l.entry.Get("tx").Int()
	return !numbered || is != was
}

// begin brings the copy into the state in which the run began.
func (w *walk) begin() error {
	first := line{}
	if len(w.moves) > 0 {
		first = w.moves[0].lines[0]
	}
	w.out.Recorded = first.get("program")
	named := func(name string) bool { return w.later[name] > 0 }
	begun := map[string][]byte{}
	if w.begun = first.kind == "run_init"; w.begun {
		var err error
		if w.first, err = w.kept.FirstDocuments(first.entry); err != nil {
			return err
		}
		for _, doc := range w.first {
			begun[doc.Name] = doc.Data
			if doc.Name != run.ScopeFile {
				w.later[doc.Name]++ // others follow
			}
		}
		for _, name := range run.Folders {
			if err := w.stage.MakeFolder(name); err != nil {
				return err
			}
		}
	} else {
		w.exact = false
	}
	return fs.WalkDir(w.kept.Folder().FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if strings.HasPrefix(entry.Name(), ".tidegate") {
				return fs.SkipDir // what a transaction left belongs to the next one that locks the run
			}
			return nil
		case !entry.Type().IsRegular(), strings.HasPrefix(path.Base(name), ".tidegate"), name == ".lock", name == run.LogFile, name == run.HeadFile:
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

// at is the context and the desk of what a change did: the copy stands where the
// run lay and is all that can be reached, whatever paths the record has; the time is
// that of the record, and nothing is written.
func (w *walk) at(ctx context.Context, c change) (context.Context, run.Desk) {
	l := c.lines[0]
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.ActorKind(l.get("actor"))})
	then, _ := time.Parse(time.RFC3339Nano, l.get("ts"))
	desk := w.kept.Desk().Rehearsing()
	desk.Memory = &w.memory
	desk.Reach = w.stage.At(w.root)
	desk.Now, desk.Pinned = func() time.Time { return then }, l.get("clock") == "pinned"
	return ctx, desk
}

func (w *walk) manifestPath() string { return filepath.Join(w.root, run.ManifestFile) }

// follow does a change again, compares, and brings the copy into the state after it.
func (w *walk) follow(ctx context.Context, c change) error {
	given := map[int]bool{}
	for _, l := range c.lines {
		given[l.number] = l.event != run.EventFiles
	}
	fresh := map[string][]byte{}
	w.byRecord = nil
	explained := !w.byAnother(c.lines[0])
	if cause := causeOf(c); explained && cause >= 0 {
		rehearsed, err := w.rehearse(ctx, c, c.lines[cause], operationOf(c.lines[cause]))
		if err != nil {
			return err
		}
		if rehearsed != nil {
			w.compareLines(c, rehearsed, given)
			w.compareFiles(c, rehearsed.files)
			maps.Copy(fresh, rehearsed.files)
		}
		explained = rehearsed != nil
	}
	maps.Copy(fresh, w.byRecord)
	if explained {
		if err := w.unexplained(ctx, c, given); err != nil {
			return err
		}
		w.unmade(c, fresh)
	}
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

// byAnother reports whether another program wrote a line, which says nothing of what was
// asked for. In a log that this program began there is none.
func (w *walk) byAnother(l line) bool {
	if l.entry.Get("tx") != nil || !w.kept.Older() {
		return false
	}
	w.leave("the lines of the log that another program wrote; what they are about is compared by its digest")
	return true
}

// causeOf is the index of the first line that says what was asked for, -1 for none.
func causeOf(c change) int {
	return slices.IndexFunc(c.lines, func(l line) bool { return l.args() != nil && operationOf(l) != nil })
}

// mayLack are the kinds of lines that need not say what was asked for: files from
// outside the run, or gaps that somebody named.
// What rests on them is judged again.
var mayLack = []string{"wave_review", "pivot_decide", "summary_pack_build"}

// unexplained looks at the lines of a change that a rule writes and that did not come
// out again: nobody can hand them in.
func (w *walk) unexplained(ctx context.Context, c change, given map[int]bool) error {
	cause := causeOf(c)
	for i, l := range c.lines {
		switch {
		case given[l.number] && l.event == run.EventUnfit:
			w.step(w.name(l), "it does not come out again")
		case i == cause || !given[l.number] || operationOf(l) == nil:
		case l.kind == "gates_write":
			rehearsed, err := w.rehearse(ctx, c, l, onRun(rejudged))
			if err != nil {
				return err
			}
			if rehearsed != nil {
				w.compareLines(c, rehearsed, given)
			}
		case slices.Contains(mayLack, l.kind):
			w.leave("%s, because the log does not say all of what was asked for", w.name(l))
		default:
			w.step(w.name(l), "nothing in its transaction says what was asked for")
		}
	}
	return nil
}

// unmade looks at the files that a change names and that did not come out again. A
// line with their digests alone says nothing of how they came; manifest and gates have
// lines of their own; and nobody hands in what a rule makes.
func (w *walk) unmade(c change, fresh map[string][]byte) {
	l := w.kept.Layout()
	named := slices.ContainsFunc(c.lines, func(l line) bool { return l.event != run.EventFiles })
	lacking := slices.ContainsFunc(c.lines, func(l line) bool { return l.args() == nil && slices.Contains(mayLack, l.kind) })
	for _, name := range c.order {
		_, made := fresh[name]
		switch {
		case made:
		case name == run.ManifestFile, name == l.Gates:
			w.step(name, "a line other than its own records it")
		case !named && name == l.Pivot: // whoever decides need not give a reason, and then no line says so
			w.leave("%s, because the log does not say what was asked for", name)
		case !named && !strings.HasPrefix(name, run.JobsDir+"/"),
			c.files[name] != "" && w.isReading(name), !lacking && c.files[name] != "" && slices.Contains(w.byRule(), name):
			w.step(name, "no line of its transaction says how it came")
		}
	}
}

// byRule are the files that a rule makes and nobody hands in.
func (w *walk) byRule() []string {
	l := w.kept.Layout()
	return []string{run.PolicyFile, run.ScopeFile, l.Wave1Plan(), l.WaveReview, l.Pivot, l.Wave2Plan(), l.Wave2Perspectives(), l.Citations, l.SummaryPack}
}

// isReading reports whether a file says what second readers said: the document of the
// claims, as it is or as it was in a round, or an accepted answer to a part. None of them
// is handed in.
func (w *walk) isReading(name string) bool {
	l := w.kept.Layout()
	rounds := path.Dir(path.Dir(l.RoundClaims(1)))
	return name == l.Claims() || path.Base(name) == "claims.json" && strings.HasPrefix(name, rounds+"/") ||
		path.Base(name) == "reading.json" && strings.HasPrefix(name, run.JobsDir+"/")
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
	ctx, desk := w.at(ctx, c)
	out := &rehearsed{files: desk.Rehearsal.Files}
	err := again(&scene{walk: w, ctx: ctx, desk: desk, change: c, line: l, args: l.args(), out: out})
	switch {
	case err == errGiven:
		return nil, nil
	case tidegate.CodeOf(err) == tidegate.Cancelled:
		return nil, err
	case err != nil:
		w.step(w.name(l), "it cannot be done again: "+string(tidegate.CodeOf(err))+": "+tidegate.AsError(err).Message)
		return nil, nil
	}
	for _, note := range desk.Rehearsal.Lines {
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
	w.note(name, digest)
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
	w.notAsThen(name)
	if made == nil {
		return nil // a state that is not kept; lines that need it say so
	}
	return w.stage.Write(name, made)
}

// note takes what the present line says of a file.
func (w *walk) note(name, digest string) {
	if _, known := w.recorded[name]; !known {
		w.order = append(w.order, name)
	}
	w.recorded[name] = digest
}

// notAsThen notes that a file is not, byte for byte, what it was.
func (w *walk) notAsThen(name string) {
	if name == run.ManifestFile || name == w.kept.Layout().Gates {
		w.exact = false
	}
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
	if end < from {
		return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("path", w.kept.Path(run.LogFile)), "the log has become shorter while the run was replayed")
	}
	w.logged = end
	return w.stage.Append(run.LogFile, w.log[from:end])
}

// openBoard is the jobs of the copy as it stands. The board stays open from one
// change to the next as long as the changes are about jobs, so that doing a job again
// costs the same however many there are.
func (s *scene) openBoard() (*job.Board, error) {
	w := s.walk
	w.now = s.desk.Now()
	if w.pinned != s.desk.Pinned {
		w.closeBoard() // seeds are not drawn under a pinned clock
	}
	w.pinned = s.desk.Pinned
	if w.board != nil {
		return w.board, nil
	}
	desk := s.desk
	desk.Now = func() time.Time { return w.now }
	board, err := job.OpenBoard(s.ctx, desk, s.manifestPath())
	if err != nil {
		return nil, err
	}
	board.Seeds = func(round int64) []byte {
		data, _ := w.kept.Folder().Read(w.kept.Layout().RoundSeed(round)) // without one another comes out
		return data
	}
	w.board = board
	return board, nil
}

// refreshBoard lets the board follow a change that the copy has taken over.
func (w *walk) refreshBoard(c change) error {
	if w.board == nil {
		return nil
	}
	var ids []string
	for _, l := range c.lines {
		switch l.event {
		case run.EventLeased, run.EventAnswered, run.EventVerdict, run.EventEnded, run.EventExtended:
			if job.OpensOthers(l.get("job_id")) {
				w.closeBoard()
				return nil
			}
			ids = append(ids, l.get("job_id"))
		case run.EventIngested, run.EventFetched, run.EventSearched, run.EventFiles: // what belongs to those
		default:
			w.closeBoard()
			return nil
		}
	}
	return w.board.Refresh(ids...)
}

func (w *walk) closeBoard() {
	if w.board != nil {
		w.board.Close()
		w.board = nil
	}
}

// name is a line of the log as steps name it.
func (w *walk) name(l line) string { return fmt.Sprintf("line %d of the log: %s", l.number, l.kind) }

// ofTheLog are the fields that the log itself adds to a line; they follow from no
// rule.
var ofTheLog = []string{"ts", "run_id", "seq", "actor", "by", "who", "state", "clock", "prev", "kind", "event", "program", "tx"}

// ofTheRecord are the fields that can be compared only while manifest and gates are,
// byte for byte, what they were.
var ofTheRecord = []string{"manifest_digest", "gates_digest", "prev_digest", "patch_digest", "prev_revision", "new_revision", "evidence_digest"}

// packDigest is the field of a summary pack that covers the whole manifest.
const packDigest = "inputs_digest"

// samePack reports whether a summary pack is the one that the log has, except for
// the digest of what it was made from.
func (w *walk) samePack(digest string, again []byte) bool {
	kept, err := w.kept.Folder().Read(w.kept.Layout().SummaryPack)
	if err != nil || codec.DigestBytes(kept) != digest {
		return false
	}
	was, err := codec.Parse(kept)
	if err != nil {
		return false
	}
	made, err := codec.Parse(again)
	if err != nil {
		return false
	}
	made = made.Clone()
	made.Set(packDigest, was.Get(packDigest))
	data, err := codec.MarshalFile(made)
	return err == nil && codec.DigestBytes(data) == digest
}

// compareLines finds the line of the log for each line that was made again, and
// compares the two.
func (w *walk) compareLines(c change, again *rehearsed, given map[int]bool) {
	for _, made := range again.lines {
		if made.Get("event").Str() == string(run.EventFiles) {
			continue // its files are compared one by one
		}
		at := slices.IndexFunc(c.lines, func(l line) bool {
			return given[l.number] && l.kind == made.Get("kind").Str() && string(l.event) == made.Get("event").Str()
		})
		if at < 0 {
			w.step(w.name(c.lines[0]), "a line "+made.Get("kind").Str()+" belongs to it, and the log has none")
			continue
		}
		l := c.lines[at]
		given[l.number] = false
		w.step(w.name(l), w.lineDifference(l.entry, made, again.partial))
	}
}

func (w *walk) lineDifference(kept, made *codec.Value, partial bool) string {
	skip := func(key string) bool {
		ofTheManifest := slices.Contains(ofTheRecord, key) || key == packDigest && made.Get("kind").Str() == "summary_pack_build"
		ofTheLog := slices.Contains(ofTheLog, key) && (key != "by" || made.Get(key) == nil) // a move says who sent the run back
		return ofTheLog || !w.exact && ofTheManifest
	}
	for _, m := range made.Members() {
		if skip(m.Key) {
			continue
		}
		was := kept.Get(m.Key)
		if was == nil {
			return m.Key + " is missing"
		}
		if codec.Digest(was) != codec.Digest(m.Value) {
			return fmt.Sprintf("%s is %s and comes out as %s", m.Key, shown(was), shown(m.Value))
		}
	}
	for _, m := range kept.Members() {
		if signed := m.Key == "decision"; !partial && !signed && !skip(m.Key) && made.Get(m.Key) == nil {
			return m.Key + " is " + shown(m.Value) + " and does not come out"
		}
	}
	return ""
}

// compareFiles compares what a rule makes with the digests that the log has of it.
func (w *walk) compareFiles(c change, made map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(made)) {
		data := made[name]
		if name == run.ManifestFile || name == w.kept.Layout().Gates {
			continue // their own lines have their digests
		}
		digest, named := c.files[name]
		switch {
		case !named && data == nil:
		case !named:
			w.step(name, "it is made again, and the log does not say that it was written")
		case data == nil && digest == "":
			w.step(name, "")
		case data == nil:
			w.step(name, "it was written, and is removed when it is done again")
		case codec.DigestBytes(data) == digest:
			w.step(name, "")
		case name == w.kept.Layout().SummaryPack && !w.exact && w.samePack(digest, data):
			w.step(name, "")
			w.leave("%s of %s: it covers a manifest of which the log keeps the digest only", packDigest, name)
		default:
			w.step(name, w.fileDifference(name, digest, data))
		}
	}
}

func (w *walk) fileDifference(name, digest string, again []byte) string {
	kept, err := w.kept.Folder().Read(name)
	if err != nil || codec.DigestBytes(kept) != digest {
		return "the log has " + digest + ", and " + codec.DigestBytes(again) + " comes out"
	}
	return firstDifference(kept, again)
}
