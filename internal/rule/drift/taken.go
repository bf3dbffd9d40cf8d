package drift

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// A page can keep a passage word for word and take it back in the next line, in a box or in
// the heading of the part that it now stands in. Words that do so are looked for in what is
// new: in the passage, beside it and, where it speaks of the same, anywhere.

// phrases are those of one list, by language.
type phrases map[string][]phrase

// phrase is words that stand behind each other. The last may be the beginning of one.
type phrase struct {
	words []string
	begin bool
	exact string // one word that is compared as it is written
}

func phrasesOf(name string) func() phrases {
	return sync.OnceValue(func() phrases {
		all := phrases{}
		for _, e := range page.List(lists, "lists/"+name) {
			text, begin := strings.CutSuffix(e.Text, "*")
			p := phrase{strings.Fields(text), begin, ""}
			if exact, is := strings.CutPrefix(text, "="); is || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
				p = phrase{exact: exact}
			}
			all[e.Language] = append(all[e.Language], p)
		}
		return all
	})
}

var (
	backs  = phrasesOf("backs.txt")
	frames = phrasesOf("frames.txt")
	hedges = phrasesOf("hedges.txt")
	points = phrasesOf("points.txt")
)

// times are the words that say when, by language.
var times = wordsOf("times.txt")

// anaphors stand for what was just said, and openers leave a statement what it is.
var (
	anaphors = wordsOf("anaphors.txt")
	openers  = wordsOf("openers.txt")
)

// in are the places at which a phrase stands in a passage: the first word of each.
func (f phrase) in(p *passage) (at []int) {
	if f.exact != "" {
		for i, word := range strings.FieldsFunc(p.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if word == f.exact {
				at = append(at, i)
			}
		}
		return at
	}
	last := len(f.words) - 1
	for i := range len(p.words) - last {
		w := p.words[i+last]
		if slices.Equal(p.words[i:i+last], f.words[:last]) && (w == f.words[last] || f.begin && strings.HasPrefix(w, f.words[last])) {
			at = append(at, i)
		}
	}
	return at
}

// new is the phrase of a list that a passage has more often than another, as it stands there.
func (all phrases) new(languages []string, now, old *passage) string {
	for _, language := range languages {
		for _, f := range all[language] {
			at := f.in(now)
			if len(at) == 0 || old != nil && len(f.in(old)) >= len(at) {
				continue
			}
			if next := at[0] + len(f.words); old != nil && next < len(now.words) && isNumber(now.words[next]) && old.count[now.words[next]] == 0 {
				continue // it is about a number that the passage did not have
			}
			if f.exact != "" {
				return f.exact
			}
			return strings.Join(now.words[at[0]:at[0]+len(f.words)], " ")
		}
	}
	return ""
}

// languages are those in which a text next to the page's own is read.
func (c *comparison) languages(text string) []string {
	out := []string{c.language}
	if own := page.Language(text); own != "" && own != c.language {
		out = append(out, own)
	}
	if out[0] == "" {
		out[0] = "en"
	}
	return out
}

// weakened says by which words a version of a passage takes back, frames or hedges what the
// passage said; "" for none. Where both are alike, whatever is put before it counts.
func (c *comparison) weakened(old, now *passage, alike bool) string {
	languages := c.languages(now.text)
	for _, list := range []phrases{backs(), frames(), hedges()} {
		if words := list.new(languages, now, old); words != "" {
			return "“" + words + "” has come into it"
		}
	}
	if !alike {
		return ""
	}
	for _, word := range now.without(old) {
		if conditional(word, old) {
			return "“" + word + "” has come into it"
		}
	}
	if words := headed(old, now, languages); words != "" {
		return "it now stands behind “" + words + "”"
	}
	return helped(old, now)
}

// headed are the words before a statement that stands word for word behind them, but those
// that only say when; "" for none.
func headed(old, now *passage, languages []string) string {
	n := len(now.words) - len(old.words)
	if n < 1 || !slices.Equal(now.words[n:], old.words) {
		return ""
	}
	for _, word := range now.words[:n] {
		if !isNumber(word) && !slices.ContainsFunc(languages, func(l string) bool { return openers()[l][word] || times()[l][word] }) {
			return strings.Join(now.words[:n], " ")
		}
	}
	return ""
}

