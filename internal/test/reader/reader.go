// Package reader has pages whose every sentence is known, and a second reader that
// judges claims by them: what a test's agents write is true when it stands there.
package reader

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/sentence"
)

// perPage is how many sentences a page has.
const perPage = 30

var (
	places   = strings.Fields("Karholm Velstad Munburg Drafield Silmouth Thoby Brenholm Lisburg Portem Ulstad Fengra Holvik Nagstad Rovel Temby")
	firms    = strings.Fields("Aurora Borealis Corvus Delphin Electra Fortuna Galatea Hesperus Iolanthe Jupiter Kestrel Leander Meridian Nautilus Orion Pegasus Quorum Rubicon")
	subjects = []string{"dredging contract", "pilot station", "container terminal", "tug fleet", "grain silo", "lighthouse society", "customs office", "ferry line", "repair dock", "fishing cooperative", "railway siding", "cold store", "training school"}
	acts     = []string{"increased", "reduced", "opened", "closed", "accepted", "rejected", "strengthened", "improved"}
	objects  = []string{"berths", "crane shifts", "timber cargoes", "night watches", "mooring fees", "battery racks", "apprentices", "inspections", "tow lines", "oil barrels", "harvest loads"}
)

// Sentence is a sentence of a page, in English, with a name, a number and a year. No two
// have the same.
func Sentence(page, k int) string {
	n := page*perPage + k%perPage
	return fmt.Sprintf("In %d the %s of %s %s its %s from %d to %d under the owner %s.", 1950+n%73, subjects[n%len(subjects)], places[n%len(places)],
		acts[n%len(acts)], objects[n%len(objects)], 112+7*n, 301+11*n, firms[n%len(firms)])
}

// Page is a page of known sentences, in HTML.
func Page(page int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<html lang="en"><head><title>Port statistics %d</title></head><body><article><h1>Port statistics</h1>`, page)
	for k := range perPage {
		if k%5 == 0 {
			b.WriteString("<p>")
		}
		b.WriteString(Sentence(page, k) + " ")
	}
	b.WriteString("</article></body></html>")
	return b.String()
}

// Claim is a claim of a verify prompt.
type Claim struct {
	Form     string
	Sentence string
	Passages []string
}

// Claims reads the claims of a verify prompt, in their order.
func Claims(prompt string) []Claim {
	var claims []Claim
	lines := strings.Split(prompt, "\n")
	fence := regexp.MustCompile("^`{3,}")
	for i := 0; i < len(lines); i++ {
		switch line := lines[i]; {
		case strings.HasPrefix(line, "claim "):
			claims = append(claims, Claim{})
		case len(claims) > 0 && strings.HasPrefix(line, "form "):
			claims[len(claims)-1].Form = strings.TrimPrefix(line, "form ")
		case len(claims) > 0 && (line == "context" || line == "sentence" || strings.HasPrefix(line, "passage ")):
			for i++; i < len(lines) && !fence.MatchString(lines[i]); i++ {
			}
			if i == len(lines) {
				return claims
			}
			mark := fence.FindString(lines[i])
			from := i + 1
			for i++; i < len(lines) && strings.TrimRight(lines[i], " ") != mark; i++ {
			}
			text := strings.Join(lines[from:min(i, len(lines))], "\n")
			c := &claims[len(claims)-1]
			switch {
			case line == "sentence":
				c.Sentence = text
			case line != "context":
				c.Passages = append(c.Passages, text)
			}
		}
	}
	return claims
}

// Verdict is what a reader says of a claim.
type Verdict struct {
	Claim   int    `json:"claim"`
	Verdict string `json:"verdict"`
	Passage int    `json:"passage,omitzero"`
	Words   string `json:"words,omitzero"`
	Because string `json:"because,omitzero"`
}

// Answer is the answer to a verify prompt of a reader that judges claim by claim.
func Answer(prompt string, verdict func(c Claim) Verdict) string {
	verdicts := []Verdict{}
	for i, c := range Claims(prompt) {
		v := verdict(c)
		v.Claim = i + 1
		verdicts = append(verdicts, v)
	}
	data, err := codec.MarshalLine(map[string]any{"verdicts": verdicts})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Faithful is the answer of a reader that knows the truth: a claim is supported that
// stands word for word in one of its passages, or that is one of those that are true
// besides.
func Faithful(prompt string, besides ...string) string {
	return Answer(prompt, func(c Claim) Verdict { return Honest(c, besides...) })
}

// Honest is what such a reader says of one claim.
func Honest(c Claim, besides ...string) Verdict {
	sentence := strings.Join(strings.Fields(c.Sentence), " ")
	for i, p := range c.Passages {
		if strings.Contains(strings.Join(strings.Fields(p), " "), sentence) {
			return Verdict{Verdict: "supported", Passage: i + 1, Words: sentence}
		}
	}
	if slices.Contains(besides, sentence) {
		passage, words := Words(sentence, c.Passages)
		return Verdict{Verdict: "supported", Passage: passage, Words: words}
	}
	return Verdict{Verdict: "unsupported", Because: "no passage says it"}
}

// Words are the sentence of the passages that has most of the words of a claim, with the
// number of its passage: what a reader copies.
func Words(claim string, passages []string) (passage int, words string) {
	of := map[string]bool{}
	for word := range strings.FieldsSeq(strings.ToLower(claim)) {
		if word = strings.Trim(word, ".,:;()?!\"“”"); len(word) > 3 || strings.ContainsAny(word, "0123456789") {
			of[word] = true
		}
	}
	most := -1
	for i, p := range passages {
		for _, at := range sentence.Split(p, "") {
			n, text := 0, p[at.Start:at.End]
			for word := range strings.FieldsSeq(strings.ToLower(text)) {
				if of[strings.Trim(word, ".,:;()?!\"“”")] {
					n++
				}
			}
			if n > most && (len(strings.Fields(text)) >= 3 || text == p) {
				passage, words, most = i+1, text, n
			}
		}
	}
	return passage, words
}

func Report(sections []string, ids []string, pages []int, from int) string {
	var b strings.Builder
	k := from
	for at, title := range sections {
		fmt.Fprintf(&b, "## %s\n\n", strings.TrimPrefix(title, "## "))
		for i, id := range ids {
			if at == 0 && i == 5 {
				break // the first section is the answer
			}
			fmt.Fprintf(&b, "%s [@%s]\n\n", Sentence(pages[i], k), id)
			k++
		}
	}
	return b.String()
}

var shownID = regexp.MustCompile(`⟦(c[0-9]+)⟧`)

// Rewrite is an answer of edits to the prompt of a later round: every sentence is
// replaced by another of a page.
func Rewrite(prompt, id string, page, from int) string {
	type replacement struct {
		Sentence string `json:"sentence"`
		With     string `json:"with"`
	}
	var all []replacement
	_, draft, _ := strings.Cut(prompt, "The draft, with the numbers of its lines, and the id")
	draft, _, _ = strings.Cut(draft, "\n## Example\n")
	for _, m := range shownID.FindAllStringSubmatch(draft, -1) {
		if !slices.ContainsFunc(all, func(r replacement) bool { return r.Sentence == m[1] }) && m[1] != "" {
			all = append(all, replacement{m[1], fmt.Sprintf("%s [@%s]", Sentence(page, from+len(all)), id)})
		}
	}
	data, err := codec.MarshalLine(map[string]any{"replace": all})
	if err != nil {
		panic(err)
	}
	return string(data)
}
