package run

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/store"
)

// origin says which program began the log of a run.
type origin int

const (
	foreign origin = iota // another one, or there is no log
	taken                 // another one, and this one has taken the run over
	ours
)

// record is what stands in a run, with what its log says should stand there.
// Every line of ours carries the state of the run's documents after it: one
// digest over all of their digests. So the last line alone tells whether a document
// was changed by other means.
type record struct {
	logEnds
	run   *Run
	bare  bool              // there are no gates: nothing is recorded
	found map[string]string // document → digest of the bytes that are there
	stand string            // the state of what is there
	lines int64             // in the log, known under the lock

	unrecorded []string // documents that no line names, as far as check looked
}

// logEnds is what the first and the last line of a log say.
type logEnds struct {
	origin origin
	state  string // that the last line gives, "" when it gives none
	seq    int64  // the number that the last line gives itself, 0 when it gives none
	// signers is the digest of the list of signers that the run was created with, ""
	// when its decisions need no signature.
	signers string
}

// documents names what the state of a run covers.
func (r *Run) documents() []string {
	l := r.layout
	return []string{r.name, l.Gates, PolicyFile, ScopeFile, l.Perspectives, l.Wave1Plan(), l.Wave2Plan(), l.Wave2Perspectives(), SignersFile, TemplateFile, EarlierFile}
}

// readRecord reads the ends of the log and the documents.
func (r *Run) readRecord() (record, error) {
	rec := record{run: r, found: map[string]string{}}
	there, err := r.folder.Exists(r.layout.Gates)
	if err != nil {
		return rec, err
	}
	rec.bare = !there
	if rec.logEnds, err = r.readEnds(); err != nil || rec.bare {
		return rec, err
	}
	for _, name := range r.documents() {
		digest, err := r.digests.Of(name)
		if err != nil {
			return rec, err
		}
		if digest != "" {
			rec.found[name] = digest
		}
	}
	rec.stand = stateOf(rec.found)
	return rec, nil
}

func (r *Run) readEnds() (logEnds, error) {
	ends := logEnds{origin: r.ends.origin, signers: r.ends.signers}
	if ends.origin != ours { // otherwise it is known who began the log
		var err error
		if ends, err = r.readBeginning(); err != nil {
			return ends, err
		}
	}
	last, err := r.folder.LastLine(LogFile)
	if err != nil {
		return ends, err
	}
	if entry, err := codec.Parse(last.Text); err == nil {
		ends.state, ends.seq = entry.Get("state").Str(), integer(entry.Get("seq"))
	}
	return ends, nil
}

// readBeginning finds out who began the log.
func (r *Run) readBeginning() (ends logEnds, err error) {
	file, err := r.folder.Open(LogFile)
	if err != nil {
		return ends, artifact.UnlessMissing(err)
	}
	defer file.Close()
	for line, err := range artifact.ReadLog(file) {
		if err != nil {
			return ends, err
		}
		entry, err := codec.Parse(line.Text)
		if err == nil && line.Prev == artifact.FirstPrev && entry.Get("event").Str() == string(EventCreated) {
			ends.origin, ends.signers = ours, entry.Get("files").Get(SignersFile).Str()
		}
		break
	}
	return ends, nil
}

// digest is the digest of a document as it is, nil when there is none.
func (rec record) digest(name string) any {
	if digest := rec.found[name]; digest != "" {
		return digest
	}
	return nil
}

// judgedByUs reports whether this program has written or taken over the gates of the
// run. Its lines have the number of their transaction and the arguments for replay, and
// name files of the run by names relative to it.
func (e logEnds) judgedByUs() bool { return e.origin != foreign || e.state != "" }

func (rec record) stateAfter(written []writtenFile) string {
	switch {
	case rec.bare || !rec.judgedByUs():
		return ""
	case !rec.covers(written):
		return rec.stand
	}
	after := maps.Clone(rec.found)
	for _, f := range written {
		if slices.Contains(rec.run.documents(), f.name) {
			after[f.name] = f.digest
		}
	}
	return stateOf(after)
}

// covers reports whether one of the files is a document that the state covers.
func (rec record) covers(files []writtenFile) bool {
	documents := rec.run.documents()
	return slices.ContainsFunc(files, func(f writtenFile) bool { return slices.Contains(documents, f.name) })
}

// stateOf is the one digest over the digests of documents.
func stateOf(digests map[string]string) string {
	state := codec.NewObject()
	for name, digest := range digests {
		if digest != "" {
			state.Set(name, codec.Of(digest))
		}
	}
	return codec.Digest(state) // canonical: in byte order of the names
}

