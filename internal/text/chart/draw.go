package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/figure"
)

// drawing is a picture as a list of shapes, in units of which it is wide ones across.
type drawing struct {
	height int
	shapes []shape
}

// The measures of a drawing.
const (
	wide       = 720
	labelRoom  = 200 // for the labels of bars
	valueRoom  = 96  // for the numbers behind them
	barHeight  = 20
	groupGap   = 12
	plotHeight = 260 // of a line chart
	titleSize  = 16
	textSize   = 12
	smallSize  = 11
)

// shape is one thing that is drawn. The class says how it looks: a name of styles, with a
// number for a series.
type shape struct {
	class          string
	series         int
	x, y           float64 // of a rectangle its corner, of a text the start of its baseline
	width, height  float64 // of a rectangle
	points         []float64
	text           string
	size           int
	anchor         string // start, middle or end of a text
	bold, circular bool
}

// letterWidths are those of Helvetica, and so of Arial, from the blank on, in
// thousandths.
var letterWidths = [...]int16{278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584}

// letterWidth is how wide a letter is, in sizes of its font. Letters of scripts without
// blanks are as wide as they are high.
func letterWidth(r rune, bold bool) float64 {
	width := 0.556
	switch i := int(r) - ' '; {
	case i >= 0 && i < len(letterWidths):
		width = float64(letterWidths[i]) / 1000
	case r >= 0x2e80:
		width = 1
	}
	if bold {
		width = float64(width * 1.06)
	}
	return width
}

// textWidth is how wide a text is at most: the fonts of readers differ.
func textWidth(text string, size int) float64 {
	width := 0.0
	for _, r := range text {
		width += letterWidth(r, false)
	}
	return float64(float64(width*float64(size)) * 1.15)
}

// wrap breaks a text into lines of a width, at blanks where it can, and ends the last one
// with … where there are more.
func wrap(text string, size int, width float64, most int) []string {
	var lines []string
	rest := strings.TrimSpace(strings.ToValidUTF8(text, ""))
	for rest != "" {
		end, blank := 0, 0
		for i, r := range rest {
			if textWidth(rest[:i+utf8.RuneLen(r)], size) > width && end > 0 {
				break
			}
			if r == ' ' {
				blank = i
			}
			end = i + utf8.RuneLen(r)
		}
		if end < len(rest) && blank > 0 {
			end = blank
		}
		if len(lines) == most-1 && end < len(rest) {
			line := []rune(rest[:end])
			return append(lines, strings.TrimSpace(string(line[:max(1, len(line)-1)]))+"…")
		}
		lines = append(lines, strings.TrimSpace(rest[:end]))
		rest = strings.TrimSpace(rest[end:])
	}
	return lines
}

// fit is as much of a text as there is room for in one line.
func fit(text string, size int, width float64) string {
	return strings.Join(wrap(text, size, width, 1), "")
}

// Words are what a chart says besides its numbers.
type Words struct {
	Title   string
	Sources string // a line at the foot, "" for none
	Note    string // likewise: what is not drawn
}

// draw makes the picture.
func (c *Chart) draw(words Words) *drawing {
	d := &drawing{}
	y := 4.0
	for _, line := range wrap(words.Title, titleSize, wide, 3) {
		y += 20
		d.shapes = append(d.shapes, shape{class: "title", x: 0, y: y, text: line, size: titleSize, bold: true})
	}
	for _, line := range wrap(c.subtitle(words.Title), textSize, wide, 2) {
		y += 19
		d.shapes = append(d.shapes, shape{class: "quiet", x: 0, y: y, text: line, size: textSize})
	}
	y = c.legend(d, y) + 20
	if c.kind == Line {
		y = c.lines(d, y)
	} else {
		y = c.bars(d, y)
	}
	y += 8
	for _, text := range []string{words.Note, words.Sources} {
		for _, line := range wrap(text, smallSize, wide, 4) {
			y += 15
			d.shapes = append(d.shapes, shape{class: "quiet", x: 0, y: y, text: line, size: smallSize})
		}
	}
	d.height = int(y) + 8
	return d
}

