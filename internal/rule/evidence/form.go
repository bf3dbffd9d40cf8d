package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

// RunCID is the id of the text about the run itself, see [RunText].
const RunCID = "run"

const (
	maxSources = 3 // of an inference
	maxCarried = 3 // how many sentences back a citation reaches
)

// MaxRun is how many sentences of a report may name @run.
const MaxRun = 5

// form decides whether the marks of a sentence make it an inference or a cited one.
func (w *walker) form(s *Sentence, marks []mark) {
	var cited, inferred []string
	inferences := 0
	for _, m := range marks {
		switch {
		case m.cited != "":
			cited = appendOnce(cited, m.cited)
		case m.inferred != nil:
			inferences++
			for _, cid := range m.inferred {
				inferred = appendOnce(inferred, cid)
			}
		case m.absent != "":
			w.fault(tidegate.FormMixed, s.Line, "Make it a sentence of its own in a paragraph or list.", "line %d says in the place of another mark what is not on the pages", s.Line)
		case s.Calculation != nil:
			w.fault(tidegate.FormMixed, s.Line, "Keep one calculation to a sentence.", "a sentence in line %d has two calculations", s.Line)
		default:
			w.calculation(s, m.calculated)
		}
	}
	switch {
	case inferences == 0 && len(cited) == 0:
	case inferences == 0:
		s.Form, s.CIDs = Cited, cited
	default:
		s.Form, s.CIDs, s.Judgement = Inferred, inferred, w.section != nil && w.section.Judgement
		w.inference(s)
	}
	if inferences > 1 || inferences > 0 && len(cited) > 0 {
		if !w.joined(s) {
			w.fault(tidegate.FormMixed, s.Line, "Keep one of them: [@id …] where the page says it, one [inferred from @id …] where you conclude it.",
				"a sentence in line %d is marked as cited and as inferred, or as inferred twice: %q", s.Line, s.Text)
		}
		s.refused = true
	}
	if s.Form == Cited && slices.Contains(cited, RunCID) {
		w.fault(tidegate.UnknownCID, s.Line, "Write [inferred from @run], in a section of caveats.", "line %d cites @run, which only an inference may name", s.Line)
	}
}

func appendOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// inference checks what a sentence is inferred from.
func (w *walker) inference(s *Sentence) {
	if len(s.CIDs) > maxSources {
		w.fault(tidegate.TooManyCitations, s.Line, "Name the sources that matter, or make two sentences.",
			"a sentence in line %d is inferred from %d sources; three are allowed", s.Line, len(s.CIDs))
	}
	for _, cid := range s.CIDs {
		switch {
		case cid == RunCID:
			if w.section == nil || !w.section.Caveats {
				w.fault(tidegate.UnknownCID, s.Line, "Move the sentence to a section of caveats, or infer it from sources.",
					"line %d infers from @run, which only a section of caveats may name", s.Line)
			}
			if w.named++; w.named == cmp.Or(w.facts.MaxRun, MaxRun)+1 {
				w.fault(tidegate.TooManyCitations, s.Line, "Say less about the run itself.", "line %d names @run in one sentence more than the %d that are allowed", s.Line, cmp.Or(w.facts.MaxRun, MaxRun))
			}
		case !slices.ContainsFunc(w.facts.Sources, func(source Source) bool { return source.CID == cid }):
			w.fault(tidegate.UnknownCID, s.Line, "Infer from sources of the list you were given, by their ids, or take the sentence out.",
				"line %d infers from %q, which is not among the validated sources", s.Line, cid)
		}
	}
}

// limits checks how long a sentence of prose is, and how many sources any cites.
func (w *walker) limits(s *Sentence, longest, citations int) {
	if s.refused {
		return
	}
	long, many := s.kind == prose && words(s.Text) > longest, s.Form == Cited && len(s.CIDs) > citations
	if (long || many) && w.joined(s) {
		return
	}
	if long {
		w.tooLong(s, words(s.Text), longest)
	}
	if many {
		w.fault(tidegate.TooManyCitations, s.Line, "Cite the pages that say it best, or make two sentences.",
			"line %d cites %d sources for one sentence; %d are allowed", s.Line, len(s.CIDs), citations)
	}
}

func (w *walker) tooLong(s *Sentence, n, longest int) {
	w.fault(tidegate.TooLong, s.Line, "Make it two.", "a sentence in line %d has %d words; %d are allowed%s: %q", s.Line, n, longest, Counting(w.facts.Language), s.Text)
}

// joined refuses a sentence that is two for its author: a small letter follows the full
// stop of the first. It reports whether it is.
func (w *walker) joined(s *Sentence) bool {
	found := smallBegins().FindStringSubmatch(s.Text)
	if s.kind != prose || found == nil {
		return false
	}
	w.fault(tidegate.FormMixed, s.Line, "Put the citation of the first behind its full stop, or begin the second with another word.",
		"two sentences in line %d were read as one because %q begins with a small letter", s.Line, found[1])
	s.refused = true
	return true
}

