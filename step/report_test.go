package step_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/step"
)

// TestReportOfARun: complete and partial, in every format.
func TestReportOfARun(t *testing.T) {
	made := completed(t)
	r := open(t, made.ManifestPath)
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
		again, err := step.ReadReport(t.Context(), open(t, made.ManifestPath), false, "tidegate test")
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
	put(t, under.Root, "perspectives.json", perspectivesDoc)
	_, err = step.ReadReport(t.Context(), open(t, under.ManifestPath), false, "tidegate test")
	wantCode(t, err, tidegate.InvalidState)
	partial, err := step.ReadReport(t.Context(), open(t, under.ManifestPath), true, "tidegate test")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(partial.Report.Markdown()), "\n")
	if !strings.Contains(strings.ToLower(first), "partial") || len(partial.Report.Parts) != 1 || partial.Report.Parts[0].Title != "T" {
		t.Errorf("%q %+v", first, partial.Report.Parts)
	}
}
