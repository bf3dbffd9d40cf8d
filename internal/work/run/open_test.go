package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

func manifestAt(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.json")
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestOpenDemandsOnlyWhatIsUsedAndTheTypesOfTheRest(t *testing.T) {
	for _, tt := range []struct {
		name, manifest string
		uses           []string
		code           tidegate.Code
		detail         string
	}{
		{"the least", `{"schema_version":"manifest.v1","run_id":"r1"}`, nil, "", ""},
		{"byte-order mark", "\ufeff" + `{"schema_version":"manifest.v1","run_id":"r1"}`, nil, "", ""},
		{"unused may break its rule", `{"schema_version":"manifest.v1","run_id":"r1","mode":"warp","limits":{"max_summary_kb":-1}}`, nil, "", ""},
		{"unused of the wrong type", `{"schema_version":"manifest.v1","run_id":"r1","limits":[]}`, nil, tidegate.SchemaValidationFailed, "$.limits"},
		{"used and absent", `{"schema_version":"manifest.v1","run_id":"r1"}`, []string{"limits.max_summary_kb"}, tidegate.SchemaValidationFailed, "$.limits"},
		{"used and there", `{"schema_version":"manifest.v1","run_id":"r1","limits":{"max_summary_kb":0.5}}`, []string{"limits.max_summary_kb"}, "", ""},
		{"no run id", `{"schema_version":"manifest.v1"}`, nil, tidegate.SchemaValidationFailed, "$.run_id"},
		{"another document", `{"schema_version":"gates.v1"}`, nil, tidegate.SchemaValidationFailed, "$.schema_version"},
		{"a later manifest", `{"schema_version":"manifest.v2","run_id":"r1"}`, nil, tidegate.SchemaValidationFailed, "$.schema_version"},
		{"no object", `[]`, nil, tidegate.SchemaValidationFailed, "$"},
		{"no JSON", `{"a":1,}`, nil, tidegate.InvalidJSON, ""},
		{"duplicate key", `{"run_id":"a","run_id":"b"}`, nil, tidegate.InvalidJSON, ""},
		{"invalid UTF-8", "{\"run_id\":\"\xff\"}", nil, tidegate.InvalidJSON, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := manifestAt(t, tt.manifest)
			r, err := run.Open(t.Context(), runs.Pinned, path, tt.uses...)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if r.ID() != "r1" || r.Root() != filepath.Dir(path) || r.Layout().Pivot != "pivot.json" {
					t.Errorf("got %q in %s, %+v", r.ID(), r.Root(), r.Layout())
				}
				return
			}
			e := runs.WantCode(t, err, tt.code)
			want := tidegate.Pairs("path", tt.detail)
			if tt.code == tidegate.InvalidJSON {
				want = tidegate.Pairs("manifest_path", path)
			}
			if diff := cmp.Diff(want, e.Details); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenNamesTheFileThatIsMissing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "manifest.json")
	_, err := run.Open(t.Context(), runs.Pinned, missing)
	if e := runs.WantCode(t, err, tidegate.FileNotFound); !cmp.Equal(e.Details, tidegate.Pairs("manifest_path", missing)) {
		t.Errorf("details %v", e.Details)
	}
	_, err = run.Open(t.Context(), runs.Pinned, "manifest.json")
	runs.WantCode(t, err, tidegate.InvalidArgs)
	_, err = run.Open(t.Context(), runs.Pinned, t.TempDir())
	runs.WantCode(t, err, tidegate.ReadFailed)
}

// Whoever looks at a run sees its final state: a write that was committed and not
// made is made, and one that failed and was not taken back is taken back.
func TestOpenEndsWhatWasInterrupted(t *testing.T) {
	text := "# Findings\n"
	record := fmt.Sprintf(`{"schema_version":"tidegate_commit.v1","folders":[],"changes":[{"name":"found.md","digest":%q,"replaces":false}],"logs":[]}`,
		codec.DigestBytes([]byte(text)))
	record += "\n" + codec.DigestBytes([]byte(record)) + "\n"
	for name, tt := range map[string]struct {
		left map[string]string
		want bool
	}{
		"to be made":       {map[string]string{".tidegate-tx/record": record, ".tidegate-tx/0": text}, true},
		"made":             {map[string]string{".tidegate-tx/record": record, "found.md": text}, true},
		"to be taken back": {map[string]string{".tidegate-tx/undo": record, "found.md": text}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := manifestAt(t, `{"schema_version":"manifest.v1","run_id":"r1"}`)
			root := filepath.Dir(path)
			must.Do(t, os.Mkdir(filepath.Join(root, ".tidegate-tx"), 0o700))
			for name, content := range tt.left {
				must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
			}
			r := must.Get(run.Open(t.Context(), runs.Pinned, path))(t)
			r.Close()
			if _, err := os.Stat(filepath.Join(root, "found.md")); (err == nil) != tt.want {
				t.Errorf("found.md: %v", err)
			}
			if _, err := os.Stat(filepath.Join(root, ".tidegate-tx")); err == nil {
				t.Error("the transaction is still there")
			}
		})
	}
}

