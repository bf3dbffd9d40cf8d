package reading

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
)

// maker makes twins: texts that contradict a text of which they have nearly every word.
type maker struct {
	language string
	windows  []claim.Window // where other numbers are taken from
	// lacks reports whether the pages have a text nowhere.
	lacks  func(text string) bool
	random *random
}

// way is how a twin is made, the best first: a reader tells those of the first two from
// the truth by their sense alone.
type way uint8

const (
	moved   way = iota // numbers, dates or names exchanged, or a number of the windows in the place of another
	turned             // the opposite of a word, a negation put in or taken out
	changed            // a number that the pages do not have
)

// The lengths of a sentence that has a twin, in words.
const (
	minWords = 4
	maxWords = 60
)

// twin makes the twin of a claim in the best way that there is. A frame is only turned, and
// of a row one cell is changed.
func (m *maker) twin(item *Item) (text string, by way, ok bool) {
	if item.Form == Finding {
		half, opposite, ok := contrary(item.Text, m.language)
		return opposite, turned, ok && half == item.Text && len(sentencesOf(half, m.language)) == 1
	}
	if n := wordCount(item.Text); n < minWords && item.Form != Frame || n > maxWords || item.Form == Absence || hedged(item.Text, m.language) {
		return "", 0, false
	}
	row := isRow(item.Text)
	if item.Form != Frame && !row && !whole(item.Text) {
		return "", 0, false
	}
	var own []token
	if item.Form != Frame && !claim.Negated(item.Text) { // what is not so of one number may not be so of another
		own = m.movable(item)
	}
	for by, made := range []func() (string, bool){
		func() (string, bool) {
			if text, ok := m.exchanged(item.Text, own); ok && !row {
				return text, true
			}
			return m.replaced(item.Text, own)
		},
		func() (string, bool) { return m.opposed(item.Text) },
		func() (string, bool) { return m.renumbered(item.Text, own) },
	} {
		if text, ok := made(); ok && text != item.Text && m.lacks(strings.TrimRight(text, endMarks)) {
			return text, way(by), true
		}
	}
	return "", 0, false
}

// endMarks end most sentences, and may stand behind their ends.
const endMarks = ".!?。！？؟।…\"'”’»)] "

// whole reports whether a text ends as a sentence does.
func whole(text string) bool {
	rest := strings.TrimRight(text, endMarks)
	return strings.ContainsAny(text[len(rest):], ".!?。！？؟।…")
}

// isRow reports whether a text is a row of a table, read with its header cells.
func isRow(text string) bool {
	return !whole(text) && strings.Count(text, ": ") > 1 && strings.Contains(text, "; ")
}

// hedged reports whether a text says only what may be: its contrary may be so, too.
func hedged(text, language string) bool {
	return slices.ContainsFunc(wordsOf("hedges", language), func(word string) bool {
		return standsIn(text, word) || strings.HasPrefix(text, titled(word)+" ")
	})
}

// token is a number, a year, a day of a month or a name of a sentence.
type token struct {
	start, end int
	kind       kind
	text       string
	unit       string
}

type kind uint8

const (
	number kind = iota
	year
	day
	name
)

// movable are the tokens of a claim that may be exchanged or changed: no number behind a
// bound, and none of an id, a version, an address, or a calculation.
func (m *maker) movable(item *Item) []token {
	calculation := ""
	for _, w := range item.Windows {
		if isFormula(w) {
			calculation += " " + w.Text
		}
	}
	return slices.DeleteFunc(tokens(item.Text, m.language), func(t token) bool {
		return t.kind != name && (strings.Contains(calculation, t.text) || claim.Bounded(item.Text, t.start, t.end))
	})
}

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
		before, behind := text[:t.start], text[t.end:]
		if !alone(before, behind) || labelled(before, language) {
			continue
		}
		t.unit = unitOf(before, behind)
		month := figure.IsMonth(lastWord(before)) || figure.IsMonth(strings.ToLower(strings.Trim(t.unit, ".,")))
		switch bare := strings.Trim(t.text, "0123456789") == ""; {
		case bare && len(t.text) == 4 && (t.text[0] == '1' || t.text[0] == '2'):
			t.kind, t.unit = year, ""
		case bare && len(t.text) < 3 && month:
			t.kind, t.unit = day, ""
		}
		found = append(found, t)
	}
	return append(found, names(text, language)...)
}

// alone reports whether a number between two texts stands by itself, and is no piece of an
// id, a hash, a version, an address, a time, a range or a code.
func alone(before, behind string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, size := utf8.DecodeRuneInString(behind)
	second, _ := utf8.DecodeRuneInString(behind[min(size, len(behind)):])
	glued := func(r rune) bool {
		return r != utf8.RuneError && !page.IsDense(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-–/\\@#.:+*=~^&`", r))
	}
	if glued(last) || strings.Count(before, "`")%2 == 1 {
		return false
	}
	if strings.ContainsRune(".:", first) {
		return second == utf8.RuneError || unicode.IsSpace(second) || strings.ContainsRune(endMarks, second)
	}
	return !glued(first)
}

// labelled reports whether a number behind a text is a name, as in Section 5, ISO 9001 or
// version 2.
func labelled(before, language string) bool {
	word := lastWord(before)
	if slices.Contains(wordsOf("labels", language), strings.ToLower(word)) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	begins := len(strings.Fields(before)) == 1 || strings.HasSuffix(word, ":")
	return unicode.IsUpper(first) && !begins && !figure.IsMonth(strings.ToLower(word))
}

func lastWord(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 || !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, "\u00a0") {
		return ""
	}
	return fields[len(fields)-1]
}

