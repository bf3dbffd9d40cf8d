package style

import "strings"

// truth says whether a condition holds.
type truth int8

const (
	no truth = iota
	maybe
	yes
)

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// condition reads not, and, or and brackets around what leaf knows.
func condition(text string, leaf func(string) truth, depth int) truth {
	fields := split(text, blanks)
	switch {
	case depth > maxNesting:
		return maybe
	case len(fields) == 0:
		return yes
	case fields[0] == "not":
		return yes - condition(strings.TrimSpace(text)[3:], leaf, depth+1)
	}
	all, any := yes, no
	either := false
	for _, field := range fields {
		switch field {
		case "and", "only":
			continue
		case "or":
			either = true
			continue
		}
		holds := maybe
		inner, bracketed := strings.CutPrefix(field, "(")
		switch inner = strings.TrimSpace(strings.TrimSuffix(inner, ")")); {
		case !bracketed:
			holds = leaf(field)
		case strings.HasPrefix(inner, "(") || strings.HasPrefix(inner, "not ") || strings.HasPrefix(inner, "not("):
			holds = condition(strings.Replace(inner, "not(", "not (", 1), leaf, depth+1)
		default:
			holds = leaf(inner)
		}
		all, any = min(all, holds), max(any, holds)
	}
	if either {
		return any
	}
	return all
}

// media says whether a media query holds for a wide screen that shows light pages.
func media(query string) truth {
	holds := truthOf(strings.TrimSpace(query) == "")
	for _, one := range split(plain(query), ",") {
		holds = max(holds, condition(one, feature, 0))
	}
	return holds
}

// The features of the screen: those that are measured, and those that are a word.
var (
	measures = map[string]float64{
		"width": screenWidth, "height": screenHeight, "device-width": screenWidth, "device-height": screenHeight,
		"aspect-ratio": screenWidth / screenHeight, "device-aspect-ratio": screenWidth / screenHeight,
		"resolution": 1, "device-pixel-ratio": 1, "color": 8, "monochrome": 0, "color-index": 0, "grid": 0,
	}
	screenWords = map[string]string{
		"prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference", "prefers-reduced-transparency": "no-preference",
		"prefers-reduced-data": "no-preference", "forced-colors": "none", "inverted-colors": "none", "orientation": "landscape", "hover": "hover", "any-hover": "hover",
		"pointer": "fine", "any-pointer": "fine", "scripting": "enabled", "update": "fast", "display-mode": "browser", "dynamic-range": "standard",
		"color-gamut": "srgb", "overflow-block": "scroll", "overflow-inline": "scroll",
	}
)

// feature says whether one part of a media query holds.
func feature(part string) truth {
	switch part {
	case "all", "screen":
		return yes
	case "print", "speech", "tty", "tv", "projection", "handheld", "braille", "embossed", "aural":
		return no
	}
	if strings.ContainsAny(part, "<>=") {
		return ranged(part)
	}
	name, value, has := strings.Cut(part, ":")
	name, value = strings.TrimPrefix(strings.TrimSpace(name), "-webkit-"), strings.TrimSpace(value)
	name, least := strings.CutPrefix(name, "min-")
	name, most := strings.CutPrefix(name, "max-")
	if size, known := measures[name]; known {
		n, ok := measure(value)
		switch {
		case !has:
			return truthOf(size > 0)
		case !ok:
			return no
		case least:
			return truthOf(size >= n)
		case most:
			return truthOf(size <= n)
		}
		return truthOf(size == n)
	}
	word, known := screenWords[name]
	switch {
	case !known && strings.HasPrefix(name, "-"): // of another browser
		return no
	case !known:
		return maybe
	case !has:
		return truthOf(word != "none" && word != "no-preference")
	}
	return truthOf(value == word)
}

// measure reads a length, a ratio or a resolution.
func measure(value string) (float64, bool) {
	if over, under, ok := strings.Cut(value, "/"); ok {
		a, first := measure(strings.TrimSpace(over))
		b, second := measure(strings.TrimSpace(under))
		return a / b, first && second
	}
	by := 1.0
	for unit, of := range map[string]float64{"dppx": 1, "x": 1, "dpi": 96, "dpcm": 96 / 2.54} {
		if number, ok := strings.CutSuffix(value, unit); ok && numberEnd(number) == len(number) && number != "" {
			value, by = number, of
			break
		}
	}
	n, k := quantity(value, scale{em: mediumLetters})
	return n / by, k != wrong && k != unknown
}

// ranged reads comparisons: 1px < width <= 900px.
func ranged(part string) truth {
	fields := strings.Fields(strings.NewReplacer("<=", " <= ", ">=", " >= ", "<", " < ", ">", " > ", "=", " = ").Replace(part))
	holds := yes
	for i := 1; i+1 < len(fields); i += 2 {
		var side [2]float64
		for j, of := range []string{fields[i-1], fields[i+1]} {
			size, known := measures[of]
			if !known {
				if size, known = measure(of); !known {
					return maybe
				}
			}
			side[j] = size
		}
		a, b := side[0], side[1]
		holds = min(holds, truthOf(map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "=": a == b}[fields[i]]))
	}
	return holds
}

// supported says whether a browser knows a declaration. Of properties that do not matter
// here that is not known.
func supported(part string) truth {
	name, value, ok := strings.Cut(part, ":")
	name, value = properties()[strings.TrimSpace(name)], strings.TrimSpace(value)
	if !ok || name == "" || value == "" {
		return maybe
	}
	return truthOf(isValid(name, value))
}
