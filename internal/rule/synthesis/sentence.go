package synthesis

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// ShownSentence is a sentence of a report with how it stands.
type ShownSentence struct {
	evidence.Claim
	evidence.Stand
	Reader     string // who gave the verdict, "" where nobody did
	Start, End int    // where it stands in the text of its part, with its marks
	// Links lead to the place of each window that the sentence rests on: the words that
	// the reader named, else the window.
	Links []string
}

// label is what the report says behind the sentence, "" for nothing.
func (r *Report) label(s *ShownSentence) string {
	switch {
	case s.Accepted != nil:
		return shownText(r.stands(s))
	case s.Doubted && s.Form == evidence.Frame && s.Verdict == nil:
		return r.say("not read")
	case s.Doubted:
		return r.say("not confirmed")
	}
	return ""
}

// stands says how a sentence stands: what the words of [evidence.Stand] have between
// commas are phrases.
func (r *Report) stands(s *ShownSentence) string {
	if s.Accepted != nil {
		return r.say("accepted by %s", s.Accepted.By)
	}
	parts := strings.Split(s.Words, ", ")
	for i := range parts {
		parts[i] = r.say(parts[i])
	}
	return strings.Join(parts, ", ")
}

// why says what is held against a sentence.
func (r *Report) why(s *ShownSentence) string {
	verdict, read := strings.CutPrefix(s.Why, "the second reader says: ")
	fault := slices.IndexFunc(s.Findings, func(f claim.Finding) bool { return f.Level == claim.Fault })
	switch {
	case s.Accepted != nil || r.english():
		return s.Why
	case read:
		return r.say("the second reader says: %s", r.say(verdict))
	case fault >= 0 && strings.HasPrefix(s.Why, "the rule for "):
		return r.say("not on its pages: %s", "“"+s.Findings[fault].Text+"”")
	}
	return r.say(s.Why)
}

// sentenceRun is what a leaf has of a sentence.
type sentenceRun struct {
	*ShownSentence
	from, to int  // glyphs
	last     bool // the sentence ends here
}

// sentencesOn finds the sentences of the leaves of a document.
func (d *document) sentencesOn(all []ShownSentence) map[*block][]sentenceRun {
	if len(all) == 0 {
		return nil
	}
	on := map[*block][]sentenceRun{}
	ends := map[*ShownSentence]*sentenceRun{}
	d.eachLeaf(func(b *block) {
		var runs []sentenceRun
		for i, g := range b.glyphs {
			k, found := slices.BinarySearchFunc(all, int(g.at), func(s ShownSentence, at int) int { return s.Start - at })
			if !found {
				k--
			}
			if k < 0 || int(g.at) >= all[k].End {
				continue
			}
			if n := len(runs); n > 0 && runs[n-1].ShownSentence == &all[k] {
				runs[n-1].to = i + 1
				continue
			}
			runs = append(runs, sentenceRun{ShownSentence: &all[k], from: i, to: i + 1})
		}
		for i := range runs {
			ends[runs[i].ShownSentence] = &runs[i]
		}
		on[b] = runs
	})
	for _, run := range ends {
		run.last = true
	}
	return on
}

// notOnPages are the texts of sentences that the rules did not find on their pages.
func notOnPages(on []sentenceRun) (texts []string) {
	for _, run := range on {
		for _, f := range run.Findings {
			if f.Level == claim.Fault && f.Text != "" && run.Doubted && !slices.Contains(texts, f.Text) {
				texts = append(texts, f.Text)
			}
		}
	}
	return texts
}

// restsOn are the places of a source that a sentence was held against: the words that a
// reader named, else the passage.
func (l *layout) restsOn(ref *reference, s *ShownSentence) (places []claim.Match) {
	for i, w := range s.Windows {
		if l.byCID[w.CID] != ref {
			continue
		}
		m := claim.Match{CID: w.CID, Found: true, Text: w.Text}
		if i < len(s.Links) {
			m.Link = s.Links[i]
		}
		var named bool
		if m.Start, m.End, named = s.Place(w); named {
			return []claim.Match{m}
		}
		places = append(places, m)
	}
	return places[:min(1, len(places))] // without words the best passage stands for all
}

