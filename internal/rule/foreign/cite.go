package foreign

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Citation is a mark in the text that leads to sources.
type Citation struct {
	Line int      `json:"line"`
	Text string   `json:"text" jsonschema:"the mark as the report has it"`
	IDs  []string `json:"ids" jsonschema:"of the entries that it names"`
	URLs []string `json:"urls" jsonschema:"where it leads; empty where no entry has its ids"`

	style Style
	at    int // in the text without marks
}

// Style is a way to cite.
type Style string

// The styles.
const (
	Numbered   Style = "[1]"
	Linked     Style = "[text](url)"
	NumberLink Style = "[1](url)"
	Footnote   Style = "[^1]"
	Lenticular Style = "【1】"
	Raised     Style = "superscript"
	BareNumber Style = "number behind the full stop"
	AuthorYear Style = "(Author, year)"
	PlainURL   Style = "URL"
	PlainDOI   Style = "DOI"
)

// citer takes the marks out of a block.
type citer struct {
	list *list
	bare bool // a number behind a full stop can be a mark

	brackets bool // the body cites entries by numbers in brackets
	b        *block
	anchors  []anchor
	out      []byte
	starts   []start
	cites    []Citation
	marked   bool // the last thing was a mark
	sums     []sum

	compared int // authors with entries, in the whole report
}

// sum is a calculation as reports of our own show one.
type sum struct {
	at   int // in the text without marks
	text string
}

// read reads the marks of a block. What is left is its text.
func (c *citer) read(b *block) (clean block, cites []Citation) {
	c.b, c.anchors = b, anchorsOf(b)
	c.out, c.starts, c.cites, c.marked, c.sums = nil, nil, nil, false, nil
	next, code, raised := 0, 0, 0
	for i := 0; (i < len(b.text) || next < len(c.anchors)) && len(c.cites) <= maxMarks; {
		for code < len(b.code) && b.code[code].end <= i {
			code++
		}
		for raised < len(b.raised) && b.raised[raised].end <= i {
			raised++
		}
		for next < len(c.anchors) && c.anchors[next].start < i {
			next++
		}
		if next < len(c.anchors) && c.anchors[next].start == i {
			a := c.anchors[next]
			next++
			c.anchor(a, next)
			i = a.end
			continue
		}
		if i >= len(b.text) {
			break
		}
		if code < len(b.code) && b.code[code].start == i {
			c.write(b.text[i:b.code[code].end], i)
			i = b.code[code].end
			continue
		}
		limit := len(b.text) // no mark reaches into a link
		if next < len(c.anchors) {
			limit = c.anchors[next].start
		}
		if end := c.mark(i, limit, next, raised); end > i {
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(b.text[i:])
		if !c.marked || !strings.ContainsRune(",; ", r) || raised == len(b.raised) || b.raised[raised].start > i {
			c.write(b.text[i:i+size], i) // what parts raised marks goes with them
		}
		i += size
	}
	clean = *b
	clean.text, clean.starts, clean.links = string(c.out), c.starts, nil
	return clean, c.cites
}

// write adds text that is no mark.
func (c *citer) write(text string, from int) {
	r, _ := utf8.DecodeRuneInString(text)
	last := c.last()
	if text == "\n" {
		if page.IsDense(last) {
			return
		}
		text = " "
	}
	if c.marked && text != " " {
		c.marked = false
		switch {
		case strings.ContainsRune(".,;:!?)]。，；：！？）】、", r):
			c.trim()
		case last != ' ' && last != 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r):
			c.out = append(c.out, ' ')
		}
	}
	if text == " " && (last == ' ' || last == 0) {
		return
	}
	if line := c.b.lineAt(from); len(c.starts) == 0 || c.starts[len(c.starts)-1].line != line {
		c.starts = append(c.starts, start{len(c.out), line})
	}
	c.out = append(c.out, text...)
}

// last is the last character of the text, 0 where there is none.
func (c *citer) last() rune {
	if len(c.out) == 0 {
		return 0
	}
	r, _ := utf8.DecodeLastRune(c.out)
	return r
}

// trim takes the blanks off the end of the text.
func (c *citer) trim() {
	c.out = bytes.TrimRight(c.out, " ")
}

