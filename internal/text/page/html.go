package page

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/style"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Signals are what an HTML page shows besides its text, by which rules tell an
// article from what stands in its place.
type Signals struct {
	Title, Description string // as the page has them, whatever else it calls itself

	Passwords int      // fields for a password
	Forms     []string // where forms lead
	Buttons   []string // what buttons say
	Paywall   bool     // a part is named a paywall
	NotFree   bool     // the page says that it is not accessible for free
	Free      bool     // or that it is
	Scripts   []string // addresses of scripts and frames
	IDs       []string // classes and ids that name a challenge
	Refresh   bool     // the page sends its reader elsewhere by itself
	Noscript  string   // what only readers without scripts see
}

// The limits on what is kept of each kind.
const (
	maxKept    = 64
	maxKeptLen = 500
	maxScript  = 1 << 20 // of JSON-LD
	maxOpen    = 512
	// maxAttribute is how many bytes of the value of an attribute are kept.
	maxAttribute = 4096
	// maxStyle is how many bytes of a style attribute are read.
	maxStyle = 1 << 18
)

// readHTML walks over the tokens of a page. It builds no tree, so that neither
// depth nor a tag that is never closed costs more than its bytes.
func (c *Content) readHTML(body []byte, contentType string) {
	w := walkHTML(body, contentType, c, false)
	if w.out.Len() == 0 && w.menus {
		*c = Content{Media: c.Media}
		w = walkHTML(body, contentType, c, true) // all its text is navigation: a table of contents
	}
	c.Text, c.Cut = w.out.String(), w.out.Len() >= maxPageText || w.sheet.Spent()
	w.meta.settle(c)
}

func walkHTML(body []byte, contentType string, c *Content, keepMenus bool) *walker {
	exact := containsFold(body, "shadowrootmode") || containsFold(body, "<semantics") || containsFold(body, "<maction") || containsFold(body, "<switch")
	w := &walker{exact: exact, sheet: sheetOf(body, contentType), c: c, keepMenus: keepMenus, xml: strings.Contains(contentType, "xml"), count: map[atom.Atom]int{}, deep: map[atom.Atom]int{}, z: tokensOf(body, contentType)}
	w.out.b = make([]byte, 0, min(len(body), maxPageText))
	for w.out.Len() < maxPageText && !w.sheet.Spent() && w.token() {
	}
	w.endHeading()
	if last := len(w.open) - 1; last >= 0 && w.open[last].name == atom.Noscript {
		w.pop()
	}
	w.out.trim()
	return w
}

// tokensOf are the tokens of a page. XML has sections that HTML has not.
func tokensOf(body []byte, contentType string) *html.Tokenizer {
	z := html.NewTokenizer(utf8Reader(body, contentType))
	z.AllowCDATA(strings.Contains(contentType, "xml") && !strings.Contains(contentType, "html"))
	return z
}

// walker turns the tokens of a page into lines of text.
type walker struct {
	z         *html.Tokenizer
	sheet     *style.Sheet // nil where no style element says anything
	exact     bool         // every element is kept open, because its parent or its place in that matters
	link      string       // the colour of links, where the body says one
	top       style.Place
	custom    string // the last name that HTML does not have
	c         *Content
	meta      metadata
	out       textWriter
	keepMenus bool
	xml       bool              // elements may end with their start tag
	open      []element         // elements whose end matters
	count     map[atom.Atom]int // how many of each are open
	head      bool              // inside the head
	menus     bool              // navigation was left out
	deep      map[atom.Atom]int // how many are open beyond the limit
	lost      bool              // one of those hides what follows
	implied   int               // open elements that may end by themselves
	pre       int               // open elements whose blanks are kept
	heading   int               // where the open heading begins in out, plus 1
	level     int               // of that heading
	button    int               // likewise
	sup       raised
	tables    []table   // those that are open
	work      atom.Atom // the open element that may hold the title of a work, 0 for none
	workAt    int       // where it begins in out

	attributes attributes // of the present tag
}

// token takes the next token; it is false after the last.
func (w *walker) token() bool {
	switch w.z.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		text := w.z.Text()
		if w.head = w.head && len(bytes.TrimSpace(text)) == 0; !w.head && !w.lost && w.isShown() && w.isSlotted("") {
			w.out.write(text, w.pre > 0)
		}
	case html.StartTagToken:
		w.start(false)
	case html.SelfClosingTagToken:
		w.start(true)
	case html.EndTagToken:
		w.end(w.nameOf())
	}
	return true
}

