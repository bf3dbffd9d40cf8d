package web_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestExportedPagesAreACrate: the pages of a run are described as a Process Run Crate. Where
// programs of others may be used, their library reads it.
func TestExportedPagesAreACrate(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	dir := filepath.Join(t.TempDir(), "pages")
	must.Get(web.Export(t.Context(), s, filepath.Join(s.Home, "harbour", run.ManifestFile), dir))(t)
	data := must.Get(os.ReadFile(filepath.Join(dir, "ro-crate-metadata.json")))(t)
	type reference struct {
		ID string `json:"@id"`
	}
	var crate struct {
		Graph []struct {
			ID       string      `json:"@id"`
			Type     string      `json:"@type"`
			HasPart  []reference `json:"hasPart"`
			Object   []reference `json:"object"`
			Result   reference   `json:"result"`
			Conforms reference   `json:"conformsTo"`
		} `json:"@graph"`
	}
	must.Do(t, json.Unmarshal(data, &crate))
	known := map[string]string{}
	for _, e := range crate.Graph {
		if known[e.ID] != "" {
			t.Errorf("%s is described twice", e.ID)
		}
		known[e.ID] = e.Type
		if e.Type == "File" {
			if _, err := os.Stat(filepath.Join(dir, e.ID)); err != nil {
				t.Errorf("%s is not there: %v", e.ID, err)
			}
		}
	}
	for _, e := range crate.Graph {
		for _, to := range append(append(e.HasPart, e.Object...), e.Result) {
			if to.ID != "" && known[to.ID] == "" {
				t.Errorf("%s refers to %s, which is not described", e.ID, to.ID)
			}
		}
		if e.Type == "CreateAction" && (len(e.Object) != 18 || e.Result.ID != "report-document.html") {
			t.Errorf("the work is %+v", e)
		}
		if e.ID == "./" && (len(e.HasPart) < 30 || e.Conforms.ID != "https://w3id.org/ro/wfrun/process/0.5") {
			t.Errorf("the crate is %+v", e)
		}
	}
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		return
	}
	const library = "ro-crate@3.7.2"
	folder := t.TempDir()
	if out, err := exec.Command("npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", library).CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v\n%s", library, err, out)
	}
	program := filepath.Join(folder, "read.cjs")
	must.Do(t, os.WriteFile(program, []byte(`const { ROCrate } = require('ro-crate');
const crate = new ROCrate(JSON.parse(require('fs').readFileSync(process.argv[2])), { link: true, array: true });
const work = crate.getEntity('#run');
console.log([crate.rootDataset.name[0], work['@type'][0], work.instrument[0].name[0], work.object.length, crate.rootDataset.hasPart.length > 30].join('|'));
`), 0o600))
	out, err := exec.Command("node", program, filepath.Join(dir, "ro-crate-metadata.json")).CombinedOutput()
	if want := "Harbour: should the port replace two of its four tugs with electric ones?|CreateAction|tidegate|18|true"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSourcesDoNotPassForPartsOfTheCrate: whatever addresses a run cites, each thing is
// described once, by an identifier that other programs can write down.
func TestSourcesDoNotPassForPartsOfTheCrate(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must.Do(t, os.CopyFS(home, os.DirFS(demoSite(t).Home)))
	s := site(filepath.Dir(home))
	s.Home = home
	citations := filepath.Join(home, "harbour", "citations", "citations.jsonl")
	data, err := os.ReadFile(citations)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for i, address := range []string{"https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/crate/1.1", "http://schema.org/CompletedActionStatus", "https://a.example/> <b> \u202e{|}^`?<c>"} {
		quoted := must.Get(json.Marshal(address))(t)
		lines[i] = regexp.MustCompile(`"url_original":"[^"]*"`).ReplaceAllLiteralString(lines[i], `"url_original":`+string(quoted))
	}
	must.Do(t, os.WriteFile(citations, []byte(strings.Join(lines, "")), 0o600))
	dir := filepath.Join(t.TempDir(), "pages")
	must.Get(web.Export(t.Context(), s, filepath.Join(home, "harbour", run.ManifestFile), dir))(t)
	var crate struct {
		Graph []struct {
			ID   string `json:"@id"`
			Type string `json:"@type"`
		} `json:"@graph"`
	}
	if data, err = os.ReadFile(filepath.Join(dir, "ro-crate-metadata.json")); err == nil {
		err = json.Unmarshal(data, &crate)
	}
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, e := range crate.Graph {
		if types[e.ID] != "" || strings.ContainsAny(e.ID, "<> {|}^`\u202e") || e.Type == "WebPage" && (strings.Contains(e.ID, "w3id.org") || strings.Contains(e.ID, "schema.org")) {
			t.Errorf("a %s is %q", e.Type, e.ID)
		}
		types[e.ID] = e.Type
	}
	if types["https://a.example/%3E%20%3Cb%3E%20%E2%80%AE%7B%7C%7D%5E%60?%3Cc%3E"] != "WebPage" {
		t.Error("a source is not described")
	}
}