// tail is the end of the text, without blanks behind it.
func (c *citer) tail() string {
	out := bytes.TrimRight(c.out, " ")
	return strings.ToValidUTF8(string(out[max(0, len(out)-200):]), "")
}

// cite adds a mark.
func (c *citer) cite(from, to int, style Style, ids, urls []string) {
	if ids == nil {
		ids = []string{}
	}
	at := len(bytes.TrimRight(c.out, " "))
	c.cites = append(c.cites, Citation{Line: c.b.lineAt(from), Text: page.CutBytes(c.b.text[from:to], 300), IDs: ids, URLs: urls, style: style, at: at})
	c.marked = true
}

// lead is what mark a link is: a URL or DOI, a number that leads to an entry or to a
// page, or a text that leads to a page. The style is empty where it leads to nothing that
// can be cited.
func (c *citer) lead(a anchor) (style Style, ids, urls []string) {
	text := c.b.text[a.start:a.end]
	id := strings.Trim(text, "[]()^【】 ")
	switch {
	case a.doi:
		return PlainDOI, nil, []string{a.url}
	case a.bare:
		return PlainURL, nil, []string{a.url}
	case strings.HasPrefix(a.url, "#") && (isNumber(id) || strings.HasPrefix(text, "^")):
		return Footnote, []string{id}, c.list.urls([]string{id})
	case strings.HasPrefix(a.url, "#") && c.list.has(lowered(text)):
		return Footnote, []string{lowered(text)}, c.list.urls([]string{lowered(text)})
	case !isWeb(a.url):
		return "", nil, nil
	case strings.HasPrefix(text, "^"):
		return Footnote, []string{id}, []string{a.url}
	}
	if ids = numbers(id); ids == nil && isNumber(lowered(text)) {
		ids = []string{lowered(text)}
	}
	if ids != nil {
		return NumberLink, ids, []string{a.url}
	}
	return Linked, nil, []string{a.url}
}

// anchor reads a link, or a URL that stands in the text. After is the index of the next
// one.
func (c *citer) anchor(a anchor, after int) {
	text := c.b.text[a.start:a.end]
	style, ids, urls := c.lead(a)
	if a.picture || style == "" {
		if !a.picture && (!strings.HasPrefix(a.url, "#") || !strings.ContainsAny(text, "↩↑")) {
			c.write(text, a.start)
		}
		return
	}
	said := style == Linked && !a.chip && strings.Trim(text, "[]()^【】 ") != "" && !isURL(text) && !namesHost(text, a.url) && !c.attributes(a, after)
	if said { // by the sentence, too
		c.write(text, a.start)
	}
	c.cite(a.start, a.end, style, ids, urls)
	c.marked = !said
}

// namesHost reports whether a link shows nothing but the site that it leads to.
func namesHost(text, to string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	shown, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "+")
	shown = strings.TrimPrefix(strings.TrimSpace(shown), "www.")
	return shown != "" && (shown == host || strings.Contains(shown, ".") && !strings.Contains(shown, " ") && strings.HasSuffix(host, shown) ||
		!strings.Contains(shown, " ") && len(shown) > 2 && slices.Contains(strings.Split(host, "."), shown) && strings.Contains(text, "+"))
}

var attribution = pattern(`(?i)(?:sources?|via|quellen?|来源|资料来源|المصدر|مصدر)\s*[:：]?\s*$|[—–-]\s*$`)

// attributes reports whether a link stands behind a sentence and is no part of one: it
// follows a full stop, or a word for source, and nothing but links follows it.
func (c *citer) attributes(a anchor, after int) bool {
	before := c.tail()
	last, _ := utf8.DecodeLastRuneInString(before)
	if !strings.ContainsRune(".!?。！？؟|·", last) && !attribution().MatchString(strings.ToValidUTF8(before[max(0, len(before)-40):], "")) && !c.marked || before == "" {
		return false
	}
	rest := a.end
	for most := after + maxURLs; after < len(c.anchors); after++ {
		if after == most {
			return false
		}
		if strings.Trim(c.b.text[rest:c.anchors[after].start], " ,;|·、\n.") != "" {
			return false
		}
		rest = c.anchors[after].end
	}
	return strings.Trim(c.b.text[rest:], " .\n") == ""
}

