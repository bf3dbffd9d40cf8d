package step_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// TestReportOfARun: complete and partial, in every format.
func TestReportOfARun(t *testing.T) {
	made := completed(t)
	r := runs.Open(t, made.ManifestPath)
	reported, err := reporting.ReadReport(t.Context(), r, false, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"markdown": "# What moves the tide?", "html": "<!DOCTYPE html>", "csl-json": `"type": "webpage"`, "bibtex": "@misc{", "ris": "TY  - ELEC",
	} {
		data, err := reported.Export(t.Context(), format, nil)
		if err != nil || !strings.Contains(strings.ToLower(string(data)), strings.ToLower(want)) {
			t.Errorf("%s lacks %q: %v\n%.300s", format, want, err, data)
		}
		again := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test"))(t)
		if twice, _ := again.Export(t.Context(), format, nil); string(twice) != string(data) {
			t.Errorf("%s is another one the second time", format)
		}
	}
	if len(reported.Records) != 3 || reported.Report.Parts[0].Sentences[0].Links[0] == "" {
		t.Errorf("%+v", reported.Report.Parts[0].Sentences)
	}
	under := citing(t, run.InitInput{}, outputOf(honest(1)...))
	runs.Put(t, under.Root, "perspectives.json", perspectivesDoc)
	_, err = reporting.ReadReport(t.Context(), runs.Open(t, under.ManifestPath), false, "tidegate test")
	runs.WantCode(t, err, tidegate.InvalidState)
	partial := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, under.ManifestPath), true, "tidegate test"))(t)
	first, _, _ := strings.Cut(string(partial.Report.Markdown()), "\n")
	if !strings.Contains(strings.ToLower(first), "partial") || len(partial.Report.Parts) != 1 || partial.Report.Parts[0].Title != "T" {
		t.Errorf("%q %+v", first, partial.Report.Parts)
	}
}

// TestAReportNamesItsAgents: those of accepted answers, with what these took, and
// nothing about other attempts.
func TestAReportNamesItsAgents(t *testing.T) {
	made := completed(t)
	attempt := func(job string, number, kind, driver, model, outcome, usage string) {
		dir := "jobs/" + job + "/" + number
		runs.Put(t, made.Root, dir+"/prompt.md", strings.Repeat("p", 40))
		runs.Put(t, made.Root, dir+"/answer-2.md", strings.Repeat("a", 20))
		runs.Put(t, made.Root, dir+"/attempt.json", `{"kind":"`+kind+`","driver":"`+driver+`","model":"`+model+`","version":"1.2","outcome":"`+outcome+`","usage":{"input_tokens":99999},
			"submissions":[{"answer":"answer-1.md","usage":{"input_tokens":7777,"output_tokens":7777,"cost_usd":7}},{"answer":"answer-2.md","usage":`+usage+`}]}`)
	}
	attempt("wave1.a", "001", "wave1", "codex", "m1", "refused", `{"input_tokens":5000,"output_tokens":5000,"cost_usd":5}`)
	attempt("wave1.a", "002", "wave1", "claude", "m2", "accepted", `{"input_tokens":100,"output_tokens":20,"cost_usd":0.25}`)
	attempt("wave1.b", "001", "wave1", "claude", "m2", "accepted", `{"input_tokens":100,"output_tokens":20,"cost_usd":0.5}`)
	attempt("review", "001", "review", "codex:/opt/codex --yes", "", "accepted", `null`)
	attempt("synthesis", "001", "synthesis", "", "", "accepted", `{"input_tokens":10,"output_tokens":2,"cost_usd":null}`)
	attempt("synthesis.2", "001", "synthesis", "", "", "expired", `null`)
	reported := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test"))(t)
	want := []paper.Agent{{Role: "researcher", Driver: "claude", Model: "m2", Version: "1.2", Answers: 2}, {Role: "writer", Driver: "by hand", Version: "1.2", Answers: 1},
		{Role: "reviewer", Driver: "codex", Version: "1.2", Answers: 1}}
	if diff := cmp.Diff(want, reported.Report.Agents); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(paper.Cost{InputTokens: 220, OutputTokens: 47, USD: 0.75, Priced: true}, reported.Report.Cost); diff != "" {
		t.Error(diff)
	}
	for format, text := range map[string]string{"html": "claude 1.2", "markdown": "claude 1.2"} {
		data, err := reported.Export(t.Context(), format, nil)
		if err != nil || !strings.Contains(string(data), text) || !strings.Contains(string(data), "$0.75") {
			t.Errorf("%s does not say %q and the cost: %v", format, text, err)
		}
	}
}

// TestCompletedRunIsHeldToItsGates: what it says was judged must still be what is there.
func TestCompletedRunIsHeldToItsGates(t *testing.T) {
	made := completed(t)
	verify := func() run.VerifyResult {
		v := must.Get(run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: made.ManifestPath}))(t)
		return v
	}
	if v := verify(); !v.Pass {
		t.Fatalf("%+v", v.Findings)
	}
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", "## Key Findings\n\nForged.\n")
	v := verify()
	stale := 0
	for _, f := range v.Findings {
		if f.Rule == "gate-stale" && f.Level == "error" && f.File == "synthesis/final-synthesis.md" {
			stale++
		}
	}
	if v.Pass || stale == 0 {
		t.Errorf("pass %v, %+v", v.Pass, v.Findings)
	}
}

// TestPassagesOfNumbersComeFirst: where there is no room for all, statements with numbers
// have theirs, a passage that two share counts once, and what is left out is counted.
func TestPassagesOfNumbersComeFirst(t *testing.T) {
	passage := func(start int) claim.Window {
		return claim.Window{CID: "a", Start: start, End: start + 40, Text: strings.Repeat("x", 40)}
	}
	all := []sentences.Statement{
		{Text: "Tugs are quiet.", Passage: passage(0)},
		{Text: "Tugs are many.", Passage: passage(100)},
		{Text: "There are 14 tugs.", Passage: passage(200)},
		{Text: "There are 14 of them.", Passage: passage(200)},
		{Text: "No page carries it."},
		{Text: "They cost 9 million.", Passage: passage(300)},
	}
	for most, want := range map[int]struct {
		texts string
		left  int
	}{
		0:   {"", 5},
		80:  {"There are 14 tugs.|There are 14 of them.|They cost 9 million.", 2},
		125: {"Tugs are quiet.|There are 14 tugs.|There are 14 of them.|They cost 9 million.", 1},
		160: {"Tugs are quiet.|Tugs are many.|There are 14 tugs.|There are 14 of them.|They cost 9 million.", 0},
	} {
		shown, left := sentences.WithPassages(all, most)
		var texts []string
		for _, s := range shown {
			texts = append(texts, s.Text)
		}
		if got := strings.Join(texts, "|"); got != want.texts || left != want.left {
			t.Errorf("%d bytes: %s, %d left out", most, got, left)
		}
	}
}
