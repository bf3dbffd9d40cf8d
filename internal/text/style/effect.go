package style

import "strings"

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
		return Effect{}
	}
	v := values{of: make(map[string]string, len(all)), outer: outer, drawn: drawn}
	e := Effect{}
	vars := outer.vars
	for _, d := range all {
		if strings.HasPrefix(d.name, "--") {
			vars = &variable{name: d.name, value: d.value, outer: vars}
		}
	}
	if vars != outer.vars {
		e.vars = vars
	}
	for _, d := range all {
		if strings.HasPrefix(d.name, "--") {
			continue
		}
		if d.value, d.important = resolve(d.value, vars, 0); !d.important {
			d.value = "unset" // what a variable gives is known too late to be refused
		}
		v.take(d.name, d.value)
	}
	v.apply(&e)
	return e
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
	if value == "" || !isValid(name, value) {
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
		v.of["background-color"], v.of["background-image"], v.of["background-clip"] = backgroundOf(value)
		return
	case "-webkit-background-clip", "-webkit-mask", "-webkit-mask-image", "-webkit-animation", "-webkit-animation-name", "-webkit-animation-fill-mode":
		name = strings.TrimPrefix(name, "-webkit-")
	case "inline-size", "block-size", "max-inline-size", "max-block-size":
		name = strings.NewReplacer("inline-size", "width", "block-size", "height").Replace(name)
	}
	v.of[name] = value
}

// fontSize is the size in the shorthand font: what stands before the families.
func fontSize(value string) (string, bool) {
	if isWide(value) {
		return value, true
	}
	for _, part := range split(value, blanks) {
		size := split(part, "/")
		if len(size) == 0 {
			continue
		}
		if (numberEnd(size[0]) > 0 && !isWeight(size[0]) || keywords["font-size"][size[0]] || strings.Contains(size[0], "(")) && isValid("font-size", size[0]) {
			return size[0], len(split(value, blanks)) > 1
		}
	}
	return "", false
}

// isWeight holds for a bare number from 1 on: letters so heavy, not so large.
func isWeight(part string) bool {
	n, k := quantity(part, scale{})
	return k == number && n >= 1
}

// backgroundOf are the colour, the image and the clipping of the shorthand background.
func backgroundOf(value string) (colour, image, clip string) {
	colour, image, clip = "transparent", "none", "border-box"
	if isWide(value) {
		return value, value, value
	}
	layers := split(value, ",")
	for _, part := range split(strings.Join(layers, " "), blanks) {
		name, _, isFunction := function(part)
		if c, ok := colourOf(part); ok && (!isFunction || c.alpha > 0 || strings.HasPrefix(name, "rgb") || strings.HasPrefix(name, "hsl")) {
			colour = part
		} else if isFunction {
			image = part
		} else if part == clipped {
			clip = part
		}
	}
	return colour, image, clip
}

// apply turns the values into an effect.
func (v *values) apply(e *Effect) {
	v.applyDrawing(e)
	v.applyLetters(e)
	v.applyColours(e)
	em := e.On(v.outer).letters()
	e.Hides = e.Hides || v.isOffScreen(em) || v.isCutAway(em)
	if indent := v.of["text-indent"]; indent != "" && indent != "inherit" && indent != "unset" {
		if e.indent = 1; isFarOff(firstOf(indent), em) {
			e.indent = 2
		}
	}
	if factor, ok := v.scaled(em); ok {
		e.shrinks, e.shrunk = float32(factor), true
	}
}

// isUnknown reports whether a value is a function that is not known here.
func isUnknown(value string) bool {
	_, k := quantity(value, scale{em: mediumLetters, full: 1})
	return k == unknown
}

func (v *values) applyDrawing(e *Effect) {
	switch display := v.of["display"]; {
	case display == "" || display == "revert" || display == "revert-layer":
	case display == "none" || isUnknown(display):
		e.Hides = true
	case display == "inherit":
		e.Shows = true
	default:
		e.Shows = true
	}
	switch visibility := v.of["visibility"]; {
	case visibility == "" || visibility == "inherit" || visibility == "unset" || strings.HasPrefix(visibility, "revert"):
	case visibility == "hidden" || visibility == "collapse" || isUnknown(visibility):
		e.look = 1
	default:
		e.look = 2
	}
	if hidden := v.of["content-visibility"]; hidden == "hidden" || hidden != "" && isUnknown(hidden) {
		e.Hides = true
	}
	switch opacity := v.of["opacity"]; {
	case opacity == "inherit":
		e.fades = v.outer.faded
	case opacity != "" && !isWide(opacity):
		n, _ := quantity(opacity, scale{em: mediumLetters, full: 1})
		e.fades = 1 - float32(min(1, max(0, n)))
	}
	for _, part := range split(v.of["filter"], blanks) {
		if name, inner, _ := function(part); name == "opacity" || name == "blur" {
			n, k := quantity(inner, scale{em: mediumLetters, full: 1})
			switch {
			case k == wrong && inner == "":
			case name == "blur":
				e.Hides = e.Hides || n >= mostBlur || k == unknown
			default:
				e.fades = 1 - (1-e.fades)*float32(min(1, max(0, n)))
			}
		}
	}
	if strings.Contains(v.of["text-decoration"]+" "+v.of["text-decoration-line"], "line-through") {
		e.Hides = true // the page takes it back
	}
	if security := v.of["-webkit-text-security"]; security != "" && security != "none" && !isWide(security) {
		e.Hides = true
	}
}

// mostBlur is how many pixels a text may be blurred by and still be read.
const mostBlur = 5.0

// sizes are what the words for the size of letters stand for.
var sizes = map[string]float32{"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48, "initial": 16}

func (v *values) applyLetters(e *Effect) {
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
		n, _ := quantity(size, scale{em: v.outer.letters(), full: v.outer.letters()})
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
	text := v.of["-webkit-text-fill-color"]
	if text == "" || text == "currentcolor" || isWide(text) {
		text = v.of["color"]
	}
	if fill := v.of["fill"]; v.drawn && fill != "" {
		if text = fill; fill == "none" {
			text = "transparent"
		}
	}
	switch {
	case text == "initial":
		e.colour = black
	case text != "" && !isWide(text) && text != "currentcolor":
		e.colour, _ = colourOf(text)
	}
	if ground := v.of["background-color"]; ground != "" && !isWide(ground) {
		if ground == "currentcolor" {
			e.ground = e.On(v.outer).colour
		} else {
			e.ground, _ = colourOf(ground)
		}
	}
	image := v.of["background-image"]
	e.covers = image != "" && image != "none" && !isWide(image)
	if strings.Contains(v.of["background-clip"], clipped) && (e.covers || e.ground.alpha >= faint) {
		e.covers, e.ground.written = true, clipped
	}
	switch shadow := v.of["text-shadow"]; {
	case shadow == "" || shadow == "inherit" || shadow == "unset":
	case isWide(shadow) || shadow == "none" || strings.Contains(shadow, "transparent"):
		e.shadow = 1
	default:
		e.shadow = 2
	}
}
