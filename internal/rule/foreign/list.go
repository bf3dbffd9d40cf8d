package foreign

import (
	"embed"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
)

//go:embed lists
var lists embed.FS

// Entry is one of a report's list of sources.
type Entry struct {
	Line  int
	IDs   []string // by which the text cites it; none in a bibliography
	URLs  []string
	Title string

	named string // how it begins, as authors are compared
	years []string
}

// maxURLs is how many URLs of one entry are taken: one that has more names no source.
const maxURLs = 20

// titles are what reports call their list of sources.
var titles = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, e := range page.List(lists, "lists/titles.txt") {
		set[e.Text] = true
	}
	return set
})

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

// list is the list of sources as far as it was read.
type list struct {
	entries []Entry
	byID    map[string][]int
	in      []bool       // by block: it is part of the list
	fresh   bool         // the section has no entry yet
	tables  map[int]bool // those that were looked at, and whether they are the list
}

// findList reads the list of sources out of the blocks of a report: the sections that
// are called so, definitions, lines that begin with an id and have a URL, and tables
// whose rows do.
func findList(blocks []block) *list {
	l := &list{byID: map[string][]int{}, in: make([]bool, len(blocks)), tables: map[int]bool{}}
	level := 0 // of the heading of the section that is open
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.kind == definition:
			l.add(b, []string{strings.Trim(b.label, "^ ")}, b.text, anchorsOf(b))
			l.in[i] = true
		case i > 0 && (b.kind == heading || b.kind == paragraph) && isTitle(b.text): // no report begins with its sources
			level, l.fresh = 7, true
			if b.kind == heading {
				level = b.level
			}
			l.in[i] = true
		case b.kind == heading:
			if level > 0 && b.level > level && !l.fresh {
				l.in[i] = true
			} else if b.level <= level {
				level = 0
			}
		case level > 0:
			l.in[i] = true
			if b.kind != headerRow {
				l.block(b)
			}
		default:
			l.in[i] = l.outside(blocks, i)
		}
	}
	if len(l.entries) == 0 {
		l.trailing(blocks)
	}
	l.index()
	return l
}

// outside reads a block that stands in no section of sources, and reports whether it is
// part of a list all the same.
func (l *list) outside(blocks []block, i int) bool {
	b := &blocks[i]
	if b.kind == row || b.kind == headerRow {
		return l.table(blocks, i)
	}
	lines := b.lines()
	prefixed := false
	if head, _, found := strings.Cut(lines0(lines), ":"); found && isTitle(head) && len(lines) > 0 {
		rest := lines[0].part(len(head)+1, len(lines[0].text))
		if strings.TrimSpace(rest.text) == "" {
			lines = lines[1:]
		} else {
			lines[0] = rest
		}
		prefixed = true
	}
	if len(lines) == 0 {
		return false
	}
	for k := range lines {
		ids, rest := leadingIDs(&lines[k])
		if len(ids) == 0 || lines[k].text[0] != '[' && !strings.HasPrefix(lines[k].text, "【") && !strings.HasPrefix(lines[k].text, "［") && !prefixed {
			if k > 0 && isURL(strings.TrimSpace(lines[k].text)) {
				continue
			}
			return false
		}
		footnote := strings.HasPrefix(lines[k].text, "[^") && strings.Contains(lines[k].text[:min(len(lines[k].text), rest+1)], ":")
		next := k+1 < len(lines) && isURL(strings.TrimSpace(lines[k+1].text))
		if !footnote && !next && len(anchorsOf(&lines[k])) == 0 {
			return false
		}
	}
	for k := range lines {
		l.line(&lines[k], k == 0)
	}
	return true
}

func lines0(lines []block) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0].text
}

// table reads a row of a table, each of whose rows begins with an id and has a URL.
func (l *list) table(blocks []block, i int) bool {
	b := &blocks[i]
	is, known := l.tables[b.table]
	if !known {
		rows := 0
		is = true
		for k := i; k < len(blocks) && blocks[k].table == b.table && is; k++ {
			if blocks[k].kind == row {
				ids, _ := leadingIDs(&blocks[k])
				is = len(ids) > 0 && len(anchorsOf(&blocks[k])) == 1
				rows++
			}
		}
		is = is && rows > 0
		l.tables[b.table] = is
	}
	if is && b.kind == row {
		l.block(b)
	}
	return is
}

