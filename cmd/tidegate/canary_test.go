package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/tool"
)

func scratchTools(folder string) []*tool.Tool {
	at := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	return catalog.Tools(&catalog.Env{Now: func() time.Time { return at }, Pinned: true, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs")})
}

// TestEveryPlantedViolationIsCaught also keeps the answers that `explain` shows true.
// Without -full it plays some of the plants; the command canary plays all.
func TestEveryPlantedViolationIsCaught(t *testing.T) {
	t.Parallel()
	scratch, err := os.MkdirTemp("", "tg") // short, so that no message is cut
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	every := 8
	if full.Asked() || *update {
		every = 1
	}
	sightings := must.Get(demo.Canary{Scratch: scratch, Tools: scratchTools, Every: every}.Run(t.Context()))(t)
	caught := 0
	for _, s := range sightings {
		switch s.Status {
		case report.Pass:
			caught++
		case report.Fail:
			t.Errorf("%s (%s): %s", s.Plant, s.Judge, s.Problem)
		}
		if s.Answer == strings.TrimSuffix(s.Recorded, "\n") {
			continue
		}
		if !*update {
			t.Errorf("%s: the tool says %q, and explain shows %q; to rewrite it: go test ./cmd/tidegate -run Planted -update", s.Plant, s.Answer, s.Recorded)
			continue
		}
		record(t, s)
	}
	if caught < 80/every {
		t.Errorf("only %d violations were planted and caught", caught)
	}
}

func record(t *testing.T, s demo.Sighting) {
	path := filepath.Join("..", "..", "internal", "face", "demo", "rules", s.Kind.Folder, s.Plant+".txtar")
	data := must.Get(os.ReadFile(path))(t)
	before, _, _ := strings.Cut(string(data), "-- answer --\n")
	must.Do(t, os.WriteFile(path, []byte(before+"-- answer --\n"+s.Answer+"\n"), 0o644))
}

// TestTheCanaryHasAPageForEveryRuleOfSources compares the canary with the table
// of rules.
func TestTheCanaryHasAPageForEveryRuleOfSources(t *testing.T) {
	tools := func(folder string) []*tool.Tool {
		return catalog.Tools(&catalog.Env{Now: time.Now, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Fetch: demo.Pages{Now: time.Now}.FetchSources})
	}
	judgements := must.Get(demo.Canary{Scratch: t.TempDir(), Tools: tools}.Sources(t.Context()))(t)
	var got []string
	for _, j := range judgements {
		got = append(got, j.Rule)
		if j.Problem != "" || j.Notes == "" {
			t.Errorf("%s (%s): %s: %s", j.Rule, j.Source.Variant, j.Notes, j.Problem)
		}
	}
	var want []string
	for _, rule := range source.Rules() {
		want = append(want, rule.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("judged %v, want %v", got, want)
	}
	keepJudgements(t, judgements)
}

// TestTheCanaryPlantsWhatIsFetched fetches the examples of the planted web and
// compares them with those that come with the program, or writes them.
func TestTheCanaryPlantsWhatIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := planted.New()
		defer web.Close()
		limits := fetch.DefaultLimits
		limits.Deadline, limits.MaxBody = 5*time.Second, 1<<20
		client := fetch.New(fetch.Options{Now: time.Now, Resolve: web.Resolve, Dial: web.Dial, Roots: web.Roots(), Limits: limits})
		defer client.Close()
		var list []demo.Source
		for _, page := range planted.Examples() {
			source := demo.Source{URL: page.URL, Title: page.Title, Kind: page.Kind, Variant: page.Variant, Rule: page.Rule}
			if page.Rule != "malformed" && page.Rule != "credentials" { // those are judged by the URL
				keep := func(batch []*archive.Packed) error {
					source.Fetched = fetched(batch[0].Capture())
					return nil
				}
				must.Do(t, client.Each(t.Context(), []string{page.URL}, keep, nil))
			}
			list = append(list, source)
		}
		var got bytes.Buffer
		out := json.NewEncoder(&got)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		must.Do(t, out.Encode(list))
		file := filepath.Join("..", "..", "internal", "face", "demo", "sources.json")
		if *update {
			must.Do(t, os.WriteFile(file, got.Bytes(), 0o644))
		}
		want := must.Get(os.ReadFile(file))(t)
		if diff := difference(string(want), got.String()); diff != "" {
			t.Errorf("%s differs; run: go test ./cmd/tidegate -run Fetched -update (-file +fetched):\n%s", file, diff)
		}
	})
}

