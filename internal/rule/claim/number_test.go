package claim_test

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
)

// TestNumbers checks one claim against one page in each row. Either all numbers of
// the claim must be found, or none.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		claim, page string
		want        bool
	}{
		// Separators.
		{"315 people", "There were 315 dead.", true},
		{"1,234 people", "1234 people", true},
		{"1234 people", "1,234 people", true},
		{"1234567 people", "1,234,567 people", true},
		{"1234567 people", "1 234 567 people", true},
		{"1234567 people", "1\u202f234\u202f567 personnes", true},
		{"1234567 people", "1.234.567 Menschen", true},
		{"1234567 people", "1'234'567 Menschen", true},
		{"1234567 people", "12,34,567 people", true},
		{"1234 people", "1.234 Menschen, 3,5 Prozent", true},
		{"1.234 seconds", "1.234 Menschen, 3,5 Prozent", false},
		{"3.5 metres", "3,5 Meter", true},
		{"3,5 Meter", "3.5 metres", true},
		{"3.5 metres", "35 metres", false},
		{"1,234.5 tons", "1.234,5 tons", true},
		{"12.50 euros", "12.5 euros", true},
		{"0.75 litres", "They hold .75 litres", true},
		{"hold .73 litres", "73 litres", false},
		// Per cent.
		{"45 %", "45% of the coast", true},
		{"45 percent", "45 per cent of the coast", true},
		{"45%", "45 Prozent der Küste", true},
		{"45%", "45 pour cent", true},
		{"45%", "約45パーセント", true},
		{"45%", "yaklaşık yüzde 45’i", true},
		{"45%", "45 people", false},
		{"45 people", "45% of them", false},
		{"45%", "45 percentage points", false},
		{"45 percentage points", "45 pp", true},
		{"5 percent", "five percent", true},
		{"5%", "6%", false},
		{"45%", "Rate\t45\t46", false},
		{"45%", "Rate (%)\t45\t46", true}, // a table says it once
		{"45%", "Year\tRate, percent\n2020\t45\n2021\t46", true},
		{"2020 %", "Year\tRate, percent\n2020\t45\n2021\t46", false},
		{"45%", "Rates in percent\nYear\tRate\n2020\t45", true},
		{"45%", "Rates in percent\n\nThe 45 rooms", false},
		{"45 km", "Year\tLength (km)\tWidth (m)\n2020\t45\t46", true},
		{"46 km", "Year\tLength (km)\tWidth (m)\n2020\t45\t46", false},
		{"46 m", "Year\tLength (km)\tWidth (m)\n2020\t45\t46", true},
		{"45 km", "Length\tkm\t45", true},
		{"$1,150", "Item\tCost\nBoat\t$1,200\nNet\t1,150", true},
		{"20%", "one in five of them", true},
		{"33 percent", "a third of them", true},
		{"67%", "two-thirds agreed", true},
		{"66.7%", "two thirds agreed", true},
		{"75%", "Three quarters of the money", true},
		{"90%", "nine out of ten dentists", true},
		{"37.5%", "three eighths of it", true},
		{"20%", "a fifth attempt", false},
		{"50%", "in the second half of 2020", false},
		{"25%", "in the first quarter of 2020", false},
		{"20 people", "one in five of them", false},
		{"25%", "one in five of them", false},
		// Magnitudes.
		{"1.2 million", "1,200,000 people", true},
		{"1.2 million", "1.2m people were asked", true},
		{"1.2 billion euros", "1.2bn euros", true},
		{"1.2 billion euros", "€1.2bn", true},
		{"€1.2 billion", "1,2 Milliarden Euro", true},
		{"1.2 billion euros", "1,2 milliard d’euros", true},
		{"1.2 billion euros", "約12億ユーロ", true},
		{"1.2 billion euros", "примерно в 1,2 миллиарда евро", true},
		{"1.2 billion", "1.2 million", false},
		{"12 million", "12 thousand", false},
		{"12 million million", "12 million", false},
		{"12 thousand million", "12 billion", true},
		{"5k runners", "5,000 runners", true},
		{"5 thousand", "5000", true},
		{"$5M", "5 million dollars", true},
		{"$5 million", "US$5 million", true},
		{"US$5 million", "USD 5m", true},
		{"3.2 × 10⁶", "3.2 million", true},
		{"10^6", "one million", true},
		{"half a million", "500,000 people", true},
		{"2 million", "two million people", true},
		// Units.
		{"12 km", "12 kilometres", true},
		{"12 km", "12 miles", false},
		{"$12", "€12", false},
		{"$12", "A$12", true}, // a dollar is a dollar of some country
		{"US$12", "A$12", false},
		{"12 kg", "12 g", false},
		{"30-minute test", "a test of 30 minutes", true},
		{"30 minutes", "30 hours", false},
		{"25 °C", "25 degrees Celsius", true},
		{"25 °C", "25 °F", false},
		{"12 pounds", "£12", true},
		{"12 GW", "12 MW", false},
		{"revenue of 500 was reported", "$500", true},
		// A bare number counts nothing that the claim names.
		{"64 percent", "The coast is long.[64]", false},
		{"64 tugs", "The coast is long.[64]", false},
		{"64 tugs", "values: [64]", true},
		{"555 euros", "Call 555-0199.", false},
		{"978 percent", "ISBN 978-3-16-148410-0", false},
		{"101 kg", "Room 101.", false},
		{"400 million", "She won the 400m.", false},
		{"400 million", "the 400m hurdles", false},
		{"400 million", "about 400m people", true},
		{"400 million euros", "about €400m", true},
		{"the 400m", "the 400 metres", true},
		{"73 years", "They paid 73 an hour for the work.", false},
		{"73 years", "il a 73 ans et le port en a vingt", true},
		{"73 years", "He died aged 73 in the town", true},
		{"50 hours", "The 50 ore carriers of the fleet", false},
		{"50 hours", "La nave ha navigato per 50 ore", true},
		{"12,000 of them", "12 bin bags were in the street", false},
		{"12,000 of them", "12 mil plastic is on the roof", false},
		{"12,000 of them", "el puerto tiene 12 mil barcos", true},
		{"70 percent", "section 70, 30 percent of the coast", false},
		{"70 percent", "70, 80 and 30 percent of the coast", true},
		{"12 marks", "12 of them", true},
		// Words.
		{"25 people", "twenty-five people", true},
		{"twenty-five people", "25 people", true},
		{"112 people", "one hundred and twelve people", true},
		{"3,400 people", "three thousand four hundred people", true},
		{"12 eggs", "a dozen eggs", true},
		{"36 eggs", "three dozen eggs", true},
		{"3 dozen eggs and 48 more", "36 eggs, 48 eggs", true},
		{"9 dozen eggs", "9 eggs", false},
		{"2.480 Plätze für die Boote", "2,480 berths", true},
		{"2.480 berths for the boats", "2480 berths", false},
		{"12 of them, ge\u00adten", "12 of them", true}, // not ten
		{"sixty places", "60 places", true},
		{"sixteen places", "60 places", false},
		{"one hundred percent", "100%", true},
		{"the 21st century", "the twenty-first century", true},
		{"the 20th century", "the twentieth century", true},
		{"two thirds of them", "67 percent of them", true},
		{"two thirds of them", "two thirds of them", true},
		{"two thirds of them", "three quarters of them, 75 percent", false},
		{"several hundred of them", "several hundred tugs", true},
		{"several hundred of them", "several thousand tugs", false},
		{"a dozen of them", "12 tugs", true},
		// Numbers that are hidden from one reader or the other.
		{"⑨⑨ percent", "99 percent", true},
		{"⑨⑨ percent", "99 bottles", false},
		{"⁹⁹ percent", "99 bottles", false},
		{"⁹⁹ percent", "99 %", true},
		{"ʼ99 percent", "The rate is 12 percent", false},
		{"ʼ99 percent", "The rate is 99 percent", true},
		{"x99 more", "12 more", false},
		{"x99 more", "99 more", true},
		{"a record-4,711-tug fleet", "a fleet of 12", false},
		{"a record-4,711-tug fleet", "a fleet of 4,711", true},
		{"carbon-14 dating", "by carbon-14 dating", true},
		{"4711tugs", "12 tugs", false},
		{"4711tugs", "they have 4711tugs", true},
		{"1.2.3 tugs", "12 tugs", false},
		{"version 1.2.3", "version 1.2.3 is out", true},
		{"1234567890123456789012345 tugs", "12 tugs", false},
		{"1234567890123456789012345 tugs", "No. 1234567890123456789012345", true},
		{"10x faster", "it is 10x faster", true},
		{"10x faster", "it is 20x faster", false},
		{"Ⅻ tugs", "10 tugs", false},
		{"½ of it", "a part of it", false},
		{"1½ cups", "1 cup", false},
		{"1½ cups", "1½ cups", true},
		{"10⁶ of them", "1,000,000 of them", true},
		// Ranges.
		{"5–10%", "between 5 and 10 percent", true},
		{"5 to 10 percent", "5%–10%", true},
		{"$5–10 million", "between $5 million and $10 million", true},
		{"between 10 and 15 million euros", "10 to 15 million euros", true},
		{"10, 12 and 15 percent", "10%, 12% and 15%", true},
		{"5–10%", "6–11%", false},
		// Years and dates.
		{"in 1962", "the winter of 1962", true},
		{"in 1962", "in 1963", false},
		{"in 2020", "the season 2019–20", true},
		{"in 2020", "the season 2019/20", true},
		{"in the 1990s", "during the 1990s", true},
		{"in the 1990s", "in 1990", false},
		{"on 15 March 2021", "2021-03-15", true},
		{"on 2021-03-15", "March 15, 2021", true},
		{"on 15 March 2021", "15.03.2021", true},
		{"since FY 2020", "in FY2020", true},
		{"post-2008 rules", "rules made after 2008", true},
		{"at 10:30", "at 10:30 in the morning", true},
		{"at 10:30", "10 of 30", false},
		{"at 10.30", "at 10:30 each day", true},
		{"at 22.05", "à 22h05", true},
		{"at 22 h 05", "at 22:05", true},
		{"at 10.30", "at 10:45", false},
		{"for 10.30 euro", "at 10:30", false},
		{"Version 2.0.0b22", "version 2.0.0b22 (2026-07-22)", true},
		{"Version 2.0.0b2", "version 2.0.0b22 (2026-07-22)", false},
		{"Version 2.0.0", "version 2.0.0b22", false},
		{"Version 2.0.0-rc1", "version 2.0.0-rc10", false},
		{"Version 1.4.1", "version v1.4.1", true},
		{"Version 14.2.5", "before v14.2.5.", true},
		{"Version 1.4", "version 1.4.1", false},
		{"Version 1.4", "release v1.4", true},
		{"Version 1.1.1k", "version 1.1.1k", true},
		{"Version 1.1.1", "version 1.1.1k", false},
		{"on 9 May 2018", "on 09.05.2018", true},
		{"on 09.05.2018", "on May 9, 2018", true},
		// Other digits.
		{"315 people", "٣١٥ شخصا", true},
		{"315 people", "３１５人", true},
		{"315 people", "315명이", true},
		// Numbers are not parts of others.
		{"31 people", "315 people", false},
		{"15 people", "315 people", false},
		{"19 cases", "COVID-19 cases", false},
		{"12 people", "12.5 people", false},
		{"12.5 people", "12 people", false},
		{"-15 °C", "minus 15 °C, −15 °C", true},
	} {
		got := groundOne(t, c.claim, c.page)
		missing := slices.ContainsFunc(got.Findings, func(f claim.Finding) bool { return f.Rule == "dates" })
		if len(got.Numbers) == 0 && missing == c.want {
			t.Errorf("%q on %q: %+v", c.claim, c.page, got)
		}
		for _, n := range got.Numbers {
			if n.Found != c.want {
				t.Errorf("%q on %q: %q found is %v", c.claim, c.page, n.Text, n.Found)
			}
			if n.Found && !holds(n, c.page) {
				t.Errorf("%q on %q: the match %q does not hold", c.claim, c.page, c.page[n.Start:n.End])
			}
		}
	}
}

