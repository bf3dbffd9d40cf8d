package foreign

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// list is the list of sources as far as it was read.
type list struct {
	entries []Entry
	byID    map[string][]int
	in      []bool       // by block: it is part of the list
	fresh   bool         // the section has no entry yet
	tables  map[int]bool // those that were looked at, and whether they are the list

	blocks []block
	looks  []look
	cited  map[string]bool // numbers that the text cites, whether an entry has them or not
}

// look is what a block looks like to somebody who seeks a list of sources.
type look struct {
	ids    []string // with which it begins
	like   bool     // an entry: few words and a link, and no mark among them
	named  bool     // an entry of a section that is called a list of sources: it may do without a link
	links  bool     // nothing but links, and a word or two
	alone  bool     // nothing but a URL
	anchor int      // how many links it has
}

// An entry has not more words than these.
const (
	entryWords   = 60
	linkWords    = 8  // beside its links
	pointedWords = 25 // of an item that has neither id nor link
)

func lookAt(b *block) look {
	if b.kind == heading || b.kind == headerRow {
		return look{}
	}
	out := look{alone: isURL(strings.TrimSpace(b.text))}
	lines := b.lines()
	like, named, links := 0, 0, 0
	for k := range lines {
		line := &lines[k]
		ids, rest := leadingIDs(line)
		anchors := slices.DeleteFunc(anchorsOf(line), func(a anchor) bool { return !isWeb(a.url) || a.picture })
		out.anchor += len(anchors)
		if k == 0 {
			out.ids = ids
		}
		marks := 0
		anchors = slices.DeleteFunc(anchors, func(a anchor) bool { // a number that is a link cites
			is := a.start >= rest && isNumber(strings.Trim(line.text[a.start:a.end], "[]()^【】 "))
			marks += codec.Flag(is)
			return is
		})
		for _, m := range anotherID().FindAllStringIndex(line.text, 20) {
			if m[0] >= rest && !inLink(line, m[0], m[1]) {
				marks++
			}
		}
		text := titleOf(line, rest, anchors)
		words, beside := page.CountWords(text), line.text[rest:]
		for i := len(anchors) - 1; i >= 0; i-- {
			if a := anchors[i]; a.start >= rest {
				beside = beside[:a.start-rest] + beside[a.end-rest:]
			}
		}
		after := len(anchors)
		for after > 0 && anchors[len(anchors)-after].start < rest {
			after--
		}
		switch {
		case marks > after || words > entryWords:
		case after > 0:
			like, named = like+1, named+1
			links += codec.Flag(page.CountWords(beside) <= linkWords)
		case len(ids) > 0, k > 0, year().MatchString(text), b.kind == item && words <= pointedWords:
			named++
		}
	}
	n := len(lines)
	out.like, out.named, out.links = n > 0 && 2*like >= n, n > 0 && 2*named > n, n > 0 && links == n && len(out.ids) == 0
	return out
}

// findList reads the list of sources out of the blocks of a report: definitions, sections
// that are called so or look so, lines that begin with an id and have a URL, and tables
// whose rows do.
func findList(blocks []block) *list {
	l := &list{byID: map[string][]int{}, in: make([]bool, len(blocks)), tables: map[int]bool{}, blocks: blocks, looks: make([]look, len(blocks))}
	for i := range blocks {
		l.looks[i] = lookAt(&blocks[i])
	}
	for i := range blocks { // an entry whose URL stands in a block of its own
		if n := &l.looks[i]; i+1 < len(blocks) && len(n.ids) > 0 && !n.like && n.named && l.looks[i+1].alone {
			n.like = true
		}
	}
	l.cited = citedIn(blocks)
	for i := 0; i < len(blocks); {
		b := &blocks[i]
		if b.kind == definition {
			l.add(b, []string{strings.Trim(b.label, "^ ")}, b.text, anchorsOf(b))
			l.in[i] = true
		} else if end := l.section(i); end > i {
			l.take(i, end)
			i = end
			continue
		} else {
			l.in[i] = l.outside(i)
		}
		i++
	}
	l.runs()
	l.index()
	return l
}

// take reads the entries of a section, whose title stands first.
func (l *list) take(from, to int) {
	l.fresh = true
	for i := from; i < to; i++ {
		l.in[i] = true
		b := &l.blocks[i]
		if b.kind == heading || b.kind == headerRow {
			continue
		}
		if lines := b.lines(); i == from {
			for k := range lines[1:] {
				l.line(&lines[k+1], k == 0)
			}
			continue
		}
		l.block(b)
	}
}

// mostApart is how many blocks that look like no entry stand between two of a list.
const mostApart = 6

