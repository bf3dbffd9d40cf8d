package style

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// selector is a list of compounds with combinators before them.
type selector struct {
	compounds   []compound
	combinators []byte // 0 before the first
}

// compound is what a selector asks of one element.
type compound struct {
	name, id   string
	classes    []string
	attributes []attribute
	none, some [][]compound // :not(…), :is(…)
	nth        []nth
	root       bool
	language   string
	never      bool // it asks for what only a reader's doing brings about
	maybe      bool // it asks for what is not known here
	weight     int
}

// attribute is what a selector asks of an attribute.
type attribute struct {
	name, value string
	how         byte // '=', '~', '|', '^', '$', '*', or 0 where it must only be there
	folded      bool
}

// nth is what a selector asks of an element's place among its siblings.
type nth struct{ step, start int }

// is reports whether something holds for one of the compounds.
func (s selector) is(so func(*compound) bool) bool {
	for i := range s.compounds {
		if so(&s.compounds[i]) {
			return true
		}
	}
	return false
}

func (s selector) specificity() (weight int) {
	for _, c := range s.compounds {
		weight += c.weight
	}
	return weight
}

// The weights of the parts of a selector.
const (
	nameWeight  = 1
	classWeight = 1 << 10
	idWeight    = 1 << 20
)

// selectorsOf reads a list of selectors, which stand in a rule with others. Where one of them
// is none a browser drops them all; it understands more than is understood here. Whole is each
// with those that it stands in.
func selectorsOf(list string, outer []string) (all []selector, whole []string) {
	parts := split(list, ",")
	if trimmed := strings.TrimSpace(list); strings.HasPrefix(trimmed, ",") || strings.HasSuffix(trimmed, ",") {
		return nil, nil
	}
	for _, text := range parts {
		if outer != nil && !strings.Contains(text, "&") {
			text = "& " + text
		}
		for _, o := range append(outer, "")[:max(1, len(outer))] {
			text := strings.ReplaceAll(text, "&", o)
			if s, ok := selectorOf(text); ok && len(s.compounds) <= maxNesting && len(text) < maxSelector && len(all) < maxSelectors {
				all, whole = append(all, s), append(whole, text)
			}
		}
	}
	return all, whole
}

func selectorOf(text string) (selector, bool) {
	s, ok := selectorAfter("  " + text)
	if ok {
		s.combinators[0] = 0
	}
	return s, ok
}

// selectorAfter reads the compounds behind a combinator.
func selectorAfter(text string) (s selector, ok bool) {
	for text != "" {
		trimmed := strings.TrimLeft(text, blanks)
		combinator := byte(' ')
		if trimmed != "" && strings.IndexByte(">+~", trimmed[0]) >= 0 {
			combinator = trimmed[0]
			trimmed = strings.TrimLeft(trimmed[1:], blanks)
		}
		if trimmed == "" {
			return s, len(s.compounds) > 0 && combinator == ' '
		}
		c, rest, ok := compoundAt(trimmed)
		if !ok {
			return s, false
		}
		s.compounds, s.combinators = append(s.compounds, c), append(s.combinators, combinator)
		text = rest
	}
	return s, len(s.compounds) > 0
}

// compoundAt reads the compound with which a text begins.
func compoundAt(text string) (c compound, rest string, ok bool) {
	read := false
	for text != "" {
		var name string
		switch text[0] {
		case '*', '|':
			text = strings.TrimPrefix(text[1:], "|")
		case '.':
			if name, text = identifier(text[1:]); name == "" {
				return c, text, false
			}
			c.classes, c.weight = append(c.classes, name), c.weight+classWeight
		case '#':
			if name, text = identifier(text[1:]); name == "" {
				return c, text, false
			}
			c.id, c.weight = name, c.weight+idWeight
		case '[':
			end := 1
			for end < len(text) && text[end] != ']' {
				if text[end] == '"' || text[end] == '\'' {
					end = stringEnd(text, end)
				}
				end++
			}
			if end >= len(text) || !c.attribute(text[1:end]) {
				return c, text, false
			}
			text, c.weight = text[end+1:], c.weight+classWeight
		case ':':
			if text, ok = c.pseudo(text); !ok {
				return c, text, false
			}
		case ' ', '\t', '\n', '\r', '\f', '>', '+', '~':
			return c, text, read
		default:
			if name, text = identifier(text); name == "" || read && c.name != "" {
				return c, text, false
			}
			if strings.HasPrefix(text, "|") { // of a namespace, which may be that of HTML
				text, c.maybe = text[1:], true
				continue
			}
			c.name, c.weight = strings.ToLower(name), c.weight+nameWeight
		}
		read = true
	}
	return c, "", read
}

