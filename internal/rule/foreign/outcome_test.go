package foreign

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

// judged is a report whose sources are pages with a text, in order; "" is a source that nobody
// answers for.
func judged(t *testing.T, text string, options Options, pages ...string) *Result {
	t.Helper()
	d := must.Get(Read("report.md", []byte(text)))(t)
	return must.Get(Judge(t.Context(), "report.md", []byte(text), d, options, source.Evidence{Page: func(_ context.Context, url string) (*source.Page, error) {
		for i, page := range pages {
			if url == fmt.Sprintf("https://pages.example/%d", i+1) && page != "" {
				return &source.Page{Status: 200, ContentType: "text/html; charset=utf-8", Body: []byte("<!doctype html><html lang=en><title>A page</title><p>" + page + "</p><p>The harbour master wrote it, and his deputy has read it twice, as the port demands of everybody.</p>")}, nil
			}
		}
		return &source.Page{Fault: source.RefusedAddress}, nil
	}}))(t)
}

const (
	quayPage = "The new quay of Elsgate cost the town 210,000 euro in the spring of 2024, and 36 men built it in nine months."
	quay     = "The new quay of Elsgate cost the town 210,000 euro in the spring of 2024 [1].\n\n%s\n\n## Sources\n\n[1] A page: https://pages.example/1\n[2] A page: https://pages.example/2\n"
)

func TestOutcomes(t *testing.T) {
	t.Parallel()
	by := func(kinds ...string) Options { return Options{FailOn: kinds} }
	for _, test := range []struct {
		name, more string
		options    Options
		pages      []string
		want       Outcome
		says       string
	}{
		{"rules find nothing", "", by(FailMissing, FailDead), []string{quayPage}, NoErrorByRule, "no error found by rule; 1 sentence was read by nobody (of 100 sentences"},
		{"a number is another", "The quay of Elsgate was built by 63 men [1].", by(FailMissing), []string{quayPage}, Failed, "1 missing there"},
		{"nobody read it, and that fails", "", by(FailUnread), []string{quayPage}, Failed, "1 sentence:"},
		{"one in two cannot be checked", "It employs 36 people [2].", by(FailMissing), []string{quayPage}, NoErrorByRule, "1 unchecked"},
		{"one cannot be checked, and that fails", "It employs 36 people [2].", by(FailUnchecked), []string{quayPage}, Failed, "1 unchecked"},
		{"one asks", "Who pays for the quay?", by(FailMissing), []string{quayPage}, NoErrorByRule, "1 structural"},
		{"more than half cannot be checked", "It employs 36 people [2]. It has nine cranes [2].", by(FailMissing, FailDead), []string{quayPage}, Failed, "2 unchecked"},
	} {
		r := judged(t, fmt.Sprintf(quay, test.more), test.options, test.pages...)
		if r.Outcome != test.want || r.Pass || r.Passed() != (test.want != Failed) || !strings.Contains(r.Line(), test.says) {
			t.Errorf("%s: %s, pass %v, %s", test.name, r.Outcome, r.Pass, r.Line())
		}
		if s := &r.Summary; s.Found+s.Weak+s.Missing+s.Unchecked+s.Structural+s.Uncited != s.Sentences ||
			!strings.Contains(r.Line(), fmt.Sprintf("of %d the words and numbers are on the cited page, %d weak, %d missing there, %d unchecked, %d structural, %d uncited;", s.Found, s.Weak, s.Missing, s.Unchecked, s.Structural, s.Uncited)) {
			t.Errorf("%s: the line does not add up to %d: %s", test.name, s.Sentences, r.Line())
		}
		if r.Report().Summary != r.Line() {
			t.Errorf("%s: the report says %s", test.name, r.Report().Summary)
		}
	}
}

