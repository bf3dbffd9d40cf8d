package reporting_test

import (
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestLinesInWords: what a person reads of the lines that say more than one thing.
func TestLinesInWords(t *testing.T) {
	for _, c := range []struct {
		event run.Event
		line  tidegate.Details
		want  reporting.Words
	}{
		{run.EventUnfit, tidegate.Pairs("job_id", "verify.1", "reader", "codex gpt-5"), reporting.Words{Job: "verify.1", Text: "codex gpt-5 missed too many pairs, and reads no more", Mark: report.Fail}},
		{run.EventVerdict, tidegate.Pairs("job_id", "review", "attempt", 2, "accepted", true), reporting.Words{Job: "review", Text: "attempt 2: accepted", Mark: report.Pass}},
		{run.EventVerdict, tidegate.Pairs("attempt", 1, "faults", []string{"NO_CITATION", "TOO_LONG"}), reporting.Words{Text: "attempt 1: refused, NO_CITATION, TOO_LONG", Mark: report.Fail}},
		{run.EventMoved, tidegate.Pairs("from", "review", "to", "finalize", "status", "completed"), reporting.Words{Text: "review → finalize, completed", Mark: report.Pass}},
		{run.EventAccepted, tidegate.Pairs("what", "claim", "claim", "x1"), reporting.Words{Text: "a person accepted the sentence x1"}},
		{run.EventSearched, tidegate.Pairs("failed", []tidegate.Details{tidegate.Pairs("reason", "brave: 429")}), reporting.Words{Text: "no search service answers; brave: 429", Mark: report.Fail}},
		{run.EventSources, tidegate.Pairs("validated", 3, "statuses", tidegate.Pairs("valid", 1, "paywalled", 1, "invalid", 1)), reporting.Words{Text: "2 of 3 sources can be cited"}},
		{run.EventSources, tidegate.Pairs("extracted", 3), reporting.Words{}},
		{run.EventAttached, tidegate.Pairs("cid", "cid_0123456789abcdef", "name", "tugs.md"), reporting.Words{Text: "a person attached tugs.md to cid_01234567"}},
		{run.EventAttached, tidegate.Pairs("cid", "cid_0123456789abcdef"), reporting.Words{Text: "a person attached a file to cid_01234567"}},
		{run.EventFiles, nil, reporting.Words{}},
	} {
		got, ok := reporting.InWords(run.Entry{Event: c.event, Entry: codec.Of(c.line)})
		if got != c.want || ok != (c.want.Text != "") {
			t.Errorf("%s: %+v, %v", c.event, got, ok)
		}
	}
}