// fetched is a capture without its times and the date of its answers, and with the
// beginning of a body that was cut.
func fetched(c archive.Capture) *demo.Fetched {
	f := &demo.Fetched{Kind: c.Kind, Address: c.Address, Detail: c.Detail}
	for _, hop := range c.Hops {
		a := demo.Answer{URL: hop.URL, Status: hop.Status, Body: string(hop.Body), Truncated: hop.Truncated}
		a.Header = slices.DeleteFunc(slices.Clone(hop.Header), func(field archive.Field) bool { return field.Name == "Date" })
		if a.Truncated != "" {
			a.Body = a.Body[:min(len(a.Body), 16)]
		}
		f.Hops = append(f.Hops, a)
	}
	return f
}

// keepJudgements compares judgements with those in testdata/canary.md, or writes
// them.
func keepJudgements(t *testing.T, judgements []demo.Judgement) {
	t.Helper()
	var table strings.Builder
	table.WriteString("| rule | verdict | planted page | notes of the record |\n| --- | --- | --- | --- |\n")
	for _, j := range judgements {
		fmt.Fprintf(&table, "| %s | %s | %s: `%s` | %s |\n", j.Rule, j.Status, strings.ReplaceAll(j.Source.Kind, "_", " "), j.Source.Variant, j.Notes)
	}
	path := filepath.Join("testdata", "canary.md")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(table.String()), 0o644))
		return
	}
	want := must.Get(os.ReadFile(path))(t)
	if diff := difference(string(want), table.String()); diff != "" {
		t.Errorf("%s has other judgements; run: go test ./cmd/tidegate -run Canary -update (-file +judged):\n%s", path, diff)
	}
}

// TestACanaryWhoseSourcesAreNotReachedFails has tools that reach no page.
func TestACanaryWhoseSourcesAreNotReachedFails(t *testing.T) {
	judgements := must.Get(demo.Canary{Scratch: t.TempDir(), Tools: func(folder string) []*tool.Tool {
		nothing := func(context.Context, []string, func([]*archive.Packed) error) error { return nil }
		return catalog.Tools(&catalog.Env{Now: time.Now, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Fetch: nothing})
	}}.Sources(t.Context()))(t)
	if shown := demo.Report(nil, judgements); shown.Status != report.Fail {
		t.Errorf("the canary passed without its pages: %s", shown.Summary)
	}
}

// TestACanaryWhoseToolsFindNothingFails has no tools: every violation is missed. One
// that is missed is enough.
func TestACanaryWhoseToolsFindNothingFails(t *testing.T) {
	sightings, err := demo.Canary{Scratch: t.TempDir(), Tools: func(string) []*tool.Tool { return nil }}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missed := -1
	for i, s := range sightings {
		switch {
		case s.Status == report.Pass:
			t.Errorf("%s passed without its judge", s.Plant)
		case s.Status == report.Fail && missed < 0:
			missed = i
		default:
			sightings[i].Status = report.Pass
		}
	}
	judged := []demo.Judgement{{Rule: "valid"}}
	if shown := demo.Report(sightings, judged); missed < 0 || shown.Status != report.Fail {
		t.Fatalf("the canary passed without one judge: %s", shown.Summary)
	}
	sightings[missed].Status = report.Pass
	if shown := demo.Report(sightings, judged); shown.Status != report.Pass {
		t.Errorf("the canary fails where everything is caught: %s", shown.Summary)
	}
}
