package step_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
)

func TestBuildWritesSummariesAndPack(t *testing.T) {
	r := newPackRun(t)
	result := r.mustBuild()
	want := step.PackResult{SummaryPackPath: r.path("summaries/summary-pack.json"), SummariesDir: r.path("summaries"), SummaryCount: 2, InputsDigest: result.InputsDigest}
	got := must.Get(codec.Marshal(result))(t)
	wantJSON := must.Get(codec.Marshal(want))(t)
	if diff := cmp.Diff(string(wantJSON), string(got)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got, want := r.read("summaries/p1.md"), "## Findings\n\n- Fuel use fell by a third [@cid_a].\n"; got != want {
		t.Errorf("p1.md is %q", got)
	}
	wantPack := `{
  "schema_version": "summary_pack.v1",
  "run_id": "r1",
  "generated_at": "2026-02-14T12:00:00.000Z",
  "inputs_digest": "` + result.InputsDigest + `",
  "limits": {
    "max_summary_kb": 5,
    "max_total_summary_kb": 60
  },
  "summaries": [
    {
      "perspective_id": "p1",
      "source_artifact": "wave-1/p1.md",
      "summary_md": "summaries/p1.md",
      "summary_digest": "` + codec.DigestBytes([]byte(r.read("summaries/p1.md"))) + `",
      "key_claims": [
        {
          "claim": "Fuel use fell by a third.",
          "citation_cids": [
            "cid_a"
          ],
          "confidence": 100
        }
      ]
    },
    {
      "perspective_id": "p2",
      "source_artifact": "wave-1/p2.md",
      "summary_md": "summaries/p2.md",
      "summary_digest": "` + codec.DigestBytes([]byte(r.read("summaries/p2.md"))) + `",
      "key_claims": [
        {
          "claim": "Prices doubled.",
          "citation_cids": [
            "cid_b"
          ],
          "confidence": 60
        }
      ]
    }
  ],
  "total_estimated_tokens": 19
}
`
	if diff := cmp.Diff(wantPack, r.read("summaries/summary-pack.json")); diff != "" {
		t.Errorf("pack (-want +got):\n%s", diff)
	}
	if err := synthesis.PackShape().Check(r.pack()); err != nil {
		t.Error(err)
	}
}

func TestBuildLogsAnAuditLine(t *testing.T) {
	r := newPackRun(t)
	result := r.mustBuild(func(req *step.PackInput) { req.Reason = "  because \n" })
	lines := r.auditLines()
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	line := lines[0]
	for key, want := range map[string]string{"kind": "summary_pack_build", "run_id": "r1", "reason": "because", "inputs_digest": result.InputsDigest, "ts": "2026-02-14T12:00:00.000Z"} {
		if got := line.Get(key).Str(); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if n, _ := line.Get("summary_count").Int(); n != 2 {
		t.Errorf("summary_count is %d", n)
	}
}

func TestAuditLineIsBestEffort(t *testing.T) {
	r := newPackRun(t)
	r.write("logs", "no folder")
	r.mustBuild()
	r.pack()
}

func TestBuildTakesItsPathsFromTheManifest(t *testing.T) {
	r := newPackRun(t)
	r.manifest(`{"schema_version":"manifest.v1","run_id":"r1","limits":{"max_summary_kb":5,"max_total_summary_kb":60},
		"artifacts":{"root":"` + r.root + `","paths":{"perspectives_file":"in/who.json","citations_file":"in/pool.jsonl","summaries_dir":"out/s","summary_pack_file":"out/pack.json"}}}`)
	r.write("in/who.json", twoPerspectives)
	r.write("in/pool.jsonl", pool)
	for _, name := range []string{"perspectives.json", "citations/citations.jsonl"} {
		must.Do(t, os.Remove(r.path(name)))
	}
	result := r.mustBuild()
	if result.SummariesDir != r.path("out/s") || result.SummaryPackPath != r.path("out/pack.json") {
		t.Errorf("got %s and %s", result.SummariesDir, result.SummaryPackPath)
	}
	doc := must.Get(codec.Parse([]byte(r.read("out/pack.json"))))(t)
	if got := doc.Get("summaries").Elems()[0].Get("summary_md").Str(); got != "out/s/p1.md" {
		t.Errorf("summary_md is %q, want a path relative to the run root", got)
	}
	r.read("out/s/p1.md")
}

func TestBuildTakesItsPathsFromArguments(t *testing.T) {
	r := newPackRun(t)
	r.write("a/who.json", `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","source_artifact":"deep/p1.md"}]}`)
	elsewhere := filepath.Join(t.TempDir(), "pool.jsonl")
	writeFile(t, elsewhere, pool)
	result := r.mustBuild(func(req *step.PackInput) {
		req.PerspectivesPath, req.CitationsPath = r.path("a/who.json"), elsewhere
		req.SummariesDir, req.SummaryPackPath = r.path("x/y")+"/", r.path("z/pack.json")
	})
	if result.SummariesDir != r.path("x/y") {
		t.Errorf("summaries_dir is %q, want it without the slash", result.SummariesDir)
	}
	doc := must.Get(codec.Parse([]byte(r.read("z/pack.json"))))(t)
	entry := doc.Get("summaries").Elems()[0]
	if entry.Get("summary_md").Str() != "x/y/p1.md" || entry.Get("source_artifact").Str() != "deep/p1.md" {
		t.Errorf("got %s", entry.Get("summary_md").Str())
	}
}

func TestDryRunChecksEverythingAndWritesNothing(t *testing.T) {
	r := newPackRun(t)
	r.mustBuild()
	r.fixture("p1", "Another text [@cid_b].\n")
	before := r.tree()
	result := r.mustBuild(dryRun)
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("a dry run changed files (-before +after):\n%s", diff)
	}
	envelope := must.Get(codec.MarshalLine(result))(t)
	if !strings.HasSuffix(string(envelope), `,"dry_run":true}`) {
		t.Errorf("the result does not say that nothing was written: %s", envelope)
	}
	if written := r.mustBuild(); written.InputsDigest != result.InputsDigest {
		t.Error("the dry run promised another digest")
	}
	r.fixture("p1", "www.x.org")
	if _, err := r.build(dryRun); tidegate.CodeOf(err) != tidegate.RawURLNotAllowed {
		t.Errorf("got %v", err)
	}
}

func TestDryRunOfAFreshRunMakesNoLock(t *testing.T) {
	r := newPackRun(t)
	r.mustBuild(dryRun)
	entries := must.Get(os.ReadDir(r.root))(t)
	if len(entries) != 3 {
		t.Errorf("the run has %v", entries)
	}
}

func TestSummariesOfEarlierBuildsStay(t *testing.T) {
	// A reader who has the old pack in hand must still find its summaries.
	r := newPackRun(t)
	r.mustBuild()
	r.write("perspectives.json", `{"schema_version":"perspectives.v1","perspectives":[{"id":"p2"}]}`)
	r.mustBuild()
	r.read("summaries/p1.md")
	if n := r.pack().Get("summaries").Len(); n != 1 {
		t.Errorf("the pack lists %d summaries", n)
	}
}

func TestPerspectivesAreInByteOrder(t *testing.T) {
	r := newPackRun(t)
	ids := []string{"p10", "p2", "P2", "p_1", "p-1", "é", "p1"}
	var entries []string
	for _, id := range ids {
		entries = append(entries, `{"id":"`+id+`"}`)
		r.fixture(id, "Text.\n")
	}
	r.write("perspectives.json", `{"schema_version":"perspectives.v1","perspectives":[`+strings.Join(entries, ",")+`]}`)
	r.mustBuild()
	var got []string
	for _, entry := range r.pack().Get("summaries").Elems() {
		got = append(got, entry.Get("perspective_id").Str())
	}
	if diff := cmp.Diff([]string{"P2", "p-1", "p1", "p10", "p2", "p_1", "é"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, id := range ids { // the first refusal is in the same order
		r.fixture(id, "http://x.org")
	}
	_, err := r.build()
	if id, _ := tidegate.AsError(err).Details.Get("perspective_id"); id != "P2" {
		t.Errorf("got %v, want a refusal of P2", err)
	}
}

func TestBuildStopsWithItsCaller(t *testing.T) {
	r := newPackRun(t)
	r.mustBuild()
	r.fixture("p1", "New.\n")
	before := r.tree()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := step.BuildPack(ctx, runs.Pinned, r.request(func(req *step.PackInput) { req.Progress = func(int, int) { cancel() } }))
	if tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, r.tree()); diff != "" {
		t.Errorf("a cancelled build changed files (-before +after):\n%s", diff)
	}
}

func TestPackShapeRefuses(t *testing.T) {
	r := newPackRun(t)
	r.mustBuild()
	good := r.read("summaries/summary-pack.json")
	for _, test := range []struct{ old, new, path string }{
		{`"summary_pack.v1"`, `"summary_pack.v2"`, "$.schema_version"},
		{`"max_summary_kb": 5`, `"max_summary_kb": -5`, "$.limits.max_summary_kb"},
		{`"run_id": "r1"`, `"run_id": " "`, "$.run_id"},
		{`"summaries/p2.md"`, `3`, "$.summaries[1].summary_md"},
		{`"cid_b"`, `""`, "$.summaries[1].key_claims[0].citation_cids[0]"},
		{`"summaries": [`, `"summaries": [], "more": [`, "$.summaries"},
		{`"total_estimated_tokens": 19`, `"total_estimated_tokens": 1.5`, "$.total_estimated_tokens"},
	} {
		spoilt := strings.Replace(good, test.old, test.new, 1)
		if spoilt == good {
			t.Fatalf("the pack has no %s", test.old)
		}
		doc := must.Get(codec.Parse([]byte(spoilt)))(t)
		refusedWith(t, synthesis.PackShape().Check(doc), `SCHEMA_VALIDATION_FAILED {"path":"`+test.path+`"}`, test.path)
	}
}