var matchRow = regexp.MustCompile("^\\| (yes|no) \\| `(.*)` \\| `(.*)` \\|$")

// TestDocumentedMatches checks the examples of docs/rules.md against what is
// found.
func TestDocumentedMatches(t *testing.T) {
	doc := must.Get(os.ReadFile("../../../docs/rules.md"))(t)
	numbers, _, _ := strings.Cut(string(doc), "\n## What a sentence states\n")
	examples := 0
	for line := range strings.Lines(numbers) {
		row := matchRow.FindStringSubmatch(strings.TrimSpace(line))
		if row == nil {
			continue
		}
		examples++
		if got := matchesIn(t, "They say "+row[2]+" [@s].\n", "It has "+row[3]+".").Numbers; len(got) == 0 || (lacking(got) == 0) != (row[1] == "yes") {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if examples < 40 {
		t.Errorf("only %d examples were read", examples)
	}
}

// TestWhatIsNoNumber lists what a claim may say without its source having it.
func TestWhatIsNoNumber(t *testing.T) {
	for _, stated := range []string{
		"GPT4 and GPT-4o", "COVID-19", "the F-16 and the 5G network", "v1.2.3", "H1N1", "x86", "omega-3", "covid-19", "the twentieth century", "3D", "five people", "3 people", "the 3rd of them",
		"CO2", "hundreds of millions of people", "thousands", "the second and third",
		"one of them", "2xx", "5 m²",
	} {
		if got := groundOne(t, stated, "x"); len(got.Numbers) != 0 {
			t.Errorf("%q: %+v", stated, got)
		}
	}
}

// TestARowOfManyCellsIsReadOnce: what a number costs does not depend on how many cells
// stand before it.
func TestARowOfManyCellsIsReadOnce(t *testing.T) {
	const draft = "There are 4,711 tugs [@s].\n"
	allocated := func(cells int) uint64 {
		body := []byte("<table><tr>" + strings.Repeat("<td>73</td><td>tugs</td>", cells) + "</tr></table>")
		text := page.Read(body, "text/html").Text
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ground(t, draft, text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(500), allocated(4000); many > 16*few {
		t.Errorf("%d bytes for 500 pairs of cells, %d for eight times as many", few, many)
	}
}