// trailing reads a numbered list with a URL in every item at the end of a report that
// calls it nothing.
func (l *list) trailing(blocks []block) {
	from := len(blocks)
	for from > 0 {
		b := &blocks[from-1]
		if ids, _ := leadingIDs(b); len(ids) == 0 || len(anchorsOf(b)) != 1 || page.CountWords(b.text) > 40 {
			break
		}
		from--
	}
	if len(blocks)-from < 2 || from == 0 {
		return
	}
	for i := from; i < len(blocks); i++ {
		l.in[i] = true
		l.block(&blocks[i])
	}
}

// block reads the entries of a block.
func (l *list) block(b *block) {
	lines := b.lines()
	for k := range lines {
		l.line(&lines[k], k == 0)
	}
}

// leadID is an id at the beginning of an entry.
var leadID = pattern(`^\s*(?:[\[【［〔]{1,2}\^?\s*(\d{1,4}|[\pL\pN_.:-]{1,40})\s*(?:†[^\]】]{0,80})?\^?[\]】］〕]{1,2}[:：.]?|(\d{1,4})\s?(?:[.)、．]|[:：](?:\s|$)|\s*\|)|([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))`)

// leadingIDs are the ids with which a line begins, and where the rest of it begins.
func leadingIDs(b *block) (ids []string, rest int) {
	for rest < len(b.text) {
		m := leadID().FindStringSubmatchIndex(b.text[rest:])
		if m == nil || inLink(b, rest+m[0], rest+m[1]) || len(ids) > 0 && m[2] < 0 {
			break
		}
		var id string
		switch {
		case m[2] >= 0:
			id = b.text[rest+m[2] : rest+m[3]]
			if !isNumber(id) && !strings.Contains(b.text[rest:rest+m[1]], "^") {
				return ids, rest
			}
		case m[4] >= 0:
			id = b.text[rest+m[4] : rest+m[5]]
			if end := rest + m[1]; end < len(b.text) && unicode.IsDigit(rune(b.text[end])) {
				return ids, rest // 3.5 percent
			}
		default:
			id = lowered(b.text[rest+m[6] : rest+m[7]])
		}
		ids = append(ids, strings.TrimLeft(id, "0"))
		rest += m[1]
		if len(ids) >= maxURLs {
			break
		}
	}
	if len(ids) == 0 && len(b.raised) > 0 && b.raised[0].start == 0 {
		if id := strings.Trim(b.text[:b.raised[0].end], "[] "); isNumber(id) {
			return []string{id}, b.raised[0].end
		}
	}
	if len(ids) == 0 && len(b.links) > 0 && b.links[0].start == 0 && strings.HasPrefix(b.links[0].url, "#") {
		if id := strings.Trim(b.text[:b.links[0].end], "[]^. "); isNumber(id) {
			return []string{id}, b.links[0].end
		}
	}
	if len(ids) == 0 && b.number > 0 {
		return []string{strconv.Itoa(b.number)}, 0
	}
	return ids, rest
}

func inLink(b *block, from, to int) bool {
	i := sort.Search(len(b.links), func(i int) bool { return b.links[i].end > from })
	return i < len(b.links) && b.links[i].start < to && !strings.HasPrefix(b.links[i].url, "#")
}

