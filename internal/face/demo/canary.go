package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// Canary plants violations and checks whether the tools catch them.
type Canary struct {
	Scratch string // a folder to play in
	// Tools are the tools of a world whose runs lie in folder/runs and whose
	// project is folder.
	Tools func(folder string) []*tool.Tool
	// Every is how many plants there are for each one that is played; 0 plays all.
	Every int
}

// Sighting is what became of one planted violation.
type Sighting struct {
	Rule    string
	Plant   string // the rule, or the rule and what distinguishes a further violation of it
	Kind    Kind
	Judge   string // the tool that judged
	Status  report.Status
	Problem string // why it failed or was skipped

	Answer   string // what the judging call said about the violation
	Recorded string // what [Explain] shows as that answer
}

// Run plays plants twice: the failing variant must be caught by its rule,
// and the fixed one must pass. It returns an error only when the rules cannot
// be read or ctx ends.
func (c Canary) Run(ctx context.Context) ([]Sighting, error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	var all []*Sighting
	var looks sync.WaitGroup
	// Most of the time is spent waiting for the disk.
	free := make(chan struct{}, 8)
	number := 0
	for _, r := range rules {
		for _, p := range r.plants {
			if number++; c.Every > 0 && number%c.Every != 0 {
				continue
			}
			s := &Sighting{Rule: r.ID, Plant: p.name, Kind: r.Kind, Status: report.Pass, Recorded: p.archive.text("", "answer")}
			all = append(all, s)
			if s.Problem = p.unplanted(); s.Problem != "" {
				s.Status = report.Skip
				continue
			}
			free <- struct{}{}
			looks.Go(func() {
				c.inspect(ctx, p, s)
				<-free
			})
		}
	}
	looks.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sightings := make([]Sighting, len(all))
	for i, s := range all {
		sightings[i] = *s
	}
	return sightings, nil
}

func (c Canary) inspect(ctx context.Context, p plant, s *Sighting) {
	bad, judge, folder, err := c.play(ctx, p, failing)
	s.Judge = judge
	switch {
	case errors.Is(err, errNoLinks):
		s.Status, s.Problem = report.Skip, err.Error()
		return
	case err != nil:
		s.Status, s.Problem = report.Fail, "the failing example cannot be set up: "+err.Error()
		return
	case !caught(bad, s.Rule):
		s.Status, s.Problem = report.Fail, "not caught; the tool answered "+codeOrOK(bad)
		return
	}
	s.Answer = strings.ReplaceAll(answer(bad, s.Rule), folder, "$DIR")
	good, _, _, err := c.play(ctx, p, fixed)
	switch {
	case err != nil:
		s.Status, s.Problem = report.Fail, "the fixed example cannot be set up: "+err.Error()
	case !good.Passed || caught(good, s.Rule):
		s.Status, s.Problem = report.Fail, "the fixed example does not pass: "+codeOrOK(good)
	}
}

func codeOrOK(r tool.Result) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return "ok"
}

var errNoLinks = errors.New("this system makes no symbolic links")

// play does the steps of one variant in its own folder, and returns the result of
// the judging call.
func (c Canary) play(ctx context.Context, p plant, variant string) (result tool.Result, judge, folder string, err error) {
	folder, err = os.MkdirTemp(c.Scratch, "plant-")
	if err != nil {
		return tool.Result{}, "", "", err
	}
	defer os.RemoveAll(folder)
	tools := c.Tools(folder)
	for _, s := range p.archive.sections {
		if s.variant != "" && s.variant != variant {
			continue
		}
		switch s.verb {
		case "call", "judge":
			answer, err := call(ctx, tools, s, folder)
			if err != nil {
				return tool.Result{}, "", "", err
			}
			if s.verb == "judge" {
				result, judge = answer, s.name
			} else if answer.Err != nil {
				return tool.Result{}, "", "", fmt.Errorf("%s: %w", s.name, answer.Err)
			}
		case "answer", "text":
		default:
			if err := s.change(folder); err != nil {
				return tool.Result{}, "", "", err
			}
		}
	}
	if judge == "" {
		return tool.Result{}, "", "", errors.New("no tool judges it")
	}
	return result, judge, folder, nil
}

func call(ctx context.Context, tools []*tool.Tool, s section, folder string) (tool.Result, error) {
	inJSON, err := codec.MarshalLine(folder)
	if err != nil {
		return tool.Result{}, err
	}
	args := strings.ReplaceAll(s.data, "$DIR", strings.Trim(string(inJSON), `"`))
	for _, t := range tools {
		if t.Name == s.name {
			return t.Call(ctx, []byte(args), tool.Caller{}), nil
		}
	}
	return tool.Result{}, fmt.Errorf("there is no tool %s", s.name)
}

