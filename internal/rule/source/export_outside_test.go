package source_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

// exported are records of pages with honest and with hostile names.
func exported() []source.Record {
	names := []string{
		"Tides of the North Sea", "Fish & Chips: 100% of $5 #1_a ~b ^c", "Höhe über Null – 潮汐", "{unbalanced", "closed}", `\input{/etc/passwd} \write18{ls}`,
		"},\n  author = {Mallory", "line\r\nER  - \r\nTY  - JOUR", "<i>italic</i><script>alert(1)</script>", "=HYPERLINK(\"https://evil.test\")", `"quoted" 'x'`, "@misc{evil, title={x}}",
		"$E=mc^2$ and 5 < 6", "\u202ereversed\u200b", "", "@string{a = {b}}", "a and b and c",
	}
	var records []source.Record
	for i, name := range names {
		url := "https://a.test/" + string(rune('a'+i)) + "_x?q={1}&r=%7B#f"
		records = append(records, source.Record{CID: source.CID(url), NormalizedURL: url, URL: url, Title: name, Publisher: name, Author: "Doe, J.; " + name,
			Status: source.Valid, CheckedAt: "2026-02-14T12:00:00.000Z", Published: "2021-03-04"})
	}
	records[0].Status, records[1].Published, records[2].Published, records[3].Author = source.Paywalled, "2021", "", ""
	return records
}

func TestExportsHaveOneEntryForEachRecord(t *testing.T) {
	records := exported()
	data := must.Get(source.CSLJSON(records))(t)
	var items []map[string]any
	if err := json.Unmarshal(data, &items); err != nil || len(items) != len(records) {
		t.Errorf("CSL-JSON: %d items, %v", len(items), err)
	}
	bib := string(source.BibTeX(records))
	if n := strings.Count(bib, "\n@misc{") + 1; n != len(records) || strings.Count(bib, "{") != strings.Count(bib, "}") {
		t.Errorf("BibTeX: %d entries, %d opening and %d closing braces", n, strings.Count(bib, "{"), strings.Count(bib, "}"))
	}
	for _, entry := range strings.Split(strings.TrimSpace(bib), "\n\n") {
		if depth := strings.Count(entry, "{") - strings.Count(entry, "}"); depth != 0 {
			t.Errorf("BibTeX: an entry does not close: %s", entry)
		}
		if strings.Contains(strings.ReplaceAll(entry, `\textbackslash{}input`, ""), `\input`) || strings.Contains(strings.ReplaceAll(entry, `\$`, ""), "$") {
			t.Errorf("BibTeX: a command gets through: %s", entry)
		}
	}
	ris := string(source.RIS(records))
	if strings.Count(ris, "\r\nER  - \r\n") != len(records) || strings.Count("\r\n"+ris, "\r\nTY  - ") != len(records) || strings.Contains(strings.ReplaceAll(ris, "\r\n", ""), "\n") {
		t.Errorf("RIS: %s", ris)
	}
	if empty, err := source.CSLJSON(nil); err != nil || string(empty) != "[]\n" || len(source.BibTeX(nil)) != 0 || len(source.RIS(nil)) != 0 {
		t.Errorf("of nothing: %q, %v", empty, err)
	}
}

func TestExportsAsWritten(t *testing.T) {
	records := exported()[:2]
	bib := "@misc{doe2021tides,\n  title = {{Tides of the North Sea}},\n  author = {{Doe, J.} and {Tides of the North Sea}},\n  howpublished = {Tides of the North Sea},\n" +
		"  year = {2021},\n  date = {2021-03-04},\n  url = {https://a.test/a_x?q=%7B1%7D&r=%7B#f},\n  urldate = {2026-02-14},\n  note = {behind a paywall}\n}\n\n"
	if got := string(source.BibTeX(records[:1])); got != bib {
		t.Errorf("%s", cmp.Diff(bib, got))
	}
	ris := "TY  - ELEC\r\nID  - doe2021fish\r\nTI  - Fish & Chips: 100% of $5 #1_a ~b ^c\r\nAU  - Doe, J.\r\nAU  - Fish & Chips: 100% of $5 #1_a ~b ^c\r\n" +
		"PB  - Fish & Chips: 100% of $5 #1_a ~b ^c\r\nPY  - 2021\r\nDA  - 2021///\r\nUR  - https://a.test/b_x?q=%7B1%7D&r=%7B#f\r\nY2  - 2026/02/14/\r\nER  - \r\n\r\n"
	if got := string(source.RIS(records[1:2])); got != ris {
		t.Errorf("%s", cmp.Diff(ris, got))
	}
}

