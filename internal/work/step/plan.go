package step

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// planVersion is the schema_version of a plan of the first wave.
const planVersion = "wave1_plan.v1"

// PlanInput are the arguments of [Plan].
type PlanInput struct {
	ManifestPath     string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath string `json:"perspectives_path,omitzero" path:"absolute" jsonschema:"absolute path of the run's own perspectives.json; another one is refused"`
	Reason           string `json:"reason" jsonschema:"why, for the audit log"`
}

// PlanResult is the result of [Plan].
type PlanResult struct {
	OK           codec.True `json:"ok"`
	PlanPath     string     `json:"plan_path" jsonschema:"where the plan was written"`
	InputsDigest string     `json:"inputs_digest" jsonschema:"digest of everything that shapes the prompts"`
	Planned      int        `json:"planned" jsonschema:"how many prompts the plan holds"`

	entries []PlanEntry
}

// Entries are what the plan asks of each agent.
func (r PlanResult) Entries() []PlanEntry { return r.entries }

// PlanEntry is what one agent is asked to do.
type PlanEntry struct {
	PerspectiveID string `json:"perspective_id"`
	AgentType     string `json:"agent_type"`
	OutputMD      string `json:"output_md"` // run-root-relative
	PromptMD      string `json:"prompt_md"`
}

type planDocument struct {
	SchemaVersion      string      `json:"schema_version"`
	RunID              string      `json:"run_id"`
	GeneratedAt        string      `json:"generated_at"`
	InputsDigest       string      `json:"inputs_digest"`
	PerspectivesDigest string      `json:"perspectives_digest"`
	Entries            []PlanEntry `json:"entries"`
}

// Plan is the tool deep_research_wave1_plan: it writes the plan of the first
// wave. For every perspective, in the order of the document, the plan has a prompt
// that states the question, the scope and every rule of the contract. It is made
// from the run's own perspectives, which must meet the whole table, and freezes
// them. Gate A is judged with the plan, in the same step.
//
// It returns INVALID_ARGS (a path other than that of the run's perspectives),
// NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED, INVALID_STATE
// (another run's perspectives or scope, or a run that is final), STAGE_MISMATCH,
// WAVE_CAP_EXCEEDED, PATH_NOT_ALLOWED, TAMPERED, LOCK_HELD and WRITE_FAILED.
func Plan(ctx context.Context, desk run.Desk, in PlanInput) (PlanResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, result *PlanResult) error {
		if err := ownPerspectives(r, in.PerspectivesPath); err != nil {
			return err
		}
		name := r.Layout().Wave1Plan()
		*result = PlanResult{PlanPath: r.Path(name)}
		_, err := r.Update(ctx, run.Unfinished(func(u *run.Update) error {
			manifest := u.Manifest()
			if err := InStage(manifest, run.Init, run.Perspectives, run.Wave1); err != nil {
				return err
			}
			p := planner{run: r, manifest: manifest}
			if err := p.read(); err != nil {
				return err
			}
			plan := p.document(u.Now())
			result.entries, result.InputsDigest, result.Planned = plan.Entries, plan.InputsDigest, len(plan.Entries)
			data, err := codec.MarshalFile(plan)
			if err != nil {
				return err
			}
			if err := u.Write(name, data); err != nil {
				return err
			}
			fields := tidegate.Pairs("reason", run.Note(in.Reason), "plan_path", r.InRecord(result.PlanPath),
				"planned", result.Planned, "inputs_digest", result.InputsDigest, "args", tidegate.Pairs())
			ignored, err := p.ignored()
			if err != nil {
				return err
			}
			if len(ignored) > 0 {
				fields = append(fields, tidegate.Pairs("ignored_services", ignored)...)
			}
			u.Log(run.EventPlanned, "wave1_plan", fields)
			return p.judgeWithPlan(u, data)
		}))
		return err
	}, "query.text", "limits.max_wave1_agents")
}

// ownPerspectives returns INVALID_ARGS for a path other than that of the run's
// perspectives.
func ownPerspectives(r *run.Run, path string) error {
	own := r.Layout().Perspectives
	if path == "" {
		return nil
	}
	if name, err := r.Name("perspectives_path", path); err == nil && name == own {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("perspectives_path", tidegate.Cut(path)),
		"perspectives_path must be %s: a run is planned from its own perspectives", r.Path(own))
}

// planner holds what a plan is made from.
type planner struct {
	run          *run.Run
	manifest     run.Manifest
	perspectives *codec.Value
	scope        *codec.Value
}

