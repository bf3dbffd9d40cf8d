package style

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed names.txt
var nameLines string

// named are the colours that have names.
var named = sync.OnceValue(func() map[string]uint32 {
	all := map[string]uint32{}
	for line := range strings.Lines(nameLines) {
		if name, code, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			n, _ := strconv.ParseUint(code, 16, 32)
			all[name] = uint32(n)
		}
	}
	return all
})

// The limits on what is read of the sheets of one page.
const (
	maxRules                  = 20000
	maxNesting                = 8
	maxSheet                  = 2 << 20
	maxPartials               = 8192 // selectors that are partly met
	maxLayers                 = 1000
	maxSelector, maxSelectors = 1024, 1000 // bytes of one, and so many of a rule
	maxFirst                  = 64         // registered variables
	maxOwn                    = 256        // variables of one element
	maxColour                 = 512        // bytes of a function of colours
	maxWork                   = 1 << 28
	applyWork                 = 32 // what a declaration costs that applies, where a compound that is tried costs 1
)

// Text is a sheet of a page: what a style element has, or what a link of the page leads to.
// A doubtful one may not count.
type Text struct {
	Rules, Media string
	Doubtful     bool
}

// Sheet is what the sheets of a page say.
type Sheet struct {
	rules    []rule
	parts    map[string][]int // the compounds by their name, class or id, as indices in compounds
	all      []compoundOf
	partials int
	frames   map[string][]frame // of each animation
	layers   []string           // by their names, the weakest first
	firsts   int                // variables with a value of their own
	order    int
	work     int // what was tried and applied
	// Attributes says that selectors look at attributes besides class and id.
	Attributes bool
}

// frame is one of an animation.
type frame struct {
	declarations []declaration
	first, last  bool
}

// rule is a selector with its declarations.
type rule struct {
	declarations []declaration
	specificity  int
	order        int
	layer        int
}

// group is what rules stand in.
type group struct {
	outer    []string // the selectors of the rules around
	layer    int      // its place in layers
	name     string   // of the layer
	doubtful bool     // it is not known whether its rules count: only what hides is taken
	depth    int
}

// free is the layer of rules that are in none, first one below all.
const free, first = 1 << 20, -1

// compoundOf is a compound of a selector in its place.
type compoundOf struct {
	compound   compound
	combinator byte // before it: ' ', '>', '+', '~', 0 for the first
	needs      int  // the partial that stands before it
	makes      int  // the partial that it completes, or -1
	rule       int  // the rule that applies where it is the last
	size       int  // how much is compared
}

// Read reads the sheets of a page in their order. It returns nil where none of them says
// anything that matters here.
func Read(sheets []Text) *Sheet {
	s := &Sheet{parts: map[string][]int{}, frames: map[string][]frame{}}
	for _, one := range sheets {
		s.sheet(one.Rules, one.Media, group{layer: free, doubtful: one.Doubtful})
	}
	if len(s.rules) == 0 && len(s.frames) == 0 {
		return nil
	}
	return s
}

func (s *Sheet) sheet(text, query string, in group) {
	if holds := media(query); holds != no {
		in.doubtful = in.doubtful || holds == maybe
		text = strings.NewReplacer("<!--", "", "-->", "", "\x00", "\ufffd").Replace(text[:min(len(text), maxSheet)])
		s.block(withoutComments(text), in)
	}
}

// block reads rules up to the end of a sheet or of a group of rules.
func (s *Sheet) block(text string, in group) {
	if in.depth > maxNesting {
		return
	}
	for text != "" {
		text = strings.TrimLeft(text, blanks+"}")
		end, open := declarationEnd(text)
		if !open && strings.HasPrefix(text, "@") {
			s.statement(text[:end], in)
			text = text[min(len(text), end+1):]
			continue
		}
		for from := end; !open && from < len(text); { // a semicolon does not end the selectors of a rule
			end, open = declarationEnd(text[from+1:])
			end += from + 1
			from = end
		}
		if !open {
			return
		}
		block, rest := blockOf(text[end+1:])
		s.rule(strings.TrimSpace(text[:end]), block, in)
		text = rest
	}
}

