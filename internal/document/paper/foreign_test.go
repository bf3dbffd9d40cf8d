package paper_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/test/foreign"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestForeignProgramsOpenReports: LibreOffice, pandoc and Chromium open the formats of a
// report and find in them what a reader must: the question, the trust line, the
// references, and pictures of the charts. The short form opens three reports.
func TestForeignProgramsOpenReports(t *testing.T) {
	if !foreign.Asked() {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to open reports with LibreOffice, pandoc and Chromium")
	}
	reports := map[string]paper.Report{"drawn": drawn(t), "checked": checked(t), "arabic": arabic(t)}
	if full.Asked() {
		reports["harbour"], reports["unsourced"], reports["partial"] = harbour(t), harbour(t), harbour(t)
		for name, change := range map[string]func(*paper.Report){"unsourced": func(r *paper.Report) { r.Unsourced = true }, "partial": func(r *paper.Report) { r.Partial = "The run has not ended." }} {
			r := reports[name]
			change(&r)
			reports[name] = r
		}
	}
	for name, r := range reports {
		t.Run(name, func(t *testing.T) { foreign.Open(t, r) })
	}
}

// arabic is a report that is read from right to left.
func arabic(t *testing.T) paper.Report {
	r := harbour(t)
	r.Question, r.Language = "هل يشتري الميناء قاطرات كهربائية؟", "ar"
	r.Parts = []paper.Part{{Text: []byte("## الملخص\n\nنعم، تكلف القاطرة الكهربائية أقل [@" + cid("cost") + "].\n\n- الأولى\n- الثانية\n")}}
	return r
}
