package style

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The screen on which lengths are measured, and the size of letters that nothing set.
const (
	screenWidth, screenHeight = 1280.0, 800.0
	mediumLetters             = 16.0
)

// pixels are the units of length that are the same everywhere.
var pixels = map[string]float64{
	"px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6,
	"cqw": screenWidth / 100, "cqh": screenHeight / 100, "cqi": screenWidth / 100, "cqb": screenHeight / 100,
	"cqmin": screenHeight / 100, "cqmax": screenWidth / 100,
	"vw": screenWidth / 100, "vh": screenHeight / 100, "vi": screenWidth / 100, "vb": screenHeight / 100,
	"vmin": screenHeight / 100, "vmax": screenWidth / 100,
}

// letters are the units of length that follow the size of the letters.
var letters = map[string]float64{"em": 1, "ex": 0.5, "ch": 0.5, "ic": 1, "cap": 0.7, "lh": 1.2}

// scale is what relative values are relative to.
type scale struct {
	em   float64 // the size of letters, in pixels
	full float64 // what 100 % is
	root float64 // the size of the page's letters, 0 for what nothing set
}

// kind is what a value measures.
type kind uint8

const (
	wrong   kind = iota // not a value of this kind
	number              // without a unit
	share               // of something, in pixels
	length              // in pixels
	angle               // in turns
	unknown             // a function that is not known here
)

// isLength holds for what is measured in pixels.
func (k kind) isLength() bool { return k == share || k == length }

// quantity reads a number, a length or an expression of them. Text is in lower case.
func quantity(text string, by scale) (float64, kind) {
	p := expression{text: text, scale: by}
	n, k := p.sum(0)
	p.blanks()
	if k == unknown {
		return 0, unknown
	}
	if p.text != "" || k == wrong {
		return 0, wrong
	}
	if math.IsNaN(n) {
		n = 0
	}
	return n, k
}

// expression is a value that is being read.
type expression struct {
	text string
	scale
	inside bool // calc() or another function: only there are sums
}

const deepest = 32 // brackets in an expression

func (p *expression) blanks() { p.text = strings.TrimLeft(p.text, " \t\n\r\f") }

// sum reads products with plus or minus between them.
func (p *expression) sum(depth int) (float64, kind) {
	n, k := p.product(depth)
	for p.inside && k != wrong && k != unknown {
		apart := p.text != "" && strings.IndexByte(blanks, p.text[0]) >= 0
		p.blanks()
		if len(p.text) < 2 || p.text[0] != '+' && p.text[0] != '-' || !apart || strings.IndexByte(blanks, p.text[1]) < 0 {
			break
		}
		sign := 1.0
		if p.text[0] == '-' {
			sign = -1
		}
		p.text = p.text[1:]
		m, also := p.product(depth)
		if also == wrong || also == unknown {
			return 0, also
		}
		if k != also && !(k.isLength() && also.isLength()) {
			return 0, wrong
		}
		n, k = n+sign*m, max(k, also)
	}
	return n, k
}

func (p *expression) product(depth int) (float64, kind) {
	n, k := p.factor(depth)
	for p.inside && k != wrong && k != unknown {
		rest := p.text
		p.blanks()
		if p.text == "" || p.text[0] != '*' && p.text[0] != '/' {
			p.text = rest
			break
		}
		by := p.text[0]
		p.text = p.text[1:]
		m, also := p.factor(depth)
		switch {
		case also == wrong || also == unknown:
			return 0, also
		case also != number && (by == '/' || k != number):
			return 0, unknown
		case by == '*':
			n *= m
		default:
			n /= m
		}
		k = max(k, also)
	}
	return n, k
}

// factor reads one number, one function, or a sum in brackets.
func (p *expression) factor(depth int) (float64, kind) {
	p.blanks()
	if depth > deepest {
		return 0, unknown
	}
	if end := numberEnd(p.text); end > 0 {
		n, err := strconv.ParseFloat(p.text[:end], 64)
		if err != nil && !math.IsInf(n, 0) {
			return 0, wrong
		}
		p.text = p.text[end:]
		return p.unit(n)
	}
	name := p.text[:nameEnd(p.text)]
	if !strings.HasPrefix(p.text[len(name):], "(") {
		if p.inside && slices.Contains([]string{"infinity", "-infinity", "pi", "e"}, name) {
			p.text = p.text[len(name):]
			return map[string]float64{"infinity": math.Inf(1), "-infinity": math.Inf(-1), "pi": math.Pi, "e": math.E}[name], number
		}
		return 0, wrong
	}
	if name == "" && !p.inside {
		return 0, wrong
	}
	p.text = p.text[len(name)+1:]
	if name == "env" && strings.HasPrefix(p.text, "safe-area-inset-") {
		_, p.text = argument(p.text)
		return 0, length
	}
	return p.call(name, depth)
}