func isNumber(s string) bool {
	if s == "" || len(s) > 4 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// lowered is raised digits as others.
func lowered(s string) string {
	var out strings.Builder
	for _, r := range s {
		if n := strings.IndexRune(page.RaisedDigits, r); n >= 0 {
			n = len([]rune(page.RaisedDigits[:n]))
			out.WriteByte(byte('0' + n))
		}
	}
	return out.String()
}

// anotherID is an id in the middle of a line, behind the URL of the entry before it.
var anotherID = pattern(`[\[【［]\^?\d{1,4}\^?[\]】］]`)

// line reads a line of the list: one entry, several, or what is left of one that began
// on a line above.
func (l *list) line(b *block, first bool) {
	anchors := anchorsOf(b)
	if ids, _ := leadingIDs(b); len(ids) > 0 && len(anchors) > 0 {
		from, next := 0, 0
		for _, m := range anotherID().FindAllStringIndex(b.text, -1) {
			seen := false // a URL of the entry that is open
			for next < len(anchors) && anchors[next].end <= m[0] {
				seen = seen || anchors[next].start >= from
				next++
			}
			if seen && !inLink(b, m[0], m[1]) {
				head := b.part(from, m[0])
				if from > 0 {
					head.number = 0
				}
				l.entry(&head, first)
				from, first = m[0], true
			}
		}
		if from > 0 {
			tail := b.part(from, len(b.text))
			tail.number = 0
			l.entry(&tail, true)
			return
		}
	}
	l.entry(b, first)
}

// entry reads a line that has one entry, or goes on with the last one.
func (l *list) entry(b *block, first bool) {
	anchors := anchorsOf(b)
	ids, rest := leadingIDs(b)
	if n := len(l.entries) - 1; len(ids) == 0 && n >= 0 && !l.fresh && (!first || isURL(strings.TrimSpace(b.text)) || b.kind == paragraph && len(anchors) > 0 && len(l.entries[n].IDs) > 0) && len(l.entries[n].URLs) == 0 {
		e := &l.entries[n]
		e.URLs = webURLs(anchors)
		e.describe(strings.TrimSpace(e.Title + " " + titleOf(b, 0, anchors)))
		return
	}
	if strings.TrimSpace(b.text[rest:]) == "" && len(anchors) == 0 && len(ids) == 0 {
		return
	}
	l.add(b, ids, titleOf(b, rest, anchors), anchors)
}

func (l *list) add(b *block, ids []string, title string, anchors []anchor) {
	e := Entry{Line: b.lineAt(0), IDs: ids, URLs: webURLs(anchors)}
	e.describe(title)
	l.entries = append(l.entries, e)
	l.fresh = false
}

// describe takes a title, and by it what authors and years it may be cited by.
func (e *Entry) describe(title string) {
	e.Title = page.CutBytes(title, 400)
	e.named = fold(page.CutBytes(e.Title, 160))
	e.years = year().FindAllString(e.Title, 6)
}

var year = pattern(`\b(?:19|20)\d\d[a-z]?\b`)

func fold(s string) string { return strings.ToLower(s) }

// accessed is what follows a title and says when somebody looked at it.
var accessed = pattern(`(?i)[,.;(]?\s*(?:last )?(?:accessed|retrieved|abgerufen|zugriff|accès|consultado|访问(?:日期|时间)?|تاريخ (?:الاطلاع|الوصول)|تم الوصول)\b.*$`)

// titleOf is what an entry calls its source: its text without ids, URLs and dates of
// access.
func titleOf(b *block, rest int, anchors []anchor) string {
	var out strings.Builder
	at := rest
	for _, a := range anchors {
		if a.start < at {
			continue
		}
		out.WriteString(b.text[at:a.start])
		at = a.start
		if text := b.text[a.start:a.end]; a.bare || isURL(text) || strings.HasPrefix(text, "www.") {
			out.WriteByte(' ')
			at = a.end
		}
	}
	out.WriteString(b.text[at:])
	title := page.TidySpace(strings.ReplaceAll(out.String(), cellMark, " "))
	title = accessed().ReplaceAllString(title, "")
	return strings.Trim(title, " \t-–—:：,，.。|()（）<>[]*\"“”«»·↩︎^")
}

// index makes the entries findable by their ids. Where none has one, and none of them
// names a year as a bibliography does, they are cited by their place.
func (l *list) index() {
	numbered := slices.ContainsFunc(l.entries, func(e Entry) bool { return len(e.IDs) > 0 })
	for i := range l.entries {
		if !numbered && len(l.entries[i].URLs) > 0 {
			l.byID[strconv.Itoa(i+1)] = append(l.byID[strconv.Itoa(i+1)], i)
		}
		for _, id := range l.entries[i].IDs {
			l.byID[id] = append(l.byID[id], i)
		}
	}
}

func (l *list) has(id string) bool { return len(l.byID[id]) > 0 }

// urls are where ids lead, each URL once.
func (l *list) urls(ids []string) []string {
	urls := []string{}
	for _, id := range ids {
		for _, i := range l.byID[id] {
			for _, url := range l.entries[i].URLs {
				if len(urls) == maxURLs {
					return urls
				}
				if !slices.Contains(urls, url) {
					urls = append(urls, url)
				}
			}
		}
	}
	return urls
}

var doi = pattern(`(?i)\b(?:doi:?\s*)?(10\.\d{4,9}/[^\s"<>|，。；、]{1,300})`)

// anchorsOf are the links of a block, with the URLs and DOIs that stand in its text, in
// order. None overlaps another.
func anchorsOf(b *block) []anchor {
	out := slices.Clone(b.links)
	free := func(s span) bool {
		i := sort.Search(len(b.links), func(i int) bool { return b.links[i].end > s.start })
		k := sort.Search(len(b.code), func(k int) bool { return b.code[k].end > s.start })
		return (i == len(b.links) || b.links[i].start >= s.end) && (k == len(b.code) || b.code[k].start >= s.end)
	}
	text := []byte(b.text)
	found := link.FindURLs(text)
	var raw []anchor
	for at := 0; ; {
		u, ok := found.Next(at)
		if !ok {
			break
		}
		s := link.TrimURL(text, cutCJK(b.text, u))
		at = max(u.Start+1, s.End)
		url := b.text[s.Start:s.End]
		if strings.HasPrefix(strings.ToLower(url), "www.") {
			url = "https://" + url
		}
		if isWeb(url) && free(span{s.Start, s.End}) {
			raw = append(raw, anchor{span: span{s.Start, s.End}, url: url, bare: true})
		}
	}
	urls := raw
	for _, m := range doi().FindAllStringSubmatchIndex(b.text, -1) {
		s := link.Span{Start: m[2], End: m[2] + len(trimDOI(b.text[m[2]:m[3]]))}
		i := sort.Search(len(urls), func(i int) bool { return urls[i].end > m[0] })
		if (i == len(urls) || urls[i].start >= m[1]) && free(span{m[0], s.End}) {
			raw = append(raw, anchor{span: span{m[0], s.End}, url: "https://doi.org/" + b.text[s.Start:s.End], bare: true, doi: true})
		}
	}
	if len(raw) == 0 {
		return out
	}
	out = append(out, raw...)
	slices.SortStableFunc(out, func(a, b anchor) int { return a.start - b.start })
	return out
}

// trimDOI takes the marks off the end of a DOI that belong to the sentence.
func trimDOI(doi string) string {
	for {
		kept := strings.TrimRight(doi, ".,;:!?*_'”’»")
		if last := len(kept) - 1; last >= 0 && (kept[last] == ')' && strings.Count(kept, "(") < strings.Count(kept, ")") || kept[last] == ']') {
			kept = kept[:last]
		}
		if kept == doi {
			return doi
		}
		doi = kept
	}
}

// cutCJK ends a URL where text in another script follows it without a blank.
func cutCJK(text string, u link.Span) link.Span {
	for i, r := range text[u.Start:u.End] {
		if page.IsDense(r) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff5e || strings.ContainsRune("”’»›", r) {
			u.End = u.Start + i
			break
		}
	}
	return u
}

func isWeb(url string) bool {
	lower := strings.ToLower(page.CutBytes(url, 8))
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// webURLs are the URLs of links that lead to the web, each once.
func webURLs(anchors []anchor) []string {
	urls := []string{}
	for _, a := range anchors {
		if isWeb(a.url) && !a.picture && !slices.Contains(urls, a.url) && len(urls) < maxURLs {
			urls = append(urls, a.url)
		}
	}
	return urls
}
