package page

import (
	"bytes"
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Tokens lists the tokens of a document, as they are read in memory or as
// golang.org/x/net/html reads them.
func Tokens(doc []byte, inMemory bool) []string {
	t := newTokens(doc)
	if !inMemory {
		t = newTokensFrom(bytes.NewReader(doc), false)
	}
	var list []string
	for {
		switch kind := t.next(); kind {
		case html.ErrorToken:
			return list
		case html.TextToken:
			size := t.raw()
			list = append(list, fmt.Sprintf("%d bytes of text %q", size, t.textOf()))
		case html.StartTagToken, html.SelfClosingTagToken:
			size, name := t.raw(), t.name()
			var a attributes
			t.readAttributes(name, &a)
			if name == atom.Noscript {
				t.notRaw()
			}
			list = append(list, fmt.Sprintf("%d bytes of %s %s", size, kind, name))
			if a != (attributes{}) {
				list = append(list, fmt.Sprintf("%+v", a))
			}
		case html.EndTagToken:
			list = append(list, fmt.Sprintf("%d bytes of %s %s", t.raw(), kind, t.name()))
		default:
			list = append(list, fmt.Sprintf("%d bytes of something else", t.raw()))
		}
	}
}
