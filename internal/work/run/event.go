package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Event says what a line of the log records. The word for it of another program stands
// beside it as kind; lines that such a program wrote have a kind alone.
type Event = store.Event

// The events.
const (
	EventCreated           Event = "created"      // the run was created
	EventAdopted           Event = "adopted"      // a run that another program made was taken as found
	EventMoved             Event = "moved"        // from stage to stage
	EventStatus            Event = "status"       // paused, resumed, cancelled, set running
	EventFailed            Event = "failed"       // the run failed, and why
	EventAccepted          Event = "accepted"     // a person accepted a failure, a gate, a sentence or a record
	EventLimit             Event = "limit"        // a person changed a limit
	EventConfinement       Event = "confinement"  // how agents are kept from here on
	EventProgress          Event = "progress"     // the stage has come further
	EventGates             Event = "gates"        // gates were written
	EventJudged            Event = "judged"       // a judge looked at a gate
	EventPerspectives      Event = "perspectives" // the run's perspectives were written
	EventPlanned           Event = "planned"      // a wave was planned
	EventIngested          Event = "ingested"     // outputs were taken
	EventRestored          Event = "restored"     // a person put back what was taken
	EventReviewed          Event = "reviewed"     // a wave was reviewed
	EventDecided           Event = "decided"      // the pivot was decided
	EventSources           Event = "sources"      // what outputs cite was extracted from them, or judged
	EventFetched           Event = "fetched"      // records of fetches were added to the archive
	EventAttached          Event = "attached"     // a person added a file to the archive, in place of a page
	EventSearched          Event = "searched"     // a search was kept, or no service answered it
	EventReplaced          Event = "replaced"     // a person named another page as the evidence of a source
	EventPacked            Event = "packed"       // the summary pack was built
	EventLeased            Event = "leased"       // a job was given to a holder, or taken over
	EventExtended          Event = "extended"     // a lease lasts longer
	EventAnswered          Event = "answered"     // an answer was handed in, and is kept
	EventVerdict           Event = "verdict"      // an answer was judged
	EventEnded             Event = "ended"        // an attempt ended without an accepted answer
	EventGranted           Event = "granted"      // a person gave a job its tries again
	EventSynthesized       Event = "synthesized"  // a synthesis was written
	EventSynthesisReviewed Event = "assessed"     // a synthesis was reviewed
	EventRead              Event = "read"         // what second readers said of a synthesis was taken
	EventDealt             Event = "dealt"        // the seed was drawn by which sentences are dealt to readers
	EventUnfit             Event = "unfit"        // a second reader missed too many pairs, and reads no more
	EventFiles             Event = "files"        // digests of the files that the lines before it name
)

// Line is what an update logs: the event, its kind, and fields. The
// first line of an update that has the field args says what replay does again: the
// operation of its event and kind, with its fields and args as arguments, gives the
// other lines and the files.
type Line struct {
	Event  Event
	Kind   string
	Fields tidegate.Details
}

// maxNote is how many code points of a text a log line keeps. A line that is
// too long for the log would not be written, and a change without its line
// looks like tampering.
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

// argsKey is the field of a line with the arguments of its operation.
const argsKey = "args"

// maxArgs is how many bytes of arguments the log keeps.
const maxArgs = 4 << 10

// Args are the arguments of an operation as a field of its line. There is none for
// arguments of more than 4 KiB: such an operation is not done again.
func Args(args ...any) tidegate.Details {
	fields := tidegate.Pairs(argsKey, tidegate.Pairs(args...))
	if text, err := codec.MarshalLine(fields); err != nil || len(text) > maxArgs {
		return nil
	}
	return fields
}

