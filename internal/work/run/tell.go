package run

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Telling is a line of the log as a person reads it.
type Telling struct {
	Job  string // "" where it is about the whole run
	Text string
	Mark report.Status
}

// Tell says what a line of the log means; ok is false for one that is only bookkeeping.
func (e Entry) Tell() (t Telling, ok bool) {
	tell := tellings[e.Event]
	if tell == nil {
		return Telling{}, false
	}
	t = tell(told{e.Entry})
	t.Job = e.Entry.Get("job_id").Str()
	return t, t.Text != ""
}

// told is a line that is being told.
type told struct{ line *codec.Value }

func (t told) text(name string) string { return t.line.Get(name).Str() }

func (t told) count(name string) int {
	n, _ := t.line.Get(name).Int()
	return int(n)
}

func (t told) counted(name, noun string) string { return report.Counted(t.count(name), noun) }

func (t told) attempt() string { return fmt.Sprintf("attempt %d", t.count("attempt")) }

// cid is the id of a source as people read and type it.
func (t told) cid() string {
	cid := t.text("cid")
	return cid[:min(len(cid), len("cid_")+8)]
}

// says is a telling that is always the same.
func says(text string) func(told) Telling { return func(told) Telling { return Telling{Text: text} } }

var tellings = map[Event]func(told) Telling{
	EventCreated:      says("the run was created"),
	EventPerspectives: says("perspectives written"),
	EventGranted:      says("a person gave it its tries again"),
	EventStatus:       func(t told) Telling { return Telling{Text: "the run is " + t.text("status")} },
	EventFailed:       func(t told) Telling { return Telling{Text: "needs a person: " + t.text("message"), Mark: report.Fail} },
	EventFetched: func(t told) Telling {
		if from := t.line.Get("shared"); from != nil {
			return Telling{Text: "took a page that run " + from.Get("run_id").Str() + " fetched: " + from.Get("url").Str()}
		}
		return Telling{Text: "fetched " + t.counted("captures", "page")}
	},
	EventAttached: func(t told) Telling {
		out := Telling{Text: "a person attached a file to " + t.cid()}
		if left := t.line.Get("left_out_files").Strs(); len(left) > 0 {
			out.Text += "; " + t.counted("left_out", "file") + " left out that cannot be read: " + tidegate.Cut(strings.Join(left, "; "))
		}
		return out
	},
	EventReplaced: func(t told) Telling { return Telling{Text: "a person replaced " + t.cid() + " by " + t.text("url")} },
	EventPacked: func(t told) Telling {
		return Telling{Text: fmt.Sprintf("packed the summaries: %d", t.count("summary_count"))}
	},
	EventLeased:            func(t told) Telling { return Telling{Text: t.attempt() + " begins"} },
	EventAnswered:          func(t told) Telling { return Telling{Text: t.attempt() + ": answer handed in"} },
	EventRead:              func(t told) Telling { return Telling{Text: "every sentence was read: " + t.counted("parts", "part")} },
	EventConfinement:       func(t told) Telling { return Telling{Text: ConfinementIn(t.line).String()} },
	EventSynthesisReviewed: func(t told) Telling { return Telling{Text: "review: " + t.text("decision")} },
	EventPlanned: func(t told) Telling {
		out := Telling{Text: "planned " + t.counted("planned", "job")}
		if ignored := t.line.Get("ignored_services").Strs(); len(ignored) > 0 {
			out.Text, out.Mark = out.Text+"; the planner expects searches by "+strings.Join(ignored, ", ")+", which this run does not ask", report.Fail
		}
		return out
	},
	EventMoved: func(t told) Telling {
		text := t.text("from") + " → " + t.text("to")
		if Status(t.text("status")) == Completed {
			text += ", completed"
		}
		return Telling{Text: text, Mark: report.Pass}
	},
	EventAccepted: func(t told) Telling {
		switch t.text("what") {
		case "plan":
			return Telling{Text: "a person said yes to the plan"}
		case "claim":
			return Telling{Text: "a person accepted the sentence " + t.text("claim")}
		}
		return Telling{Text: "accepted by a person"}
	},
	EventLimit: func(t told) Telling {
		value, _ := t.line.Get("to").Float()
		return Telling{Text: fmt.Sprintf("%s is %v", t.text("limit"), value)}
	},
	EventJudged: func(t told) Telling {
		return Telling{Text: "gate " + t.text("gate") + ": " + t.text("status"), Mark: report.PassIf(t.text("status") == "pass")}
	},
	EventReviewed: func(t told) Telling {
		return Telling{Text: fmt.Sprintf("reviewed %s, %d failed", t.counted("validated", "output"), t.count("failed")), Mark: report.PassIf(t.count("failed") == 0)}
	},
	EventDecided: func(t told) Telling {
		if t.line.Get("wave2_required").Bool() {
			return Telling{Text: "a second wave is needed: " + t.text("rule_hit")}
		}
		return Telling{Text: "no second wave is needed"}
	},
	EventSearched: func(t told) Telling {
		out := Telling{Text: "searched " + t.text("service") + " for " + t.text("query")}
		if t.text("service") == "" {
			out = Telling{Text: "no search service answers", Mark: report.Fail}
		}
		for _, f := range t.line.Get("failed").Elems() {
			out.Text, out.Mark = out.Text+"; "+f.Get("reason").Str(), report.Fail
		}
		return out
	},
	EventSources: func(t told) Telling {
		statuses := t.line.Get("statuses")
		if statuses.Kind() != codec.Object {
			return Telling{}
		}
		usable := 0
		for _, status := range []string{"valid", "paywalled"} {
			n, _ := statuses.Get(status).Int()
			usable += int(n)
		}
		return Telling{Text: fmt.Sprintf("%d of %s can be cited", usable, t.counted("validated", "source"))}
	},
	EventVerdict: func(t told) Telling {
		if t.line.Get("accepted").Bool() {
			return Telling{Text: t.attempt() + ": accepted", Mark: report.Pass}
		}
		var codes []string
		for _, code := range t.line.Get("faults").Elems() {
			codes = append(codes, code.Str())
		}
		return Telling{Text: t.attempt() + ": refused, " + strings.Join(codes, ", "), Mark: report.Fail}
	},
	EventExtended: func(t told) Telling {
		if !t.line.Get("offline").Bool() {
			return Telling{}
		}
		return Telling{Text: t.attempt() + ": nothing can be reached from here; the answer waits for its sources", Mark: report.Fail}
	},
	EventEnded: func(t told) Telling {
		text := t.attempt() + " ended: " + t.text("outcome")
		if reason := t.text("reason"); reason != "" {
			text += ", " + reason
		}
		return Telling{Text: text}
	},
	EventUnfit: func(t told) Telling {
		return Telling{Text: strings.TrimSpace(t.text("reader")) + " missed too many planted errors, and reads no more", Mark: report.Fail}
	},
}