// TestWhatIsNotedIsShown: a sentence with one name too many stands, and every view says so.
func TestWhatIsNotedIsShown(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, "Ada Brunel says that 36 men built the quay of Elsgate in nine months [1]."), Options{FailOn: []string{FailMissing}}, quayPage)
	var text strings.Builder
	must.Do(t, report.Text(&text, r.Report(), report.Options{}))
	if r.Outcome != NoErrorByRule || r.Summary.Found != 2 || !strings.HasSuffix(r.Line(), "; noted of 1: a name or a title is not there") ||
		!strings.Contains(text.String(), "its numbers and most of its words are there") || strings.Count(text.String(), "noted only: Brunel is not there") != 1 {
		t.Errorf("%+v: %s", r.Summary, text.String())
	}
}

// TestAReaderPassesOrFails holds that with a reader nothing is left open.
func TestAReaderPassesOrFails(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]Outcome{evidence.Supported: Passed, evidence.Unsupported: Failed, "": Failed} {
		r := judged(t, fmt.Sprintf(quay, ""), Options{FailOn: []string{FailMissing}, Verifier: "codex"}, quayPage)
		for i := range r.questions.Claims.Sentences {
			if verdict != "" {
				r.questions.Claims.Sentences[i].Verdict = &evidence.Verdict{Verdict: verdict, Words: "cost the town 210,000 euro"}
			}
		}
		r.Hear(Options{FailOn: []string{FailMissing}, Verifier: "codex"}, "its budget is used up")
		if r.Outcome != want || r.Pass != (want == Passed) {
			t.Errorf("%q: %s, pass %v", verdict, r.Outcome, r.Pass)
		}
	}
}

// TestWordsPromiseNoMore holds what each view calls a sentence that stands.
func TestWordsPromiseNoMore(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, ""), Options{FailOn: []string{FailMissing}}, quayPage)
	s := &r.Sentences[0]
	if s.Standing != claim.Found || s.Words() != "its words and numbers are there" {
		t.Errorf("%s: %s", s.Standing, s.Words())
	}
	if s.Verdict = evidence.Supported; s.Words() != "stands on the cited page" {
		t.Error(s.Words())
	}
	for _, file := range []string{"README.md", "docs/guide.md"} {
		if text := string(must.Get(os.ReadFile("../../../" + file))(t)); strings.Contains(text, "found on the cited page") {
			t.Errorf("%s promises more", file)
		}
	}
	text := string(must.Get(os.ReadFile("../../../README.md"))(t))
	if !strings.Contains(text, "the rules by themselves refuse 22 % of the unsupported ones and mark another 17 % as weak") || !strings.Contains(ruleFigures, "refuse 22 and doubt 17") {
		t.Error("README.md and the line of an audit give other figures")
	}
}

// TestASourceThatIsNotAllowedIsNotDead holds what is said of an address of this machine.
func TestASourceThatIsNotAllowedIsNotDead(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, "It employs 36 people [2]."), Options{FailOn: []string{FailDead}}, quayPage)
	if s := r.Sources[1]; s.Status != Unchecked || !strings.Contains(s.Reason, "not allowed here") || !strings.Contains(s.Reason, "fetch.allow") || r.Summary.Sources.Invalid != 0 || r.Outcome == Failed {
		t.Errorf("%+v, %s", s, r.Outcome)
	}
}

// TestTheWorstComesFirst holds the order of what a person is shown, what is said of each, and
// where it leads.
func TestTheWorstComesFirst(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, "The fleet has 12 boats.\n\nIn 1987 the pier had seven lamps [1].\n\nThe new quay of Elsgate cost the town 310,000 euro in the spring of 2024 [1]."), Options{FailOn: []string{FailMissing}}, quayPage)
	var heads []string
	for _, i := range r.worst() {
		heads = append(heads, fmt.Sprint(r.Sentences[i].blocks()[0]))
	}
	if len(heads) != 3 || heads[0] != "line 7, missing: 310,000 euro: the page says 210,000 euro" || !strings.Contains(heads[1], "1987 is not there") || heads[2] != "line 3, uncited: it says 12 and cites nothing" {
		t.Errorf("%q", heads)
	}
	if told := r.Sentences[r.worst()[0]].Told(); len(told) != 1 || len(r.Sentences[r.worst()[0]].Findings) < 2 {
		t.Errorf("one thing is wrong, and is said %d times: %v", len(told), told)
	}
	first := fmt.Sprint(r.Sentences[r.worst()[0]].blocks())
	if !strings.Contains(first, "the page says: The new quay of Elsgate cost the town 210,000 euro") || !strings.Contains(first, "https://pages.example/1#:~:text=The%20new%20quay%20of%20Elsgate%20cost") {
		t.Error(first)
	}
}

