package citation

import (
	"bytes"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline is the content of one block of Markdown as a reader of CommonMark
// takes it apart: text, code, links and what stands between. Reference links are
// text here, because a block does not know its document's definitions.
type inline struct {
	src      []byte
	pieces   []piece
	plain    []byte // text that is no piece yet
	brackets []bracket
	runs     map[int][]int // back-tick runs by their length, positions in order
}

type pieceKind uint8

const (
	textPiece     pieceKind = iota
	markPiece               // emphasis marks that are not text
	codePiece               // the content of a code span
	tagPiece                // HTML, as written
	autolinkPiece           // <https://…>
	urlPiece                // a URL in running text
	citePiece               // [@cid]
	linkPiece               // where the text of a link or image begins
	linkEndPiece            // where it ends, with its destination
)

type piece struct {
	kind pieceKind
	text string // as it is rendered; of a citation the cid
	url  string // of autolinkPiece, urlPiece and linkEndPiece
	mate int    // of linkPiece and linkEndPiece: the index of the other
	run  byte   // of a run of emphasis marks: the character
	open bool   // the run can open emphasis
	shut bool   // the run can close it
}

type bracket struct {
	piece int
	image bool
	dead  bool // inside it is a link, and links do not nest
}

// The longest destination and title of a link that are looked for, and the most
// brackets that may be open, so that many of them cost no more than one.
const (
	maxDestination = MaxURL + 64
	maxLinkTitle   = 1000
	maxBrackets    = 1000
)

// parseInline takes a block apart. Its cost is linear in the block.
func parseInline(src []byte) []piece {
	p := &inline{src: src}
	for at := 0; at < len(p.src); {
		at = p.next(at)
	}
	p.flush()
	p.emphasis()
	return p.pieces
}

// next takes the piece at a position and says where the text goes on.
func (p *inline) next(at int) int {
	c := p.src[at]
	switch c {
	case '\\':
		if at+1 < len(p.src) && isPunct(p.src[at+1]) {
			p.text(p.src[at+1 : at+2])
			return at + 2
		}
	case '`':
		if end, ok := p.code(at); ok {
			return end
		}
		n := runLength(p.src, at)
		p.text(p.src[at : at+n])
		return at + n
	case '<':
		if end, ok := p.angle(at); ok {
			return end
		}
	case '&':
		if plain, n := entity(p.src[at:]); n > 0 {
			p.text([]byte(plain))
			return at + n
		}
	case '!':
		if at+1 < len(p.src) && p.src[at+1] == '[' && !isCitation(p.src, at+1) {
			p.open(true)
			return at + 2
		}
	case '[':
		if isCitation(p.src, at) {
			end := at + bytes.IndexByte(p.src[at:], ']')
			p.add(piece{kind: citePiece, text: string(p.src[at+2 : end])})
			return end + 1
		}
		p.open(false)
		return at + 1
	case ']':
		return p.close(at)
	case '*', '_', '~':
		n := runLength(p.src, at)
		p.run(at, n)
		return at + n
	case 'h', 'H', 'f', 'F':
		if n := schemeLength(p.src[at:]); n > 0 {
			url, end := bareURL(p.src, at, n)
			p.add(piece{kind: urlPiece, text: url, url: url})
			return end
		}
	}
	_, size := utf8.DecodeRune(p.src[at:])
	p.text(p.src[at : at+size])
	return at + size
}

func (p *inline) text(s []byte) { p.plain = append(p.plain, s...) }

// flush makes a piece of the text that was read.
func (p *inline) flush() {
	if len(p.plain) > 0 {
		p.pieces = append(p.pieces, piece{kind: textPiece, text: string(p.plain)})
		p.plain = p.plain[:0]
	}
}

func (p *inline) add(piece piece) {
	p.flush()
	p.pieces = append(p.pieces, piece)
}

// code takes a code span: what stands between two runs of as many back-ticks.
func (p *inline) code(at int) (end int, ok bool) {
	if p.runs == nil {
		p.runs = map[int][]int{}
		for i := at; i < len(p.src); i++ {
			if p.src[i] == '`' {
				n := runLength(p.src, i)
				p.runs[n] = append(p.runs[n], i)
				i += n - 1
			}
		}
	}
	n := runLength(p.src, at)
	runs := p.runs[n]
	for len(runs) > 0 && runs[0] <= at {
		runs = runs[1:]
	}
	p.runs[n] = runs
	if len(runs) == 0 {
		return 0, false
	}
	content := string(p.src[at+n : runs[0]])
	if len(content) > 2 && content[0] == ' ' && content[len(content)-1] == ' ' && strings.Trim(content, " ") != "" {
		content = content[1 : len(content)-1]
	}
	p.add(piece{kind: codePiece, text: content})
	return runs[0] + n, true
}

// angle takes an autolink, a tag or a comment.
func (p *inline) angle(at int) (end int, ok bool) {
	n := bytes.IndexByte(p.src[at:min(len(p.src), at+maxDestination)], '>')
	if n < 0 {
		return 0, false
	}
	inside := p.src[at+1 : at+n]
	end = at + n + 1
	if isAutolink(inside) {
		url := html.UnescapeString(string(inside))
		p.add(piece{kind: autolinkPiece, text: url, url: url})
		return end, true
	}
	if !isTag(inside) {
		return 0, false
	}
	p.add(piece{kind: tagPiece, text: string(p.src[at:end])})
	return end, true
}

// isTag holds for what can stand between the angle brackets of a tag, a
// declaration or a short comment.
func isTag(inside []byte) bool {
	if bytes.HasPrefix(inside, []byte("!--")) || bytes.HasPrefix(inside, []byte("?")) {
		return true
	}
	name := bytes.TrimLeft(inside, "/!")
	n := 0
	for n < len(name) && (isAlnum(name[n]) || name[n] == '-') {
		n++
	}
	return len(inside)-len(name) <= 1 && n > 0 && isLetter(name[0]) && bytes.IndexByte(inside, '<') < 0 &&
		(n == len(name) || name[n] == '/' || name[n] <= ' ')
}

// isAutolink holds for a scheme of 2 to 32 characters, a colon, and no blank or
// angle bracket.
func isAutolink(inside []byte) bool {
	scheme, _, found := bytes.Cut(inside, []byte(":"))
	if !found || len(scheme) < 2 || len(scheme) > 32 || !isLetter(scheme[0]) {
		return false
	}
	for _, c := range scheme {
		if !isAlnum(c) && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return bytes.IndexFunc(inside, func(r rune) bool { return r <= ' ' || r == '<' || r == 0x7f }) < 0
}

func (p *inline) open(image bool) {
	mark := "["
	if image {
		mark = "!["
	}
	p.add(piece{kind: textPiece, text: mark})
	if len(p.brackets) < maxBrackets {
		p.brackets = append(p.brackets, bracket{piece: len(p.pieces) - 1, image: image})
	}
}

// close takes a closing bracket, and with it what makes a link of what is
// inside.
func (p *inline) close(at int) int {
	if len(p.brackets) == 0 {
		p.text([]byte("]"))
		return at + 1
	}
	opener := p.brackets[len(p.brackets)-1]
	p.brackets = p.brackets[:len(p.brackets)-1]
	dest, end, ok := "", 0, false
	if !opener.dead {
		dest, end, ok = linkTail(p.src, at+1)
	}
	if !ok {
		p.text([]byte("]"))
		return at + 1
	}
	p.flush()
	p.pieces[opener.piece] = piece{kind: linkPiece, mate: len(p.pieces)}
	p.add(piece{kind: linkEndPiece, url: dest, mate: opener.piece})
	if !opener.image {
		for i := range p.brackets {
			p.brackets[i].dead = p.brackets[i].dead || !p.brackets[i].image
		}
	}
	return end
}

// linkTail reads (destination "title") at a position.
func linkTail(src []byte, at int) (dest string, end int, ok bool) {
	if at == len(src) || src[at] != '(' {
		return "", 0, false
	}
	at = skipBlanks(src, at+1)
	dest, at, ok = destination(src, at)
	if !ok {
		return "", 0, false
	}
	after := skipBlanks(src, at)
	if after > at {
		after = skipBlanks(src, skipTitle(src, after))
	}
	if after == len(src) || src[after] != ')' {
		return "", 0, false
	}
	return dest, after + 1, true
}

func skipBlanks(src []byte, at int) int {
	for at < len(src) && (src[at] == ' ' || src[at] == '\t' || src[at] == '\n' || src[at] == '\r') {
		at++
	}
	return at
}

// destination reads a link destination, in angle brackets or with balanced
// parentheses.
func destination(src []byte, at int) (dest string, end int, ok bool) {
	limit := min(len(src), at+maxDestination)
	start, depth := at, 0
	if at < limit && src[at] == '<' {
		for at++; at < limit; at++ {
			switch src[at] {
			case '\n', '\r', '<':
				return "", 0, false
			case '\\':
				at++
			case '>':
				return unescape(src[start+1 : at]), at + 1, true
			}
		}
		return "", 0, false
	}
loop:
	for ; at < limit; at++ {
		switch c := src[at]; {
		case c == '\\' && at+1 < limit && isPunct(src[at+1]):
			at++
		case c == '(':
			depth++
		case c == ')':
			if depth == 0 {
				break loop
			}
			depth--
		case c <= ' ' || c == 0x7f:
			break loop
		}
	}
	if depth != 0 || at >= len(src) || at == start+maxDestination {
		return "", 0, false
	}
	return unescape(src[start:at]), at, true
}

// skipTitle is where the title that begins at a position ends; the position
// itself where there is none.
func skipTitle(src []byte, at int) int {
	if at == len(src) {
		return at
	}
	closing := src[at]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return at
	}
	for i := at + 1; i < min(len(src), at+maxLinkTitle); i++ {
		switch src[i] {
		case '\\':
			i++
		case closing:
			return i + 1
		}
	}
	return at
}

// unescape resolves backslash escapes and entities.
func unescape(src []byte) string {
	if !bytes.ContainsAny(src, `\&`) {
		return string(src)
	}
	var b strings.Builder
	for at := 0; at < len(src); {
		plain, n := character(src, at)
		b.WriteString(plain)
		at += n
	}
	return b.String()
}

// character is what the source at a position renders as, and its length.
func character(src []byte, at int) (plain string, n int) {
	switch c := src[at]; {
	case c == '\\' && at+1 < len(src) && isPunct(src[at+1]):
		return string(src[at+1 : at+2]), 2
	case c == '&':
		if plain, n := entity(src[at:]); n > 0 {
			return plain, n
		}
	}
	_, n = utf8.DecodeRune(src[at:])
	return string(src[at : at+n]), n
}

// entity reads an entity or character reference; n is 0 where there is none.
func entity(src []byte) (plain string, n int) {
	const longest = 34
	n = bytes.IndexByte(src[:min(len(src), longest)], ';') + 1
	if n < 3 {
		return "", 0
	}
	for _, c := range src[1 : n-1] {
		if !isAlnum(c) && c != '#' {
			return "", 0
		}
	}
	raw := string(src[:n])
	if plain = html.UnescapeString(raw); strings.HasSuffix(plain, ";") && plain != ";" {
		return "", 0 // only a part of it is known
	}
	return plain, n
}

// run takes a run of emphasis marks; [inline.emphasis] decides whether they are
// text.
func (p *inline) run(at, n int) {
	before, _ := utf8.DecodeLastRune(p.src[:at])
	after, _ := utf8.DecodeRune(p.src[at+n:])
	blankBefore, blankAfter := at == 0 || unicode.IsSpace(before), at+n == len(p.src) || unicode.IsSpace(after)
	left := !blankAfter && (!isMark(after) || blankBefore || isMark(before))
	right := !blankBefore && (!isMark(before) || blankAfter || isMark(after))
	c := p.src[at]
	found := piece{kind: textPiece, text: string(p.src[at : at+n]), run: c, open: left, shut: right}
	if c == '_' {
		found.open, found.shut = left && (!right || isMark(before)), right && (!left || isMark(after))
	}
	if c == '~' && n != 2 {
		found.run = 0
	}
	p.add(found)
}

// emphasis makes marks of the runs that open or close emphasis. It pairs whole
// runs, so that of **a* no star is text.
func (p *inline) emphasis() {
	var openers [3][]int
	for i := range p.pieces {
		c := p.pieces[i].run
		if c == 0 {
			continue
		}
		stack := &openers[strings.IndexByte("*_~", c)]
		if p.pieces[i].shut && len(*stack) > 0 {
			opener := (*stack)[len(*stack)-1]
			*stack = (*stack)[:len(*stack)-1]
			p.pieces[opener].kind, p.pieces[i].kind = markPiece, markPiece
		} else if p.pieces[i].open {
			*stack = append(*stack, i)
		}
	}
}

func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func isPunct(c byte) bool { return '!' <= c && c <= '~' && !isAlnum(c) }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func runLength(src []byte, at int) int {
	n := 1
	for at+n < len(src) && src[at+n] == src[at] {
		n++
	}
	return n
}

// isCitation reports whether [@cid] stands at a position.
func isCitation(src []byte, at int) bool {
	if at+1 >= len(src) || src[at+1] != '@' {
		return false
	}
	n := bytes.IndexAny(src[at:min(len(src), at+maxLinkTitle)], "]\r\n")
	return n > 0 && src[at+n] == ']'
}

// rendered is the text of pieces as a reader sees it, without citations.
func rendered(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		switch p.kind {
		case textPiece, codePiece, autolinkPiece, urlPiece:
			b.WriteString(p.text)
		}
	}
	return b.String()
}
