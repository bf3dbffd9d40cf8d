package claim_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestNumbersThatStandApart: a number of the question, above a page or of its address, and one
// that counts what its tables list, is for a reader to judge; any other is missing.
func TestNumbersThatStandApart(t *testing.T) {
	page := claim.Page{CID: "a", Address: "https://files.invalid/lists/harbour_rules_7.1.0_en.csv", Title: "Harbour rules 6.2.0", Headings: []string{"Rules since 1987"},
		Text: "chapter_id\tchapter_name\treq_id\n" +
			strings.Repeat("chapter_id: V11\tchapter_name: Mooring\treq_id: 1\n", 12) + strings.Repeat("chapter_id: V12\tchapter_name: Signals\treq_id: 2\n", 31)}
	for _, test := range []struct {
		sentence, question string
		want               claim.Standing
		text               string
	}{
		{"Harbour rules of edition 4.0.3 name their chapter.", "What changed from 4.0.3 to now?", claim.Weak, "4.0.3 (in the question)"},
		{"Harbour rules of edition 4.0.3 name their chapter.", "What changed?", claim.Missing, "4.0.3"},
		{"Harbour rules 6.2 name their chapter.", "", claim.Weak, "6.2 (in the title of the page)"},
		{"Harbour rules since 1987 name their chapter in 2500 lines.", "", claim.Missing, "2500"},
		{"Harbour rules 7.1.0 name their chapter.", "", claim.Weak, "7.1.0 (in the address of the page)"},
		{"Harbour rules 7.10 name their chapter.", "", claim.Missing, "7.10"},
		{"The harbour rules list 43 requirements by chapter.", "", claim.Weak, "43 (a count of its table's rows)"},
		{"The chapter Signals has 31 harbour rules.", "", claim.Weak, "31 (a count of its table's rows)"},
		{"The chapter Signals has 32 harbour rules.", "", claim.Missing, "32"},
		{"The chapter Signals has 31 % of the harbour rules.", "", claim.Missing, "31 %"},
	} {
		asked := []claim.Question{{Text: test.sentence, Language: "en", CIDs: []string{"a"}, Run: test.question}}
		j := must.Get(claim.Judge(t.Context(), asked, func(string) (*claim.Page, error) { return &page, nil }, claim.Titles{}))(t)[0]
		found := ""
		for _, f := range j.Findings {
			if f.Rule == "numbers" {
				found = f.Text
			}
		}
		if j.Standing != test.want || found != test.text {
			t.Errorf("%s: %s, %q, want %s, %q", test.sentence, j.Standing, found, test.want, test.text)
		}
	}
}

// TestNumbersOfTablesWithoutUnits: a table may leave to its description what its numbers count.
// Such a number is for a reader to judge, and its row is shown; one of another row, or one
// that is a share, is missing.
func TestNumbersOfTablesWithoutUnits(t *testing.T) {
	page := claim.Page{CID: "a", Title: "Air at the station", Text: "Year\tMean\tUncertainty\n" +
		"Year: 1989\tMean: 353.20\tUncertainty: 0.12\nYear: 1990\tMean: 354.45\tUncertainty: 0.12\nYear: 1991\tMean: 355.70\tUncertainty: 12\n"}
	for _, test := range []struct {
		sentence string
		want     claim.Standing
		text     string
	}{
		{"In 1990 the mean stood at 354.45 ppm.", claim.Weak, "354.45 ppm (in a table of the page, without its unit)"},
		{"The mean stood at 354.45 ppm.", claim.Missing, "354.45 ppm"},
		{"In 1990 the mean stood at 355.70 ppm.", claim.Missing, "355.70 ppm"},
		{"In 1991 the mean had an uncertainty of 12 %.", claim.Missing, "12 %"},
		{"In 1990 the mean stood at 354.45.", claim.Found, ""},
	} {
		asked := []claim.Question{{Text: test.sentence, Language: "en", CIDs: []string{"a"}}}
		j := must.Get(claim.Judge(t.Context(), asked, func(string) (*claim.Page, error) { return &page, nil }, claim.Titles{}))(t)[0]
		found := ""
		for _, f := range j.Findings {
			if f.Rule == "numbers" {
				found = f.Text
			}
		}
		if j.Standing != test.want || found != test.text {
			t.Errorf("%s: %s, %q, want %s, %q", test.sentence, j.Standing, found, test.want, test.text)
		}
		if test.want == claim.Weak && (len(j.Windows) == 0 || !strings.Contains(j.Windows[0].Text, "1990")) {
			t.Errorf("%s: its row is not shown first: %+v", test.sentence, j.Windows)
		}
	}
}