// statement takes a rule with an @ and without a block: the order of layers, and an import
// of a sheet that stands in its own address.
func (s *Sheet) statement(text string, in group) {
	name, names, _ := strings.Cut(plain(text), " ")
	if name == "@layer" {
		for _, one := range split(names, ",") {
			s.layer(in, one)
		}
	}
	if at := strings.IndexAny(text, `"'(`); strings.HasPrefix(name, "@import") && at >= 0 {
		address, query := argument(text[at+1:])
		if text[at] != '(' {
			end := stringEnd(text, at)
			address, query = text[at:min(len(text), end+1)], text[min(len(text), end+1):]
		} else if !strings.HasSuffix(strings.ToLower(text[:at]), "url") {
			return
		}
		if rules, ok := Contained(strings.Trim(address, blanks+`"'`)); ok {
			in.depth++
			for _, word := range split(query, blanks) {
				if name, _, ok := function(word); ok && (name == "layer" || name == "supports") || word == "layer" {
					in.doubtful, query = true, ""
				}
			}
			if in.depth <= maxNesting {
				s.sheet(rules, query, in)
			}
		}
	}
}

// Contained is the sheet that an address contains.
func Contained(address string) (rules string, ok bool) {
	head, body, ok := strings.Cut(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(address), ",")
	head = strings.ToLower(head)
	if !ok || !strings.HasPrefix(head, "data:text/css") {
		return "", false
	}
	body, _, _ = strings.Cut(body, "#")
	body, err := url.PathUnescape(body)
	if strings.HasSuffix(head, ";base64") && err == nil {
		var decoded []byte
		decoded, err = base64.StdEncoding.DecodeString(body)
		body = string(decoded)
	}
	return body, err == nil
}

// layer is the place of a layer, which it takes where it is named first.
func (s *Sheet) layer(in group, name string) int {
	if name == "" {
		name = strconv.Itoa(len(s.layers)) // one without a name is not gone on with
	}
	name = in.name + "." + name
	at := slices.Index(s.layers, name)
	if at < 0 && len(s.layers) == maxLayers {
		return maxLayers - 1
	}
	if at < 0 {
		at = len(s.layers)
		s.layers = append(s.layers, name)
	}
	return at
}

// rule takes one rule, with the rules nested in it.
func (s *Sheet) rule(prelude, block string, in group) {
	if strings.HasPrefix(prelude, "@") {
		s.group(prelude, block, in)
		return
	}
	selectors, whole := selectorsOf(prelude, in.outer)
	if len(selectors) == 0 {
		return
	}
	for _, one := range selectors { // a browser drops the rule where one of them is nothing
		in.doubtful = in.doubtful || one.is(func(c *compound) bool { return c.maybe })
	}
	inner := in
	inner.outer, inner.depth = whole, in.depth+1
	var nested []func()
	all := declarations(block, func(prelude, block string) {
		nested = append(nested, func() { s.rule(prelude, block, inner) })
	})
	s.add(selectors, all, in)
	if in.depth < maxNesting {
		for _, rule := range nested {
			rule()
		}
	}
}

// group takes a rule with an @ and a block.
func (s *Sheet) group(prelude, block string, in group) {
	words := plain(prelude)
	name := words[1 : 1+nameEnd(words[1:])]
	given := strings.TrimSpace(words[1+len(name):])
	holds := yes
	switch name {
	case "media":
		holds = media(given)
	case "supports":
		holds = condition(given, supported, 0)
	case "layer":
		in.layer = s.layer(in, given)
		in.name = s.layers[in.layer]
	case "keyframes", "-webkit-keyframes":
		_, named, _ := strings.Cut(prelude, " ")
		s.keyframes(strings.ToLower(strings.Trim(named, blanks+`"'`)), block)
		return
	case "property":
		s.register(given, block)
		return
	case "scope":
		if holds = maybe; strings.HasPrefix(given, "(") { // where it begins, and not the page, is what :scope means
			start, _ := argument(given[1:])
			block = strings.ReplaceAll(block, ":scope", ":is("+start+")")
		}
	case "container":
		holds = maybe
	default:
		return
	}
	if holds == no {
		return
	}
	in.doubtful = in.doubtful || holds == maybe
	in.depth++
	if in.outer != nil {
		s.rule("&", block, in)
		return
	}
	s.block(block, in)
}

// register takes a variable with the value that it has where nothing sets it: a rule that is
// weaker than all others.
func (s *Sheet) register(name, block string) {
	value, of := "", "*"
	for _, one := range split(block, ";") {
		key, given, _ := strings.Cut(plain(one), ":")
		switch given = strings.TrimSpace(given); strings.TrimSpace(key) {
		case "initial-value":
			value = given
		case "inherits":
			if given == "true" {
				of = ":root"
			}
		}
	}
	if s.firsts++; value != "" && s.firsts <= maxFirst {
		selectors, _ := selectorsOf(of, nil)
		s.add(selectors, []declaration{{name: name, value: value}}, group{layer: first})
	}
}

// keyframes keeps the frames of an animation.
func (s *Sheet) keyframes(name, block string) {
	s.frames[name] = nil
	for block != "" {
		block = strings.TrimLeft(block, blanks+"};")
		end, open := declarationEnd(block)
		if !open {
			return
		}
		inner, rest := blockOf(block[end+1:])
		at := split(plain(block[:end]), ",")
		s.frames[name] = append(s.frames[name], frame{declarations(inner, nil), slices.Contains(at, "from") || slices.Contains(at, "0%"), slices.Contains(at, "to") || slices.Contains(at, "100%")})
		block = rest
	}
}

// add keeps selectors with their declarations.
func (s *Sheet) add(selectors []selector, all []declaration, in group) {
	if len(all) == 0 || len(s.rules) >= maxRules || in.doubtful && !hide(all) {
		return
	}
	s.order++
	for _, sel := range selectors {
		s.rules = append(s.rules, rule{declarations: all, specificity: sel.specificity(), order: s.order, layer: in.layer})
		needs := -1
		for i, c := range sel.compounds {
			if s.partials >= maxPartials {
				return
			}
			makes := -1
			if i < len(sel.compounds)-1 {
				makes = s.partials
				s.partials++
			}
			s.Attributes = s.Attributes || c.looksAtAttributes()
			key := c.key()
			s.parts[key] = append(s.parts[key], len(s.all))
			s.all = append(s.all, compoundOf{compound: c, combinator: sel.combinators[i], needs: needs, makes: makes, rule: len(s.rules) - 1, size: c.size()})
			needs = makes
		}
	}
}

// Spent reports whether no more can be said: the elements so far took all the work that one
// page is given.
func (s *Sheet) Spent() bool { return s != nil && s.work > maxWork }

// hide reports whether declarations hide a text that nothing else hides.
func hide(all []declaration) bool {
	e := effectOf(all, Sight{}, false)
	e.ground, e.covers = Colour{}, false
	return !e.On(Sight{}).Text()
}

// Place is what selectors know of the elements around one, and of its siblings.
type Place struct {
	inside, own []uint64 // the partials that an element above meets, and the parent itself
	before      []uint64 // those that an earlier child of this element meets
	last        []uint64 // those that the last child meets
	children    int
	language    string
}

// Element is what selectors look at.
type Element struct {
	Name, ID, Class string
	Attributes      map[string]string // where Sheet.Attributes says so
	Root            bool
	Drawn           bool // it is part of a drawing
	Language        string
	index           int // among its siblings, from 1
}

func has(set []uint64, i int) bool { return i>>6 < len(set) && set[i>>6]>>(i&63)&1 != 0 }

func with(set []uint64, i int) []uint64 {
	for i>>6 >= len(set) {
		set = append(set, 0)
	}
	set[i>>6] |= 1 << (i & 63)
	return set
}

