package job

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

var summaryKind = kind{
	name: "summary", role: "summarizer", format: "markdown", stages: []run.Stage{run.Summaries},
	list: func(b *Board) ([]*Job, error) {
		outputs, err := b.outputs()
		if err != nil {
			return nil, err
		}
		var jobs []*Job
		for _, o := range outputs {
			jobs = append(jobs, &Job{ID: "summary." + o.perspective, Title: "Summarize: " + o.title, perspective: o.perspective, wave: o.wave})
		}
		return jobs, nil
	},
	done: func(b *Board, j *Job) bool {
		there, err := b.run.Folder().Exists(b.run.Summary(j.perspective))
		return err == nil && there && acceptedLast(b, j) // a pack that was built early leaves files, too
	},
	prompt: summaryPrompt,
	judge:  judgeSummary,
	accept: inRun(func(u *run.Update, j *Job, _ int, judged judgement) error {
		return step.TakeSummary(u, j.perspective, []byte(judged.text))
	}),
}

// summaryCap is how many bytes one summary may have: its own cap, or its share of
// the cap of all.
func summaryCap(b *Board) (int, error) {
	outputs, err := b.outputs()
	if err != nil {
		return 0, err
	}
	m := b.run.Manifest()
	one, _ := m.Limit("max_summary_kb")
	all, _ := m.Limit("max_total_summary_kb")
	return most(min(one, all/float64(max(1, len(outputs)))) * 1024), nil
}

// citationBytes is what a citation takes in the text that is kept.
const citationBytes = 71

func summaryPrompt(_ context.Context, b *Board, j *Job) (draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, seen, err := b.about(j)
	if err != nil {
		return draft{}, err
	}
	limit, err := summaryCap(b)
	if err != nil {
		return draft{}, err
	}
	text, usable, err := b.summarized(j, limit)
	if err != nil {
		return draft{}, err
	}
	all, err := b.sources()
	if err != nil {
		return draft{}, err
	}
	seen[all.name] = all.digest
	filled, err := fill("summary.md", struct {
		about
		Output        string
		Sources       []citable
		Cap, Citation int
		Example       string
	}{said, string(text), usable, limit, citationBytes, summaryExample(usable, limit)})
	return draft{text: filled, seen: seen, sources: all.table()}, err
}

// summarized is the output that a job summarizes, and the sources of it that can
// be cited: none where there is no room for a citation.
func (b *Board) summarized(j *Job, limit int) ([]byte, []citable, error) {
	text, err := b.run.Folder().Read(b.run.Output(j.wave, j.perspective))
	if err != nil {
		return nil, nil, err
	}
	all, err := b.sources()
	if err != nil {
		return nil, nil, err
	}
	var found []source.Found
	for _, c := range source.Extract(text) {
		found = append(found, source.Found{Cited: c})
	}
	cids := map[string]bool{}
	for _, s := range source.Sources(found) {
		cids[s.CID] = true
	}
	if limit < citationBytes {
		return text, nil, nil
	}
	return text, all.among(cids), nil
}

// summaryExample is a summary that passes, within the bytes that are allowed.
func summaryExample(usable []citable, limit int) string {
	text := "- Most harbours of this size have tried it."
	if len(usable) > 0 {
		text = "- Most harbours of this size have tried it. [@" + usable[0].ID + "]"
		if len(text)-len("[@]")-len(usable[0].ID)+citationBytes >= limit {
			return "[@" + usable[0].ID + "]\n"
		}
	}
	return text + "\n"
}

func judgeSummary(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := b.sources()
	if err != nil {
		return judgement{}, err
	}
	limit, err := summaryCap(b)
	if err != nil {
		return judgement{}, err
	}
	_, usable, err := b.summarized(j, limit)
	if err != nil {
		return judgement{}, err
	}
	judged := judgement{text: expand(a.text, a.attempt.Sources), seen: map[string]string{all.name: all.digest}}
	text := claim.Inspect([]byte(judged.text))
	judged.faults = append(judged.faults, hygiene(text, all)...)
	for _, line := range markdown.HiddenLines([]byte(judged.text)) {
		judged.faults = append(judged.faults, fault(string(tidegate.InvisibleText), fmt.Sprintf("line %d has a character that a reader cannot see", line), line,
			"Remove the characters that cannot be seen."))
	}
	if size := len(judged.text); size > limit {
		judged.faults = append(judged.faults, fault(string(tidegate.SizeCapExceeded), fmt.Sprintf("the summary has %d bytes, of which %d are allowed; a citation counts as %d", size, limit, citationBytes), 0,
			fmt.Sprintf("Shorten the summary by at least %d bytes.", size-limit)))
	}
	if len(usable) > 0 && !cites(text, usable) {
		judged.faults = append(judged.faults, fault(string(tidegate.NoCitation), "the summary cites no source of the output", 0,
			"Cite a source of the output behind what it says, such as [@"+usable[0].ID+"]."))
	}
	grounding, err := step.GroundText(ctx, b.run, []byte(judged.text))
	if err != nil {
		return judgement{}, err
	}
	judged.warnings = ungrounded(grounding)
	return judged, nil
}

// hygiene finds the URLs and the unknown citations of a text.
func hygiene(text claim.Inspection, all *sources) []Fault {
	var faults []Fault
	for _, url := range text.URLs {
		faults = append(faults, fault(string(tidegate.RawURLNotAllowed), fmt.Sprintf("line %d has a raw URL: %s", url.Line, tidegate.Cut(url.Text)), url.Line,
			"Replace the address with the citation of its source, such as [@s1], or take it out."))
	}
	for _, m := range text.Mentions {
		if len(all.among(map[string]bool{m.CID: true})) == 0 {
			faults = append(faults, fault(string(tidegate.UnknownCID), fmt.Sprintf("line %d cites %q, which is not an id of the list", m.Line, tidegate.Cut(m.CID)), m.Line,
				"Cite only ids of the list, each in brackets of its own: take out [@"+tidegate.Cut(m.CID)+"], or write the id that is meant."))
		}
	}
	return faults
}

// cites reports whether a reader sees a citation of one of the sources.
func cites(text claim.Inspection, of []citable) bool {
	for _, m := range text.Mentions {
		for _, s := range of {
			if m.Visible && m.CID == s.CID {
				return true
			}
		}
	}
	return false
}

// ungrounded are the warnings about what is not on the pages that are cited.
func ungrounded(g claim.Grounding) []Fault {
	var out []Fault
	for _, c := range g.Claims {
		if c.Verdict == claim.Unchecked {
			continue
		}
		for _, q := range c.Quotations {
			if !q.Found {
				out = append(out, fault(string(tidegate.QuotationNotFound), fmt.Sprintf("the quotation %q is not on the page that is cited", tidegate.Cut(q.Text)), c.Line, "Quote the exact words of the page."))
			}
		}
		for _, n := range c.Numbers {
			if !n.Found {
				out = append(out, fault(string(tidegate.NumberNotFound), fmt.Sprintf("the number %s is not on the page that is cited", tidegate.Cut(n.Text)), c.Line, "Use the number that the page has, or cite the page that has this one."))
			}
		}
	}
	return out
}
