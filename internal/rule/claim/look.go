package claim

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/figure"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// look is what one page has of what a sentence states.
type look struct {
	page       *Page
	passages   []passage
	tables     []table
	numbers    []spot   // by number
	uncounted  []bool   // by number: the page counts nothing of the kind
	apart      []string // by number that the text does not have: where else it stands, "" for nowhere
	quotations []spot
	dates      []spot
	names      []bool
	titles     []bool // by quotation: the page has most of its words
	instead    []bool // by date: the best window has another one in its place
	years      bool   // the best window names a year
	foreign    bool   // the page is in another language
	share      float64
	near       []difference
	follows    []int       // the clauses of the sentence that the page has as they are said
	windows    []candidate // the best ones, in order
	loose      []candidate // the same for a page whose words say little
}

// spot is where a page has something first, if it does.
type spot struct {
	found      bool
	start, end int
}

// holds reports whether the page has something of a sentence that is rare: a number,
// date, quotation or name.
func (l *look) holds() bool {
	return slices.Contains(l.names, true) || slices.Contains(l.uncounted, true) ||
		slices.ContainsFunc(slices.Concat(l.numbers, l.quotations, l.dates), func(s spot) bool { return s.found })
}

// reading is a page that is prepared for the sentences that cite it.
type reading struct {
	page      *Page
	languages []string
	passages  []passage
	words     map[string]int32 // the words that are asked for
	postings  [][]int32        // by word: the passages that have it
	elsewhere map[string]bool  // words of the title and the address
	figures   *figure.Index
	dates     []figure.Date
	quoted    []bool // by passage: an output quotes it
	tables    []table
	rows      []bool            // by passage: it is a row of a large table; nil for none
	kin       *kin              // of its words, once they are asked for
	counts    []counts          // of the tables, once they are asked for
	folded    map[*asked]string // their words, likewise
}

// lookAt looks on one page for what the sentences state that cite it.
func lookAt(p *Page, citing []*asked) []look {
	r := reading{page: p, tables: p.tables(), languages: languagesOf(p.Text), words: map[string]int32{}, elsewhere: map[string]bool{}, figures: figure.NewIndex()}
	r.passages = passages(p.Text, append(r.languages, "")[0])
	r.rows = r.rowsOf()
	finder := quotation.NewFinder()
	searches := make([][]*quotation.Search, len(citing))
	var stems []endings // of each language that is asked in
	languages := map[string]bool{}
	for k, a := range citing {
		if !languages[a.language] {
			languages[a.language] = true
			stems = append(stems, a.endings)
		}
		if len(a.dates) > 0 && r.dates == nil {
			r.dates = figure.Dates(p.Text, r.languages)
		}
		r.want(a.words)
		for _, n := range slices.Concat(a.names, a.titles) {
			r.want(n.words)
		}
		for _, q := range a.quotations {
			searches[k] = append(searches[k], finder.Add(q))
		}
		for _, n := range a.numbers {
			if n.noun != "" {
				r.want([]string{n.noun})
			}
			if n.Written {
				searches[k] = append(searches[k], finder.Add(quotation.AsWritten(n.text)))
			} else {
				r.figures.Want(n.Readings)
			}
		}
	}
	var quoted []*quotation.Search
	for _, text := range p.Quoted {
		if q, ok := quotation.New(text); ok {
			quoted = append(quoted, finder.Add(q))
		}
	}
	r.readWords(stems)
	if len(r.languages) > 0 {
		r.figures.ReadIn(p.Text, r.languages)
	} else {
		r.figures.Read(p.Text)
	}
	finder.Run(p.Text)
	r.quoted = make([]bool, len(r.passages))
	for _, s := range quoted {
		if s.Found {
			r.quoted[r.passageAt(s.Start)] = true
		}
	}
	looks := make([]look, len(citing))
	for k, a := range citing {
		looks[k] = r.look(a, searches[k])
	}
	return looks
}