// check returns TAMPERED when a document is not what the log records. A document
// that was never recorded was written by hand; the next line records it.
func (rec *record) check() error {
	if rec.bare || !rec.judgedByUs() || rec.state == rec.stand {
		return nil
	}
	changed, unrecorded, err := rec.changed()
	if err != nil {
		return err
	}
	rec.unrecorded = unrecorded
	if len(changed) == 0 && (rec.state == "" || len(unrecorded) > 0) {
		return nil
	}
	if len(changed) == 0 {
		return rec.run.damaged(otherState)
	}
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("run_id", rec.run.ID(), "changed", changed),
		"the run's record does not match its files: %s; see `tidegate run verify`", strings.Join(changed, ", "))
}

// changed names the documents whose bytes do not have the digest that was last
// recorded, and those that no line of the log records, in the order of documents.
func (rec record) changed() (changed, unrecorded []string, err error) {
	v := newVerifier(rec.run)
	if err := rec.run.eachParsed(nil, v.collect); err != nil {
		return nil, nil, err
	}
	for _, name := range rec.run.documents() {
		want, recorded := v.recorded.files[name]
		switch {
		case !recorded && rec.found[name] != "":
			unrecorded = append(unrecorded, name)
		case recorded && want.digest != rec.found[name]:
			changed = append(changed, name)
		}
	}
	return changed, unrecorded, nil
}

// CheckRecord returns TAMPERED when the run's documents are not those that its
// log records, and READ_FAILED.
func (r *Run) CheckRecord() error {
	rec, err := r.readRecord()
	if err != nil {
		return err
	}
	return rec.check()
}

// Named are the files of the run that its log records, with the log itself. It returns
// READ_FAILED.
func (r *Run) Named() (seal.Recorded, error) {
	v := newVerifier(r)
	err := r.eachParsed(nil, v.collect)
	return v.named(), err
}

func (v *verifier) named() seal.Recorded {
	out := seal.Recorded{LogFile: -1, HeadFile: -1}
	for name, file := range v.recorded.files {
		if file.digest != "" {
			out[name] = -1
		}
	}
	store.CountEnds(out, v.recorded.kept)
	return out
}

// logVersion is what the first line of a log says in its field log.
const logVersion = 2

// InRecord is how the log and the documents of the run name the file at a path:
// relative to the run, so that a copy of the run is as good as the run. Paths outside
// the run, and those of a run that another program made, stay as they are.
func (r *Run) InRecord(path string) string {
	if name := r.folder.NameOf(path); name != "" && r.ends.judgedByUs() {
		return name
	}
	return path
}

// Older reports whether another program began the run.
func (r *Run) Older() bool { return r.ends.origin != ours }

// GateState compares a gate with the files that it judged. A gate of a run that
// this program has not taken over yet, or that does not say what it judged,
// counts as not run. It returns READ_FAILED.
func (r *Run) GateState(gates Gates, id string) (GateState, error) {
	state, err := gates.State(r.folder, id)
	if err != nil {
		return state, err
	}
	if !r.ends.judgedByUs() || !state.Bound && state.Status == GatePass {
		state.Status = GateNotRun
	}
	return state, nil
}

// adopt takes over a run that another program made: the log records what is there,
// and its gates are to be judged again.
func (u *Update) adopt() error {
	if u.record.bare || u.record.judgedByUs() {
		return nil
	}
	gates, err := u.Gates()
	if err != nil {
		return err
	}
	digests := codec.NewObject()
	for _, name := range u.run.documents() {
		if digest := u.record.found[name]; digest != "" {
			digests.Set(name, codec.Of(digest))
		}
	}
	adopted := Line{EventAdopted, kindAdopt, tidegate.Pairs("manifest_revision", u.manifest.Revision(), "gates_revision", gates.Revision(), "files", digests)}
	u.record.origin = taken // from here on the run must match its log
	reset := codec.NewObject()
	for _, row := range GateTable {
		if gates.Status(row.ID) != GateNotRun {
			reset.Set(row.ID, codec.Of(tidegate.Pairs("status", GateNotRun)))
		}
	}
	u.lines = append(u.lines, adopted)
	u.adopted = reset
	return nil
}

// isEmpty reports whether an update changes and says nothing of its own.
func (u *Update) isEmpty() bool {
	own := len(u.lines)
	if u.adopted != nil {
		own-- // the line of adopt
	}
	return own == 0 && len(u.written) == 0
}