// section is where the section ends that begins with a block, if it is a list of sources;
// else 0.
func (l *list) section(i int) int {
	b := &l.blocks[i]
	if i == 0 || b.kind != heading && b.kind != paragraph { // no report begins with its sources
		return 0
	}
	first, more, _ := strings.Cut(b.text, "\n")
	end := i + 1
	for end < len(l.blocks) && (l.blocks[end].kind != heading || b.kind == heading && l.blocks[end].level > b.level) {
		end++
	}
	if isTitle(first) {
		last := i
		if more != "" { // entries go on in the paragraph of the title
			last++
		}
		for k := i + 1; k < end && k-last <= mostApart; k++ {
			if l.looks[k].named || l.looks[k].like || l.looks[k].alone {
				last = k + 1
			}
		}
		if more != "" && !l.begins(b) {
			return 0
		}
		if last > i {
			return last
		}
		return 0
	}
	if b.kind != heading {
		return 0
	}
	all, like, links, known := 0, 0, 0, 0
	for k := i + 1; k < end; k++ {
		if n := &l.looks[k]; !n.alone && l.blocks[k].kind != headerRow && l.blocks[k].kind != heading {
			all++
			like += codec.Flag(n.like)
			links += codec.Flag(n.links)
			known += codec.Flag(l.cites(n.ids))
		}
	}
	switch {
	case like < 2:
	case namesSources(first) && 3*like >= 2*all && (known > 0 || 3*links >= 2*all),
		like == all && 2*known >= all,
		like == all && links == all && all > 2 && end == len(l.blocks) && len(l.cited) > 0:
		return end
	}
	return 0
}

// begins reports whether the second line of a paragraph begins an entry.
func (l *list) begins(b *block) bool {
	lines := b.lines()
	if len(lines) < 2 {
		return false
	}
	n := lookAt(&lines[1])
	return n.like || len(n.ids) > 0 || n.alone
}

// cites reports whether the text cites one of some ids that no entry has.
func (l *list) cites(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return l.cited[id] })
}

// outside reads a block that stands in no section of sources, and reports whether it is
// part of a list all the same.
func (l *list) outside(i int) bool {
	b := &l.blocks[i]
	if b.kind == row || b.kind == headerRow {
		return l.table(i)
	}
	lines := b.lines()
	prefixed := false
	if len(lines) == 0 || b.kind == heading {
		return false
	}
	if m := idAndURL().FindAllStringIndex(b.text, 2); len(m) > 0 && i > 0 { // a list that was set as one paragraph
		head, tail := b.part(0, m[0][0]), b.part(m[0][0], len(b.text))
		goesOn := l.in[i-1] && len(l.looks[i].ids) == 0
		label := strings.TrimRight(head.text, " :：")
		if goesOn || len(m) > 1 && (label == "" || label != strings.TrimRight(head.text, " ") && page.CountWords(label) <= linkWords) {
			if goesOn {
				l.line(&head, false)
			}
			l.line(&tail, true)
			return true
		}
	}
	if at := strings.IndexAny(lines[0].text, ":："); at >= 0 && isTitle(lines[0].text[:at]) {
		_, size := utf8.DecodeRuneInString(lines[0].text[at:])
		rest := lines[0].part(at+size, len(lines[0].text))
		if strings.TrimSpace(rest.text) == "" {
			return false
		}
		lines[0], prefixed = rest, true
	}
	for k := range lines {
		line := &lines[k]
		ids, rest := leadingIDs(line)
		anchors := len(anchorsOf(line))
		next := k+1 < len(lines) && isURL(strings.TrimSpace(lines[k+1].text)) || k == len(lines)-1 && i+1 < len(l.blocks) && l.looks[i+1].alone
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(line.text, " "))
		footnote := strings.HasPrefix(line.text, "[^") && strings.Contains(line.text[:min(len(line.text), rest+1)], ":")
		switch {
		case len(ids) == 0 && k > 0 && (isURL(strings.TrimSpace(line.text)) || strings.HasPrefix(lines[0].text, "[^")):
		case len(ids) == 0 && k == 0 && l.looks[i].alone && i > 0 && l.in[i-1]:
		case len(ids) == 0, !prefixed && !strings.ContainsRune("[【［", r):
			return false
		case footnote, next:
		case anchors == 0, !prefixed && !l.looks[i].like:
			return false
		}
	}
	for k := range lines {
		l.line(&lines[k], k == 0)
	}
	return true
}

var idAndURL = pattern(`[\[【［]\^?\d{1,4}\^?[\]】］][.:]?\s*https?://`)

// table reads a row of a table, each of whose rows begins with an id that the text cites
// and has a URL.
func (l *list) table(i int) bool {
	b := &l.blocks[i]
	is, known := l.tables[b.table]
	if !known {
		rows, cited := 0, 0
		is = true
		for k := i; k < len(l.blocks) && l.blocks[k].table == b.table && is; k++ {
			if l.blocks[k].kind == row {
				is = len(l.looks[k].ids) > 0 && l.looks[k].anchor == 1
				cited += codec.Flag(l.cites(l.looks[k].ids))
				rows++
			}
		}
		is = is && rows > 0 && 2*cited >= rows
		l.tables[b.table] = is
	}
	if is && b.kind == row {
		l.block(b)
	}
	return is
}

