package step_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestReportOfARun: complete and partial, in every format.
func TestReportOfARun(t *testing.T) {
	made := completed(t)
	r := runs.Open(t, made.ManifestPath)
	reported, err := step.ReadReport(t.Context(), r, false, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"markdown": "# What moves the tide?", "html": "<!DOCTYPE html>", "csl-json": `"type": "webpage"`, "bibtex": "@misc{", "ris": "TY  - ELEC",
	} {
		data, err := reported.Export(format)
		if err != nil || !strings.Contains(strings.ToLower(string(data)), strings.ToLower(want)) {
			t.Errorf("%s lacks %q: %v\n%.300s", format, want, err, data)
		}
		again, err := step.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test")
		if err != nil {
			t.Fatal(err)
		}
		if twice, _ := again.Export(format); string(twice) != string(data) {
			t.Errorf("%s is another one the second time", format)
		}
	}
	if len(reported.Records) != 1 || reported.Report.Parts[0].Claims[0].Quotations[0].Link == "" {
		t.Errorf("%+v", reported.Report.Parts[0].Claims)
	}
	under := citing(t, run.InitInput{}, outputOf(honest(1)...))
	runs.Put(t, under.Root, "perspectives.json", perspectivesDoc)
	_, err = step.ReadReport(t.Context(), runs.Open(t, under.ManifestPath), false, "tidegate test")
	runs.WantCode(t, err, tidegate.InvalidState)
	partial, err := step.ReadReport(t.Context(), runs.Open(t, under.ManifestPath), true, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
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
	reported, err := step.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	want := []synthesis.Agent{{Role: "researcher", Driver: "claude", Model: "m2", Version: "1.2", Answers: 2}, {Role: "writer", Driver: "by hand", Version: "1.2", Answers: 1},
		{Role: "reviewer", Driver: "codex", Version: "1.2", Answers: 1}}
	if diff := cmp.Diff(want, reported.Report.Agents); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(synthesis.Cost{InputTokens: 220, OutputTokens: 47, USD: 0.75, Priced: true}, reported.Report.Cost); diff != "" {
		t.Error(diff)
	}
	for format, text := range map[string]string{"html": "claude 1.2", "markdown": "claude 1.2"} {
		data, err := reported.Export(format)
		if err != nil || !strings.Contains(string(data), text) || !strings.Contains(string(data), "$0.75") {
			t.Errorf("%s does not say %q and the cost: %v", format, text, err)
		}
	}
}