// pattern is a regular expression that is compiled when it is first used.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// The marks that are no links.
var (
	ours       = pattern(`^\[(?:inferred from ((?:\d{1,4}|this run)(?:, (?:\d{1,4}|this run)){0,5})|calculated: [^\]\n]{1,400})\]`)
	behind     = pattern(`^\d{1,3}(?:\s?[,，]\s?\d{1,3}){0,9}`)
	endsInYear = pattern(`(?:^|[^\d.,])(?:19|20)\d\d\.$`)
	inRound    = pattern(`^[(（]([^()（）\n]{4,240})[)）]`)
	byYear     = pattern(`^(?i:see |e\.g\.,? |cf\. |vgl\. |siehe |参见|انظر )?\s*(\p{Lu}[^\d,，;]{1,80}|[\p{Han}\p{Arabic}][^\d,，;]{0,80}?)\s*[,，、]?\s*((?:19|20)\d\d[a-z]?)(?:\s*[,，:：].{0,60})?$`)
)

// mark reads a mark at a place, and says where it ends; 0 where there is none.
func (c *citer) mark(i, limit, next, raised int) int {
	text := c.b.text[:limit]
	switch r, _ := utf8.DecodeRuneInString(text[i:]); {
	case strings.ContainsRune("([（【［", r):
		if end := c.group(i, next); end > 0 {
			return end
		}
		if r == '(' || r == '（' {
			return c.authors(i, text)
		}
		if end := c.own(i); end > 0 {
			return end
		}
		return c.bracketed(i, text)
	case r == '〔':
		return c.bracketed(i, text)
	case raised < len(c.b.raised) && c.b.raised[raised].start == i && c.b.raised[raised].end <= limit:
		s := c.b.raised[raised]
		if ids := numbers(strings.Trim(text[s.start:s.end], "[]() ")); ids != nil && c.notes(ids) {
			c.cite(i, s.end, Raised, ids, c.list.urls(ids))
			return s.end
		}
	case strings.ContainsRune(page.RaisedDigits, r):
		return c.raisedDigits(i, text)
	case c.bare && r >= '0' && r <= '9':
		return c.bareNumber(i, text)
	}
	return 0
}

// group reads brackets with nothing but links in them.
func (c *citer) group(i, next int) int {
	_, size := utf8.DecodeRuneInString(c.b.text[i:])
	at, from := i+size, len(c.cites)
	for n := next; n < len(c.anchors); n++ {
		a := c.anchors[n]
		if a.picture || !isWeb(a.url) && !strings.HasPrefix(a.url, "#") || strings.Trim(c.b.text[at:min(a.start, at+20)], " ,;，；、&|·\n") != "" || a.start > at+20 {
			return 0
		}
		at = a.end
		rest := strings.TrimLeft(c.b.text[at:], " ")
		if closing, size := utf8.DecodeRuneInString(rest); strings.ContainsRune(")]）】］", closing) {
			for _, a := range c.anchors[next : n+1] {
				if style, ids, urls := c.lead(a); style != "" {
					c.cite(a.start, a.end, style, ids, urls)
				}
			}
			if len(c.cites) == from {
				return 0
			}
			return len(c.b.text) - len(rest) + size
		}
	}
	return 0
}

// maxRange is how many ids a range has at most.
const maxRange = 40

var dashes = strings.NewReplacer("–", "-", "—", "-", "~", "-")

// numbers are the ids of a list with ranges, such as 1, 3–5; nil for anything else.
func numbers(text string) []string {
	var ids []string
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(text, "^", ""), func(r rune) bool { return strings.ContainsRune(",，、;；", r) }) {
		from, to, isRange := strings.Cut(dashes.Replace(strings.TrimSpace(part)), "-")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if !isNumber(from) || isRange && !isNumber(to) {
			return nil
		}
		first, _ := strconv.Atoi(from)
		last := first
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		if last < first || last-first >= maxRange {
			return nil
		}
		for n := first; n <= last; n++ {
			ids = append(ids, strconv.Itoa(n))
		}
	}
	return ids
}

// words that may stand before a number in brackets.
var beforeID = []string{"citations", "citation", "cite", "refs", "ref", "sources", "source", "web", "来源", "引用"}

