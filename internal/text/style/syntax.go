package style

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// syntax is what a browser takes for a property.
type syntax struct {
	any       bool
	most      int // parts of a value
	kinds     map[kind]bool
	colours   bool
	words     map[string]bool
	functions map[string]arguments
}

// arguments are what a function takes.
type arguments struct {
	any  bool
	kind kind
	most int // and so many, where there are more than two
}

//go:embed properties.txt
var propertyLines string

// properties are those that are kept, by all their names, with the names that they have here.
var properties = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(propertyLines) {
		names, other, same := strings.Cut(line, " = ")
		if same {
			for name := range strings.FieldsSeq(other) {
				all[name] = names
			}
		}
	}
	for name := range syntaxes() {
		all[name] = name
	}
	return all
})

var kindNames = map[string]kind{"number": number, "share": share, "length": length, "angle": angle}

var syntaxes = sync.OnceValue(func() map[string]*syntax {
	all := map[string]*syntax{}
	for line := range strings.Lines(propertyLines) {
		head, words, ok := strings.Cut(line, ":")
		if !ok || head[0] == '#' {
			continue
		}
		s := &syntax{kinds: map[kind]bool{}, words: map[string]bool{}, functions: map[string]arguments{}}
		for _, word := range strings.Fields(head) {
			n, err := strconv.Atoi(word)
			switch {
			case word == "any":
				s.any = true
			case word == "colour":
				s.colours = true
			case err == nil:
				s.most = n
			case kindNames[word] != wrong:
				s.kinds[kindNames[word]] = true
			default:
				all[word] = s
			}
		}
		for _, word := range strings.Fields(words) {
			name, inner, isFunction := function(word)
			if !isFunction {
				s.words[word] = true
				continue
			}
			of, most, _ := strings.Cut(inner, ",")
			n, _ := strconv.Atoi(most)
			s.functions[name] = arguments{any: n == 0, kind: kindNames[of], most: n}
		}
	}
	return all
})

// isValid reports whether a browser takes a value for a property. A function that is not
// known is taken for what hides.
func isValid(name, value string) bool {
	s := syntaxes()[name]
	if isWide(value) || s.any {
		return true
	}
	parts := split(value, blanks+",")
	if len(parts) > s.most || len(parts) == 0 || slices.ContainsFunc(parts, func(part string) bool { return !s.takes(part) && !s.hides(part) }) {
		return false
	}
	switch name {
	case "display":
		return len(parts) == 1 || isPair(parts)
	case "font-size":
		n, _ := quantity(value, scale{em: mediumLetters, full: mediumLetters})
		return n >= 0
	}
	return true
}

// isPair holds for how an element stands outside and what it is inside.
func isPair(parts []string) bool {
	outer, inner := 0, 0
	for _, part := range parts {
		switch part {
		case "block", "inline":
			outer++
		case "flow", "flow-root", "table", "flex", "grid", "ruby", "math":
			inner++
		case "list-item":
		default:
			return false
		}
	}
	return outer < 2 && inner < 2
}

// takes reports whether something is a part of a value.
func (s *syntax) takes(part string) bool {
	if s.words[part] {
		return true
	}
	if name, inner, ok := function(part); ok {
		if takes, known := s.functions[name]; known {
			return takes.hold(inner)
		}
	}
	if _, ok := colourOf(part); ok && s.colours {
		return true
	}
	n, k := quantity(part, scale{em: mediumLetters, full: mediumLetters})
	return s.kinds[k] || k == number && n == 0 && (s.kinds[length] || s.kinds[angle])
}

// hides reports whether something is a function of which nothing is known.
func (s *syntax) hides(part string) bool {
	name, _, ok := function(part)
	if _, known := s.functions[name]; !ok || known || s.functions["any"].any {
		return false
	}
	_, k := quantity(part, scale{em: mediumLetters, full: mediumLetters})
	return k == unknown && !s.takes(part)
}

// isNotKnown reports whether a value has a function of which nothing is known.
func isNotKnown(name, value string) bool {
	s := syntaxes()[name]
	return !s.any && strings.Contains(value, "(") && slices.ContainsFunc(split(value, blanks+","), s.hides)
}

var shapeWords = setOf("round at nonzero evenodd left right top bottom center closest-side farthest-side auto none")

func (a arguments) hold(inner string) bool {
	parts := split(inner, blanks+",")
	if a.any {
		return true
	}
	if len(parts) > a.most || len(parts) == 0 && a.kind == length || (a.most == 3 || a.most == 4 || a.most == 6) && len(parts) != a.most {
		return false
	}
	return !slices.ContainsFunc(parts, func(part string) bool {
		n, k := quantity(part, scale{em: mediumLetters, full: mediumLetters})
		switch {
		case k == unknown, k == a.kind, k == share && a.kind != angle, k == number && n == 0:
			return false
		}
		return a.most < 4 || !shapeWords[part]
	})
}
