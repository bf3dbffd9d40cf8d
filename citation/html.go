package citation

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// signals are what an HTML page shows besides its text, for the rules.
type signals struct {
	title, description string // as the page has them, whatever else it calls itself

	passwords int      // fields for a password
	forms     []string // where forms lead
	buttons   []string // what buttons say
	paywall   bool     // a part is named a paywall
	notFree   bool     // the page says that it is not accessible for free
	free      bool     // or that it is
	scripts   []string // addresses of scripts and frames
	ids       []string // classes and ids that name a challenge
	refresh   bool     // the page sends its reader elsewhere by itself
	menu      int      // words of navigation, which the text leaves out
	scripted  int      // words that are only for readers without scripts
}

// The most of each kind that is kept.
const (
	maxKept    = 64
	maxKeptLen = 500
	maxScript  = 1 << 20 // of JSON-LD
	maxOpen    = 512
)

// readHTML walks over the tokens of a page. It builds no tree, so that neither
// depth nor a tag that is never closed costs more than its bytes.
func readHTML(p *Page, c *Content) {
	w := walkHTML(p, c, false)
	if w.out.Len() == 0 && c.html.menu > 0 {
		*c = Content{media: c.media}
		w = walkHTML(p, c, true) // all its text is navigation: a table of contents
	}
	c.Text = w.out.String()
	w.meta.settle(c)
}

func walkHTML(p *Page, c *Content, keepMenus bool) *walker {
	w := &walker{c: c, keepMenus: keepMenus, count: map[atom.Atom]int{}, z: tokensOf(p)}
	w.out.b = make([]byte, 0, min(len(p.Body), MaxText))
	for w.out.Len() < MaxText && w.token() {
	}
	w.endHeading()
	if last := len(w.open) - 1; last >= 0 && w.open[last].name == atom.Noscript {
		w.pop()
	}
	w.out.trim()
	return w
}

func tokensOf(p *Page) *tokens {
	sections := strings.Contains(p.ContentType, "xml") && !strings.Contains(p.ContentType, "html")
	if doc, label := encoded(p.Body, p.ContentType); label == utf8Name && !sections {
		return newTokens(doc)
	}
	return newTokensFrom(utf8Reader(p.Body, p.ContentType), sections)
}

// walker turns the tokens of a page into lines of text.
type walker struct {
	z         *tokens
	c         *Content
	meta      metadata
	out       textWriter
	keepMenus bool
	open      []element         // elements whose end matters
	count     map[atom.Atom]int // how many of each are open
	head      bool              // inside the head
	pre       int               // open elements whose blanks are kept
	hidden    int               // open elements that show nothing
	heading   int               // where the open heading begins in out, plus 1
	button    int               // likewise
	sup       raised

	attributes attributes // of the present tag
}

// element is an open element.
type element struct {
	name atom.Atom
	menu int // of navigation: where it begins in out, plus 1
	from int // where it begins in out
}

// token takes the next token; it is false after the last.
func (w *walker) token() bool {
	switch w.z.next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		text := w.z.textOf()
		if w.head = w.head && len(bytes.TrimSpace(text)) == 0; !w.head && w.hidden == 0 {
			w.out.write(text, w.pre > 0)
		}
	case html.StartTagToken:
		w.start(false)
	case html.SelfClosingTagToken:
		w.start(true)
	case html.EndTagToken:
		w.end(w.z.name())
	}
	return true
}

func (w *walker) start(closed bool) {
	name, a := w.z.name(), &w.attributes
	*a = attributes{}
	w.z.readAttributes(name, a)
	w.note(name, a)
	w.head = name == atom.Head || w.head && inHead(name)
	switch name {
	case atom.Script:
		if w.z.next() == html.TextToken && strings.EqualFold(a.kind, "application/ld+json") && w.z.raw() <= maxScript {
			w.meta.linkedData(w.z.textOf(), &w.c.html)
		}
		return
	case atom.Title:
		if w.z.next() == html.TextToken && w.meta.title == "" && w.count[atom.Svg] == 0 {
			w.meta.title = tidySpace(string(w.z.textOf()))
		}
		return
	case atom.Style, atom.Iframe, atom.Noembed, atom.Noframes, atom.Textarea:
		w.z.next() // its content is not for readers
		return
	case atom.Noscript:
		w.z.notRaw()
	case atom.Br:
		w.out.line()
		return
	case atom.Td, atom.Th:
		w.out.cell()
		return
	case atom.Sup:
		w.sup = raised{at: w.out.Len(), open: true}
		return
	case atom.A:
		w.sup.link = w.sup.open
		return
	}
	if isBlock(name) {
		w.out.line()
	}
	if closed || !hasEnd(name) || len(w.open) == maxOpen {
		return
	}
	e := element{name: name, from: w.out.Len()}
	if !w.keepMenus && isMenu(name, a.role) {
		w.out.line()
		e.menu = w.out.Len() + 1
	}
	w.open = append(w.open, e)
	w.count[name]++
	switch name {
	case atom.Pre, atom.Listing:
		w.pre++
	case atom.Template, atom.Desc, atom.Annotation, atom.AnnotationXml:
		w.hidden++
	case atom.H1, atom.H2:
		w.endHeading()
		w.heading = w.out.Len() + 1
	case atom.Button:
		w.button = w.out.Len() + 1
	}
}