// TestKeysCanBeTyped: a key is made of who, when and what, in letters of every keyboard,
// and no two are the same. A document of the person's own has its name and no address.
func TestKeysCanBeTyped(t *testing.T) {
	records := []source.Record{
		{Title: "The price of tugs", Author: "Märta Højgård; Bo Ek", Published: "2021-03-04", URL: "https://a.test"},
		{Title: "Price, again", Author: "Højgård, M.", Published: "2021", URL: "https://b.test"},
		{Title: "The price of tugs", Author: "M. Højgård", Published: "2021", URL: "https://c.test"},
		{Title: "Tide tables", Publisher: "The Port of Ålesund", URL: "https://d.test"},
		{Title: "潮汐", URL: "https://www.example.org/x"},
		{Title: "}, @evil{x", Author: "\\input{x}; ", URL: ""},
		{URL: "https://files.invalid/log%20of%20tugs.md"},
	}
	var keys []string
	for _, entry := range strings.Split(strings.TrimSpace(string(source.BibTeX(records))), "\n\n") {
		key, _, _ := strings.Cut(strings.TrimPrefix(entry, "@misc{"), ",")
		keys = append(keys, key)
	}
	if got, want := strings.Join(keys, " "), "hojgard2021price hojgard2021price-2 hojgard2021price-3 porttide example xevil sourcelog"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if bib := string(source.BibTeX(records[6:])); strings.Contains(bib, "files.invalid") || !strings.Contains(bib, "{{log of tugs.md}}") {
		t.Error(bib)
	}
}

// TestExportsAreReadByCitationJS reads the exports with a reader that others
// wrote.
func TestExportsAreReadByCitationJS(t *testing.T) {
	t.Parallel()
	dir := citationJS(t)
	script := must.Get(os.ReadFile("testdata/export/reader.mjs"))(t)
	path := filepath.Join(dir, "reader.mjs")
	must.Do(t, os.WriteFile(path, script, 0o600))
	records := exported()
	csl := must.Get(source.CSLJSON(records))(t)
	in := must.Get(json.Marshal(map[string]string{"csl": string(csl), "bibtex": string(source.BibTeX(records)), "ris": string(source.RIS(records))}))(t)
	cmd := exec.Command("node", path)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.Output())(t)
	type item struct {
		ID, Title, URL string
		Authors        []string
		Year           int
	}
	var read struct {
		CSL, BibTeX, RIS []item
		HTML             string
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for format, items := range map[string][]item{"CSL-JSON": read.CSL, "BibTeX": read.BibTeX, "RIS": read.RIS} {
		if len(items) != len(records) {
			t.Errorf("%s: %d items, want %d", format, len(items), len(records))
			continue
		}
		for i, it := range items {
			want := strings.Join(strings.Fields(strings.NewReplacer("\u202e", "", "\u200b", "").Replace(records[i].Title)), " ")
			got := strings.Join(strings.Fields(it.Title), " ")
			if format == "CSL-JSON" {
				got = strings.ReplaceAll(strings.ReplaceAll(got, "< /", "</"), "< ", "<")
				want = strings.ReplaceAll(want, "< ", "<")
			}
			if format == "BibTeX" {
				got = strings.NewReplacer("&lt;", "<", "&gt;", ">", "’", "'", "”", "\"", "“", "\"").Replace(got)
				got = strings.NewReplacer(`<span class="nocase">`, "", "</span>", "").Replace(got)
			}
			if want == "" {
				want = "https://a.test/o_x?q=%7B1%7D&r=%7B#f"
			}
			if got != want || it.Year != map[bool]int{true: 2021}[records[i].Published != ""] || !strings.HasPrefix(it.URL, "https://a.test/"+string(rune('a'+i))+"_x?q=") {
				t.Errorf("%s: %+v, want the title %q", format, it, want)
			}
			if records[i].Author != "" && (len(it.Authors) == 0 || !strings.Contains(strings.Join(it.Authors, "|"), "Doe")) {
				t.Errorf("%s: authors %q", format, it.Authors)
			}
		}
	}
	if strings.Contains(read.HTML, "<script") || strings.Contains(read.HTML, "<i>italic") {
		t.Errorf("markup of a title gets into a bibliography: %s", read.HTML)
	}
}

// citationJS is a folder in which citation-js is installed.
func citationJS(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no place for citation-js: %v", err)
	}
	dir := filepath.Join(cache, "tidegate-test", "citation-js-0.7.21")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@citation-js", "plugin-ris", "package.json")); err == nil {
		return dir
	}
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install citation-js from npm and test with it")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skipf("no place for citation-js: %v", err)
	}
	out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "@citation-js/core@0.7.21",
		"@citation-js/plugin-csl@0.7.21", "@citation-js/plugin-bibtex@0.7.21", "@citation-js/plugin-ris@0.7.21").CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install citation-js: %v\n%s", err, out)
	}
	return dir
}
