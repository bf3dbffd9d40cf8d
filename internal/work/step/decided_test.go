package step_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestDecisionsShow: what a person decided stands in what verify answers and in the
// report, in one line.
func TestDecisionsShow(t *testing.T) {
	made := completed(t)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	scope := must.Read(t, made.Root+"/operator/scope.json")
	runs.Put(t, made.Root, "operator/scope.json", scope+"\n")
	must.Get(run.AcceptRecord(person, runs.Pinned, run.AcceptInput{ManifestPath: made.ManifestPath, Reason: "a line *more*"}))(t)
	v := must.Get(run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: made.ManifestPath}))(t)
	last := v.Decisions[len(v.Decisions)-1]
	if last.What != run.AcceptedRecord || last.About != "operator/scope.json" || !last.Overrides() || last.Signed {
		t.Fatalf("%+v", v.Decisions)
	}
	day, _, _ := strings.Cut(last.At, "T")
	line := day + ": a person accepted files that were not as the log recorded them: operator/scope.json, “a line *more*” (not signed)"
	if last.String() != line {
		t.Errorf("%s, want %s", last, line)
	}
	reported := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), false, "tidegate test"))(t)
	if md := string(reported.Report.Markdown()); !strings.Contains(md, "\n## Decisions by people\n") || !strings.Contains(md, `“a line \*more\*”`) {
		t.Errorf("the report in Markdown does not list it:\n%s", md)
	}
	if html := string(reported.Report.HTML()); !strings.Contains(html, `<h2 id="decisions-title">Decisions by people</h2>`) || !strings.Contains(html, line) {
		t.Error("the report in HTML does not list it")
	}
}

// TestConfinementShows: how agents were kept stands in the policy, the log, verify and the
// report, and that they were not is a decision.
func TestConfinementShows(t *testing.T) {
	kept := run.Confinement{Mode: run.ModeConfined, System: "linux", ABI: 7, Network: "model; web"}
	made := runs.Create(t, run.InitInput{Asked: run.Asked{Confinement: kept}})
	r := runs.Open(t, made.ManifestPath)
	if policy, err := r.Policy(); err != nil || policy.Confinement != kept {
		t.Fatalf("%+v %v", policy.Confinement, err)
	}
	for range 2 {
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			return u.SetConfinement(run.Confinement{Mode: run.ModeUnconfined, System: "linux"})
		}))(t)
	}
	v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: made.ManifestPath})
	if err != nil || !v.Pass || len(v.Confinements) != 2 || v.Confinements[0] != kept || v.Confinements[1].Mode != run.ModeUnconfined {
		t.Fatalf("%+v %+v %v", v.Findings, v.Confinements, err)
	}
	if len(v.Decisions) != 2 || v.Decisions[0].What != run.Unconfined {
		t.Errorf("%+v", v.Decisions)
	}
	reported := must.Get(reporting.ReadReport(t.Context(), runs.Open(t, made.ManifestPath), true, "tidegate test"))(t)
	for _, text := range []string{string(reported.Report.Markdown()), string(reported.Report.HTML())} {
		for _, want := range []string{"Agents are confined to cells", "Landlock ABI 7", "network: model; web", "Agents are not confined"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report does not say %q", want)
			}
		}
	}
}
