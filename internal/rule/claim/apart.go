package claim

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
)

// apart says where a number stands that the text of the page does not have: in the question
// of the run, above the page, or in its tables as a count. It is "" for nowhere. Whether
// the number is right there is for a reader to judge.
func (r *reading) apart(a *asked, n number) string {
	switch {
	case n.namedIn(a.question):
		return "in the question"
	case n.namedIn(r.page.Title):
		return "in the title of the page"
	case slices.ContainsFunc(r.page.Headings, n.namedIn):
		return "in a heading of the page"
	case n.namedIn(namesOf(r.page.Address)):
		return "in the address of the page"
	}
	return r.counted(a, n)
}

// namedIn reports whether a text has a number, or a version that begins with it: what has
// version 5.0.0 in its name is version 5, too.
func (n *number) namedIn(text string) bool {
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	if !n.Written && figuresIn(text, n) {
		return true
	}
	if n.Unit() != "" {
		return false
	}
	for version := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' }) {
		version = strings.Trim(version, ".")
		if version == n.text || strings.Count(version, ".") > 1 && strings.HasPrefix(version, n.text+".") {
			return true
		}
	}
	return false
}

func figuresIn(text string, n *number) bool {
	index := figure.NewIndex()
	index.Want(n.Readings)
	index.Read(text)
	_, _, found := index.Find(n.Readings)
	return found
}

// namesOf is an address in words: without the ending of its file, and with a blank where
// names of files have another sign.
func namesOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		address = u.Hostname() + " " + strings.TrimSuffix(u.Path, path.Ext(u.Path))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return r
		}
		return ' '
	}, address)
}

// counts are what the columns of a table say, and how often.
type counts struct {
	columns []column
	rows    int // without the head
}

type column struct {
	head  string
	cells map[string]int
}

// The limits on what is counted of the tables of a page.
const (
	mostColumns = 64
	mostCells   = 1 << 16
)

// counts reads the tables of a page: the first line of each is its head, which may stand
// before each cell below it, too.
func (p *Page) counts(tables []table) (all []counts) {
	left := mostCells
	for _, t := range tables {
		var c counts
		for line := range strings.Lines(p.Text[t.start:t.end]) {
			cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			cells = cells[:min(len(cells), mostColumns)]
			if left -= len(cells); left < 0 {
				return all // what is counted in part is not counted
			}
			if c.columns == nil {
				for _, cell := range cells {
					c.columns = append(c.columns, column{cell, map[string]int{}})
				}
				continue
			}
			c.rows++
			for i, cell := range cells {
				at := slices.IndexFunc(c.columns, func(c column) bool { return c.head != "" && strings.HasPrefix(cell, c.head+": ") })
				if at >= 0 {
					c.columns[at].cells[cell[len(c.columns[at].head)+2:]]++
				} else if i < len(c.columns) {
					c.columns[i].cells[cell]++
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// counted says what of the page's tables a number counts: rows, those with a cell that the
// sentence names, or what is different in a column that it names; "" for nothing.
func (r *reading) counted(a *asked, n number) string {
	if n.Written || n.Unit() != "" || len(r.tables) == 0 {
		return ""
	}
	is := func(count int) bool { return count > 1 && figuresIn(strconv.Itoa(count), &n) }
	if r.counts == nil {
		r.counts = r.page.counts(r.tables)
	}
	for _, s := range r.counts {
		for _, c := range s.columns {
			headed := a.speaksOf(c.head)
			if headed && (is(len(c.cells)) || is(s.rows) || is(s.rows+1)) {
				return "a count of its table's rows"
			}
			for cell, count := range c.cells {
				if (r.names(a, cell) || headed && r.names(a, c.head)) && is(count) {
					return "a count of its table's rows"
				}
			}
		}
	}
	return ""
}

// names reports whether a sentence has all words of a cell.
func (r *reading) names(a *asked, cell string) bool {
	if r.folded == nil {
		r.folded = map[*asked]string{}
	}
	if r.folded[a] == "" {
		r.folded[a] = " " + foldedWords(a.text) + " "
	}
	folded := foldedWords(cell)
	return folded != "" && strings.Contains(r.folded[a], " "+folded+" ")
}

// unitless visits the cells that have the value of a number and no unit, in rows of which the
// sentence names another cell, and reports whether there is one.
func (r *reading) unitless(a *asked, n number, visit func(start, end int)) (found bool) {
	if n.Unit() == "" || len(r.tables) == 0 {
		return false
	}
	text := r.page.Text
	r.figures.Unitless(n.Readings, func(start, end int) {
		from, to := strings.LastIndexByte(text[:start], '\n')+1, end
		if line, _, _ := strings.Cut(text[end:], "\n"); strings.Contains(text[from:end]+line, "\t") {
			to += len(line)
		}
		whole, named, at := false, false, from
		for cell := range strings.SplitSeq(text[from:to], "\t") {
			value := cell
			if _, behind, is := strings.Cut(cell, ": "); is { // the head of its column
				value = behind
			}
			if at <= start && end <= at+len(cell) {
				whole = at+len(cell)-len(value) == start && end == at+len(cell)
			} else {
				named = named || r.names(a, value)
			}
			at += len(cell) + 1
		}
		if whole && named {
			found = true
			visit(start, end)
		}
	})
	return found
}

func foldedWords(text string) string {
	var words []string
	page.EachFolded(text, func(word []byte, _ int) { words = append(words, string(word)) })
	return strings.Join(words, " ")
}

// speaksOf reports whether a sentence has a word of the head of a column, which may be
// shortened there.
func (a *asked) speaksOf(head string) (found bool) {
	const least = 3
	page.EachFolded(page.CutBytes(head, titleBytes), func(word []byte, _ int) {
		short := string(a.endings.stem(word))
		found = found || len(short) >= least && slices.ContainsFunc(a.words, func(w string) bool {
			return strings.HasPrefix(w, short)
		})
	})
	return found
}