// inHead holds for the elements that do not end a head which was never closed.
func inHead(name atom.Atom) bool {
	switch name {
	case atom.Base, atom.Link, atom.Meta, atom.Noscript, atom.Script, atom.Style, atom.Template, atom.Title:
		return true
	}
	return false
}

// isMenu holds for navigation of the obvious kind.
func isMenu(name atom.Atom, role string) bool {
	switch name {
	case atom.Nav, atom.Select, atom.Datalist:
		return true
	}
	return role == "navigation" || role == "menu" || role == "menubar"
}

func (w *walker) end(name atom.Atom) {
	switch name {
	case atom.Sup:
		w.endRaised()
		return
	case atom.Head:
		w.head = false
	}
	if isBlock(name) {
		w.out.line()
	}
	if w.count[name] == 0 {
		return
	}
	for {
		last := w.open[len(w.open)-1].name
		w.pop()
		if last == name {
			return
		}
	}
}

// pop ends the innermost open element. Of navigation that has an end, nothing
// stays.
func (w *walker) pop() {
	e := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	w.count[e.name]--
	switch e.name {
	case atom.Pre, atom.Listing:
		w.pre--
	case atom.Template, atom.Desc, atom.Annotation, atom.AnnotationXml:
		w.hidden--
	case atom.H1, atom.H2:
		w.endHeading()
	case atom.Button:
		if w.button > 0 {
			keep(&w.c.html.buttons, w.out.from(w.button-1))
		}
		w.button = 0
	case atom.Noscript:
		w.c.html.scripted += countWords(w.out.from(e.from))
	}
	if e.menu > 0 {
		w.c.html.menu += countWords(w.out.from(e.menu - 1))
		w.out.cut(e.menu - 1)
	}
}

func (w *walker) endHeading() {
	if w.heading > 0 {
		keep(&w.c.headings, w.out.from(w.heading-1))
	}
	w.heading = 0
}

// raised is the superscript that is open.
type raised struct {
	at   int // where it begins in the text
	open bool
	link bool // a link is in it
}

// endRaised drops a superscript that only refers to a note, and writes digits as
// superscripts, so that they join neither a word nor a number.
func (w *walker) endRaised() {
	sup := w.sup
	w.sup = raised{}
	if !sup.open {
		return
	}
	text := strings.TrimSpace(w.out.from(sup.at))
	digits := text != "" && strings.Trim(text, "0123456789,-–; ") == ""
	switch {
	case len(text) > 24:
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"), digits && sup.link:
		w.out.cut(sup.at)
	case digits:
		w.out.cut(sup.at)
		w.out.write([]byte(superscripts.Replace(text)), false)
	}
}

var superscripts = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// attributes are those that anything here looks at.
type attributes struct {
	name, property, content, rel, href, kind, role, id, class, value, src, action, lang, equiv, itemprop, datetime string
}

func (a *attributes) add(element atom.Atom, key, val []byte) {
	if field := a.field(element, string(key)); field != nil {
		*field = string(val[:min(len(val), 2*MaxURL)])
	}
}

// field is the place of an attribute, nil for one that does not matter. Where a
// link leads matters of the link element only.
func (a *attributes) field(element atom.Atom, key string) *string {
	switch key {
	case "name":
		return &a.name
	case "property":
		return &a.property
	case "content":
		return &a.content
	case "rel":
		return &a.rel
	case "href":
		if element == atom.Link {
			return &a.href
		}
	case "type":
		return &a.kind
	case "role":
		return &a.role
	case "id":
		return &a.id
	case "class":
		return &a.class
	case "value":
		return &a.value
	case "src":
		return &a.src
	case "action":
		return &a.action
	case "lang":
		return &a.lang
	case "http-equiv":
		return &a.equiv
	case "itemprop":
		return &a.itemprop
	case "datetime":
		return &a.datetime
	}
	return nil
}