func (p *planner) read() error {
	var err error
	name := p.run.Layout().Perspectives
	if p.perspectives, err = ReadDocument(p.run, "perspectives_path", name); err != nil {
		return err
	}
	if err := wave.CheckPerspectives(p.perspectives); err != nil {
		return err
	}
	if err := sameRun(p.run.ID(), "perspectives_run_id", p.perspectives.Get("run_id").Str()); err != nil {
		return err
	}
	limit := p.limit()
	if count := p.perspectives.Get("perspectives").Len(); float64(count) > limit {
		return tidegate.Errorf(tidegate.WaveCapExceeded, tidegate.Pairs("cap", limit, "count", count),
			"the run allows %v perspectives in the first wave, %s lists %d", limit, p.run.Path(name), count)
	}
	if p.scope, err = ReadDocument(p.run, "scope_path", run.ScopeFile); err != nil {
		return err
	}
	if err := run.ScopeShape.Check(p.scope); err != nil {
		return err
	}
	return sameRun(p.run.ID(), "scope_run_id", p.scope.Get("run_id").Str())
}

// ignored are the search services that the planner expects and the person did not list, in
// a run that lists those it asks.
func (p *planner) ignored() ([]string, error) {
	kept, err := p.run.Policy()
	if err != nil || kept.Search == nil {
		return nil, err
	}
	var all []string
	for _, v := range p.perspectives.Get("perspectives").Elems() {
		_, _, unlisted := Platforms(v.Get("expected_platforms").Strs(), kept.Search)
		all = append(all, unlisted...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (p *planner) limit() float64 {
	limit, _ := p.manifest.Limit("max_wave1_agents")
	return math.Floor(max(0, limit))
}

func sameRun(manifestID, key, other string) error {
	if manifestID == other {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("manifest_run_id", manifestID, key, other),
		"the document belongs to run %q, the manifest to run %q", tidegate.Cut(other), manifestID)
}

func (p *planner) document(now string) planDocument {
	return planDocument{
		SchemaVersion: planVersion, RunID: p.run.ID(), GeneratedAt: now, InputsDigest: codec.Digest(p.inputs()),
		PerspectivesDigest: codec.Digest(p.perspectives), Entries: p.entries(),
	}
}

// inputs is what the digest covers: everything from which a prompt is made.
func (p *planner) inputs() tidegate.Details {
	limit, _ := p.manifest.Limit("max_wave1_agents")
	var perspectives []tidegate.Details
	for _, v := range p.perspectives.Get("perspectives").Elems() {
		contract := v.Get("prompt_contract")
		perspectives = append(perspectives, tidegate.Pairs(
			"id", v.Get("id"), "title", v.Get("title"), "track", v.Get("track"), "agent_type", v.Get("agent_type"),
			"max_words", contract.Get("max_words"), "max_sources", contract.Get("max_sources"), "tool_budget", contract.Get("tool_budget"),
			"must_include_sections", wave.ContractOf(v).Sections,
			"platform_requirements", platformLines(v), "tool_policy", toolPolicy(v)))
	}
	return tidegate.Pairs("schema", "wave1_plan.inputs.v1", "run_id", p.run.ID(), "query_text", p.manifest.Query(),
		"scope_contract_md", p.scopeContract(), "max_wave1_agents", limit, "wave1_dir", p.run.Layout().Wave1Dir, "perspectives", perspectives)
}

func (p *planner) entries() []PlanEntry {
	entries := []PlanEntry{}
	for _, v := range p.perspectives.Get("perspectives").Elems() {
		id := v.Get("id").Str()
		entries = append(entries, PlanEntry{
			PerspectiveID: id, AgentType: v.Get("agent_type").Str(), OutputMD: p.run.Output(run.Wave1, id),
			PromptMD: p.prompt("# Research task of the first wave", v, ""),
		})
	}
	return entries
}

// prompt is the whole text for one agent. Task, when there is one, stands before
// the question.
func (p *planner) prompt(heading string, v *codec.Value, task string) string {
	var b strings.Builder
	field := func(name, value string) { fmt.Fprintf(&b, "- %s: %s\n", name, collapse(value)) }
	b.WriteString(heading + "\n\n")
	field("Perspective ID", v.Get("id").Str())
	field("Title", v.Get("title").Str())
	field("Track", v.Get("track").Str())
	field("Agent Type", v.Get("agent_type").Str())
	if task != "" {
		fmt.Fprintf(&b, "\n## Task\n\n%s\n", task)
	}
	fmt.Fprintf(&b, "\n## Query\n\n%s\n", strings.TrimSpace(p.manifest.Query()))
	contract := wave.ContractOf(v)
	b.WriteString("\n## Prompt Contract\n\n")
	field("Max words", fmt.Sprint(contract.MaxWords))
	field("Max sources", fmt.Sprint(contract.MaxSources))
	field("Required sections", strings.Join(contract.Sections, ", "))
	for _, m := range v.Get("prompt_contract").Get("tool_budget").Members() {
		limit, _ := m.Value.Float()
		field("At most", fmt.Sprintf("%v calls of %s", limit, m.Key))
	}
	b.WriteString("\nA program judges the output by these rules and knows no exceptions:\n\n")
	for i, rule := range wave.Rules(contract) {
		fmt.Fprintf(&b, "%d. %s\n\n", i+1, rule)
	}
	fmt.Fprintf(&b, "## Scope Contract\n\n%s\n", p.scopeContract())
	fmt.Fprintf(&b, "\n## Platform Requirements\n\n%s\n", bullets(platformLines(v), "none"))
	b.WriteString("\n## Tool Policy\n")
	for _, kind := range []struct{ key, title string }{{"primary", "Primary"}, {"secondary", "Secondary"}, {"forbidden", "Forbidden"}} {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", kind.title, bullets(texts(v.Get("tool_policy").Get(kind.key)), "none"))
	}
	b.WriteString("\nAnswer with the complete Markdown document and nothing else.")
	return b.String()
}

// scopeContract is the part of every prompt that says what the run is about.
func (p *planner) scopeContract() string {
	var b strings.Builder
	plain := func(key string) []string {
		var list []string
		for _, v := range p.scope.Get(key).Elems() {
			list = append(list, collapse(v.Str()))
		}
		return list
	}
	fmt.Fprintf(&b, "### Questions\n\n%s\n\n### Non-goals\n\n%s\n", bullets(plain("questions"), "(none)"), bullets(plain("non_goals"), "(none)"))
	minutes, _ := p.scope.Get("time_budget_minutes").Int()
	fmt.Fprintf(&b, "\n- Deliverable: %s\n- Time budget minutes: %d\n- Depth: %s\n- Citation posture: %s", collapse(p.scope.Get("deliverable").Str()),
		minutes, p.scope.Get("depth").Str(), p.scope.Get("citation_posture").Str())
	if notes := collapse(p.scope.Get("notes").Str()); notes != "" {
		fmt.Fprintf(&b, "\n- Notes: %s", notes)
	}
	if assumptions := plain("assumptions"); len(assumptions) > 0 {
		b.WriteString("\n- Assumptions:")
		for _, a := range assumptions {
			b.WriteString("\n  - " + a)
		}
	}
	return b.String()
}

// platformLines are the requirements as "name: reason", each once, in byte order.
func platformLines(v *codec.Value) []string {
	lines := []string{}
	for _, r := range v.Get("platform_requirements").Elems() {
		lines = append(lines, collapse(r.Get("name").Str())+": "+collapse(r.Get("reason").Str()))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func toolPolicy(v *codec.Value) tidegate.Details {
	policy := v.Get("tool_policy")
	return tidegate.Pairs("primary", texts(policy.Get("primary")), "secondary", texts(policy.Get("secondary")), "forbidden", texts(policy.Get("forbidden")))
}

// texts are the strings of a list, trimmed, each once, in byte order.
func texts(v *codec.Value) []string {
	list := []string{}
	for _, e := range v.Elems() {
		if text := collapse(e.Str()); text != "" {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func bullets(lines []string, empty string) string {
	if len(lines) == 0 {
		lines = []string{empty}
	}
	return "- " + strings.Join(lines, "\n- ")
}

// collapse makes s one line in which every character is visible: text from
// documents must not start a heading or a rule of its own.
func collapse(s string) string { return markdown.Show(markdown.OneLine(s)) }

// Report lists what was planned.
func (p PlanResult) Report() report.Report {
	r := report.Report{Name: "wave1_plan", Title: "Plan of the first wave", Status: report.Pass, Summary: report.Counted(p.Planned, "prompt") + " written to the plan"}
	table := report.NewTable("Perspective", "Agent", "Output")
	for _, e := range p.entries {
		table.Row(report.None, e.PerspectiveID, e.AgentType, e.OutputMD)
	}
	r.Add(report.Fields{{Name: "plan", Value: p.PlanPath}, {Name: "prompts", Value: "prompt_md of each entry in it"}}, table)
	return r
}

// Platforms reads what a planner expects of searches: names of services, and domains.
// Unlisted are the services that are not among those of the run; nil lists all. Other words
// say nothing here: the prompt shows them.
func Platforms(expected, listed []string) (services, domains, unlisted []string) {
	for _, name := range expected {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, known := search.Find(name); known {
			if listed != nil && !slices.Contains(listed, name) {
				unlisted = append(unlisted, name)
			} else {
				services = append(services, name)
			}
			continue
		}
		checked, err := policy.Policy{AllowDomains: []string{name}}.Checked()
		if err == nil && strings.Contains(name, ".") {
			domains = append(domains, checked.AllowDomains...)
		}
	}
	return services, domains, unlisted
}