// runs reads what is called nothing: blocks in a row that begin with ids which the text
// cites and have a link each, or, of a report without a list, that end it.
func (l *list) runs() {
	known := map[string]bool{}
	for i := range l.entries {
		for _, id := range l.entries[i].IDs {
			known[id] = true
		}
	}
	ends := len(l.entries) == 0
	for from := 1; from < len(l.blocks); from++ {
		to, entries, cited := from, 0, 0
		for ; to < len(l.blocks) && !l.in[to] && l.looks[to].like && (len(l.looks[to].ids) > 0 || to > from && l.looks[to].alone); to++ {
			entries += codec.Flag(len(l.looks[to].ids) > 0)
			cited += codec.Flag(slices.ContainsFunc(l.looks[to].ids, func(id string) bool { return l.cited[id] && !known[id] }))
		}
		if entries >= 2 && (2*cited >= entries || ends && to == len(l.blocks)) {
			l.fresh = true
			for i := from; i < to; i++ {
				l.in[i] = true
				l.block(&l.blocks[i])
			}
		}
		from = max(from, to)
	}
}

// block reads the entries of a block.
func (l *list) block(b *block) {
	lines := b.lines()
	for k := range lines {
		l.line(&lines[k], k == 0)
	}
}

var bareIDs = pattern(`[.!?。！？؟”"»)）]\s?(\d{1,3}(?:\s?[,，]\s?\d{1,3}){0,9})(?:\s|$)`)

// citedIn are the numbers that a text seems to cite: in brackets, raised, or right behind a
// full stop.
func citedIn(blocks []block) map[string]bool {
	out := map[string]bool{}
	take := func(text string) {
		for _, id := range numbers(strings.Trim(text, "[]()^ ")) {
			out[id] = true
		}
	}
	for i := range blocks {
		b := &blocks[i]
		_, rest := leadingIDs(b)
		for at := rest; at < len(b.text); {
			n := strings.IndexAny(b.text[at:], "[【［〔")
			if n < 0 {
				break
			}
			inside, end := idsIn(b.text[at+n:])
			inside, _, _ = strings.Cut(inside, "†")
			take(inside)
			at += n + max(end, 1)
		}
		for _, m := range bareIDs().FindAllStringSubmatch(b.text, -1) {
			take(m[1])
		}
		for _, s := range b.raised {
			take(b.text[s.start:s.end])
		}
		for run := range strings.FieldsFuncSeq(b.text, func(r rune) bool { return !strings.ContainsRune(page.RaisedDigits, r) }) {
			out[lowered(run)] = true
		}
	}
	return out
}

// notMatched says that a report seems to have a list of sources that was not understood:
// citations without an entry, and lines with links that are part of no list. It is empty
// where there is none.
func (d *Document) notMatched(l *list) string {
	lost, above := 0, ""
	for i := range d.Citations {
		lost += codec.Flag(len(d.Citations[i].URLs) == 0)
	}
	if lost == 0 && len(d.Citations) == 0 {
		lost = len(l.cited)
	}
	most, title := 0, ""
	count := 0
	for i := range l.blocks {
		b := &l.blocks[i]
		if b.kind == paragraph && l.looks[i].anchor == 0 && isLabel(b.text) || b.kind == heading {
			count, above = 0, page.TidySpace(b.text)
		}
		if n := &l.looks[i]; n.anchor > 0 && (n.like || n.named || n.alone) && n.ids != nil || n.links {
			if count += len(strings.Split(b.text, "\n")); count > most {
				most, title = count, above
			}
		}
	}
	if lost < 2 || most < 2 || 4*lost < len(d.Citations) {
		return ""
	}
	if title != "" {
		title = " under " + page.CutBytes(title, 80)
	}
	return fmt.Sprintf("%d citations have no entry; %d lines with links%s look like a list of sources that was not understood", lost, most, title)
}

var numbering = pattern(`^(?:\d{1,2}(?:\.\d{1,2})*[.)、．]?|[ivxIVX]{1,5}[.)]|[一二三四五六七八九十]{1,3}[、.．])\s*`)

// isTitle reports whether a text is the title of a list of sources.
func isTitle(text string) bool {
	if len(text) > 120 {
		return false
	}
	clean := func(s string) string {
		return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	}
	text = strings.ToLower(clean(text))
	return titles()[text] || titles()[clean(numbering().ReplaceAllString(text, ""))]
}

// namesSources reports whether a title has a word for sources in it.
func namesSources(text string) bool {
	text = fold(text)
	if page.CountWords(text) > 8 {
		return false
	}
	if slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }), func(word string) bool { return titles()[word] }) {
		return true
	}
	for title := range titles() {
		if r, _ := utf8.DecodeRuneInString(title); page.IsDense(r) && strings.Contains(text, title) {
			return true
		}
	}
	return false
}
