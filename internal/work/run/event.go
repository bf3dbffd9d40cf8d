package run

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
