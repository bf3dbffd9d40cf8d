package claim

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// token is a word as two texts are laid side by side; in scripts without blanks a character.
type token struct {
	text       string // folded
	stem       string
	start, end int
	content    bool
	number     bool
	upper      bool // it begins with a capital
	dense      bool
}

// tokensOf are the tokens of a text.
func tokensOf(text string, stems endings) []token {
	var out []token
	add := func(word string, from, to int, dense bool) {
		t := token{text: word, start: from, end: to, dense: dense, number: word[0] >= '0' && word[0] <= '9'}
		if n := len(out) - 1; n >= 0 && to > from {
			last, between := &out[n], text[out[n].end:max(out[n].end, from)]
			switch {
			case t.number && last.number && len(between) == 1 && strings.Contains(".,'", between), (between == "'" || between == "’") && word == "t":
				last.text, last.end = last.text+between+word, to
				last.stem = last.text
				return
			}
		}
		t.stem = string(stems.stem([]byte(word)))
		first, _ := utf8.DecodeRuneInString(text[from:])
		t.content, t.upper = dense || isContent(word) && !t.number, unicode.IsUpper(first)
		out = append(out, t)
	}
	pending, at := rune(0), 0 // of a script without blanks
	flush := func() {
		if pending != 0 {
			add(string(pending), at, at+utf8.RuneLen(pending), true)
			pending = 0
		}
	}
	page.EachFolded(text, func(word []byte, from int) {
		first, size := utf8.DecodeRune(word)
		if !page.IsDense(first) {
			flush()
			end := from
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\u00ad' && !unicode.Is(unicode.Cf, r) || page.IsDense(r) {
					break
				}
				end += n
			}
			add(string(word), from, end, false)
			return
		}
		if pending != 0 && at != from {
			flush()
		}
		add(string(first), from, from+size, true)
		pending, _ = utf8.DecodeRune(word[size:])
		at = from + size
	})
	flush()
	return out
}

// clauses cuts the tokens of a sentence where its marks part them.
func clauses(text string, all []token) [][]token {
	var out [][]token
	from, content := 0, 0
	for i := range all {
		content += codec.Flag(all[i].content)
		if i+1 == len(all) {
			break
		}
		if between := text[all[i].end:max(all[i].end, all[i+1].start)]; strings.ContainsAny(between, ",;:.!?()–—。，；：！？、") && content >= leastAlike {
			out = append(out, all[from:i+1])
			from, content = i+1, 0
		}
	}
	if content >= leastAlike || len(out) == 0 {
		return append(out, all[from:])
	}
	return append(out[:len(out)-1], all[from-len(out[len(out)-1]):]) // too short to stand alone
}

// leastAlike is how many content words two clauses share at least.
const leastAlike = 3

// aligned is a clause beside a sentence of a page: the pairs of tokens that are the same, in
// order.
type aligned struct {
	clause, on []token
	pairs      [][2]int
	share      float64 // of the content words of the clause that the sentence has, in order
	same       int     // content words that it has
}

// mostTokens is how many tokens are laid side by side.
const mostTokens = 160

// align lays a clause beside a sentence of a page.
func align(clause, on []token) aligned {
	a := aligned{clause: clause[:min(len(clause), mostTokens)], on: on[:min(len(on), mostTokens)]}
	n, m := len(a.clause), len(a.on)
	var table [(mostTokens + 1) * (mostTokens + 1)]int16
	width := m + 1
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(table[(i+1)*width+j], table[i*width+j+1])
			if a.clause[i].stem == a.on[j].stem {
				worth := int16(2)
				if a.clause[i].content || a.clause[i].number {
					worth = 7
				}
				best = max(best, table[(i+1)*width+j+1]+worth)
			}
			table[i*width+j] = best
		}
	}
	content := 0
	for i := range a.clause {
		content += codec.Flag(a.clause[i].content)
	}
	for i, j := 0, 0; i < n && j < m; {
		switch here := table[i*width+j]; {
		case here == table[(i+1)*width+j]:
			i++
		case here == table[i*width+j+1]:
			j++
		default:
			a.pairs = append(a.pairs, [2]int{i, j})
			a.same += codec.Flag(a.clause[i].content)
			i, j = i+1, j+1
		}
	}
	if content > 0 {
		a.share = float64(a.same) / float64(content)
	}
	return a
}

// gap is what stands between two words that both have.
type gap struct {
	said, has []token
	inner     bool   // words on both sides
	next      [2]int // the pair behind it
}

func (a *aligned) gaps() []gap {
	const edge = 4
	var out []gap
	i, j := 0, max(0, a.pairs[0][1]-edge)
	for k := 0; k <= len(a.pairs); k++ {
		x, y := len(a.clause), min(len(a.on), j+edge)
		if k < len(a.pairs) {
			x, y = a.pairs[k][0], a.pairs[k][1]
		}
		if x > i || y > j {
			out = append(out, gap{a.clause[i:x], a.on[j:y], k > 0 && k < len(a.pairs), [2]int{x, y}})
		}
		i, j = x+1, y+1
	}
	return out
}

// difference is what a clause says otherwise than the sentence that it follows.
type difference struct {
	kind      string
	said, has string
	at        int    // where the page has it
	clause    int    // of the sentence, from 0
	beside    bool   // a sentence of the page beside it has a number that is said
	words     string // of the sentence around a negation of its own
}

var negations = sync.OnceValue(func() map[string]bool { return wordsOf("negations") })

// opposites are words with those that say the opposite, as they are listed, and without their
// endings where the language changes these with what a word belongs to.
var opposites = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, e := range page.List(lists, "lists/opposites.txt") {
		words := strings.Fields(e.Text)
		add := func(w, other string) { out[w], out[other] = append(out[w], other), append(out[other], w) }
		for _, w := range words[1:] {
			add(words[0], w)
			if e.Language != "en" {
				stems := endingsOf(e.Language)
				add(string(stems.stem([]byte(words[0]))), string(stems.stem([]byte(w))))
			}
		}
	}
	return out
})

// opposite reports whether two words are opposites, or one is the other with a syllable that
// says so.
func opposite(s, h token) bool {
	return slices.Contains(opposites()[s.text], h.text) || slices.Contains(opposites()[s.stem], h.stem) || prefixed(s.text, h.text) || prefixed(h.text, s.text)
}

// prefixed reports whether a word is another one behind a syllable that negates it.
func prefixed(word, plain string) bool {
	if len(plain) < 5 || !strings.HasSuffix(word, plain) {
		return false
	}
	return slices.Contains([]string{"un", "in", "im", "ir", "il", "dis", "non", "mis"}, word[:len(word)-len(plain)])
}

// bounds are the words that make a bound of a number, each with the bound.
var bounds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, e := range page.List(lists, "lists/bounds.txt") {
		bound, words, _ := strings.Cut(e.Text, ": ")
		out[words] = bound
	}
	return out
})

// boundOf is the bound that the words before or behind a number make of it, and where these begin.
func boundOf(list []token, i int) (bound string, from, to int) {
	for n := 3; n > 0; n-- {
		if i >= n {
			if b := bounds()[joinTokens(list[i-n:i])]; b != "" {
				return b, i - n, i
			}
		}
		if i+n < len(list) {
			if b := bounds()[joinTokens(list[i+1:i+1+n])]; b != "" {
				return b, i, i + n
			}
		}
	}
	return "", i, i
}

func joinTokens(list []token) string {
	var out []string
	for _, t := range list {
		out = append(out, t.text)
	}
	if len(list) > 0 && list[0].dense {
		return strings.Join(out, "")
	}
	return strings.Join(out, " ")
}

// Negated reports whether a text has a word that turns a statement round, in any language.
func Negated(text string) bool { return negates(tokensOf(text, nil)) >= 0 }

func negates(list []token) int {
	return slices.IndexFunc(list, func(t token) bool {
		return negations()[t.text] || strings.HasSuffix(t.text, "'t") || strings.HasSuffix(t.text, "’t")
	})
}

// value is a number as two are compared: its digits without zeros at the end.
func value(t token) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, t.text)
	return strings.TrimRight(digits, "0")
}

// beside holds the two texts whose tokens are compared.
type beside struct {
	*aligned
	claim, on string
	negated   bool // the whole sentence has a negation
	capitals  bool // a capital begins a name
	out       []difference
	said, has map[string]bool // stems
}

func (b *beside) add(kind, said, has string, at int) {
	b.out = append(b.out, difference{kind: kind, said: page.TidySpace(said), has: page.TidySpace(has), at: at})
}