func (r *reading) want(words []string) {
	for _, word := range words {
		if _, known := r.words[word]; !known {
			r.words[word] = int32(len(r.postings))
			r.postings = append(r.postings, nil)
		}
	}
}

// readWords finds the passages that have the words that are asked for.
func (r *reading) readWords(stems []endings) {
	at := 0
	page.EachFolded(r.page.Text, func(word []byte, from int) {
		for at+1 < len(r.passages) && from >= r.passages[at+1].start {
			at++
		}
		for _, list := range stems {
			if id, wanted := r.words[string(list.stem(word))]; wanted {
				if p := r.postings[id]; len(p) == 0 || p[len(p)-1] != int32(at) {
					r.postings[id] = append(p, int32(at))
				}
			}
		}
	})
	page.EachFolded(r.page.Title+" "+r.page.Address, func(word []byte, _ int) {
		for _, list := range stems {
			r.elsewhere[string(list.stem(word))] = true
		}
	})
}

// shortLine is how many bytes a line has at least that shows a language.
const shortLine = 60

// languagesOf are the languages of a text, the most frequent first: each in which a
// tenth of it is written.
func languagesOf(text string) []string {
	counts, total := map[string]int{}, 0
	for line := range strings.SplitSeq(page.CutBytes(text, page.LanguageSample), "\n") {
		if len(line) < shortLine {
			continue
		}
		if language := page.Language(line); language != "" {
			counts[language] += len(line)
			total += len(line)
		}
	}
	var languages []string
	for language, n := range counts {
		if 10*n >= total {
			languages = append(languages, language)
		}
	}
	slices.SortFunc(languages, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return languages
}

// passageAt is the passage of a place.
func (r *reading) passageAt(at int) int {
	return max(0, sort.Search(len(r.passages), func(i int) bool { return r.passages[i].start > at })-1)
}

// look looks for what one sentence states.
func (r *reading) look(a *asked, searches []*quotation.Search) look {
	l := look{page: r.page, passages: r.passages, tables: r.tables, numbers: make([]spot, len(a.numbers)), uncounted: make([]bool, len(a.numbers)), apart: make([]string, len(a.numbers)),
		quotations: make([]spot, len(a.quotations)), dates: make([]spot, len(a.dates)), names: make([]bool, len(a.names)),
		instead: make([]bool, len(a.dates)), foreign: a.language != "" && len(r.languages) > 0 && !slices.Contains(r.languages, a.language) && !slices.Contains(r.languages, a.detected)}
	holds := picker{reading: r}
	if !l.foreign {
		if l.near, l.follows = r.near(a); len(l.near) > 0 {
			holds.items = append(holds.items, item{at: []int32{int32(r.passageAt(l.near[0].at))}, fact: true, differs: true})
		}
	}
	var places []int32 // of one fact
	var first spot
	at := func(start, end int) {
		if !first.found || start < first.start {
			first = spot{true, start, end}
		}
		places = append(places, int32(r.passageAt(start)))
	}
	fact := func(found *spot) {
		if len(places) > 0 {
			slices.Sort(places)
			holds.items = append(holds.items, item{at: slices.Compact(slices.Clone(places)), fact: true})
		}
		*found, places, first = first, places[:0], spot{}
	}
	search := func(found *spot) {
		if s := searches[0]; s.Found {
			at(s.Start, s.End)
		}
		searches = searches[1:]
		fact(found)
	}
	for i := range a.quotations {
		search(&l.quotations[i])
	}
	for i, n := range a.numbers {
		if n.Written {
			if search(&l.numbers[i]); !l.numbers[i].found {
				l.apart[i] = r.apart(a, n)
			}
			continue
		}
		r.figures.Places(n.Readings, at)
		if len(places) == 0 {
			if start := literal(r.page.Text, n.phrase); start >= 0 {
				at(start, start+len(n.phrase))
			}
		}
		bare := len(places) == 0 && !n.operand && r.unitless(a, n, at)
		if fact(&l.numbers[i]); bare {
			l.numbers[i], l.apart[i] = spot{}, "in a table of the page, without its unit"
		} else if !l.numbers[i].found && !n.operand {
			l.apart[i] = r.apart(a, n)
		}
		l.uncounted[i] = n.noun != "" && len(r.postings[r.words[n.noun]]) == 0
	}
	for i, d := range a.dates {
		for _, on := range r.dates {
			if d.Is(on) {
				at(on.Start, on.End)
			}
		}
		fact(&l.dates[i])
	}
	holds.named = make([]bool, len(r.passages))
	for i, n := range a.names {
		at := make([]bool, len(r.passages))
		l.names[i] = r.has(n, at)
		var rows []int32 // of tables: one with a name of the sentence comes before one with a number alone
		for k, has := range at {
			holds.named[k] = holds.named[k] || has
			if has && r.isRow(k) {
				rows = append(rows, int32(k))
			}
		}
		if len(rows) > 0 && few*len(rows) <= len(r.passages) {
			holds.items = append(holds.items, item{at: rows, fact: true})
		}
	}
	for _, n := range a.titles {
		l.titles = append(l.titles, r.has(n, make([]bool, len(r.passages))))
	}
	r.choose(a, &l, &holds)
	return l
}

func (r *reading) isRow(passage int) bool { return len(r.rows) > 0 && r.rows[passage] }

// has reports whether the page has most words of a name, and marks where.
func (r *reading) has(n name, named []bool) bool {
	found := 0
	for _, w := range n.words {
		postings := r.postings[r.words[w]]
		if len(postings) > 0 || r.elsewhere[w] {
			found++
		}
		for _, p := range postings {
			named[p] = true
		}
	}
	return 2*found > len(n.words)
}

// choose finds the windows of the page, and how much the best one holds.
func (r *reading) choose(a *asked, l *look, holds *picker) {
	for k, w := range a.words {
		postings := r.postings[r.words[w]]
		holds.items = append(holds.items, item{at: postings, weight: weightOf(len(postings), len(r.passages)), part: a.parts[k]})
	}
	runs, share := holds.weigh()
	runs = holds.byRow(runs)
	l.share = share
	if l.foreign {
		l.loose = r.foreign(a, holds)
	} else if l.share < floor {
		l.loose = holds.pick(slices.Clone(runs), looseWindows+MaxFurther, true)
	}
	l.windows = holds.pick(runs, a.most, false)
	if len(l.windows) == 0 {
		return
	}
	best := l.windows[0]
	start, end := r.passages[best.first].start, r.passages[best.last].end
	l.years = hasYear(r.page.Text[start:end])
	for _, on := range r.dates {
		if on.Start < start || on.End > end {
			continue
		}
		for i, d := range a.dates {
			l.instead[i] = l.instead[i] || on.AsExact(d) && !d.Is(on)
		}
	}
}

// literal is where a text has a phrase byte for byte, as whole words; -1 where it has
// not.
func literal(text, phrase string) int {
	if phrase == "" {
		return -1
	}
	for at := 0; ; at += len(phrase) {
		n := strings.Index(text[at:], phrase)
		if n < 0 {
			return -1
		}
		at += n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, size := utf8.DecodeRuneInString(text[at+len(phrase):])
		beyond, _ := utf8.DecodeRuneInString(text[at+len(phrase)+size:])
		if isWordPart(before) || unicode.In(before, unicode.Cf, unicode.Mn) || strings.ContainsRune(".,-[", before) || isWordPart(after) || unicode.IsDigit(beyond) && (after == '.' || after == ',') {
			continue
		}
		return at
	}
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// hasYear reports whether a text names a year between 1800 and 2099.
func hasYear(text string) bool {
	for i := 0; i+4 <= len(text); i++ {
		century := text[i : i+2]
		if (century == "18" || century == "19" || century == "20") && isDigitAt(text, i+2) && isDigitAt(text, i+3) && !isDigitAt(text, i+4) && !isDigitAt(text, i-1) {
			return true
		}
	}
	return false
}

func isDigitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
