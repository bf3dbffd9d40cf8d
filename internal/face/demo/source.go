package demo

import (
	"cmp"
	"context"
	_ "embed" // the planted sources
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	warc "github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// Source is a page that one rule for sources must find, with what a fetch of it
// brought. sources.json has one for every rule that judges what was fetched.
type Source struct {
	URL     string
	Title   string   // that the agent gave it
	Kind    string   // of its fault
	Variant string   // what is special about it
	Rule    string   // "" for what is fetched beside a source, such as the answer of a registry
	Claim   string   `json:",omitempty"` // what the output cites the page for
	Fetched *Fetched `json:",omitempty"` // nil for what is never fetched
}

// Fetched is a capture without what differs from one fetch to the next.
type Fetched struct {
	Kind    warc.Kind
	Address string   `json:",omitempty"`
	Detail  string   `json:",omitempty"`
	Hops    []Answer `json:",omitempty"`
}

// Answer is what came for one request.
type Answer struct {
	URL       string
	Status    int
	Header    []warc.Field `json:",omitempty"`
	Body      string       `json:",omitempty"`
	Truncated string       `json:",omitempty"`
}

//go:embed sources.json
var sourcesJSON []byte

//go:embed works.json
var worksJSON []byte

// sources are the embedded ones: pages of a planted web, and papers with what their
// registries answered.
func sources() (list []Source, err error) {
	var papers []Source
	if err := errors.Join(json.Unmarshal(sourcesJSON, &list), json.Unmarshal(worksJSON, &papers)); err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, nil, "the planted sources cannot be read: %w", err)
	}
	return append(list, papers...), nil
}

// FetchSources hands over what was fetched of the planted sources, and opens no
// connection. For any other URL, the name does not exist.
func (p Pages) FetchSources(_ context.Context, urls []string, keep func([]*warc.Packed) error) error {
	list, err := sources()
	if err != nil {
		return err
	}
	return p.keep(urls, keep, func(url string) warc.Capture {
		at := slices.IndexFunc(list, func(s Source) bool { return s.URL == url && s.Fetched != nil })
		if at < 0 {
			return warc.Capture{URL: url, Kind: warc.NoSuchName, Time: p.Now(), Detail: "the canary has no such page"}
		}
		f := list[at].Fetched
		c := warc.Capture{URL: url, Kind: f.Kind, Time: p.Now(), Address: f.Address, Detail: f.Detail}
		for _, a := range f.Hops {
			c.Hops = append(c.Hops, warc.Hop{URL: a.URL, Time: p.Now(), Status: a.Status, Header: a.Header, Body: []byte(a.Body), Truncated: a.Truncated})
		}
		return c
	})
}

// Judgement is how the page of one rule for sources was judged.
type Judgement struct {
	Rule    string
	Status  string // that the rule gives
	Source  Source
	Notes   string // of the record
	Problem string // "" where the page was found by its rule
}

// denied is the example of the rule for sources that the run's policy refuses: it is
// judged by its URL, and never fetched.
var denied = Source{URL: "https://denied.example/tides", Title: "Tides", Kind: "policy", Variant: "a domain that the person denied", Rule: "policy"}

// The rule for sources that were not fetched has no page of its own, and what is
// not a URL to fetch is never fetched.
const (
	notChecked = "not-checked"
	judgeTool  = "deep_research_citations_validate"
	valid      = "valid"
)