// differences are what a clause says otherwise.
func (a *aligned) differences(claim, on string, negated, capitals bool) []difference {
	b := &beside{aligned: a, claim: claim, on: on, negated: negated, capitals: capitals, said: map[string]bool{}, has: map[string]bool{}}
	for _, t := range a.clause {
		b.said[t.stem] = true
	}
	for _, t := range a.on {
		b.has[t.stem] = true
	}
	first, last := a.pairs[0], a.pairs[len(a.pairs)-1]
	span := a.on[max(0, first[1]-3):min(len(a.on), last[1]+4)]
	b.denied()
	for _, g := range a.gaps() {
		b.negation(g, span)
		b.certain(g)
		b.replaced(g)
	}
	b.bounds()
	for _, n := range b.out {
		for _, o := range b.out {
			if n.kind == "negation" && o.kind == "opposite" {
				if n.at != o.at {
					return nil // not open, and closed
				}
				return []difference{o} // always, and never
			}
		}
	}
	return b.out
}

// hedges are the words that say that something may be so, and modals others that say less than
// that it is.
var (
	hedges = sync.OnceValue(func() map[string]bool { return wordsOf("hedges") })
	modals = sync.OnceValue(func() map[string]bool { return wordsOf("modals") })
)

func hedged(list []token) int {
	for i := range list {
		if hedges()[list[i].text] || list[i].dense && i+1 < len(list) && hedges()[joinTokens(list[i:i+2])] {
			return i
		}
	}
	return -1
}

// certain compares a gap for a word by which the page says that something may be, where the
// claim says that it is. With a capital, such a word names a month.
func (b *beside) certain(g gap) {
	h := hedged(g.has)
	if h < 0 || g.has[h].upper || !g.inner || b.share < 0.75 || len(g.has) > 3 || len(g.said) > 2 || hedged(b.clause) >= 0 || g.next[0] >= len(b.clause) || slices.ContainsFunc(g.said, func(t token) bool { return modals()[t.text] }) {
		return
	}
	b.add("certain", b.claim[first(g.said, b.clause[g.next[0]]).start:b.clause[g.next[0]].end], b.on[g.has[0].start:b.aligned.on[g.next[1]].end], g.has[h].start)
}

// negation compares a gap for a word that negates.
func (b *beside) negation(g gap, span []token) {
	s, h := negates(g.said), negates(g.has)
	switch {
	case slices.Contains([]string{"or", "only", "oder", "nur", "solo"}, beforeNext(g, b)):
	case !g.inner || b.share < 0.55 || (s >= 0) == (h >= 0) || g.next[0] >= len(b.clause):
	case s >= 0 && len(g.has) <= 3 && negates(span) < 0:
		b.add("negation", b.claim[g.said[0].start:b.clause[g.next[0]].end], b.on[first(g.has, b.aligned.on[g.next[1]]).start:b.aligned.on[g.next[1]].end], b.aligned.on[g.next[1]].start)
		b.out[len(b.out)-1].words = b.claim[b.clause[max(0, g.next[0]-len(g.said)-2)].start:b.clause[g.next[0]].end]
	case h >= 0 && len(g.said) <= 1 && len(g.has) <= 3 && !b.negated:
		b.add("negation", b.claim[first(g.said, b.clause[g.next[0]]).start:b.clause[g.next[0]].end], b.on[g.has[0].start:b.aligned.on[g.next[1]].end], g.has[h].start)
	}
}

var (
	denials = sync.OnceValue(func() map[string]bool { return wordsOf("denials") })
	joining = []string{"that", "dass", "que", "qu", "che", "dat", "att"} // before what is denied
)

// denied looks for words before the whole clause that deny it, where the page has none.
func (b *beside) denied() {
	denies := func(t token) bool { return denials()[t.text] }
	at := b.pairs[0][0]
	if lead := b.clause[:at]; b.share >= 0.55 && len(lead) > 1 && slices.Contains(joining, lead[at-1].text) && slices.ContainsFunc(lead, denies) && !slices.ContainsFunc(b.aligned.on, denies) {
		k := max(0, slices.IndexFunc(b.pairs, func(pair [2]int) bool { return b.clause[pair[0]].content }))
		from, to := b.aligned.on[b.pairs[0][1]].start, b.aligned.on[b.pairs[k][1]].end
		b.add("negation", b.claim[lead[0].start:b.clause[b.pairs[k][0]].end], b.on[from:to], from)
	}
}

