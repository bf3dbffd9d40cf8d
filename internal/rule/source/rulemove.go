package source

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// The rules for pages that are not the one that was cited.

// moved reports whether redirects led to another URL.
func (s *subject) moved() bool {
	return !s.page.Attached && s.to.normalized != s.from.normalized
}

func movedHome(s *subject) (string, bool) {
	if !s.moved() {
		return "", false
	}
	return s.to.normalized, s.from.deep() && !s.to.deep() && !isResolver(s.from) && s.kept(s.source.titles()) < 1
}

func movedAway(s *subject) (string, bool) {
	if !s.moved() {
		return "", false
	}
	switch {
	case !s.from.deep(), s.from.site == s.to.site, s.from.label() == s.to.label(), isResolver(s.from):
		return "", false
	case pathKept(s.from, s.to), s.asCited():
		return "", false // the site has moved, and the page with it
	}
	return s.to.normalized, true
}

// isResolver holds for hosts whose links always lead to another site.
func isResolver(a address) bool {
	return slices.Contains(resolverHosts(), a.site) || slices.Contains(resolverHosts(), a.host)
}

// pathKept reports whether a redirect keeps what names the page: the last part
// of its path, if that is more than a common word.
func pathKept(from, to address) bool {
	last := from.last()
	if from.path == to.path && len(from.segments()) > 1 {
		return true
	}
	name, _, _ := strings.Cut(last, ".")
	telling := len(name) >= 8 || strings.ContainsAny(name, "0123456789-_") && len(name) >= 4
	return telling && slices.Contains(to.segments(), last) || telling && strings.Contains(strings.ToLower(to.path), name)
}

// kept is the largest part of the telling words of a name that the page has in
// its own title or headings. A single word does not count.
func (s *subject) kept(names []string) float64 {
	own := wordsOf(strings.Join(append(s.content.Titles(), s.content.Title, s.content.Signals.Title), " "), true)
	most := 0.0
	for _, name := range names {
		given, kept := telling(name), 0
		for _, w := range given {
			if slices.ContainsFunc(own, func(o page.Word) bool { return like(w, o) }) {
				kept++
			}
		}
		if kept >= 2 {
			most = max(most, float64(kept)/float64(len(given)))
		}
	}
	return most
}

// asCited reports whether the page calls itself what it was cited as, or what
// its address says.
func (s *subject) asCited() bool {
	return s.kept(append(s.source.titles(), s.from.slug())) >= 0.5
}

// asAddressed reports whether the page calls itself what its address says. An
// agent chooses its titles, and could call a wall by its name.
func (s *subject) asAddressed() bool { return s.kept([]string{s.from.slug()}) >= 0.5 }

func otherTitle(s *subject) (string, bool) {
	if s.content.Media != page.HTML && s.content.Media != page.PDF || s.content.Words == 0 {
		return "", false
	}
	titles := s.source.titles()
	if len(titles) == 0 || slices.ContainsFunc(titles, func(title string) bool { return !s.alien(title) }) {
		return "", false
	}
	return quoted(titles[0]), true
}

// enoughWords is how many words of a script a page must have before it can be
// said that a title has none of them.
const enoughWords = 10

// alien reports whether a page shares no word with a title, although it could: a
// fair part of it is in the same script, and it is not known to be in another
// language.
func (s *subject) alien(title string) bool {
	given := telling(title)
	if len(given) == 0 {
		return false
	}
	own, all, shared := map[page.Script]int{}, 0, false
	scan := func(text string) {
		clear(own)
		all = 0
		page.EachWord(text, func(w page.Word) bool {
			own[w.Script]++
			all++
			shared = slices.ContainsFunc(given, func(g page.Word) bool { return like(w, g) })
			return !shared
		})
	}
	for _, text := range append(s.content.Titles(), s.content.Title, s.content.Signals.Title, s.content.Signals.Description, s.content.Publisher,
		strings.ReplaceAll(s.to.host, ".", " "), OwnName(s.source.Normalized), s.content.Text) {
		if scan(text); shared {
			return false
		}
	}
	// The text was looked at last, so own and all are counts of its words.
	could := slices.ContainsFunc(given, func(w page.Word) bool { return own[w.Script] >= enoughWords && 4*own[w.Script] >= all })
	return could && s.sameLanguage(title) // last, because to find out takes longest
}

// language is the page's, in two letters, "" where nothing shows it.
func (s *subject) language() string {
	if guess := page.Languages(page.CutBytes(s.content.Text, 8<<10)); len(guess) == 1 {
		return guess[0]
	}
	language, _, _ := strings.Cut(strings.ToLower(s.content.Language), "-")
	return language
}

// sameLanguage reports whether a title is in the language of a page. Where the
// title has function words, they decide; otherwise its syllables do: those of the
// page itself, or those of English, into which titles are translated.
func (s *subject) sameLanguage(title string) bool {
	language, guess := s.language(), page.Languages(title)
	switch {
	case language == "", slices.Contains(guess, language), !inLatin(title):
		return true
	case len(guess) > 0:
		return false
	case language == "en":
		return true
	}
	return likePage(title, s.content.Text)
}
