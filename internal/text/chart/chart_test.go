package chart_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/text/chart"
)

func rows(lines ...string) (t chart.Table) {
	for i, line := range lines {
		cells := strings.Split(line, "|")
		for k := range cells {
			cells[k] = strings.TrimSpace(cells[k])
		}
		if i == 0 {
			t.Head = cells
		} else {
			t.Rows = append(t.Rows, cells)
		}
	}
	return t
}

var samples = map[string]struct {
	kind  chart.Kind
	table chart.Table
	words chart.Words
}{
	"bars": {chart.Bar, rows("Option | Total cost over ten years (EUR million) | Remark", "Battery tug with shore power | 21.4 | own quay", "Hybrid tug | 18.9 |", "Diesel tug with particle filter | 16.2 | |", "Hydrogen | – | no offer"),
		chart.Words{Title: "What the four options cost over ten years", Sources: "Sources: Port statistics 2025 [1]; Fleet renewal plan [3]"}},
	"groups": {chart.Bar, rows("Port | 2019 (%) | 2024 (%)", "Rotterdam | 14.8 % | 31 %", "Genoa | −2.6 % | 4 %", "A port with a name that is much too long to stand on one line or even two of them | 7 % | 9 %"),
		chart.Words{Title: "Share of calls with shore power", Note: "1 row is not drawn, because its sentence is not confirmed.", Sources: "Source: Ferry journal [2]"}},
	"lines": {chart.Line, rows("Year | Calls | Of them at night", "2015 | 1,940 | 410", "2018 | 2,134 | 455", "2019 | 2,098 |", "2024 | 3,015 | 640"),
		chart.Words{Title: "Calls of ferries", Sources: "Source: Port statistics 2025 [1]"}},
	"german": {chart.Line, func() chart.Table {
		t := rows("Quartal | Umsatz (Mio. EUR)", "Q1 | 1.234,5", "Q2 | 1.100,25", "Q3 | 1.310", "Q4 | 1.402,75")
		t.Language = "de"
		return t
	}(), chart.Words{Title: "Umsatz nach Quartal"}},
}

// TestPictures: each chart is the kept file, byte for byte, and well-formed.
func TestPictures(t *testing.T) {
	for name, tt := range samples {
		t.Run(name, func(t *testing.T) {
			c, problem := chart.New(tt.kind, tt.table)
			if problem != nil {
				t.Fatalf("%+v", problem)
			}
			got := c.SVG(tt.words, "chart-1", true)
			wellFormed(t, got)
			golden.Check(t, "testdata/"+name+".svg", got)
		})
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, svg)
		}
		if start, ok := token.(xml.StartElement); ok && !strings.Contains(" svg title desc style text line polyline circle rect ", " "+start.Name.Local+" ") {
			t.Errorf("an element %q", start.Name.Local)
		}
	}
}

// TestWhatCannotBeDrawn: a problem names the row and what to change.
func TestWhatCannotBeDrawn(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  chart.Kind
		table chart.Table
		row   int
		what  string
	}{
		"one row":           {chart.Bar, rows("A | B", "x | 1"), -1, "fewer than two rows"},
		"no numbers":        {chart.Bar, rows("A | B", "x | a", "y | b"), -1, "no column behind the first has numbers"},
		"a word among them": {chart.Bar, rows("A | B", "x | 1", "y | few"), 1, "“few” is none"},
		"two numbers":       {chart.Bar, rows("A | B", "x | 1.8 to 2.1", "y | 3"), 0, "“1.8 to 2.1” is none"},
		"another unit":      {chart.Bar, rows("A | B", "x | 1 t", "y | 3 kg"), 1, "the unit of “3 kg” is another"},
		"two units":         {chart.Bar, rows("A | B (t) | C (%)", "x | 1 | 2", "y | 3 | 4"), -1, "different units"},
		"money and shares":  {chart.Bar, rows("A | B | C", "x | €1 | 2 %", "y | €3 | 4 %"), -1, "different units"},
		"years that fall":   {chart.Line, rows("A | B", "2020 | 1", "2019 | 2"), 1, "“2019” is not above"},
		"a year twice":      {chart.Line, rows("A | B", "2020 | 1", "2020 | 2"), 1, "“2020” is not above"},
		"beyond all bounds": {chart.Bar, rows("A | B", "x | 1", "y | 99999999999999999999"), 1, "is none"},
		"nothing":           {chart.Bar, rows("A | B", "x | 0", "y | 0"), -1, "zero"},
		"too many":          {chart.Bar, rows(append([]string{"A | B"}, strings.Split(strings.Repeat("x | 1\n", 31), "\n")[:31]...)...), -1, "too many rows"},
		"many columns":      {chart.Bar, rows("A|1|2|3|4|5|6|7", "x|1|1|1|1|1|1|1", "y|1|1|1|1|1|1|1"), -1, "more than six"},
		"no columns":        {chart.Bar, rows("A", "x", "y"), -1, "no column"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, problem := chart.New(tt.kind, tt.table); problem == nil || problem.Row != tt.row || !strings.Contains(problem.What, tt.what) || problem.Change == "" {
				t.Errorf("%+v", problem)
			}
		})
	}
}

// TestNoOtherNumber: a chart shows its cells' numbers, its ticks, and no others; a cell
// without a number is not drawn.
func TestNoOtherNumber(t *testing.T) {
	c, problem := chart.New(chart.Bar, rows("Tug | Pull (t)", "a | 68.31", "b | n/a", "c | 70").Without(func(row int) bool { return row == 2 }))
	if problem != nil {
		t.Fatal(problem)
	}
	svg := string(c.SVG(chart.Words{Title: "T"}, "x", false))
	if !strings.Contains(svg, ">68.31<") || strings.Contains(svg, "70<") || strings.Count(svg, "<rect") != 1 || strings.Contains(svg, "<style>") {
		t.Error(svg)
	}
}

// FuzzSVG: whatever a table says, the picture is well-formed and has no element of the
// table's own.
func FuzzSVG(f *testing.F) {
	f.Add("line", "Year | </text><script>alert(1)</script> (\"x\")\n2019 | 1 €\n2020 | −2 €", "<b>&\x00\u202e", "en")
	f.Add("bar", "A | B | C\n| 1e300 | \n海海海海海海海海海海海海海海海海海海海海海海海海海海海 | 99999999999999999999999999999999999999999999 | 5\n| .5 |", "", "de")
	f.Fuzz(func(t *testing.T, kind, text, title, language string) {
		table := rows(strings.Split(text, "\n")...)
		table.Language = language
		c, problem := chart.New(chart.Kind(kind), table)
		if problem != nil {
			return
		}
		words := chart.Words{Title: title, Sources: title, Note: title}
		svg := c.SVG(words, "chart-1", false)
		wellFormed(t, svg)
		if string(c.SVG(words, "chart-1", false)) != string(svg) {
			t.Error("twice gives different pictures")
		}
	})
}
