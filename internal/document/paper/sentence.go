package paper

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/draft"
)

// ShownSentence is a sentence of a report with how it stands.
type ShownSentence struct {
	evidence.Claim
	evidence.Stand
	Reader     string // who gave the verdict, "" where nobody did
	Start, End int    // where it stands in the text of its part, with its marks
	Unsure     bool   // of an audit: nothing is held against it, and nothing confirms it
	ByRule     bool   // of an audit: rules found its words and numbers, and nobody read it
	Drift      *Drift // of a report whose pages were fetched again, where it no longer stands
	// Links lead to the place of each window that the sentence rests on: the words that
	// the reader named, else the window.
	Links []string
}

// nearlyQuoted reports whether a sentence stands in quotation marks that it does not have:
// a text that is audited is shown as it is.
func (r *Report) nearlyQuoted(s *ShownSentence) bool { return r.Audit == nil && s.NearlyQuoted() }

// label is what the report says behind the sentence, "" for nothing.
func (r *Report) label(s *ShownSentence) string {
	if s.Drift != nil {
		if s.Drift.Now != "" {
			return r.say("changed since: the page now says %s", "“"+shownText(s.Drift.Now)+"”")
		}
		return r.say("changed since: %s", r.say(s.Drift.Words))
	}
	wrong := s.wrong()
	switch {
	case s.State() == Refused && len(wrong) > 0 && wrong[0].page != "":
		return r.say("%s: the page says %s", wrong[0].has, wrong[0].page)
	case s.State() == Refused && r.Audit != nil && len(wrong) > 0:
		return "" // it is marked where it stands
	case s.State() == Refused && r.Audit != nil:
		return r.say("not on the page")
	case s.Accepted != nil:
		return shownText(r.stands(s))
	case s.Doubted && s.Form == evidence.Frame && s.Verdict == nil:
		return r.say("not read")
	case s.Doubted:
		return r.say("not confirmed")
	case s.ByRule:
		return shownText(s.Why)
	}
	return ""
}

// stands says how a sentence stands: what the words of [evidence.Stand] have between
// commas are phrases.
func (r *Report) stands(s *ShownSentence) string {
	if s.Drift != nil {
		return r.say("changed since")
	}
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
func sentencesOn(d *draft.Document, all []ShownSentence) map[*draft.Block][]sentenceRun {
	if len(all) == 0 {
		return nil
	}
	on := map[*draft.Block][]sentenceRun{}
	ends := map[*ShownSentence]*sentenceRun{}
	k := -1
	d.EachLeaf(func(b *draft.Block) {
		var runs []sentenceRun
		for i, g := range b.Glyphs {
			if k < 0 || int(g.At) < all[k].Start || int(g.At) >= all[k].End { // most glyphs belong to the sentence of the one before
				k = sort.Search(len(all), func(i int) bool { return all[i].Start > int(g.At) }) - 1
			}
			if k < 0 || int(g.At) >= all[k].End {
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
		for _, f := range run.wrong() {
			if run.Doubted && !slices.Contains(texts, f.has) {
				texts = append(texts, f.has)
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
func (s *ShownSentence) Place(w claim.Window) (start, end int, named bool) {
	if from, to := s.WordsIn(w); to > from {
		return w.Start + from, w.Start + to, true
	}
	return w.Start, w.End, false
}

// WordsIn is where a window has the words that the reader named, white space aside; to is
// 0 where it has not.
func (s *ShownSentence) WordsIn(w claim.Window) (from, to int) {
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
