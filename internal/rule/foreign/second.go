package foreign

import (
	"fmt"
	"sync"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
)

// Readings count what a second reader said.
type Readings struct {
	By          string         `json:"by" jsonschema:"the agent that read"`
	Supported   int            `json:"supported"`
	Partly      int            `json:"partly"`
	Unclear     int            `json:"unclear"`
	Unsupported int            `json:"unsupported"`
	Unread      int            `json:"unread" jsonschema:"sentences with a passage that have no verdict"`
	Pairs       evidence.Pairs `json:"pairs" jsonschema:"the pairs of a sentence and its twin that the reader was tested with"`
}

// Questions are what a second reader is asked about the sentences that have a passage, before
// they are dealt; nil where none is wanted.
func (r *Result) Questions() *reading.Questions { return r.questions }

// ask makes the questions.
func (j *judging) ask(page func(cid string) (*claim.Page, error)) *reading.Questions {
	claims := &evidence.Claims{SynthesisDigest: j.out.Audited.Digest}
	further := map[string][]claim.Window{}
	all, context, next := j.Document.Sentences, evidence.Context{}, 0
	for i := range all {
		for next < len(j.Headings) && j.Headings[next].Before <= i {
			context = evidence.Context{Heading: j.Headings[next].Text}
			next++
		}
		s, held := &all[i], j.held[i]
		if context.Before = ""; i > 0 && all[i-1].Paragraph == s.Paragraph {
			context.Before = all[i-1].Text
		}
		if len(held.Windows) > 0 {
			c := evidence.Claim{ID: fmt.Sprintf("c%d", i+1), Line: s.Line, Text: s.Text, Form: s.Form, CIDs: s.CIDs, Standing: held.Standing, Windows: held.Windows, Context: context}
			claims.Sentences = append(claims.Sentences, c)
			further[c.ID] = held.Further(held.Windows)
		}
		if s.Form == Structural {
			context.LeadIn = s.Text
		} else if s.Kind == "paragraph" {
			context.LeadIn = ""
		}
	}
	page = cached(page)
	return &reading.Questions{Claims: claims, Further: func(id string) []claim.Window { return further[id] }, Material: reading.Material{Language: j.Language, WeakFirst: true, Text: func(cid string) string {
		if p, err := page(cid); err == nil && p != nil {
			return p.Text
		}
		return ""
	}}}
}

// cached reads each page once.
func cached(page func(cid string) (*claim.Page, error)) func(cid string) (*claim.Page, error) {
	var mu sync.Mutex
	known := map[string]*claim.Page{}
	return func(cid string) (*claim.Page, error) {
		mu.Lock()
		defer mu.Unlock()
		if p, is := known[cid]; is {
			return p, nil
		}
		p, err := page(cid)
		if err == nil {
			known[cid] = p
		}
		return p, err
	}
}

// Hear takes what the second reader said of the sentences into the result. What it was
// asked and did not read is said, too; why says it in words. A report of which a part was
// not read does not pass.
func (r *Result) Hear(options Options, why string) {
	claims := r.questions.Claims
	read := &Readings{By: options.Verifier, Pairs: claims.Pairs}
	of := map[string]*evidence.Claim{}
	for i := range claims.Sentences {
		of[claims.Sentences[i].ID] = &claims.Sentences[i]
	}
	for i := range r.Sentences {
		c := of[fmt.Sprintf("c%d", i+1)]
		if c == nil {
			continue
		}
		if c.Verdict == nil {
			read.Unread++
			continue
		}
		s := &r.Sentences[i]
		s.Verdict, s.Quoted, s.Because, s.Windows = c.Verdict.Verdict, c.Verdict.Words, c.Verdict.Because, r.shown(c.Windows)
		*map[string]*int{evidence.Supported: &read.Supported, evidence.Partly: &read.Partly, evidence.Unclear: &read.Unclear, evidence.Unsupported: &read.Unsupported}[s.Verdict]++
	}
	if read.Unread > 0 {
		r.Findings = append(r.Findings, Finding{"NOT_READ", claim.Fault, 1, fmt.Sprintf("the second reader did not read %d of the sentences: %s", read.Unread, why)})
	}
	r.Summary.Read = read
	r.judge(options)
}
