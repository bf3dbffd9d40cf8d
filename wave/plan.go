package wave

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/run"
)

// PlanVersion is the schema_version of a plan.
const PlanVersion = "wave1_plan.v1"

// PlanRequest are the arguments of [Plan].
type PlanRequest struct {
	ManifestPath     string
	PerspectivesPath string // "" for the run's own
	Reason           string
}

// PlanResult is the result of [Plan].
type PlanResult struct {
	OK           codec.True `json:"ok"`
	PlanPath     string     `json:"plan_path" jsonschema:"where the plan was written"`
	InputsDigest string     `json:"inputs_digest" jsonschema:"digest of everything that shapes the prompts"`
	Planned      int        `json:"planned" jsonschema:"how many prompts the plan holds"`

	entries []PlanEntry
}

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

// Plan writes the plan of the first wave: for every perspective, in the order
// of the document, a prompt that states the question, the scope and every rule
// of the contract. It is planned from the whole table, so the document must meet
// all of it.
//
// It returns NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED,
// INVALID_STATE (another run's perspectives or scope, or a run that is final), WAVE_CAP_EXCEEDED,
// PATH_NOT_ALLOWED, LOCK_HELD and WRITE_FAILED.
func Plan(ctx context.Context, clock run.Clock, req PlanRequest) (PlanResult, error) {
	opened, err := run.Open(ctx, req.ManifestPath, "query.text", "limits.max_wave1_agents")
	if err != nil {
		return PlanResult{}, err
	}
	defer opened.Close()
	if req.PerspectivesPath == "" {
		req.PerspectivesPath = opened.Path(opened.Layout().Perspectives)
	}
	name := opened.Layout().Wave1Plan()
	result := PlanResult{PlanPath: opened.Path(name)}
	_, err = opened.Update(ctx, clock, func(u *run.Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		manifest, err := u.Manifest()
		if err != nil {
			return err
		}
		p := planner{run: opened, manifest: manifest}
		if err := p.read(ctx, req.PerspectivesPath); err != nil {
			return err
		}
		result.entries, result.InputsDigest, result.Planned = p.entries(), codec.Digest(p.inputs()), p.document.Get("perspectives").Len()
		if err := u.WriteJSON(name, planDocument{
			SchemaVersion: PlanVersion, RunID: opened.ID(), GeneratedAt: u.Now(), InputsDigest: result.InputsDigest,
			PerspectivesDigest: codec.Digest(p.document), Entries: result.entries,
		}); err != nil {
			return err
		}
		u.Audit("wave1_plan", tidegate.D("reason", strings.TrimSpace(req.Reason), "plan_path", result.PlanPath,
			"planned", result.Planned, "inputs_digest", result.InputsDigest))
		return nil
	})
	return result, err
}

// planner holds what a plan is made from.
type planner struct {
	run      *run.Run
	manifest run.Manifest
	document *codec.Value // the perspectives
	scope    *codec.Value
}

func (p *planner) read(ctx context.Context, perspectivesPath string) error {
	var err error
	if p.document, err = artifact.ReadJSON(ctx, "perspectives_path", perspectivesPath); err != nil {
		return err
	}
	if err := perspective.Check(p.document); err != nil {
		return err
	}
	if err := sameRun(p.run.ID(), "perspectives_run_id", p.document.Get("run_id").Str()); err != nil {
		return err
	}
	limit, _ := p.manifest.Limit("max_wave1_agents")
	if count := p.document.Get("perspectives").Len(); float64(count) > math.Floor(max(0, limit)) {
		return tidegate.Errorf(tidegate.WaveCapExceeded, tidegate.D("cap", math.Floor(max(0, limit)), "count", count),
			"the run allows %v perspectives in the first wave, %s lists %d", math.Floor(max(0, limit)), perspectivesPath, count)
	}
	if p.scope, err = artifact.ReadJSON(ctx, "scope_path", p.run.Path(run.ScopeFile)); err != nil {
		return err
	}
	if err := run.ScopeShape.Check(p.scope); err != nil {
		return err
	}
	return sameRun(p.run.ID(), "scope_run_id", p.scope.Get("run_id").Str())
}

func sameRun(manifestID, key, other string) error {
	if manifestID == other {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.D("manifest_run_id", manifestID, key, other),
		"the document belongs to run %q, the manifest to run %q", tidegate.Cut(other), manifestID)
}

// inputs is what the digest covers: everything that a prompt is made from.
func (p *planner) inputs() tidegate.Details {
	limit, _ := p.manifest.Limit("max_wave1_agents")
	var perspectives []tidegate.Details
	for _, v := range p.document.Get("perspectives").Elems() {
		contract := v.Get("prompt_contract")
		perspectives = append(perspectives, tidegate.D(
			"id", v.Get("id"), "title", v.Get("title"), "track", v.Get("track"), "agent_type", v.Get("agent_type"),
			"max_words", contract.Get("max_words"), "max_sources", contract.Get("max_sources"), "tool_budget", contract.Get("tool_budget"),
			"must_include_sections", perspective.ContractOf(v).Sections,
			"platform_requirements", platformLines(v), "tool_policy", toolPolicy(v)))
	}
	return tidegate.D("schema", "wave1_plan.inputs.v1", "run_id", p.run.ID(), "query_text", p.manifest.Query(),
		"scope_contract_md", p.scopeContract(), "max_wave1_agents", limit, "wave1_dir", p.run.Layout().Wave1Dir, "perspectives", perspectives)
}

func (p *planner) entries() []PlanEntry {
	var entries []PlanEntry
	for _, v := range p.document.Get("perspectives").Elems() {
		id := v.Get("id").Str()
		entries = append(entries, PlanEntry{
			PerspectiveID: id, AgentType: v.Get("agent_type").Str(), OutputMD: p.run.Layout().Wave1Dir + "/" + id + ".md", PromptMD: p.prompt(v),
		})
	}
	return entries
}

func (p *planner) prompt(v *codec.Value) string {
	var b strings.Builder
	field := func(name, value string) { fmt.Fprintf(&b, "- %s: %s\n", name, collapse(value)) }
	b.WriteString("# Research task of the first wave\n\n")
	field("Perspective ID", v.Get("id").Str())
	field("Title", v.Get("title").Str())
	field("Track", v.Get("track").Str())
	field("Agent Type", v.Get("agent_type").Str())
	fmt.Fprintf(&b, "\n## Query\n\n%s\n", strings.TrimSpace(p.manifest.Query()))
	contract := perspective.ContractOf(v)
	b.WriteString("\n## Prompt Contract\n\n")
	field("Max words", fmt.Sprint(contract.MaxWords))
	field("Max sources", fmt.Sprint(contract.MaxSources))
	field("Required sections", strings.Join(contract.Sections, ", "))
	for _, m := range v.Get("prompt_contract").Get("tool_budget").Members() {
		limit, _ := m.Value.Float()
		field("At most", fmt.Sprintf("%v calls of %s", limit, m.Key))
	}
	b.WriteString("\nA program judges the output by these rules and knows no exceptions:\n\n")
	for i, rule := range contractRules(contract) {
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
	return tidegate.D("primary", texts(policy.Get("primary")), "secondary", texts(policy.Get("secondary")), "forbidden", texts(policy.Get("forbidden")))
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

// collapse makes one line of s: text from documents must not start a heading or
// a rule of its own.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }
