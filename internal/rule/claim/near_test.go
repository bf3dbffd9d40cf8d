package claim_test

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
)

//go:embed testdata/near.txt
var nearFiles embed.FS

// TestNearCopies holds lies that are made of a page's own words, and honest twins of them, against
// the page: in five languages, in each of the ways in which rules can tell.
func TestNearCopies(t *testing.T) {
	text := string(must.Get(fs.ReadFile(nearFiles, "testdata/near.txt"))(t))
	lies, caught, twins, alarms := 0, 0, 0, 0
	for section := range strings.SplitSeq(text, "\n[") {
		language, rest, ok := strings.Cut(section, "]\n")
		if !ok || strings.HasPrefix(section, "#") {
			continue
		}
		var page, cases []string
		for line := range strings.Lines(rest) {
			switch kind, text, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
			case "page":
				page = append(page, text)
			case "lie", "twin":
				cases = append(cases, kind+" "+text)
			}
		}
		source := &claim.Page{CID: "p", Text: strings.Join(page, "\n"), Language: language}
		for _, c := range cases {
			kind, text, _ := strings.Cut(c, " ")
			j := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: text, Language: language, CIDs: []string{"p"}}}, func(string) (*claim.Page, error) { return source, nil }, claim.Titles{}))(t)[0]
			at := slices.IndexFunc(j.Findings, func(f claim.Finding) bool { return f.Code == tidegate.NotWhatThePageSays })
			if kind == "lie" {
				lies++
				if at == 0 && j.Standing == claim.Missing && strings.Contains(j.Findings[0].Text, ": the page says ") {
					caught++
				} else {
					t.Logf("%s: not caught: %s %v", language, text, j.Findings)
				}
			} else if twins++; at >= 0 || j.Standing == claim.Missing {
				alarms++
				t.Logf("%s: false alarm: %s %v", language, text, j.Findings)
			}
		}
	}
	t.Logf("%d of %d lies caught, %d false alarms of %d twins", caught, lies, alarms, twins)
	if lies < 141 || twins < 141 || caught < 123 || alarms > 2 {
		t.Errorf("%d of %d lies caught, %d false alarms of %d twins; want 123 of 141 and at most 2 of 141", caught, lies, alarms, twins)
	}
}

// TestNearCopySays names what differs, both as it is said and as the page has it, and shows the
// place first.
func TestNearCopySays(t *testing.T) {
	filler := strings.Repeat("The harbour has a long history, of which every guide tells at length in the evening. ", 40)
	text := filler + "The new quay cost the town 210,000 euro in the spring of that year. " + filler + "Later 310,000 euro were paid for lamps."
	for _, c := range []struct{ says, want string }{
		{"The new quay cost the town 310,000 euro in the spring of that year.", "310,000 euro: the page says 210,000 euro"},
		{"The new quay did not cost the town 210,000 euro in the spring of that year.", "did not cost: the page says cost"},
		{"It is false that the new quay cost the town 210,000 euro in the spring of that year.", "It is false that the new: the page says The new"},
		{"Nobody believes that the new quay cost the town 210,000 euro in the spring of that year.", "Nobody believes that the new: the page says The new"},
	} {
		j := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: c.says, Language: "en", CIDs: []string{"p"}}}, func(string) (*claim.Page, error) { return &claim.Page{CID: "p", Text: text}, nil }, claim.Titles{}))(t)[0]
		if len(j.Findings) == 0 || j.Findings[0].Text != c.want || j.Findings[0].Code != tidegate.NotWhatThePageSays {
			t.Errorf("%s: %v", c.says, j.Findings)
		} else if !strings.Contains(j.Windows[0].Text, "The new quay cost the town 210,000 euro") {
			t.Errorf("%s: the first window is %q", c.says, j.Windows[0].Text)
		}
	}
}

// TestAPageMaySayANegationElsewhere: the sentence that has most of the words is not the one that
// is repeated.
func TestAPageMaySayANegationElsewhere(t *testing.T) {
	const text = "* 3 when some source files could not be read (an incomplete snapshot was made with what could be)\n\nWhen Restic returns this exit status code, some source files are those that stand for errors and could be read later."
	j := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: "Restic's exit code 3 stands for \"when some source files could not be read\".", Language: "en", CIDs: []string{"p"}}}, func(string) (*claim.Page, error) { return &claim.Page{CID: "p", Text: text}, nil }, claim.Titles{}))(t)[0]
	if j.Standing != claim.Found {
		t.Errorf("%+v", j.Findings)
	}
}