// finishAdopting resets the gates that the update has not judged itself. An
// update that changes nothing adopts nothing.
func (u *Update) finishAdopting() error {
	if u.adopted == nil {
		return nil
	}
	if u.isEmpty() {
		u.lines = nil
		return nil
	}
	if u.adopted.Len() == 0 {
		return nil
	}
	gates, err := u.Gates()
	if err != nil {
		return err
	}
	_, err = u.EditGates(codec.NewObject(), gates.Doc().Get("inputs_digest").Str(), "taken over from another program: to be judged again")
	return err
}

// Recorded is the digest that the log last recorded for each file of the run, by
// name; "" for one that was removed. It returns READ_FAILED.
func (r *Run) Recorded() (map[string]string, error) { return r.recorded(nil) }

// RecordedOf is what [Run.Recorded] has for one file, "" also for one that the log does not
// know. It parses only the lines that can be about the file.
func (r *Run) RecordedOf(name string) (string, error) {
	wanted := func(text []byte) bool {
		return bytes.Contains(text, []byte(name)) || bytes.IndexByte(text, '\\') >= 0 // which may spell the name
	}
	if slices.Contains(r.documents(), name) {
		wanted = nil // lines have their digests under other keys
	}
	digests, err := r.recorded(wanted)
	return digests[name], err
}

func (r *Run) recorded(wanted func(text []byte) bool) (map[string]string, error) {
	v := newVerifier(r)
	if err := r.eachParsed(wanted, v.collect); err != nil {
		return nil, err
	}
	digests := make(map[string]string, len(v.recorded.files))
	for name, f := range v.recorded.files {
		digests[name] = f.digest
	}
	return digests, nil
}

// recorded is the state of a run according to the lines of its log, read in order.
type recorded struct {
	manifestRevision, gatesRevision int64
	stage                           Stage
	moves                           int
	files                           map[string]recordedFile // name → what the last line about it says
	kept                            []store.Added           // what was added to files that only grow
	chained                         int                     // the first chained line, 0 before it
	shift                           int64                   // how far the numbers that lines give themselves are off
	tx                              int64                   // the transaction of the last line, 0 in a log without their numbers
	accepted                        int                     // the last line by which a person accepted what did not match
	digests                         map[string]bool         // of the lines so far, where decisions are signed
	decided                         map[string]string       // decision → the file that holds it
	decision                        string                  // the file of the decision that the last line carries out
	sawHead                         bool                    // a line has the digest that was noted elsewhere
}

type recordedFile struct {
	digest string // "" when it was removed
	line   int
}

// collect adds one line of the log to what is recorded, and reports what does
// not follow from the lines before it.
func (v *verifier) collect(line parsedLine) {
	if line.Torn {
		return
	}
	rec := &v.recorded
	rec.sawHead = rec.sawHead || line.Digest == v.head
	if v.signers != nil {
		defer func() { rec.digests[line.Digest] = true }()
	}
	if line.Prev != "" && rec.chained == 0 {
		rec.chained = line.Number
	}
	entry := line.entry
	if line.err != nil {
		v.find("warning", "line-unreadable", LogFile, line.Number, "line %d is not JSON", line.Number)
		return
	}
	if id := entry.Get("run_id"); id != nil && id.Str() != v.run.ID() {
		v.find("warning", "run-id-mismatch", LogFile, line.Number, "line %d is about run %q", line.Number, tidegate.Cut(id.Str()))
		return
	}
	v.checkNumbers(line)
	if v.signers != nil {
		v.checkDecision(line.Line, entry, rec.decision)
	}
	rec.decision = entry.Get("decision").Str()
	if collect := collectors[entry.Get("kind").Str()]; collect != nil {
		collect(v, line.Number, entry)
	}
	v.collectFiles(line.Number, entry)
	if Event(entry.Get("event").Str()) == EventMoved && entry.Get("to") != nil {
		v.move(line.Number, Stage(entry.Get("from").Str()), Stage(entry.Get("to").Str()))
	}
}

// checkNumbers checks the number that a line gives itself and that of its
// transaction: a transaction has the number of its first line, and its lines stand
// together.
func (v *verifier) checkNumbers(line parsedLine) {
	rec, entry := &v.recorded, line.entry
	if entry.Get("kind").Str() == kindAccept {
		rec.shift = 0 // whoever accepts the log as it is counts its lines again
	}
	seq, counted := entry.Get("seq").Int()
	if counted && seq-int64(line.Number) != rec.shift {
		v.find("error", "sequence-broken", LogFile, line.Number, "line %d says that it is line %d", line.Number, seq)
		rec.shift = seq - int64(line.Number)
	}
	if line.Prev == "" || !v.run.ends.judgedByUs() {
		return
	}
	if tx := integer(entry.Get("tx")); tx == 0 || tx != seq && tx != rec.tx {
		v.find("error", "transaction-broken", LogFile, line.Number, "line %d says that it belongs to transaction %d, which does not follow transaction %d", line.Number, tx, rec.tx)
	} else {
		rec.tx = tx
	}
}

