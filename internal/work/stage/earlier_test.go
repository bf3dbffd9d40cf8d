package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// earlier is a run as the earlier system leaves it: no chain in its log, a blank
// reason in its history, a pivot file in the old form, the lease and the marker
// of a tick that was killed.
func earlier(t *testing.T) *toy {
	t.Helper()
	const id = "dr_20260110093000_k3x9ab"
	home := t.TempDir()
	root := filepath.Join(home, id)
	value := must.Get(os.ReadFile("testdata/earlier/perspectives.json"))(t)
	fill := strings.NewReplacer("@ROOT@", root, "@HOME@", home, "@PERSPECTIVES@", codec.Digest(runs.Parse(t, string(value))))
	y := &toy{t: t, root: root, files: run.InitResult{ManifestPath: filepath.Join(root, "manifest.json"), GatesPath: filepath.Join(root, "gates.json")}}
	for name, content := range must.Tree(t, "testdata/earlier") {
		if content != "folder" {
			y.put(strings.Replace(name, "earlier.lock", ".lock", 1), fill.Replace(content))
		}
	}
	return y
}

func TestRunOfTheEarlierSystemIsJudgedAgain(t *testing.T) {
	y := earlier(t)
	status, err := stage.Status(t.Context(), runs.Pinned, y.files.ManifestPath)
	if err != nil || status.Stage != run.Pivot || status.Gates[1].Status != "pass" || status.Gates[1].Counts != "not_run" || len(status.WaitingFor) == 0 {
		t.Fatalf("%+v, %v", status, err)
	}
	v, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: y.files.ManifestPath, Follows: stage.Follows})
	if err != nil || !v.Pass || v.Log.Unchained != 4 {
		t.Fatalf("verify %+v, %v", v, err)
	}
	_, err = y.advance(run.Citations)
	if codes := codesOf(t, err); !strings.Contains(codes, "GATE_BLOCKED") {
		t.Errorf("it moves on by a gate that nobody judged here: %s", codes)
	}
	must.Do(t, y.progress())
	if note := y.manifest().Get("metrics").Get("house").Get("note").Str(); note == "" {
		t.Error("a field that only the house knows was lost")
	}
	if got := runs.Parse(t, y.read("gates.json")).Get("gates").Get("B").Get("status").Str(); got != "not_run" {
		t.Errorf("the first write of ours leaves gate B %s", got)
	}
	v, err = run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: y.files.ManifestPath, Follows: stage.Follows})
	if err != nil || !v.Pass || v.Log.Lines != 7 || v.Log.Unchained != 4 || v.Log.Broken != 0 {
		t.Errorf("the chain was not taken up: %+v, %v", v, err)
	}
	y.put("perspectives.json", "{}")
	runs.WantCode(t, y.progress(), tidegate.Tampered)
}

// TestAPassCountsForItsSynthesisAndByItsAuthor: outside legacy runs, a review lets a
// run end only if it is about the synthesis that stands there, and was made by a
// review job or a person.
func TestAPassCountsForItsSynthesisAndByItsAuthor(t *testing.T) {
	y := earlier(t)
	const text = "## Summary\n"
	y.put("manifest.json", strings.Replace(y.read("manifest.json"), `"current": "pivot"`, `"current": "review"`, 1))
	y.put("synthesis/final-synthesis.md", text)
	digest := codec.DigestBytes([]byte(text))
	for bundle, want := range map[string]string{
		`"synthesis_digest":"` + digest + `","made_by":{"actor":"person"}`:                                "",
		`"synthesis_digest":"` + digest + `","made_by":{"actor":"agent","job_id":"review.2","attempt":1}`: "",
		`"synthesis_digest":"` + digest + `","made_by":{"actor":"rule"}`:                                  "the review comes from neither a review job nor a person",
		`"synthesis_digest":"sha256:other","made_by":{"actor":"person"}`:                                  "the review is about another synthesis",
		`"findings":[]`: "the review does not say which synthesis it is about",
	} {
		y.put("review/review-bundle.json", `{"decision":"PASS",`+bundle+`}`)
		_, err := y.advance(run.Finalize)
		got := ""
		for _, b := range blockersOf(t, err) {
			if b.Code == tidegate.MissingArtifact {
				got = codec.Of(b.Details).Get("problem").Str()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", bundle, got, want)
		}
	}
}

// The earlier system's own rules for its documents, as far as they go beyond
// ours: what we write must pass them, so that it can take over a run again.
func TestWhatWeWriteTheEarlierSystemReads(t *testing.T) {
	y := newToy(t, run.InitInput{}).to(run.Finalize)
	m := y.manifest()
	var keys []string
	for _, member := range m.Members() {
		keys = append(keys, member.Key)
	}
	want := "schema_version run_id created_at updated_at revision query mode status stage limits agents artifacts metrics failures"
	if diff := cmp.Diff(want, strings.Join(keys, " ")); diff != "" {
		t.Error(diff)
	}
	for i, h := range m.Get("stage").Get("history").Elems() {
		for _, key := range []string{"from", "to", "ts", "reason", "inputs_digest"} {
			if strings.TrimSpace(h.Get(key).Str()) == "" {
				t.Errorf("history[%d].%s is blank", i, key)
			}
		}
		if _, ok := h.Get("gates_revision").Int(); !ok {
			t.Errorf("history[%d].gates_revision is not an integer", i)
		}
	}
	for _, key := range []string{"wave1_dir", "wave2_dir", "citations_dir", "summaries_dir", "synthesis_dir", "logs_dir",
		"gates_file", "perspectives_file", "citations_file", "summary_pack_file", "pivot_file"} {
		if m.Get("artifacts").Get("paths").Get(key).Str() == "" {
			t.Errorf("artifacts.paths.%s is blank", key)
		}
	}
	for _, g := range runs.Parse(t, y.read("gates.json")).Get("gates").Members() {
		if len(g.Value.Members()) != 9 || g.Value.Get("status").Str() != "not_run" && g.Value.Get("checked_at").Str() == "" {
			t.Errorf("gate %s: %v", g.Key, g.Value)
		}
	}
}
