package reading

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
)

// token is a number, a year or a name of a sentence.
type token struct {
	start, end int
	kind       kind
	text       string
}

type kind uint8

const (
	number kind = iota
	year
	name
)

// tokens finds what can be exchanged in a text.
func tokens(text, language string) []token {
	var found []token
	runes := []rune(text)
	at := make([]int, 0, len(runes)+1)
	for i := range text {
		at = append(at, i)
	}
	at = append(at, len(text))
	for _, n := range figure.Numerals(runes) {
		t := token{start: at[n.From], end: at[n.To], text: string(runes[n.From:n.To])}
		if len(t.text) == 4 && (t.text[0] == '1' || t.text[0] == '2') && strings.Trim(t.text, "0123456789") == "" {
			t.kind = year
		}
		found = append(found, t)
	}
	return append(found, names(text, language)...)
}

// names are words with capitals that begin no sentence; in German, where every noun has
// one, two in a row or an acronym.
func names(text, language string) []token {
	var found []token
	begins, words := true, 0 // of the name under way
	for at := 0; at < len(text); {
		end := at
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(r) && r != '-' && r != '’' && r != '\'' {
				break
			}
			end += size
		}
		if end == at {
			r, size := utf8.DecodeRuneInString(text[at:])
			begins = begins || strings.ContainsRune(".!?:", r)
			if r != ' ' {
				words = 0
			}
			at += size
			continue
		}
		word := text[at:end]
		first, _ := utf8.DecodeRuneInString(word)
		if unicode.IsUpper(first) && !begins && len(word) > 2 && !page.IsCommon(strings.ToLower(word)) {
			if words++; words > 1 && len(found) > 0 && found[len(found)-1].end == at-1 {
				last := &found[len(found)-1]
				last.end, last.text = end, text[last.start:end]
			} else {
				found = append(found, token{at, end, name, word})
			}
		} else {
			words = 0
		}
		begins = false
		at = end
	}
	if language == "de" {
		found = slices.DeleteFunc(found, func(t token) bool {
			return !strings.Contains(t.text, " ") && strings.ToUpper(t.text) != t.text
		})
	}
	return found
}

// falsified makes a base false, in the order of preference: two of its numbers, years or
// names exchanged, or one replaced by another of its kind from its windows; its direction
// turned; a number or name that its pages do not have; a page that has none of them. It
// returns the sources whose windows are shown, and whether only its sense gives it away:
// the first three.
func (g *controlMaker) falsified(b Base, windows []claim.Window) (text string, cids []string, sense, ok bool) {
	own := tokens(b.Text, g.Language)
	for i, make := range []func() (string, bool){
		func() (string, bool) { return g.exchanged(b.Text, own) },
		func() (string, bool) { return g.replaced(b.Text, own, windows) },
		func() (string, bool) { return g.turned(b.Text) },
		func() (string, bool) { return g.changed(b, own) },
	} {
		if text, ok := make(); ok {
			return text, b.CIDs, i < 3, true
		}
	}
	if cid := g.elsewhere(b, own); cid != "" {
		return b.Text, []string{cid}, false, true
	}
	return "", nil, false, false
}

// exchanged swaps two tokens of a kind. What stands between them must not join them: "A
// and B" says the same the other way round.
func (g *controlMaker) exchanged(text string, own []token) (string, bool) {
	type pair struct{ a, b token }
	var pairs []pair
	for i, a := range own {
		for _, b := range own[i+1:] {
			if a.kind != b.kind || strings.EqualFold(a.text, b.text) || a.end > b.start {
				continue
			}
			if apart(text[a.end:b.start], a.kind) {
				pairs = append(pairs, pair{a, b})
			}
		}
	}
	if len(pairs) == 0 {
		return "", false
	}
	p := pairs[g.random.below(len(pairs))]
	return text[:p.a.start] + p.b.text + text[p.a.end:p.b.start] + p.a.text + text[p.b.end:], true
}

// apart reports whether what stands between two of a kind keeps them from being joined,
// as two names by "and" or two ends of a range.
func apart(between string, of kind) bool {
	n := len(strings.Fields(between))
	joined := strings.ContainsAny(between, ",;、，/&–") || joins(between)
	if of == name {
		return n > 0 && !joined
	}
	return n >= 4 || n >= 2 && !joined
}

// joins reports whether a text has a word that joins like things.
func joins(text string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if joiners()[strings.Trim(word, ".,;:()")] {
			return true
		}
	}
	return false
}

// replaced puts another number, year or name of the windows in the place of one.
func (g *controlMaker) replaced(text string, own []token, windows []claim.Window) (string, bool) {
	var others []token
	for _, w := range windows {
		others = append(others, tokens(w.Text, g.Language)...)
	}
	for _, t := range shuffled(&g.random, own) {
		for _, other := range shuffled(&g.random, others) {
			if other.kind == t.kind && !slices.ContainsFunc(own, func(o token) bool {
				return strings.Contains(o.text, other.text) || strings.Contains(other.text, o.text)
			}) {
				return text[:t.start] + other.text + text[t.end:], true
			}
		}
	}
	return "", false
}