// The kinds of lines that take or accept a run as it is.
const (
	kindAdopt  = "run_adopt"
	kindAccept = "run_accept"
)

// collectors take from lines of some kinds what these say of the run's documents.
var collectors = map[string]func(v *verifier, number int, entry *codec.Value){
	kindInit: (*verifier).collectFirst, kindAdopt: (*verifier).collectRevisions,
	kindAccept: func(v *verifier, number int, entry *codec.Value) {
		v.recorded.accepted = number
		v.find("note", "record-accepted", LogFile, number, "line %d: a person accepted what did not match before it: %s", number, tidegate.Cut(entry.Get("reason").Str()))
		v.collectRevisions(number, entry)
	},
	"manifest_write": func(v *verifier, number int, entry *codec.Value) {
		v.follow("manifest", v.run.name, &v.recorded.manifestRevision, number, entry)
	},
	"gates_write": func(v *verifier, number int, entry *codec.Value) {
		v.follow("gates", v.run.layout.Gates, &v.recorded.gatesRevision, number, entry)
	},
}

func (v *verifier) collectRevisions(_ int, entry *codec.Value) {
	v.recorded.manifestRevision, v.recorded.gatesRevision = integer(entry.Get("manifest_revision")), integer(entry.Get("gates_revision"))
}

// collectFirst takes what the line that made the run says.
func (v *verifier) collectFirst(number int, entry *codec.Value) {
	v.collectRevisions(number, entry)
	for _, d := range []struct{ key, name string }{
		{"manifest_digest", v.run.name}, {"gates_digest", v.run.layout.Gates}, {"scope_digest", ScopeFile}, {"policy_digest", PolicyFile},
	} {
		v.recorded.set(d.name, entry.Get(d.key), number)
	}
}

// collectFiles takes what a line says of other files. Only a line of ours says what
// files hold.
func (v *verifier) collectFiles(number int, entry *codec.Value) {
	if entry.Get("event") != nil {
		for _, f := range entry.Get("files").Members() {
			v.recorded.set(f.Key, f.Value, number)
		}
	}
	if event := Event(entry.Get("event").Str()); event == EventFetched || event == EventAttached || event == EventSearched {
		for _, r := range entry.Get("records").Elems() {
			v.recorded.kept = append(v.recorded.kept, store.AddedBy(r, entry.Get("archive").Str(), number))
		}
	}
}

// set takes the digest that a line gives for a file: null for one that was removed,
// nil or "" where an older program gives none.
func (r *recorded) set(name string, digest *codec.Value, line int) {
	if digest == nil || digest.Kind() == codec.String && digest.Str() == "" {
		delete(r.files, name)
		return
	}
	r.files[name] = recordedFile{digest.Str(), line}
}

// follow checks that a line continues the revisions of its document, and that
// the document was then what the lines before it recorded.
func (v *verifier) follow(label, name string, revision *int64, number int, entry *codec.Value) {
	prev, next := integer(entry.Get("prev_revision")), integer(entry.Get("new_revision"))
	if *revision != 0 && prev != *revision || next != prev+1 {
		v.find("error", "revision-gap", LogFile, number, "line %d takes the %s from revision %d to %d, but it was at %d", number, label, prev, next, *revision)
	}
	*revision = next
	before, recorded := v.recorded.files[name]
	if was := entry.Get("prev_digest"); was != nil && recorded && was.Str() != before.digest {
		v.find("error", "digest-mismatch", LogFile, number, "line %d was written over a %s that line %d does not record", number, label, before.line)
	}
	v.recorded.set(name, entry.Get(label+"_digest"), number)
}

// move follows the run from stage to stage.
func (v *verifier) move(number int, from, to Stage) {
	rec := &v.recorded
	if rec.moves > 0 && from != rec.stage {
		v.find("error", "history-broken", LogFile, number, "line %d leaves %q, but the run was in %q", number, from, rec.stage)
	}
	if !v.follows(from, to) {
		v.find("error", "move-illegal", LogFile, number, "line %d goes from %q to %q, which the table does not allow", number, from, to)
	}
	rec.stage, rec.moves = to, rec.moves+1
}