// details is the line as it is written, except for what the chain adds. Tx is the
// number of the first line of its update, 0 in a log that has no such numbers.
func (l Line) details(desk Desk, now, runID string, actor tidegate.Actor, seq, tx int64, state string) tidegate.Details {
	line := tidegate.Pairs("ts", now, "kind", l.Kind, "run_id", runID, "event", l.Event)
	if seq > 0 {
		line = append(line, tidegate.Detail{Key: "seq", Value: seq})
	}
	if tx > 0 {
		line = append(line, tidegate.Detail{Key: "tx", Value: tx})
	}
	fields := l.kept()
	for _, a := range actor.Logged() {
		if _, says := fields.Get(a.Key); !says { // no line has a key twice
			line = append(line, a)
		}
	}
	for _, f := range fields {
		if tx > 0 || f.Key != argsKey {
			line = append(line, f)
		}
	}
	if state != "" {
		line = append(line, tidegate.Detail{Key: "state", Value: state})
	}
	if desk.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return line
}

// kept are the fields of the line as the log has them: no text is longer than a note.
func (l Line) kept() tidegate.Details {
	fields := slices.Clone(l.Fields)
	for i, f := range fields {
		if text, ok := f.Value.(string); ok {
			fields[i].Value = cut(text)
		}
	}
	return fields
}

// Times are spans of time, in order and apart, so that each moment counts once.
type Times []Span

// Span is the time from a moment to another.
type Span struct{ From, To time.Time }

// With is the times with one more span. The list that it is called on stays as it
// is.
func (t Times) With(s Span) Times {
	if !s.To.After(s.From) {
		return t
	}
	begins, _ := slices.BinarySearchFunc(t, s, func(each, s Span) int { return each.To.Compare(s.From) })
	ends := begins
	for ends < len(t) && !t[ends].From.After(s.To) {
		s.From, s.To = earlier(s.From, t[ends].From), later(s.To, t[ends].To)
		ends++
	}
	return slices.Concat(t[:begins], []Span{s}, t[ends:])
}

// Without is the times without those in a span. The list that it is called on stays as
// it is.
func (t Times) Without(s Span) Times {
	var left Times
	for _, each := range t {
		left = left.With(Span{each.From, earlier(each.To, s.From)}).With(Span{later(each.From, s.To), each.To})
	}
	return left
}

// ParseSpan is the span between two times as they stand in artifacts; empty where one of
// them is none.
func ParseSpan(from, to string) Span {
	begins, ok := tidegate.ParseTime(from)
	ends, also := tidegate.ParseTime(to)
	if !ok || !also {
		return Span{}
	}
	return Span{begins, ends}
}

