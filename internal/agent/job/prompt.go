package job

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"strings"
	"sync"
	"text/template"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// prompts are read when the first one is made: most calls make none.
var prompts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"quote":    markdown.Quote,
		"cells":    markdown.QuoteCells,
		"show":     markdown.Show,
		"plus":     func(a, b int) int { return a + b },
		"counted":  report.Counted,
		"name":     evidence.LanguageName,
		"counting": evidence.Counting,
		"grouped":  func(n int) string { return evidence.Thousands("en", int64(n)) },
		"join":     strings.Join,
		"either":   either,
		"plan":     planList,
		"sources":  sourceList,
		"faults":   faultList,
	}).ParseFS(promptFiles, "prompts/*.md"))
})

// either names one of some things.
func either(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// planList lists what the sections of a report must answer, for a quotation.
func planList(sections []synthesis.PartOutline) string {
	var b strings.Builder
	for _, p := range sections {
		fmt.Fprintf(&b, "- %s: %s\n", p.Section, p.Answers)
	}
	return b.String()
}

// sourceList lists sources for a quotation: titles and words of pages were written
// by others.
func sourceList(list source.Citables) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "- %s: ", s.ID)
		if s.Title != "" {
			b.WriteString(s.Title + ", ")
		}
		fmt.Fprintf(&b, "%s (%s)", s.URL, s.Status)
		if s.Silent {
			b.WriteString(": no text can be read there, so it carries no sentence")
		}
		b.WriteString("\n")
		for _, words := range s.Quotes {
			fmt.Fprintf(&b, "  - quoted: %s\n", words)
		}
	}
	return b.String()
}

// faultList lists faults for a quotation: their messages repeat words of the faulty
// text.
func faultList(list []Fault) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString("- " + f.Code)
		if f.Line != nil {
			fmt.Fprintf(&b, ", line %d", *f.Line)
		}
		fmt.Fprintf(&b, ": %s\n", markdown.OneLine(f.Message))
		if f.ChangeNote != "" {
			fmt.Fprintf(&b, "  Change: %s\n", markdown.OneLine(f.ChangeNote))
		}
	}
	return b.String()
}

// about is what every prompt says about the run.
type about struct {
	Job         string
	Question    string
	Questions   []string
	NonGoals    []string
	Deliverable string
	Notes       string
	Assumptions []string
	Sensitivity string
	Frozen      bool              // the pages of a finished run stand for the web
	Earlier     *run.EarlierShown // the run that this one builds on; nil for none
	Allowed     []string          // what the person asks of sources, one sentence each
	Day         string            // of the run
	Shape       evidence.Shape    // of the report
	Language    string            // to write in, "" where that of the question is not known
	Attempt     int
	Note        string // of a person who gave the tries again
	Last        *lastAnswer
}

// lastAnswer is the last answer that was refused, for the next attempt.
type lastAnswer struct {
	Text   string
	Faults []Fault
}

// scope is the scope of a run as it was read.
type scope struct {
	doc    *codec.Value
	digest string
}

// about is what prompts say about the run, with the digest of its scope.
func (r *research) about(j *Job) (about, map[string]string, error) {
	m := r.Manifest()
	s, err := r.scope.get(r.readScope)
	if err != nil {
		return about{}, nil, err
	}
	a := about{
		Job: j.ID, Question: strings.TrimSpace(m.Query()), Sensitivity: m.Sensitivity(), Attempt: j.next(), Note: j.note,
		Frozen: !r.policy.Frozen.IsZero(), Allowed: append(r.policy.Frozen.Lines(""), r.policy.Sources.Lines("")...),
		Questions: lines(s.doc.Get("questions")), NonGoals: lines(s.doc.Get("non_goals")), Deliverable: markdown.OneLine(s.doc.Get("deliverable").Str()),
		Notes: markdown.OneLine(s.doc.Get("notes").Str()), Assumptions: lines(s.doc.Get("assumptions")),
	}
	if a.Shape, err = r.Shape(); err != nil {
		return about{}, nil, err
	}
	earlier, err := r.Earlier()
	if err != nil {
		return about{}, nil, err
	}
	a.Earlier = earlier.Shown()
	created := r.CreatedAt()
	a.Day, a.Language = created[:min(len(created), len("2006-01-02"))], cmp.Or(a.Shape.Language, page.QuestionLanguage(a.Question))
	if len(a.Questions) == 1 && a.Questions[0] == markdown.OneLine(a.Question) {
		a.Questions = nil // it stands above already
	}
	a.Last, err = j.lastRefused()
	return a, map[string]string{run.ScopeFile: s.digest}, err
}

func (r *research) readScope() (scope, error) {
	data, err := r.Folder().Read(run.ScopeFile)
	if err != nil {
		return scope{}, tidegate.WithDetails(err, tidegate.Pairs("scope_path", r.Path(run.ScopeFile)))
	}
	doc, err := codec.ParseFile("scope_path", r.Path(run.ScopeFile), data)
	return scope{doc, codec.DigestBytes(data)}, err
}

func lines(list *codec.Value) []string {
	var out []string
	for _, v := range list.Elems() {
		if line := markdown.OneLine(v.Str()); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// fill makes a prompt of the file name.
func fill(name string, data any) (string, error) {
	var b strings.Builder
	if err := prompts().ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("the prompt %s cannot be filled: %w", name, err)
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

// Repair is the prompt that goes back into the session of an agent whose answer was
// refused. Warnings say what else it may mend.
func Repair(format string, faults, warnings []Fault) (string, error) {
	return fill("repair.md", struct {
		Format           string
		Faults, Warnings []Fault
	}{format, faults, warnings})
}

// most is the greatest count within a cap of a contract.
func most(limit float64) int { return int(math.Min(math.Floor(limit), 1<<31)) }
