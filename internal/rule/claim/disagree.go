package claim

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Disagreement is a pair of sentences that give different numbers for the same thing.
type Disagreement struct {
	First, Second   int // of the sentences
	Number, Another string
}

// Disagreements finds the sentences that give different numbers for the same thing: they
// share most of their content words and their names, speak of the same years, and each
// has one number of a unit, or before a noun, that both have, which is not the other's
// rounded. Apart says which pairs are compared.
func Disagreements(sentences []Question, apart func(i, k int) bool) []Disagreement {
	facts := make([]stated, len(sentences))
	for i := range sentences {
		facts[i] = statedBy(&sentences[i])
	}
	var found []Disagreement
	for i := range facts {
		for k := i + 1; k < len(facts); k++ {
			if len(facts[i].numbers) == 0 || len(facts[k].numbers) == 0 || !apart(i, k) || !facts[i].about(&facts[k]) {
				continue
			}
			for _, n := range facts[i].numbers {
				for _, m := range facts[k].numbers {
					if n.of == m.of && !sameValue(n.value, m.value) && facts[i].only(n.of) && facts[k].only(m.of) {
						found = append(found, Disagreement{i, k, n.text, m.text})
					}
				}
			}
		}
	}
	return found
}

// Gives reports whether a sentence states a number as another text writes it.
func (s Question) Gives(number string) bool {
	asked := statedBy(&Question{Text: number, Language: s.Language})
	facts := statedBy(&s)
	for _, n := range facts.numbers {
		if slices.ContainsFunc(asked.numbers, func(m measure) bool { return n.value == m.value }) {
			return true
		}
	}
	return len(asked.numbers) == 0 && strings.Contains(s.Text, number)
}

// stated is what a sentence says of a thing that can be counted or measured.
type stated struct {
	words, names map[string]bool
	years        []string
	numbers      []measure
}

// measure is a number with what it is of: its unit, else the noun behind it.
type measure struct{ text, of, value string }

func statedBy(s *Question) stated {
	a := askedBy(s)
	out := stated{words: map[string]bool{}, names: map[string]bool{}}
	for _, w := range a.words {
		out.words[w] = true
	}
	for _, n := range a.names {
		for _, w := range n.words {
			out.names[w] = true
		}
	}
	for _, d := range a.dates {
		out.years = append(out.years, a.plain[d.Start:d.End])
	}
	for _, n := range a.numbers {
		if n.operand || n.Written || len(n.Readings) == 0 {
			continue
		}
		of := n.Unit()
		if of == "" {
			if isYear(n.text) {
				out.years = append(out.years, n.text)
				continue
			}
			of = a.nounAfter(n.End)
		}
		if of != "" {
			out.numbers = append(out.numbers, measure{n.text, of, n.Readings[0].Value})
		}
	}
	return out
}

func isYear(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && len(text) == 4 && n >= 1500 && n < 2200
}

// only reports whether a sentence has one number of that kind.
func (s *stated) only(of string) bool {
	n := 0
	for _, m := range s.numbers {
		if m.of == of {
			n++
		}
	}
	return n == 1
}

// about reports whether two sentences speak of the same thing.
func (s *stated) about(other *stated) bool {
	const least = 3
	if len(s.years) > 0 && len(other.years) > 0 && !slices.ContainsFunc(s.years, func(y string) bool { return slices.Contains(other.years, y) }) {
		return false
	}
	if shared := common(s.names, other.names); shared < len(s.names) && shared < len(other.names) {
		return false
	}
	fewer := min(len(s.words), len(other.words))
	shared := common(s.words, other.words)
	return shared >= least && 5*shared >= 3*fewer
}

func common(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// sameValue reports whether two values are equal, or one is the other rounded.
func sameValue(a, b string) bool {
	if digits(a) > digits(b) {
		a, b = b, a
	}
	exact, err := strconv.ParseFloat(b, 64)
	rounded, problem := strconv.ParseFloat(a, 64)
	if err != nil || problem != nil {
		return a == b
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(exact, 'e', max(0, digits(a)-1), 64), 64)
	return err == nil && short == rounded
}

// digits is how many digits a value has before its power of ten.
func digits(value string) int {
	mantissa, _, _ := strings.Cut(value, "e")
	return strings.Count(strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return -1
	}, mantissa), "0")
}
