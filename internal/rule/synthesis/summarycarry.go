package synthesis

import (
	"bytes"
	"io"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// carrier turns passages of a wave output into text that a summary may hold:
// citations that the pool has stay, URLs that it maps become citations, and all
// other URLs and citations are removed.
type carrier struct {
	pool            *source.Pool
	urls, citations int // how many were removed
}

// carry is a passage on one line, and the first cid that it carries, "" when it
// carries none. The text is nil when nothing is left of the passage.
func (c *carrier) carry(passage []byte) (text []byte, cid string) {
	line := bytes.Join(bytes.Fields(passage), []byte(" "))
	before := *c
	// What is removed leaves a gap. Closing it can make a URL or a citation of
	// what stood on its two sides; then the gap stays.
	for _, close := range []bool{true, false} {
		*c = before
		text, cid = c.rewrite(line, close)
		if cid == "" && *c != before && !bytes.ContainsFunc(text, isWord) {
			return nil, "" // only marks are left
		}
		if c.clean(text) {
			return text, cid
		}
	}
	return nil, ""
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// clean reports whether a summary may have text as a list item.
func (c *carrier) clean(text []byte) bool {
	return summaryFault("", claim.Inspect(append([]byte("- "), text...)), c.pool) == nil
}

func (c *carrier) rewrite(line []byte, close bool) (text []byte, cid string) {
	out := make([]byte, 0, len(line)+64)
	urls := link.FindURLs(line)
	url, hasURL := urls.Next(0)
	mention, hasMention := link.NextMention(line, 0)
	at, quotes := 0, 0 // marks before at
	for hasURL || hasMention {
		isMention := hasMention && (!hasURL || mention.Start < url.Start)
		piece, stands := mention, ""
		if isMention {
			stands = c.kept(string(mention.CID(line)))
		} else {
			piece, stands = c.resolved(line, url)
		}
		out, quotes = append(out, line[at:piece.Start]...), quotes+quotationMarks(line[at:piece.Start])
		quoted := !isMention && quotes%2 == 1 && !bytes.HasSuffix(out, []byte("(")) && !bytes.HasSuffix(out, []byte("<")) && bytes.ContainsAny(line[piece.End:], `"”`)
		scheme, bare := bytes.CutSuffix(piece.Of(line), []byte("//"))
		if bare = bare && !isMention; !isMention && close && !bare {
			out, piece.End = unwrap(out, line, piece)
		}
		switch {
		case bare: // it names a way, and leads nowhere
			out = append(out, scheme...)
		case quoted:
			out = append(bytes.TrimSuffix(out, []byte(" ")), " …"...) // which joins the quoted words around it
		case stands != "":
			out = cite(out, stands)
			if cid == "" {
				cid = stands
			}
		case close:
			out, piece.End = closeGap(out, line, piece.End)
		default:
			out = append(bytes.TrimSuffix(out, []byte(" ")), ' ')
		}
		at = piece.End
		if hasURL && url.Start < at {
			url, hasURL = urls.Next(at)
		}
		if hasMention && mention.Start < at {
			mention, hasMention = link.NextMention(line, at)
		}
	}
	return bytes.TrimSpace(append(out, line[at:]...)), cid
}

// kept is cid when a summary may cite it, otherwise "".
func (c *carrier) kept(cid string) string {
	if c.pool.Citable(cid) {
		return cid
	}
	c.citations++
	return ""
}

// resolved is a URL as it should be read, with or without the punctuation at its
// end, and the cid that stands for it, "" when none does.
func (c *carrier) resolved(line []byte, url link.Span) (link.Span, string) {
	trimmed := link.TrimURL(line, url)
	for _, candidate := range []link.Span{url, trimmed} {
		if cid := c.pool.CIDOf(string(candidate.Of(line))); cid != "" {
			return candidate, cid
		}
	}
	if !bytes.HasSuffix(trimmed.Of(line), []byte("://")) {
		c.urls++
	}
	return trimmed, ""
}

// quotationMarks counts the marks that open and close quotations.
func quotationMarks(text []byte) (n int) {
	for _, mark := range []string{`"`, "“", "”"} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}

// cite appends a citation. One that repeats the last one is left out: a link
// often shows the URL that it leads to.
func cite(out []byte, cid string) []byte {
	mark := []byte("[@" + cid + "]")
	if bytes.HasSuffix(bytes.TrimSuffix(out, []byte(" ")), mark) {
		return bytes.TrimSuffix(out, []byte(" "))
	}
	return append(out, mark...)
}

// closeGap closes the gap between what was written and what follows from at:
// brackets that are left empty are removed, and so is a blank before punctuation.
// It says where the text goes on.
func closeGap(out, line []byte, at int) ([]byte, int) {
	for {
		out = bytes.TrimSuffix(out, []byte(" "))
		for at < len(line) && line[at] == ' ' {
			at++
		}
		if len(out) == 0 || at == len(line) {
			break
		}
		pair := string([]byte{out[len(out)-1], line[at]})
		if pair != "()" && pair != "[]" && pair != "<>" {
			break
		}
		out, at = out[:len(out)-1], at+1
	}
	if at < len(line) && bytes.IndexByte([]byte(",.;:!?)"), line[at]) >= 0 {
		return out, at
	}
	return append(out, ' '), at
}

// unwrap takes away what stands around a URL only because of it: the marks of an
// autolink, the syntax of a link, of which only the text stays, and parentheses
// that hold nothing else. Out is what was written before the URL, and the result
// says where the text goes on after it.
func unwrap(out, line []byte, url link.Span) ([]byte, int) {
	if bytes.HasSuffix(out, []byte("<")) && bytes.HasPrefix(line[url.End:], []byte(">")) {
		out, url.End = out[:len(out)-1], url.End+1
	}
	text, isLink := bytes.CutSuffix(out, []byte("]("))
	if !isLink {
		if bytes.HasSuffix(out, []byte("(")) && bytes.HasPrefix(line[url.End:], []byte(")")) {
			return out[:len(out)-1], url.End + 1
		}
		return out, url.End
	}
	end, open := linkEnd(line, url.End), openingBracket(text)
	if end < 0 || open < 0 {
		return out, url.End
	}
	label := bytes.Clone(text[open+1:])
	if open > 0 && out[open-1] == '!' {
		open--
	}
	return append(append(out[:open], label...), ' '), end
}

// maxLink is the longest text or title of a link that is recognised, so that
// many brackets that open nothing cost no more than one.
const maxLink = 1000

// linkEnd is where a link whose destination ends at from ends: after an optional
// title and the closing parenthesis. It is -1 for what is not a link.
func linkEnd(line []byte, from int) int {
	at := from
	if at+2 < len(line) && line[at] == ' ' && bytes.IndexByte([]byte(`"'(`), line[at+1]) >= 0 {
		closing := line[at+1]
		if closing == '(' {
			closing = ')'
		}
		at += 2
		n := bytes.IndexByte(line[at:min(len(line), at+maxLink)], closing)
		if n < 0 {
			return -1
		}
		at += n + 1
	}
	if at < len(line) && line[at] == ' ' {
		at++
	}
	if at == len(line) || line[at] != ')' {
		return -1
	}
	return at + 1
}

// openingBracket is the index of the bracket that opens the link text which
// ends text, -1 when there is none.
func openingBracket(text []byte) int {
	depth := 0
	for i := len(text) - 1; i >= max(0, len(text)-maxLink); i-- {
		switch text[i] {
		case ']':
			depth++
		case '[':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// AddNamedURLs adds the keys of every URL of an output, as a [SummaryWriter] may
// read it: no other URL of the pool is looked for. The only errors are those of r.
func AddNamedURLs(keys map[string]bool, scanner *markdown.Scanner, r io.Reader) error {
	_, err := scanner.Scan(r, markdown.Events{Passage: func(p markdown.Passage) {
		line := bytes.Join(bytes.Fields(p.Text), []byte(" "))
		urls := link.FindURLs(line)
		for at := 0; ; {
			url, ok := urls.Next(at)
			if !ok {
				return
			}
			trimmed := link.TrimURL(line, url)
			for _, candidate := range []link.Span{url, trimmed} {
				for _, key := range link.Keys(string(candidate.Of(line))) {
					keys[key] = true
				}
			}
			at = trimmed.End
		}
	}})
	return err
}
