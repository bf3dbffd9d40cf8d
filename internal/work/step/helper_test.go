package step_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

func line(t testing.TB, v any) string {
	t.Helper()
	data := must.Get(codec.MarshalLine(v))(t)
	return string(data)
}

const perspectivesDoc = `{"schema_version":"perspectives.v1","run_id":"r1","created_at":"2026-02-14","perspectives":[{"id":"p1","title":"T","track":"standard","agent_type":"a",` +
	`"prompt_contract":{"max_words":900,"max_sources":12,"tool_budget":{"search_calls":4},"must_include_sections":["Findings","Sources","Gaps"]},"extra":true}]}`

// completed is a run at its end, with its sources archived, its gates C to F
// judged, and a synthesis that quotes a page.
func completed(t *testing.T) run.InitResult {
	t.Helper()
	made, list := summarized(t, unread)
	cid, text := sentence(t, list, 0)
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft(`It says "`+text+`" [@`+cid+`].`+others(t, list)))
	for _, id := range []string{"C", "D", "E", "F"} {
		if g := judged(t, made, id); !g.Passed() {
			t.Fatalf("gate %s: %+v", id, g)
		}
	}
	r := runs.Open(t, made.ManifestPath)
	must.Get(r.Update(t.Context(), func(u *run.Update) error {
		err := u.MoveTo(run.Move{From: run.Init, To: run.Finalize, Status: run.Completed, Reason: "test", InputsDigest: "d", GatesRevision: 5})
		return err
	}))(t)
	return made
}
