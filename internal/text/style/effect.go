package style

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// values are the values of properties that won.
type values struct {
	of    map[string]string
	outer Sight
	drawn bool // in a drawing, where letters are filled
}

// effectOf is what declarations do, in the order in which later ones win, to an element
// that stands where text has this sight.
func effectOf(all []declaration, outer Sight, drawn bool) Effect {
	if len(all) == 0 {
		return Effect{vars: outer.vars}
	}
	v := values{of: make(map[string]string, len(all)), outer: outer, drawn: drawn}
	e := Effect{}
	vars := ownVariables(all, outer.vars)
	e.vars = vars
	for _, d := range all {
		if strings.HasPrefix(d.name, "--") {
			continue
		}
		if strings.Contains(d.value, "var(") {
			value, ok := resolve(d.value, vars, 0)
			if !ok || value == "" || !isValid(d.name, value) { // what a variable gives is known too late to be refused
				value = "unset"
			}
			d.value = value
		}
		v.take(d.name, d.value)
	}
	v.apply(&e)
	return e
}

// ownVariables adds the variables of an element, which may refer to each other, to those
// around it.
func ownVariables(all []declaration, outer *variable) *variable {
	written, vars, n := outer, outer, 0
	for _, d := range all {
		if strings.HasPrefix(d.name, "--") && n < maxOwn && (!isWide(d.value) || d.value == "initial") {
			written = &variable{name: d.name, value: d.value, unset: d.value == "initial", outer: written}
			n++
		}
	}
	for v := written; v != outer; v = v.outer {
		if vars.at(v.name, outer) == nil { // the last one counts
			value, ok := resolve(v.value, written, 0)
			vars = &variable{name: v.name, value: value, unset: v.unset || !ok, outer: vars}
		}
	}
	return vars
}

// resolve puts the values of variables into a value. Ok is false where one is not set.
func resolve(value string, vars *variable, depth int) (string, bool) {
	for at := strings.Index(value, "var("); at >= 0; at = strings.Index(value, "var(") {
		if depth++; depth > deepest || len(value) > 4096 {
			return "", false
		}
		inner, rest := argument(value[at+4:])
		name, other, has := strings.Cut(inner, ",")
		with, ok := vars.find(strings.TrimSpace(name))
		if !ok {
			with = other
		}
		if !ok && !has {
			return "", false
		}
		value = value[:at] + strings.TrimSpace(with) + rest
	}
	return strings.TrimSpace(value), true
}

// argument is what stands up to the bracket that closes a function, and what follows.
func argument(text string) (inner, rest string) {
	depth := 1
	for at := range len(text) {
		switch text[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:at], text[at+1:]
			}
		}
	}
	return text, ""
}

// take sets a property, and what a shorthand stands for.
func (v *values) take(name, value string) {
	if value == "" || value == "revert-layer" || !isValid(name, value) { // what stands in a layer below stays
		return
	}
	switch name {
	case "all":
		for property := range v.of {
			v.of[property] = value
		}
		return
	case "font":
		if size, ok := fontSize(value); ok {
			v.of["font-size"] = size
		}
		return
	case "background":
		if colour, image, clip, ok := backgroundOf(value); ok {
			v.of["background-color"], v.of["background-image"], v.of["background-clip"] = colour, image, clip
		}
		return
	}
	name = strings.TrimPrefix(name, "-drawn-")
	v.of[name] = value
}

// fontSize is the size in the shorthand font: what stands before the families.
func fontSize(value string) (string, bool) {
	if isWide(value) {
		return value, true
	}
	parts := split(value, blanks)
	for i, part := range parts {
		switch name, _, _ := strings.Cut(part, "/"); {
		case fontWords[part] || isWeight(part) || i > 0 && parts[i-1] == "oblique" && numberEnd(part) > 0 && !isValid("font-size", part):
		case len(parts) == 1 && systemFonts[part]:
			return "small", true
		case isValid("font-size", name) && len(parts) > i+1:
			_, line, has := strings.Cut(part, "/")
			return name, (!has || isValid("line-height", line)) && !strings.Contains(value, "!")
		default:
			return "", false
		}
	}
	return "", false
}

// The words that may stand before the size, and those that stand for a font of the system.
var (
	fontWords = setOf(`normal italic oblique small-caps bold bolder lighter ultra-condensed extra-condensed condensed semi-condensed semi-expanded expanded
		extra-expanded ultra-expanded`)
	systemFonts = setOf("caption icon menu message-box small-caption status-bar")
)

// isWeight holds for a bare number from 1 on: letters so heavy, not so large.
func isWeight(part string) bool {
	n, k := quantity(part, scale{})
	return k == number && n >= 1
}

// backgroundOf are the colour, the image and the clipping of the shorthand background.
func backgroundOf(value string) (colour, image, clip string, ok bool) {
	colour, image, clip = "transparent", "none", "border-box"
	if isWide(value) {
		return value, value, value, true
	}
	for _, part := range split(value, blanks+",/") {
		_, _, isFunction := function(part)
		_, isColour := colourOf(part)
		switch {
		case isColour || part == "currentcolor":
			colour = part
		case isFunction:
			image = part
		case part == clipped:
			clip = part
		case !backgroundWords[part] && numberEnd(part) == 0:
			return "", "", "", false
		}
	}
	return colour, image, clip, true
}