// Total is how long all of them take.
func (t Times) Total() time.Duration {
	var sum time.Duration
	for _, each := range t {
		sum += each.To.Sub(each.From)
	}
	return sum
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetchTime is the longest time between the start of fetching and the line about
// the fetched sources: pages are kept as they come.
const fetchTime = time.Minute

// RulesAtWork are the times in which rules were at work, by the log. Only fetching
// takes time: it counts from the event before each line about fetched sources to that
// line, but at most a minute, because nothing may have been at work before. It
// returns the errors of [Run.EventsOf].
func (r *Run) RulesAtWork() (Times, error) {
	events, err := r.EventsOf(EventMoved, EventAnswered, EventFetched)
	if err != nil {
		return nil, err
	}
	var times Times
	for i, e := range events {
		if e.Event == EventFetched && i > 0 {
			times = times.With(Span{later(events[i-1].Time, e.Time.Add(-fetchTime)), e.Time})
		}
	}
	return times, nil
}

// Confinement is how the agents of a run are kept, as its policy and its log have it. The
// zero value is for a run whose agents nobody here started.
type Confinement struct {
	Mode    string `json:"mode,omitzero"` // confined or unconfined
	System  string `json:"system,omitzero"`
	ABI     int    `json:"abi,omitzero"`     // of Landlock
	Network string `json:"network,omitzero"` // what agents reach by it, and how that holds
	By      string `json:"said_by,omitzero"` // ByWorker, or empty for this home itself
}

// ByWorker says that a machine other than the home's says how it kept an agent. Nothing
// shows whether that is so.
const ByWorker = "worker"

// The modes.
const (
	ModeConfined   = "confined"
	ModeUnconfined = "unconfined"
)

const confinementKey = "confinement"

// String says how agents were kept, in the words of plans and reports; "" for the zero
// value.
func (c Confinement) String() string { return c.In("") }

// In is [Confinement.String] in a language.
func (c Confinement) In(language string) string {
	if by := c.By; by != "" && c.Mode != "" {
		c.By = ""
		return evidence.Say(language, "Said by the worker: %s", c.In(language))
	}
	switch c.Mode {
	case "":
		return ""
	case ModeConfined:
		return evidence.Say(language, "Agents are confined to cells (%s, Landlock ABI %d; network: %s).", c.System, c.ABI, cmp.Or(c.Network, evidence.Say(language, "none")))
	}
	return evidence.Say(language, "Agents are not confined: they work with the rights of the person who starts them, on that person's files.")
}

// ConfinementIn is what a policy or a line of the log says of confinement; what it does not
// know for confined is unconfined.
func ConfinementIn(v *codec.Value) Confinement {
	c := Confinement{Mode: v.Get("mode").Str(), System: v.Get("system").Str(), Network: v.Get("network").Str(), ABI: int(integer(v.Get("abi")))}
	if v.Get("said_by").Str() != "" {
		c.By = ByWorker
	}
	if c.Mode != "" && c.Mode != ModeConfined {
		c.Mode = ModeUnconfined
	}
	return c
}

// SetConfinement stages how the agents of the run are kept from now on.
func (u *Update) SetConfinement(c Confinement) error {
	return u.editPolicy(EventConfinement, func(policy *codec.Value) tidegate.Details {
		policy.Set(confinementKey, codec.Of(c))
		return tidegate.Pairs("mode", c.Mode, "system", c.System, "abi", c.ABI, "network", c.Network, argsKey, tidegate.Pairs())
	})
}

// Confinements are all that the log says of how the agents of the run were kept, without
// repetitions, oldest first. It returns READ_FAILED.
func (r *Run) Confinements() ([]Confinement, error) {
	entries, err := r.EventsOf(EventCreated, EventConfinement, EventAnswered)
	if err != nil {
		return nil, err
	}
	list := []Confinement{}
	for _, e := range entries {
		said := e.Entry
		switch e.Event {
		case EventCreated:
			said = e.Entry.Get(argsKey).Get(confinementKey)
		case EventAnswered:
			said = e.Entry.Get(confinementKey)
		}
		c := ConfinementIn(said)
		repeated := len(list) > 0 && list[len(list)-1] == c || c.By != "" && slices.Contains(list, c)
		if c.Mode != "" && !repeated {
			list = append(list, c)
		}
	}
	return list, nil
}

// Decided is a decision that a person took in the life of a run, as its log has it.
type Decided struct {
	Line   int    `json:"line" jsonschema:"of the log"`
	At     string `json:"at"`
	What   What   `json:"what"`
	About  string `json:"about" jsonschema:"the gate, sentence, source, limit or output that it is about"`
	Reason string `json:"reason"`
	By     string `json:"by" jsonschema:"who signed, as the list of signers has it; without a signature that counts, who the log says it was"`
	Signed bool   `json:"signed" jsonschema:"a signature by one of the signers counts for it"`

	tx int64 // its transaction, 0 in a log without their numbers
}

// What is the kind of a decision.
type What string

// The kinds. Pausing, resuming and cancelling are none of them: they change when a run
// goes on, and nothing that its report rests on.
const (
	AcceptedRecord    What = "accepted record"
	AcceptedGate      What = "accepted gate"
	AcceptedSentence  What = "accepted sentence"
	AcceptedFailure   What = "accepted failure"
	ConfirmedPlan     What = "confirmed plan"
	AttachedPage      What = "attached page"
	AttachedDocuments What = "attached documents"
	ReplacedPage      What = "replaced page"
	SetLimit          What = "set limit"
	RestoredOutput    What = "restored output"
	OtherPerspectives What = "other perspectives"
	MoreTries         What = "more tries"
	Unconfined        What = "unconfined"
	NoGrounding       What = "no grounding"
	NoSecondReader    What = "no second reader"
	OneAgent          What = "one agent"
	Adapted           What = "adapted"
)

// telling has, for the kinds, what a person reads; %s is what the decision is about.
var telling = map[What]string{
	AcceptedRecord: "a person accepted files that were not as the log recorded them: %s", AcceptedGate: "a person accepted gate %s", AcceptedSentence: "a person accepted sentence %s",
	AcceptedFailure: "a person let the run go on that had stopped", ConfirmedPlan: "a person said yes to the plan", AttachedPage: "a person attached a page to %s",
	AttachedDocuments: "a person gave the run documents of their own: %s", ReplacedPage: "a person replaced the page of %s", SetLimit: "a person set a limit: %s",
	RestoredOutput: "a person restored the output %s", OtherPerspectives: "a person replaced the perspectives after the plan", MoreTries: "a person gave the job %s its tries again",
	Unconfined: "a person let agents work without a cell, with the person's rights", NoGrounding: "a person chose that what is not on the cited pages is only a warning",
	NoSecondReader: "a person chose that no second agent reads the report", OneAgent: "a person let the agent that wrote the report read and review it",
	Adapted: "a person let recorded agents answer what they were not asked",
}

// Overrides reports whether the decision stands in the place of what a judge or the record
// says: no run with one of these passed by its judges alone.
func (d Decided) Overrides() bool { return d.What == AcceptedRecord || d.What == AcceptedGate }

// String is the decision in one line: its day, what was decided, why, and who signed.
func (d Decided) String() string { return d.In("") }

// In is the decision in one line in a language.
func (d Decided) In(language string) string {
	day, _, _ := strings.Cut(d.At, "T")
	text := evidence.Say(language, telling[d.What])
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, d.About)
	}
	by := evidence.Say(language, "not signed")
	switch {
	case d.Signed:
		by = evidence.Say(language, "signed by %s", d.By)
	case d.By != "":
		by = evidence.Say(language, "by %s, not signed", d.By)
	}
	if d.Reason != "" {
		text += ", “" + tidegate.Cut(d.Reason) + "”"
	}
	return cmp.Or(day, evidence.Say(language, "no day")) + ": " + text + " (" + by + ")"
}

