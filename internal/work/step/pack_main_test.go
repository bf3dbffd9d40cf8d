package step_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/step"
)

// packRun is a run with the perspectives p1 and p2, the citations cid_a (valid)
// and cid_b (paywalled), and a folder with a summary for each.
type packRun struct {
	t        testing.TB
	root     string
	fixtures string
}

const (
	pool = `{"schema_version":"citation.v1","normalized_url":"https://x.org/a","cid":"cid_a","url":"https://x.org/a","url_original":"https://x.org/a","status":"valid"}
{"schema_version":"citation.v1","normalized_url":"https://x.org/b","cid":"cid_b","url":"https://x.org/b","url_original":"https://x.org/b","status":"paywalled"}
{"schema_version":"citation.v1","normalized_url":"https://x.org/no","cid":"cid_no","url":"https://x.org/no","url_original":"https://x.org/no","status":"invalid"}
`
	twoPerspectives = `{"schema_version":"perspectives.v1","run_id":"r1","perspectives":[{"id":"p2"},{"id":"p1"}]}`
)

func newPackRun(t testing.TB) *packRun {
	r := &packRun{t: t, root: filepath.Join(t.TempDir(), "run"), fixtures: t.TempDir()}
	r.limits(5, 60)
	r.write("perspectives.json", twoPerspectives)
	r.write("citations/citations.jsonl", pool)
	r.fixture("p1", "## Findings\n\n- Fuel use fell by a third [@cid_a].\n")
	r.fixture("p2", "Prices doubled [@cid_b].\n")
	return r
}

func (r *packRun) limits(summaryKB, totalKB any) {
	r.manifest(fmt.Sprintf(`{"schema_version":"manifest.v1","run_id":"r1","limits":{"max_summary_kb":%v,"max_total_summary_kb":%v}}`, summaryKB, totalKB))
}

func (r *packRun) manifest(text string) { r.write("manifest.json", text) }

func (r *packRun) write(name, text string) {
	r.t.Helper()
	writeFile(r.t, filepath.Join(r.root, name), text)
}

func (r *packRun) fixture(id, text string) {
	r.t.Helper()
	writeFile(r.t, filepath.Join(r.fixtures, id+".md"), text)
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	must.Write(t, path, text)
}

func (r *packRun) path(name string) string { return filepath.Join(r.root, name) }

func (r *packRun) read(name string) string {
	r.t.Helper()
	data := must.Get(os.ReadFile(r.path(name)))(r.t)
	return string(data)
}

// tree is the content of every file of the run, the lock aside.
func (r *packRun) tree() map[string]string {
	r.t.Helper()
	files := map[string]string{}
	must.Do(r.t, filepath.WalkDir(r.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".tidegate.lock" {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, r.root+"/")] = string(data)
		return err
	}))
	return files
}

func (r *packRun) request(changes ...func(*step.PackInput)) step.PackInput {
	req := step.PackInput{ManifestPath: r.path("manifest.json"), Mode: step.PackGiven, FixtureSummariesDir: r.fixtures, Reason: "test"}
	for _, change := range changes {
		change(&req)
	}
	return req
}

func generated(req *step.PackInput) { req.Mode, req.FixtureSummariesDir = step.PackGenerated, "" }
func dryRun(req *step.PackInput)    { req.DryRun = true }

func (r *packRun) build(changes ...func(*step.PackInput)) (step.PackResult, error) {
	return step.BuildPack(context.Background(), runs.Pinned, r.request(changes...))
}

func (r *packRun) mustBuild(changes ...func(*step.PackInput)) step.PackResult {
	r.t.Helper()
	result := must.Get(r.build(changes...))(r.t)
	return result
}

// pack is the pack that the run has.
func (r *packRun) pack() *codec.Value {
	r.t.Helper()
	doc := must.Get(codec.Parse([]byte(r.read("summaries/summary-pack.json"))))(r.t)
	return doc
}

// auditLines are the lines of builds in the run's log.
func (r *packRun) auditLines() []*codec.Value {
	r.t.Helper()
	var found []*codec.Value
	for text := range strings.Lines(r.read("logs/audit.jsonl")) {
		line := must.Get(codec.Parse([]byte(text)))(r.t)
		if line.Get("kind").Str() == "summary_pack_build" {
			found = append(found, line)
		}
	}
	return found
}

// refusedWith demands an error, as "CODE details" and the beginning of its message.
func refusedWith(t testing.TB, err error, want, message string) {
	t.Helper()
	e := tidegate.AsError(err)
	if e == nil {
		t.Fatalf("not refused, want %s", want)
	}
	details := must.Get(codec.MarshalLine(e.Details))(t)
	if got := string(e.Code) + " " + string(details); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(e.Message, message) {
		t.Errorf("message %q, want %q", e.Message, message)
	}
}