// Sources cites an example page of every rule for sources in a run, and has the
// tools fetch and judge them. The tools must fetch by [Pages.FetchSources]. Every page must
// be found by its rule, and, before anything is fetched, by the rule for sources that
// were not fetched.
func (c Canary) Sources(ctx context.Context) ([]Judgement, error) {
	folder, err := os.MkdirTemp(c.Scratch, "sources-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	trial := sourceTrial{ctx: ctx, tools: c.Tools(folder), folder: folder}
	rules := trial.call("deep_research_citations_rules", `{}`).Get("rules").Elems()
	trial.call("deep_research_run_init", `{"query": "When is high water?", "run_id": "canary", "deny_domains": ["denied.example"]}`)
	examples, err := sources()
	if err != nil {
		return nil, err
	}
	examples = append(examples, denied)
	for _, source := range examples {
		trial.cite(source)
	}
	before := trial.judge(`, "online_dry_run": true`)
	after := trial.judge("")
	if trial.err != nil {
		return nil, trial.err
	}
	all := make([]Judgement, len(rules))
	for i, rule := range rules {
		j := Judgement{Rule: rule.Get("name").Str(), Status: rule.Get("status").Str()}
		if j.Rule == notChecked {
			j.Source = examples[slices.IndexFunc(examples, func(s Source) bool { return s.Rule == valid })]
			j.compare(before[valid])
		} else if at := slices.IndexFunc(examples, func(s Source) bool { return s.Rule == j.Rule }); at >= 0 {
			j.Source = examples[at]
			j.compare(after[j.Rule])
		} else {
			j.Problem = "no page is planted for it"
		}
		all[i] = j
	}
	return all, nil
}

// compare compares a record with what the rule must say.
func (j *Judgement) compare(record *codec.Value) {
	j.Notes = record.Get("notes").Str()
	if rule, status := record.Get("rule").Str(), record.Get("status").Str(); rule != j.Rule || status != j.Status {
		j.Problem = fmt.Sprintf("judged %s by %s", status, rule)
	}
}

// sourceTrial is a run whose sources are judged, and the first error in it.
type sourceTrial struct {
	ctx    context.Context
	tools  []*tool.Tool
	folder string
	err    error
}

// call calls a tool, unless something went wrong before.
func (s *sourceTrial) call(name, args string) *codec.Value {
	if s.err != nil {
		return nil
	}
	result, err := call(s.ctx, s.tools, section{name: name, data: args}, s.folder)
	if err == nil && result.Err != nil {
		err = fmt.Errorf("%s: %w", name, result.Err)
	}
	if err != nil {
		s.err = err
		return nil
	}
	value, err := codec.Parse(result.Envelope)
	s.err = err
	return value
}

// cite writes an output that names a source. The output has the name of the source's
// rule.
func (s *sourceTrial) cite(source Source) {
	if s.err == nil && source.Rule != "" {
		output := fmt.Sprintf("## Findings\n\n%s\n\n## Sources\n\n- [%s](<%s>)\n\n## Gaps\n\nNone.\n", cmp.Or(source.Claim, "High water."), strings.NewReplacer("[", `\[`, "]", `\]`).Replace(source.Title), source.URL)
		s.err = section{verb: "file", name: filepath.Join("runs", "canary", "wave-1", source.Rule+".md"), data: output}.change(s.folder)
	}
}

// judge has the sources judged, and returns their records by the output that cites
// them.
func (s *sourceTrial) judge(more string) map[string]*codec.Value {
	const run = `{"manifest_path": "$DIR/runs/canary/manifest.json"`
	s.call(judgeTool, run+`, "reason": "canary"`+more+"}")
	records := map[string]*codec.Value{}
	for _, record := range s.call("deep_research_citations_list", run+"}").Get("records").Elems() {
		for _, place := range record.Get("found_by").Elems() {
			records[place.Get("perspective_id").Str()] = record
		}
	}
	return records
}

// addSources adds the judgements to a report.
func addSources(r *report.Report, all []Judgement) (missed int) {
	table := report.NewTable("Rule", "Verdict", "Planted page", "Notes", "Problem")
	for _, j := range all {
		c := report.Case{Name: "source " + j.Rule, Status: report.PassIf(j.Problem == "")}
		if j.Problem != "" {
			missed++
			c.Findings = []report.Finding{{Rule: j.Rule, Message: j.Problem}}
		}
		r.AddCase(c)
		table.Row(c.Status, j.Rule, j.Status, strings.ReplaceAll(j.Source.Kind, "_", " ")+": "+j.Source.Variant, j.Notes, j.Problem)
	}
	r.Add(report.Heading("Rules for sources"), table)
	return missed
}
