package step_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
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

// TestALeadHasNoPassage: a sentence that leads to the cited one, and has none of the words of its
// page, is shown without a passage; one with a number, or with a citation of its own, is not.
func TestALeadHasNoPassage(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	r := runs.OpenAt(t, runs.Pinned, made.ManifestPath)
	runs.Put(t, made.Root, r.Summary("led"), "Zebras quarrel. Zebras quarrel 93 times. Zebras sleep [@"+list[0].CID+"].\n")
	found := must.Get(sentences.ReadStatements(t.Context(), r, []string{"led"}))(t)
	var with []bool
	for _, s := range found {
		with = append(with, s.Passage.Text != "")
	}
	if !slices.Equal(with, []bool{false, true, true}) {
		t.Errorf("with a passage: %v of %+v", with, found)
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

func TestAReportNeverReplacesWhatARunConsistsOf(t *testing.T) {
	r := reviewed(t)
	dir := filepath.Join(r.root, "wave-1")
	review := func(name string) error {
		_, err := step.ReviewWave(t.Context(), runClock, step.WaveReviewInput{PerspectivesPath: r.perspectives, OutputsDir: dir, MaxFailures: 25, ReportPath: filepath.Join(r.root, name)})
		return err
	}
	for name, content := range map[string]string{
		"wave-1/other.md": "an output of another perspective", "wave-1/a.meta.json": "{}", "wave-2/x.md": "x", "summaries/a.md": "x", "logs/old.jsonl": "x",
	} {
		must.Do(t, os.WriteFile(filepath.Join(r.root, name), []byte(content), 0o600))
	}
	for target, name := range map[string]string{"manifest.json": "link.json", "wave-1": "same"} {
		if err := os.Symlink(target, filepath.Join(r.root, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for _, name := range []string{
		"link.json", "same/other.md", "manifest.json", "gates.json", "logs/audit.jsonl", "run-config/policy.json", "operator/scope.json", "pivot.json", "wave-1/wave1-plan.json",
		"summaries/summary-pack.json", "citations/citations.jsonl", "synthesis/final-synthesis.md", "wave-2/../manifest.json",
		"wave-1/other.md", "wave-1/a.meta.json", "wave-2/x.md", "summaries/a.md", "logs/old.jsonl",
	} {
		before, missing := os.ReadFile(filepath.Join(r.root, name))
		if err := review(name); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("report_path %s: got %v", name, err)
		}
		after, err := os.ReadFile(filepath.Join(r.root, name))
		if string(after) != string(before) || (err == nil) != (missing == nil) {
			t.Errorf("%s was changed", name)
		}
	}
	for _, name := range []string{"again.json", "wave-1/review.json"} {
		if err := review(name); tidegate.CodeOf(err) != tidegate.PathNotAllowed {
			t.Errorf("report_path %s: %v", name, err)
		}
	}
	if err := review("wave-review.json"); err != nil {
		t.Error(err)
	}
	// A run that cannot be opened keeps its record.
	must.Do(t, os.WriteFile(filepath.Join(r.root, "manifest.json"), []byte("{"), 0o600))
	for _, name := range []string{"manifest.json", "gates.json", "logs/audit.jsonl"} {
		before := r.read(name)
		if err := review(name); err == nil || r.read(name) != before {
			t.Errorf("spoilt run, report_path %s: got %v", name, err)
		}
	}
}

func TestReportFileHoldsTheResult(t *testing.T) {
	perspectives, outputs := mixed(t)
	path := filepath.Join(filepath.Dir(outputs), "wave-review.json")
	for range 2 {
		result := must.Get(step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
			PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25, ReportPath: path,
		}))(t)
		if result.ReportPath == nil || *result.ReportPath != path {
			t.Errorf("report_path %v", result.ReportPath)
		}
		got := must.Get(os.ReadFile(path))(t)
		if want := marshal(t, result) + "\n"; !bytes.Equal(got, []byte(want)) {
			t.Errorf("the report differs from the result (-want +got):\n%s", cmp.Diff(want, string(got)))
		}
	}
}

func TestReportThatCannotBeWritten(t *testing.T) {
	perspectives, outputs := many(t, 2)
	dir := filepath.Dir(outputs)
	readOnly := filepath.Join(dir, "read-only")
	must.Do(t, os.Mkdir(readOnly, 0o500))
	folder := filepath.Join(dir, "folder")
	must.Do(t, os.Mkdir(folder, 0o700))
	for _, test := range []struct {
		name, path string
		code       tidegate.Code
	}{
		{"a missing folder", filepath.Join(dir, "absent", "report.json"), tidegate.WriteFailed},
		{"a folder in its place", folder, tidegate.WriteFailed},
		{"a folder, with a slash", folder + "/", tidegate.WriteFailed},
		{"a path through a file", perspectives + "/report.json", tidegate.WriteFailed},
		{"a name that is too long", filepath.Join(dir, strings.Repeat("x", 300)), tidegate.WriteFailed},
		{"a folder without permission", filepath.Join(readOnly, "report.json"), tidegate.WriteFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasPrefix(test.path, readOnly) && os.Getuid() == 0 {
				t.Skip("root may write everywhere")
			}
			before := must.Tree(t, dir)
			_, err := step.ReviewWave(t.Context(), runs.Pinned, step.WaveReviewInput{
				PerspectivesPath: perspectives, OutputsDir: outputs, MaxFailures: 25, ReportPath: test.path,
			})
			if code := tidegate.CodeOf(err); code != test.code {
				t.Errorf("code %s, want %s (%v)", code, test.code, err)
			}
			if path, _ := tidegate.AsError(err).Details.Get("report_path"); path != test.path {
				t.Errorf("details.report_path %q, want %q", path, test.path)
			}
			if diff := cmp.Diff(before, must.Tree(t, dir)); diff != "" {
				t.Errorf("something was left behind (-before +after):\n%s", diff)
			}
		})
	}
}

// TestARunIsReadWhereNothingCanBeWritten, such as on a disk that turned read-only.
func TestARunIsReadWhereNothingCanBeWritten(t *testing.T) {
	made := completed(t)
	read := func() []string {
		status := must.Get(stage.Status(t.Context(), runs.Pinned, made.ManifestPath))(t)
		verified := must.Get(run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: made.ManifestPath}))(t)
		reported := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test"))(t)
		return []string{marshal(t, status), marshal(t, verified), string(must.Get(reported.Export(t.Context(), "markdown", nil))(t))}
	}
	before := read()
	allow := func(file, folder os.FileMode) {
		must.Do(t, filepath.WalkDir(made.Root, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				return os.Chmod(path, folder)
			} else if err == nil {
				err = os.Chmod(path, file)
			}
			return err
		}))
	}
	allow(0o400, 0o500)
	t.Cleanup(func() { allow(0o600, 0o700) })
	if os.WriteFile(filepath.Join(made.Root, "gates.json"), nil, 0o600) == nil {
		t.Skip("this user writes to what it may not write to")
	}
	if diff := cmp.Diff(before, read()); diff != "" {
		t.Errorf("it is read otherwise (-before +after):\n%s", diff)
	}
}
