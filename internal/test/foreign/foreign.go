// Package foreign opens reports with the programs of others: LibreOffice, pandoc and
// Chromium.
package foreign

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
)

// Asked reports whether programs of others are to be used.
func Asked() bool { return os.Getenv("TIDEGATE_OUTSIDERS") != "" }

// run runs a program of others, or skips the test where it is not installed.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("no %s: %v", program, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, path, args...)
	command.Dir, command.Env = dir, append(os.Environ(), "HOME="+dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", program, err, out)
	}
	return string(out)
}

// Open opens a report in all formats with the programs of others, and demands that they
// show what a reader must see: the question, the trust line, the references, and pictures
// of the charts. It does nothing unless it is asked for.
func Open(t *testing.T, r paper.Report) {
	t.Helper()
	if !Asked() {
		return
	}
	dir := t.TempDir()
	text, charts := r.MarkdownFiles("report.md")
	for _, f := range append(charts, paper.File{Name: "report.md", Data: text}, paper.File{Name: "report.docx", Data: r.Docx()}, paper.File{Name: "report.html", Data: r.HTML()}, paper.File{Name: "print.html", Data: r.PrintHTML()}) {
		must.Do(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
	}
	trust := strings.Join(strings.Fields(r.Trust)[:min(2, len(strings.Fields(r.Trust)))], " ")
	has := func(what, got string, want ...string) {
		t.Helper()
		bare := func(text string) string { // lines break where they like, and fonts differ in their marks
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					return r
				}
				return -1
			}, text)
		}
		for _, w := range append(want, trust, evidence.Say(r.Language, "How this report was made")) {
			if !strings.Contains(bare(got), bare(w)) {
				t.Errorf("%s does not show %q", what, w)
			}
		}
	}
	asked, references := strings.Fields(r.Question)[:1], evidence.Say(r.Language, "References")
	printed := func(what, got string, want ...string) {
		t.Helper()
		// Text from right to left is broken into pieces where PDF is shown as text, and a
		// machine without fonts for a script prints boxes.
		if evidence.Direction(r.Language) == "rtl" || r.Language == "zh" || r.Language == "ja" {
			if len(got) < 500 {
				t.Errorf("%s shows nothing", what)
			}
			return
		}
		has(what, got, want...)
	}
	run(t, dir, "soffice", "--headless", "--convert-to", "pdf:writer_pdf_Export", "--outdir", "word", "report.docx")
	printed("LibreOffice", run(t, dir, "pdftotext", filepath.Join("word", "report.pdf"), "-"), append(asked, references)...)
	if pictures := run(t, dir, "pandoc", "-f", "docx", "-t", "html", "--extract-media", "media", "report.docx"); strings.Count(pictures, "<img") != len(charts) {
		t.Errorf("pandoc finds %d pictures in the file of Word, want %d", strings.Count(pictures, "<img"), len(charts))
	} else if has("pandoc, of Word,", pictures, references); len(charts) > 0 && !strings.Contains(pictures, `href="#source-1"`) {
		t.Error("pandoc finds no citation that leads to its reference")
	}
	page := run(t, dir, "pandoc", "-f", "gfm", "-t", "html", "report.md")
	has("pandoc, of Markdown,", page, references)
	if strings.Count(page, "<img") != len(charts) || len(charts) > 0 && (!strings.Contains(page, `href="#source-1"`) || !strings.Contains(page, `id="source-1"`)) {
		t.Error("pandoc finds no charts, or no citations that lead to references, in the Markdown")
	}
	browser := []string{"--headless=new", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile")}
	if os.Geteuid() == 0 {
		browser = append(browser, "--no-sandbox")
	}
	has("Chromium, on a screen,", run(t, dir, "chromium", append(browser, "--dump-dom", "file://"+filepath.Join(dir, "report.html"))...), append(asked, evidence.Say(r.Language, "Sources"))...)
	run(t, dir, "chromium", append(browser, "--no-pdf-header-footer", "--print-to-pdf="+filepath.Join(dir, "print.pdf"), "file://"+filepath.Join(dir, "print.html"))...)
	for _, part := range r.Parts { // a formula stands behind its sentence on paper, too
		for _, s := range part.Sentences {
			if s.Calculation != nil {
				formula, _, _ := strings.Cut(s.Calculation.Text, "=")
				asked = append(asked, formula)
			}
		}
	}
	printed("Chromium", run(t, dir, "pdftotext", "print.pdf", "-"), append(asked, evidence.Say(r.Language, "Sources"))...)
}

// References opens the list of a report's sources in csl-json or bibtex with pandoc, and
// demands that it has so many. It does nothing unless it is asked for.
func References(t *testing.T, format string, list []byte, want int) {
	t.Helper()
	if !Asked() {
		return
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "list"), list, 0o600))
	if got := strings.Count(run(t, dir, "pandoc", "-f", strings.ReplaceAll(format, "-", ""), "-t", "csljson", "list"), `"id":`); got != want {
		t.Errorf("pandoc finds %d sources in %s, want %d", got, format, want)
	}
}