// identifier reads the name with which a text begins, with its escapes decoded.
func identifier(text string) (name, rest string) {
	var b strings.Builder
	for text != "" {
		if text[0] == '\\' && len(text) > 1 {
			r, size := escape(text)
			b.WriteRune(r)
			text = text[size:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if r < 0x80 && nameEnd(string(r)) == 0 {
			break
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String(), text
}

// attribute reads what stands in square brackets.
func (c *compound) attribute(text string) bool {
	name, rest := identifier(strings.TrimSpace(text))
	rest = strings.TrimSpace(rest)
	a := attribute{name: strings.ToLower(name)}
	if name == "" {
		return false
	}
	if rest != "" {
		if a.how = rest[0]; a.how != '=' {
			rest = rest[1:]
		}
		value, ok := strings.CutPrefix(rest, "=")
		if !ok || strings.IndexByte("=~|^$*", a.how) < 0 {
			return false
		}
		flag := ""
		if value = strings.TrimSpace(value); value != "" && (value[0] == '"' || value[0] == '\'') {
			end := min(len(value)-1, stringEnd(value, 0))
			value, flag = value[1:max(1, end)], value[end+1:]
		} else {
			value, flag, _ = strings.Cut(value, " ")
		}
		flag = strings.ToLower(strings.TrimSpace(flag))
		a.folded = flag == "i" || flag == "" && foldedAttributes[a.name]
		for value != "" {
			part, rest := identifier(value)
			if rest != "" && part == "" {
				part, rest = rest[:1], rest[1:]
			}
			a.value, value = a.value+part, rest
		}
	}
	c.attributes = append(c.attributes, a)
	return true
}

// foldedAttributes are those whose values HTML compares in any case.
var foldedAttributes = setOf("align bgcolor charset checked clear color dir disabled face hreflang http-equiv lang language media method rel rev scope selected shape target text type valign")

// pseudo reads what begins with a colon. What a reader has to do something for is not met,
// and of what depends on what comes later in the page it is not known.
func (c *compound) pseudo(text string) (rest string, ok bool) {
	element := strings.HasPrefix(text, "::")
	name, rest := identifier(strings.TrimLeft(text, ":"))
	name = strings.ToLower(name)
	inner := ""
	if strings.HasPrefix(rest, "(") {
		inner, rest = argument(rest[1:])
	}
	if !element {
		c.weight += classWeight
	}
	switch name {
	case "not", "is", "where", "matches", "-webkit-any":
		var any []compound
		most := 0
		for _, part := range split(inner, ",") {
			one, rest, ok := compoundAt(part)
			c.maybe = c.maybe || !ok || rest != "" || one.maybe
			any, most = append(any, one), max(most, one.weight)
		}
		if c.weight -= classWeight; name != "where" {
			c.weight += most
		}
		switch {
		case c.maybe:
		case name == "not":
			c.none = append(c.none, any)
		default:
			c.some = append(c.some, any)
		}
		return rest, len(any) > 0
	case "root", "scope":
		c.root = true
	case "link", "any-link", "-webkit-any-link":
		c.attributes = append(c.attributes, attribute{name: "href"})
	case "checked", "disabled", "required", "open":
		c.attributes = append(c.attributes, attribute{name: name})
	case "lang":
		c.language = strings.ToLower(strings.Trim(inner, blanks+`"'*-`))
	case "dir":
		c.never = strings.TrimSpace(inner) != "ltr"
	case "first-child":
		c.nth = append(c.nth, nth{start: 1})
	case "nth-child":
		n, ok := nthOf(inner)
		if c.maybe = c.maybe || !ok; ok {
			c.nth = append(c.nth, n)
		}
	case "first-line", "first-letter", "defined", "enabled", "read-only":
	default:
		c.never = c.never || element || name == "" || name[0] == '-' || notMet[name]
		c.maybe = c.maybe || !c.never
	}
	return rest, true
}

// notMet are the states into which a reader brings a page, and the parts of elements that
// have no text of the page.
var notMet = setOf(`hover active focus focus-within focus-visible visited target target-within empty placeholder-shown autofill fullscreen modal popover-open
	indeterminate invalid valid in-range out-of-range user-invalid user-valid host host-context current past playing picture-in-picture before after
	selection marker backdrop placeholder`)

// nthOf reads a place among siblings: 3, odd, 2n+1.
func nthOf(text string) (n nth, ok bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	switch text {
	case "odd":
		return nth{step: 2, start: 1}, true
	case "even":
		return nth{step: 2}, true
	}
	step, start, stepped := strings.Cut(text, "n")
	if !stepped {
		step, start = "0", text
	}
	number := func(text string) (n int, ok bool) {
		sign := 1
		if rest, minus := strings.CutPrefix(text, "-"); minus {
			text, sign = rest, -1
		}
		text = strings.TrimPrefix(text, "+")
		for _, r := range text {
			if r < '0' || r > '9' || n > 1<<20 {
				return 0, false
			}
			n = n*10 + int(r-'0')
		}
		return sign * n, text != ""
	}
	switch step {
	case "", "+":
		step = "1"
	case "-":
		step = "-1"
	}
	if start == "" {
		start = "0"
	}
	a, ok := number(step)
	b, also := number(start)
	return nth{step: a, start: b}, ok && also
}

func (n nth) holds(index int) bool {
	d := index - n.start
	if n.step == 0 {
		return d == 0
	}
	return d%n.step == 0 && d/n.step >= 0
}

// key is that by which a compound is found: its id, a class, its name, or nothing.
func (c *compound) key() string {
	switch {
	case c.id != "":
		return "#" + c.id
	case len(c.classes) > 0:
		return "." + c.classes[0]
	case c.root:
		return "html"
	}
	return c.name
}

// keysOf are the keys of the compounds that an element may meet.
func keysOf(e *Element) []string {
	keys := []string{"", e.Name}
	if e.ID != "" {
		keys = append(keys, "#"+e.ID)
	}
	for class := range strings.FieldsSeq(e.Class) {
		if key := "." + class; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *compound) looksAtAttributes() bool {
	inner := func(any []compound) bool {
		return slices.ContainsFunc(any, func(c compound) bool { return c.looksAtAttributes() })
	}
	return len(c.attributes) > 0 || slices.ContainsFunc(c.none, inner) || slices.ContainsFunc(c.some, inner)
}

// size is how many compounds are compared, with those in brackets.
func (c *compound) size() int {
	n := 1
	for _, any := range slices.Concat(c.none, c.some) {
		for i := range any {
			n += any[i].size()
		}
	}
	return n
}

func (c *compound) matches(e *Element) bool {
	if c.never || c.language != "" && !strings.HasPrefix(strings.ToLower(e.Language)+"-", c.language+"-") {
		return false
	}
	if c.name != "" && c.name != e.Name || c.id != "" && c.id != e.ID || c.root && !e.Root {
		return false
	}
	for _, class := range c.classes {
		if !hasWord(e.Class, class) {
			return false
		}
	}
	for _, a := range c.attributes {
		if !a.matches(e) {
			return false
		}
	}
	for _, n := range c.nth {
		if !n.holds(e.index) {
			return false
		}
	}
	met := func(any []compound) bool {
		return slices.ContainsFunc(any, func(c compound) bool { return c.matches(e) })
	}
	return !slices.ContainsFunc(c.none, met) && !slices.ContainsFunc(c.some, func(any []compound) bool { return !met(any) })
}

func hasWord(list, word string) bool {
	for field := range strings.FieldsSeq(list) {
		if field == word {
			return true
		}
	}
	return false
}

func (a attribute) matches(e *Element) bool {
	value, ok := e.Attributes[a.name]
	switch a.name {
	case "id":
		value, ok = e.ID, e.ID != ""
	case "class":
		value, ok = e.Class, e.Class != ""
	}
	want := a.value
	if a.folded {
		value, want = strings.ToLower(value), strings.ToLower(want)
	}
	switch {
	case !ok || a.how == 0:
		return ok
	case a.how == '=':
		return value == want
	case a.how == '|':
		return value == want || strings.HasPrefix(value, want+"-")
	case want == "":
		return false
	case a.how == '~':
		return hasWord(value, want)
	case a.how == '^':
		return strings.HasPrefix(value, want)
	case a.how == '$':
		return strings.HasSuffix(value, want)
	}
	return strings.Contains(value, want)
}
