package page

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// visibility says how much of the text in an element a reader sees.
type visibility struct {
	none      bool // the element is not drawn, nor is anything in it
	invisible bool // its text is not; an element in it may say otherwise
	tiny      bool // likewise, because of its size
}

func (d visibility) text() bool { return !d.none && !d.invisible && !d.tiny }

// effect is what an element changes about that.
type effect uint8

const (
	hideAll effect = 1 << iota
	hideText
	showText
	shrink
	enlarge
)

func (e effect) on(d visibility) visibility {
	d.none = d.none || e&hideAll != 0
	d.invisible = (d.invisible || e&hideText != 0) && e&showText == 0
	d.tiny = (d.tiny || e&shrink != 0) && e&enlarge == 0
	return d
}

// effectOf is what an element does to the text in it: by its kind, by the attributes
// hidden, aria-hidden, popover and style, or because it is a dialog that is not open.
// What is struck out counts as not there: the page takes it back.
// A whole page that hides itself waits for a script, and is read. So is what a
// reader opens in place: details, and what is hidden until it is found.
func effectOf(name atom.Atom, a *attributes) effect {
	switch name {
	case atom.Html, atom.Body:
		return 0
	case atom.Template, atom.Desc, atom.Annotation, atom.AnnotationXml, atom.Rp,
		atom.Video, atom.Audio, atom.Canvas, atom.Object, atom.Progress, atom.Meter:
		return hideAll // their content is for programs, or for browsers that cannot show them
	case atom.Del, atom.S, atom.Strike:
		return hideAll
	}
	if name >= firstNotDrawn {
		return hideAll
	}
	e, displayed := styleEffect(a.style)
	closed := a.popover != "" || name == atom.Dialog && a.open == "" || a.hidden != "" && !strings.EqualFold(a.hidden, "until-found")
	if closed && !displayed || strings.EqualFold(strings.TrimSpace(a.ariaHidden), "true") {
		e |= hideAll
	}
	return e
}

// firstNotDrawn is the first of the names that stand for elements of SVG which are
// not drawn where they stand. Package atom does not know them.
const firstNotDrawn atom.Atom = 1 << 31

var notDrawnNames = []string{"defs", "metadata", "symbol", "clippath", "mask", "pattern", "marker"}

// foreignName is the name of an element that package atom does not know, 0 for one
// that does not matter.
func foreignName(name []byte) atom.Atom {
	if i := slices.IndexFunc(notDrawnNames, func(known string) bool { return strings.EqualFold(known, string(name)) }); i >= 0 {
		return firstNotDrawn + atom.Atom(i)
	}
	return 0
}

// customName stands for an element that HTML does not have, by a digest of its name.
func customName(name []byte) atom.Atom {
	sum := fnv.New32a()
	_, _ = sum.Write(bytes.ToLower(name))
	return firstCustom | atom.Atom(sum.Sum32())&(firstCustom-1)
}

const firstCustom atom.Atom = 1 << 30

func isCustom(name atom.Atom) bool { return name >= firstCustom && name < firstNotDrawn }

// styleEffect reads the declarations of a style attribute. Displayed says that
// they set display to something that shows.
func styleEffect(style string) (e effect, displayed bool) {
	if style == "" {
		return 0, false
	}
	has := declared(style)
	switch has["display"] {
	case "":
	case "none":
		e |= hideAll
	default:
		displayed = true
	}
	if n, unit := measure(has["opacity"]); unit == "" && n < 0.05 || unit == "%" && n < 5 || has["content-visibility"] == "hidden" {
		e |= hideAll
	}
	if strings.Contains(has["text-decoration"]+has["text-decoration-line"], "line-through") || isOffScreen(has) || isCutAway(has) {
		e |= hideAll
	}
	switch has["visibility"] {
	case "", "inherit", "unset":
	case "hidden", "collapse":
		e |= hideText
	default:
		e |= showText
	}
	switch n, unit := measure(has["font-size"]); {
	case has["font-size"] == "":
	case n == 0, n < 2 && (unit == "px" || unit == "pt"), n < 0.1 && (unit == "em" || unit == "rem"), n < 10 && unit == "%":
		e |= shrink
	case unit == "em", unit == "ex", unit == "ch", unit == "%", slices.Contains([]string{"inherit", "unset", "smaller", "larger"}, has["font-size"]):
		// A relative size changes nothing: a fraction of zero is still zero.
	default:
		e |= enlarge
	}
	return e, displayed
}

