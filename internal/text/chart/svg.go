package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"
)

// Style is how the parts of a chart look in a page, in light and dark. A chart as a file
// brings it along; in a page that allows no style but its own it belongs there.
const Style = `.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.chart text{fill:#1a2126}.chart .quiet{fill:#55616a}.chart .grid{stroke:#dcdfdc}.chart .axis{stroke:#55616a}
.chart .s0{fill:#0a5a74}.chart .s1{fill:#c8641b}.chart .s2{fill:#4f7a28}.chart .s3{fill:#7b3f8c}.chart .s4{fill:#a08200}.chart .s5{fill:#6a747c}
.chart .l0{stroke:#0a5a74}.chart .l1{stroke:#c8641b}.chart .l2{stroke:#4f7a28}.chart .l3{stroke:#7b3f8c}.chart .l4{stroke:#a08200}.chart .l5{stroke:#6a747c}
@media (prefers-color-scheme:dark){.chart text{fill:#e4e8ea}.chart .quiet{fill:#a3b0b8}.chart .grid{stroke:#313c43}.chart .axis{stroke:#a3b0b8}
.chart .s0{fill:#7cc8e0}.chart .s1{fill:#f0a46b}.chart .s2{fill:#a5cf7d}.chart .s3{fill:#cf9ade}.chart .s4{fill:#e0c64f}.chart .s5{fill:#a9b4bb}
.chart .l0{stroke:#7cc8e0}.chart .l1{stroke:#f0a46b}.chart .l2{stroke:#a5cf7d}.chart .l3{stroke:#cf9ade}.chart .l4{stroke:#e0c64f}.chart .l5{stroke:#a9b4bb}}
@media print{.chart text{fill:#000}.chart .quiet{fill:#444}.chart .grid{stroke:#ccc}.chart .axis{stroke:#444}
.chart .s0{fill:#0a5a74}.chart .s1{fill:#c8641b}.chart .s2{fill:#4f7a28}.chart .s3{fill:#7b3f8c}.chart .s4{fill:#a08200}.chart .s5{fill:#6a747c}
.chart .l0{stroke:#0a5a74}.chart .l1{stroke:#c8641b}.chart .l2{stroke:#4f7a28}.chart .l3{stroke:#7b3f8c}.chart .l4{stroke:#a08200}.chart .l5{stroke:#6a747c}}
`

// colours are those of the series on paper, and inks those of the other classes.
var (
	colours = [maxSeries]uint32{0x0a5a74, 0xc8641b, 0x4f7a28, 0x7b3f8c, 0xa08200, 0x6a747c}
	inks    = map[string]uint32{"title": 0x1a2126, "text": 0x1a2126, "quiet": 0x55616a, "grid": 0xdcdfdc, "axis": 0x55616a}
)

// dashes tell lines apart where colours do not.
var dashes = [maxSeries]string{"", "7 4", "2 3", "10 3 2 3", "1 5", "12 6"}

// SVG is the chart as a picture. As a file it stands alone, with its own style; otherwise
// it is part of a page, whose style has [Style], and id is its name there.
func (c *Chart) SVG(words Words, id string, file bool) []byte {
	d := c.draw(words)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %d %d"`, wide, d.height)
	if file {
		fmt.Fprintf(&b, ` width="%d" height="%d"`, wide, d.height)
	}
	fmt.Fprintf(&b, ` role="img" aria-labelledby="%s-title %s-desc"><title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, id, id, id, escape(words.Title), id, escape(c.described()))
	if file {
		b.WriteString("<style>" + Style + "</style>")
	}
	b.WriteByte('\n')
	for _, s := range d.shapes {
		s.svg(&b)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// described are the numbers of the chart in words, for those who hear it.
func (c *Chart) described() string {
	var parts []string
	for row, label := range c.labels {
		var values []string
		for _, s := range c.series {
			if v := s.values[row]; v.text != "" && len(c.series) > 1 {
				values = append(values, s.name+" "+v.text)
			} else if v.text != "" {
				values = append(values, v.text)
			}
		}
		parts = append(parts, label+": "+strings.Join(values, ", "))
	}
	return strings.Join(parts, "; ")
}

func (s *shape) svg(b *strings.Builder) {
	switch {
	case s.text != "":
		fmt.Fprintf(b, `<text class="%s" x="%s" y="%s" font-size="%d" fill="#%06x"`, s.class, number(s.x), number(s.y), s.size, inks[s.class])
		if s.anchor != "" {
			fmt.Fprintf(b, ` text-anchor="%s"`, s.anchor)
		}
		if s.bold {
			b.WriteString(` font-weight="600"`)
		}
		b.WriteString(">" + escape(s.text) + "</text>\n")
	case s.class == "line":
		fmt.Fprintf(b, `<polyline class="l%d" points="%s" fill="none" stroke="#%06x" stroke-width="2.2" stroke-linejoin="round"`, s.series, places(s.points), colours[s.series])
		if dash := dashes[s.series]; dash != "" {
			fmt.Fprintf(b, ` stroke-dasharray="%s"`, dash)
		}
		b.WriteString("/>\n")
	case s.points != nil:
		fmt.Fprintf(b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s" stroke="#%06x" stroke-width="1"/>`+"\n", s.class, number(s.points[0]), number(s.points[1]), number(s.points[2]), number(s.points[3]), inks[s.class])
	case s.circular:
		fmt.Fprintf(b, `<circle class="s%d" cx="%s" cy="%s" r="%s" fill="#%06x"/>`+"\n", s.series, number(s.x+s.width/2), number(s.y+s.height/2), number(s.width/2), colours[s.series])
	default:
		fmt.Fprintf(b, `<rect class="s%d" x="%s" y="%s" width="%s" height="%s" rx="2" fill="#%06x"/>`+"\n", s.series, number(s.x), number(s.y), number(s.width), number(s.height), colours[s.series])
	}
}

func places(points []float64) string {
	texts := make([]string, len(points)/2)
	for i := range texts {
		texts[i] = number(points[2*i]) + "," + number(points[2*i+1])
	}
	return strings.Join(texts, " ")
}

func number(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }

// escape writes text so that it can become no part of the markup. What XML does not
// allow, or what hides or turns text, is left out.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != ' ' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text))
}
