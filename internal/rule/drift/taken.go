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

// phrase is words that stand behind each other. The last may be the beginning or the end of one.
type phrase struct {
	words      []string
	begin, end bool
	exact      string // one word that is compared as it is written
}

func phrasesOf(name string) func() phrases {
	return sync.OnceValue(func() phrases {
		all := phrases{}
		for _, e := range page.List(lists, "lists/"+name) {
			for text := range strings.SplitSeq(e.Text, ", ") {
				all[e.Language] = append(all[e.Language], phraseOf(text))
			}
		}
		return all
	})
}

// phraseOf reads a phrase. A word with letters beyond ASCII is compared as it is written.
func phraseOf(text string) phrase {
	if exact, is := strings.CutPrefix(text, "="); is || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return phrase{exact: exact}
	}
	text, begin := strings.CutSuffix(text, "*")
	text, end := strings.CutPrefix(text, "*")
	return phrase{words: strings.Fields(text), begin: begin, end: end}
}

var (
	backs  = phrasesOf("backs.txt")
	frames = phrasesOf("frames.txt")
	hedges = phrasesOf("hedges.txt")
	points = phrasesOf("points.txt")
	truths = phrasesOf("truths.txt")
	affirm = phrasesOf("affirmations.txt")
	others = phrasesOf("others.txt")
	texts  = phrasesOf("texts.txt")
)

// times are the words that say when, by language.
var times = wordsOf("times.txt")

// anaphors stand for what was just said, hints for who said it, and openers leave a statement
// what it is.
var (
	hints    = wordsOf("hints.txt")
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
	if (last > 0 || !f.begin && !f.end) && p.count[f.words[0]] == 0 {
		return nil
	}
	for i := range len(p.words) - last {
		w := p.words[i+last]
		if slices.Equal(p.words[i:i+last], f.words[:last]) && f.ends(w) {
			at = append(at, i)
		}
	}
	return at
}

// ends reports whether a word is the last of a phrase.
func (f phrase) ends(w string) bool {
	last := f.words[len(f.words)-1]
	switch {
	case f.begin && f.end:
		return strings.Contains(w, last)
	case f.begin:
		return strings.HasPrefix(w, last)
	case f.end:
		return strings.HasSuffix(w, last)
	}
	return w == last
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
	if words := headed(old, now, languages); words != "" && affirm().new(languages, now, old) == "" {
		return "it now stands behind “" + words + "”"
	}
	if !alike {
		return ""
	}
	for _, word := range now.without(old) {
		if conditional(word, old) {
			return "“" + word + "” has come into it"
		}
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
		if !isNumber(word) && !is(openers(), languages, word) && !is(times(), languages, word) {
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
		words := c.back(q, languages)
		if words == "" && beside && q.negations(c.language) > 0 {
			if words = truths().new(languages, q, nil); words != "" {
				words = "not … " + words
			}
		}
		if words != "" && c.speaksOfIt(q, words, languages, beside) {
			return "the page now says: “" + words + "”", q.text
		}
		if !beside {
			continue
		}
		heads := j < at && (len(q.words) <= headWords || strings.HasSuffix(strings.TrimSpace(q.text), ":"))
		own, points := c.own(q, languages)
		if words := frames().new(languages, q, nil); words != "" && (heads || j < at && own <= ownHinting || points && own == 0) {
			return "it now stands under “" + words + "”", q.text
		}
		if points && own == 0 && q.negations(c.language) > 0 {
			return "the page now says that it is not so", q.text
		}
	}
	return "", ""
}

// back is by which words a sentence takes something back, "" for none. Behind a negation they
// say the contrary: nobody doubts it.
func (c *comparison) back(q *passage, languages []string) string {
	if !q.read {
		q.read, q.back = true, backs().new(append(languages, "en"), q, nil)
		before, _, _ := strings.Cut(" "+q.key()+" ", " "+q.back+" ")
		words := strings.Fields(before)
		last := newPassage(strings.Join(words[max(0, len(words)-negatedIn):], " "))
		if last.negations(c.language) > 0 {
			q.back = ""
		}
	}
	return q.back
}

const negatedIn = 2 // words behind a negation that it speaks of

// isVersion reports whether a sentence is what has become of one that stood there: it speaks
// of what that one spoke of.
func (f *Source) isVersion(q *passage) bool {
	return slices.ContainsFunc(f.then, func(p passage) bool { return !f.kept[p.key()] && p.alike(q) >= related })
}

// How many words of its own a sentence that takes something back may have where it points to
// those beside it, and where it hints at them.
const (
	ownPointing = 3
	ownHinting  = 1
	leastOwn    = 4 // letters of such a word
)

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
	if !beside || others().new(languages, q, nil) != "" {
		return shared >= 2
	}
	own, points := c.own(q, languages)
	hinting := shared > 0 || strings.HasPrefix(q.key(), words+" ") && !strings.Contains(q.text, ":") ||
		slices.ContainsFunc(q.words, func(w string) bool { return is(anaphors(), languages, w) || is(hints(), languages, w) })
	return own == 0 || points && own <= ownPointing || hinting && own <= ownHinting
}

// is reports whether a word stands in a list, in one of some languages.
func is(list map[string]map[string]bool, languages []string, word string) bool {
	return slices.ContainsFunc(languages, func(l string) bool { return list[l][word] })
}

// own counts the words of a sentence that are neither in the sentence of the report nor about
// texts, those who write them and what they do with them. It points to what stands beside it
// by a phrase, by brackets, or by a word as "this" before one about texts.
func (c *comparison) own(q *passage, languages []string) (n int, pointing bool) {
	about := texts().mark(languages, q)
	for i := range q.words[1:] {
		pointing = pointing || about[i+1] && is(anaphors(), languages, q.words[i])
	}
	pointing = pointing || strings.ContainsAny(q.text[:1], "([") || points().new(languages, q, nil) != ""
	for _, list := range []phrases{backs(), truths(), points(), frames(), hedges()} {
		for i, known := range list.mark(languages, q) {
			about[i] = about[i] || known
		}
	}
	for i, word := range q.words {
		if len(word) >= leastOwn && content(word) && !isNumber(word) && !about[i] && !is(times(), languages, word) && !c.said.has(word) {
			n++
		}
	}
	return n, pointing
}

// mark says of each word of a passage whether it belongs to a phrase of a list.
func (all phrases) mark(languages []string, p *passage) []bool {
	marked := make([]bool, len(p.words))
	for _, language := range languages {
		for _, f := range all[language] {
			for _, at := range f.in(p) {
				for i := range f.words {
					marked[at+i] = true
				}
			}
		}
	}
	return marked
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