func union(a, b []uint64) []uint64 {
	if len(b) == 0 {
		return a
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	c := slices.Clone(a)
	for i := range b {
		c[i] |= b[i]
	}
	return c
}

// Effect is what an element does to the text in it, by the sheet, by its attributes that
// are a style, by its style attribute. It notes the element in the place where it stands,
// and returns the place that it is to its children. Sheet may be nil.
func (s *Sheet) Effect(at *Place, e Element, hints, inline string, outer Sight) (Effect, Place) {
	var all []won
	for _, d := range declarations(hints, nil) {
		all = append(all, won{declaration: d, origin: hinted, layer: free})
	}
	var place Place
	if s != nil {
		at.children++
		e.index, e.Language = at.children, cmp.Or(e.Language, at.language)
		var met []uint64
		for _, key := range keysOf(&e) {
			for _, i := range s.parts[key] {
				c := &s.all[i]
				if s.work += c.size; s.Spent() {
					return Effect{Hides: true}, place
				}
				if !c.stands(at) || !c.compound.matches(&e) {
					continue
				}
				if c.makes >= 0 {
					met = with(met, c.makes)
					continue
				}
				r := &s.rules[c.rule]
				s.work += applyWork * len(r.declarations)
				for _, d := range r.declarations {
					all = append(all, won{declaration: d, origin: authored, layer: r.layer, specificity: r.specificity, order: r.order})
				}
			}
		}
		place = Place{own: met, inside: union(at.inside, met), language: e.Language}
		at.last, at.before = met, union(at.before, met)
	}
	for _, d := range declarations(withoutComments(inline), nil) {
		all = append(all, won{declaration: d, origin: inlined, layer: free})
	}
	if len(all) == 0 {
		return Effect{}, place
	}
	slices.SortStableFunc(all, weaker)
	ordered := make([]declaration, len(all))
	for i := range all {
		ordered[i] = all[i].declaration
	}
	if s != nil && len(s.frames) > 0 {
		ordered = append(ordered, s.ending(ordered)...)
	}
	effect := effectOf(ordered, outer, e.Drawn)
	effect.root = e.Root
	return effect, place
}

// stands reports whether a compound stands where its selector wants it.
func (c *compoundOf) stands(at *Place) bool {
	switch c.combinator {
	case 0:
		return true
	case '>':
		return has(at.own, c.needs)
	case '+':
		return has(at.last, c.needs)
	case '~':
		return has(at.before, c.needs)
	}
	return has(at.inside, c.needs)
}

// The origins of a declaration, from the weakest.
const (
	hinted = iota
	authored
	inlined
)

// won is a declaration with what it is weighed by.
type won struct {
	declaration
	origin, layer, specificity, order int
}

// weaker orders declarations as the cascade does. Of important ones those in the first layer
// are the strongest.
func weaker(a, b won) int {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	if d := flag(a.important) - flag(b.important); d != 0 {
		return d
	}
	if d := a.layer - b.layer; d != 0 {
		if a.important {
			return -d
		}
		return d
	}
	if a.origin != b.origin {
		return a.origin - b.origin
	}
	if a.specificity != b.specificity {
		return a.specificity - b.specificity
	}
	return a.order - b.order
}

// ending is what an animation leaves an element as when it has ended. Where it does not end
// soon, or not with its last frame, every frame that hides counts.
func (s *Sheet) ending(all []declaration) (last []declaration) {
	of := map[string]string{}
	for _, d := range all {
		if d.name == "animation" {
			clear(of)
		}
		if strings.HasPrefix(d.name, "animation") {
			of[d.name] = d.value
		}
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		words = append(words, split(of[name], blanks+",")...)
	}
	stays := slices.Contains(words, "forwards") || slices.Contains(words, "both")
	odd := slices.ContainsFunc(words, func(word string) bool {
		end := numberEnd(word)
		n, _ := strconv.ParseFloat(word[:end], 64)
		return word == "paused" || strings.Contains(word, "reverse") || word == "alternate" || strings.HasPrefix(word, "calc(") || word[end:] == "s" && n > longAnimation || word[end:] == "ms" && n > 1000*longAnimation
	})
	for _, word := range words {
		frames := s.frames[word]
		always := (len(frames) > 1 || len(frames) == 1 && frames[0].first && frames[0].last) && !slices.ContainsFunc(frames, func(f frame) bool { return !hide(f.declarations) })
		for _, f := range frames {
			if f.last && stays && !odd || (odd || always && slices.Contains(words, "infinite")) && hide(f.declarations) {
				last = append(last, f.declarations...)
			}
		}
	}
	return last
}

// longAnimation is after how many seconds nobody waits for a text.
const longAnimation = 10
