package markdown

import "bytes"

// Text is a Markdown text that is read once in each flavour, whoever looks at it.
// It must not be used by two goroutines at once.
type Text struct {
	Raw           []byte // as it was written
	Source        []byte // without a byte-order mark; every line ends with a line feed
	github, plain *Document
}

// Read takes a text, which must not be changed.
func Read(text []byte) *Text {
	source := bytes.TrimPrefix(text, byteOrderMark)
	for at, c := range source { // a lone carriage return ends a line
		if c != '\r' || at+1 < len(source) && source[at+1] == '\n' {
			continue
		}
		if &source[0] == &text[len(text)-len(source)] {
			source = bytes.Clone(source)
		}
		source[at] = '\n'
	}
	return &Text{Raw: text, Source: source}
}

// GitHub is the text as [ParseGitHub] reads it.
func (t *Text) GitHub() *Document {
	if t.github == nil {
		t.github = ParseGitHub(t.Source)
	}
	return t.github
}

// Plain is the text as [Parse] reads it.
func (t *Text) Plain() *Document {
	if t.plain == nil {
		t.plain = Parse(t.Source)
	}
	return t.plain
}

// Observe, where a test sets it, is called with each text whose blocks are found, and
// whether by the flavour of GitHub.
var Observe func(text []byte, github bool)
