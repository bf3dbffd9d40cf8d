package markdown

// bracket is a [ or ![ that may open a link or an image.
type bracket struct {
	node    int // index of its node
	after   int // where the text between the brackets begins
	image   bool
	lastRun int  // the last delimiter run before it
	inner   bool // another bracket was opened after it
}

func (p *inliner) open(start, after int, image bool) {
	if n := len(p.brackets); n > 0 {
		p.brackets[n-1].inner = true
	}
	p.brackets = append(p.brackets, bracket{node: len(p.nodes), after: after, image: image, lastRun: p.lastRun})
	p.add(bracketNode, start, after, nil)
}

// close takes the ] at i, with what follows it where it ends a link or an image.
func (p *inliner) close(i int) int {
	n := len(p.brackets)
	if n == 0 {
		p.add(textNode, i, i+1, nil)
		return i + 1
	}
	opener := p.brackets[n-1]
	p.brackets = p.brackets[:n-1]
	active := opener.image || n-1 >= p.inactive
	p.inactive = min(p.inactive, n-1)
	if active {
		if here, destination, end, ok := p.target(opener, i); ok {
			p.link(opener, i, end, here, destination)
			return end
		}
	}
	p.add(textNode, i, i+1, nil)
	return i + 1
}

// target finds what follows the ] at i: a destination in parentheses, which is
// then here, or the label of a definition.
func (p *inliner) target(opener bracket, i int) (here []byte, destination string, end int, ok bool) {
	if here, end := p.inlineTarget(i + 1); end > 0 {
		return here, "", end, true
	}
	end = i + 1
	var label []byte
	if end < len(p.text) && p.text[end] == '[' {
		if after := labelEnd(p.text, end); after > 0 {
			label, end = p.text[end+1:after-1], after
		} else if end+1 < len(p.text) && p.text[end+1] == ']' {
			end += 2
		}
	}
	if label == nil {
		if opener.inner || labelEnd(p.text, opener.after-1) != i+1 {
			return nil, "", 0, false
		}
		label = p.text[opener.after:i]
	}
	if p.labels == nil {
		return nil, "", 0, false
	}
	destination, ok = p.labels[labelKey(label)]
	return nil, destination, end, ok
}

// inlineTarget is the destination of a link in parentheses that begin at i, and
// the index after them, or 0.
func (p *inliner) inlineTarget(i int) ([]byte, int) {
	if i == len(p.text) || p.text[i] != '(' {
		return nil, 0
	}
	at := skipSpace(p.text, i+1)
	start, end, after := destinationEnd(p.text, at)
	if after < 0 {
		return nil, 0
	}
	at = skipSpace(p.text, after)
	if at > after {
		if title := titleEnd(p.text, at); title > 0 {
			at = skipSpace(p.text, title)
		}
	}
	if at == len(p.text) || p.text[at] != ')' {
		return nil, 0
	}
	return append([]byte{}, unescape(p.text[start:end])...), at + 1
}

// link makes a link or image of what stands between the opener and the ] at i. Its
// destination stands here, or else in a definition.
func (p *inliner) link(opener bracket, i, end int, here []byte, destination string) {
	p.pair(opener.lastRun)
	open, close := linkOpen, linkClose
	if opener.image {
		open, close = imageOpen, imageClose
	} else {
		p.inactive = len(p.brackets)
	}
	if here != nil && p.marked {
		destination = string(here)
	}
	p.nodes[opener.node].kind, p.nodes[opener.node].ref = open, int32(len(p.dests))
	p.add(close, i, end, here)
	p.nodes[len(p.nodes)-1].ref = int32(len(p.dests))
	p.dests = append(p.dests, destination)
}
