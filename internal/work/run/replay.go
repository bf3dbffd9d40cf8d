package run

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/store"
)

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
