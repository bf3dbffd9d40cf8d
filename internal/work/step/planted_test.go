package step_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

var update = flag.Bool("update", false, "rewrite the golden files and the scores")

// TestThePlantedWebInARun fetches, archives and judges every planted page in a
// run: every fault is found by its own reason, and no honest page is refused. It
// compares the score with testdata/score.
func TestThePlantedWebInARun(t *testing.T) {
	pages := plantedPages()
	made := citing(t, run.InitInput{}, outputOf(pages...))
	synctest.Test(t, func(t *testing.T) {
		web := planted.New()
		defer web.Close()
		validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	})
	total := compareJudged(t, pages, records(t, made))
	t.Logf("\n%s", total.table())
	if full.Asked() {
		keepScore(t, "planted web", total.table())
	}

	// The archive alone gives the same bytes again.
	before := must.Tree(t, made.Root)
	validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
	for _, name := range []string{"citations/citations.jsonl", "evidence/index.json", "evidence/archive.warc.gz", "citations/validated-citations.md"} {
		if after := must.Read(t, filepath.Join(made.Root, name)); after != before[filepath.FromSlash(name)] {
			t.Errorf("%s is another one", name)
		}
	}
	for name, text := range before {
		for _, secret := range []string{"0123456789abcdef", "reader:secret"} {
			if strings.Contains(text, secret) && !strings.HasPrefix(name, "wave-1") {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
	result, err := run.Verify(t.Context(), runClock, run.VerifyInput{ManifestPath: made.ManifestPath})
	if err != nil || !result.Pass {
		t.Errorf("%+v %v", result.Findings, err)
	}
}

// plantedPages are the pages of the planted web: all of them with -full, otherwise
// three of every kind.
func plantedPages() []planted.Page {
	seen := map[string]int{}
	return slices.DeleteFunc(planted.Pages(), func(page planted.Page) bool {
		seen[page.Kind]++
		return !full.Asked() && seen[page.Kind] > 3
	})
}

// TestThePlantedWebOverLoopback fetches some pages of every kind over loopback,
// except those that take time.
func TestThePlantedWebOverLoopback(t *testing.T) {
	full.Story(t)
	t.Parallel()
	most, honest, least := 1, 12, 35
	if full.Asked() {
		most, honest, least = 3, 4, 100
	}
	seen := map[string]int{}
	pages := slices.DeleteFunc(planted.Pages(), func(page planted.Page) bool {
		seen[page.Kind]++
		takesTime := slices.Contains([]string{"timeout", "status_429", "status_5xx"}, page.Kind) || strings.HasPrefix(page.Variant, "429") || strings.HasPrefix(page.Variant, "503")
		return takesTime || seen[page.Kind] > most && page.Kind != planted.Honest || seen[page.Kind]%honest != 0 && page.Kind == planted.Honest
	})
	made := citing(t, run.InitInput{}, outputOf(pages...))
	web := planted.NewOnLoopback()
	defer web.Close()
	validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	compareJudged(t, pages, records(t, made))
	if len(pages) < least {
		t.Errorf("only %d pages were fetched", len(pages))
	}
}

// compareJudged compares records with the verdicts that their pages must get.
func compareJudged(t *testing.T, pages []planted.Page, records []source.Record) *score {
	t.Helper()
	judged := map[string]source.Record{}
	for _, r := range records {
		judged[r.NormalizedURL] = r
	}
	total := &score{rows: map[string]*scoreRow{}}
	for _, page := range pages {
		normalized, err := link.Normalize(page.URL)
		if err != nil {
			normalized = page.URL
		}
		r, found := judged[normalized]
		if !found {
			t.Errorf("%s (%s) %s: no record", page.Variant, page.Kind, page.URL)
			continue
		}
		total.add(page, r)
		if string(r.Status) != page.Verdict || r.Rule != page.Rule {
			t.Errorf("%s (%s) %s: %s by %s (%s), want %s by %s", page.Variant, page.Kind, page.URL, r.Status, r.Rule, r.Notes, page.Verdict, page.Rule)
		}
	}
	return total
}

// score counts the verdicts on pages of each kind.
type score struct {
	kinds []string // in the order of their first pages
	rows  map[string]*scoreRow
}

type scoreRow struct {
	pages    int
	verdicts map[source.Status]int
	right    int // by the rule that must find it
}

// everything is the kind of all pages.
const everything = "all of them"

func (s *score) add(page planted.Page, r source.Record) {
	for _, kind := range []string{page.Kind, everything} {
		if s.rows[kind] == nil {
			s.rows[kind] = &scoreRow{verdicts: map[source.Status]int{}}
			s.kinds = append(s.kinds, kind)
		}
		row := s.rows[kind]
		row.pages++
		row.verdicts[r.Status]++
		if r.Rule == page.Rule {
			row.right++
		}
	}
}

// table shows the score in Markdown, all pages last.
func (s *score) table() string {
	var b strings.Builder
	b.WriteString("| planted | pages | valid | paywalled | blocked | mismatch | invalid | by its own reason |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, kind := range append(slices.DeleteFunc(slices.Clone(s.kinds), func(kind string) bool { return kind == everything }), everything) {
		row := s.rows[kind]
		fmt.Fprintf(&b, "| %s | %d |", strings.ReplaceAll(kind, "_", " "), row.pages)
		for _, status := range []source.Status{source.Valid, source.Paywalled, source.Blocked, source.Mismatch, source.Invalid} {
			fmt.Fprintf(&b, " %d |", row.verdicts[status])
		}
		fmt.Fprintf(&b, " %d |\n", row.right)
	}
	return b.String()
}

// keepScore compares a score with the one in testdata/score, or writes it.
func keepScore(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "score", name+".md")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	} else if diff := cmp.Diff(must.Read(t, path), text); diff != "" {
		t.Errorf("%s has another score; run: go test . -full -update\n%s", path, diff)
	}
}
