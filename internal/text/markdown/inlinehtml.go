package markdown

import "bytes"

// autolinkEnd is the length of the autolink of a URI that b, which begins with
// <, begins with, or 0.
func autolinkEnd(b []byte) int {
	n := 1
	for n < len(b) && (isLetter(b[n]) || n > 1 && (isDigit(b[n]) || b[n] == '+' || b[n] == '.' || b[n] == '-')) {
		n++
	}
	if scheme := n - 1; scheme < 2 || scheme > 32 || n == len(b) || b[n] != ':' {
		return 0
	}
	for ; n < len(b); n++ {
		switch c := b[n]; {
		case c == '>':
			return n + 1
		case c == '<', c <= ' ' && c != 0, c == 0x7F:
			return 0
		}
	}
	return 0
}

// emailEnd is the length of the autolink of an e-mail address that b, which
// begins with <, begins with, or 0.
func emailEnd(b []byte) int {
	n := 1
	for n < len(b) && (isLetter(b[n]) || isDigit(b[n]) || bytes.IndexByte([]byte(".!#$%&'*+/=?^_`{|}~-"), b[n]) >= 0) {
		n++
	}
	if n == 1 || n == len(b) || b[n] != '@' {
		return 0
	}
	for n++; ; n++ {
		begin := n
		for n < len(b) && (isLetter(b[n]) || isDigit(b[n]) || b[n] == '-') {
			n++
		}
		if label := n - begin; label == 0 || label > 63 || n == len(b) || b[begin] == '-' || b[n-1] == '-' {
			return 0
		}
		switch b[n] {
		case '>':
			return n + 1
		case '.':
		default:
			return 0
		}
	}
}

// htmlEnd is the index after the HTML that begins with the < at i, or 0: a tag,
// a comment, a processing instruction, a declaration or a CDATA section.
func (p *inliner) htmlEnd(i int) int {
	b := p.text[i:]
	if len(b) < 3 {
		return 0
	}
	switch {
	case b[1] == '?':
		return p.find(i, 2, "?>", &p.noInstruction)
	case b[1] != '!':
		if n := tagEnd(b); n > 0 {
			return i + n
		}
		return 0
	case bytes.HasPrefix(b, []byte("<!-->")):
		return i + len("<!-->")
	case bytes.HasPrefix(b, []byte("<!--->")):
		return i + len("<!--->")
	case bytes.HasPrefix(b, []byte("<!--")):
		return p.find(i, 4, "-->", &p.noComment)
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return p.find(i, 9, "]]>", &p.noData)
	case isLetter(b[2]):
		return p.find(i, 3, ">", &p.noDeclaration)
	}
	return 0
}

// find is the index after the first mark from byte n on of what begins at i, or 0.
// A search that finds none is made only once.
func (p *inliner) find(i, n int, mark string, none *int) int {
	if *none > 0 && i+n >= *none {
		return 0
	}
	at := bytes.Index(p.text[i+n:], []byte(mark))
	if at < 0 {
		*none = i + n
		return 0
	}
	return i + n + at + len(mark)
}

// tagEnd is the length of the open or closing tag that b, which begins with <,
// begins with: 0 when there is none, and -1 when b ends before the tag does.
func tagEnd(b []byte) int {
	i := 1
	closing := i < len(b) && b[i] == '/'
	if closing {
		i++
	}
	name := len(tagName(b[i:]))
	if name == 0 {
		return 0
	}
	i += name
	for {
		space := i
		i = skipSpace(b, i)
		switch {
		case i == len(b):
			return -1
		case b[i] == '>':
			return i + 1
		case closing:
			return 0
		case b[i] == '/' && i+1 == len(b):
			return -1
		case b[i] == '/' && b[i+1] == '>':
			return i + 2
		}
		n := attributeName(b[i:])
		if n == 0 || i == space {
			return 0
		}
		i += n
		if at := skipSpace(b, i); at < len(b) && b[at] == '=' {
			at = skipSpace(b, at+1)
			if at == len(b) {
				return -1
			}
			n := attributeValue(b[at:])
			if n < 0 && (b[at] == '"' || b[at] == '\'') {
				return -1
			}
			if n < 0 {
				return 0
			}
			i = at + n
		}
	}
}
