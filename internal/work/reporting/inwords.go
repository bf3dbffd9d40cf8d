package reporting

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Words are what a line of the log says to a person.
type Words struct {
	Job  string // "" where it is about the whole run
	Text string
	Mark report.Status
}

// InWords says what a line of the log means; ok is false for one that is only bookkeeping.
func InWords(e run.Entry) (words Words, ok bool) {
	of := wordsOf[e.Event]
	if of == nil {
		return Words{}, false
	}
	words = of(fields{e.Entry})
	words.Job = e.Entry.Get("job_id").Str()
	return words, words.Text != ""
}

// fields are what a line of the log says.
type fields struct{ line *codec.Value }

func (f fields) text(name string) string { return f.line.Get(name).Str() }

func (f fields) count(name string) int {
	n, _ := f.line.Get(name).Int()
	return int(n)
}

func (f fields) counted(name, noun string) string { return report.Counted(f.count(name), noun) }

func (f fields) attempt() string { return fmt.Sprintf("attempt %d", f.count("attempt")) }

// cid is the id of a source as people read and type it.
func (f fields) cid() string {
	cid := f.text("cid")
	return cid[:min(len(cid), len("cid_")+8)]
}

// says are words that are always the same.
func says(text string) func(fields) Words { return func(fields) Words { return Words{Text: text} } }

// wordsOf says what lines of each event mean.
var wordsOf = map[run.Event]func(fields) Words{
	run.EventCreated:      says("the run was created"),
	run.EventPerspectives: says("perspectives written"),
	run.EventGranted:      says("a person gave it its tries again"),
	run.EventStatus:       func(f fields) Words { return Words{Text: "the run is " + f.text("status")} },
	run.EventFailed:       func(f fields) Words { return Words{Text: "needs a person: " + f.text("message"), Mark: report.Fail} },
	run.EventFetched: func(f fields) Words {
		if from := f.line.Get("shared"); from != nil {
			return Words{Text: "took a page that run " + from.Get("run_id").Str() + " fetched: " + from.Get("url").Str()}
		}
		return Words{Text: "fetched " + f.counted("captures", "page")}
	},
	run.EventAttached: func(f fields) Words {
		out := Words{Text: "a person attached " + cmp.Or(tidegate.Cut(f.text("name")), "a file") + " to " + f.cid()}
		if left := f.line.Get("left_out_files").Strs(); len(left) > 0 {
			out.Text += "; " + f.counted("left_out", "file") + " left out that cannot be read: " + tidegate.Cut(strings.Join(left, "; "))
		}
		return out
	},
	run.EventReplaced: func(f fields) Words { return Words{Text: "a person replaced " + f.cid() + " by " + f.text("url")} },
	run.EventPacked: func(f fields) Words {
		return Words{Text: fmt.Sprintf("packed the summaries: %d", f.count("summary_count"))}
	},
	run.EventLeased:            func(f fields) Words { return Words{Text: f.attempt() + " begins"} },
	run.EventAnswered:          func(f fields) Words { return Words{Text: f.attempt() + ": answer handed in"} },
	run.EventRead:              func(f fields) Words { return Words{Text: "every sentence was read: " + f.counted("parts", "part")} },
	run.EventConfinement:       func(f fields) Words { return Words{Text: run.ConfinementIn(f.line).String()} },
	run.EventSynthesisReviewed: func(f fields) Words { return Words{Text: "review: " + f.text("decision")} },
	run.EventPlanned: func(f fields) Words {
		out := Words{Text: "planned " + f.counted("planned", "job")}
		if ignored := f.line.Get("ignored_services").Strs(); len(ignored) > 0 {
			out.Text, out.Mark = out.Text+"; the planner expects searches by "+strings.Join(ignored, ", ")+", which this run does not ask", report.Fail
		}
		return out
	},
	run.EventMoved: func(f fields) Words {
		text := f.text("from") + " → " + f.text("to")
		if run.Status(f.text("status")) == run.Completed {
			text += ", completed"
		}
		return Words{Text: text, Mark: report.Pass}
	},
	run.EventAccepted: func(f fields) Words {
		switch f.text("what") {
		case "plan":
			return Words{Text: "a person said yes to the plan"}
		case "claim":
			return Words{Text: "a person accepted the sentence " + f.text("claim")}
		}
		return Words{Text: "accepted by a person"}
	},
	run.EventLimit: func(f fields) Words {
		value, _ := f.line.Get("to").Float()
		return Words{Text: fmt.Sprintf("%s is %v", f.text("limit"), value)}
	},
	run.EventJudged: func(f fields) Words {
		return Words{Text: "gate " + f.text("gate") + ": " + f.text("status"), Mark: report.PassIf(f.text("status") == "pass")}
	},
	run.EventReviewed: func(f fields) Words {
		return Words{Text: fmt.Sprintf("reviewed %s, %d failed", f.counted("validated", "output"), f.count("failed")), Mark: report.PassIf(f.count("failed") == 0)}
	},
	run.EventDecided: func(f fields) Words {
		if f.line.Get("wave2_required").Bool() {
			return Words{Text: "a second wave is needed: " + f.text("rule_hit")}
		}
		return Words{Text: "no second wave is needed"}
	},
	run.EventSearched: func(f fields) Words {
		out := Words{Text: "searched " + f.text("service") + " for " + f.text("query")}
		if f.text("service") == "" {
			out = Words{Text: "no search service answers", Mark: report.Fail}
		}
		for _, failed := range f.line.Get("failed").Elems() {
			out.Text, out.Mark = out.Text+"; "+failed.Get("reason").Str(), report.Fail
		}
		return out
	},
	run.EventSources: func(f fields) Words {
		statuses := f.line.Get("statuses")
		if statuses.Kind() != codec.Object {
			return Words{}
		}
		usable := 0
		for _, status := range []string{"valid", "paywalled"} {
			n, _ := statuses.Get(status).Int()
			usable += int(n)
		}
		return Words{Text: fmt.Sprintf("%d of %s can be cited", usable, f.counted("validated", "source"))}
	},
	run.EventVerdict: func(f fields) Words {
		if f.line.Get("accepted").Bool() {
			return Words{Text: f.attempt() + ": accepted", Mark: report.Pass}
		}
		switch {
		case f.line.Get("held").Bool():
			return Words{Text: f.attempt() + ": waits for other parts of the report"}
		case f.text("outcome") == "void":
			return Words{Text: f.attempt() + ": does not count, and is asked again"}
		}
		var codes []string
		for _, code := range f.line.Get("faults").Elems() {
			codes = append(codes, code.Str())
		}
		return Words{Text: f.attempt() + ": refused, " + strings.Join(codes, ", "), Mark: report.Fail}
	},
	run.EventExtended: func(f fields) Words {
		if !f.line.Get("offline").Bool() {
			return Words{}
		}
		return Words{Text: f.attempt() + ": nothing can be reached from here; the answer waits for its sources", Mark: report.Fail}
	},
	run.EventEnded: func(f fields) Words {
		text := f.attempt() + " ended: " + f.text("outcome")
		if reason := f.text("reason"); reason != "" {
			text += ", " + reason
		}
		return Words{Text: text}
	},
	run.EventUnfit: func(f fields) Words {
		return Words{Text: strings.TrimSpace(f.text("reader")) + " missed too many pairs, and reads no more", Mark: report.Fail}
	},
}
