package reading

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// FindingClaim is what a finding of a code review says, as a claim about the code.
func FindingClaim(id, where, text string, code []claim.Window) evidence.Claim {
	return evidence.Claim{ID: id, Text: markdown.OneLine(text), Form: evidence.Finding, Windows: code, Context: evidence.Context{Heading: where}}
}

// ofFinding is the id of the finding of which a claim is a part.
func ofFinding(id string) string {
	id, _, _ = strings.Cut(id, halfMark)
	return id
}

// halfMark stands between the id of a finding and the number of one of its sentences.
const halfMark = "."

// halves are the sentences of a finding that have a contrary, cut down to it: they are asked
// beside the finding, for the test alone. A finding that is one such sentence has none: it
// is itself asked with its contrary.
func (m Material) halves(of Item) (items []Item) {
	for i, span := range sentencesOf(of.Text, m.Language) {
		text := of.Text[span.Start:span.End]
		half, _, ok := contrary(text, m.Language)
		if !ok || half == of.Text || i > 0 && evidence.PointsBack(text, m.Language) {
			continue
		}
		item := of
		item.ID, item.Text, item.test = fmt.Sprint(of.ID, halfMark, i+1), half, true
		items = append(items, item)
	}
	return items
}

// contrary is a sentence about code, cut down to what its main verb says, and the opposite of
// that: the verb is negated, or its negation is taken out. Exactly one of both is so.
// Sentences that deny something already are not denied twice.
func contrary(text, language string) (half, opposite string, ok bool) {
	masked := strings.ToLower(masked(text, '_'))
	if len(masked) != len(text) {
		return "", "", false
	}
	from := 0
	if first, _, _ := strings.Cut(masked, " "); slices.Contains(wordsOf("clauses", language), first) {
		comma := strings.Index(masked, ", ")
		if comma < 0 {
			return "", "", false
		}
		from = comma + 2
	}
	for _, t := range [][]turn{contraries()[language].out, contraries()[language].in} {
		start, end, to := -1, 0, ""
		for _, turn := range t {
			if at := indexOf(masked[from:], turn.from); at >= 0 && (start < 0 || from+at < start || from+at == start && len(turn.from) > end-start) {
				start, end, to = from+at, from+at+len(turn.from), turn.to
			}
		}
		if start < 0 {
			continue
		}
		until := end + breaks(masked[end:], language)
		before, behind := masked[from:start], masked[end:until]
		if breaks(before, language) < len(before) || hasWord(before, "clauses", language) || claim.Negated(before+" "+behind) || hasWord(before+" "+behind, "negatives", language) || hasWord(before, "quantifiers", language) || isNoun(before, language) {
			return "", "", false
		}
		if strings.ToUpper(text[start:start+1]) == text[start:start+1] {
			to = titled(to)
		}
		tail := strings.TrimRight(text[end:until], " .!,;:") + "."
		half, opposite = text[:end]+tail, text[:start]+to+tail
		return half, opposite, len(strings.Fields(half)) >= minFindingWords
	}
	return "", "", false
}

// minFindingWords is how many words a sentence of a finding has that is cut down.
const minFindingWords = 3

// masked is a text with its pieces of code made of one letter, byte for byte as long.
func masked(text string, letter byte) string {
	b, code := []byte(text), false
	for i, c := range b {
		if c == '`' {
			code = !code
		} else if code {
			b[i] = letter
		}
	}
	return string(b)
}

// sentencesOf are the sentences of a text; one may begin with a piece of code.
func sentencesOf(text, language string) []sentence.Span {
	return sentence.Split(masked(text, 'X'), language)
}

// breaks is where the main clause of a text ends, its length where it does not: at a mark or
// before a word that begins another which says something of its own.
func breaks(text, language string) int {
	end := len(text)
	for _, mark := range []string{", ", ";", ": ", " (", " – ", " — ", " - ", "? "} {
		if at := strings.Index(text, mark); at >= 0 {
			end = min(end, at)
		}
	}
	for _, word := range wordsOf("ends", language) {
		if at := indexOf(text[:end], word); at >= 0 {
			end = at
		}
	}
	return end
}

func hasWord(text, list, language string) bool {
	return slices.ContainsFunc(wordsOf(list, language), func(word string) bool { return standsIn(text, word) })
}

// isNoun reports whether a text makes a noun of the word behind it.
func isNoun(before, language string) bool {
	fields := strings.Fields(before)
	return strings.HasSuffix(before, "-") || len(fields) > 0 && slices.Contains(wordsOf("determiners", language), fields[len(fields)-1])
}

// showsCode finds the words of a verdict in the code of a finding, or else in what is shown
// with the other findings: whoever decides shows by what. The problem has no code where there
// is none.
func (i *Item) showsCode(g *Given, beside []claim.Window) (problem evidence.Fault) {
	if g.Verdict != evidence.Supported && g.Verdict != evidence.Unsupported {
		g.Words = ""
		return problem
	}
	words := plain(bare(strings.Trim(g.Words, "`\"\n\t ")))
	has := func(w claim.Window) bool {
		return strings.Contains(plain(bare(w.Text)), words) && (len(strings.Fields(words)) >= 3 || len(words) >= minCode)
	}
	if k := slices.IndexFunc(i.Windows, has); k >= 0 || slices.ContainsFunc(beside, has) {
		g.Passage = k + 1
		return problem
	}
	return evidence.NewFault(tidegate.WordsNotFound, 0, "Copy a piece of the code that decides it, exactly, or answer unclear.",
		"the words %q do not stand in the code above, or are too few", g.Words)
}

// minCode is how many bytes of code are enough, where it has fewer than three words.
const minCode = 8

// bare are lines of code without the numbers and marks before them.
func bare(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		mark, code, shown := strings.Cut(line, "| ")
		if shown && strings.Trim(mark, " 0123456789+-…") == "" {
			line = code
		}
		b.WriteString(line)
	}
	return b.String()
}

// turn puts words in the place of others.
type turn struct{ from, to string }

// turns are how a language denies, and how it takes that back.
type turns struct{ in, out []turn }

var contraries = sync.OnceValue(func() map[string]turns {
	all := map[string]turns{}
	add := func(language, plain, denied string, both bool) {
		t, known := all[language]
		for _, n := range negationsOf(language) {
			if !known {
				t.in, t.out = append(t.in, turn{n[0], n[1]}), append(t.out, turn{n[1], n[0]})
			}
		}
		if t.out = append(t.out, turn{denied, plain}); both {
			t.in = append(t.in, turn{plain, denied})
		}
		all[language] = t
	}
	for _, e := range page.List(lists, "lists/code.txt") {
		plain, denied, both := strings.Cut(e.Text, " = ")
		if !both {
			plain, denied, _ = strings.Cut(e.Text, " < ")
		}
		add(e.Language, plain, denied, both)
	}
	for _, e := range page.List(lists, "lists/verbs.txt") {
		verb, stem, _ := strings.Cut(e.Text, " ")
		add(e.Language, verb, "does not "+stem, true)
		add(e.Language, verb, "doesn't "+stem, false)
	}
	return all
})
