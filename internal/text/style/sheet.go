package style

import (
	_ "embed"
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
	maxRules    = 20000
	maxNesting  = 8
	maxSheet    = 2 << 20
	maxPartials = 8192 // selectors that are partly met
)

// Sheet is what the <style> elements of a page say.
type Sheet struct {
	rules    []rule
	parts    map[string][]int // the compounds by their name, class or id, as indices in compounds
	all      []compoundOf
	partials int
	frames   map[string][]declaration // the last frame of each animation
	order    int
	// Attributes says that selectors look at attributes besides class and id.
	Attributes bool
}

// rule is a selector with its declarations.
type rule struct {
	declarations []declaration
	specificity  int
	order        int
	layered      bool
}

// compoundOf is a compound of a selector in its place.
type compoundOf struct {
	compound   compound
	combinator byte // before it: ' ', '>', '+', '~', 0 for the first
	needs      int  // the partial that stands before it
	makes      int  // the partial that it completes, or -1
	rule       int  // the rule that applies where it is the last
}

// Read reads the <style> elements of a page in their order. It returns nil where none of
// them has a rule that matters here.
func Read(sheets []string) *Sheet {
	s := &Sheet{parts: map[string][]int{}, frames: map[string][]declaration{}}
	for _, text := range sheets {
		text = strings.NewReplacer("<!--", "", "-->", "", "\x00", "\ufffd").Replace(text[:min(len(text), maxSheet)])
		s.block(withoutComments(text), nil, false, 0)
	}
	if len(s.rules) == 0 {
		return nil
	}
	return s
}

// block reads rules up to the end of a sheet or of a group of rules.
func (s *Sheet) block(text string, outer []selector, layered bool, depth int) {
	if depth > maxNesting {
		return
	}
	for text != "" {
		text = strings.TrimLeft(text, blanks+"}")
		end, open := declarationEnd(text)
		if !open && strings.HasPrefix(text, "@") {
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
		s.rule(strings.TrimSpace(text[:end]), block, outer, layered, depth)
		text = rest
	}
}

// rule takes one rule, with the rules nested in it.
func (s *Sheet) rule(prelude, block string, outer []selector, layered bool, depth int) {
	if strings.HasPrefix(prelude, "@") {
		s.group(plain(prelude), block, outer, layered, depth)
		return
	}
	selectors := selectorsOf(prelude, outer)
	if len(selectors) == 0 {
		return
	}
	var nested []func()
	all := declarations(block, func(prelude, block string) {
		nested = append(nested, func() { s.rule(prelude, block, selectors, layered, depth+1) })
	})
	s.add(selectors, all, layered)
	if depth < maxNesting {
		for _, rule := range nested {
			rule()
		}
	}
}

// group takes a rule with an @. Those that depend on what a screen can do hold for a wide
// one that shows light pages.
func (s *Sheet) group(prelude, block string, outer []selector, layered bool, depth int) {
	name := prelude[1 : 1+nameEnd(prelude[1:])]
	condition := strings.TrimSpace(prelude[1+len(name):])
	switch name {
	case "media":
		if !Applies(condition) {
			return
		}
	case "supports":
		if strings.HasPrefix(condition, "not") {
			return
		}
	case "layer":
		layered = true
	case "keyframes", "-webkit-keyframes":
		s.keyframes(condition, block)
		return
	case "scope", "container":
	default:
		return
	}
	if outer != nil {
		s.rule("&", block, outer, layered, depth+1)
		return
	}
	s.block(block, outer, layered, depth+1)
}

// keyframes keeps the frame in which an animation ends.
func (s *Sheet) keyframes(name, block string) {
	for block != "" {
		block = strings.TrimLeft(block, blanks+"};")
		end, open := declarationEnd(block)
		if !open {
			return
		}
		inner, rest := blockOf(block[end+1:])
		for _, at := range split(plain(block[:end]), ",") {
			if at == "to" || at == "100%" {
				s.frames[name] = declarations(inner, nil)
			}
		}
		block = rest
	}
}

// Applies reports whether a media query holds for a wide screen that shows light pages.
func Applies(query string) bool {
	if strings.TrimSpace(query) == "" {
		return true
	}
	return slices.ContainsFunc(split(strings.ToLower(query), ","), func(one string) bool {
		not := strings.HasPrefix(one, "not ")
		one = strings.TrimPrefix(strings.TrimPrefix(one, "not "), "only ")
		holds := true
		for part := range strings.SplitSeq(one, " and ") {
			holds = holds && holdsHere(strings.TrimSpace(part))
		}
		return holds != not
	})
}

// holdsHere reports whether one part of a media query holds.
func holdsHere(part string) bool {
	switch part {
	case "all", "screen":
		return true
	}
	inner, bracketed := strings.CutPrefix(part, "(")
	if !bracketed {
		return false
	}
	feature, value, has := strings.Cut(strings.TrimSuffix(inner, ")"), ":")
	feature, value = strings.TrimSpace(feature), strings.TrimSpace(value)
	size := screenWidth
	if strings.HasSuffix(feature, "height") {
		size = screenHeight
	}
	n, k := quantity(value, scale{em: mediumLetters, full: size})
	switch feature {
	case "min-width", "min-height", "min-device-width":
		return k != wrong && size >= n
	case "max-width", "max-height", "max-device-width":
		return k != wrong && size <= n
	case "prefers-color-scheme":
		return value == "light"
	case "prefers-reduced-motion":
		return value == "no-preference"
	case "orientation":
		return value == "landscape"
	case "hover", "any-hover":
		return value == "hover" || !has
	case "pointer", "any-pointer":
		return value == "fine" || !has
	case "color", "scripting":
		return !has || value == "enabled"
	}
	for _, op := range []string{">=", "<=", ">", "<"} {
		if left, right, ok := strings.Cut(feature, op); ok && strings.TrimSpace(left) == "width" {
			n, k := quantity(strings.TrimSpace(right), scale{em: mediumLetters, full: size})
			return k != wrong && (op[0] == '>') == (screenWidth >= n)
		}
	}
	return false
}

// add keeps selectors with their declarations.
func (s *Sheet) add(selectors []selector, all []declaration, layered bool) {
	if len(all) == 0 || len(s.rules) >= maxRules {
		return
	}
	s.order++
	for _, sel := range selectors {
		s.rules = append(s.rules, rule{declarations: all, specificity: sel.specificity(), order: s.order, layered: layered})
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
			s.all = append(s.all, compoundOf{compound: c, combinator: sel.combinators[i], needs: needs, makes: makes, rule: len(s.rules) - 1})
			needs = makes
		}
	}
}