// nameOf is the name of the tag. Most are names of HTML in lower case, which are seen
// without a copy.
func (w *walker) nameOf() atom.Atom {
	tag := bytes.TrimPrefix(w.z.Raw()[1:], []byte("/"))
	if end := bytes.IndexAny(tag, " \n\r\t\f/>"); end > 0 && w.count[atom.Svg] == 0 {
		if name := atom.Lookup(tag[:end]); name != 0 {
			return name
		}
	}
	written, _ := w.z.TagName()
	if w.count[atom.Svg] > 0 {
		if name := foreignName(written); name != 0 {
			return name
		}
	}
	if name := atom.Lookup(written); name != 0 {
		return name
	}
	if w.sheet != nil {
		w.custom = strings.ToLower(string(written))
	}
	return customName(written)
}

// start takes a start tag. Closed says that it is written as one that ends itself.
func (w *walker) start(closed bool) {
	name, a := w.nameOf(), &w.attributes
	*a = attributes{}
	for more := true; more; {
		var key, value []byte
		key, value, more = w.z.TagAttr()
		a.add(name, key, value)
		if w.sheet != nil && w.sheet.Attributes {
			a.keep(key, value)
		}
	}
	w.note(name, a)
	if w.sheet != nil {
		w.implyRoot(name)
	}
	if w.implied > 0 {
		w.imply(name)
	}
	e := element{name: name}
	e.effect, e.place = w.effectOf(name, a)
	w.alternative(&e)
	if w.count[atom.Svg] > 0 {
		if isShape(name) {
			w.cover()
		}
		if animates()[name] {
			w.forget(atom.Svg)
		}
	}
	if name == atom.Slot {
		w.slot(e, a)
	}
	if !w.isSlotted(a.slot) {
		e.effect.Hides = true
	}
	w.head = name == atom.Head || w.head && inHead(name)
	if w.swallow(name, a) {
		return
	}
	w.begin(e)
	if w.tableStart(e, a) {
		e.effect.Hides = true
	}
	if isWork(name) {
		w.work, w.workAt = name, w.out.Len()
	}
	if w.isKeptOpen(e, closed) {
		w.enter(e, a)
	}
}

// swallow takes an element whose content is not text for readers, with its content.
func (w *walker) swallow(name atom.Atom, a *attributes) bool {
	switch name {
	case atom.Script:
		if w.z.Next() == html.TextToken && strings.EqualFold(a.kind, "application/ld+json") && len(w.z.Raw()) <= maxScript {
			w.meta.linkedData(w.z.Text(), &w.c.Signals)
		}
	case atom.Title:
		if w.z.Next() == html.TextToken && w.meta.title == "" && w.count[atom.Svg] == 0 {
			w.meta.title = TidySpace(string(w.z.Text()))
		}
	case atom.Style, atom.Iframe, atom.Noembed, atom.Noframes, atom.Textarea:
		w.z.Next()
	default:
		return false
	}
	return true
}

// begin does to the text what the start of an element does.
func (w *walker) begin(e element) {
	hides := e.effect.Hides
	switch e.name {
	case atom.Noscript:
		w.z.NextIsNotRawText()
	case atom.Br:
		w.line()
	case atom.Td, atom.Th:
		if !hides && !w.now().None {
			w.out.cell()
		}
	case atom.Sup:
		w.sup = raised{at: w.out.Len(), open: true}
		w.out.forms = RaisedDigits
	case atom.Sub:
		w.out.forms = loweredDigits
	case atom.A:
		w.sup.link = w.sup.open
	}
	if isBlock(e.name) && !hides {
		w.line()
	}
}

// isKeptOpen reports whether the end of an element matters.
func (w *walker) isKeptOpen(e element, closed bool) bool {
	matters := e.effect.Matters() || w.sheet != nil || w.exact
	switch {
	case closed && (!e.effect.Hides || w.xml || w.count[atom.Svg] > 0):
		return false
	case e.name == atom.Html || e.name == atom.Body:
		return matters && w.count[e.name] == 0
	case !hasEnd(e.name):
		return matters && endImplied(e.name)
	case !matters:
		return e.name != atom.A && e.name != atom.Sup && (!isCustom(e.name) || w.count[e.name] > 0)
	}
	return true
}

// enter opens an element. What is navigation is dropped at its end.
func (w *walker) enter(e element, a *attributes) {
	e.from = w.out.Len()
	if host := len(w.open) - 1; e.name == atom.Template && (strings.EqualFold(a.shadow, "open") || strings.EqualFold(a.shadow, "closed")) && host >= 0 && isHost(w.open[host].name) && w.open[host].slots == nil {
		e.shadow, w.open[host].slots = true, map[string]bool{}
	}
	if !w.keepMenus && isMenu(e.name, a.role) {
		w.line()
		e.menu = w.out.Len() + 1
	}
	w.push(e)
	switch e.name {
	case atom.Pre, atom.Listing:
		w.pre++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.endHeading()
		w.heading, w.level = w.out.Len()+1, int(e.name.String()[1]-'0')
	case atom.Button:
		w.button = w.out.Len() + 1
	}
}

