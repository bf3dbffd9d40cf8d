package evidence

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/quotation"
)

// Hold holds the sentences of a report against the pages that they cite, as [claim.Judge]
// does, and finds where the numbers of calculations come from. It returns a judgement for
// each sentence, which is empty for a frame. A number that is the result of a calculation
// counts as found, and makes its sentence weak. Pages gives the page of @run, too.
func (r *Report) Hold(ctx context.Context, language string, pages func(cid string) (*claim.Page, error), titles claim.Titles) ([]claim.Judgement, error) {
	var asked []claim.Question
	var of, calculated []int
	quoted := Quotations(len(r.Sentences), func(i int) *Sentence { return &r.Sentences[i] })
	for i := range r.Sentences {
		s := &r.Sentences[i]
		if len(s.CIDs) == 0 {
			continue
		}
		question := claim.Question{Text: s.Text, Language: language, CIDs: s.CIDs, Italics: s.italics, Quotations: quoted[i], Run: r.question, Inferred: s.Form == Inferred}
		if s.Calculation != nil {
			for _, o := range s.Calculation.Operands {
				question.Operands = append(question.Operands, o.Text)
			}
			if !s.Calculation.wrong {
				calculated = append(calculated, i)
			}
		}
		asked, of = append(asked, question), append(of, i)
	}
	judged, err := claim.Judge(ctx, asked, pages, titles)
	if err != nil {
		return nil, err
	}
	if err := doubtTheQuestion(ctx, asked, judged, pages, titles); err != nil {
		return nil, err
	}
	held := make([]claim.Judgement, len(r.Sentences))
	for k, i := range of {
		held[i] = judged[k]
	}
	if err := r.holdAbsent(held, language, pages); err != nil {
		return nil, err
	}
	r.Faults = append(r.Faults, r.findOperands(held, language)...)
	if len(calculated) > 0 {
		for i := range held {
			excuse(&held[i], r.granted(i, calculated), language)
		}
	}
	r.Faults = append(r.Faults, r.findings(held)...)
	slices.SortStableFunc(r.Faults, func(a, b Fault) int { return a.Line - b.Line })
	return held, nil
}

// HoldText reads a text that is no report, such as an output, and holds its sentences
// against the pages that they cite.
func HoldText(ctx context.Context, text []byte, pages func(cid string) (*claim.Page, error)) (Report, []claim.Judgement, error) {
	language := page.Language(string(text))
	r := Read(markdown.Read(text), Facts{Template: Template{Sections: []Section{{}}}, Language: language})
	held, err := r.Hold(ctx, language, pages, claim.Titles{})
	return r, held, err
}

// holdAbsent holds the sentences that say what is on no page against all that may be
// cited.
func (r *Report) holdAbsent(held []claim.Judgement, language string, pages func(cid string) (*claim.Page, error)) error {
	var all []*claim.Page
	for i := range r.Sentences {
		if r.Sentences[i].Form != Absent {
			continue
		}
		if all == nil {
			for _, cid := range r.citable {
				p, err := pages(cid)
				if err != nil {
					return err
				}
				if p != nil {
					all = append(all, p)
				}
			}
		}
		held[i] = claim.Absent(r.Sentences[i].Absent, language, all)
	}
	return nil
}

// doubtTheQuestion makes weak what stands on the text about the run by its question alone:
// a question grounds nothing but itself.
func doubtTheQuestion(ctx context.Context, asked []claim.Question, judged []claim.Judgement, pages func(cid string) (*claim.Page, error), titles claim.Titles) error {
	var again []claim.Question
	var of []int
	for k := range asked {
		if slices.Contains(asked[k].CIDs, RunCID) && judged[k].Standing == claim.Found {
			again, of = append(again, asked[k]), append(of, k)
		}
	}
	if len(again) == 0 {
		return nil
	}
	without, err := claim.Judge(ctx, again, func(cid string) (*claim.Page, error) {
		p, err := pages(cid)
		if cid != RunCID || err != nil || p == nil {
			return p, err
		}
		rest := *p
		_, rest.Text, _ = strings.Cut(p.Text, "\n") // the question is its first line
		return &rest, nil
	}, titles)
	if err != nil {
		return err
	}
	for n, k := range of {
		if without[n].Standing != claim.Found {
			judged[k].Standing = claim.Weak
			judged[k].Findings = append(judged[k].Findings, claim.Finding{Rule: "question", Level: claim.Warn, Text: "the text about the run has these words in its question alone, and a question states nothing"})
		}
	}
	return nil
}