// Place is what selectors know of the elements around one, and of its siblings.
type Place struct {
	inside, own []uint64 // the partials that an element above meets, and the parent itself
	before      []uint64 // those that an earlier child of this element meets
	last        []uint64 // those that the last child meets
	children    int
}

// Element is what selectors look at.
type Element struct {
	Name, ID, Class string
	Attributes      map[string]string // where Sheet.Attributes says so
	Root            bool
	Drawn           bool // it is part of a drawing
	index           int  // among its siblings, from 1
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
		all = append(all, won{declaration: d, origin: hinted})
	}
	var place Place
	if s != nil {
		at.children++
		e.index = at.children
		var met []uint64
		for _, key := range keysOf(&e) {
			for _, i := range s.parts[key] {
				c := &s.all[i]
				if !c.stands(at) || !c.compound.matches(&e) {
					continue
				}
				if c.makes >= 0 {
					met = with(met, c.makes)
					continue
				}
				r := &s.rules[c.rule]
				for _, d := range r.declarations {
					all = append(all, won{declaration: d, origin: authored, layered: r.layered, specificity: r.specificity, order: r.order})
				}
			}
		}
		place = Place{own: met, inside: union(at.inside, met)}
		at.last, at.before = met, union(at.before, met)
	}
	for _, d := range declarations(withoutComments(inline), nil) {
		all = append(all, won{declaration: d, origin: inlined})
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
	origin, specificity, order int
	layered                    bool
}

// weaker orders declarations as the cascade does. Of important ones those in a layer are
// the stronger.
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
	if d := flag(b.layered) - flag(a.layered); d != 0 {
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

// ending is what an animation leaves an element as when it has ended.
func (s *Sheet) ending(all []declaration) (last []declaration) {
	var names, words []string
	for _, d := range all {
		switch strings.TrimPrefix(d.name, "-webkit-") {
		case "animation", "animation-name", "animation-fill-mode":
			words = append(words, split(d.value, blanks+",")...)
		}
	}
	for _, word := range words {
		if s.frames[word] != nil {
			names = append(names, word)
		}
	}
	if !slices.Contains(words, "forwards") && !slices.Contains(words, "both") && !slices.Contains(words, "infinite") {
		return nil
	}
	for _, name := range names {
		last = append(last, s.frames[name]...)
	}
	return last
}
