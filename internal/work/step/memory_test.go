package step_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// TestTheSameBytesAreJudgedOnce judges a draft again in the same call: nothing is read
// from the archive and held against pages a second time, and whatever changes in the run
// is seen as it is without a memory.
func TestTheSameBytesAreJudgedOnce(t *testing.T) {
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	outcome := func(desk run.Desk, made run.InitResult, draft string) string {
		t.Helper()
		r := runs.OpenAt(t, desk, made.ManifestPath)
		judged, err := sentences.JudgeDraft(t.Context(), r, []byte(draft))
		if err != nil {
			return string(tidegate.CodeOf(err))
		}
		return codec.Digest([]any{judged.Claims, judged.Faults, judged.Warnings, judged.Grounding})
	}
	for name, change := range full.Some(map[string]func(t *testing.T, made run.InitResult){
		"the archive is cut": func(t *testing.T, made run.InitResult) {
			must.Do(t, os.Truncate(filepath.Join(made.Root, run.ArchiveFile), 100))
		},
		"an output cites less": func(t *testing.T, made run.InitResult) {
			runs.Put(t, made.Root, "wave-1/p1.md", outputOf(honest(1)...))
		},
		"an output quotes": func(t *testing.T, made run.InitResult) {
			var said strings.Builder
			for _, page := range honest(4) {
				quoted := page.Sentences[len(page.Sentences)-1]
				said.WriteString(`It says "` + strings.TrimSuffix(quoted, ".") + `" (` + page.URL + "). ")
			}
			runs.Put(t, made.Root, "wave-1/p1.md", strings.Replace(outputOf(honest(4)...), "Text.", said.String(), 1))
		},
		"a record is gone": func(t *testing.T, made run.InitResult) {
			list := must.Read(t, filepath.Join(made.Root, "citations", "citations.jsonl"))
			runs.Put(t, made.Root, "citations/citations.jsonl", list[strings.Index(list, "\n")+1:])
		},
		"a person attaches another page": func(t *testing.T, made run.InitResult) {
			in := sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: records(t, made)[0].CID, FilePath: saved(t, "Another"), Over: true, Reason: "it moved"}
			must.Get(sourcing.Attach(person, runs.Pinned, in))(t)
		},
		"the policy asks for no page": func(t *testing.T, made run.InitResult) {
			path := filepath.Join(made.Root, filepath.FromSlash(run.PolicyFile))
			runs.Put(t, made.Root, run.PolicyFile, strings.Replace(must.Read(t, path), `"grounding": "require"`, `"grounding": "off"`, 1))
		},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			made, list := summarized(t, run.InitInput{})
			draft := honestDraft(t, made, "Volcanoes erupt when magma rises through cracks. [@"+list[0].CID+"]\n\nThey have 887123 boats. [@"+list[0].CID+"]")
			desk := runs.Pinned
			desk.Memory = new(store.Memory)
			before := outcome(desk, made, draft)
			if again := outcome(desk, made, draft); before != again || before != outcome(runs.Pinned, made, draft) {
				t.Error("with a memory it comes out differently")
			}
			change(t, made)
			after := outcome(runs.Pinned, made, draft)
			if after == before {
				t.Fatal("the change does not matter, and shows nothing")
			}
			if got := outcome(desk, made, draft); got != after {
				t.Errorf("the memory hides the change: %s, want %s", got, after)
			}
		})
	}
	made, _ := summarized(t, run.InitInput{})
	draft, desk := honestDraft(t, made, ""), runs.Pinned
	each := testing.AllocsPerRun(1, func() { outcome(desk, made, draft) })
	desk.Memory = new(store.Memory)
	if again := testing.AllocsPerRun(1, func() { outcome(desk, made, draft) }); again > each/2 {
		t.Errorf("%.0f allocations, %.0f the first time: it is judged again", again, each)
	}
}

// TestManySummariesAreReadOnce: a run has more summaries than a memory keeps things, and
// still each is held against its pages once. Nor is the archive opened for every source.
func TestManySummariesAreReadOnce(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	desk := runs.Pinned
	desk.Memory = new(store.Memory)
	r := runs.OpenAt(t, desk, made.ManifestPath)
	grounding := func(cid string) float64 {
		return testing.AllocsPerRun(1, func() {
			desk.Memory = new(store.Memory)
			r := runs.OpenAt(t, desk, made.ManifestPath)
			for _, cited := range []string{list[0].CID, cid} {
				if cited == "" {
					continue
				}
				if _, _, err := sentences.CheckText(t.Context(), r, []byte("There are 12 tugs. [@"+cited+"]\n")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if one, two := grounding(""), grounding(list[1].CID); two > one*1.5 {
		t.Errorf("%.0f allocations for two sources, %.0f for one: the archive is opened twice", two, one)
	}

	var ids []string
	for i := range 60 {
		id := fmt.Sprintf("many%d", i)
		ids = append(ids, id)
		runs.Put(t, made.Root, r.Summary(id), fmt.Sprintf("Berth %d has 12 tugs. [@%s]\n\nIt is loud. [@%s]\n", i, list[i%len(list)].CID, list[0].CID))
	}
	read := func() {
		statements, err := sentences.ReadStatements(t.Context(), r, ids)
		if err != nil || len(statements) != 2*len(ids) || statements[2].Text != "Berth 1 has 12 tugs." {
			t.Fatalf("%d statements, %v", len(statements), err)
		}
	}
	first := testing.AllocsPerRun(1, func() {
		desk.Memory = new(store.Memory)
		r = runs.OpenAt(t, desk, made.ManifestPath)
		read()
	})
	if again := testing.AllocsPerRun(1, read); again > first/2 {
		t.Errorf("%.0f allocations, %.0f the first time: they are read again", again, first)
	}
	runs.Put(t, made.Root, r.Summary(ids[1]), "Berth 1 has 13 tugs. [@"+list[0].CID+"]\n")
	if statements, err := sentences.ReadStatements(t.Context(), r, ids[1:2]); err != nil || len(statements) != 1 || statements[0].Text != "Berth 1 has 13 tugs." {
		t.Errorf("the memory hides a change: %+v, %v", statements, err)
	}
}
