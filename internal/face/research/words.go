package research

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// telling is an entry of the log as a person reads it.
type telling struct {
	job  string // "" where it is about the whole run
	text string
	mark report.Status
}

// tell says what an entry of the log means; ok is false for an entry that is only
// bookkeeping.
func tell(e run.Entry) (h telling, ok bool) {
	get := func(name string) string { return e.Entry.Get(name).Str() }
	count := func(name string) int {
		n, _ := e.Entry.Get(name).Int()
		return int(n)
	}
	h.job = get("job_id")
	attempt := fmt.Sprintf("attempt %d", count("attempt"))
	switch e.Event {
	case run.EventCreated:
		h.text = "the run was created"
	case run.EventPerspectives:
		h.text = "perspectives written"
	case run.EventPlanned:
		h.text = "planned " + report.Counted(count("planned"), "job")
		if ignored := e.Entry.Get("ignored_services").Strs(); len(ignored) > 0 {
			h.text, h.mark = h.text+"; the planner expects searches by "+strings.Join(ignored, ", ")+", which this run does not ask", report.Fail
		}
	case run.EventMoved:
		h.text, h.mark = get("from")+" → "+get("to"), report.Pass
		if run.Status(get("status")) == run.Completed {
			h.text += ", completed"
		}
	case run.EventStatus:
		h.text = "the run is " + get("status")
	case run.EventFailed:
		h.text, h.mark = "needs a person: "+get("message"), report.Fail
	case run.EventAccepted:
		h.text = "accepted by a person"
		if get("what") == "plan" {
			h.text = "a person said yes to the plan"
		} else if get("what") == "claim" {
			h.text = "a person accepted the sentence " + get("claim")
		}
	case run.EventLimit:
		value, _ := e.Entry.Get("to").Float()
		h.text = fmt.Sprintf("%s is %v", get("limit"), value)
	case run.EventJudged:
		h.text, h.mark = "gate "+get("gate")+": "+get("status"), report.PassIf(get("status") == "pass")
	case run.EventReviewed:
		h.text, h.mark = fmt.Sprintf("reviewed %s, %d failed", report.Counted(count("validated"), "output"), count("failed")), report.PassIf(count("failed") == 0)
	case run.EventDecided:
		h.text = "no second wave is needed"
		if e.Entry.Get("wave2_required").Bool() {
			h.text = "a second wave is needed: " + get("rule_hit")
		}
	case run.EventFetched:
		h.text = "fetched " + report.Counted(count("captures"), "page")
	case run.EventSearched:
		h.text = "searched " + get("service") + " for " + get("query")
		if get("service") == "" {
			h.text, h.mark = "no search service answers", report.Fail
		}
		for _, f := range e.Entry.Get("failed").Elems() {
			h.text, h.mark = h.text+"; "+f.Get("reason").Str(), report.Fail
		}
	case run.EventAttached:
		h.text = "a person attached a file to " + short(get("cid"))
	case run.EventReplaced:
		h.text = "a person replaced " + short(get("cid")) + " by " + get("url")
	case run.EventSources:
		statuses := e.Entry.Get("statuses")
		if statuses.Kind() != codec.Object {
			return h, false
		}
		usable := 0
		for _, status := range []string{"valid", "paywalled"} {
			n, _ := statuses.Get(status).Int()
			usable += int(n)
		}
		h.text = fmt.Sprintf("%d of %s can be cited", usable, report.Counted(count("validated"), "source"))
	case run.EventPacked:
		h.text = fmt.Sprintf("packed the summaries: %d", count("summary_count"))
	case run.EventLeased:
		h.text = attempt + " begins"
	case run.EventAnswered:
		h.text = attempt + ": answer handed in"
	case run.EventVerdict:
		h.text, h.mark = attempt+": accepted", report.Pass
		if !e.Entry.Get("accepted").Bool() {
			var codes []string
			for _, code := range e.Entry.Get("faults").Elems() {
				codes = append(codes, code.Str())
			}
			h.text, h.mark = attempt+": refused, "+strings.Join(codes, ", "), report.Fail
		}
	case run.EventExtended:
		if h.text, h.mark = attempt+": nothing can be reached from here; the answer waits for its sources", report.Fail; !e.Entry.Get("offline").Bool() {
			return h, false
		}
	case run.EventEnded:
		h.text = attempt + " ended: " + get("outcome")
		if reason := get("reason"); reason != "" {
			h.text += ", " + reason
		}
	case run.EventUnfit:
		h.text, h.mark = get("reader")+" missed too many planted errors, and reads no more", report.Fail
	case run.EventRead:
		h.text = "every sentence was read: " + report.Counted(count("parts"), "part")
	case run.EventConfinement:
		h.text = run.ConfinementIn(e.Entry).String()
	case run.EventGranted:
		h.text = "a person gave it its tries again"
	case run.EventSynthesisReviewed:
		h.text = "review: " + get("decision")
	default:
		return h, false
	}
	return h, true
}

// short is a cid as people read and type it.
func short(cid string) string {
	if n := len("cid_") + 8; len(cid) > n {
		return cid[:n]
	}
	return cid
}
