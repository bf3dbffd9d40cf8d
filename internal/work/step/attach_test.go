package step_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// saved is a page as a person saved it.
func saved(t *testing.T, title string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "saved.html")
	must.Do(t, os.WriteFile(path, []byte("<title>"+title+"</title>"+strings.Repeat(article, 3)), 0o600))
	return path
}

// TestTheLaterDecisionHolds attaches a file to a source, names another page for
// it, and attaches a file again.
func TestTheLaterDecisionHolds(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	gone := planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}
	other := honest(1)[0]
	made := citing(t, run.InitInput{}, outputOf(gone))
	web := planted.New()
	defer web.Close()
	fetch := fetcher(t, web)
	validate(t, made, fetch, sourcing.CitationsInput{})
	cid := records(t, made)[0].CID
	attach := func() {
		t.Helper()
		if out, err := sourcing.Attach(person, runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: cid[:12], FilePath: saved(t, gone.Title)}); err != nil || out.Status != "valid" || out.CID != cid {
			t.Fatalf("%+v %v", out, err)
		}
		validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
		if r := records(t, made)[0]; !r.Attached || r.ReplacedBy != "" {
			t.Errorf("%+v", r)
		}
	}
	attach()
	if out, err := sourcing.Replace(person, runs.Pinned, fetch, sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: cid, URL: other.URL}); err != nil || !out.Fetched {
		t.Fatalf("%+v %v", out, err)
	}
	validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
	if r := records(t, made)[0]; r.Attached || r.ReplacedBy != other.URL {
		t.Errorf("%+v", r)
	}
	attach()
}

// TestAReplacementHoldsBeforeItsPageIsThere: the decision is in the log before
// anything is archived, so that it still holds when the call is killed while it
// fetches the page, the first one of the run.
func TestAReplacementHoldsBeforeItsPageIsThere(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	cited, other := planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}, honest(1)[0]
	made := citing(t, run.InitInput{}, outputOf(cited))
	normalized, err := link.Normalize(cited.URL)
	if err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	_, err = sourcing.Replace(person, runs.Pinned, func(context.Context, []string, func([]*archive.Packed) error) error { return killed },
		sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: source.CID(normalized), URL: other.URL})
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	web := planted.New()
	defer web.Close()
	reach := fetcher(t, web)
	var asked []string
	out, err := sourcing.FetchSources(t.Context(), runs.Pinned, func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		asked = append(asked, urls...)
		return reach(ctx, urls, keep)
	}, sourcing.FetchInput{ManifestPath: made.ManifestPath})
	if err != nil || out.Missing != 0 || !slices.Equal(asked, []string{other.URL}) {
		t.Errorf("asked for %q: %+v %v", asked, out, err)
	}
	validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
	if r := records(t, made)[0]; r.URLOriginal != cited.URL || r.ReplacedBy != other.URL {
		t.Errorf("%+v", r)
	}
}

// TestOtherEvidenceEndsAFailureOfGateC: a run that waits for a person because of
// gate C goes on after the decision that removes the reason; a run that failed for
// another reason does not.
func TestOtherEvidenceEndsAFailureOfGateC(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	for gate, want := range map[string]run.Status{"C": run.Running, "B": run.Failed} {
		made := citing(t, run.InitInput{Sensitivity: "no_web"}, outputOf(planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}))
		validate(t, made, noFetch(t), sourcing.CitationsInput{})
		r := runs.Open(t, made.ManifestPath)
		must.Get(r.Update(t.Context(), func(u *run.Update) error {
			err := u.Fail(run.Failed, run.Failure{Kind: "needs_person", Stage: run.Citations, Message: "gate " + gate + " fails", Code: tidegate.GateBlocked, Gate: gate}, "test")
			return err
		}))(t)
		must.Get(sourcing.Attach(person, runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: records(t, made)[0].CID, FilePath: saved(t, "Nowhere")}))(t)
		m := runs.Open(t, made.ManifestPath).Manifest()
		if accepted := m.Failures()[0].Get("accepted_at") != nil; m.Status() != want || accepted != (want == run.Running) {
			t.Errorf("a failure of gate %s: the run is %s, accepted %v", gate, m.Status(), accepted)
		}
		if result, err := run.Verify(t.Context(), runClock, run.VerifyInput{ManifestPath: made.ManifestPath}); err != nil || !result.Pass {
			t.Errorf("%+v %v", result.Findings, err)
		}
	}
}

