package claim

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// told is a number, a name, or a word that has an opposite, in a sentence that has another of
// its kind: what the two are said of may be exchanged.
type told struct {
	kind     byte // n, N or o
	key      string
	from, to int // tokens
}

// mostTold is how many of them are looked at.
const mostTold = 12

// toldIn are those of a sentence, each that it has once.
func toldIn(text string, list []token, capitals bool) (out []told) {
	for i := 0; i < len(list); i++ {
		switch t := list[i]; {
		case t.number:
			out = append(out, told{'n', t.stem, i, i + 1})
		case t.dense:
			for n := 4; n > 0; n-- {
				if word := joinTokens(list[i:min(len(list), i+n)]); opposites()[word] != nil && utf8.RuneCountInString(word) == n {
					out = append(out, told{'o', word, i, i + n})
					i += n - 1
					break
				}
			}
		case capitals && t.upper && t.content && (i > 0 || i+1 < len(list) && list[i+1].upper):
			if n := len(out) - 1; n >= 0 && out[n].kind == 'N' && out[n].to == i && strings.TrimSpace(text[list[i-1].end:t.start]) == "" {
				out[n].key, out[n].to = t.stem, i+1
			} else {
				out = append(out, told{'N', t.stem, i, i + 1})
			}
		case opposites()[t.text] != nil || opposites()[t.stem] != nil:
			out = append(out, told{'o', t.text, i, i + 1})
		}
	}
	once := slices.DeleteFunc(slices.Clone(out), func(t told) bool {
		return slices.ContainsFunc(out, func(o told) bool { return o.key == t.key && o.from != t.from })
	})
	return once[:min(len(once), mostTold)]
}

// sides are the words that one of two things is said of and the other is not: those before
// each, up to what is like it, or those behind it.
func sides(list []token, all []told, a, b told, before bool) (first, second map[string]bool) {
	around := func(t told) map[string]bool {
		from, to := 0, t.from
		if !before {
			from, to = t.to, len(list)
		}
		for _, o := range all {
			if t.kind == 'o' && o != a && o != b {
				continue
			}
			if o.kind == t.kind && before && o.to <= t.from {
				from = max(from, o.to)
			} else if o.kind == t.kind && !before && o.from >= t.to {
				to = min(to, o.from)
			}
		}
		out := map[string]bool{}
		for _, w := range list[from:to] {
			out[w.stem] = w.content
		}
		return out
	}
	x, y := around(a), around(b)
	first, second = map[string]bool{}, map[string]bool{}
	for w, content := range x {
		if _, is := y[w]; !is {
			first[w] = content
		}
	}
	for w, content := range y {
		if _, is := x[w]; !is {
			second[w] = content
		}
	}
	return first, second
}

// share counts the words of two sets, and those of them that say what a sentence is about.
func share(a, b map[string]bool) (all, content int) {
	for w, is := range a {
		if _, both := b[w]; both {
			all++
			content += codec.Flag(is)
		}
	}
	return all, content
}

// crossed finds two things that a sentence says of each other's words: the one pays 12 and the
// other 6, where the page has it the other way round. Who says the parts of a sentence in
// another order keeps each with its words.
func crossed(claim string, list []token, on string, has []token, capitals bool) (difference, bool) {
	said, had := toldIn(claim, list, capitals), toldIn(on, has, capitals)
	at := func(key string) int { return slices.IndexFunc(had, func(t told) bool { return t.key == key }) }
	content, same := 0, 0
	for _, t := range list {
		if t.content {
			content++
			same += codec.Flag(slices.ContainsFunc(has, func(h token) bool { return h.stem == t.stem }))
		}
	}
	if 4*same < 3*content {
		return difference{}, false
	}
	for i, a := range said {
		for _, b := range said[i+1:] {
			x, y := at(a.key), at(b.key)
			if a.kind != b.kind || x < 0 || y < 0 || had[y].from > had[x].from {
				continue
			}
			if a.kind == 'o' && !slices.Contains(opposites()[a.key], b.key) && !opposite(list[a.from], list[b.from]) {
				continue
			}
			if a.kind == 'N' && !(parted(claim, list[a.to-1:b.from+1]) && parted(on, has[had[y].to-1:had[x].from+1])) {
				continue
			}
			alike, across := false, 0
			for _, before := range []bool{true, false} {
				c1, c2 := sides(list, said, a, b, before)
				p1, p2 := sides(has, had, had[y], had[x], before)
				_, first := share(c1, p1)
				_, second := share(c2, p2)
				there, _ := share(c1, p2)
				back, _ := share(c2, p1)
				alike, across = alike || first > 0 && second > 0, across+there+back
			}
			if alike && across == 0 {
				from, to := has[had[y].from].start, has[had[x].to-1].end
				return difference{kind: "exchange", said: page.TidySpace(claim[list[a.from].start:list[b.to-1].end]), has: page.TidySpace(on[from:to]), at: from}, true
			}
		}
	}
	return difference{}, false
}

// parted reports whether two things stand in clauses of their own.
func parted(text string, list []token) bool {
	return strings.ContainsAny(text[list[0].end:list[len(list)-1].start], ",;:–—，；：、") || slices.ContainsFunc(list, func(t token) bool {
		return slices.Contains([]string{"and", "while", "but", "y", "mientras", "pero", "et", "mais", "e", "en"}, t.text)
	})
}
