package report_test

import (
	"bytes"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/golden"
)

// sample uses every part of a report once.
func sample() report.Report {
	r := report.Report{
		Name:    "wave_review",
		Title:   "Wave review",
		Summary: "2 of 4 outputs need work",
		Status:  report.Fail,
		Rules: []report.Rule{
			{ID: "MISSING_REQUIRED_SECTION", Short: "A section that the contract asks for is missing.", Help: "Add the section with exactly that title."},
			{ID: "TOO_MANY_WORDS", Short: "The output has more words than its cap.", Help: "Shorten it."},
		},
		Properties: []report.Property{{Name: "perspectives", Value: "/runs/r1/perspectives.json"}},
	}
	r.Add(report.Fields{
		{Name: "Run", Value: "r1"},
		{Name: "Gate B", Value: "2 of 4 outputs", Mark: report.Fail},
	})
	t := report.NewTable("Perspective", ">Words", ">Sources", "Where", "Directive")
	t.Row(report.Pass, "economics", "612/800", 4, report.Place{}, "")
	t.Row(report.Fail, "history", "780/800", 0, report.Place{File: "/runs/r1/wave-1/history.md"}, "Add a 'Sources' section with at least one bullet that carries a URL.")
	t.Row(report.Fail, "law", "950/800", 7, report.Place{File: "/runs/r1/wave-1/law.md", Line: 42}, "Remove at least 150 words.")
	t.Row(report.Skip, "media", "-", "-", report.Place{}, "not asked for")
	r.Add(t, report.Heading("What to mend"), report.Findings{},
		report.Paragraph("The same bytes give the same report.\nNothing was fetched."),
		report.Bullets{"change only what the directive names", "keep the headings"},
		report.Heading("Next"), report.Preformatted("tidegate wave retry-prompt /runs/r1\n  --only history"))

	r.AddCase(report.Case{Name: "economics", File: "/runs/r1/wave-1/economics.md", Status: report.Pass})
	r.AddCase(report.Case{Name: "history", File: "/runs/r1/wave-1/history.md", Status: report.Fail, Findings: []report.Finding{
		{Rule: "MISSING_REQUIRED_SECTION", Message: "Missing section: Sources", Help: "Add a 'Sources' section.", ID: "history-sources"},
		{Rule: "style", Level: report.LevelWarning, Title: "Long line", Message: "line 7 is very long\nand hard to read", Category: "Style", Line: 7,
			Properties: []report.Property{{Name: "severity", Value: "Low"}}},
	}})
	r.AddCase(report.Case{Name: "law", File: "/runs/r1/wave-1/law.md", Status: report.Fail, Findings: []report.Finding{
		{Rule: "TOO_MANY_WORDS", Message: "950 words, the cap is 800", File: "/runs/r1/wave 1/law:a.md", Line: 42},
		{Rule: "TOO_MANY_WORDS", Level: report.LevelNote, Message: "see the shared notes", File: "/elsewhere/notes.md"},
	}})
	r.AddCase(report.Case{Name: "media", Status: report.Skip, Note: "not asked for"})
	r.AddCase(report.Case{Name: "trade", Status: report.Pass, File: "trade.md", Findings: []report.Finding{
		{Rule: "style", Level: report.LevelNote, Message: "close to the cap"}}})
	return r
}

func render(t *testing.T, format string, r report.Report, o report.Options) []byte {
	t.Helper()
	f, ok := report.Lookup(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var out, again bytes.Buffer
	if err := f.Write(&out, r, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	if err := f.Write(&again, r, o); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Fatalf("%s: the second writing of the same report differs (%v)", format, err)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	options := report.Options{Version: "1.2.3", Root: "/runs/r1"}
	narrow, wide, records := options, options, options
	narrow.Width = 80
	wide.Width, wide.Color = 120, true
	records.Width = 32
	for _, test := range []struct {
		file, format string
		options      report.Options
	}{
		{"pipe.txt", "text", options},
		{"width80.txt", "text", narrow},
		{"width32.txt", "text", records},
		{"colour120.txt", "text", wide},
		{"report.md", "markdown", options},
		{"report.sarif", "sarif", options},
		{"junit.xml", "junit", options},
		{"github.txt", "github", options},
		{"report.rdjson", "rdjson", options},
		{"gitlab.json", "gitlab", options},
	} {
		t.Run(test.file, func(t *testing.T) {
			golden.Check(t, "testdata/"+test.file, render(t, test.format, sample(), test.options))
		})
	}
}
