package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

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
