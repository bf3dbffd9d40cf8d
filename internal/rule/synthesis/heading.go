package synthesis

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// SinceTitle is the title of what a report says about the one that it builds on.
const SinceTitle = "What changed since the earlier report"

// Reserved are the titles of what the report adds to a synthesis. No heading of a
// synthesis may have one of them, in whatever spelling.
var Reserved = []string{"References", "Sources", "Sources that the report does not cite", "Not found on the cited pages", "Contents",
	"How this report was made", "Gates", "Contracts of the outputs", "Agents and models", "Cost of the accepted answers", "Questions that were left open"}

// headings finds those that the report itself writes after the draft: a reader
// would take what stands below them for what the program says.
func (j *judge) headings() {
	j.EachLeaf(func(b *draft.Block) {
		if b.Kind != markdown.HeadingBlock {
			return
		}
		text, at := "", 0
		for _, m := range b.Leaf.Citations() {
			text, at = text+string(draft.Runes(b.Glyphs[at:m.From])), m.To
		}
		text += string(draft.Runes(b.Glyphs[at:]))
		if IsReserved(text) {
			j.fault(tidegate.ReservedHeading, b.Line, "Give the section another title, or leave it out: the report adds its own.",
				"line %d has the heading %q, which the report writes itself", b.Line, tidegate.Cut(strings.TrimSpace(text)))
		}
	})
}

// IsReserved reports whether a title is one of [Reserved], in whatever spelling and in any
// language that the report has.
func IsReserved(title string) bool {
	plain := plainTitle(title)
	return plain != "" && reserved()[plain]
}

var reserved = sync.OnceValue(func() map[string]bool {
	plain := map[string]bool{}
	for _, own := range append(slices.Clone(Reserved), SinceTitle) {
		plain[plainTitle(own)] = true
		for _, language := range evidence.Languages() {
			plain[plainTitle(evidence.Say(language, own))] = true
		}
	}
	delete(plain, "")
	return plain
})

// sayLittle are words that do not distinguish one title from another.
const sayLittle = " the this that our its all and or of for in by to list used cited checked consulted results result report section "

// plainTitle is a title as it is compared with another: its words without accents,
// in plain letters, in lower case and without a plural, except those that say
// little and single letters.
func plainTitle(title string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Lm, r), r == '\'', r == '’':
			return -1
		case unicode.IsLetter(r):
			return unicode.ToLower(unicode.ToUpper(r)) // ſ is s
		}
		return ' '
	}, norm.NFKD.String(withoutRaised(title)))
	var words []string
	for word := range strings.FieldsSeq(plain) {
		if len(word) > 1 && !strings.Contains(sayLittle, " "+word+" ") {
			words = append(words, strings.TrimSuffix(word, "s"))
		}
	}
	return strings.Join(words, " ")
}

// withoutRaised leaves out letters and digits that are raised or lowered: they are
// marks of notes.
func withoutRaised(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Lm, r) || unicode.Is(unicode.No, r) || r == 'ª' || r == 'º' {
			return -1
		}
		return r
	}, text)
}
