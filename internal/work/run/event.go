package run

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
