package catalog_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// FuzzCall calls any tool with any arguments, seeded with all calls of the
// corpus when it fuzzes or is asked for all, and otherwise with some of them:
// TestEveryFaceGivesTheSameBytes makes each. Whatever is asked: the answer is one
// strict JSON envelope, no tool panics, and nothing outside the roots changes. $WORK
// in the arguments stands for a folder with the corpus' files, a run and a change.
func FuzzCall(f *testing.F) {
	scripts := must.Get(corpus.Load("testdata/calls"))(f)
	prepared := f.TempDir()
	type call struct {
		tool string
		args []byte
	}
	var calls []call
	for _, script := range scripts {
		must.Get(script.Run(prepared, func(name string, args []byte) []byte {
			calls = append(calls, call{name, bytes.ReplaceAll(args, []byte(prepared), []byte("$WORK"))})
			return nil
		}))(f)
	}
	slices.SortStableFunc(calls, func(a, b call) int { return strings.Compare(a.tool, b.tool) })
	stride := full.Stride(len(calls), 60)
	if flag.Lookup("test.fuzz").Value.String() != "" {
		stride = 1
	}
	for i := 0; i < len(calls); i += stride {
		f.Add(calls[i].tool, calls[i].args)
	}
	for _, call := range []struct{ tool, args string }{
		{"deep_research_run_init", `{"query":"Why do tides turn?","run_id":"tides"}`},
		{"change_start", `{"change_id":"c1"}`},
		{"create_review", `{"change_id":"c1","verdict":"NEEDS_FIX","summary":"One."}`},
	} {
		if got := callIn(f, prepared, call.tool, []byte(call.args)); got.Err != nil {
			f.Fatal(got.Err)
		}
	}
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		outer := t.TempDir()
		work := filepath.Join(outer, "work")
		copyTree(t, prepared, work)
		secret := filepath.Join(outer, "secret")
		must.Do(t, os.WriteFile(secret, []byte("not for you"), 0o600))
		got := callIn(t, work, name, bytes.ReplaceAll(args, []byte("$WORK"), []byte(work)))
		if got.Err != nil && got.Err.Code == tidegate.Internal {
			t.Fatalf("%s: %v", name, got.Err)
		}
		if _, err := codec.Parse(got.Envelope); err != nil {
			t.Fatalf("%s: the envelope is not strict JSON: %v", name, err)
		}
		if bytes.Contains(got.Envelope, []byte("not for you")) && !bytes.Contains(args, []byte("not for you")) {
			t.Fatalf("%s tells what lies outside:\n%s", name, got.Envelope)
		}
		entries, err := os.ReadDir(outer)
		if err != nil || len(entries) != 2 {
			t.Fatalf("%s left something outside: %v, %v", name, entries, err)
		}
		if data, err := os.ReadFile(secret); err != nil || string(data) != "not for you" {
			t.Fatalf("%s changed what lies outside: %q, %v", name, data, err)
		}
	})
}

// callIn calls a tool by name, confined to work; the envelope is empty for a name
// that no tool has.
func callIn(t testing.TB, work, name string, args []byte) tool.Result {
	env := &catalog.Env{Now: func() time.Time { return corpus.Now }, Pinned: true, Dir: work, Project: work, Home: filepath.Join(work, "runs")}
	for _, candidate := range catalog.Tools(env) {
		if candidate.Name == name {
			return candidate.Call(t.Context(), args, tool.Caller{Reach: artifact.Within(work)})
		}
	}
	return tool.Result{Envelope: []byte("{}")}
}

// copyTree copies a folder; paths of the one in its files become those of the
// other.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, bytes.ReplaceAll(data, []byte(from), []byte(to)), 0o600)
	}))
}