// smallBegins finds a word in small letters behind a full stop that no abbreviation has.
var smallBegins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\pL\pN]{3}[)\]”"’»]*\.[)\]”"’»]*\s+(\p{Ll}[\pL\pN-]*)`)
})

func (w *walker) uncited(s *Sentence, note string) {
	if s.refused {
		return // for another fault, which may be the cause
	}
	w.fault(tidegate.UncitedSentence, s.Line, note, "line %d claims something without a source: %q", s.Line, s.Text)
}

// frames finds the sentences of a paragraph that only introduce something. Whether
// anything follows a question is seen at the end.
func (w *walker) frames(all []Sentence, p proseBlock) {
	for i := range all {
		s := &all[i]
		n := words(s.Text)
		last := i == len(all)-1
		frame := n <= maxFrame && (last && p.introduces && strings.ContainsRune(":：", lastRune(s.Text)) || len(all) == 1 && p.nests) ||
			n <= maxQuestion && w.asks(s.Text)
		if s.Form == "" && s.Calculation == nil && frame && w.claims.in(s.Text) == "" {
			s.Form = Frame
		}
	}
}

// asks reports whether a sentence is a question.
func (w *walker) asks(text string) bool {
	text = strings.TrimRight(text, `"'”’»«“)] `)
	return strings.ContainsRune("?？؟", lastRune(text)) || w.facts.Language == "el" && strings.ContainsRune(";\u037e", lastRune(text))
}

// carry gives sentences without a citation of their own the next one of their
// paragraph. A sentence that it does not reach has no form.
func (w *walker) carry(all []Sentence) {
	next, away := -1, 0 // the next cited sentence, and how many sentences that are no frames lie between
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		switch {
		case s.Form == Cited:
			next, away = i, 0
			continue
		case s.Form == Frame || s.Form == Absent:
			continue
		}
		if away++; s.Form == "" && next >= 0 && away <= maxCarried {
			s.Form, s.CIDs = Carried, all[next].CIDs
		}
	}
	for i := range all {
		if all[i].Form == "" {
			w.uncited(&all[i], "Cite its page behind it, [@id]; write [inferred from @id …] where you conclude it from sources; or take it out.")
		}
	}
}

// The most content words that are said to be on no page at once.
const maxAbsent = 3

// absentAt makes the sentence of a mark that says what is on no page.
func (w *walker) absentAt(m mark, line int) Sentence {
	n := 0
	for _, s := range w.facts.Sources {
		if s.SameAs == "" && !s.Silent {
			n++
		}
	}
	s := w.sentence(Say(w.facts.Language, "None of the %d archived pages has a sentence with: %s.", n, m.absent), line, prose)
	s.Form, s.Absent, s.Start, s.End = Absent, m.absent, m.start, m.end
	if n := len((claim.Question{Text: m.absent, Language: w.facts.Language}).Words()); n < 1 || n > maxAbsent {
		w.fault(tidegate.FormMixed, line, "Name one to three words that say what is not there, without function words and numbers.",
			"line %d has %d content words in %q; one to three are allowed", line, n, m.absent)
	}
	return s
}

// absences checks how many sentences say only that something is not there.
func (w *walker) absences() {
	n, absent, answered := w.report.stated(), 0, false
	answer := w.facts.Template.Answer()
	inAnswer := 0
	for _, s := range w.report.Sentences {
		if s.Form == Absent {
			absent++
		}
		if s.Section == answer && s.Form != Frame {
			inAnswer++
			answered = answered || s.Form != Absent
		}
	}
	if most := max(1, n/20); absent > most {
		w.fault(tidegate.UncitedSentence, 0, "Keep those that matter to the question; what else was not found stands among the open questions.",
			"%d sentences say that something is not on the archived pages; %d may", absent, most)
	}
	if inAnswer > 0 && !answered && answer != "" {
		w.fault(tidegate.UncitedSentence, 0, "Say there what the pages do say, too.", "the section %q says only what is not on the archived pages", answer)
	}
}

// finish does what needs the whole report.
func (w *walker) finish() {
	all := w.report.Sentences
	for i := range all {
		s := &all[i]
		if s.Form != Frame {
			continue
		}
		if s.covers.to == 0 { // a heading or a question
			s.covers = span{i + 1, i + 1}
			for s.covers.to < len(all) && s.covers.to < i+4 && all[s.covers.to].Section == s.Section {
				s.covers.to++
			}
		}
		var shown []string
		for _, covered := range all[s.covers.from:s.covers.to] {
			shown = append(shown, covered.Text)
		}
		s.Context.Shown = cutTo(strings.Join(shown, "\n"), maxShown)
		switch {
		case s.kind == heading:
			w.headingClaims(i)
		case len(shown) == 0:
			s.Form = ""
			w.uncited(s, "Answer the question below it, or take it out.")
		}
	}
	w.absences()
	w.substance()
}

// headingClaims finds the headings that do more than to introduce.
func (w *walker) headingClaims(at int) {
	s := &w.report.Sentences[at]
	number := w.claims.inHeading(s.Text)
	if number != "" && w.facts.Template.Timeline {
		for _, below := range w.report.Sentences[at+1:] {
			if below.kind == heading || below.Section != s.Section {
				break
			}
			if below.Form == Cited && strings.Contains(below.Text, number) {
				number = ""
				break
			}
		}
	}
	note := "Let the heading name its subject, and say the rest in a cited sentence below it."
	switch {
	case number != "":
		w.fault(tidegate.HeadingClaims, s.Line, note, "the heading %q in line %d claims %q", s.Text, s.Line, number)
	case words(s.Text) > maxHeading:
		w.fault(tidegate.HeadingClaims, s.Line, note, "the heading in line %d has %d words; %d are allowed", s.Line, words(s.Text), maxHeading)
	case s.Context.Shown == "":
		w.fault(tidegate.HeadingClaims, s.Line, "Write a sentence below it, or take it out.", "nothing stands below the heading %q in line %d", s.Text, s.Line)
	}
}
