package page

import (
	"bytes"
	"io"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokens are those of an HTML document, as golang.org/x/net/html gives them, from
// a document that is in memory. Text is found by its ends and copied only where it
// has escapes, and only those attributes are read that are asked for, so that it
// takes a small part of the time. Rare cases are left to that package: it goes on
// where this one stops, and they agree on every document.
type tokens struct {
	doc  []byte
	at   int
	slow *xhtml.Tokenizer // reads what follows; nil: this one does
	last []byte           // the name of the tag that it read

	kind       xhtml.TokenType
	start      int      // of the present token
	from, to   int      // its name or text
	attributes [][4]int // where names and values begin and end
	rawTag     string   // the element whose text is next, and has no tags
	escaped    bool     // the text may have escapes
	nul        bool     // zero bytes of the text are shown
}

// newTokens reads a document in UTF-8.
func newTokens(doc []byte) *tokens { return &tokens{doc: doc} }

// newTokensFrom reads what is decoded as it is read, or has sections that only
// XML has.
func newTokensFrom(r io.Reader, sections bool) *tokens {
	z := xhtml.NewTokenizer(r)
	z.AllowCDATA(sections)
	return &tokens{slow: z}
}

// next goes to the next token and says what it is. A document that ends in a tag
// ends before it.
func (t *tokens) next() xhtml.TokenType {
	if t.slow == nil {
		t.kind = t.scan()
	}
	if t.slow != nil { // also when scan gave up
		t.kind = t.slow.Next()
	}
	return t.kind
}

func (t *tokens) scan() xhtml.TokenType {
	t.start, t.escaped, t.nul = t.at, true, false
	if t.rawTag != "" && t.rawText() {
		return xhtml.TextToken
	}
	for i := t.at; ; {
		n := bytes.IndexByte(t.doc[i:], '<')
		if n < 0 || i+n+1 == len(t.doc) {
			return t.text(len(t.doc))
		}
		open := i + n
		c := t.doc[open+1]
		if !isLetter(c) && c != '/' && c != '!' && c != '?' {
			i = open + 1
			continue
		}
		if open > t.start {
			return t.text(open)
		}
		switch {
		case isLetter(c):
			return t.startTag(open + 1)
		case c != '/':
			return t.declaration(open + 2)
		case open+2 == len(t.doc):
			return t.text(len(t.doc))
		case isLetter(t.doc[open+2]):
			if t.at = t.tag(open+2, false); t.at < 0 {
				return t.end()
			}
			return xhtml.EndTagToken
		}
		return t.until(open+2, ">")
	}
}

// text is the token up to an end.
func (t *tokens) text(end int) xhtml.TokenType {
	t.from, t.to, t.at = t.start, end, end
	if end == t.start {
		return xhtml.ErrorToken
	}
	return xhtml.TextToken
}

// end is after the last token.
func (t *tokens) end() xhtml.TokenType {
	t.start, t.at = len(t.doc), len(t.doc)
	return xhtml.ErrorToken
}

// until is a comment that ends after the next mark.
func (t *tokens) until(at int, mark string) xhtml.TokenType {
	if n := bytes.Index(t.doc[at:], []byte(mark)); n >= 0 {
		t.at = at + n + len(mark)
	} else {
		t.at = len(t.doc)
	}
	return xhtml.CommentToken
}

// declaration reads what begins with <! or <?.
func (t *tokens) declaration(at int) xhtml.TokenType {
	if t.doc[at-1] == '?' || !bytes.HasPrefix(t.doc[at:], []byte("--")) {
		return t.until(at, ">")
	}
	// A comment ends with -->, --!>, or at once with > or ->.
	dashes, beginning := 0, true
	for i := at + 2; i < len(t.doc); i++ {
		switch c := t.doc[i]; {
		case c == '-':
			dashes++
			continue
		case c == '>' && (dashes >= 2 || beginning):
			t.at = i + 1
			return xhtml.CommentToken
		case c == '!' && dashes >= 2 && i+1 < len(t.doc) && t.doc[i+1] == '>':
			t.at = i + 2
			return xhtml.CommentToken
		case c != '-' && dashes == 0 && !beginning:
			if n := bytes.IndexByte(t.doc[i:], '-'); n > 0 {
				i += n - 1
			} else if n < 0 {
				i = len(t.doc)
			}
		}
		dashes, beginning = 0, false
	}
	t.at = len(t.doc)
	return xhtml.CommentToken
}

func (t *tokens) startTag(at int) xhtml.TokenType {
	if t.at = t.tag(at, true); t.at < 0 {
		return t.end()
	}
	t.rawTag = rawElement(t.doc[t.from:t.to])
	// In a script, <!-- can hide its end.
	if len(t.attributes) > mostAttributes || t.rawTag == "script" && bytes.Contains(t.scriptText(), []byte("<!--")) {
		t.slow = xhtml.NewTokenizer(bytes.NewReader(t.doc[t.start:]))
		return xhtml.ErrorToken
	}
	if n := len(t.attributes); t.doc[t.at-2] == '/' && (n == 0 || t.attributes[n-1][3] != t.at-1) {
		return xhtml.SelfClosingTagToken
	}
	return xhtml.StartTagToken
}

// tag reads the name and the attributes of a tag, and returns where it ends, or -1
// where the document ends first. Attributes of an end tag are skipped.
func (t *tokens) tag(at int, keep bool) int {
	doc := t.doc
	i := at
	for i < len(doc) && !isTagBlank(doc[i]) && doc[i] != '/' && doc[i] != '>' {
		i++
	}
	t.from, t.to, t.attributes = at, i, t.attributes[:0]
	for i = skipBlanks(doc, i); i < len(doc) && doc[i] != '>'; i = skipBlanks(doc, i) {
		name := i
		for i < len(doc) && !isTagBlank(doc[i]) && doc[i] != '/' && doc[i] != '>' && (doc[i] != '=' || i == name) {
			i++
		}
		a := [4]int{name, i, i, i}
		switch i = skipBlanks(doc, i); {
		case i == len(doc):
			return -1
		case doc[i] == '/':
			i++
		case doc[i] == '=':
			i = skipBlanks(doc, i+1)
			if i == len(doc) {
				return -1
			}
			switch quote := doc[i]; quote {
			case '>':
			case '"', '\'':
				n := bytes.IndexByte(doc[i+1:], quote)
				if n < 0 {
					return -1
				}
				a[2], a[3] = i+1, i+1+n
				i += n + 2
			default:
				a[2] = i
				for i < len(doc) && !isTagBlank(doc[i]) && doc[i] != '>' {
					i++
				}
				a[3] = i
			}
		}
		if keep && a[0] < a[1] && len(t.attributes) <= mostAttributes && !t.repeats(doc[a[0]:a[1]]) {
			t.attributes = append(t.attributes, a)
		}
	}
	if i >= len(doc) {
		return -1
	}
	return i + 1
}

// mostAttributes is the most different attributes of a tag that are compared with
// one another.
const mostAttributes = 32

// repeats reports whether the tag has an attribute of that name, whose value then
// counts.
func (t *tokens) repeats(name []byte) bool {
	for _, a := range t.attributes {
		if other := t.doc[a[0]:a[1]]; len(other) == len(name) && sameName(other, name) {
			return true
		}
	}
	return false
}

// sameName compares two names of one length in any case of ASCII letters.
func sameName(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || !isLetter(a[i])) {
			return false
		}
	}
	return true
}

func isTagBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func skipBlanks(doc []byte, at int) int {
	for at < len(doc) && isTagBlank(doc[at]) {
		at++
	}
	return at
}

// rawElements are those whose text has no tags.
var rawElements = []string{"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp"}

// rawElement is the name of such an element, "" for any other.
func rawElement(name []byte) string {
	switch name[0] | 0x20 {
	case 'i', 'n', 'p', 's', 't', 'x':
	default:
		return ""
	}
	for _, raw := range rawElements {
		if len(raw) == len(name) && strings.EqualFold(raw, string(name)) {
			return raw
		}
	}
	return ""
}

// rawText reads the text of such an element, up to its end tag. It is false where
// there is no text.
func (t *tokens) rawText() bool {
	end := len(t.doc)
	if t.rawTag != "plaintext" {
		end = t.at + len(t.scriptText())
	}
	t.escaped, t.nul = t.rawTag == "textarea" || t.rawTag == "title", true
	t.rawTag = ""
	if end == t.at {
		t.escaped, t.nul = true, false
		return false
	}
	t.text(end)
	return true
}

// scriptText is what follows up to the end tag of the element that is open.
func (t *tokens) scriptText() []byte {
	rest := t.doc[t.at:]
	for i := 0; ; {
		n := bytes.Index(rest[i:], []byte("</"))
		if n < 0 {
			return rest
		}
		i += n
		name := rest[i+2:]
		if after := len(t.rawTag); len(name) > after && strings.EqualFold(string(name[:after]), t.rawTag) && (isTagBlank(name[after]) || name[after] == '/' || name[after] == '>') {
			return rest[:i]
		}
		i += 2
	}
}