// idsIn reads brackets with ids in them: [1], [[1]], [1, 3–5], [^1^], 【12†L3-L9】,
// [citation:1]. Inside is what stands between them; end is 0 where there is none.
func idsIn(text string) (inside string, end int) {
	at := 0
	opened := 0
	for opened < 2 {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !strings.ContainsRune("[［〔【", r) || size == 0 {
			break
		}
		at += size
		opened++
	}
	from := at
	for at < len(text) && at-from < maxInside {
		switch r, size := utf8.DecodeRuneInString(text[at:]); {
		case strings.ContainsRune("]］〕】", r):
			inside, end = text[from:at], at+size
			if r, size := utf8.DecodeRuneInString(text[end:]); opened == 2 && strings.ContainsRune("]］〕】", r) && size > 0 {
				end += size
			}
			return inside, end
		case r == '\n' || strings.ContainsRune("[［〔【", r):
			return "", 0
		default:
			at += size
		}
	}
	return "", 0
}

// maxInside is how many bytes stand in the brackets of a mark at most.
const maxInside = 200

// bracketed reads numbers or names in brackets. A number that no entry has and that
// could be a year is text.
func (c *citer) bracketed(i int, text string) int {
	inside, n := idsIn(text[i:])
	if n > 0 {
		end := i + n
		list, _, dagger := strings.Cut(inside, "†")
		list = strings.TrimSpace(list)
		for _, word := range beforeID {
			if rest, found := strings.CutPrefix(list, word); found {
				list = strings.TrimLeft(rest, ":_ ")
				break
			}
		}
		style := Numbered
		switch {
		case dagger || strings.HasPrefix(text[i:], "【"):
			style = Lenticular
		case strings.HasPrefix(inside, "^"):
			style = Footnote
		}
		if ids := numbers(list); ids != nil && !slices.ContainsFunc(ids, func(id string) bool { return len(id) == 4 && !c.list.has(id) }) {
			c.cite(i, end, style, ids, c.list.urls(ids))
			return end
		}
		if name, found := strings.CutPrefix(inside, "^"); found && isWord(name) {
			c.cite(i, end, Footnote, []string{name}, c.list.urls([]string{name}))
			return end
		}
	}
	return 0
}

// own reads a mark of our own reports, whose ids may be links.
func (c *citer) own(i int) int {
	text := c.b.text[i:min(len(c.b.text), i+500)]
	if !strings.HasPrefix(text, "[inferred from ") && !strings.HasPrefix(text, "[calculated: ") {
		return 0
	}
	m := ours().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	if m[1] == "" {
		c.sums = append(c.sums, sum{len(bytes.TrimRight(c.out, " ")), m[0]})
	} else {
		ids := slices.DeleteFunc(strings.Split(m[1], ", "), func(id string) bool { return !isNumber(id) })
		if len(ids) > 0 {
			c.cite(i, i+len(m[0]), Numbered, ids, c.list.urls(ids))
		}
	}
	c.marked = true
	return i + len(m[0])
}

// isWord reports whether a text can be the label of a footnote.
func isWord(s string) bool {
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.:-", r)
	})
}

// units are what stands before a raised digit that is no mark.
const units = " m km cm mm dm nm µm ft in yd mi s x y z n r e a b c d h i j k l p q t v w co h2 log sec kg hz px "

// notes reports whether raised ids are marks, by what stands before them: neither a
// number nor a unit or a single letter. Every id has an entry.
func (c *citer) notes(ids []string) bool {
	text := c.tail()
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return !c.list.has(id) }) {
		return false
	}
	if c.marked {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || unicode.IsDigit(last) || strings.ContainsRune("+-−×=/^⁺⁻", last) {
		return false
	}
	before := strings.TrimRightFunc(text, unicode.IsLetter)
	if strings.HasSuffix(before, "=") {
		return false
	}
	return page.IsDense(last) || !strings.Contains(units, " "+strings.ToLower(text[len(before):])+" ")
}

