package markdown

import "bytes"

// htmlComment is the kind of HTML block that begins with <!--. The kinds are
// numbered as in the specification; those up to htmlLastEnded end with a mark,
// the others with a blank line, and the last one cannot interrupt a paragraph.
const (
	htmlComment   = 2
	htmlLastEnded = 5
	htmlAnyTag    = 7
)

// htmlKind is the kind of HTML block that b, which begins with <, starts, or 0. A tag
// that has not ended where the line is cut counts as complete.
func htmlKind(b []byte, cut bool) int {
	if len(b) > 1 && b[1] == '!' {
		return declarationKind(b)
	}
	if len(b) > 1 && b[1] == '?' {
		return 3
	}
	i := 1
	closing := i < len(b) && b[i] == '/'
	if closing {
		i++
	}
	name := tagName(b[i:])
	if len(name) == 0 {
		return 0
	}
	after := b[i+len(name):]
	ends := len(after) == 0 || isBlank(after[0]) || after[0] == '>'
	switch known := knownTag(name); {
	case isRawTag(known) && !closing && ends:
		return 1
	case isRawTag(known) && !closing:
		return 0
	case isBlockTag(known) && (ends || bytes.HasPrefix(after, []byte("/>"))):
		return 6
	}
	if n := tagEnd(b); n > 0 && onlyBlanks(b[n:]) || n < 0 && cut {
		return htmlAnyTag
	}
	return 0
}

// declarationKind is htmlKind for what begins with <!.
func declarationKind(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		return htmlComment
	case len(b) > 2 && isLetter(b[2]):
		return 4
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return 5
	}
	return 0
}

// knownTag is the name of a tag in lower case, "" for one that is longer than any that
// the specification names.
func knownTag(name []byte) string {
	var lower [len("figcaption")]byte
	if len(name) > len(lower) {
		return ""
	}
	for i, c := range name {
		lower[i] = c | 0x20 // leaves digits as they are; a hyphen is in no known name
	}
	return string(lower[:len(name)])
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func tagName(b []byte) []byte {
	n := 0
	for n < len(b) && (isLetter(b[n]) || n > 0 && (isDigit(b[n]) || b[n] == '-')) {
		n++
	}
	return b[:n]
}

func attributeName(b []byte) int {
	n := 0
	for n < len(b) {
		c := b[n]
		if isLetter(c) || c == '_' || c == ':' || n > 0 && (isDigit(c) || c == '.' || c == '-') {
			n++
			continue
		}
		break
	}
	return n
}

// attributeValue is the length of the value that b begins with, quotes
// included, or -1.
func attributeValue(b []byte) int {
	if q := b[0]; q == '"' || q == '\'' {
		i := bytes.IndexByte(b[1:], q)
		if i < 0 {
			return -1
		}
		return i + 2
	}
	n := bytes.IndexAny(b, " \t\n\"'=<>`")
	switch n {
	case 0:
		return -1
	case -1:
		return len(b)
	}
	return n
}

// longestHTMLEnd is the length of the longest mark that ends an HTML block.
const longestHTMLEnd = len("</textarea>")

// endsHTML reports whether b contains the mark that ends an HTML block of that kind.
func endsHTML(b []byte, kind int) bool {
	switch kind {
	case 1:
		return hasRawEndTag(b)
	case htmlComment:
		return bytes.Contains(b, []byte("-->"))
	case 3:
		return bytes.Contains(b, []byte("?>"))
	case 4:
		return bytes.IndexByte(b, '>') >= 0
	case 5:
		return bytes.Contains(b, []byte("]]>"))
	}
	return false
}

// moreHTML looks for the mark that ends the open HTML block in a further piece of
// a long line, and across the border to what was seen before.
func (b *blocks) moreHTML(piece []byte) {
	b.tail = append(b.tail, piece[:min(len(piece), longestHTMLEnd-1)]...)
	if endsHTML(b.tail, b.html) || endsHTML(piece, b.html) {
		b.leaf = noLeaf
	}
	if len(piece) < longestHTMLEnd {
		piece = b.tail
	}
	b.setTail(piece)
}

func (b *blocks) setTail(seen []byte) {
	b.tail = append(b.tail[:0], seen[max(0, len(seen)-longestHTMLEnd+1):]...)
}

func hasRawEndTag(b []byte) bool {
	for {
		i := bytes.Index(b, []byte("</"))
		if i < 0 {
			return false
		}
		b = b[i+2:]
		for _, end := range []string{"pre>", "script>", "style>", "textarea>"} {
			if hasPrefixFold(b, end) {
				return true
			}
		}
	}
}

// hasPrefixFold reports whether b begins with prefix, which is in lower case,
// whatever the case of its ASCII letters.
func hasPrefixFold(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

func isRawTag(name string) bool {
	switch name {
	case "pre", "script", "style", "textarea":
		return true
	}
	return false
}

func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption",
		"center", "col", "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt",
		"fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe",
		"legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol",
		"optgroup", "option", "p", "param", "search", "section", "summary", "table",
		"tbody", "td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}