// TestABeginningOfACIDMustBeLongAndOneSources.
func TestABeginningOfACIDMustBeLongAndOneSources(t *testing.T) {
	made := citing(t, run.InitInput{}, outputOf(planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}))
	for _, cid := range []string{"", "cid_", "cid_0000000", "cid_00000000", "nowhere"} {
		_, err := sourcing.Attach(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: cid, FilePath: saved(t, "Nowhere")})
		runs.WantCode(t, err, tidegate.FileNotFound)
	}
}

// TestTwoCIDsThatBeginAlike: when an agent cites two pages whose cids begin with
// the same digits, neither gets a file that a person meant for the other.
func TestTwoCIDsThatBeginAlike(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	made := citing(t, run.InitInput{Sensitivity: "no_web"}, outputOf(
		planted.Page{URL: "https://example.org/16800", Title: "Tides"}, planted.Page{URL: "https://example.org/24772", Title: "Tides"}))
	validate(t, made, noFetch(t), sourcing.CitationsInput{})
	before := records(t, made)
	const alike = "cid_6d66eec5"
	if len(before) != 2 || !strings.HasPrefix(before[0].CID, alike) || !strings.HasPrefix(before[1].CID, alike) {
		t.Fatalf("%+v", before)
	}
	attach := func(cid string) error {
		_, err := sourcing.Attach(person, runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: cid, FilePath: saved(t, "Tides")})
		return err
	}
	runs.WantCode(t, attach(alike), tidegate.InvalidArgs)
	must.Do(t, attach(before[1].CID[:len(alike)+8]))
	validate(t, made, noFetch(t), sourcing.CitationsInput{})
	if after := records(t, made); after[0].Attached || !after[1].Attached {
		t.Errorf("%+v", after)
	}
}

// TestAPageThatCanBeUsedStays: a source whose own page was fetched and can be used gets
// other evidence only when a person says so, with a reason, and the decision says it.
func TestAPageThatCanBeUsedStays(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	pages := honest(2)
	made := citing(t, run.InitInput{}, outputOf(pages[0]))
	web := planted.New()
	defer web.Close()
	fetch := fetcher(t, web)
	validate(t, made, fetch, sourcing.CitationsInput{})
	cid := records(t, made)[0].CID
	attach := func(over bool, reason string) error {
		_, err := sourcing.Attach(person, runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: cid, FilePath: saved(t, pages[0].Title), Over: over, Reason: reason})
		return err
	}
	replace := func(over bool, reason string) error {
		_, err := sourcing.Replace(person, runs.Pinned, fetch, sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: cid, URL: pages[1].URL, Over: over, Reason: reason})
		return err
	}
	for _, decide := range []func(bool, string) error{attach, replace} {
		refused := runs.WantCode(t, decide(false, "better"), tidegate.InvalidState)
		if !strings.Contains(refused.Message, "--over with --reason") {
			t.Errorf("nobody reads what to add: %s", refused.Message)
		}
		runs.WantCode(t, decide(true, " "), tidegate.InvalidArgs)
	}
	for _, decide := range []func(bool, string) error{attach, replace} {
		must.Do(t, decide(true, "the page was cut short"))
		runs.WantCode(t, decide(false, "once more"), tidegate.InvalidState) // its own page is still there
	}
	decided, err := runs.Open(t, made.ManifestPath).Decisions()
	if err != nil || len(decided) != 2 || decided[0].What != run.AttachedPage || decided[1].What != run.ReplacedPage {
		t.Fatalf("%+v %v", decided, err)
	}
	for _, d := range decided {
		if text := d.String(); !strings.Contains(text, cid+", over one that was fetched and could be used: ") || !strings.HasSuffix(text, "“the page was cut short” (not signed)") {
			t.Error(text)
		}
	}
}