// isOffScreen reports whether a style moves an element where nobody sees it.
func isOffScreen(has map[string]string) bool {
	moves := []string{"text-indent", "margin", "margin-left", "margin-top", "margin-right", "margin-bottom"}
	switch has["position"] {
	case "absolute", "fixed":
		if strings.HasPrefix(has["clip"], "rect(") {
			return true // how pages show text to screen readers alone
		}
		fallthrough
	case "relative", "sticky":
		moves = append(moves, "left", "right", "top", "bottom", "inset", "inset-inline-start", "inset-block-start")
	}
	for _, property := range moves {
		if slices.ContainsFunc(strings.Fields(has[property]), isFarOff) {
			return true
		}
	}
	// A row of slides is moved, too, to show one of them, and not as far.
	return slices.ContainsFunc(arguments(has["transform"]+" translate("+has["translate"]+")", "translate"), func(value string) bool {
		n, unit := measure(value)
		return n <= -9000 && (unit == "px" || unit == "pt") || n <= -400 && (unit == "em" || unit == "rem" || unit == "vw" || unit == "vh")
	})
}

// isFarOff reports whether a length leads off the screen, to the left or the top.
func isFarOff(value string) bool {
	switch n, unit := measure(value); unit {
	case "px", "pt":
		return n <= -500
	case "em", "rem", "ch", "ex":
		return n <= -40
	case "%", "vw", "vh", "in", "cm":
		return n <= -100
	}
	return false
}

// isCutAway reports whether a style leaves nothing of an element to see: by its clip path,
// its scale, a box without room, or a colour that is none.
func isCutAway(has map[string]string) bool {
	if clipsAll(has["clip-path"]) || isTransparent(has) {
		return true
	}
	if slices.ContainsFunc(arguments(has["transform"]+" scale("+has["scale"]+")", "scale"), func(value string) bool { return atMost(value, 0.05) }) {
		return true
	}
	if opacity := arguments(has["filter"], "opacity"); len(opacity) > 0 && atMost(opacity[0], 0.05) {
		return true
	}
	hides := strings.Contains(has["overflow"], "hidden") || strings.Contains(has["overflow"], "clip")
	return hides && slices.ContainsFunc([]string{"width", "height", "max-width", "max-height"}, func(side string) bool { return atMost(has[side], 1, "px") })
}

// atMost reports whether a value is zero, or no more than that in one of some units, none
// for a bare number.
func atMost(value string, most float64, units ...string) bool {
	n, unit := measure(value)
	return n <= most && (n == 0 || unit == "" && units == nil || slices.Contains(units, unit))
}

// clipsAll reports whether a clip path leaves nothing.
func clipsAll(path string) bool {
	if sides := arguments(path, "inset"); len(sides) > 0 {
		of := func(i int) float64 { // top, right, bottom, left: one that is missing is as the one across from it
			for i >= len(sides) {
				i = max(0, i-2)
			}
			n, unit := measure(sides[i])
			if unit != "%" {
				return 0
			}
			return n
		}
		return of(0)+of(2) >= 100 || of(1)+of(3) >= 100
	}
	for _, shape := range []string{"circle", "ellipse"} {
		if sizes := arguments(path, shape); len(sizes) > 0 {
			return atMost(sizes[0], 1, "px", "%")
		}
	}
	corners := arguments(path, "polygon")
	return len(corners) > 0 && !slices.ContainsFunc(corners, func(c string) bool { return !atMost(c, 1, "px", "%") })
}

// isTransparent reports whether the colour of a text is none, and the letters are no window
// to what is behind them.
func isTransparent(has map[string]string) bool {
	colour := has["color"]
	if strings.Contains(has["background-clip"]+has["-webkit-background-clip"]+has["background"], "text") {
		return false
	}
	for _, function := range []string{"rgb", "hsl"} {
		if parts := arguments(colour, function); len(parts) == 4 {
			return atMost(parts[3], 0.05)
		}
	}
	return colour == "transparent" || strings.HasPrefix(colour, "#") && (len(colour) == 9 && strings.HasSuffix(colour, "00") || len(colour) == 5 && strings.HasSuffix(colour, "0"))
}

