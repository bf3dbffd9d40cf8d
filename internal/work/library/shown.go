package library

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Paper is the answer as a report: its text with its sentences, and the sources that it cites.
func (a Answered) Paper() paper.Report {
	out := paper.Report{Question: a.Question, Trust: a.Trust}
	facts := evidence.Facts{Template: evidence.Template{Name: "answer"}, Question: a.Question, SecondReader: true}
	for _, s := range a.Sources {
		facts.Sources = append(facts.Sources, evidence.Source{CID: s.ID})
		out.Sources = append(out.Sources, paper.Source{CID: s.ID, URL: s.URL, Title: s.Title, Status: "valid"})
	}
	part := paper.Part{Text: []byte(a.Answer)}
	places := evidence.Read(markdown.Read(part.Text), facts).Sentences
	for i, stand := range (&evidence.Claims{Sentences: a.Sentences}).Stands(true) {
		s := paper.ShownSentence{Claim: a.Sentences[i], Stand: stand}
		if len(places) == len(a.Sentences) && places[i].Text == s.Text { // else an older program read it
			s.Start, s.End = places[i].Start, places[i].End
		}
		part.Sentences = append(part.Sentences, s)
	}
	if len(places) != len(a.Sentences) || len(places) > 0 && part.Sentences[0].End == 0 {
		part = paper.Laid(part.Sentences)
	}
	out.Parts = []paper.Part{part}
	return out
}

// Paper are the sentences that were looked at again, for a report that is no longer there.
func (u Updated) Paper() paper.Report {
	var sentences []paper.ShownSentence
	for _, s := range u.Sentences {
		shown := paper.ShownSentence{Claim: evidence.Claim{ID: s.ID, Line: s.Line, Text: s.Text, Form: evidence.Cited}}
		shown.Words = "stands on the cited page"
		sentences = append(sentences, shown)
	}
	return paper.Report{Question: u.Of.Title, Parts: []paper.Part{paper.Laid(sentences)}}
}

// Mark marks in a report the sentences that no longer stand, with what their pages say now.
func (u Updated) Mark(r *paper.Report) {
	urls := u.urls()
	for p := range r.Parts {
		for i := range r.Parts[p].Sentences {
			s := &r.Parts[p].Sentences[i]
			at := slices.IndexFunc(u.Sentences, func(now UpdatedSentence) bool {
				return now.ID == s.ID || now.ID == "" && now.Line == s.Line && now.Text == s.Text
			})
			if at < 0 || !u.Sentences[at].fell() {
				continue
			}
			s.Drift = &paper.Drift{Words: map[drift.State]string{drift.Walled: "behind a wall now"}[u.Sentences[at].State]}
			if s.Drift.Words == "" {
				s.Drift.Words = string(u.Sentences[at].State)
			}
			for _, on := range u.Sentences[at].Pages {
				if on.State == drift.Stands {
					continue
				}
				page := paper.DriftPage{Title: urls[on.CID], Link: urls[on.CID], Why: on.Why}
				for _, passage := range on.Passages {
					then, now, added := sides(passage)
					page.Then, page.Now = append(page.Then, then...), append(page.Now, now...)
					if s.Drift.Now == "" {
						s.Drift.Now = added
					}
				}
				s.Drift.Pages = append(s.Drift.Pages, page)
			}
		}
	}
}

// fell reports whether pages were read, and no longer say the sentence.
func (s *UpdatedSentence) fell() bool {
	return s.State == drift.Changed || s.State == drift.Gone || s.State == drift.Walled
}

// sides are what a page said and what it says now, and what is new in that.
func sides(p drift.Passage) (then, now []paper.PieceView, added string) {
	var fresh []string
	facts := claim.Facts(claim.Question{Text: p.Now}, []claim.Window{{Text: p.Now}})
	for _, piece := range p.Difference {
		view := paper.PieceView{Text: piece.Text, Marked: piece.Op != drift.Same}
		if piece.Op != drift.Added {
			then = append(then, view)
		}
		if piece.Op != drift.Removed && p.Now != "" {
			now = append(now, view)
		}
		if piece.Op == drift.Added && p.Now != "" {
			words := strings.TrimSpace(piece.Text)
			if i := slices.IndexFunc(facts, func(f claim.Fact) bool { return strings.HasPrefix(f.Text, words) }); i >= 0 {
				words = facts[i].Text // a number has its unit
			}
			fresh = append(fresh, words)
		}
	}
	return then, now, strings.Join(fresh, " … ")
}