// line ends a line of what is drawn.
func (w *walker) line() {
	if !w.now().None {
		w.out.line()
	}
}

// isShape holds for what a drawing has behind its texts.
func isShape(name atom.Atom) bool {
	for _, shape := range shapes() {
		if name == shape {
			return true
		}
	}
	return false
}

var shapes = sync.OnceValue(func() (all []atom.Atom) {
	for name := range strings.FieldsSeq("rect circle ellipse path polygon polyline line image use foreignobject") {
		if all = append(all, atom.Lookup([]byte(name))); all[len(all)-1] == 0 {
			all[len(all)-1] = customName([]byte(name))
		}
	}
	return all
})

// cover notes that something is drawn behind what follows in a drawing.
func (w *walker) cover() {
	for i := len(w.open) - 1; i >= 0; i-- {
		w.open[i].sight = w.open[i].sight.Covered()
		w.open[i].shown = w.open[i].sight.Text()
		if w.open[i].name == atom.Svg {
			return
		}
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
		w.out.apart = true
	case atom.Sub:
		w.out.apart = true
	case atom.Head:
		w.head = false
	}
	w.tableEnd(name)
	if name == w.work {
		w.endWork()
	}
	if isBlock(name) {
		w.line()
	}
	w.close(name)
}

// pop ends the innermost open element.
func (w *walker) pop() element {
	e := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	w.leave(e)
	return e
}

// leave does what the end of an element calls for. Navigation that has an end is
// dropped, and so is what readers with scripts do not see.
func (w *walker) leave(e element) {
	w.count[e.name]--
	if endImplied(e.name) {
		w.implied--
	}
	switch e.name {
	case atom.Pre, atom.Listing:
		w.pre--
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.endHeading()
	case atom.Button:
		if w.button > 0 {
			keep(&w.c.Signals.Buttons, w.out.from(w.button-1))
		}
		w.button = 0
	case atom.Noscript:
		if text := w.out.from(e.from); len(w.c.Signals.Noscript) < maxKept*maxKeptLen {
			w.c.Signals.Noscript += CutBytes(text, maxKept*maxKeptLen) + "\n"
		}
		w.cut(e.from)
	}
	if e.menu > 0 {
		w.menus = w.menus || CountWords(w.out.from(e.menu-1)) > 0
		w.cut(e.menu - 1)
	}
}

// cut takes text back, with its headings.
func (w *walker) cut(at int) {
	w.out.cut(at)
	n := sort.SearchInts(w.c.Places, at)
	w.c.Headings, w.c.Levels, w.c.Places = w.c.Headings[:n], w.c.Levels[:n], w.c.Places[:n]
}

func (w *walker) endHeading() {
	if w.heading > 0 {
		text := w.out.from(w.heading - 1)
		w.c.addHeading(strings.TrimRight(text, " \n¶"), w.level, w.out.Len()-len(strings.TrimLeft(text, " \t\n")))
	}
	w.heading = 0
}

// isWork holds for the elements in which titles of works stand.
func isWork(name atom.Atom) bool {
	return name == atom.A || name == atom.I || name == atom.Em || name == atom.Cite
}

// The titles of works that are kept of a page: how many, and how many words they have.
const (
	maxWorks       = 512
	leastWorkWords = 2
	mostWorkWords  = 10
)

func (w *walker) endWork() {
	w.work = 0
	text := CutBytes(w.out.from(w.workAt), maxKeptLen)
	if n := CountWords(text); n >= leastWorkWords && n <= mostWorkWords && len(w.c.Works) < maxWorks {
		w.c.Works = append(w.c.Works, TidySpace(text))
	}
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
	text := plainDigits().Replace(strings.TrimSpace(w.out.from(sup.at)))
	digits := text != "" && strings.Trim(text, "0123456789,-–−; ") == ""
	switch {
	case len(text) > 24:
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"), digits && sup.link:
		w.out.cut(sup.at)
	case digits:
		w.out.cut(sup.at)
		w.out.write([]byte(superscripts().Replace(text)), false)
	}
}

