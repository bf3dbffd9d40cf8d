package job

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// PerspectivesID is the id of the job that plans the research.
const PerspectivesID = "perspectives"

// planTask plans the perspectives of a run.
type planTask struct{ *research }

func (r *research) planJobs() ([]*Job, error) {
	begun, err := r.HasFolder(run.JobDir(PerspectivesID))
	if err != nil {
		return nil, err
	}
	there, err := r.Folder().Exists(r.Layout().Perspectives)
	if err != nil || there && !begun {
		return nil, err // written by hand
	}
	return []*Job{{ID: PerspectivesID, Title: "Plan the perspectives of the research", task: planTask{r}}}, nil
}

func (p planTask) done(*Job) bool { return p.exists(p.Layout().Perspectives) }

// planResult is a document of perspectives.
type planResult struct{ doc *codec.Value }

func (p planResult) take(u update, _ *Job, _ int) error {
	return step.TakePerspectives(u.run, p.doc, "accepted from the job "+PerspectivesID)
}

// PerspectivesAllowed is how many perspectives the run's first wave may have.
func PerspectivesAllowed(m run.Manifest) int {
	limit, _ := m.Limit("max_wave1_agents")
	return int(math.Floor(max(0, limit)))
}

func (p planTask) prompt(ctx context.Context, j *Job) (draft, error) {
	said, seen, err := p.about(j)
	if err != nil {
		return draft{}, err
	}
	documents, err := sourcing.Outline(ctx, p.Run)
	if err != nil {
		return draft{}, err
	}
	allowed := PerspectivesAllowed(p.Manifest())
	asked := p.policy.Perspectives
	fewest, enough := 3, 0
	if said.Shape.Brief() && documents != "" && said.Sensitivity == "no_web" {
		allowed, fewest = min(allowed, 3), 2 // each costs a fifth of the run
		enough = 600                         // findings of so many words fit a summary whole, which then asks no agent
	}
	count := "exactly 1 perspective"
	switch {
	case asked > 1:
		count = fmt.Sprintf("exactly %d perspectives", asked)
	case asked == 0 && allowed > 1:
		count = fmt.Sprintf("from %d to %d perspectives", min(fewest, allowed), allowed)
	}
	if asked == 0 {
		asked = min(fewest, allowed)
	}
	example, err := codec.Marshal(perspectivesExample(asked, cmp.Or(enough, 900), said.Sensitivity == "normal"))
	if err != nil {
		return draft{}, err
	}
	text, err := fill("perspectives.md", struct {
		about
		Count     string
		Enough    int    // words of an output, 0 for no word about it
		Services  string // that the run may ask, "" for none
		Documents string // a list of the person's own, "" for none
		Example   string
	}{said, count, enough, strings.Join(p.policy.Search, ", "), documents, string(example)})
	return draft{text: text, seen: seen}, err
}

// perspectivesExample is a document that passes, with budgets where there is a web.
func perspectivesExample(n, words int, web bool) *codec.Value {
	budget := tidegate.Details{}
	if web {
		budget = tidegate.Pairs("search_calls", 12, "fetch_calls", 20)
	}
	list := []tidegate.Details{}
	angles := []struct{ id, title, track string }{
		{"figures", "What the published figures say", "standard"},
		{"doubts", "What speaks against the usual answer", "contrarian"},
		{"records", "What primary records show", "independent"},
	}
	for i := range n {
		p := angles[i%len(angles)]
		if round := i / len(angles); round > 0 {
			p.id = fmt.Sprintf("%s_%d", p.id, round+1)
			p.title = fmt.Sprintf("%s, part %d", p.title, round+1)
		}
		list = append(list, tidegate.Pairs("id", p.id, "title", p.title, "track", p.track, "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", words, "max_sources", 8, "tool_budget", budget,
				"must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	return codec.Of(tidegate.Pairs("schema_version", wave.PerspectivesVersion, "run_id", "filled in", "created_at", "filled in", "perspectives", list))
}

func (p planTask) judge(_ context.Context, _ *Job, a answer) (judgement, error) {
	doc, err := codec.ParseGiven([]byte(a.text))
	if err != nil {
		return judgement{faults: []Fault{fault(string(tidegate.InvalidJSON), "the answer is not strict JSON: "+err.Error(), 0,
			"Answer with one JSON document and nothing else.")}}, nil
	}
	if doc.Kind() == codec.Object {
		doc = doc.Clone()
		doc.Set("run_id", codec.Of(p.ID()))
		doc.Set("created_at", codec.Of(p.CreatedAt()))
	}
	faults, warnings, err := CheckPerspectives(doc, PerspectivesAllowed(p.Manifest()))
	if n, asked := doc.Get("perspectives").Len(), p.policy.Perspectives; asked > 0 && n != asked {
		faults = append(faults, fault(string(tidegate.PerspectiveCount), fmt.Sprintf("the document lists %d perspectives, and exactly %d are asked for", n, asked), 0,
			fmt.Sprintf("List exactly %d perspectives.", asked)))
	}
	return judgement{faults: faults, warnings: warnings, result: planResult{doc}}, err
}

// maxFindings is how many findings of one answer are listed.
const maxFindings = 50

// demanded are the warnings of the check that a job does not let pass: without
// these sections the outputs could not be judged nor the pivot decided, and no
// output may contain the invisible characters of a title.
var demanded = map[string]string{
	"NO_SOURCES_SECTION":   "Add Sources to must_include_sections.",
	"SOURCES_OTHER_CASE":   "Write the title Sources with exactly this letter case.",
	"SOURCES_AMBIGUOUS":    "Leave only Sources, and no other spelling of it, in must_include_sections.",
	"NO_GAPS_SECTION":      "Add Gaps to must_include_sections.",
	"GAPS_OTHER_CASE":      "Write the title Gaps with exactly this letter case.",
	"TITLE_INVISIBLE":      "Write the title with characters that can be seen and plain spaces.",
	"CAP_LEAVES_NO_SOURCE": "Set max_sources to at least 1.",
	"CAP_LEAVES_NO_TEXT":   "Raise max_words, so that there is room for text.",
}

// CheckPerspectives checks a document against the rules of the job perspectives:
// no error of `perspectives check`, at most allowed perspectives, and in every
// contract the sections Sources and Gaps and room for a source.
func CheckPerspectives(doc *codec.Value, allowed int) (faults, warnings []Fault, err error) {
	data, err := codec.Marshal(doc)
	if err != nil {
		return nil, nil, err
	}
	found, err := wave.Lint("the answer", data, maxFindings)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range found.Findings {
		change, refused := demanded[f.Rule]
		switch {
		case f.Level == "error":
			faults = append(faults, fault(f.Rule, f.Message, 0, "Correct "+f.Path+": "+f.Message))
		case refused:
			faults = append(faults, fault(f.Rule, f.Path+": "+f.Message, 0, change+" It is "+f.Path+"."))
		default:
			warnings = append(warnings, fault(f.Rule, f.Path+": "+f.Message, 0, "Look whether "+f.Path+" is meant as it is."))
		}
	}
	if n := found.Perspectives; n > allowed {
		faults = append(faults, fault(string(tidegate.WaveCapExceeded), fmt.Sprintf("the document lists %d perspectives, the run allows %d", n, allowed), 0,
			fmt.Sprintf("Leave out %d perspectives: choose the %d that matter most.", n-allowed, allowed)))
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return strings.Compare(order(a.Code), order(b.Code)) })
	return faults, warnings, nil
}

// order puts the schema first: what follows from a broken document is moot.
func order(code string) string {
	if code == string(tidegate.SchemaValidationFailed) {
		return "0"
	}
	return "1"
}