// arguments are those of the functions in a value whose names begin so.
func arguments(value, function string) (all []string) {
	for rest := value; ; {
		at := strings.Index(rest, function)
		if at < 0 {
			return all
		}
		_, after, _ := strings.Cut(rest[at:], "(")
		inner, next, closed := strings.Cut(after, ")")
		if !closed {
			return all
		}
		all, rest = append(all, strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == '/' || unicode.IsSpace(r) })...), next
	}
}

// declared are the values of a style attribute by their properties, both in lower
// case and without comments and escapes. Of several values the last one counts,
// but an important one goes before the others.
func declared(style string) map[string]string {
	values, important := map[string]string{}, map[string]bool{}
	for declaration := range strings.SplitSeq(plainStyle(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if at := strings.LastIndexByte(value, '!'); at >= 0 && strings.TrimSpace(value[at+1:]) == "important" {
			value, important[name] = strings.TrimSpace(value[:at]), true
		} else if important[name] {
			continue
		}
		if name == "font" { // its size stands before the fonts
			for part := range strings.FieldsSeq(value) {
				if size, _, _ := strings.Cut(part, "/"); strings.IndexByte("0123456789.", size[0]) >= 0 {
					name, value = "font-size", size
					break
				}
			}
		}
		if isStyle(name, value) {
			values[name] = value
		}
	}
	return values
}

// isStyle reports whether a browser takes a declaration: one that it does not
// understand leaves the one before it alone.
func isStyle(name, value string) bool {
	switch name {
	case "display", "visibility":
		words := strings.Fields(value)
		return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(strings.Fields(styleWords), word) })
	case "opacity", "font-size":
		n, _ := measure(value)
		word, _, _ := strings.Cut(value, "(")
		return n < 1<<20 || slices.Contains(strings.Fields(sizeWords), word)
	}
	return true
}

// The words that a browser takes for display and visibility, and for sizes. What a
// function gives is not known.
const (
	styleWords = "none block inline inline-block flex inline-flex grid inline-grid table inline-table table-row table-cell table-column table-row-group " +
		"table-header-group table-footer-group table-column-group table-caption list-item contents flow flow-root ruby ruby-base ruby-text run-in math " +
		"visible hidden collapse inherit initial unset revert revert-layer -webkit-box -webkit-flex -ms-flexbox"
	sizeWords = "inherit initial unset revert smaller larger xx-small x-small small medium large x-large xx-large xxx-large calc min max clamp var"
)

// plainStyle is a style in lower case, without comments, with escapes decoded, with
// nothing in the place of strings, and without what ends a declaration in brackets.
func plainStyle(style string) string {
	var b strings.Builder
	depth, quote := 0, rune(0)
	for at := 0; at < len(style); {
		if strings.HasPrefix(style[at:], "/*") && quote == 0 {
			end := strings.Index(style[at+2:], "*/")
			if end < 0 {
				break
			}
			at += end + 4
			continue
		}
		r, size := utf8.DecodeRuneInString(style[at:])
		escaped := r == '\\'
		if escaped {
			r, size = cssEscape(style[at:])
		}
		at += size
		switch {
		case quote != 0:
			if r == quote && !escaped {
				quote = 0
			}
		case depth > 0 && (r == ';' || r == ':' || r == '!'):
		case escaped:
			b.WriteRune(unicode.ToLower(r))
		case r == '"' || r == '\'':
			quote = r
		default:
			switch r {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// cssEscape decodes the escape with which a text begins: up to six hexadecimal
// digits and a blank, or the character itself.
func cssEscape(text string) (r rune, size int) {
	end := 1
	for end < len(text) && end <= 6 && strings.IndexByte("0123456789abcdefABCDEF", text[end]) >= 0 {
		end++
	}
	if end == 1 {
		r, size := utf8.DecodeRuneInString(text[1:])
		return r, 1 + size
	}
	code, _ := strconv.ParseUint(text[1:end], 16, 32)
	if end < len(text) && strings.IndexByte(" \n\t\r\f", text[end]) >= 0 {
		end++
	}
	return rune(code), end
}

// measure reads a number with its unit. A value that does not begin with a number
// counts as a large one.
func measure(value string) (n float64, unit string) {
	end := 0
	for end < len(value) && strings.IndexByte("0123456789.+-", value[end]) >= 0 {
		end++
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	if err != nil {
		return 1 << 20, ""
	}
	return n, strings.TrimSpace(value[end:])
}