// raisedDigits reads raised digits: one id, or one for each digit where no entry has
// them all.
func (c *citer) raisedDigits(i int, text string) int {
	end := i
	var ids []string
	for end < len(text) {
		n := 0
		for {
			r, size := utf8.DecodeRuneInString(text[end+n:])
			if size == 0 || !strings.ContainsRune(page.RaisedDigits, r) {
				break
			}
			n += size
		}
		if n == 0 {
			break
		}
		if id := lowered(text[end : end+n]); c.list.has(id) {
			ids = append(ids, id)
		} else {
			ids = append(ids, strings.Split(id, "")...)
		}
		end += n
		if r, size := utf8.DecodeRuneInString(text[end:]); strings.ContainsRune(",˒‚⸴·", r) && end+size < len(text) {
			if after, _ := utf8.DecodeRuneInString(text[end+size:]); strings.ContainsRune(page.RaisedDigits, after) {
				end += size
			}
		}
	}
	if r, _ := utf8.DecodeRuneInString(text[end:]); strings.ContainsRune("⁺⁻⁄ⁿ", r) || c.brackets || !c.notes(ids) {
		return 0 // a charge or a power, or a report that cites otherwise
	}
	c.cite(i, end, Raised, ids, c.list.urls(ids))
	return end
}

// bareNumber reads a number that stands right behind a full stop, or alone at the end.
func (c *citer) bareNumber(i int, text string) int {
	before, apart := c.tail(), c.last() == ' '
	last, size := utf8.DecodeLastRuneInString(before)
	if size == 0 || !strings.ContainsRune(".!?。！？؟”\"»)）", last) {
		return 0
	}
	if earlier, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); last == '.' && unicode.IsDigit(earlier) && !apart && !endsInYear().MatchString(before) {
		return 0 // a decimal
	}
	m := behind().FindString(text[i:])
	ids := numbers(m)
	after, _ := utf8.DecodeRuneInString(text[i+len(m):])
	ends := strings.TrimSpace(c.b.text[i+len(m):]) == ""
	if ids == nil || slices.ContainsFunc(ids, func(id string) bool { return !c.list.has(id) }) || apart && !ends ||
		!ends && !unicode.IsSpace(after) && !unicode.IsUpper(after) && !page.IsDense(after) {
		return 0
	}
	c.cite(i, i+len(m), BareNumber, ids, c.list.urls(ids))
	return i + len(m)
}

// authors reads (Author, year), several of them, or a year behind the name of an
// author. At least one must have an entry. Where citations are numbers in brackets, such a
// name is text.
func (c *citer) authors(i int, text string) int {
	m := inRound().FindStringSubmatch(text[i:min(len(text), i+300)])
	if m == nil || c.brackets {
		return 0
	}
	if year().FindString(m[1]) == m[1] {
		words := strings.Fields(c.tail())
		for k := len(words) - 1; k >= max(0, len(words)-5); k-- {
			if entry := c.author(words[k], m[1]); entry != nil {
				c.cite(i, i+len(m[0]), AuthorYear, []string{strings.Trim(words[k], ".,") + " " + m[1]}, entry.URLs)
				return i + len(m[0])
			}
		}
		return 0
	}
	var ids, urls []string
	urls = []string{}
	known := false
	for part := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return r == ';' || r == '；' }) {
		p := byYear().FindStringSubmatch(strings.TrimSpace(part))
		if p == nil {
			return 0
		}
		ids = append(ids, strings.TrimSpace(p[1])+" "+p[2])
		if entry := c.author(p[1], p[2]); entry != nil {
			known = true
			urls = append(urls, entry.URLs...)
		}
	}
	if !known && !slices.ContainsFunc(c.list.entries, func(e Entry) bool { return len(e.IDs) == 0 && len(e.years) > 0 }) {
		return 0
	}
	c.cite(i, i+len(m[0]), AuthorYear, ids, urls)
	return i + len(m[0])
}

// maxCompared is how often an author of a report is compared with an entry: nobody reads
// one in which that is not enough.
const maxCompared = 20_000_000

// author is the entry of a first author and year.
func (c *citer) author(name, year string) *Entry {
	name = fold(strings.TrimSpace(name))
	if cut := strings.IndexAny(name, " ,&"); cut > 0 {
		name = name[:cut]
	}
	for _, more := range []string{"等", "和", "与", "及"} {
		name, _, _ = strings.Cut(name, more)
	}
	name = strings.Trim(name, ".,()（）")
	if utf8.RuneCountInString(name) < 2 {
		return nil
	}
	for i := range c.list.entries {
		e := &c.list.entries[i]
		if c.compared++; c.compared > maxCompared {
			break
		}
		if slices.Contains(e.years, year) && strings.Contains(e.named, name) {
			return e
		}
	}
	return nil
}
