package markdown

import "unicode"

// emphasisRun is a run of * or _ that may open or close emphasis. Runs form a list, in
// which indexes are counted from one, so that 0 stands for no run.
type emphasisRun struct {
	node       int // index of its node
	mark       byte
	length     int // as written
	opens      bool
	closes     bool
	prev, next int
	opened     []SpanKind // what its delimiters open, from the inside out
	closed     []SpanKind // what they close, likewise
}

// delimiters takes the run of * or _ at i.
func (p *inliner) delimiters(i int) int {
	mark := p.text[i]
	n := run(p.text[i:], mark)
	end := i + n
	left, right := before(p.text, i), after(p.text, end)
	spaceLeft, spaceRight := isMarkdownSpace(left), isMarkdownSpace(right)
	signLeft, signRight := isSign(left), isSign(right)
	leftFlanking := !spaceRight && (!signRight || spaceLeft || signLeft)
	rightFlanking := !spaceLeft && (!signLeft || spaceRight || signRight)
	r := emphasisRun{node: len(p.nodes), mark: mark, length: n, opens: leftFlanking, closes: rightFlanking, prev: p.lastRun}
	if mark == '_' {
		r.opens = leftFlanking && (!rightFlanking || signLeft)
		r.closes = rightFlanking && (!leftFlanking || signRight)
	}
	p.add(runNode, i, end, nil)
	p.nodes[len(p.nodes)-1].ref = int32(len(p.runs))
	p.runs = append(p.runs, r)
	if p.lastRun > 0 {
		p.runs[p.lastRun-1].next = len(p.runs)
	}
	p.lastRun = len(p.runs)
	if p.firstRun == 0 {
		p.firstRun = p.lastRun
	}
	return end
}

func isMarkdownSpace(r rune) bool {
	return r == '\t' || r == '\n' || r == '\f' || r == '\r' || unicode.Is(unicode.Zs, r)
}

// isSign reports whether r is a punctuation character of CommonMark.
func isSign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// pair uses up the delimiters that make emphasis, in the runs after bottom, and
// takes all these runs from the list.
func (p *inliner) pair(bottom int) {
	// By kind of closer: where the search for its opener ends, because nothing
	// was found there before.
	var searched [2][2][3]int
	closer := p.firstRun
	if bottom > 0 {
		closer = p.runs[bottom-1].next
	}
	for closer > 0 {
		c := &p.runs[closer-1]
		if !c.closes {
			closer = c.next
			continue
		}
		limit := &searched[b2i(c.mark == '_')][b2i(c.opens)][c.length%3]
		*limit = max(*limit, bottom)
		opener := c.prev
		for opener > *limit && !p.match(opener, c) {
			opener = p.runs[opener-1].prev
		}
		if opener <= *limit {
			*limit = c.prev
			next := c.next
			if !c.opens {
				p.drop(closer)
			}
			closer = next
			continue
		}
		for between := c.prev; between != opener; between = p.runs[between-1].prev {
			p.drop(between)
		}
		closer = p.use(opener, closer)
	}
	for p.lastRun != bottom {
		p.drop(p.lastRun)
	}
}

// match reports whether a run opens what c closes.
func (p *inliner) match(opener int, c *emphasisRun) bool {
	o := p.runs[opener-1]
	if o.mark != c.mark || !o.opens {
		return false
	}
	return !(c.opens || o.closes) || c.length%3 == 0 || (o.length+c.length)%3 != 0
}

// use takes one or two delimiters from both runs, and returns the next closer.
func (p *inliner) use(opener, closer int) int {
	o, c := &p.nodes[p.runs[opener-1].node], &p.nodes[p.runs[closer-1].node]
	n := 1
	if o.end-o.start >= 2 && c.end-c.start >= 2 {
		n = 2
	}
	o.end -= n
	c.start += n
	if p.marked {
		kind := EmphasisSpan
		if n == 2 {
			kind = StrongSpan
		}
		p.runs[opener-1].opened = append(p.runs[opener-1].opened, kind)
		p.runs[closer-1].closed = append(p.runs[closer-1].closed, kind)
	}
	if o.start == o.end {
		p.drop(opener)
	}
	if c.start == c.end {
		next := p.runs[closer-1].next
		p.drop(closer)
		return next
	}
	return closer
}

// drop takes a run from the list.
func (p *inliner) drop(at int) {
	r := p.runs[at-1]
	if r.prev > 0 {
		p.runs[r.prev-1].next = r.next
	} else {
		p.firstRun = r.next
	}
	if r.next > 0 {
		p.runs[r.next-1].prev = r.prev
	} else {
		p.lastRun = r.prev
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