// notRaw lets the text of the element whose start tag was read have tags.
func (t *tokens) notRaw() {
	if t.slow != nil {
		t.slow.NextIsNotRawText()
	}
	t.rawTag = ""
}

// name is that of the tag, 0 for one that HTML does not have.
func (t *tokens) name() atom.Atom {
	if t.slow != nil {
		t.last, _ = t.slow.TagName()
		return atom.Lookup(t.last)
	}
	var lower [32]byte
	name := t.doc[t.from:t.to]
	if len(name) > len(lower) {
		return 0
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return atom.Lookup(lower[:len(name)])
}

// tagName is the name of the tag as it is written, once name has been called.
func (t *tokens) tagName() []byte {
	if t.slow != nil {
		return t.last
	}
	return t.doc[t.from:t.to]
}

// readAttributes reads those attributes of a start tag that matter, once its name
// has been asked for.
func (t *tokens) readAttributes(element atom.Atom, a *attributes) {
	if t.slow != nil {
		for more := true; more; {
			var name, value []byte
			if name, value, more = t.slow.TagAttr(); len(name) > 0 {
				a.add(element, name, value)
			}
		}
		return
	}
	for _, at := range t.attributes {
		name := t.doc[at[0]:at[1]]
		if bytes.ContainsFunc(name, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
			name = bytes.ToLower(name)
		}
		if value := t.doc[at[2]:at[3]]; a.field(element, string(name)) != nil {
			a.add(element, name, resolved(value))
		}
	}
}

// resolved is the value of an attribute with its escapes resolved. Attributes have
// escape rules of their own.
func resolved(value []byte) []byte {
	if !bytes.ContainsAny(value, "&\r\x00") {
		return value
	}
	quote := `"`
	if bytes.Contains(value, []byte(quote)) {
		if quote = "'"; bytes.Contains(value, []byte(quote)) {
			quote = "" // a value with both was written without quotes
		}
	}
	z := xhtml.NewTokenizer(io.MultiReader(strings.NewReader("<a x="+quote), bytes.NewReader(value), strings.NewReader(quote+">")))
	z.Next()
	_, value, _ = z.TagAttr()
	return value
}

// raw is how many bytes the token has in the document.
func (t *tokens) raw() int {
	if t.slow != nil {
		return len(t.slow.Raw())
	}
	return t.at - t.start
}

// textOf is the text of a text token. It is valid up to the next one.
func (t *tokens) textOf() []byte {
	if t.slow != nil {
		return t.slow.Text()
	}
	text := t.doc[t.from:t.to]
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	if t.nul && bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, []byte("\ufffd"))
	}
	if t.escaped && bytes.IndexByte(text, '&') >= 0 {
		text = []byte(xhtml.UnescapeString(string(text)))
	}
	return text
}