// call reads the arguments of a function up to its closing bracket, and applies it.
func (p *expression) call(name string, depth int) (float64, kind) {
	outer := p.inside
	p.inside = true
	defer func() { p.inside = outer }()
	var all []float64
	k := number
	for {
		n, one := p.sum(depth + 1)
		if one == wrong || one == unknown {
			return 0, unknown
		}
		all, k = append(all, n), max(k, one)
		p.blanks()
		if p.text == "" || p.text[0] == ')' {
			p.text = strings.TrimPrefix(p.text, ")")
			break
		}
		if p.text[0] != ',' {
			return 0, unknown
		}
		p.text = p.text[1:]
	}
	switch name {
	case "", "calc", "-webkit-calc", "-moz-calc":
		if len(all) == 1 {
			return all[0], k
		}
	case "min":
		return slices.Min(all), k
	case "max":
		return slices.Max(all), k
	case "clamp":
		if len(all) == 3 {
			return max(all[0], min(all[1], all[2])), k
		}
	case "abs":
		return math.Abs(all[0]), k
	}
	return 0, unknown
}

// unit takes the unit behind a number.
func (p *expression) unit(n float64) (float64, kind) {
	if strings.HasPrefix(p.text, "%") {
		p.text = p.text[1:]
		return n / 100 * p.full, share
	}
	name := p.text[:nameEnd(p.text)]
	p.text = p.text[len(name):]
	if name == "" {
		return n, number
	}
	if size, ok := pixels[name]; ok {
		return n * size, length
	}
	if size, ok := letters[name]; ok {
		return n * size * p.em, length
	}
	if size, ok := letters[strings.TrimPrefix(name, "r")]; ok { // of the page's letters
		return n * size * cmp.Or(p.root, mediumLetters), length
	}
	if long := len(name); long > 2 && (name[0] == 's' || name[0] == 'l' || name[0] == 'd') && name[1] == 'v' { // svh, lvw, dvmin
		if size, ok := pixels[name[1:]]; ok {
			return n * size, length
		}
	}
	if turn, ok := map[string]float64{"deg": 360, "grad": 400, "turn": 1, "rad": 2 * math.Pi}[name]; ok {
		return n / turn, angle
	}
	return 0, wrong
}

// numberEnd is where the number ends with which a text begins, 0 where none does.
func numberEnd(text string) int {
	at := 0
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	digits := at
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	whole := at - digits
	if at+1 < len(text) && text[at] == '.' && isDigit(text[at+1]) {
		for at++; at < len(text) && isDigit(text[at]); at++ {
			whole++
		}
	}
	if whole == 0 {
		return 0
	}
	if at < len(text) && text[at] == 'e' {
		end := at + 1
		if end < len(text) && (text[end] == '+' || text[end] == '-') {
			end++
		}
		if end < len(text) && isDigit(text[end]) {
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			return end
		}
	}
	return at
}

// nameEnd is where the name ends with which a text begins.
func nameEnd(text string) int {
	at := strings.IndexFunc(text, func(r rune) bool {
		return r != '-' && r != '_' && r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if at < 0 {
		return len(text)
	}
	return at
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// split parts a value where one of the separators stands outside of brackets and strings.
// Blanks around the parts go, and so do empty parts.
func split(text, separators string) (parts []string) {
	depth, from, quote := 0, 0, byte(0)
	for at := 0; at <= len(text); at++ {
		if at == len(text) || depth == 0 && quote == 0 && strings.IndexByte(separators, text[at]) >= 0 {
			if part := strings.TrimSpace(text[from:at]); part != "" {
				parts = append(parts, part)
			}
			from = at + 1
			continue
		}
		switch c := text[at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(0, depth-1)
		}
	}
	return parts
}

const blanks = " \t\n\r\f"

// function splits a value that is one function into its name and what is in its brackets.
func function(value string) (name, inner string, ok bool) {
	name, inner, ok = strings.Cut(value, "(")
	if !ok || nameEnd(name) != len(name) || name == "" {
		return "", "", false
	}
	return name, strings.TrimSuffix(inner, ")"), true
}
