package figure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/figure"
)

// TestDates reads dates in the spellings of many languages; 0 stands for what is not
// named.
func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"on 12 March 2022":                 "2022-3-12",
		"on March 12, 2022, it sank":       "2022-3-12",
		"on the 1st of May 2022":           "2022-5-1",
		"on Sept. 3rd":                     "0-9-3",
		"in March 2022":                    "2022-3-0",
		"10–12 March 2022":                 "2022-3-12 2022-3-10",
		"March 10-12, 2022":                "2022-3-10 2022-3-12",
		"2022-03-12T10:00":                 "2022-3-12",
		"12.03.2022":                       "2022-3-12",
		"am 12. März 2022":                 "2022-3-12",
		"le 1er février 2022":              "2022-2-1",
		"el 12 de marzo de 2022":           "2022-3-12",
		"12. maaliskuuta 2022":             "2022-3-12",
		"12 марта 2022 года":               "2022-3-12",
		"2022年3月12日":                       "2022-3-12",
		"3月12日":                            "0-3-12",
		"2022년 3월 12일":                     "2022-3-12",
		"في ١٢ مارس ٢٠٢٢":                  "2022-3-12",
		"they may march 12 miles":          "",
		"version 1.2.2022.4, 10.11.12":     "",
		"2022, March":                      "0-3-0",
		"12.5 March":                       "0-3-0",
		"40 March":                         "0-3-0",
		"room 2022-13-45 and 99/99/2022":   "",
		strings.Repeat("x", 100) + "March": "",
	} {
		var got []string
		for _, d := range figure.Dates(text, nil) {
			got = append(got, fmt.Sprintf("%d-%d-%d", d.Year, d.Month, d.Day))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, strings.Join(got, " "), want)
		}
	}
	either, turned := figure.Dates("03/12/2022", nil)[0], figure.Dates("12 March 2022", nil)[0]
	if !turned.Is(either) || !either.Is(turned) || turned.Is(figure.Dates("12 April 2022", nil)[0]) {
		t.Error("03/12/2022 may be a day in March or December")
	}
}
