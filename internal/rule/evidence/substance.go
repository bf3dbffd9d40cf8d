package evidence

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
)

// substance checks how much of a report is inferred, and whether a whole one says
// enough.
func (w *walker) substance() {
	inferred, all := 0, 0
	for _, s := range w.report.Sentences {
		section := w.facts.Template.section(s.Section)
		if s.Form == Frame || section != nil && section.Judgement {
			continue
		}
		all++
		if s.Form == Inferred {
			inferred++
		}
	}
	if 4*inferred > all {
		w.fault(tidegate.TooMuchInferred, 0, "Cite pages that say it, or move what is your judgement to a section for it.",
			"%d of %d sentences outside the sections of judgement are inferred; one in four may be", inferred, all)
	}
	var missing []string
	if w.facts.Whole {
		missing = w.missing()
		w.answer()
	}
	n := w.report.Words()
	if n < w.facts.Least {
		missing = append(missing, fmt.Sprintf("words: %d of at least %d%s", n, w.facts.Least, Counting(w.facts.Language)))
	}
	if len(missing) > 0 {
		w.fault(tidegate.TooLittle, 0, "Write what is missing, from the sources that you were given.", "it lacks %s", strings.Join(missing, "; "))
	}
	if w.facts.Most > 0 && n > w.facts.Most {
		w.fault(tidegate.TooManyWords, 0, "Say it in fewer words, or leave out what matters least.", "it has %d words; at most %d are allowed%s", n, w.facts.Most, Counting(w.facts.Language))
	}
}

// MostAnswer is how many sentences the section of the answer has at most: every view begins
// with them.
const MostAnswer = 5

// answer checks how long the answer is, where its section has nothing else to say and one
// author writes it.
func (w *walker) answer() {
	section := w.facts.Template.section(w.facts.Template.Answer())
	if section == nil || !section.Answer || section.Findings || w.facts.InParts {
		return
	}
	n, beyond := 0, 0 // the line of the first sentence beyond
	for _, s := range w.report.Sentences {
		if s.Section == section.Title && s.Form != Frame {
			if n++; n == MostAnswer+1 {
				beyond = s.Line
			}
		}
	}
	if n > MostAnswer {
		w.fault(tidegate.TooLong, beyond, "Keep the sentences that answer the question, and move the others to the sections that give the evidence.",
			"the section %q answers the question in %d sentences; %d are allowed, and every view of the report begins with them", section.Title, n, MostAnswer)
	}
}

// Words counts the words of a report, citations and headings of the template aside. In a
// script without blanks ten characters are three words.
func (r *Report) Words() (n int) {
	for i := range r.Sentences {
		n += r.Sentences[i].words
	}
	return n
}

// missing says what a whole report lacks.
func (w *walker) missing() (missing []string) {
	stated, findings, cited := map[string]bool{}, 0, map[string]bool{}
	for _, s := range w.report.Sentences {
		if s.Form == Frame || s.Form == "" {
			continue
		}
		stated[s.Section] = true
		if s.Form == Cited {
			if section := w.facts.Template.section(s.Section); section != nil && section.Findings {
				findings++
			}
		}
		for _, cid := range s.CIDs {
			cited[cid] = true
		}
	}
	perspectives, used, pages := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, source := range w.facts.Sources {
		if source.Silent {
			continue
		}
		page := cmp.Or(source.SameAs, source.CID)
		pages[page] = pages[page] || cited[source.CID]
		for _, p := range source.Perspectives {
			perspectives[p] = true
			used[p] = used[p] || cited[source.CID]
		}
	}
	for _, section := range w.facts.Template.Sections {
		if !stated[section.Title] {
			missing = append(missing, fmt.Sprintf("a sentence under %q that is no frame", section.Title))
		}
		if need := w.facts.findings(len(perspectives), len(pages)); section.Findings && findings < need {
			missing = append(missing, fmt.Sprintf("cited sentences under %q: %d of %d", section.Title, findings, need))
		}
	}
	if spoken := count(used); 2*spoken < len(perspectives) {
		missing = append(missing, fmt.Sprintf("sources of more perspectives: %d of %d are used", spoken, len(perspectives)))
	}
	if n, need := count(pages), min(3, len(pages)); n < need {
		missing = append(missing, fmt.Sprintf("sources: %d of %d are cited", n, need))
	}
	return missing
}

func count(set map[string]bool) (n int) {
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}

// findings is how many cited sentences the findings need.
func (f Facts) findings(perspectives, sources int) int {
	most := 8
	if f.Brief {
		most = 3
	}
	return min(perspectives, sources, most)
}

// Needs is how many cited sentences the findings of a whole report need, and from how
// many perspectives and sources its citations must come.
func (f Facts) Needs() (findings, perspectives, sources int) {
	speak, pages := map[string]bool{}, map[string]bool{}
	for _, source := range f.Sources {
		if source.Silent {
			continue
		}
		pages[cmp.Or(source.SameAs, source.CID)] = true
		for _, p := range source.Perspectives {
			speak[p] = true
		}
	}
	return f.findings(len(speak), len(pages)), (len(speak) + 1) / 2, min(3, len(pages))
}