// Title is what the numbers are, for a chart without a title of its own.
func (c *Chart) Title() string {
	names := make([]string, len(c.series))
	for i, s := range c.series {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// subtitle says what the numbers are, and in which unit, unless the title does.
func (c *Chart) subtitle(title string) string {
	switch {
	case len(c.series) > 1 || c.series[0].name == "" || strings.EqualFold(c.series[0].name, title):
		return c.unit
	case c.unit == "":
		return c.series[0].name
	}
	return c.series[0].name + " (" + c.unit + ")"
}

// legend names the series where there are several.
func (c *Chart) legend(d *drawing, y float64) float64 {
	if len(c.series) < 2 {
		return y
	}
	y += 22
	x := 0.0
	for i, s := range c.series {
		name := fit(s.name, textSize, 300)
		width := textWidth(name, textSize) + 40
		if x+width > wide && x > 0 {
			x, y = 0, y+19
		}
		d.shapes = append(d.shapes, shape{class: "fill", series: i, x: x, y: y - 10, width: 12, height: 12},
			shape{class: "text", x: x + 18, y: y, text: name, size: textSize})
		x += width
	}
	return y
}

// bars draws a group of bars for each row, from left to right.
func (c *Chart) bars(d *drawing, top float64) float64 {
	room := 0.0
	for _, label := range c.labels {
		room = max(room, min(labelRoom, textWidth(label, textSize)))
	}
	room = round(room + 2)
	left, right := room+10, float64(wide-valueRoom)
	ticks, text := c.ticks()
	low, high := min(c.low, ticks[0]), max(c.high, ticks[len(ticks)-1])
	at := func(number float64) float64 {
		return round(left + float64((right-left)*float64((number-low)/(high-low))))
	}
	y, grid := top, len(d.shapes)
	for row, label := range c.labels {
		height := float64(barHeight * len(c.series))
		lines := wrap(label, textSize, labelRoom, 3)
		height = max(height, float64(15*len(lines)))
		for i, line := range lines {
			d.shapes = append(d.shapes, shape{class: "text", x: room, y: round(y + height/2 + 4 + float64(15*i) - float64(15*(len(lines)-1))/2), text: line, size: textSize, anchor: "end"})
		}
		first := y + (height-float64(barHeight*len(c.series)))/2
		for i, s := range c.series {
			v := s.values[row]
			if v.text == "" {
				continue
			}
			from, to := at(min(0, v.number)), at(max(0, v.number))
			place := round(first + float64(barHeight*i))
			d.shapes = append(d.shapes, shape{class: "fill", series: i, x: from, y: place + 2, width: max(1, round(to-from)), height: barHeight - 4},
				shape{class: "text", x: to + 6, y: place + 14, text: fit(v.text, textSize, valueRoom-8), size: textSize})
		}
		y = round(y + height + groupGap)
	}
	var lines []shape
	for i, number := range ticks {
		class := "grid"
		if number == 0 {
			class = "axis"
		}
		lines = append(lines, shape{class: class, points: []float64{at(number), top - 6, at(number), y - 4}})
		d.shapes = append(d.shapes, shape{class: "quiet", x: at(number), y: y + 10, text: text[i], size: smallSize, anchor: "middle"})
	}
	d.shapes = append(d.shapes[:grid], append(lines, d.shapes[grid:]...)...)
	return y + 14
}

// lines draws a line for each series.
func (c *Chart) lines(d *drawing, top float64) float64 {
	ticks, text := c.ticks()
	left := 0.0
	for _, t := range text {
		left = max(left, textWidth(t, smallSize))
	}
	left = round(left + 12)
	right, bottom := float64(wide-40), top+plotHeight
	low, high := min(c.low, ticks[0]), max(c.high, ticks[len(ticks)-1])
	at := func(number float64) float64 {
		return round(bottom - float64(plotHeight*float64((number-low)/(high-low))))
	}
	for i, number := range ticks {
		class := "grid"
		if number == 0 {
			class = "axis"
		}
		d.shapes = append(d.shapes, shape{class: class, points: []float64{left, at(number), right, at(number)}},
			shape{class: "quiet", x: left - 8, y: at(number) + 4, text: text[i], size: smallSize, anchor: "end"})
	}
	x := c.across(left+14, right-14)
	c.underLine(d, x, bottom)
	for i, s := range c.series {
		var points []float64
		flush := func() {
			if len(points) > 2 {
				d.shapes = append(d.shapes, shape{class: "line", series: i, points: points})
			}
			points = nil
		}
		for k, v := range s.values {
			if v.text == "" {
				flush() // nothing is drawn across what is not known
				continue
			}
			points = append(points, x[k], at(v.number))
		}
		flush()
		for k, v := range s.values {
			if v.text == "" {
				continue
			}
			d.shapes = append(d.shapes, shape{class: "fill", series: i, x: x[k] - 3.5, y: at(v.number) - 3.5, width: 7, height: 7, circular: true})
			if last := k == len(s.values)-1; last || len(c.series) == 1 && len(s.values) <= 10 {
				d.shapes = append(d.shapes, shape{class: "text", x: x[k], y: at(v.number) - 9, text: fit(v.text, textSize, 110), size: textSize, anchor: "middle"})
			}
		}
	}
	return bottom + 22
}

// across are the places of the points.
func (c *Chart) across(left, right float64) []float64 {
	x := make([]float64, len(c.labels))
	for i := range x {
		share := float64(float64(i) / float64(max(1, len(x)-1)))
		if c.at != nil {
			share = float64((c.at[i] - c.at[0]) / (c.at[len(c.at)-1] - c.at[0]))
		}
		x[i] = round(left + float64((right-left)*share))
	}
	return x
}

// underLine writes as many labels under the points as there is room for.
func (c *Chart) underLine(d *drawing, x []float64, bottom float64) {
	end := -math.MaxFloat64
	for i, label := range c.labels {
		text := fit(label, smallSize, 90)
		half := textWidth(text, smallSize) / 2
		if x[i]-half < end+8 {
			continue
		}
		end = x[i] + half
		d.shapes = append(d.shapes, shape{class: "quiet", x: x[i], y: bottom + 18, text: text, size: smallSize, anchor: "middle"})
	}
}

// ticks are numbers at even steps that cover those of the chart, and their texts.
func (c *Chart) ticks() (numbers []float64, texts []string) {
	power, size := 0, c.high-c.low
	for float64(size/5) >= 10 {
		size = float64(size / 10)
		power++
	}
	for float64(size/5) < 1 {
		size = float64(size * 10)
		power--
	}
	digit := 10
	for _, d := range []int{1, 2, 5} {
		if float64(size/float64(d)) <= 5 {
			digit = d
			break
		}
	}
	step := float64(digit)
	for range max(power, -power) {
		if power > 0 {
			step = float64(step * 10)
		} else {
			step = float64(step / 10)
		}
	}
	for i := int(math.Floor(float64(c.low / step))); ; i++ {
		numbers = append(numbers, float64(float64(i)*step))
		texts = append(texts, c.write(i*digit, power))
		if float64(float64(i)*step) >= c.high {
			return numbers, texts
		}
	}
}

// write writes a number, given as digits and a power of ten, as the language does.
func (c *Chart) write(digits, power int) string {
	group, point := ",", "."
	if !figure.DecimalPoint(c.language) {
		group, point = ".", ","
	}
	sign := ""
	if digits < 0 {
		sign, digits = "−", -digits
	}
	whole, fraction := strconv.Itoa(digits), ""
	if power >= 0 && digits != 0 {
		whole += strings.Repeat("0", power)
	} else if power < 0 {
		whole = strings.Repeat("0", max(0, 1-power-len(whole))) + whole
		whole, fraction = whole[:len(whole)+power], whole[len(whole)+power:]
		if digits == 0 {
			fraction = ""
		}
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + group + whole[i:]
	}
	if fraction != "" {
		whole += point + fraction
	}
	return sign + whole
}

// round keeps one digit behind the point.
func round(x float64) float64 { return float64(math.Round(float64(x*10)) / 10) }