var backgroundWords = setOf(`none no-repeat repeat repeat-x repeat-y space round scroll fixed local border-box padding-box content-box border-area auto cover
	contain left right top bottom center`)

// apply turns the values into an effect.
func (v *values) apply(e *Effect) {
	v.applyDrawing(e)
	v.applyLetters(e)
	v.applyColours(e)
	em := e.On(v.outer).letters()
	e.Hides = e.Hides || v.isOffScreen(em) || v.isCutAway(em) || v.isBehind()
	for name, value := range v.of {
		e.Hides = e.Hides || isNotKnown(name, value)
	}
	if indent := v.of["text-indent"]; indent != "" && indent != "inherit" && indent != "unset" {
		if e.indent = 1; isFarOff(firstOf(indent), em) {
			e.indent = 2
		}
	}
	position := v.of["position"]
	e.places = position != "" && position != "static" && !isWide(position)
	if factor, ok := v.scaled(em); ok {
		e.shrinks, e.shrunk = float32(factor), true
	}
}

func (v *values) applyDrawing(e *Effect) {
	switch display := v.of["display"]; {
	case display == "" || display == "revert" || display == "revert-layer":
	case display == "none" || strings.HasPrefix(display, "table-column"):
		e.Hides = true
	default:
		e.Shows = true
	}
	switch visibility := v.of["visibility"]; {
	case visibility == "" || visibility == "inherit" || visibility == "unset" || strings.HasPrefix(visibility, "revert"):
	case visibility == "hidden" || visibility == "collapse":
		e.look, e.Collapses = 1, visibility == "collapse"
	default:
		e.look = 2
	}
	e.Hides = e.Hides || v.of["content-visibility"] == "hidden" || strings.Contains(v.of["content"], "url(")
	switch opacity := v.of["opacity"]; {
	case opacity == "inherit":
		e.fades = v.outer.faded
	case opacity != "" && !isWide(opacity):
		n, _ := quantity(opacity, scale{full: 1})
		e.fades = 1 - float32(min(1, max(0, n)))
	}
	for _, part := range split(v.of["filter"], blanks) {
		name, inner, ok := function(part)
		n, k := quantity(inner, scale{em: mediumLetters, full: 1})
		switch {
		case !ok || k == wrong && inner == "":
		case name == "opacity":
			e.fades = 1 - (1-e.fades)*float32(min(1, max(0, n)))
		case (name == "brightness" || name == "contrast") && n < faint && v.of["background-color"] != "": // both are of one colour
			e.Hides = true
		case name == "blur" && (n >= mostBlur || k == unknown), name == "brightness" && n > mostBright:
			e.Hides = true
		}
	}
	if strings.Contains(v.of["text-decoration"]+" "+v.of["text-decoration-line"], "line-through") {
		e.Hides = true // the page takes it back
	}
	if security := v.of["-webkit-text-security"]; security != "" && security != "none" && !isWide(security) {
		e.Hides = true
	}
}

// A text may be blurred by so many pixels, and be drawn so much brighter, and still be read.
const mostBlur, mostBright = 5.0, 2.0

