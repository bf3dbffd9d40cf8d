package paper

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// shown is a character as a report shows it. What would hide, reorder or break the
// text around it is named instead, as U+202E.
func shown(r rune) string {
	if concealed(r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return string(r)
}

// concealed holds for controls, for characters that change the direction of a
// text, and for those that no font draws. Joiners, marks and variation selectors
// belong to what they stand with.
func concealed(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d' || r >= ' ' && r < 0x7f:
		return false
	case unicode.Is(unicode.Variation_Selector, r):
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// shownText is a text of one line as a report shows it.
func shownText(text string) string {
	var b strings.Builder
	for _, r := range singleBlanks(text) {
		b.WriteString(shown(r))
	}
	return strings.TrimSpace(b.String())
}

// isWeb holds for an address that a report may link to.
func isWeb(address string) bool {
	scheme, rest, found := strings.Cut(address, "://")
	scheme = strings.ToLower(scheme)
	return found && (scheme == "http" || scheme == "https") && rest != "" && !strings.ContainsFunc(address, func(r rune) bool {
		return unicode.IsSpace(r) || concealed(r) || r == '"' || r == '<' || r == '>' || r == '`' || r == '\\'
	})
}

// shown is the report with what stands at its head, and its sources, on one line and as
// they can be shown. The documents, and the addresses and pages of sources, stay as they
// are: they are read, or compared.
func (r Report) shown() Report {
	r.Sources, r.Notes, r.Parts = slices.Clone(r.Sources), slices.Clone(r.Notes), slices.Clone(r.Parts)
	show := func(texts ...*string) {
		for _, text := range texts {
			*text = shownText(*text)
		}
	}
	show(&r.Question, &r.RunID, &r.CreatedAt, &r.Program, &r.Trust, &r.Partial)
	for i := range r.Notes {
		show(&r.Notes[i])
	}
	for i := range r.Parts {
		show(&r.Parts[i].Title)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		show(&s.Title, &s.Author, &s.Publisher, &s.Date, &s.File, &s.Status, &s.Reason, &s.FetchedAt)
	}
	return r
}