// Decisions are what people decided in the life of the run, oldest first: all that its
// log says of it, whether it still counts or not. It returns READ_FAILED.
func (r *Run) Decisions() ([]Decided, error) {
	var signers *seal.Signers
	if needed, err := r.needsSignature(); err != nil {
		return nil, err
	} else if needed {
		signers, _ = r.signers() // a list that was changed signs nothing
	}
	return r.decisions(signers)
}

// decisions is [Run.Decisions] by another list of signers, nil for none.
func (r *Run) decisions(signers *seal.Signers) ([]Decided, error) {
	entries, err := r.EventsOf(EventCreated, EventAccepted, EventLimit, EventAttached, EventReplaced, EventRestored, EventPerspectives, EventGranted, EventConfinement)
	if err != nil {
		return nil, err
	}
	list, because := []Decided{}, map[int64]bool{} // transactions with more than the failure that they end
	for _, e := range entries {
		for _, d := range decidedIn(e) {
			d.Line, d.At, d.tx = e.Number, e.Entry.Get("ts").Str(), integer(e.Entry.Get("tx"))
			d.Reason = cmp.Or(d.Reason, e.Entry.Get("reason").Str())
			if d.By = r.signerOf(e, signers); d.By != "" {
				d.Signed = true
			} else {
				d.By = e.Entry.Get("who").Str()
			}
			if last := len(list) - 1; last >= 0 && d.What == AttachedDocuments && list[last].What == d.What && list[last].tx == d.tx && d.tx > 0 {
				list[last].About += ", " + d.About
				continue
			}
			list = append(list, d)
			because[d.tx] = because[d.tx] || d.tx > 0 && d.What != AcceptedFailure
		}
	}
	return slices.DeleteFunc(list, func(d Decided) bool { return d.What == AcceptedFailure && because[d.tx] }), nil
}