// Quotations are what each of n sentences quotes, alone or with others of its paragraph. A
// block quote is a quotation, and so is each of its sentences.
func Quotations(n int, sentence func(i int) *Sentence) [][]quotation.Quotation {
	var all [][]quotation.Quotation
	for from := 0; from < n; {
		var texts []string
		for to := from; to < n && sentence(to).Paragraph == sentence(from).Paragraph; to++ {
			texts = append(texts, sentence(to).Text)
		}
		found := quotation.OfSentences(texts)
		if sentence(from).quoted {
			found = make([][]quotation.Quotation, len(texts))
			pieces := texts
			if len(texts) > 1 {
				pieces = append(texts, strings.Join(texts, " "))
			}
			for k, text := range pieces {
				if q, ok := quotation.New(text); ok {
					last := min(k, len(texts)-1)
					found[last] = append(found[last], q)
				}
			}
		}
		for _, quoted := range found {
			all = append(all, notNil(quoted))
		}
		from += len(texts)
	}
	return all
}

// excuse makes weak what is missing and was calculated.
func excuse(j *claim.Judgement, results []string, language string) {
	if len(results) == 0 || j.Standing == claim.NoText {
		return
	}
	missing := false
	for i := range j.Findings {
		f := &j.Findings[i]
		number := f.Number
		if f.Code == tidegate.NumberNotFound {
			number = f.Text
		}
		if f.Level == claim.Fault && number != "" && slices.ContainsFunc(results, func(result string) bool { return isResult(number, result, language) }) {
			f.Level, f.Code = claim.Warn, ""
		}
		missing = missing || f.Level == claim.Fault
	}
	if j.Standing == claim.Missing && !missing {
		j.Standing = claim.Weak
	}
}

// findings are the faults that rules found in sentences. Where no more sentences miss a
// number than gate E tolerates, that is no fault yet in those that it may tolerate: the
// second reader is asked.
func (r *Report) findings(held []claim.Judgement) []Fault {
	var faults []Fault
	short := 0 // sentences that miss a number
	for i := range held {
		if slices.ContainsFunc(held[i].Findings, func(f claim.Finding) bool { return f.Code == tidegate.NumberNotFound }) {
			short++
		}
	}
	excused := r.reader && short <= tolerated(r.stated())
	for i, j := range held {
		for _, f := range j.Findings {
			if f.Level != claim.Fault || excused && !r.Sentences[i].Firm && f.Code == tidegate.NumberNotFound {
				continue
			}
			if f.Code == tidegate.ClaimNotChecked && !slices.ContainsFunc(r.Sentences[i].CIDs, func(cid string) bool { return r.known[cid] }) {
				continue // that it cites no source is another fault
			}
			if f.Rule == "absent" {
				faults = append(faults, NewFault(tidegate.UncitedSentence, r.Sentences[i].Line, "Cite the page that has the words, choose the words that it does not have, or take the sentence out.",
					"line %d says that no archived page has %q, and one has these words beside each other: %s", r.Sentences[i].Line, r.Sentences[i].Absent, f.Text))
				continue
			}
			faults = append(faults, faultOf(f, r.Sentences[i].Line))
		}
	}
	return faults
}

