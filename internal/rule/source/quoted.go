package source

import (
	"bytes"
	"iter"
	"regexp"
	"sync"
)

// quotation is how outputs are asked to quote: "words" (URL).
var quotation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^["“]([^"“”\n]{3,400})["”]\s*\(?<?(https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)`)
})

// Quoted yields the words and the URL of each quotation in a text. It looks only
// where a quotation mark stands, which takes a small part of the time that a search
// takes.
func Quoted(text []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(words, url []byte) bool) {
		for {
			at := bytes.IndexAny(text, `"“`)
			if at < 0 {
				return
			}
			text = text[at:]
			end := 1
			if m := quotation().FindSubmatchIndex(text); m != nil {
				if end = m[1]; !yield(text[m[2]:m[3]], text[m[4]:m[5]]) {
					return
				}
			}
			text = text[end:]
		}
	}
}