// TestANameThatIsNotThereIsSaid holds that a name which only a remark is about is said where the
// sentence is shown.
func TestANameThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, "The new quay of Elsgate cost the town 310,000 euro in the spring of 2024, says Konrad Adler [1]."), Options{FailOn: []string{FailMissing}}, quayPage)
	if shown := fmt.Sprint(r.Report().Blocks); !strings.Contains(shown, "noted only: Konrad Adler is not there") {
		t.Error(shown)
	}
}

func TestAPassageIsCutAroundItsWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Nobody reads all of this. ", 40)
	for _, test := range []struct{ text, words string }{{long + "It cost 1.1 MW there. " + long, "1.1 MW"}, {"It cost 1.1 MW there. " + long, "1.1 MW"}, {long + "It cost 1.1 MW", "1.1 MW"}, {long, ""}} {
		if cut := around(test.text, test.words); !strings.Contains(cut, test.words) || len(cut) > 300 {
			t.Errorf("%d bytes: %s", len(cut), cut)
		}
	}
}

// TestAnAgentIsHandedTheWorst holds the size of what an agent is handed, and that nothing
// wrong is left out for something fine.
func TestAnAgentIsHandedTheWorst(t *testing.T) {
	t.Parallel()
	var more strings.Builder
	for i := range 60 {
		fmt.Fprintf(&more, "The quay of Elsgate was built by %d men [1]. The new quay of Elsgate cost the town 210,000 euro in the spring of 2024 [1].\n\n", 100+i)
	}
	r := judged(t, fmt.Sprintf(quay, more.String()), Options{FailOn: []string{FailMissing}}, quayPage)
	small := r.ForAgent()
	if n := sizeOf(small); n > 8<<10 || n < 5<<10 || len(small.Sentences) < 3 || small.Summary != r.Summary || small.LeftOut != len(r.Sentences)+len(r.Sources)+len(r.Findings)-len(small.Sentences)-len(small.Sources)-len(small.Findings) {
		t.Errorf("%d bytes, %d sentences, %d left out", n, len(small.Sentences), small.LeftOut)
	}
	for _, s := range small.Sentences {
		if s.Standing != claim.Missing || len(s.Windows) != 1 {
			t.Errorf("%s: %s", s.Standing, s.Text)
		}
	}
	if whole := judged(t, fmt.Sprintf(quay, ""), Options{}, quayPage); len(whole.ForAgent().Sentences) != len(whole.Sentences) || whole.ForAgent().LeftOut != 0 {
		t.Error("a small result is cut")
	}
}

// TestWhatRulesCannotSettleIsReadFirst holds that it is dealt into the first part, and what
// rules refuse into the last, by whatever seed.
func TestWhatRulesCannotSettleIsReadFirst(t *testing.T) {
	t.Parallel()
	r := judged(t, fmt.Sprintf(quay, "The quay of Elsgate was built by 63 men [1].\n\nNobody at Elsgate expected such splendid weather, Konrad Adler and Berta Lund recall [1]."), Options{Verifier: "codex"}, quayPage)
	for seed := range byte(20) {
		q := r.Questions()
		q.Seed[0] = seed
		q.SetParts()
		part := map[claim.Standing]int{}
		for _, p := range q.Claims.Parts {
			for _, id := range p.Sentences {
				part[q.Claims.Find(id).Standing] = p.Number
			}
		}
		if last := len(q.Claims.Parts); last < 2 || part[claim.Weak] != 1 || part[claim.Missing] != last {
			t.Errorf("seed %d: %v of %d parts", seed, part, last)
		}
	}
}