// signerOf is who signed the decision that a line carries out, "" where no signature
// counts.
func (r *Run) signerOf(e Entry, signers *seal.Signers) string {
	name := e.Entry.Get("decision").Str()
	if signers == nil || name == "" {
		return ""
	}
	s, message, problem := r.keptDecision(name)
	if problem != "" || s.Decision.Get("run_id").Str() != r.ID() || !decides(s.Decision, e.Entry) {
		return ""
	}
	signer, err := signers.Verify(message, []byte(s.Signature), e.Time)
	if err != nil {
		return ""
	}
	return signer.String()
}

// decidedIn are the decisions that a line records, none for most lines.
func decidedIn(e Entry) []Decided {
	get := func(name string) string { return e.Entry.Get(name).Str() }
	one := func(what What, about string) []Decided { return []Decided{{What: what, About: about}} }
	over := ""
	if e.Entry.Get("over").Bool() {
		over = ", over one that was fetched and could be used"
	}
	switch e.Event {
	case EventCreated:
		if e.Actor != tidegate.Person {
			return nil // a run that an agent makes has what follows by rule
		}
		args := e.Entry.Get(argsKey)
		list := chosen(args.Get("evidence"))
		if args.Get(confinementKey).Get("mode").Str() == ModeUnconfined {
			list = append(list, Decided{What: Unconfined})
		}
		return list
	case EventAccepted:
		return accepted(e.Entry)
	case EventLimit:
		if get("limit") == EvidenceKey {
			return chosen(e.Entry.Get("to"))
		}
		return one(SetLimit, limitText(e.Entry))
	case EventAttached:
		if get("url") != "" {
			return one(AttachedDocuments, get("name"))
		}
		return one(AttachedPage, get("cid")+over+": "+get("name"))
	case EventReplaced:
		return one(ReplacedPage, get("cid")+over+": "+get("url"))
	case EventRestored:
		return one(RestoredOutput, get("perspective_id"))
	case EventPerspectives:
		if e.Entry.Get("replan").Bool() {
			return one(OtherPerspectives, "")
		}
	case EventGranted:
		return []Decided{{What: MoreTries, About: get("job_id"), Reason: get("note")}}
	case EventConfinement:
		if get("mode") == ModeUnconfined {
			return one(Unconfined, "")
		}
	}
	return nil
}

// accepted is what a person accepted.
func accepted(entry *codec.Value) []Decided {
	switch entry.Get("what").Str() {
	case "record":
		var files []string
		for _, f := range entry.Get("files").Members() {
			files = append(files, f.Key)
		}
		if len(files) == 0 {
			files = []string{LogFile}
		}
		return []Decided{{What: AcceptedRecord, About: strings.Join(files, ", ")}}
	case "gate":
		return []Decided{{What: AcceptedGate, About: entry.Get("gate").Str()}}
	case "claim":
		return []Decided{{What: AcceptedSentence, About: entry.Get("claim").Str()}}
	case "plan":
		return []Decided{{What: ConfirmedPlan, About: entry.Get("perspectives").Str()}}
	}
	return []Decided{{What: AcceptedFailure}}
}

// chosen is what a person chose of how sentences are checked; none where a rule did.
func chosen(choice *codec.Value) []Decided {
	var list []Decided
	for _, row := range []struct {
		key  string
		what What
	}{{"no_grounding", NoGrounding}, {"no_reader", NoSecondReader}, {"one_agent", OneAgent}, {"adapt", Adapted}} {
		if choice.Get(row.key).Bool() {
			list = append(list, Decided{What: row.what})
		}
	}
	return list
}

func limitText(entry *codec.Value) string {
	text := entry.Get("limit").Str()
	for _, key := range []string{"from", "was"} {
		if was, ok := entry.Get(key).Float(); ok {
			text += " from " + plainNumber(was)
		}
	}
	to, _ := entry.Get("to").Float()
	return text + " to " + plainNumber(to)
}

// DecisionBullets are decisions as a report lists them, under their heading; nothing where
// there are none.
func DecisionBullets(decisions []Decided) []report.Block {
	if len(decisions) == 0 {
		return nil
	}
	var lines report.Bullets
	for _, d := range decisions {
		lines = append(lines, d.String())
	}
	return []report.Block{report.Heading("Decisions by people"), lines}
}