// TestEachClauseHasItsPage: what one page has as it is said excuses what another says otherwise
// of that clause alone, and the page that says otherwise is shown first.
func TestEachClauseHasItsPage(t *testing.T) {
	pages := map[string]string{
		"orders": "In these three contracts the electric boat costs 1.8 times as much as its diesel sister from the yard.",
		"energy": "At 14 cent, an electric tug spends about 210,000 euro less on energy than a diesel boat that burns oil.",
		"later":  "An electric tug spends about 310,000 euro less on energy than a diesel boat, says the port.",
	}
	const says = "The electric boat costs 1.8 times as much as its diesel sister from the yard, but spends about 310,000 euro less on energy than a diesel boat."
	judged := func(cids ...string) claim.Judgement {
		return must.Get(claim.Judge(t.Context(), []claim.Question{{Text: says, Language: "en", CIDs: cids}}, func(cid string) (*claim.Page, error) { return &claim.Page{CID: cid, Text: pages[cid]}, nil }, claim.Titles{}))(t)[0]
	}
	if j := judged("orders", "energy"); len(j.Findings) == 0 || j.Findings[0].Text != "310,000 euro: the page says 210,000 euro" || j.Windows[0].CID != "energy" {
		t.Errorf("%+v", j)
	}
	if j := judged("orders", "energy", "later"); j.Standing != claim.Found {
		t.Errorf("%+v", j.Findings)
	}
}

// TestWhatANearCopyMayLeaveToItsReader has a number that the next sentence of the page
// says, and an inference: both differ from a sentence that they follow nearly word for
// word, and neither is a fault.
func TestWhatANearCopyMayLeaveToItsReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, page string
		inferred   bool
		want       claim.Standing
	}{
		{"In the hottest week the stacks drew 0.3 MW at night.", "In the hottest week the stacks drew 0.7 MW by day. At night they drew 0.3 MW.", false, claim.Weak},
		{"In the hottest week the stacks drew 0.3 MW at night.", "In the hottest week the stacks drew 0.7 MW by day. The pumps are new. The lamps drew 0.3 MW.", false, claim.Missing},
		{"Two large tugs can therefore not charge at the same berth.", "Two large tugs can charge at the same berth with 3.0 MW.", true, claim.Weak},
		{"Two large tugs can therefore not charge at the same berth.", "Two large tugs can charge at the same berth with 3.0 MW.", false, claim.Missing},
	} {
		j := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: c.text, Language: "en", CIDs: []string{"s1"}, Inferred: c.inferred}},
			func(string) (*claim.Page, error) { return &claim.Page{Text: c.page}, nil }, claim.Titles{}))(t)[0]
		if j.Standing != c.want {
			t.Errorf("%q, inferred %v: %s %+v, want %s", c.text, c.inferred, j.Standing, j.Findings, c.want)
		}
	}
}

// TestWhatMayBeIsNotSaidToBe: a word by which the page says that something may be so is kept.
func TestWhatMayBeIsNotSaidToBe(t *testing.T) {
	const page = "The new lock may reduce the waiting time of large ships by an hour. Der neue Kai könnte den Verkehr der großen Schiffe verringern."
	for stated, says := range map[string]string{
		"The new lock reduces the waiting time of large ships by an hour.":      "reduces: the page says may reduce",
		"The new lock may reduce the waiting time of large ships by an hour.":   "",
		"The new lock could reduce the waiting time of large ships by an hour.": "",
	} {
		got := ""
		for _, f := range judgeOn(t, stated, page).Findings {
			if f.Rule == "near" {
				got = f.Text
			}
		}
		if got != says {
			t.Errorf("%q: %q, want %q", stated, got, says)
		}
	}
}

// TestAMonthIsNoDoubt: May before a year is no word by which a page says less.
func TestAMonthIsNoDoubt(t *testing.T) {
	for page, want := range map[string]claim.Standing{
		"The electric ferry entered service in May 2015 and carries 120 cars.":   claim.Found,
		"The electric ferry may have entered service in 2015 with its 120 cars.": claim.Missing,
	} {
		j := must.Get(claim.Judge(t.Context(), []claim.Question{{Text: "The electric ferry entered service in 2015.", Language: "en", CIDs: []string{"p"}}}, func(string) (*claim.Page, error) { return &claim.Page{CID: "p", Text: page}, nil }, claim.Titles{}))(t)[0]
		if j.Standing != want {
			t.Errorf("%s: %s, %+v", page, j.Standing, j.Findings)
		}
	}
}
