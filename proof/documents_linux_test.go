package proof_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// TestManyDocuments: a person's own documents of every kind are taken, searched and
// cited in little memory, however large they are, and a figure that stands on page 700
// of one of them alone is found.
func TestManyDocuments(t *testing.T) {
	full.Story(t)
	files, size, limit := 24, 1<<20, int64(256<<20)
	if full.Asked() {
		files, size, limit = 300, 100<<20, 512<<20
	}
	work := scratch.Short(t)
	write := func(name string, data []byte, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(work, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, data, mode))
	}
	total := 0
	for i := range files - 1 {
		name, data := filler(t, i, size/files)
		total += len(data)
		write("docs/"+name, data, 0o600)
	}
	manual := pdfOf(func(page int) string {
		if page == 700 {
			return "The Zander crane of the outer quay lifts 4,731 tonnes in still air."
		}
		return fmt.Sprintf("Page %d of the manual says how ropes, hooks and drums are greased each spring.", page)
	}, 720)
	write("docs/manual.pdf", manual, 0o600)
	write("mine.json", []byte(`{"schema_version": "perspectives.v1", "perspectives": [{"id": "crane", "title": "How much the Zander crane lifts", "track": "standard", "agent_type": "researcher",
		"prompt_contract": {"max_words": 900, "max_sources": 8, "tool_budget": {}, "must_include_sections": ["Findings", "Gaps", "Sources"]}}]}`), 0o600)
	write("agent", []byte(`#!/bin/sh
prompt=$(cat)
case $TIDEGATE_KIND in
wave1) case $prompt in *"lifts 4,731 tonnes"*) found=4,731 ;; *) found=no ;; esac
  printf '## Findings\n\nThe Zander crane lifts %s tonnes.\n\n## Gaps\n\nNone.\n\n## Sources\n\n- Manual https://files.invalid/manual.pdf\n' "$found" ;;
summary) echo '- The Zander crane lifts 4,731 tonnes [@s1].' ;;
synthesis) for title in Summary 'Key Findings' Evidence Caveats; do printf '## %s\n\nThe Zander crane of the outer quay lifts 4,731 tonnes [@s1].\n\n' "$title"; done ;;
review) echo '{"decision": "PASS", "findings": [], "directives": []}' ;;
esac
`), 0o700)
	run := func(args ...string) cost {
		t.Helper()
		command := exec.Command(binary, args...)
		command.Dir = work
		command.Env = append(os.Environ(), "TIDEGATE_HOME="+filepath.Join(work, "home"))
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		spent, err := measured(command)
		if err != nil {
			t.Fatalf("%v\n%s", err, out.Bytes())
		}
		return spent
	}
	spent := run("research", "Cranes: how strong is the Zander?", "--agent", "exec:"+filepath.Join(work, "agent"), "--unconfined", "--perspectives", "mine.json", "--files", "docs", "--sensitivity", "no_web", "--no-second-reader", "--yes")
	prompt, err := os.ReadFile(filepath.Join(work, "home", "runs", "cranes", "jobs", "wave1.crane", "001", "prompt.md"))
	if err != nil || !strings.Contains(string(prompt), fmt.Sprintf("%d documents with ", files)) || !strings.Contains(string(prompt), "manual.pdf (") || len(prompt) > 256<<10 {
		t.Errorf("%v: the prompt has %d bytes and does not say what it shows", err, len(prompt))
	}
	checked := run("report", "cranes", "--format", "html", "--output", "report.html")
	page, err := os.ReadFile(filepath.Join(work, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("lifts 4,731 tonnes in still air")) {
		t.Errorf("%v: the report does not show the passage", err)
	}
	t.Logf("%d files of %d MiB: taken, searched and cited in %d MiB and %v, shown in %d MiB", files, (total+len(manual))>>20, spent.Memory>>20, spent.Took, checked.Memory>>20)
	if spent.Memory > limit || checked.Memory > limit {
		t.Errorf("it took %d MiB, and the report %d MiB", spent.Memory>>20, checked.Memory>>20)
	}
}

// filler is a document of some kind about something else, of about so many bytes.
func filler(t *testing.T, i, size int) (name string, data []byte) {
	sentence := func(n int) string {
		return fmt.Sprintf("In week %d the crew of boat %d painted the hull, counted %d ropes and wrote a letter home.", n%53, i, n)
	}
	part := func(before, after string) string {
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			b.WriteString(before + sentence(n) + after)
		}
		return b.String()
	}
	packed := func(parts ...string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for k := 0; k < len(parts); k += 2 {
			w, err := z.CreateHeader(&zip.FileHeader{Name: parts[k], Method: zip.Store})
			if err == nil {
				_, err = w.Write([]byte(parts[k+1]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		z.Close()
		return b.Bytes()
	}
	switch i % 7 {
	case 0:
		return fmt.Sprintf("letters-%d.txt", i), []byte(part("", "\n"))
	case 1:
		return fmt.Sprintf("one-line-%d.txt", i), []byte(part("", " "))
	case 2:
		return fmt.Sprintf("log-%d.csv", i), []byte("Week,Text\n" + part("7,\"", "\"\n"))
	case 3:
		return fmt.Sprintf("text-%d.docx", i), packed("word/document.xml", "<w:body>"+part("<w:p><w:r><w:t>", "</w:t></w:r></w:p>")+"</w:body>")
	case 4:
		return fmt.Sprintf("table-%d.xlsx", i), packed("xl/workbook.xml", `<w><sheet name="A" r:id="r"/></w>`, "xl/_rels/workbook.xml.rels", `<R><Relationship Id="r" Target="s.xml"/></R>`, "xl/s.xml", "<s>"+part(`<row><c t="inlineStr"><is><t>`, "</t></is></c><c><v>12</v></c></row>")+"</s>")
	case 5:
		return fmt.Sprintf("page-%d.html", i), []byte("<!doctype html><title>Boats</title>" + part("<p>", "</p>\n"))
	}
	return fmt.Sprintf("mail-%d.eml", i), []byte("Subject: Boats\r\n\r\n" + part("", "\n"))
}

// pdfOf is a PDF file with a line of text on each of its pages.
func pdfOf(text func(page int) string, pages int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[")
	for n := 1; n <= pages; n++ {
		fmt.Fprintf(&b, "%d 0 R ", 2*n+2)
	}
	fmt.Fprintf(&b, "]/Count %d>>endobj\n3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n", pages)
	for n := 1; n <= pages; n++ {
		stream := "BT /F1 12 Tf 72 720 Td (" + text(n) + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>endobj\n%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n",
			2*n+2, 2*n+3, 2*n+3, len(stream), stream)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n")
	return b.Bytes()
}