// Weak is what the author of a report should know although nothing is refused for it: each
// sentence that is weak by rule, and each number that the second reader is asked about.
func (r *Report) Weak(held []claim.Judgement) []Fault {
	var weak []Fault
	for i, j := range held {
		line := r.Sentences[i].Line
		var missing []string
		for _, f := range j.Findings {
			switch {
			case f.Rule == "language": // its author can do nothing about that
			case f.Level == claim.Warn:
				missing = append(missing, f.Rule+": "+f.Text)
			case f.Code == tidegate.NumberNotFound:
				if asked := faultOf(f, line); !slices.Contains(r.Faults, asked) {
					asked.ChangeNote += " The second reader is asked about it; gate E leaves it marked at most."
					weak = append(weak, asked)
				}
			}
		}
		if len(missing) > 0 {
			weak = append(weak, NewFault(tidegate.WeakSentence, line, "Say it in the words of the page, or cite the page that says it; the second reader decides.",
				"the sentence “%s” in line %d is weak: %s", begun(r.Sentences[i].Text), line, r.named(strings.Join(missing, "; "))))
		}
	}
	return weak
}

// begun are the first words of a sentence, by which its author knows it.
func begun(text string) string {
	const words = 6
	if all := strings.Fields(text); len(all) > words {
		return strings.Join(all[:words], " ") + " …"
	}
	return text
}

// faultOf is a finding as a fault.
func faultOf(f claim.Finding, line int) Fault {
	switch f.Code {
	case tidegate.NumberNotFound:
		return NewFault(f.Code, line, "Use the number that the cited page has, cite the page that has this one, calculate it, or take it out.",
			"the number %q in line %d is not on the cited page", f.Text, line)
	case tidegate.QuotationNotFound:
		return NewFault(f.Code, line, "Quote the page word for word, cite the page that has these words, or take the quotation marks and the words out.",
			"the quotation %q in line %d is not on the cited page", f.Text, line)
	case tidegate.DateNotFound:
		return NewFault(f.Code, line, "Use the date that the cited page has, cite the page that has this one, or take it out.",
			"the date %q in line %d is not on the cited page, which has another in its place", f.Text, line)
	case tidegate.NotWhatThePageSays:
		return NewFault(f.Code, line, "Say what the cited page says, cite the page that says this, or take it out.", "%s (line %d)", f.Text, line)
	}
	return NewFault(f.Code, line, "Cite a page that can be read, or take the sentence out. A person can put a text in the place of the page: citations attach.",
		"the sentence in line %d cannot be checked: %s", line, f.Text)
}

// stated counts the sentences that are no frames.
func (r *Report) stated() (n int) {
	for i := range r.Sentences {
		if r.Sentences[i].Form != Frame {
			n++
		}
	}
	return n
}

// Grounding counts how the sentences of a text stand by rule, and of those with a page the
// quotations and numbers that are looked for there.
type Grounding struct {
	Claims            int `json:"claims"`
	Grounded          int `json:"grounded"`
	Partly            int `json:"partly"`
	Ungrounded        int `json:"ungrounded"`
	Unchecked         int `json:"unchecked"`
	Frames            int `json:"frames" jsonschema:"sentences that introduce others and claim nothing; they are no claims"`
	Quotations        int `json:"quotations"`
	QuotationsMissing int `json:"quotations_missing"`
	Numbers           int `json:"numbers"`
	NumbersMissing    int `json:"numbers_missing"`
}

// Count counts the sentences of a report by how each is held ([Report.Hold]).
func (r *Report) Count(held []claim.Judgement) (g Grounding) {
	for i, j := range held {
		if r.Sentences[i].Form == Frame {
			g.Frames++
			continue
		}
		g.Claims++
		switch j.Standing {
		case claim.Found:
			g.Grounded++
		case claim.Weak:
			g.Partly++
		case claim.NoText:
			g.Unchecked++
			continue
		default: // also where nothing says where it comes from
			g.Ungrounded++
		}
		g.Quotations, g.QuotationsMissing = g.Quotations+len(j.Quotations), g.QuotationsMissing+lacking(j.Quotations)
		g.Numbers, g.NumbersMissing = g.Numbers+len(j.Numbers), g.NumbersMissing+lacking(j.Numbers)
	}
	return g
}

// lacking counts what no page has.
func lacking(matches []claim.Match) (n int) {
	for _, m := range matches {
		if !m.Found {
			n++
		}
	}
	return n
}