// helped says by which word before it a verb of a passage has another form: who "hopes to
// carry" does not carry. It is "" for none.
func helped(old, now *passage) string {
	const before = 3
	for i, word := range now.words {
		if old.count[word] > 0 || !old.has(word) || isNumber(word) {
			continue // the same word, or a new one
		}
		for _, helper := range now.words[max(0, i-before):i] {
			if !old.has(helper) && !isNumber(helper) && utf8.RuneCountInString(helper) > 2 {
				return "“" + helper + " … " + word + "” has come into it"
			}
		}
	}
	return ""
}

// conditional reports whether a word is a verb of a passage in the mood of what is not so, in
// the languages that say it by an ending.
func conditional(word string, old *passage) bool {
	for _, end := range []string{"rait", "raient", "ria", "rian", "rebbe", "rebbero"} {
		stem, is := strings.CutSuffix(word, end)
		if is && len(stem) > 3 && slices.ContainsFunc(old.words, func(w string) bool { return strings.HasPrefix(w, stem[:len(stem)-1]) }) {
			return true
		}
	}
	return false
}

const (
	near      = 3 // sentences on either side stand beside a passage
	headWords = 8 // what heads others is short, or ends with a colon
	fewWords  = 6 // who says nothing else, speaks of what stands beside it
)

// takenBack says by which sentence the page takes back, near the passage at a place or
// anywhere, what the sentence of the report says; "" for none.
func (c *comparison) takenBack(at int) (why, text string) {
	for j := range c.now {
		q := &c.now[j]
		if j == at || c.before[q.key()] || c.isVersion(q) {
			continue
		}
		languages := c.languages(q.text)
		beside := at >= 0 && j >= at-near && j <= at+near
		if words := backs().new(append(languages, "en"), q, nil); words != "" && c.speaksOfIt(q, words, languages, beside) {
			return "the page now says: “" + words + "”", q.text
		}
		if heads := beside && j < at && (len(q.words) <= headWords || strings.HasSuffix(strings.TrimSpace(q.text), ":")); heads {
			if words := frames().new(languages, q, nil); words != "" {
				return "it now stands under “" + words + "”", q.text
			}
		}
		if beside && len(q.words) <= 2*fewWords && q.negations(c.language) > 0 && points().new(languages, q, nil) != "" {
			return "the page now says that it is not so", q.text
		}
	}
	return "", ""
}

// isVersion reports whether a sentence is what has become of one that stood there: it speaks
// of what that one spoke of.
func (f *Source) isVersion(q *passage) bool {
	return slices.ContainsFunc(f.then, func(p passage) bool { return !f.kept[p.key()] && p.alike(q) >= related })
}

// speaksOfIt reports whether a sentence with words that take something back speaks of what the
// sentence of the report says: it shares with it what is not the page's subject, and one
// beside it may also point to it, or say nothing else.
func (c *comparison) speaksOfIt(q *passage, words string, languages []string, beside bool) bool {
	done := maps.Clone(c.subject())
	for _, language := range languages {
		maps.Copy(done, times()[language])
	}
	for word := range strings.FieldsSeq(words) {
		done[word] = true
	}
	shared := q.shared(&c.said, done)
	if !beside {
		return shared >= 2
	}
	rest := 0
	for _, word := range q.words {
		if content(word) && !done[word] && !isNumber(word) {
			rest++
		}
	}
	stands := slices.ContainsFunc(q.words, func(w string) bool {
		return slices.ContainsFunc(languages, func(l string) bool { return anaphors()[l][w] })
	})
	return shared > 0 || points().new(languages, q, nil) != "" || len(q.words) <= fewWords && rest <= 1 || stands && rest <= 2 && len(q.words) <= 2*fewWords
}

// subject are the words of the page's title, which many of its sentences have.
func (c *comparison) subject() map[string]bool {
	if c.topic == nil {
		c.topic = map[string]bool{}
		title := newPassage(c.Then.Title)
		for word := range c.said.count {
			if content(word) && !isNumber(word) && title.has(word) {
				c.topic[word] = true
			}
		}
	}
	return c.topic
}

// contradicted is a sentence that the page did not have, that says the same of the same with
// another number or in the other direction; nil for none.
func (c *comparison) contradicted(old *passage) (why string, now *passage) {
	for i := range c.now {
		q := &c.now[i]
		if c.before[q.key()] || old.alike(q) < edited {
			continue
		}
		if slices.ContainsFunc(append(q.without(old), old.without(q)...), func(w string) bool { return content(w) && !isNumber(w) }) {
			continue // of something else
		}
		if figure := c.newFigure(q); figure != "" {
			return figure + " is new there", q
		}
		if why := c.turned(old, q); why != "" {
			return why, q
		}
	}
	return "", nil
}
