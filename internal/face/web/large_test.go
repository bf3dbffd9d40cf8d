package web_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// manyRuns is a home with n runs.
func manyRuns(t testing.TB, n int) *web.Site {
	t.Helper()
	s := site(t.TempDir())
	made := must.Get(run.Create(t.Context(), s.Desk, s.Home, run.InitInput{Query: "Does it rain more?", RunID: "rain"}))(t)
	manifest := must.Get(os.ReadFile(filepath.Join(made.Root, run.ManifestFile)))(t)
	for i := range n - 1 {
		dir := filepath.Join(s.Home, fmt.Sprintf("rain%05d", i))
		must.Do(t, os.CopyFS(dir, os.DirFS(made.Root)))
		own := bytes.Replace(manifest, []byte(`"rain"`), []byte(fmt.Sprintf(`"rain%05d"`, i)), 1)
		must.Do(t, os.WriteFile(filepath.Join(dir, run.ManifestFile), own, 0o600))
	}
	return s
}

// TestLongListsAreCut: a list shows a hundred rows, leads to the others, and is
// searched as a whole.
func TestLongListsAreCut(t *testing.T) {
	t.Parallel()
	many, demo := visit(t, manyRuns(t, 205), nil), visit(t, demoSite(t), nil)
	for _, c := range []struct {
		b          *browser
		path, rows string
		want       int
		has, not   string
	}{
		{many, "/", `<tr><th scope="row" class="what"><a href="/runs/`, 100, `rel="next" href="/?page=2"`, `rel="prev"`},
		{many, "/?page=2", `<tr><th scope="row" class="what"><a href="/runs/`, 100, `rel="prev" href="/?page=1"`, "Nothing to show"},
		{many, "/?page=3", `<tr><th scope="row" class="what"><a href="/runs/`, 5, "201 to 205 of 205", `rel="next"`},
		{many, "/?page=9999999999999999999", `<tr><th scope="row" class="what"><a href="/runs/`, 5, "201 to 205 of 205", `rel="next"`},
		{many, "/?page=-1", `<tr><th scope="row" class="what"><a href="/runs/`, 100, "1 to 100 of 205", `rel="prev"`},
		{demo, "/runs/harbour/log", `<tr><td class="right num">`, 100, `rel="next" href="/runs/harbour/log?page=2"`, `rel="prev"`},
	} {
		_, page := c.b.get(t, c.path)
		if got := strings.Count(page, c.rows); got != c.want || !strings.Contains(page, c.has) || strings.Contains(page, c.not) {
			t.Errorf("%s has %d rows, want %d; %q: %t; %q: %t", c.path, got, c.want, c.has, strings.Contains(page, c.has), c.not, strings.Contains(page, c.not))
		}
	}
}
