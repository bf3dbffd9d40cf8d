package synthesis

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

// shown is the report with every text on one line and as it can be shown. The
// documents, and the addresses and pages of sources, stay as they are: they are
// read, or compared.
func (r Report) shown() Report {
	r.Sources, r.Gates, r.Contracts, r.Agents = slices.Clone(r.Sources), slices.Clone(r.Gates), slices.Clone(r.Contracts), slices.Clone(r.Agents)
	r.LeftOut, r.Notes, r.Parts = slices.Clone(r.LeftOut), slices.Clone(r.Notes), slices.Clone(r.Parts)
	r.Decisions, r.Confined, r.Allowed = slices.Clone(r.Decisions), slices.Clone(r.Confined), slices.Clone(r.Allowed)
	show := func(texts ...*string) {
		for _, text := range texts {
			*text = shownText(*text)
		}
	}
	show(&r.Question, &r.RunID, &r.CreatedAt, &r.Program, &r.Trust, &r.Partial)
	for i := range r.Notes {
		show(&r.Notes[i])
	}
	for i := range r.Decisions {
		show(&r.Decisions[i])
	}
	for i := range r.Confined {
		show(&r.Confined[i])
	}
	for i := range r.Allowed {
		show(&r.Allowed[i])
	}
	for i := range r.Parts {
		show(&r.Parts[i].Title)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		show(&s.Title, &s.Author, &s.Publisher, &s.Date, &s.File, &s.Status, &s.Reason, &s.FetchedAt)
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		g.Name = r.say(g.Name)
		if !r.english() {
			g.Notes = "" // they are the judge's words
		}
		show(&g.ID, &g.Name, &g.Status, &g.Accepted, &g.Notes)
	}
	for i := range r.Contracts {
		c := &r.Contracts[i]
		c.Sections = slices.Clone(c.Sections)
		show(&c.ID, &c.Title)
		for k := range c.Sections {
			show(&c.Sections[k])
		}
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		a.Role = r.say(a.Role)
		show(&a.Role, &a.Driver, &a.Model, &a.Version)
	}
	if r.Since != nil {
		since := *r.Since
		since.Changed, since.Dropped, since.Added = slices.Clone(since.Changed), slices.Clone(since.Dropped), slices.Clone(since.Added)
		show(&since.RunID)
		for i := range since.Changed {
			show(&since.Changed[i].Was, &since.Changed[i].Is)
		}
		for _, list := range [][]string{since.Dropped, since.Added} {
			for i := range list {
				show(&list[i])
			}
		}
		r.Since = &since
	}
	for i := range r.LeftOut {
		g := &r.LeftOut[i]
		show(&g.ID, &g.Priority, &g.Text)
	}
	return r
}