var (
	superscripts = sync.OnceValue(func() *strings.Replacer {
		pairs := []string{"-", "⁻", "–", "⁻", "−", "⁻"}
		for i, r := range []rune(RaisedDigits) {
			pairs = append(pairs, strconv.Itoa(i), string(r))
		}
		return strings.NewReplacer(pairs...)
	})
	plainDigits = sync.OnceValue(func() *strings.Replacer {
		pairs := []string{"⁻", "-"}
		for i, r := range []rune(RaisedDigits) {
			pairs = append(pairs, string(r), strconv.Itoa(i))
		}
		return strings.NewReplacer(pairs...)
	})
)

// RaisedDigits are the forms in which the text of a page has raised digits, from 0.
const RaisedDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹"

const loweredDigits = "₀₁₂₃₄₅₆₇₈₉"

// attributes are those that the code here looks at.
type attributes struct {
	name, property, content, rel, href, kind, role, id, class, value, src, action, lang, equiv, itemprop, datetime string
	colspan, rowspan, ariaHidden, slot, shadow, link, leads, language                                              string
	style, hidden, open, popover                                                                                   string            // the last three are "" only where they are missing
	drawing, hints                                                                                                 string            // attributes that are a style, in a drawing and elsewhere
	all                                                                                                            map[string]string // where selectors look at them
}

// keep keeps an attribute for selectors.
func (a *attributes) keep(key, val []byte) {
	if a.all == nil {
		a.all = map[string]string{}
	}
	if _, twice := a.all[string(key)]; !twice {
		a.all[string(key)] = string(val[:min(len(val), maxAttribute)])
	}
}

func (a *attributes) add(element atom.Atom, key, val []byte) {
	field := a.field(element, string(key))
	switch field {
	case nil:
		return
	case &a.drawing:
		property := string(key)
		switch property { // their numbers have no units
		case "font-size", "transform":
			property = "-drawn-" + property
		case "width", "height":
			if element != atom.Svg && element != insertedName() {
				return
			}
			property = "-drawn-" + property
		case "viewbox": // how much of a drawing goes into its width
			if sides := strings.FieldsFunc(string(val[:min(len(val), 100)]), func(r rune) bool { return r == ',' || r <= ' ' }); element == atom.Svg && len(sides) == 4 {
				width, _ := strconv.ParseFloat(sides[2], 64)
				height, _ := strconv.ParseFloat(sides[3], 64)
				if width <= 0 || height <= 0 {
					a.drawing += "display:none;"
				} else if width > widestScreen {
					a.drawing += "zoom:" + strconv.FormatFloat(widestScreen/width, 'f', -1, 64) + ";"
				}
			}
			return
		}
		a.drawing += property + ":" + string(val[:min(len(val), 100)]) + ";"
		if element == atom.Font && string(key) == "color" {
			a.hints += "color:" + legacyColour(val) + ";"
		}
		return
	case &a.hints:
		property := "background-color:"
		switch string(key) {
		case "text", "mathcolor":
			property = "color:"
		case "mathsize":
			a.hints += "font-size:" + string(val[:min(len(val), 100)]) + ";"
			return
		}
		a.hints += property + legacyColour(val) + ";"
		return
	case &a.style:
		if a.style == "" {
			a.style = string(val[:min(len(val), maxStyle)])
		}
		return
	}
	*field = string(val[:min(len(val), maxAttribute)])
	if *field == "" && (field == &a.hidden || field == &a.open || field == &a.popover) {
		*field = "yes"
	}
}

const widestScreen = 4000.0

// legacyColour is the colour in an attribute, where the sign before its digits may be
// missing, and where there may be more of them than are read.
func legacyColour(val []byte) string {
	value := strings.TrimSpace(string(val[:min(len(val), 100)]))
	digits := strings.TrimPrefix(value, "#")
	if bare := strings.Trim(value, "abcdefABCDEF") == ""; !bare && !strings.ContainsAny(value, "#0123456789") || len(digits) == 3 && digits != value {
		return value
	}
	for len(digits)%3 != 0 {
		digits += "0"
	}
	third := len(digits) / 3
	colour := "#"
	for i := range 3 {
		part := digits[i*third : (i+1)*third]
		colour += ("0" + part[:min(2, third)])[min(2, third)-1:]
	}
	return colour
}

// field is the place of an attribute, nil for one that does not matter. Where a
// link leads matters for the link element only.
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
		if element == atom.A {
			return &a.leads
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
	return a.look(key)
}