func TestLayoutFollowsTheManifest(t *testing.T) {
	path := manifestAt(t, `{}`)
	root := filepath.Dir(path)
	text := `{"schema_version":"manifest.v1","run_id":"r1","artifacts":{"root":"/where/it/was/made","paths":{
		"pivot_file":"` + root + `/deep/pivot.json","wave1_dir":"./waves//one/","wave2_dir":" ","gates_file":"../gates.json","review_bundle_file":"b.json",
		"summaries_dir":"summaries/../escape"}}}`
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	r := runs.Open(t, path)
	l := r.Layout()
	got := []string{r.Root(), l.Pivot, l.Wave1Dir, l.Wave2Dir, l.Gates, l.ReviewBundle, l.WaveReview, l.Synthesis(), l.SummariesDir}
	want := []string{root, "deep/pivot.json", "waves/one", "wave-2", "../gates.json", "b.json", "wave-review.json", "synthesis/final-synthesis.md", "summaries/../escape"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err := r.Gates()
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	_, err = r.UpdateBeside(t.Context(), func(u *run.Update) error { return u.Write("../x", nil) })
	runs.WantCode(t, err, tidegate.PathNotAllowed)
}

func TestDocumentsBesideOneOfThem(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "m.json")
	must.Do(t, os.WriteFile(path, []byte(`{"schema_version":"manifest.v1","run_id":"r1","artifacts":{"paths":{"pivot_file":"gates.json"}}}`), 0o600))
	r := runs.Open(t, path)
	want := []string{
		"citations/citations.jsonl", "gates.json", "logs/audit.head", "logs/audit.jsonl", "m.json", "manifest.json", "operator/scope.json", "perspectives.json",
		"retry/retry-directives.json", "review/review-bundle.json", "run-config/earlier.json", "run-config/policy.json", "run-config/template.md", "summaries/summary-pack.json",
		"synthesis/final-synthesis.md", "wave-1/wave1-plan.json", "wave-2/wave2-perspectives.json", "wave-2/wave2-plan.json", "wave-review.json",
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(r.DocumentsBeside("pivot_file")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if names := r.DocumentsBeside("wave_review_report_file"); slices.Contains(names, "wave-review.json") {
		t.Errorf("wave-review.json is beside itself: %v", names)
	}
}

func TestACopyOfAManifestSteersNoRun(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	before := must.Tree(t, out.Root)
	// Elsewhere it is a manifest of its own, without gates.
	r := runs.Open(t, manifestAt(t, must.Read(t, out.ManifestPath)))
	_, err := r.Update(t.Context(), func(u *run.Update) error { return u.Progress("test", "x") })
	runs.WantCode(t, err, tidegate.FileNotFound)
	if r.Root() == out.Root {
		t.Error("a copy of the manifest leads to the run that it was copied from")
	}
	if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
		t.Errorf("a copy of the manifest left traces in the real run:\n%s", diff)
	}
	// Beside the manifest it is nothing.
	copied := filepath.Join(out.Root, "copy.json")
	runs.Put(t, out.Root, "copy.json", strings.Replace(must.Read(t, out.ManifestPath), `"max_summary_kb": 5`, `"max_summary_kb": 500`, 1))
	_, err = run.Open(t.Context(), runs.Pinned, copied)
	if e := runs.WantCode(t, err, tidegate.InvalidArgs); !cmp.Equal(e.Details, tidegate.Pairs("manifest_path", copied)) {
		t.Errorf("details %v", e.Details)
	}
}

func TestRunReachedByASymbolicLinkIsTheSameRun(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(out.Root, link); err != nil {
		t.Skip(err)
	}
	r := runs.Open(t, filepath.Join(link, "manifest.json"))
	if _, err := r.Update(t.Context(), func(u *run.Update) error { return u.Progress("test", "x") }); err != nil {
		t.Error(err)
	}
}

func TestRunIsFoundByIDFolderAndManifest(t *testing.T) {
	out := runs.Create(t, run.InitInput{RunID: "tide"})
	home, elsewhere := filepath.Dir(out.Root), t.TempDir()
	for _, tt := range []struct{ workdir, name string }{
		{elsewhere, "tide"}, {elsewhere, out.Root}, {elsewhere, out.ManifestPath}, {home, "./tide"}, {out.Root, "."}, {out.Root, "manifest.json"},
	} {
		got, err := run.Find(runs.Pinned, home, tt.workdir, tt.name)
		if err != nil || got != out.ManifestPath {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	for _, name := range []string{"none", "../x", elsewhere, "wave-1"} {
		_, err := run.Find(runs.Pinned, home, elsewhere, name)
		if e := runs.WantCode(t, err, tidegate.FileNotFound); e.Details[0].Value != name {
			t.Errorf("details %v", e.Details)
		}
	}
	_, err := run.Find(runs.Pinned, home, elsewhere, " ")
	runs.WantCode(t, err, tidegate.InvalidArgs)
}

func TestAnUnknownHomeSaysHowToSetIt(t *testing.T) {
	workdir := filepath.Dir(runs.Create(t, run.InitInput{RunID: "tide"}).Root)
	_, list := run.List(t.Context(), runs.Pinned, "", run.ListInput{})
	_, init := run.Create(t.Context(), runs.Pinned, "", run.InitInput{Query: "q", RunID: "x"})
	for _, err := range []error{list, init} {
		if e := runs.WantCode(t, err, tidegate.InvalidArgs); !strings.Contains(e.Message, "set TIDEGATE_HOME") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := run.Find(runs.Pinned, "", workdir, "tide"); err != nil {
		t.Errorf("a run's folder needs no home: %v", err)
	}
	_, err := run.Find(runs.Pinned, "", workdir, "none")
	if e := runs.WantCode(t, err, tidegate.FileNotFound); !strings.Contains(e.Message, "set TIDEGATE_HOME") {
		t.Errorf("got %v", err)
	}
}

// TestListFilters lists runs by status, time and words, the last updated first.
func TestListFilters(t *testing.T) {
	home := t.TempDir()
	for i, query := range []string{"Which tugs are electric?", "Électric ferries: how many?", "Does it rain?"} {
		desk := runs.Pinned
		at := runs.Pinned.Now().Add(time.Duration(i) * 24 * time.Hour)
		desk.Now = func() time.Time { return at }
		must.Get(run.Create(t.Context(), desk, home, run.InitInput{Query: query, RunID: string("abc"[i])}))(t)
	}
	runs.Put(t, home, "broken/manifest.json", "{")
	day := runs.Pinned.Now().Add(24 * time.Hour).UTC().Format(time.DateOnly)
	for _, tt := range []struct {
		in   run.ListInput
		want string
	}{
		{run.ListInput{}, "c b a broken"}, {run.ListInput{Status: "created"}, "c b a"}, {run.ListInput{Status: "completed"}, ""},
		{run.ListInput{Since: day}, "c b"}, {run.ListInput{Words: "ELECTRIC"}, "b a"}, {run.ListInput{Words: "electr tug"}, "a"}, {run.ListInput{Words: "b"}, "b broken"},
		{run.ListInput{Words: "rain", Since: day, Status: "created"}, "c"},
	} {
		out := must.Get(run.List(t.Context(), runs.Pinned, home, tt.in))(t)
		var got []string
		for _, r := range out.Runs {
			got = append(got, r.RunID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v lists %v, want %s", tt.in, got, tt.want)
		}
	}
	if _, err := run.List(t.Context(), runs.Pinned, home, run.ListInput{Since: "lately"}); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("since lately: %v", err)
	}
}

func TestListShowsRunsInByteOrderAndWhatCannotBeOpened(t *testing.T) {
	home := t.TempDir()
	for _, id := range []string{"b", "a-b", "a", "Z"} {
		must.Get(run.Create(t.Context(), runs.Pinned, home, run.InitInput{Query: "q " + id, RunID: id}))(t)
	}
	runs.Put(t, home, "broken/manifest.json", "{")
	runs.Put(t, home, "no-run/file", "x")
	out := must.Get(run.List(t.Context(), runs.Pinned, home, run.ListInput{}))(t)
	var got []string
	for _, r := range out.Runs {
		got = append(got, r.RunID+":"+string(r.Stage)+":"+string(r.Status))
	}
	if diff := cmp.Diff("Z:init:created a:init:created a-b:init:created b:init:created broken::", strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
	if out.Runs[4].Problem == "" || len(out.Report().Blocks) != 1 {
		t.Errorf("got %+v", out.Runs[4])
	}
	empty, err := run.List(t.Context(), runs.Pinned, filepath.Join(home, "none"), run.ListInput{})
	if err != nil || len(empty.Runs) != 0 || empty.Runs == nil {
		t.Errorf("%+v, %v", empty, err)
	}
}

func TestCancelledUpdateWritesNothing(t *testing.T) {
	out := runs.Create(t, run.InitInput{})
	r := runs.Open(t, out.ManifestPath)
	before := must.Tree(t, out.Root)
	held := make(chan struct{})
	done := make(chan struct{})
	go func() {
		r.Update(context.Background(), func(*run.Update) error { close(held); <-done; return context.Canceled })
	}()
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := runs.Open(t, out.ManifestPath).Update(ctx, func(u *run.Update) error { return u.Write("x", nil) })
	runs.WantCode(t, err, tidegate.Cancelled)
	close(done)
	if diff := cmp.Diff(before, must.Tree(t, out.Root)); diff != "" {
		t.Error(diff)
	}
}

func TestProgressLeavesAnIncompleteManifestAsItIs(t *testing.T) {
	path := manifestAt(t, `{"schema_version":"manifest.v1","run_id":"r1"}`)
	before := must.Read(t, path)
	must.Get(runs.Open(t, path).UpdateBeside(t.Context(), func(u *run.Update) error { return u.Progress("test", "x") }))(t)
	if must.Read(t, path) != before {
		t.Error("it was rewritten")
	}
}

// Whatever stands in a manifest, opening it ends with the run or a coded error.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"schema_version":"manifest.v1","run_id":"r1","artifacts":{"root":"x","paths":{"gates_file":"../g"}}}`))
	f.Add([]byte(`{"schema_version":"manifest.v1","run_id":"r1","stage":{"history":[{"from":1}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "manifest.json")
		must.Do(t, os.WriteFile(path, data, 0o600))
		r, err := run.Open(t.Context(), runs.Pinned, path)
		if err != nil {
			if code := tidegate.CodeOf(err); code == tidegate.Internal {
				t.Fatal(err)
			}
			return
		}
		defer r.Close()
		r.Gates()
		if _, err := run.Verify(t.Context(), runs.Pinned, run.VerifyInput{ManifestPath: path}); tidegate.CodeOf(err) == tidegate.Internal {
			t.Fatal(err)
		}
	})
}
