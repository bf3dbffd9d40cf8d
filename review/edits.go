package review

import "slices"

// mostEdits bounds the search for the shortest way from one version to the other,
// whose cost grows with the square of its length. Versions further apart than that
// are shown as the removal of one and the addition of the other.
const mostEdits = 1000

// edits is the way from the lines before to the lines after, with the lines of
// both.
func edits(before, after []string) []Line {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	b := builder{lines: make([]Line, 0, len(after)+8)}
	b.both(after[:head])
	b.between(before[head:len(before)-tail], after[head:len(after)-tail])
	b.both(after[len(after)-tail:])
	return b.lines
}

// builder numbers the lines as they come.
type builder struct {
	lines []Line
	count int // lines of the later version so far
}

func (b *builder) both(lines []string) {
	for _, text := range lines {
		b.count++
		b.lines = append(b.lines, Line{' ', b.count, text})
	}
}

func (b *builder) remove(lines []string) {
	for _, text := range lines {
		b.lines = append(b.lines, Line{'-', 0, text})
	}
}

func (b *builder) add(lines []string) {
	for _, text := range lines {
		b.count++
		b.lines = append(b.lines, Line{'+', b.count, text})
	}
}

// between adds the shortest way between two texts that begin and end
// differently.
func (b *builder) between(before, after []string) {
	x, y := 0, 0
	for _, s := range snakes(before, after) {
		b.remove(before[x:s.x])
		b.add(after[y:s.y])
		b.both(after[s.y : s.y+s.length])
		x, y = s.x+s.length, s.y+s.length
	}
	b.remove(before[x:])
	b.add(after[y:])
}

// snake is a stretch of lines that both texts have.
type snake struct{ x, y, length int }

// snakes are the common stretches on the shortest way from a to b, in order, by
// the greedy algorithm of Myers; none when the way is longer than mostEdits.
func snakes(a, b []string) []snake {
	if len(a) == 0 || len(b) == 0 {
		return nil // nothing is common, and looking for it costs the most
	}
	most := min(len(a)+len(b), mostEdits)
	reach := make([]int, 2*most+2) // by diagonal, how far a way of d edits comes in a
	var trace [][]int              // reach before each d, from diagonal -d to d
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(reach[most-d:most+d+2]))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && reach[most+k-1] < reach[most+k+1]:
				x = reach[most+k+1]
			default:
				x = reach[most+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			reach[most+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(trace, len(a), len(b))
			}
		}
	}
	return nil
}

// walkBack finds the stretches on the way to the end of both texts.
func walkBack(trace [][]int, x, y int) []snake {
	var found []snake
	for d := len(trace) - 1; d >= 0; d-- {
		before := func(k int) int { return trace[d][k+d] }
		k := x - y
		fromX, fromY := 0, 0
		if d > 0 {
			from := k - 1
			if k == -d || k != d && before(k-1) < before(k+1) {
				from = k + 1
			}
			fromX = before(from)
			fromY = fromX - from
		}
		startX := fromX
		if d > 0 && k > fromX-fromY {
			startX++
		}
		if length := x - startX; length > 0 {
			found = append(found, snake{startX, startX - k, length})
		}
		x, y = fromX, fromY
	}
	slices.Reverse(found)
	return found
}
