package claim

import (
	"bytes"
	"html"

	"github.com/tidegate/tidegate/internal/text/link"
)

// tagReader reads HTML as a browser does, as far as it takes to tell text from
// tags and to see where attributes lead.
type tagReader struct {
	open  *elements
	text  func(start, end int)             // characters between tags
	leads func(url []byte, start, end int) // an attribute that stands there leads away
	at    int                              // of the present tag
}

// read takes a piece of HTML. One that ends within a tag or comment swallows what
// comes after it on the page.
func (t *tagReader) read(b []byte) {
	for at := 0; at < len(b); {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			t.text(at, len(b))
			return
		}
		start := at + i
		t.at = start
		end := t.tag(b[start:])
		switch {
		case end < 0:
			t.open.never()
			return
		case end == 0: // a sign
			t.text(at, start+1)
			at = start + 1
		default:
			if start > at {
				t.text(at, start)
			}
			at = start + end
		}
	}
}

// tag takes what begins with <, and returns its length: 0 when it is neither a tag
// nor a comment, -1 when it does not end.
func (t *tagReader) tag(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case bytes.HasPrefix(b, []byte("<!--")):
		return commentEnd(b)
	case b[1] == '!' || b[1] == '?':
		return indexAfter(b, ">")
	case b[1] == '/' && len(b) > 2 && isASCIILetter(b[2]):
		name, end := t.attributes(b, 2)
		t.open.end(name)
		return end
	case b[1] == '/':
		return indexAfter(b, ">")
	case isASCIILetter(b[1]):
		name, end := t.attributes(b, 1)
		t.open.start(name)
		return end
	}
	return 0
}

// commentEnd is the length of a comment, in all the ways in which one can end.
func commentEnd(b []byte) int {
	if bytes.HasPrefix(b, []byte("<!-->")) {
		return len("<!-->")
	}
	if bytes.HasPrefix(b, []byte("<!--->")) {
		return len("<!--->")
	}
	for at := 4; ; at++ {
		i := bytes.Index(b[at:], []byte("--"))
		if i < 0 {
			return -1
		}
		at += i
		for _, end := range []string{"-->", "--!>"} {
			if bytes.HasPrefix(b[at:], []byte(end)) {
				return at + len(end)
			}
		}
	}
}

func indexAfter(b []byte, mark string) int {
	if i := bytes.Index(b, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return -1
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHTMLSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// attributes takes a tag whose name begins at i, and returns where it ends, -1
// when it does not.
func (t *tagReader) attributes(b []byte, i int) (name string, end int) {
	begin := i
	for i < len(b) && !isHTMLSpace(b[i]) && b[i] != '/' && b[i] != '>' {
		i++
	}
	name = string(bytes.ToLower(b[begin:i]))
	for i < len(b) {
		c := b[i]
		switch {
		case c == '>':
			return name, i + 1
		case isHTMLSpace(c) || c == '/':
			i++
		default:
			begin := i
			for i++; i < len(b) && !isHTMLSpace(b[i]) && b[i] != '/' && b[i] != '>' && b[i] != '='; i++ {
			}
			attribute := string(bytes.ToLower(b[begin:i]))
			var value []byte
			value, i = attributeValue(b, i)
			if value = []byte(html.UnescapeString(string(value))); link.AttributeLeadsAway(attribute, value) {
				t.leads(value, t.at+begin, t.at+i)
			}
		}
	}
	return name, -1
}

// attributeValue is the value of an attribute whose name ends at i, nil when it
// has none, and where the tag goes on.
func attributeValue(b []byte, i int) (value []byte, next int) {
	at := skipHTMLSpace(b, i)
	if at == len(b) || b[at] != '=' {
		return nil, at
	}
	at = skipHTMLSpace(b, at+1)
	if at == len(b) {
		return nil, at
	}
	if quote := b[at]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(b[at+1:], quote)
		if n < 0 {
			return b[at+1:], len(b)
		}
		return b[at+1 : at+1+n], at + n + 2
	}
	begin := at
	for at < len(b) && !isHTMLSpace(b[at]) && b[at] != '>' {
		at++
	}
	return b[begin:at], at
}

func skipHTMLSpace(b []byte, i int) int {
	for i < len(b) && isHTMLSpace(b[i]) {
		i++
	}
	return i
}

// elements are the HTML elements that are open at a place of a page. What is in
// one can be hidden in more ways than a program of reasonable size knows, so
// that nothing in any of them is sure to be seen.
type elements struct {
	names  []string
	styled bool // a style sheet or a script decides what is seen
}

func (e *elements) start(name string) {
	switch name {
	case "style", "script", "link":
		e.styled = true
	}
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return // has no content
	}
	e.names = append(e.names, name)
}

// end closes the innermost element, if it has that name. A tag that closes
// another one closes nothing: what a browser does with it is not followed.
func (e *elements) end(name string) {
	if n := len(e.names); n > 0 && e.names[n-1] == name {
		e.names = e.names[:n-1]
	}
}

// never opens an element that nothing closes.
func (e *elements) never() { e.names = append(e.names, "") }

func (e *elements) any() bool { return len(e.names) > 0 }
