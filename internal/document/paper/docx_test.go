package paper_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/office"
)

// parts are the files of a docx, each well-formed where it is XML.
func parts(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	out := map[string]string{}
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		text := must.Get(io.ReadAll(r))(t)
		out[f.Name] = string(text)
		if strings.HasSuffix(f.Name, ".emf") {
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
	return out
}

// TestDocx: the file has the headings, the tables, the charts and the trust line of the
// report, its citations lead to their references, and it is the same each time.
func TestDocx(t *testing.T) {
	r := drawn(t)
	data := r.Docx()
	if !bytes.Equal(data, drawn(t).Docx()) {
		t.Error("written twice, with two results")
	}
	files := parts(t, data)
	body := files["word/document.xml"]
	for _, want := range []string{`<w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t xml:space="preserve">Key Findings`, `<w:hyperlink w:anchor="source-2"`, `w:name="source-2"`, "12 sentences: 6 stand by rule and second reader",
		`<asvg:svgBlip`, "(← not confirmed)", "[calculated: 341 / 118 = 2.9]", `<w:jc w:val="right"/>`, "M. Holt; I. Kessel; T. Arnaud et al. (2025). ",
		">Sections<", ">Questions that were left open<"} {
		if !strings.Contains(body, want) {
			t.Errorf("the document has no %q", want)
		}
	}
	if files["word/media/chart-1.svg"] == "" || files["word/media/chart-2.emf"] == "" || strings.Contains(body, "[chart") {
		t.Error("a chart is not there")
	}
	doc, known := office.Read(data, 1<<20)
	if !known || !doc.Whole || doc.Title != r.Question || !strings.Contains(doc.Text, "Cost: Energy\tElectric (euros) [1]: 118\tDiesel (euros) [1]: 341") {
		t.Errorf("it reads as %+v", doc)
	}
}

// TestHostileDocx: whatever a report holds, the file is well-formed, and leads nowhere
// but to the web, where its reader clicks.
func TestHostileDocx(t *testing.T) {
	for name, r := range map[string]paper.Report{"hostile": hostile(), "harbour": harbour(t), "checked": checked(t), "empty": {}} {
		files := parts(t, r.Docx())
		for _, relation := range regexp.MustCompile(`<Relationship [^>]*>`).FindAllString(files["word/_rels/document.xml.rels"], -1) {
			external := strings.Contains(relation, `TargetMode="External"`)
			target := regexp.MustCompile(`Target="([^"]*)"`).FindStringSubmatch(relation)[1]
			web := strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://")
			if external != web || external && !strings.Contains(relation, `relationships/hyperlink"`) || !external && strings.ContainsAny(target, ":\\") {
				t.Errorf("%s: %s", name, relation)
			}
		}
		for _, bad := range []string{"<w:instrText", "<w:altChunk", "<w:object", "\x00", "\u202e"} {
			if strings.Contains(files["word/document.xml"], bad) {
				t.Errorf("%s: the document has %q", name, bad)
			}
		}
	}
}

// TestQuotationMarksAreThoseOfTheAuthor in each format, and formulas stand on paper, too.
func TestQuotationMarksAreThoseOfTheAuthor(t *testing.T) {
	marked := "“one”, \"two\", „three“, « four », ‘five’ and 'six'"
	file := filepath.Join(t.TempDir(), "draft.md")
	must.Do(t, os.WriteFile(file, []byte(strings.Replace(must.Read(t, "testdata/checked/synthesis.md"), "The crews", "The crews said "+marked+", and the crews", 1)), 0o600))
	r := checkedDraft(t, file)
	formats := map[string]string{"markdown": string(r.Markdown()), "text": string(r.Text(0, false)), "html": html.UnescapeString(string(r.HTML())), "print": html.UnescapeString(string(r.PrintHTML())), "docx": html.UnescapeString(parts(t, r.Docx())["word/document.xml"])}
	for name, text := range formats {
		if !strings.Contains(strings.ReplaceAll(text, `\`, ""), marked) {
			t.Errorf("%s has other marks", name)
		}
	}
	if !strings.Contains(formats["print"], "ƒ 341 / 118") {
		t.Error("a print has no formula")
	}
}
