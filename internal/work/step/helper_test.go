package step_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// pinned is a clock that stands still.
var pinned = run.Clock{Pinned: true, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }}

func create(t *testing.T, in run.InitInput) run.InitResult {
	t.Helper()
	if in.Query == "" {
		in.Query = "What moves the tide?"
	}
	if in.RunID == "" {
		in.RunID = "r1"
	}
	out, err := run.Create(t.Context(), pinned, t.TempDir(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t *testing.T, manifestPath string) *run.Run {
	t.Helper()
	r, err := run.Open(t.Context(), manifestPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func parse(t *testing.T, text string) *codec.Value {
	t.Helper()
	v, err := codec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantCode(t *testing.T, err error, code tidegate.Code) *tidegate.Error {
	t.Helper()
	if tidegate.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return tidegate.AsError(err)
}

// tree is all that is in a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			all[name] = "folder"
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func line(t testing.TB, v any) string {
	t.Helper()
	data, err := codec.MarshalLine(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const perspectivesDoc = `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[{"id":"p1","title":"T","track":"standard","agent_type":"a",` +
	`"prompt_contract":{"max_words":900,"max_sources":12,"tool_budget":{"search_calls":4},"must_include_sections":["Findings","Sources","Gaps"]},"extra":true}]}`

// completed is a run at its end, with its sources archived, its gates C to F
// judged, and a synthesis that quotes a page.
func completed(t *testing.T) run.InitResult {
	t.Helper()
	made, list := summarized(t, run.InitInput{RequireGrounding: true})
	cid, text := sentence(t, list, 0)
	put(t, made.Root, "synthesis/final-synthesis.md", draft(`It says "`+text+`" [@`+cid+`].`))
	for _, id := range []string{"C", "D", "E", "F"} {
		if g := judged(t, made, id); !g.Passed() {
			t.Fatalf("gate %s: %+v", id, g)
		}
	}
	r := open(t, made.ManifestPath)
	_, err := r.Update(t.Context(), pinned, func(u *run.Update) error {
		_, err := u.MoveTo(run.Move{From: run.Init, To: run.Finalize, Status: run.Completed, Reason: "test", InputsDigest: "d", GatesRevision: 5})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
