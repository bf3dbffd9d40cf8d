package review_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// schemas is where other people's schemas lie beside a checkout.
const schemas = "../../shared/schemas"

func render(t *testing.T, format string, r report.Report) []byte {
	t.Helper()
	f, ok := report.Lookup(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var out bytes.Buffer
	must.Do(t, f.Write(&out, r, report.Options{Version: "1.2.3", Root: "/project"}))
	return out.Bytes()
}

func shownSample(v review.Verdict) review.Shown {
	return review.Show("/project/agentd/changes/add-cache/REVIEW.md", review.Format(sample(v), []string{"a warning"}))
}

func TestGoldenReports(t *testing.T) {
	for _, f := range report.Formats() {
		golden.Check(t, "testdata/report/needs_fix."+f.Name, render(t, f.Name, shownSample(review.NeedsFix).Report()))
	}
}

// TestPassAndWantingFixesAreNotBothSaid: where no finding counts although the reviewer wants
// fixes, no format says pass, and none says that there are no issues; what is grave and
// refuted passes nothing before a person has looked.
func TestPassAndWantingFixesAreNotBothSaid(t *testing.T) {
	p := sample(review.NeedsFix)
	p.TestResults = nil
	p.Issues = p.Issues[:2]
	p.Issues[0].Severity, p.Issues[1].Severity = review.Medium, review.Medium
	shown := func(decision string, severity review.Severity) review.Shown {
		p.Issues[0].Severity = severity
		found := review.Identify(p.Issues)
		for i := range found {
			found[i].Decision = decision
		}
		return review.Show("/REVIEW.md", review.FormatFindings(p, found, nil))
	}
	for _, f := range report.Formats() {
		if out := string(render(t, f.Name, shown(review.DecidedRefuted, review.Medium).Report())); strings.Contains(out, "pass") || strings.Contains(out, "no issues") {
			t.Errorf("%s:\n%s", f.Name, out)
		}
	}
	for decision, passes := range map[string]bool{review.DecidedRefuted: false, review.DecidedDismissed: true} {
		if s := shown(decision, review.High); s.Passed() != passes {
			t.Errorf("%s: it passes: %v", decision, s.Passed())
		}
	}
}

func TestReportOfAHandWrittenFileCountsNoIssues(t *testing.T) {
	r := review.Show("/REVIEW.md", []byte("# Verdict: APPROVED\n\n## Verdict\n\nAPPROVED\n\n## Issues\n\n- HIGH: it leaks\n")).Report()
	if r.Status != report.Pass || !strings.Contains(r.Summary, "only the verdict") {
		t.Errorf("status %v, summary %q", r.Status, r.Summary)
	}
	for _, c := range r.Cases {
		if c.Status == report.Fail {
			t.Errorf("case %s fails, but the review passed", c.Name)
		}
	}
}

func TestExportsFollowTheirSchemas(t *testing.T) {
	for format, name := range map[string]string{"sarif": "sarif-schema-2.1.0.json", "rdjson": "rdjson-DiagnosticResult.json"} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(schemas, name)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("%s is absent", path)
			}
			schema := must.Get(jsonschema.NewCompiler().Compile(path))(t)
			for i, text := range hostile {
				if blank(text) {
					continue
				}
				p := sample(verdicts[i%3])
				for _, field := range fields {
					field.set(&p, text)
				}
				shown := review.Show("REVIEW.md", review.Format(p, nil))
				document, err := jsonschema.UnmarshalJSON(bytes.NewReader(render(t, format, shown.Report())))
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if err := schema.Validate(document); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			}
		})
	}
}

// TestJSONIsLossFree rebuilds the payload from the JSON of a shown review.
func TestJSONIsLossFree(t *testing.T) {
	want := review.Clean(sample(review.NeedsFix))
	data := must.Get(codec.Marshal(shownSample(review.NeedsFix)))(t)
	var got review.Payload
	must.Do(t, json.Unmarshal(data, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("payload from JSON (-want +got):\n%s", diff)
	}
}

func TestSARIFHoldsEveryIssue(t *testing.T) {
	sarif := string(render(t, "sarif", shownSample(review.MajorIssues).Report()))
	for _, issue := range sample(review.MajorIssues).Issues {
		for _, text := range []string{issue.Title, issue.Description, issue.Recommendation, issue.Category, issue.File} {
			quoted := must.Get(codec.MarshalLine(text))(t)
			if !strings.Contains(sarif, strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s is not in the SARIF document:\n%s", quoted, sarif)
			}
		}
	}
}

func TestLevelsFollowSeverities(t *testing.T) {
	p := sample(review.NeedsFix)
	p.Issues = append(p.Issues, review.Issue{Title: "t", Severity: review.Low, Category: "Style", Description: "d"})
	var levels []report.Level
	for _, f := range review.Show("REVIEW.md", review.Format(p, nil)).Report().Cases[0].Findings {
		levels = append(levels, f.Level)
	}
	want := []report.Level{report.LevelError, report.LevelWarning, report.LevelNote}
	if diff := cmp.Diff(want, levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

func TestDiffReport(t *testing.T) {
	d := review.Diff(sample(review.NeedsFix).Issues[:1], sample(review.NeedsFix).Issues[1:])
	text := string(render(t, "text", d.Report()))
	for _, want := range []string{"1 new, 0 still there, 1 gone", "Race on the map", "Cache is never emptied"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