// note keeps what an element says apart from its text.
func (w *walker) note(name atom.Atom, a *attributes) {
	s := &w.c.html
	switch name {
	case atom.Html:
		if w.c.Language == "" {
			w.c.Language = strings.TrimSpace(a.lang)
		}
	case atom.Meta:
		w.meta.meta(a, s)
	case atom.Link:
		if hasToken(a.rel, "canonical") && w.meta.canonical == "" {
			w.meta.canonical = strings.TrimSpace(a.href)
		}
	case atom.Time:
		if w.meta.timeElement == "" {
			w.meta.timeElement = a.datetime
		}
	case atom.Script, atom.Iframe, atom.Frame:
		keep(&s.scripts, a.src)
	case atom.Form:
		keep(&s.forms, a.action)
	case atom.Input:
		switch strings.ToLower(a.kind) {
		case "password":
			s.passwords++
		case "submit", "button":
			keep(&s.buttons, a.value)
		}
	}
	if a.id != "" || a.class != "" {
		named := strings.ToLower(a.id + " " + a.class)
		s.paywall = s.paywall || strings.Contains(named, "paywall") || strings.Contains(named, "regwall")
		if strings.Contains(named, "captcha") || strings.Contains(named, "turnstile") || strings.Contains(named, "challenge") || strings.Contains(named, "cf-") {
			keep(&s.ids, named)
		}
	}
	if a.itemprop == "isAccessibleForFree" {
		s.says(a.content)
	}
}

// says takes a value of isAccessibleForFree.
func (s *signals) says(free string) {
	switch strings.ToLower(strings.TrimSpace(free)) {
	case "false", "no", "http://schema.org/false", "https://schema.org/false":
		s.notFree = true
	case "true", "yes", "http://schema.org/true", "https://schema.org/true":
		s.free = true
	}
}

func hasToken(list, token string) bool {
	for field := range strings.FieldsSeq(list) {
		if strings.EqualFold(field, token) {
			return true
		}
	}
	return false
}

// keep adds a text that is not blank to a list of limited size.
func keep(list *[]string, text string) {
	text = tidySpace(text)
	if text != "" && len(*list) < maxKept {
		*list = append(*list, cutBytes(text, maxKeptLen))
	}
}

// cutBytes keeps at most n bytes of s, in whole characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tidySpace puts a text on one line.
func tidySpace(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}

// isBlock holds for elements that begin a line of their own.
func isBlock(name atom.Atom) bool {
	switch name {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Optgroup,
		atom.Option, atom.P, atom.Pre, atom.Search, atom.Section, atom.Select, atom.Summary, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Title,
		atom.Tr, atom.Ul, atom.Button, atom.Noscript, atom.Frameset:
		return true
	}
	return name == 0
}

// hasEnd holds for elements that are closed by their own end tag: neither void
// ones, nor those whose end is often left out, nor names that HTML does not have.
func hasEnd(name atom.Atom) bool {
	switch name {
	case 0, atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param,
		atom.Source, atom.Track, atom.Wbr, atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Option, atom.Head, atom.Html, atom.Body:
		return false
	}
	return true
}

// textWriter writes text as lines in which blanks are single.
type textWriter struct {
	b     []byte
	blank byte // what stands before the next character: 0, ' ', '\t' or '\n'
}

func (t *textWriter) Len() int { return len(t.b) }

func (t *textWriter) String() string { return string(t.b) }

// from is what was written since a length. What was taken back meanwhile is
// not there.
func (t *textWriter) from(at int) string { return string(t.b[min(at, len(t.b)):]) }

// cut takes back what was written since a length, all but the blank before it.
func (t *textWriter) cut(at int) {
	if at < len(t.b) {
		if c := t.b[at]; c == ' ' || c == '\t' || c == '\n' {
			t.want(c)
		}
		t.b = t.b[:at]
	}
}

func (t *textWriter) trim() { t.b = bytes.TrimRight(t.b, " \t\n") }

func (t *textWriter) want(blank byte) {
	if t.blank != '\n' && (blank != ' ' || t.blank == 0) {
		t.blank = blank
	}
}

func (t *textWriter) line() { t.want('\n') }

// cell separates two cells of a row.
func (t *textWriter) cell() { t.want('\t') }

func (t *textWriter) write(text []byte, pre bool) {
	for len(text) > 0 {
		if isGraphic(text[0]) {
			n := 1
			for n < len(text) && (isGraphic(text[n]) || text[n] == ' ' && n+1 < len(text) && isGraphic(text[n+1])) {
				n++
			}
			t.put(text[:n])
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' && pre:
			t.line()
		case unicode.IsSpace(r):
			t.want(' ')
		case r < ' ' || r == 0x7f:
		case r == utf8.RuneError && size == 1:
			t.put([]byte("\ufffd"))
		default:
			t.put(text[:size])
		}
		text = text[size:]
	}
}

func isGraphic(c byte) bool { return ' ' < c && c < 0x7f }

func (t *textWriter) put(text []byte) {
	if t.blank != 0 && len(t.b) > 0 {
		t.b = append(t.b, t.blank)
	}
	t.blank = 0
	t.b = append(t.b, text...)
}