// unitOf is what a number counts: the sign or word beside it.
func unitOf(before, behind string) string {
	if r, _ := utf8.DecodeLastRuneInString(before); unicode.Is(unicode.Sc, r) {
		return string(r)
	}
	trimmed := strings.TrimLeft(behind, " \u00a0")
	if r, _ := utf8.DecodeRuneInString(trimmed); r == '%' || page.IsDense(r) {
		return string(r)
	}
	end := strings.IndexFunc(trimmed, func(r rune) bool { return !unicode.IsLetter(r) && r != '°' && r != '-' })
	if end < 0 {
		end = len(trimmed)
	}
	return strings.ToLower(trimmed[:end])
}

// shape is a number with each digit as 0.
func shape(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, text)
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
		lower := strings.ToLower(word)
		if unicode.IsUpper(first) && !begins && len(word) > 2 && !page.IsCommon(lower) && !figure.IsMonth(lower) {
			if words++; words > 1 && len(found) > 0 && found[len(found)-1].end == at-1 {
				last := &found[len(found)-1]
				last.end, last.text = end, text[last.start:end]
			} else {
				found = append(found, token{at, end, name, word, ""})
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

// exchanged swaps two tokens of a kind, numbers before names. What stands between them must
// not join them: "A and B" says the same the other way round.
func (m *maker) exchanged(text string, own []token) (string, bool) {
	type pair struct{ a, b token }
	var numbers, named []pair
	for i, a := range own {
		for _, b := range own[i+1:] {
			if a.kind != b.kind || strings.EqualFold(a.text, b.text) || a.end > b.start || joined(text[a.end:b.start], a.kind) {
				continue
			}
			if a.kind == name {
				named = append(named, pair{a, b})
			} else {
				numbers = append(numbers, pair{a, b})
			}
		}
	}
	pairs := numbers
	if len(pairs) == 0 {
		pairs = named
	}
	if len(pairs) == 0 {
		return "", false
	}
	p := pairs[m.random.below(len(pairs))]
	return text[:p.a.start] + p.b.text + text[p.a.end:p.b.start] + p.a.text + text[p.b.end:], true
}

// joined reports whether what stands between two of a kind joins them, as two names by
// "and" or the two ends of a range.
func joined(between string, of kind) bool {
	words := strings.Fields(strings.ToLower(between))
	least := 2
	if of == name {
		least = 1
	}
	return len(words) < least || strings.ContainsAny(between, ",;、，/&–") ||
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(wordsOf("joiners", "*"), strings.Trim(word, ".,;:()")) })
}

// replaced puts another number of the windows in the place of one that counts the same, of
// the same shape where there is one. What counts nothing needs the shape. Names are never
// replaced: of two the same may be so.
func (m *maker) replaced(text string, own []token) (string, bool) {
	var others []token
	for _, w := range m.windows {
		others = append(others, tokens(w.Text, m.language)...)
	}
	for _, shaped := range []bool{true, false} {
		for _, t := range shuffled(m.random, own) {
			for _, other := range shuffled(m.random, others) {
				alike := shape(other.text) == shape(t.text) || !shaped && t.unit != ""
				if t.kind != name && other.kind == t.kind && strings.TrimSuffix(other.unit, "s") == strings.TrimSuffix(t.unit, "s") && alike && !strings.Contains(text, other.text) && !m.soElsewhere(text, t, other) {
					return text[:t.start] + other.text + text[t.end:], true
				}
			}
		}
	}
	return "", false
}

// soElsewhere reports whether a text that is about a row of a table is so of another row, too,
// with the other token: that row has all else that the text takes from its own.
func (m *maker) soElsewhere(text string, t, other token) bool {
	var rows []string
	for _, w := range m.windows {
		for line := range strings.Lines(w.Text) {
			if strings.Contains(line, "\t") {
				rows = append(rows, line)
			}
		}
	}
	rest := tokens(text[:t.start]+text[t.end:], m.language)
	for _, own := range rows {
		if !standsIn(own, t.text) {
			continue
		}
		for _, row := range rows {
			if row != own && standsIn(row, other.text) && !slices.ContainsFunc(rest, func(r token) bool {
				return standsIn(own, r.text) && !standsIn(row, r.text)
			}) {
				return true
			}
		}
	}
	return false
}

