package job

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/step"
)

// summaryTask summarizes an output.
type summaryTask struct {
	*research
	output
	given bool // the run was handed a pack with it
}

func (r *research) summaryJobs() ([]*Job, error) {
	outputs, err := r.outputs()
	if err != nil {
		return nil, err
	}
	given, err := step.PackHandedIn(r.Run)
	if err != nil {
		return nil, err
	}
	var byRule map[string][]byte
	at := r.Manifest().Stage()
	if at == run.Summaries && !given {
		if byRule, err = step.SummariesByRule(context.Background(), r.Run); err != nil {
			return nil, err
		}
	}
	var jobs []*Job
	for _, o := range outputs {
		id := "summary." + o.perspective
		asked := byRule[o.perspective] == nil
		if !given && (at == run.Synthesis || at == run.Review || at == run.Finalize) {
			if asked, err = r.Folder().Exists(run.JobDir(id)); err != nil {
				return nil, err
			}
		}
		if asked { // for what a rule writes nobody is
			jobs = append(jobs, &Job{ID: id, Title: "Summarize: " + o.title, perspective: o.perspective, wave: o.wave, task: summaryTask{r, o, given}})
		}
	}
	return jobs, nil
}

// done counts no file of a pack that was built early.
func (s summaryTask) done(j *Job) bool {
	return s.exists(s.Summary(s.perspective)) && (s.given || j.lastAccepted())
}

// summaryResult is a summary, with cids.
type summaryResult struct {
	perspective string
	text        []byte
}

func (s summaryResult) take(u update, _ *Job, _ int) error {
	return step.TakeSummary(u.run, s.perspective, s.text)
}

// summaryCap is how many bytes one summary may have: its own cap, or its share of
// the cap of all.
func (r *research) summaryCap() (int, error) {
	outputs, err := r.outputs()
	if err != nil {
		return 0, err
	}
	m := r.Manifest()
	one, _ := m.Limit("max_summary_kb")
	all, _ := m.Limit("max_total_summary_kb")
	return most(min(one, all/float64(max(1, len(outputs)))) * 1024), nil
}

// citationBytes is what a citation takes in the text that is kept.
const citationBytes = 71

func (s summaryTask) prompt(_ context.Context, j *Job) (draft, error) {
	said, seen, err := s.about(j)
	if err != nil {
		return draft{}, err
	}
	limit, err := s.summaryCap()
	if err != nil {
		return draft{}, err
	}
	all, err := s.sources()
	if err != nil {
		return draft{}, err
	}
	text, usable, err := s.summarized(all, limit)
	if err != nil {
		return draft{}, err
	}
	seen[all.name] = all.digest
	filled, err := fill("summary.md", struct {
		about
		Output        string
		Sources       source.Citables
		Cap, Citation int
		Example       string
	}{said, string(text), usable, limit, citationBytes, summaryExample(usable, limit)})
	return draft{text: filled, seen: seen, sources: all.list.Table()}, err
}

// summarized is the output, and the sources of it that can be cited: none where there is
// no room for a citation.
func (s summaryTask) summarized(all *sources, limit int) ([]byte, source.Citables, error) {
	text, err := s.Folder().Read(s.Output(s.wave, s.perspective))
	if err != nil {
		return nil, nil, err
	}
	var found []source.Found
	for _, c := range source.Extract(text) {
		found = append(found, source.Found{Cited: c})
	}
	cids := map[string]bool{}
	for _, cited := range source.Sources(found) {
		cids[cited.CID] = true
	}
	if limit < citationBytes {
		return text, nil, nil
	}
	usable := all.list.Among(cids)
	for i := range usable {
		usable[i].Quotes = nil // the output has its own, and those of others are not its to use
	}
	return text, usable, nil
}

// summaryExample is a summary that passes, within the bytes that are allowed.
func summaryExample(usable source.Citables, limit int) string {
	text := "- Most harbours of this size have tried it."
	if len(usable) > 0 {
		text = "- Most harbours of this size have tried it. [@" + usable[0].ID + "]"
		if len(text)-len("[@]")-len(usable[0].ID)+citationBytes >= limit {
			return "[@" + usable[0].ID + "]\n"
		}
	}
	return text + "\n"
}

func (s summaryTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	all, err := s.sources()
	if err != nil {
		return judgement{}, err
	}
	limit, err := s.summaryCap()
	if err != nil {
		return judgement{}, err
	}
	_, usable, err := s.summarized(all, limit)
	if err != nil {
		return judgement{}, err
	}
	written := []byte(source.Expand(a.text, a.attempt.Sources))
	judged := judgement{seen: map[string]string{all.name: all.digest}, result: summaryResult{s.perspective, written}}
	text := claim.Inspect(written)
	judged.faults = append(judged.faults, hygiene(text, all)...)
	for _, line := range markdown.HiddenLines(written) {
		judged.faults = append(judged.faults, fault(string(tidegate.InvisibleText), fmt.Sprintf("line %d has a character that a reader cannot see", line), line,
			"Remove the characters that cannot be seen."))
	}
	if size := len(written); size > limit {
		judged.faults = append(judged.faults, fault(string(tidegate.SizeCapExceeded), fmt.Sprintf("the summary has %d bytes, of which %d are allowed; a citation counts as %d", size, limit, citationBytes), 0,
			fmt.Sprintf("Shorten the summary by at least %d bytes.", size-limit)))
	}
	if len(usable) > 0 && !cites(text, usable) {
		judged.faults = append(judged.faults, fault(string(tidegate.NoCitation), "the summary cites no source of the output", 0,
			"Cite a source of the output behind what it says, such as [@"+usable[0].ID+"]."))
	}
	_, report, err := sentences.CheckText(ctx, s.Run, written)
	if err != nil {
		return judgement{}, err
	}
	for _, f := range report.Faults {
		if f.Code == tidegate.QuotationNotFound || f.Code == tidegate.NumberNotFound {
			judged.warnings = append(judged.warnings, fault(string(f.Code), f.Message, f.Line, f.ChangeNote))
		}
	}
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
		if len(all.list.Among(map[string]bool{m.CID: true})) == 0 {
			faults = append(faults, fault(string(tidegate.UnknownCID), fmt.Sprintf("line %d cites %q, which is not an id of the list", m.Line, tidegate.Cut(m.CID)), m.Line,
				"Cite only ids of the list, each in brackets of its own: take out [@"+tidegate.Cut(m.CID)+"], or write the id that is meant."))
		}
	}
	return faults
}

// cites reports whether a reader sees a citation of one of the sources.
func cites(text claim.Inspection, of source.Citables) bool {
	for _, m := range text.Mentions {
		for _, s := range of {
			if m.Visible && m.CID == s.CID {
				return true
			}
		}
	}
	return false
}
