package synthesis_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestForeignProgramsOpenReports: LibreOffice, pandoc and Chromium open the formats of a
// report and find in them what a reader must: the question, the trust line, the
// references, and pictures of the charts. The short form opens three reports.
func TestForeignProgramsOpenReports(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to open reports with LibreOffice, pandoc and Chromium")
	}
	reports := map[string]synthesis.Report{"drawn": drawn(t), "checked": checked(t), "arabic": arabic(t)}
	if full.Asked() {
		reports["harbour"], reports["unsourced"], reports["partial"] = harbour(t), harbour(t), harbour(t)
		for name, change := range map[string]func(*synthesis.Report){"unsourced": func(r *synthesis.Report) { r.Unsourced = true }, "partial": func(r *synthesis.Report) { r.Partial = "The run has not ended." }} {
			r := reports[name]
			change(&r)
			reports[name] = r
		}
	}
	for name, r := range reports {
		t.Run(name, func(t *testing.T) { openEverywhere(t, r) })
	}
}

// arabic is a report that is read from right to left.
func arabic(t *testing.T) synthesis.Report {
	r := harbour(t)
	r.Question, r.Language = "هل يشتري الميناء قاطرات كهربائية؟", "ar"
	r.Parts = []synthesis.Part{{Text: []byte("## الملخص\n\nنعم، تكلف القاطرة الكهربائية أقل [@" + cid("cost") + "].\n\n- الأولى\n- الثانية\n")}}
	return r
}

// foreign runs a program of others, or skips the test where it is not installed.
func foreign(t *testing.T, dir, program string, args ...string) string {
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

func openEverywhere(t *testing.T, r synthesis.Report) {
	dir := t.TempDir()
	text, charts := r.MarkdownFiles("report.md")
	for _, f := range append(charts, synthesis.File{Name: "report.md", Data: text}, synthesis.File{Name: "report.docx", Data: r.Docx()}, synthesis.File{Name: "report.html", Data: r.HTML()}, synthesis.File{Name: "print.html", Data: r.PrintHTML()}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust := strings.Join(strings.Fields(r.Trust)[:min(2, len(strings.Fields(r.Trust)))], " ")
	has := func(what, got string, want ...string) {
		t.Helper()
		got = strings.Join(strings.Fields(got), " ")
		for _, w := range append(want, trust, evidence.Say(r.Language, "How this report was made")) {
			if !strings.Contains(got, w) {
				t.Errorf("%s does not show %q", what, w)
			}
		}
	}
	asked, references := strings.Fields(r.Question)[:1], evidence.Say(r.Language, "References")
	printed := func(what, got string, want ...string) {
		t.Helper()
		if evidence.Direction(r.Language) == "rtl" { // which is broken into pieces where PDF is shown as text
			if len(got) < 500 {
				t.Errorf("%s shows nothing", what)
			}
			return
		}
		has(what, got, want...)
	}
	foreign(t, dir, "soffice", "--headless", "--convert-to", "pdf:writer_pdf_Export", "--outdir", "word", "report.docx")
	printed("LibreOffice", foreign(t, dir, "pdftotext", filepath.Join("word", "report.pdf"), "-"), append(asked, references)...)
	if pictures := foreign(t, dir, "pandoc", "-f", "docx", "-t", "html", "--extract-media", "media", "report.docx"); strings.Count(pictures, "<img") != len(charts) {
		t.Errorf("pandoc finds %d pictures in the file of Word, want %d", strings.Count(pictures, "<img"), len(charts))
	} else if has("pandoc, of Word,", pictures, references); len(charts) > 0 && !strings.Contains(pictures, `href="#source-1"`) {
		t.Error("pandoc finds no citation that leads to its reference")
	}
	page := foreign(t, dir, "pandoc", "-f", "gfm", "-t", "html", "report.md")
	has("pandoc, of Markdown,", page, references)
	if strings.Count(page, "<img") != len(charts) || len(charts) > 0 && (!strings.Contains(page, `href="#source-1"`) || !strings.Contains(page, `id="source-1"`)) {
		t.Error("pandoc finds no charts, or no citations that lead to references, in the Markdown")
	}
	browser := []string{"--headless=new", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile")}
	if os.Geteuid() == 0 {
		browser = append(browser, "--no-sandbox")
	}
	foreign(t, dir, "chromium", append(browser, "--no-pdf-header-footer", "--print-to-pdf="+filepath.Join(dir, "print.pdf"), "file://"+filepath.Join(dir, "print.html"))...)
	printed("Chromium", foreign(t, dir, "pdftotext", "print.pdf", "-"), append(asked, evidence.Say(r.Language, "Sources"))...)
}
