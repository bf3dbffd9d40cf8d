package step_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// TestLabelledClaimsInARun checks the labelled claims about planted pages against
// these pages as a run has archived them. An alarm is a claim of which a rule misses
// something; one that is only weak, such as one about a page in another language, is
// left to a reader.
// No quotation that is on its page may be missed, and what is found must be shown
// by its range and link. testdata/score keeps the score and the mistakes.
func TestLabelledClaimsInARun(t *testing.T) {
	claims := planted.Claims()
	if !full.Asked() {
		claims = slices.DeleteFunc(claims, func(claim planted.Claim) bool { return len(claim.URL)%4 != 0 })
	}
	wanted := map[string]bool{}
	for _, claim := range claims {
		wanted[claim.URL] = true
	}
	pages := slices.DeleteFunc(planted.Pages(), func(page planted.Page) bool { return !wanted[page.URL] })
	made := citing(t, run.InitInput{}, outputOf(pages...))
	synctest.Test(t, func(t *testing.T) {
		web := planted.New()
		defer web.Close()
		validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	})
	cids := map[string]string{}
	for _, r := range records(t, made) {
		cids[r.NormalizedURL] = r.CID
	}
	var document strings.Builder
	for _, claim := range claims {
		normalized := must.Get(link.Normalize(claim.URL))(t)
		fmt.Fprintf(&document, "- %s [@%s]\n", claim.Text, cids[normalized])
	}
	runs.Put(t, made.Root, "claims.md", document.String())
	grounding := must.Get(sentences.Ground(t.Context(), runClock, sentences.GroundInput{ManifestPath: made.ManifestPath, DocumentPath: made.Root + "/claims.md"}))(t)
	byLine := map[int][]sentences.Grounded{} // by line: a labelled claim may have several
	for _, c := range grounding.Claims {
		byLine[c.Line] = append(byLine[c.Line], c)
	}
	var total claimScore
	for i, made := range claims {
		if len(byLine[i+1]) == 0 {
			t.Fatalf("nothing is said about %s", made.Text)
		}
		total.add(made, byLine[i+1])
		for _, c := range byLine[i+1] {
			for _, q := range c.Quotations {
				if made.On && !q.Found {
					t.Errorf("missed on %s: %s", made.URL, q.Text)
				}
			}
		}
	}
	t.Logf("\n%s", total.text())
	if total.all.precision() < 0.95 || total.all.recall() < 0.95 || len(claims) < 500 && full.Asked() || len(claims) < 50 {
		t.Errorf("%d claims, precision %.3f, recall %.3f", len(claims), total.all.precision(), total.all.recall())
	}
	if full.Asked() {
		keepScore(t, "claims", total.text())
	}
	shown := 0
	for _, block := range grounding.Report().Blocks {
		shown += strings.Count(fmt.Sprint(block), "#:~:text=")
	}
	if found := grounding.Metrics.Quotations + grounding.Metrics.Numbers - grounding.Metrics.QuotationsMissing - grounding.Metrics.NumbersMissing; shown < found {
		t.Errorf("%d of %d matches are shown with a link", shown, found)
	}
}

// TestAPageWithoutTextIsValidAndUnchecked cites files from which no text can be read.
func TestAPageWithoutTextIsValidAndUnchecked(t *testing.T) {
	pages := slices.DeleteFunc(planted.Pages(), func(page planted.Page) bool {
		return page.Variant != "a broken PDF" && page.Variant != "half a PDF" && page.Variant != "a picture"
	})
	made := citing(t, run.InitInput{}, outputOf(pages...))
	web := planted.New()
	defer web.Close()
	validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	var document strings.Builder
	for _, r := range records(t, made) {
		if r.Status != source.Valid || r.Notes != "ok: no text can be read from it" {
			t.Errorf("%s: %s, %s", r.NormalizedURL, r.Status, r.Notes)
		}
		fmt.Fprintf(&document, "- It rose by 45 %% in 1962 [@%s]\n", r.CID)
	}
	runs.Put(t, made.Root, "claims.md", document.String())
	grounding, err := sentences.Ground(t.Context(), runClock, sentences.GroundInput{ManifestPath: made.ManifestPath, DocumentPath: made.Root + "/claims.md"})
	if err != nil || grounding.Pass || grounding.Metrics.Unchecked != len(pages) || len(pages) != 3 {
		t.Errorf("%+v of %d pages, %v", grounding.Metrics, len(pages), err)
	}
}

// claimScore counts how grounding does on claims of each kind.
type claimScore struct {
	kinds    map[string]*alarms
	all      alarms
	mistakes []string
}

// alarms counts right and wrong alarms, and claims without one, missed or rightly quiet.
type alarms struct{ right, wrong, missed, quiet int }

func (a alarms) precision() float64 { return float64(a.right) / float64(max(1, a.right+a.wrong)) }
func (a alarms) recall() float64    { return float64(a.right) / float64(max(1, a.right+a.missed)) }

func (s *claimScore) add(made planted.Claim, got []sentences.Grounded) {
	if s.kinds == nil {
		s.kinds = map[string]*alarms{}
	}
	if s.kinds[made.About] == nil {
		s.kinds[made.About] = &alarms{}
	}
	alarm := slices.ContainsFunc(got, func(c sentences.Grounded) bool { return c.Verdict == "ungrounded" })
	for _, a := range []*alarms{s.kinds[made.About], &s.all} {
		switch {
		case alarm && made.On:
			a.wrong++
		case alarm:
			a.right++
		case made.On:
			a.quiet++
		default:
			a.missed++
		}
	}
	switch {
	case alarm && made.On:
		s.mistakes = append(s.mistakes, "false alarm: "+made.Text)
	case !alarm && !made.On:
		s.mistakes = append(s.mistakes, "missed: "+made.Text)
	}
}

// text shows the score in Markdown, with the mistakes.
func (s *claimScore) text() string {
	var b strings.Builder
	b.WriteString("| claims with a | on the page | of these not found | not on the page | of these found out | precision | recall |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	row := func(name string, a alarms) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |", name, a.quiet+a.wrong, a.wrong, a.right+a.missed, a.right)
		for _, c := range []struct {
			of    int
			value float64
		}{{a.right + a.wrong, a.precision()}, {a.right + a.missed, a.recall()}} {
			if c.of == 0 {
				b.WriteString(" – |")
			} else {
				fmt.Fprintf(&b, " %.3f |", c.value)
			}
		}
		b.WriteString("\n")
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.kinds), cmp.Compare) {
		row(name, *s.kinds[name])
	}
	row("all of them", s.all)
	b.WriteString("\nMistakes:\n\n")
	for _, mistake := range s.mistakes {
		fmt.Fprintf(&b, "- %s\n", mistake)
	}
	if len(s.mistakes) == 0 {
		b.WriteString("- none\n")
	}
	return b.String()
}
