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

// leadID is an id at the beginning of an entry.
var leadID = pattern(`^\s*(?:[\[【［〔]{1,2}\^?\s*(\d{1,4}|[\pL\pN_.:-]{1,40})\s*(?:†[^\]】]{0,80})?\^?[\]】］〕]{1,2}[:：.]?|(\d{1,4})\s?(?:[.)、．]|[:：](?:\s|$)|\s*\|)|([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))`)

// leadingIDs are the ids with which a line begins, and where the rest of it begins.
func leadingIDs(b *block) (ids []string, rest int) {
	for rest < len(b.text) {
		if id, end := linkedID(b, rest); end > 0 {
			ids, rest = append(ids, id), end
			continue
		}
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
			if end := rest + m[1]; end < len(b.text) && unicode.IsDigit(rune(b.text[end])) || year().MatchString(id) {
				return ids, rest // 3.5 percent, or a year
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

// linkedID is an id at a place that leads to the page of its entry: the whole of a link.
func linkedID(b *block, at int) (id string, end int) {
	from := at + len(b.text[at:]) - len(strings.TrimLeft(b.text[at:], " "))
	i := sort.Search(len(b.links), func(i int) bool { return b.links[i].start >= from })
	if i == len(b.links) || b.links[i].start != from || !isWeb(b.links[i].url) {
		return "", 0
	}
	text := b.text[from:b.links[i].end]
	if id = strings.Trim(text, "[]【】［］ "); id == text || !isNumber(id) {
		return "", 0
	}
	return id, b.links[i].end
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

// entry reads a line that has one entry, or goes on with the last one. First says that it
// is the first line of its block.
func (l *list) entry(b *block, first bool) {
	anchors := anchorsOf(b)
	ids, rest := leadingIDs(b)
	n := len(l.entries) - 1
	if len(ids) == 0 && n >= 0 && !l.fresh {
		e, alone := &l.entries[n], isURL(strings.TrimSpace(b.text))
		switch {
		case alone && len(anchors) == 1 && slices.Contains(e.URLs, anchors[0].url):
			return // said twice
		case len(e.URLs) == 0 && (!first || alone || b.kind == paragraph && len(anchors) > 0 && len(e.IDs) > 0),
			!first && len(anchors) == 0 && len(e.IDs) > 0:
			e.URLs = append(e.URLs, webURLs(anchors)...)
			e.describe(strings.TrimSpace(e.Title + " " + titleOf(b, 0, anchors)))
			return
		}
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

// cutCJK ends a URL where text in another script follows it without a blank. A word in it
// behind a slash, and before a blank, is part of the address.
func cutCJK(text string, u link.Span) link.Span {
	for i, r := range text[u.Start:u.End] {
		if page.IsDense(r) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff5e || strings.ContainsRune("”’»›↩", r) {
			if before := text[u.Start+i-1]; (before == '/' || before == '=') && !strings.ContainsFunc(text[u.Start+i:u.End], notInWord) {
				return u
			}
			u.End = u.Start + i
			break
		}
	}
	return u
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-()%", r)
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
