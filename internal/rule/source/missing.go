package source

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// missingName is what a page with little prose says when it does not exist: in its
// titles and headings or, on a tiny page, in a sentence of its text. It is "" for
// a page that says nothing of the kind.
func (s *subject) missingName(titles, headings []string) string {
	names := append(slices.Clone(titles), headings...)
	names = append(names, sentencesOf(strings.Join(names, "\n"))...)
	var sentences []string
	if s.content.Words < notFoundProse/2 {
		sentences = sentencesOf(s.content.Text)
	}
	if len(headings) == 0 {
		names = append(names, sentences...)
	}
	if name := roughly(names, notFoundNames()); name != "" {
		return name
	}
	for _, sentence := range append(names, sentences...) {
		if s.saysMissing(sentence) {
			return sentence
		}
	}
	return ""
}

// saysMissing reports whether a sentence says in English that what its reader
// asked for is not there. It must name a page, or something that a site has a page
// for; a sentence that speaks neither of its reader nor of itself is about
// something else that is missing.
func (s *subject) saysMissing(sentence string) bool {
	sentence = strings.Trim(sentence, phraseMarks)
	if page.CountWords(sentence) > 20 {
		return false
	}
	absence, absent := absences().in(sentence)
	if !absent {
		return false
	}
	if s.to.host != "" && strings.HasPrefix(sentence, s.to.host) {
		return true
	}
	for _, thing := range sitePages() {
		switch {
		case !hasWords(sentence, thing):
		case sentence == thing+" "+absence, hasWords(sentence, "this "+thing), hasWords(sentence, "that "+thing),
			hasWords(sentence, "you"), hasWords(sentence, "you're"), hasWords(sentence, "requested"), hasWords(sentence, "this exact name"), hasWords(sentence, "this name"), hasWords(sentence, "this address"):
			return true
		}
	}
	return false
}

// sentencesOf are the sentences of a text, as phrases are compared.
func sentencesOf(text string) []string {
	var sentences []string
	for line := range strings.SplitSeq(text, "\n") {
		for sentence := range strings.FieldsFuncSeq(lowerPhrase(line), func(r rune) bool { return strings.ContainsRune(".!?()。！？", r) }) {
			if sentence = strings.TrimSpace(sentence); sentence != "" {
				sentences = append(sentences, sentence)
			}
		}
	}
	return sentences
}
