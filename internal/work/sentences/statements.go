package sentences

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Statement is a sentence of a summary with the passage of a page that carries it.
type Statement struct {
	Perspective string
	Text        string
	CIDs        []string
	Passage     claim.Window // its text is "" where no page carries it
	Missing     []string     // numbers, dates and quotations of it that a rule finds on no page of it
	language    string
}

// Numbered reports whether a statement has a number.
func (s *Statement) Numbered() bool { return strings.ContainsFunc(s.Text, unicode.IsDigit) }

// ReadStatements reads the statements of the run's summaries that cite a source, those of
// some perspectives. The passage of each is the first that a rule finds for it on its
// pages. It returns READ_FAILED.
func ReadStatements(ctx context.Context, r *run.Run, perspectives []string) ([]Statement, error) {
	facts, records, err := ReportFacts(r, nil)
	if err != nil || len(facts.Sources) == 0 {
		return nil, err
	}
	pages, err := openPages(ctx, r, records, facts)
	if err != nil {
		return nil, err
	}
	facts.Template, facts.Whole = evidence.Template{Sections: []evidence.Section{{}}}, false
	known, err := store.Recall(pages.texts.Memory, "statements "+pages.digest(facts), func() (*knownStatements, error) {
		return &knownStatements{of: map[string][]Statement{}}, nil
	})
	if err != nil {
		return nil, err
	}
	var all []Statement
	for _, id := range perspectives {
		text, err := r.Folder().Read(r.Summary(id))
		if err != nil {
			return nil, err
		}
		found, err := known.find(id, text, func() ([]Statement, error) { return pages.statements(ctx, id, text, facts) })
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// knownStatements are the statements of the summaries that were read. Several may share
// them.
type knownStatements struct {
	mu sync.Mutex
	of map[string][]Statement
}

func (k *knownStatements) find(id string, text []byte, read func() ([]Statement, error)) ([]Statement, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := id + " " + codec.DigestBytes(text)
	found, ok := k.of[name]
	if ok {
		return found, nil
	}
	found, err := read()
	if err == nil {
		k.of[name] = found
	}
	return found, err
}

// statements are those of the summary of one perspective.
func (p *citedPages) statements(ctx context.Context, id string, text []byte, facts evidence.Facts) ([]Statement, error) {
	facts.Language = cmp.Or(facts.Language, page.Language(string(text)))
	summary, err := p.holdAnew(ctx, markdown.Read(text), facts)
	if err != nil {
		return nil, err
	}
	var all []Statement
	for i, s := range summary.report.Sentences {
		if len(s.CIDs) == 0 || strings.HasSuffix(s.Text, ":") { // what introduces a list states nothing
			continue
		}
		found := Statement{Perspective: id, Text: s.Text, CIDs: s.CIDs, language: facts.Language}
		for _, f := range summary.held[i].Findings {
			if f.Level == claim.Fault && f.Code != tidegate.ClaimNotChecked {
				found.Missing = append(found.Missing, f.Text)
			}
		}
		// A sentence that leads to the cited one and has few words of its page has no passage there.
		if held := &summary.held[i]; len(held.Windows) > 0 && (s.Form != evidence.Carried || held.Standing != claim.Weak || found.Numbered()) {
			found.Passage = held.Windows[0]
		}
		all = append(all, found)
	}
	return all, nil
}

// WithPassages are the statements whose passages fit into so many bytes, those with
// numbers first, and how many are left out. A passage that several share counts once.
func WithPassages(all []Statement, most int) (shown []*Statement, left int) {
	type place struct {
		cid        string
		start, end int
	}
	fits, kept := map[place]bool{}, make([]bool, len(all))
	for _, numbered := range []bool{true, false} {
		for i := range all {
			s := &all[i]
			if s.Numbered() != numbered || s.Passage.Text == "" {
				continue
			}
			at := place{s.Passage.CID, s.Passage.Start, s.Passage.End}
			if !fits[at] {
				if most < len(s.Passage.Text) {
					left++
					continue
				}
				most -= len(s.Passage.Text)
				fits[at] = true
			}
			kept[i] = true
		}
	}
	for i := range all {
		if kept[i] {
			shown = append(shown, &all[i])
		}
	}
	return shown, left
}

// Contradiction is two statements of different perspectives that give different numbers
// for the same thing.
type Contradiction struct {
	First, Second   *Statement
	Number, Another string
}

// Contradictions finds those of the statements of a run. Two that rest on the same
// passage do not contradict each other: one of them misreads it.
func Contradictions(all []Statement) []Contradiction {
	sentences := make([]claim.Question, len(all))
	for i := range all {
		sentences[i] = claim.Question{Text: all[i].Text, Language: all[i].language, CIDs: all[i].CIDs}
	}
	var found []Contradiction
	for _, d := range claim.Disagreements(sentences, func(i, k int) bool {
		a, b := &all[i], &all[k]
		shared := a.Passage.CID == b.Passage.CID && a.Passage.Start < b.Passage.End && b.Passage.Start < a.Passage.End
		return a.Perspective != b.Perspective && !shared
	}) {
		found = append(found, Contradiction{&all[d.First], &all[d.Second], d.Number, d.Another})
	}
	return found
}

// Ignored are the contradictions of which a report gives one number, and is silent about
// the other, each as a fault at the sentence that gives it. They are for the reviewer to
// judge, and for the author to know.
func Ignored(contradictions []Contradiction, claims *evidence.Claims) (ignored []Contradiction, faults []evidence.Fault) {
	if claims == nil {
		return nil, nil
	}
	gives := func(number string, of *Statement) int {
		for i := range claims.Sentences {
			s := &claims.Sentences[i]
			cites := slices.ContainsFunc(s.CIDs, func(cid string) bool { return slices.Contains(of.CIDs, cid) })
			if cites && (claim.Question{Text: s.Text, Language: of.language}).Gives(number) {
				return s.Line
			}
		}
		return 0
	}
	for _, c := range contradictions {
		line, other := gives(c.Number, c.First), gives(c.Another, c.Second)
		if (line > 0) == (other > 0) {
			continue // it says both, or neither
		}
		said, silent := c.Number, c.Another
		if other > 0 {
			line, said, silent = other, c.Another, c.Number
		}
		ignored = append(ignored, c)
		faults = append(faults, evidence.NewFault(tidegate.ContradictionIgnored, line, fmt.Sprintf("Say that another source gives %s, and cite it, or leave the number out.", silent),
			"line %d gives %s, and another source gives %s for the same thing", line, said, silent))
	}
	return ignored, faults
}