// change does to a file of folder what a section says.
func (s section) change(folder string) error {
	target := filepath.Join(folder, filepath.FromSlash(s.name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	data := strings.ReplaceAll(s.data, "$DIR", filepath.ToSlash(folder))
	switch s.verb {
	case "file":
		return os.WriteFile(target, []byte(data), 0o600)
	case "folder":
		return os.MkdirAll(target, 0o700)
	case "remove":
		return os.RemoveAll(target)
	case "link":
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if err := os.Symlink(strings.TrimSpace(data), target); err != nil {
			return errNoLinks
		}
		return nil
	case "append", "tear":
		before, err := os.ReadFile(target)
		if err != nil {
			return err
		}
		if s.verb == "tear" {
			data = strings.TrimSuffix(data, "\n")
		}
		return os.WriteFile(target, append(before, data...), 0o600)
	case "replace":
		return replaceIn(target, data)
	}
	return fmt.Errorf("no step is called %q", s.verb)
}

func replaceIn(target, data string) error {
	before, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	from, to, _ := strings.Cut(strings.TrimSuffix(data, "\n"), "\n")
	if !strings.Contains(string(before), from) {
		return fmt.Errorf("%s does not hold %q", target, from)
	}
	return os.WriteFile(target, []byte(strings.Replace(string(before), from, to, 1)), 0o600)
}

// caught reports whether a result names the rule: as the code of its error, or
// anywhere in a result or its report.
func caught(r tool.Result, id string) bool {
	if r.Err != nil {
		return string(r.Err.Code) == id
	}
	envelope, err := codec.Parse(r.Envelope)
	if err == nil && names(envelope, id) {
		return true
	}
	shown, _ := r.Report()
	for _, c := range shown.Cases {
		for _, f := range c.Findings {
			if f.Rule == id {
				return true
			}
		}
	}
	return false
}

// answer is what a result that names the rule says about it, "" when it only names
// it.
func answer(r tool.Result, id string) string {
	if r.Err != nil {
		return r.Err.Message
	}
	envelope, err := codec.Parse(r.Envelope)
	if err != nil {
		return ""
	}
	return saidOf(envelope, id)
}

func saidOf(v *codec.Value, id string) string {
	for _, e := range v.Elems() {
		if said := saidOf(e, id); said != "" {
			return said
		}
	}
	for _, m := range v.Members() {
		if m.Value.Kind() == codec.String && m.Value.Str() == id {
			return v.Get("message").Str() + v.Get("explanation").Str()
		}
		if said := saidOf(m.Value, id); said != "" {
			return said
		}
	}
	if names(v.Get("warnings"), id) {
		return strings.Join(v.Get("changes").Strs(), "\n")
	}
	return ""
}

func names(v *codec.Value, id string) bool {
	if v.Kind() == codec.String {
		said, _, _ := strings.Cut(v.Str(), ":") // some warnings say how often, as in MISSING_SUMMARIES:2
		return said == id
	}
	return slices.ContainsFunc(v.Elems(), func(e *codec.Value) bool { return names(e, id) }) ||
		slices.ContainsFunc(v.Members(), func(m codec.Member) bool { return names(m.Value, id) })
}

// Report is the outcome for people and programs.
func Report(all []Sighting, sources []Judgement) report.Report {
	r := report.Report{Name: "canary", Title: "Planted violations"}
	table := report.NewTable("Rule", "Kind", "Judged by", "Problem")
	caught, missed, skipped := 0, 0, 0
	for _, s := range all {
		c := report.Case{Name: s.Plant, Status: s.Status}
		switch s.Status {
		case report.Pass:
			caught++
		case report.Skip:
			skipped++
			c.Note = s.Problem
		default:
			missed++
			c.Findings = []report.Finding{{Rule: s.Rule, Message: s.Problem}}
		}
		r.AddCase(c)
		table.Row(s.Status, s.Plant, s.Kind.Title, s.Judge, s.Problem)
	}
	r.Add(table)
	missedSources := addSources(&r, sources)
	caught, missed = caught+len(sources)-missedSources, missed+missedSources
	r.Status = report.PassIf(missed == 0 && caught > 0 && len(sources) > 0)
	r.Summary = fmt.Sprintf("%d planted and caught, %d missed, %d cannot be planted", caught, missed, skipped)
	return r
}