// look is the place of an attribute that says how an element is drawn.
func (a *attributes) look(key string) *string {
	switch key {
	case "display", "visibility", "opacity", "font-size", "fill", "fill-opacity", "color", "transform", "clip-path", "mask", "filter", "width", "height", "viewbox":
		return &a.drawing
	case "bgcolor", "text", "mathcolor", "mathbackground", "mathsize":
		return &a.hints
	case "style":
		return &a.style
	case "hidden":
		return &a.hidden
	case "open":
		return &a.open
	case "popover":
		return &a.popover
	case "colspan", "span":
		return &a.colspan
	case "slot":
		return &a.slot
	case "systemlanguage", "requiredextensions":
		return &a.language
	case "shadowrootmode":
		return &a.shadow
	case "link":
		return &a.link
	case "rowspan":
		return &a.rowspan
	case "aria-hidden":
		return &a.ariaHidden
	}
	return nil
}

// note keeps what an element says apart from its text.
func (w *walker) note(name atom.Atom, a *attributes) {
	s := &w.c.Signals
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
		keep(&s.Scripts, a.src)
	case atom.Form:
		keep(&s.Forms, a.action)
	case atom.Input:
		switch strings.ToLower(a.kind) {
		case "password":
			s.Passwords++
		case "submit", "button":
			keep(&s.Buttons, a.value)
		}
	}
	if a.id != "" || a.class != "" {
		named := strings.ToLower(a.id + " " + a.class)
		s.Paywall = s.Paywall || strings.Contains(named, "paywall") || strings.Contains(named, "regwall")
		if strings.Contains(named, "captcha") || strings.Contains(named, "turnstile") || strings.Contains(named, "challenge") || strings.Contains(named, "cf-") {
			keep(&s.IDs, named)
		}
	}
	if a.itemprop == "isAccessibleForFree" {
		s.says(a.content)
	}
}

// says takes a value of isAccessibleForFree.
func (s *Signals) says(free string) {
	switch strings.ToLower(strings.TrimSpace(free)) {
	case "false", "no", "http://schema.org/false", "https://schema.org/false":
		s.NotFree = true
	case "true", "yes", "http://schema.org/true", "https://schema.org/true":
		s.Free = true
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
	text = TidySpace(text)
	if text != "" && len(*list) < maxKept {
		*list = append(*list, CutBytes(text, maxKeptLen))
	}
}

// CutBytes keeps at most n bytes of s, in whole characters.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// TidySpace puts a text on one line.
func TidySpace(s string) string {
	return markdown.OneLine(strings.ToValidUTF8(s, "\ufffd"))
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
	return isCustom(name)
}

// hasEnd holds for elements that are closed by their own end tag, and whose end
// matters: neither void ones, nor those whose end is often left out, nor names that
// HTML does not have.
func hasEnd(name atom.Atom) bool {
	switch name {
	case 0, atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param,
		atom.Source, atom.Track, atom.Wbr, atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option, atom.Head, atom.Html, atom.Body:
		return false
	}
	return true
}

// textWriter writes text as lines in which blanks are single.
type textWriter struct {
	b     []byte
	blank byte   // what stands before the next character: 0, ' ', '\t' or '\n'
	forms string // how digits are written that follow a digit here: raised or lowered
	apart bool   // a digit here does not belong to the one before
}

func (t *textWriter) Len() int { return len(t.b) }

func (t *textWriter) String() string { return string(t.b) }

// from is what was written since the text had the given length, without what was
// taken back meanwhile.
func (t *textWriter) from(at int) string { return string(t.b[min(at, len(t.b)):]) }

// cut takes back what was written since the text had the given length, but keeps
// the blank before it.
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
			for n < len(text) && ' ' <= text[n] && text[n] < 0x7f && text[n-1]|text[n] != ' ' { // two blanks end it
				n++
			}
			if text[n-1] == ' ' {
				n--
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
	if t.forms != "" || t.apart {
		text = t.parted(text)
	}
	if t.blank != 0 && len(t.b) > 0 {
		t.b = append(t.b, t.blank)
	}
	t.blank = 0
	t.b = append(t.b, text...)
}

// parted keeps the digits of 10<sup>6</sup> from becoming one number.
func (t *textWriter) parted(text []byte) []byte {
	n := 0
	for t.blank == 0 && len(t.b) > 0 && isDigit(t.b[len(t.b)-1]) && n < len(text) && isDigit(text[n]) {
		n++
		if t.forms == "" {
			break
		}
	}
	forms := []rune(t.forms)
	t.forms, t.apart = "", false
	switch {
	case n == 0:
		return text
	case len(forms) == 0:
		return append([]byte("^"), text...)
	}
	var b []byte
	for _, c := range text[:n] {
		b = utf8.AppendRune(b, forms[c-'0'])
	}
	return append(b, text[n:]...)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
