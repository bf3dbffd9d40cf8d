package planted

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Claim is what an agent says about a planted page, and whether the page says it.
type Claim struct {
	URL   string // of the page
	About string // what the claim is an example of
	Text  string // in Markdown, without its citation
	On    bool   // the page has all its quotations and numbers
}

// Claims are labelled claims about honest pages, in a stable order: numbers that
// were labelled by hand, and quotations, made by rule, of every page with sentences.
func Claims() []Claim {
	b := built()
	claims := slices.Clone(b.claims)
	var quoted []Page
	for _, page := range b.pages {
		if len(page.Sentences) > 0 && !strings.HasPrefix(page.Variant, "numbers, ") {
			quoted = append(quoted, page)
		}
	}
	for i, page := range quoted {
		claims = append(claims, quotations(i, page, quoted[(i+len(quoted)/2)%len(quoted)])...)
	}
	return claims
}

// quotations are claims that quote a page: in another typography, in parts, and
// wrongly. Other is a page about something else.
func quotations(n int, page, other Page) []Claim {
	sentence, next := page.Sentences[n%len(page.Sentences)], page.Sentences[(n+1)%len(page.Sentences)]
	words := strings.Fields(sentence)
	if len(words) < 8 {
		return nil // too short to be quoted in parts, or in a script without spaces
	}
	claim := func(about, quoted string, on bool) Claim {
		marks := [][2]string{{"“", "”"}, {"\"", "\""}, {"«", "»"}, {"„", "“"}}[n%4]
		return Claim{URL: page.URL, About: about, Text: fmt.Sprintf("They write: %s%s%s", marks[0], escaped.Replace(quoted), marks[1]), On: on}
	}
	half := len(words) / 2
	claims := []Claim{
		claim("quotation", strings.TrimRight(sentence, ".。"), true),
		claim("quotation in other typography", typeset(n, sentence), true),
		claim("quotation in parts", strings.Join(words[:half-1], " ")+[]string{" … ", " [...] ", " […] ", "... "}[n%4]+strings.Join(words[half+1:], " "), true),
		claim("quotation in the wrong order", strings.Join(words[half:], " ")+" … "+strings.Join(words[:half], " "), false),
		claim("quotation with another word", strings.Join(words[:half], " ")+" perhaps "+strings.Join(words[half+1:], " "), false),
	}
	if len(page.Sentences) > 2 && n%len(page.Sentences)+1 < len(page.Sentences) {
		claims = append(claims, claim("quotation of two sentences", strings.TrimRight(sentence, ".")+" […] "+next, true))
	}
	if foreign := other.Sentences[0]; len(strings.Fields(foreign)) >= 4 && other.Title != page.Title {
		claims = append(claims, claim("quotation of another page", foreign, false))
	}
	return claims
}

var escaped = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "&", `\&`, "`", "\\`", "\"", "'")

// typeset is a sentence as another publisher would print it.
func typeset(n int, sentence string) string {
	switch n % 3 {
	case 0:
		sentence = strings.ToUpper(sentence)
	case 1:
		sentence = strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ", "ff", "ﬀ", "'", "’").Replace(sentence)
	}
	var b strings.Builder
	letters := 0
	for _, r := range sentence {
		switch {
		case r == ' ':
			b.WriteString([]string{" ", "\u00a0", "  "}[letters%3])
			continue
		case r == '-':
			r = '‑'
		case unicode.IsLetter(r):
			if letters++; letters%7 == 0 {
				b.WriteRune('\u00ad')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
