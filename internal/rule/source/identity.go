package source

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/text/page"
)

// identify is the id of the paper or book that a source is: as an output names it
// beside the URL, as the URL has it, or as the page gives it. What reports about works,
// such as a newspaper, is none of them, whatever id stands beside it.
func (s *subject) identify() scholar.ID {
	reports := slices.Contains([]string{"news", "forum", "company", "reference", "official"}, policy.Class(splitAddress(s.source.Normalized).host))
	for _, f := range s.source.FoundBy {
		if reports {
			break
		}
		if before, _, one := strings.Cut(f.Line, "://"); one && strings.Count(f.Line, "://") == 1 {
			_, after, _ := strings.Cut(f.Line, f.URL)
			if id, ok := scholar.InText(strings.TrimRight(before, "htps") + " " + after); ok {
				return id
			}
		}
	}
	for _, url := range s.source.URLs {
		if id, ok := scholar.InURL(url); ok {
			return id
		}
	}
	if id, ok := scholar.InText(s.content.DOI); ok && s.content.DOI != "" {
		return id
	}
	return scholar.ID{}
}

// registered gives a record what the registry knows better than the page.
func (s *subject) registered(r *Record) {
	if s.work == nil || s.work.Title == "" {
		return
	}
	set := func(field *string, value string) {
		if value = cutRunes(visible(value), nameLength); value != "" {
			*field = value
		}
	}
	set(&r.Title, s.work.Title)
	set(&r.Author, strings.Join(s.work.Authors, "; "))
	set(&r.Publisher, s.work.Journal)
	set(&r.Published, s.work.Date)
}

func unregistered(s *subject) (string, bool) {
	if s.work == nil || !s.work.Unregistered {
		return "", false
	}
	return s.work.Registry + " does not know " + s.id.String(), true
}

func retracted(s *subject) (string, bool) {
	if s.work == nil || s.work.Retracted == "" {
		return "", false
	}
	return s.work.Registry + " says of " + s.id.String() + ": " + s.work.Retracted, true
}

func otherWork(s *subject) (string, bool) {
	titles := s.source.titles()
	if s.work == nil || s.work.Title == "" || len(titles) == 0 || slices.ContainsFunc(titles, s.mayMean) {
		return "", false
	}
	return s.id.String() + " is " + quoted(s.work.Title) + ", not " + quoted(titles[0]), true
}

// What a text must share with a title to be about the same work.
const (
	titleWords  = 3   // fewer words that tell something are a label, not a title
	sharedTitle = 0.5 // of the words of either
	described   = 0.8 // of the words of a label that the work itself has
)

// mayMean reports whether what an output calls a source may be the work that is
// registered: its title as a whole or in part, a label with its authors or journal, a
// description in words of its abstract, or a title in another language.
func (s *subject) mayMean(title string) bool {
	w := s.work
	names := wordsOf(strings.Join(w.Authors, " ")+" "+w.Journal+" "+w.Registry, true)
	given := slices.DeleteFunc(telling(title), func(g page.Word) bool {
		return isDigits(g.Text) || slices.ContainsFunc(names, func(n page.Word) bool { return like(g, n) })
	})
	own := telling(w.Title)
	if len(given) < titleWords || len(own) == 0 || otherLanguage(title, w.Title) {
		return true
	}
	return part(given, own) >= sharedTitle || part(own, given) >= sharedTitle ||
		part(given, wordsOf(w.Title+" "+w.Abstract, true)) >= described
}

// otherLanguage reports whether two titles are in different scripts or languages, as far
// as that shows.
func otherLanguage(a, b string) bool {
	one, two := page.Languages(a), page.Languages(b)
	return inLatin(a) != inLatin(b) ||
		len(one) > 0 && len(two) > 0 && !slices.ContainsFunc(one, func(language string) bool { return slices.Contains(two, language) })
}

// part is the part of some words that are among others.
func part(words, others []page.Word) float64 {
	found := 0
	for _, w := range words {
		if slices.ContainsFunc(others, func(o page.Word) bool { return like(w, o) }) {
			found++
		}
	}
	return float64(found) / float64(max(1, len(words)))
}

// leadsElsewhere looks at the page of a DOI, as the URL has it.
func leadsElsewhere(s *subject) (string, bool) {
	if s.work == nil || s.work.Title == "" || s.id.Kind != scholar.DOI || s.page.Attached || s.content.Words < languageWords {
		return "", false
	}
	if cited, ok := scholar.InURL(s.page.URL); !ok || cited != s.id {
		return "", false
	}
	own := telling(s.work.Title)
	if len(own) < titleWords || otherLanguage(page.CutBytes(s.content.Text, 8<<10), s.work.Title) {
		return "", false
	}
	found := make([]bool, len(own))
	missing := len(own)
	page.EachWord(strings.Join(s.content.Titles(), " ")+" "+s.content.Title+" "+s.content.Signals.Title+" "+page.CutBytes(s.content.Text, page.LanguageSample), func(w page.Word) bool {
		for i := range own {
			if !found[i] && like(own[i], w) {
				found[i] = true
				missing--
			}
		}
		return missing > 0
	})
	if float64(missing) <= (1-sharedTitle)*float64(len(own)) {
		return "", false
	}
	return s.id.String() + " is " + quoted(s.work.Title) + ", which is not on the page", true
}

// showsAbstract holds for the addresses at which the abstract of a work stands and not
// its text.
func showsAbstract(url string) bool {
	id, ok := scholar.InURL(url)
	return ok && (id.Kind == scholar.PubMed || id.Kind == scholar.ArXiv && strings.Contains(url, "/abs/"))
}

// beside are the lines of an output, outside its list of sources, that have a URL and no
// other.
func beside(output []byte, url string) string {
	var lines strings.Builder
	sources := false
	for line := range strings.Lines(string(output)) {
		if heading, ok := strings.CutPrefix(line, "#"); ok {
			sources = isSources([]byte(strings.Trim(heading, "# \r\n")))
		}
		if !sources && strings.Contains(line, url) && strings.Count(line, "://") == strings.Count(line, url) {
			lines.WriteString(strings.ReplaceAll(line, url, ""))
		}
	}
	return lines.String()
}

// abstractOnly looks for the numbers for which outputs cite the page of an abstract.
func abstractOnly(s *subject) (string, bool) {
	if s.page.Attached || s.content.Words == 0 || !showsAbstract(s.page.final()) {
		return "", false
	}
	text := s.content.Text
	if s.work != nil {
		text += "\n" + s.work.Title + "\n" + s.work.Abstract + "\n" + s.work.Date
	}
	for _, f := range s.source.FoundBy {
		for line := range strings.Lines(f.Beside) {
			_, held, _ := evidence.HoldText(context.Background(), []byte(strings.TrimSpace(line)+" [@"+s.source.CID+"]\n"), func(cid string) (*claim.Page, error) { return &claim.Page{CID: cid, Text: text}, nil })
			for _, j := range held {
				for _, f := range j.Findings {
					if f.Code == tidegate.NumberNotFound {
						return "it does not have " + quoted(f.Text) + "; cite the full text", true
					}
				}
			}
		}
	}
	return "", false
}