// Place is what a sentence rests on in the text of a window's page: the words that the
// reader named, else the window.
func (s *ShownSentence) Place(w evidence.Window) (start, end int, named bool) {
	if from, to := s.WordsIn(w); to > from {
		return w.Start + from, w.Start + to, true
	}
	return w.Start, w.End, false
}

// WordsIn is where a window has the words that the reader named, white space aside; to is
// 0 where it has not.
func (s *ShownSentence) WordsIn(w evidence.Window) (from, to int) {
	if s.Verdict == nil {
		return 0, 0
	}
	words := strings.Fields(strings.Trim(s.Verdict.Words, "\"“”„«» \n\t"))
	if len(words) == 0 {
		return 0, 0
	}
	for at := 0; ; {
		i := strings.Index(w.Text[at:], words[0])
		if i < 0 {
			return 0, 0
		}
		at += i
		if end := follow(w.Text, at, words); end > 0 {
			return at, end
		}
		at += len(words[0])
	}
}

// follow is where words end that follow each other from a place of a text, 0 where they
// do not.
func follow(text string, at int, words []string) int {
	for i, word := range words {
		if i > 0 {
			rest := strings.TrimLeftFunc(text[at:], unicode.IsSpace)
			if len(rest) == len(text)-at {
				return 0
			}
			at = len(text) - len(rest)
		}
		if !strings.HasPrefix(text[at:], word) {
			return 0
		}
		at += len(word)
	}
	return at
}

// sentenceView is a sentence as its card shows it.
type sentenceView struct {
	ID, Text, Stands, Class string
	Why                     string
	Verdict, Reader         string
	Because                 string
	Hint                    string
	Formula                 string
	Operands                []operandView
	Passages                []passageView
}

// operandView is a number of a calculation with where it comes from.
type operandView struct {
	Text, From string
	Number     int // of the source, 0 for none
}

// operandFrom says where a number of a calculation comes from that is on no page.
var operandFrom = map[string]string{"": "from nowhere", evidence.FromResult: "a calculated result", evidence.FromConstant: "a constant"}

// passageView is a window with the words that count.
type passageView struct {
	Number int // of its source, 0 for the text about the run
	Title  string
	excerptView
}

// sentenceView shows a sentence with its passages: those of one source, or all where ref
// is nil.
func (l *layout) sentenceView(s *ShownSentence, ref *reference) *sentenceView {
	v := &sentenceView{ID: s.ID, Text: shownText(s.Text), Stands: shownText(l.stands(s)), Why: shownText(l.why(s)), Reader: shownText(l.say(s.Reader)), Class: "good"}
	switch {
	case s.Doubted:
		v.Class = "bad"
	case s.Accepted != nil:
		v.Class = "fair"
	case s.Form == evidence.Frame || s.Form == evidence.Inferred:
		v.Class = ""
	}
	if s.Verdict != nil {
		v.Verdict, v.Because = l.say(s.Verdict.Verdict), shownText(s.Verdict.Because)
	}
	if s.NearlyQuoted() {
		v.Hint = l.say("These are nearly the words of the page. A quotation would say so.")
	}
	if s.Calculation != nil {
		v.Formula = shownText(s.Calculation.Text)
		for _, o := range s.Calculation.Operands {
			shown := operandView{Text: shownText(o.Text), From: l.say(operandFrom[o.From])}
			if from := l.byCID[o.From]; from != nil {
				shown.From, shown.Number = from.name(), from.number
			}
			v.Operands = append(v.Operands, shown)
		}
	}
	for _, w := range s.Windows {
		of := l.byCID[w.CID]
		if ref != nil && of != ref {
			continue
		}
		passage := passageView{Title: shownText(strings.Trim(w.Title+" / "+w.Heading, " /"))}
		if of != nil {
			passage.Number = of.number
		}
		from, to := s.WordsIn(w)
		passage.excerptView = viewExcerpts([]excerpt{{pieces: []string{singleBlanks(w.Text[:from]), singleBlanks(w.Text[from:to]), singleBlanks(w.Text[to:])}, start: w.Start > 0, end: of != nil && w.End < len(of.Text)}})[0]
		v.Passages = append(v.Passages, passage)
	}
	return v
}
