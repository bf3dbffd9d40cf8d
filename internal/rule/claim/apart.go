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

// sheet is a table of a page: lines with tabs below each other.
type sheet struct {
	columns []column
	rows    int // without the head
}

// column is what a column says: how often each cell stands in it.
type column struct {
	head  string
	cells map[string]int
}

// The limits on what is counted of the tables of a page.
const (
	mostSheetColumns = 64
	mostCells        = 1 << 16
)

// sheets reads the tables of a page: the first line of each is its head, which may stand
// before each cell below it, too.
func (p *Page) sheets() (all []sheet) {
	in, left := false, mostCells
	for line := range strings.Lines(p.Text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) < 2 || left <= 0 {
			in = false
			continue
		}
		if !in {
			var s sheet
			for _, cell := range cells[:min(len(cells), mostSheetColumns)] {
				head, first, own := strings.Cut(cell, ": ") // of a table whose head stands before its cells alone
				if s.columns = append(s.columns, column{head, map[string]int{}}); own {
					s.columns[len(s.columns)-1].cells[first]++
				}
			}
			in, all = true, append(all, s)
			continue
		}
		s := &all[len(all)-1]
		s.rows++
		for i, cell := range cells {
			if left--; left < 0 {
				break
			}
			at := slices.IndexFunc(s.columns, func(c column) bool { return c.head != "" && strings.HasPrefix(cell, c.head+": ") })
			if at >= 0 {
				cell = cell[len(s.columns[at].head)+2:]
			} else if at = i; at >= len(s.columns) {
				continue
			}
			s.columns[at].cells[cell]++
		}
	}
	return all
}

// counted says what of the page's tables a number counts: rows, those with a cell that the
// sentence names, or what is different in a column that it names; "" for nothing.
func (r *reading) counted(a *asked, n number) string {
	if n.Written || n.Unit() != "" || !strings.Contains(r.page.Text, "\t") {
		return ""
	}
	is := func(count int) bool { return count > 1 && figuresIn(strconv.Itoa(count), &n) }
	text := " " + foldedWords(a.text) + " "
	names := func(cell string) bool {
		folded := foldedWords(cell)
		return folded != "" && strings.Contains(text, " "+folded+" ")
	}
	if r.tables == nil {
		r.tables = r.page.sheets()
	}
	for _, s := range r.tables {
		for _, c := range s.columns {
			headed := a.speaksOf(c.head)
			if headed && (is(len(c.cells)) || is(s.rows) || is(s.rows+1)) {
				return "a count of its table's rows"
			}
			for cell, count := range c.cells {
				if (names(cell) || headed && names(c.head)) && is(count) {
					return "a count of its table's rows"
				}
			}
		}
	}
	return ""
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