// sizes are what the words for the size of letters stand for.
var sizes = map[string]float32{"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48, "initial": 16}

func (v *values) applyLetters(e *Effect) {
	if n, k := quantity(v.of["font-size-adjust"], scale{}); k == number && n < 0.05 {
		e.Hides = true
	}
	switch size := v.of["font-size"]; size {
	case "", "inherit", "unset", "revert", "revert-layer", "math":
	case "smaller", "larger":
		e.size, e.multiple, e.sized = 1/1.2, true, true
		if size == "larger" {
			e.size = 1.2
		}
	default:
		if e.sized = true; sizes[size] != 0 {
			e.size = sizes[size]
			return
		}
		n, _ := quantity(size, scale{em: v.outer.letters(), full: v.outer.letters(), root: float64(v.outer.root)})
		e.size = float32(max(0, n))
		if inner := v.outer.letters(); inner > 0 && isRelative(size) {
			e.size, e.multiple = float32(max(0, n)/inner), true
		}
	}
}

// isRelative holds for a size that follows that of the letters around.
func isRelative(size string) bool {
	end := numberEnd(size)
	return end > 0 && (size[end:] == "%" || letters[size[end:]] != 0)
}

func (v *values) applyColours(e *Effect) {
	e.colour = colourIn(v.of["color"])
	fill := v.of["-webkit-text-fill-color"]
	if v.drawn {
		fill = cmp.Or(v.of["fill"], fill)
		if opacity, k := quantity(v.of["fill-opacity"], scale{full: 1}); fill == "none" || k != wrong && opacity < faint {
			fill = "transparent"
		}
	}
	e.filled, e.unfilled = colourIn(fill), fill == "currentcolor" || fill == "initial"
	if width, colour := parted(v.of["-webkit-text-stroke"]); width > mostStroke && colour.set {
		e.filled = colour
	}
	e.ground = colourIn(v.of["background-color"])
	if v.of["background-color"] == "currentcolor" {
		e.ground = cmp.Or(e.On(v.outer).colour, black)
	}
	image := v.of["background-image"]
	if name, inner, ok := function(image); ok && strings.HasSuffix(name, "image-set") {
		image = firstOf(inner)
	}
	e.covers = image != "" && image != "none" && !isWide(image)
	if isClear(image) || strings.HasPrefix(image, "url(about:") {
		e.covers = false
	} else if plain, ok := stopsOf(image, cmp.Or(e.On(v.outer).colour, black)); ok && e.covers {
		e.ground, e.covers = plain, false
	}
	for _, one := range split(v.of["box-shadow"], ",") {
		if colour, ok := innerShadow(one); ok {
			e.ground, e.covers = cmp.Or(colour, e.On(v.outer).colour, black), false
		}
	}
	if v.outer.ground.set && !e.ground.set && !e.covers {
		e.filled = cmp.Or(blended(v.of["mix-blend-mode"], e.On(v.outer).letter(), v.outer.ground), e.filled)
	}
	e.clipped = strings.Contains(v.of["background-clip"], clipped) && (e.covers || e.ground.alpha >= faint)
	switch shadow := v.of["text-shadow"]; {
	case shadow == "" || shadow == "inherit" || shadow == "unset":
	default:
		e.shadow.set = true
		for _, one := range split(shadow, ",") {
			if far, colour := parted(one); far < mostShadow && !isWide(one) && one != "none" {
				e.shadow = cmp.Or(colour, e.On(v.outer).letter())
			}
		}
	}
}

// A stroke of so many pixels covers the letter, and a shadow that is not so far is read as
// one.
const mostStroke, mostShadow = 3.0, 30.0

// colourIn is the colour that a value sets; it is not set by one that leaves it to others.
func colourIn(value string) Colour {
	if value == "initial" {
		return black
	}
	c, _ := colourOf(value)
	return c
}

// parted are the largest length and the colour in a value.
func parted(value string) (most float64, c Colour) {
	for _, part := range split(value, blanks) {
		if n, k := quantity(part, scale{em: mediumLetters}); k == length {
			most = max(most, n, -n)
		} else if one, ok := colourOf(part); ok {
			c = one
		}
	}
	return most, c
}

// isClear reports whether a gradient has no colour that is seen.
func isClear(image string) bool {
	name, inner, _ := function(image)
	clear := false
	for _, stop := range split(inner, ",") {
		one, ok := colourOf(firstOf(stop))
		if ok && one.alpha >= faint {
			return false
		}
		clear = clear || ok
	}
	return clear && strings.HasSuffix(name, "gradient")
}

// innerShadow is the colour of a shadow that covers what is behind a line of text, not set
// where it has that of the text.
func innerShadow(shadow string) (c Colour, ok bool) {
	parts := split(shadow, blanks)
	var lengths []float64
	for _, part := range parts {
		if n, k := quantity(part, scale{em: mediumLetters}); k.isLength() || k == number && n == 0 {
			lengths = append(lengths, n)
		} else if one, isColour := colourOf(part); isColour {
			c = one
		}
	}
	if !slices.Contains(parts, "inset") || len(lengths) < 2 || c.set && c.alpha < 1 {
		return c, false
	}
	lengths = append(lengths, 0, 0)
	return c, lengths[3] >= mostRim || math.Abs(lengths[1]) >= 2*mostRim || math.Abs(lengths[0]) >= screenWidth/2
}

// mostRim is how many pixels of the edge of a text an inner shadow may cover.
const mostRim = 20.0

// blended is the colour of letters that are blended with their ground, not set where they
// keep their own, or where that is not computed.
func blended(mode string, letter, ground Colour) Colour {
	mix := map[string]func(a, b float64) float64{
		"multiply": func(a, b float64) float64 { return a * b }, "screen": func(a, b float64) float64 { return a + b - a*b },
		"darken": math.Min, "lighten": math.Max,
		"difference": func(a, b float64) float64 { return math.Abs(a - b) }, "exclusion": func(a, b float64) float64 { return a + b - 2*a*b },
	}[mode]
	if mix == nil {
		return Colour{}
	}
	of := func(a, b float32) float64 { return mix(float64(a), float64(b)) }
	return rgb(of(letter.red, ground.red), of(letter.green, ground.green), of(letter.blue, ground.blue), float64(letter.alpha))
}

// stopsOf is the colour of a gradient that has no other.
func stopsOf(image string, current Colour) (c Colour, ok bool) {
	name, inner, _ := function(image)
	if !strings.HasSuffix(name, "gradient") {
		return c, false
	}
	for _, stop := range split(inner, ",") {
		one, isColour := colourOf(firstOf(stop))
		if firstOf(stop) == "currentcolor" {
			one, isColour = current, true
		}
		if !isColour {
			continue
		}
		if c.set && !c.isNear(one) || one.alpha < 1 {
			return c, false
		}
		c = one
	}
	return c, c.set
}