// opposed puts a negation in or out, or the opposite of a word in its place. A sentence that
// is negated is never negated again: one of its negations is taken out. What stands in a
// condition is left as it is.
func (m *maker) opposed(text string) (string, bool) {
	type place struct {
		start, end int
		to         string
	}
	negated := claim.Negated(text)
	var places []place
	add := func(word, to string) {
		if negated && (!claim.Negated(word) || claim.Negated(to)) {
			return
		}
		for _, spelled := range [][2]string{{word, to}, {titled(word), titled(to)}} {
			i := strings.Index(text, spelled[0])
			if i < 0 || conditional(text[:i], m.language) || inIdiom(text, i, m.language) || !ends(text[:i], text[i:]) || !ends(text[:i+len(spelled[0])], text[i+len(spelled[0]):]) {
				continue
			}
			at := slices.IndexFunc(places, func(p place) bool { return p.start == i })
			switch made := (place{i, i + len(spelled[0]), spelled[1]}); {
			case at < 0:
				places = append(places, made)
			case places[at].end < made.end: // the longer pattern knows more of the sentence
				places[at] = made
			}
		}
	}
	for _, n := range negationsOf(m.language) {
		add(n[0], n[1])
		add(n[1], n[0])
	}
	if len(places) == 0 {
		for word, opposite := range Opposites(m.language) {
			add(word, opposite)
		}
	}
	if len(places) == 0 {
		return "", false
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(text[a.start:a.end]+a.to, text[b.start:b.end]+b.to) })
	p := places[m.random.below(len(places))]
	return text[:p.start] + p.to + text[p.end:], true
}

// conditional reports whether what stands behind a text stands in a condition.
func conditional(before, language string) bool {
	return hasWord(strings.ToLower(before[strings.LastIndexAny(before, ",;")+1:]), "conditions", language)
}

// inIdiom reports whether a place of a text lies in an idiom.
func inIdiom(text string, at int, language string) bool {
	return slices.ContainsFunc(wordsOf("idioms", language), func(idiom string) bool {
		i := strings.Index(strings.ToLower(text), idiom)
		return i >= 0 && i <= at && at < i+len(idiom)
	})
}

func titled(word string) string {
	r, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(r)) + word[size:]
}

// others is how many numbers are tried in the place of one, for one that the pages do not have.
const others = 8

// renumbered puts a number that the pages do not have in the place of one.
func (m *maker) renumbered(text string, own []token) (string, bool) {
	for _, t := range shuffled(m.random, own) {
		if t.kind == name {
			continue
		}
		for range others {
			if other := m.otherNumber(t); other != t.text && m.lacks(other) {
				return text[:t.start] + other + text[t.end:], true
			}
		}
	}
	return "", false
}

// otherNumber is a number with another first digit, as it is written; a year has another
// last one, and a day is another of a month.
func (m *maker) otherNumber(t token) string {
	i := strings.IndexAny(t.text, "123456789")
	switch t.kind {
	case year:
		i = len(t.text) - 1
	case day:
		return fmt.Sprint(1 + m.random.below(28))
	}
	if i < 0 {
		return t.text
	}
	digit := byte('1' + m.random.below(8))
	if digit >= t.text[i] {
		digit++
	}
	return t.text[:i] + string(digit) + t.text[i+1:]
}

//go:embed lists
var lists embed.FS

// wordsOf are the lines of a list in a language.
func wordsOf(list, language string) []string { return listed()[list+" "+language] }

// listed are the lists of words, by name and language.
var listed = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, list := range []string{"hedges", "joiners", "labels", "clauses", "conditions", "ends", "negatives", "determiners", "quantifiers", "idioms"} {
		for _, e := range page.List(lists, "lists/"+list+".txt") {
			key := list + " " + e.Language
			if list == "hedges" || list == "idioms" {
				all[key] = append(all[key], e.Text)
			} else {
				all[key] = append(all[key], strings.Fields(e.Text)...)
			}
		}
	}
	return all
})

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

// negationsOf are the patterns of a language, each with its negation.
func negationsOf(language string) [][2]string { return negations()[language] }

var negations = sync.OnceValue(func() map[string][][2]string {
	all := map[string][][2]string{}
	for _, e := range page.List(lists, "lists/negations.txt") {
		plain, negated, ok := strings.Cut(e.Text, " = ")
		if !ok {
			panic(fmt.Sprintf("lists/negations.txt: %q is no pattern with its negation", e.Text))
		}
		all[e.Language] = append(all[e.Language], [2]string{plain, negated})
	}
	return all
})

// allIn reports whether every content word of a text stands in windows.
func allIn(text string, windows []claim.Window) bool {
	in := map[string]bool{}
	for _, w := range windows {
		for _, word := range contentWords(w.Text) {
			in[word] = true
		}
	}
	return !slices.ContainsFunc(contentWords(text), func(word string) bool { return !in[word] })
}

// contentWords are the words that say what a text is about, each once.
func contentWords(text string) []string {
	var words []string
	seen := map[string]bool{}
	page.EachWord(text, func(w page.Word) bool {
		if !seen[w.Text] && len(w.Text) > 2 && !page.IsCommon(w.Text) {
			words = append(words, w.Text)
		}
		seen[w.Text] = true
		return true
	})
	return words
}

// wordCount counts words; in scripts without blanks three characters are one.
func wordCount(text string) int {
	if n := dense(text); n > len(text)/6 {
		return n / 3
	}
	return len(strings.Fields(text))
}