// beforeNext is the word before or behind a word that negates, where both make something else of it:
// whether or not, not only.
func beforeNext(g gap, b *beside) string {
	for _, list := range [][]token{g.said, g.has} {
		if i := negates(list); i > 0 && list[i-1].text != "" && (list[i-1].text == "or" || list[i-1].text == "oder") {
			return "or"
		} else if i >= 0 && i+1 < len(list) && (list[i+1].text == "only" || list[i+1].text == "nur" || list[i+1].text == "solo") {
			return "only"
		}
	}
	return ""
}

func first(list []token, none token) token {
	if len(list) > 0 {
		return list[0]
	}
	return none
}

// replaced compares a gap for a number or name in the place of another.
func (b *beside) replaced(g gap) {
	if len(g.said) > 0 && g.said[0].dense && len(g.has) > 0 {
		said, has := joinTokens(g.said), joinTokens(g.has)
		for word, others := range opposites() {
			for _, other := range others {
				if first, _ := utf8.DecodeRuneInString(word); page.IsDense(first) && strings.Contains(said, word) && strings.Contains(has, other) && !strings.Contains(b.on, word) && !strings.Contains(b.claim, other) {
					b.add("opposite", word, other, g.has[0].start)
				}
			}
		}
	}
	for _, s := range g.said {
		for _, h := range g.has {
			if !b.has[s.stem] && !b.said[h.stem] && opposite(s, h) {
				b.add("opposite", s.text, h.text, h.start)
			}
		}
	}
	if !g.inner || len(g.said) > 3 || len(g.has) > 3 {
		return
	}
	names := 0 // of the gap so far
	for _, s := range g.said {
		others := 0
		for _, h := range g.has {
			if h.upper && h.content {
				others++
			}
			switch {
			case b.has[s.stem] || b.said[h.stem]:
			case s.number && h.number && value(s) != value(h) && len(numbersIn(g.said)) == 1 && len(numbersIn(g.has)) == 1 && b.share >= 0.75:
				b.add("number", b.withUnit(b.claim, b.clause, s), b.withUnit(b.on, b.aligned.on, h), h.start)
			case b.capitals && s.upper && h.upper && s.content && h.content && len(g.said) <= 2 && len(g.has) <= 2 && others == names+1 && !b.aligned.counted(g) && alike(s.text, h.text) < 3 && b.share >= 0.65:
				b.add("name", b.claim[s.start:s.end], b.on[h.start:h.end], h.start)
			}
		}
		names += codec.Flag(s.upper && s.content)
	}
}

// counted reports whether a gap follows a number on both sides: what stands there is its unit.
func (a *aligned) counted(g gap) bool {
	i, j := g.next[0]-len(g.said)-1, g.next[1]-len(g.has)-1
	return i >= 0 && j >= 0 && a.clause[i].number && a.on[j].number
}

