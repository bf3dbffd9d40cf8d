package quotation

import "strings"

// Block is a block of a document, and its text where it stands in a block quote.
type Block struct {
	Passage int // the number of the one that it belongs to, 0 for none
	Quoted  bool
	Text    string
}

// InBlocks are the quotations that block quotes make, each under the passage
// that cites for it. A quotation is everything in a block quote up to the end of a
// passage with a citation; what follows the last one belongs to it.
func InBlocks(blocks []Block, cited map[int]bool) map[int]string {
	texts := map[int][]string{}
	var pending []string
	last := 0 // the passage of this quote with the last citation
	for _, b := range append(blocks, Block{}) {
		switch {
		case !b.Quoted:
			texts[last] = append(texts[last], pending...)
			pending, last = nil, 0
		case cited[b.Passage]:
			texts[b.Passage] = append(append(texts[b.Passage], pending...), b.Text)
			pending, last = nil, b.Passage
		default:
			pending = append(pending, b.Text)
		}
	}
	out := map[int]string{}
	for passage, list := range texts {
		if passage > 0 { // otherwise nothing is cited for it
			out[passage] = joinQuoted(list)
		}
	}
	return out
}

// joinQuoted joins the blocks of a quotation. Between long ones the page may have
// more; short ones must stand together with those beside them.
func joinQuoted(blocks []string) string {
	var b strings.Builder
	before := 0 // the words of the block before
	for i, text := range blocks {
		words := countQuoted(text)
		switch {
		case i == 0:
		case before < quotedWords || words < quotedWords:
			b.WriteByte('\n')
		default:
			b.WriteString(" … ")
		}
		b.WriteString(text)
		before = words
	}
	return b.String()
}