// turned puts the opposite of a word in its place.
func (g *controlMaker) turned(text string) (string, bool) {
	type turn struct {
		start, end int
		to         string
	}
	var turns []turn
	for word, opposite := range Opposites(g.Language) {
		for _, spelled := range []struct{ word, to string }{{word, opposite}, {titled(word), titled(opposite)}} {
			if i := strings.Index(text, spelled.word); i >= 0 && ends(text[:i], text[i:]) && ends(text[:i+len(spelled.word)], text[i+len(spelled.word):]) {
				turns = append(turns, turn{i, i + len(spelled.word), spelled.to})
			}
		}
	}
	if len(turns) == 0 {
		return "", false
	}
	slices.SortFunc(turns, func(a, b turn) int { return strings.Compare(text[a.start:a.end]+a.to, text[b.start:b.end]+b.to) })
	t := turns[g.random.below(len(turns))]
	return text[:t.start] + t.to + text[t.end:], true
}

func titled(word string) string {
	r, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[size:]
}

// changed puts a number or name that its pages do not have in the place of one.
func (g *controlMaker) changed(b Base, own []token) (string, bool) {
	lacks := func(text string) bool {
		return !slices.ContainsFunc(b.CIDs, func(cid string) bool { return strings.Contains(g.Text(cid), text) })
	}
	for _, t := range shuffled(&g.random, own) {
		if t.kind != name {
			if other := g.otherNumber(t); other != t.text && lacks(other) {
				return b.Text[:t.start] + other + b.Text[t.end:], true
			}
			continue
		}
		for range 8 {
			for _, other := range names(g.Bases[g.random.below(len(g.Bases))].Text, g.Language) {
				if lacks(other.text) {
					return b.Text[:t.start] + other.text + b.Text[t.end:], true
				}
			}
		}
	}
	return "", false
}

// otherNumber is a number with another first digit, as it is written, and a year with
// another last one.
func (g *controlMaker) otherNumber(t token) string {
	i := strings.IndexAny(t.text, "123456789")
	if t.kind == year {
		i = len(t.text) - 1
	}
	if i < 0 {
		return t.text
	}
	digit := byte('1' + g.random.below(8))
	if digit >= t.text[i] {
		digit++
	}
	return t.text[:i] + string(digit) + t.text[i+1:]
}

// miscalculated puts in the place of a number what comes out when it is calculated with
// another of the windows, with the formula: one that holds, and that no page asks for. "" is
// for a base without such numbers.
func (g *controlMaker) miscalculated(b Base, windows []claim.Window) (text, formula string) {
	var others []token
	for _, w := range windows {
		others = append(others, tokens(w.Text, g.Language)...)
	}
	for _, t := range shuffled(&g.random, tokens(b.Text, g.Language)) {
		n, ok := t.whole()
		if !ok || !slices.ContainsFunc(others, func(o token) bool { return o.text == t.text }) {
			continue
		}
		for _, o := range shuffled(&g.random, others) {
			m, ok := o.whole()
			sign, result := "+", n+m
			if n > m {
				sign, result = "-", n-m
			}
			written := strconv.Itoa(result)
			if ok && o.text != t.text && !slices.ContainsFunc(b.CIDs, func(cid string) bool { return strings.Contains(g.Text(cid), written) }) {
				return b.Text[:t.start] + written + b.Text[t.end:], fmt.Sprintf("%s %s %s = %s", t.text, sign, o.text, written)
			}
		}
	}
	return "", ""
}

// whole is the value of a number of two digits or more without any sign in it.
func (t token) whole() (n int, ok bool) {
	n, err := strconv.Atoi(t.text)
	return n, err == nil && t.kind == number && n > 9 && len(t.text) < 10
}

// elsewhere is a source that has none of the numbers, years and names of a base, "" for
// none and for a base without any.
func (g *controlMaker) elsewhere(b Base, own []token) string {
	if len(own) == 0 {
		return ""
	}
	for _, cid := range shuffled(&g.random, g.sources) {
		if text := g.Text(cid); text != "" && !slices.Contains(b.CIDs, cid) && !slices.ContainsFunc(own, func(t token) bool { return strings.Contains(text, t.text) }) {
			return cid
		}
	}
	return ""
}

//go:embed lists
var lists embed.FS

// Opposites are the pairs of words of a language, English where it has none, in both
// directions.
func Opposites(language string) map[string]string {
	if pairs, known := directions()[language]; known {
		return pairs
	}
	return directions()["en"]
}

var directions = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, e := range page.List(lists, "lists/directions.txt") {
		words := strings.Fields(e.Text)
		if len(words) != 2 {
			panic(fmt.Sprintf("lists/directions.txt: %q is no pair of words", e.Text))
		}
		if all[e.Language] == nil {
			all[e.Language] = map[string]string{}
		}
		for _, pair := range [][2]string{{words[0], words[1]}, {words[1], words[0]}} {
			if _, there := all[e.Language][pair[0]]; !there {
				all[e.Language][pair[0]] = pair[1]
			}
		}
	}
	return all
})

// joiners are words that join like things, in any language.
var joiners = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, e := range page.List(lists, "lists/joiners.txt") {
		for word := range strings.FieldsSeq(e.Text) {
			set[word] = true
		}
	}
	return set
})