// alike is how many letters two words begin with alike.
func alike(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func numbersIn(list []token) (out []token) {
	for _, t := range list {
		if t.number {
			out = append(out, t)
		}
	}
	return out
}

// withUnit is a number with the word behind it, or the sign right beside it.
func (b *beside) withUnit(text string, list []token, t token) string {
	from, to := t.start, t.end
	if r, size := utf8.DecodeLastRuneInString(text[:from]); unicode.Is(unicode.Sc, r) {
		from -= size
	}
	behind := strings.TrimLeft(text[to:], " \u00a0\u202f")
	if r, size := utf8.DecodeRuneInString(behind); r == '%' || unicode.Is(unicode.Sc, r) {
		return text[from : len(text)-len(behind)+size]
	}
	for _, next := range list {
		if next.start >= to {
			if !next.number && strings.TrimSpace(text[to:next.start]) == "" {
				to = next.end
			}
			break
		}
	}
	return text[from:to]
}

// bounds compares the bounds of numbers that both have.
func (b *beside) bounds() {
	for _, pair := range b.pairs {
		if !b.clause[pair[0]].number {
			continue
		}
		said, from, to := boundOf(b.clause, pair[0])
		has, start, end := boundOf(b.aligned.on, pair[1])
		if said != "" && has != "" && said != has {
			b.add("bound", b.claim[b.clause[from].start:b.clause[to].end], b.on[b.aligned.on[start].start:b.aligned.on[end].end], b.aligned.on[start].start)
		}
	}
}

// likelyPassages is how many sentences of a page a clause is laid beside.
const likelyPassages = 3

// near finds what a sentence says otherwise than the sentences of a page that it follows
// nearly word for word. A sentence of the page that has it as it is said settles it. Follows
// are the clauses that the page has as they are said.
func (r *reading) near(a *asked) (out []difference, follows []int) {
	all := tokensOf(a.text, a.endings)
	negated := negates(all) >= 0
	for k, clause := range clauses(a.text, all) {
		var best []difference
		share := 0.0
		for _, p := range r.likely(a.text, clause) {
			from := r.passages[p]
			on := r.page.Text[from.start:from.end]
			al := align(clause, tokensOf(on, a.endings))
			if al.same < leastAlike || 2*al.share < 1 {
				continue
			}
			found := slices.DeleteFunc(al.differences(a.text, on, negated, a.language != "de"), func(d difference) bool { return d.words != "" && r.says(d.words) })
			beside := slices.ContainsFunc(found, func(d difference) bool { return d.kind == "number" && r.besideHas(p, d.said) })
			for i := range found {
				found[i].at += from.start
				found[i].clause = k
				found[i].beside = beside
			}
			if share == 0 || len(found) < len(best) && al.share >= share-0.15 {
				best, share = found, al.share
			}
		}
		out = append(out, best...)
		if share > 0 && len(best) == 0 {
			follows = append(follows, k)
		}
	}
	if likely := r.likely(a.text, all); len(likely) > 0 {
		on := r.passages[likely[0]]
		text := r.page.Text[on.start:on.end]
		if d, is := crossed(a.text, all, text, tokensOf(text, a.endings), a.language != "de"); is {
			d.at += on.start
			return append(out, d), nil
		}
	}
	return out, follows
}

// likely are the sentences of the page that have most of some words, the likeliest first.
func (r *reading) likely(text string, words []token) (out []int32) {
	counts, seen := map[int32]int{}, map[string]bool{}
	for _, t := range words {
		if t.dense || !t.content || seen[t.stem] {
			continue
		}
		seen[t.stem] = true
		if id, is := r.words[t.stem]; is {
			for _, p := range r.postings[id] {
				counts[p]++
			}
		}
	}
	r.pairsOf(text, words, counts)
	r.numbersOf(words, counts)
	for range likelyPassages {
		most, p := 0, int32(-1)
		for k, n := range counts {
			if n > most || n == most && k < p {
				most, p = n, k
			}
		}
		if most < leastAlike {
			break
		}
		delete(counts, p)
		out = append(out, p)
	}
	return out
}

// says reports whether the page has words as they stand, in another sentence than the one that
// is looked at.
func (r *reading) says(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc(r.passages, func(p passage) bool {
		return strings.Contains(strings.ToLower(page.TidySpace(r.page.Text[p.start:p.end])), words)
	})
}

// numbersOf counts the numbers of a clause in the sentences that share words with it: of
// many that are alike but for their numbers, the one that has them is looked at.
func (r *reading) numbersOf(clause []token, counts map[int32]int) {
	for _, t := range numbersIn(clause) {
		for p, n := range counts {
			if n >= leastAlike && strings.Contains(r.page.Text[r.passages[p].start:r.passages[p].end], t.text) {
				counts[p] = n + 1
			}
		}
	}
}

// besideHas reports whether the sentence of the page before a passage or behind it has a
// text as it stands: "At night they drew 0.3 MW" behind what was drawn by day.
func (r *reading) besideHas(p int32, text string) bool {
	for _, k := range []int32{p - 1, p + 1} {
		if k >= 0 && int(k) < len(r.passages) && strings.Contains(r.page.Text[r.passages[k].start:r.passages[k].end], text) {
			return true
		}
	}
	return false
}

// pairsOf counts the pairs of characters of a clause that the sentences of the page have.
func (r *reading) pairsOf(text string, clause []token, counts map[int32]int) {
	for i := 1; i < len(clause); i++ {
		if clause[i-1].dense && clause[i].dense {
			if id, is := r.words[clause[i-1].text+clause[i].text]; is {
				for _, p := range r.postings[id] {
					counts[p]++
				}
			}
		}
	}
}

// Bounded reports whether the number at a place of a text has a bound before or behind it,
// such as at least, up to or more than.
func Bounded(text string, start, end int) bool {
	all := tokensOf(text, nil)
	at := slices.IndexFunc(all, func(t token) bool { return t.start < end && start < t.end })
	if at < 0 {
		return false
	}
	bound, _, _ := boundOf(all, at)
	return bound != ""
}
