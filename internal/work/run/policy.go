package run

import (
	"maps"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/policy"
)

// PolicyVersion is the schema_version of a run policy.
const PolicyVersion = "run_policy.v1"

// Keys of a policy. The first is kept as it was given and has no effect: every
// gate is bound.
const (
	requireBoundGates = "require_bound_gates"
	legacyGates       = "legacy_gates"
	grounding         = "grounding"
	verify            = "verify"
	oneAgent          = "one_agent"
	adapt             = "adapt"
	confirmPlan       = "confirm_plan"
	perspectiveCount  = "perspectives"
	budgetKey         = "budget"
	agentsKey         = "agents"
	serversKey        = "mcp_servers"
	sourcesKey        = "sources"
	searchKey         = "search"
	originsKey        = "origins"
	estimateKey       = "estimate"
)

// The values of origins.
const (
	OriginsShown    = "shown"
	OriginsRequired = "required" // a source that comes from nowhere is refused
)

// EvidenceKey says how the sentences of a report are checked. Lines of the log that change
// it name it as their limit.
const EvidenceKey = "evidence"

// The values of grounding and verify.
const (
	required = "require"
	off      = "off"
)

// evidenceVersion is the value of evidence by which every sentence of a report has a
// form, stands against its pages, and is read by a second agent.
const evidenceVersion = 1

// Evidence says how the sentences of a report are checked.
type Evidence struct {
	// Sentences says that every sentence is checked. A run that an earlier program
	// began looks at quotations and numbers alone.
	Sentences bool
	// Grounding says that what is not on the cited pages fails gate E; without it,
	// tidegate only warns.
	Grounding bool
	// Reader says that a second agent reads every sentence against its passages.
	Reader bool
	// OneAgent says that who wrote the report may read and review it.
	OneAgent bool
	// Adapt says that recorded agents may answer what they were not asked.
	Adapt bool
}

// EvidenceChoice is what a person may choose of it, and nobody else, and Single, which
// follows from the agents at hand.
type EvidenceChoice struct {
	NoGrounding bool `json:"no_grounding,omitzero"` // what is not on the cited pages is a warning; implies NoReader
	NoReader    bool `json:"no_reader,omitzero"`    // there is no second reader
	OneAgent    bool `json:"one_agent,omitzero"`    // who wrote the report may read and review it
	Single      bool `json:"single,omitzero"`       // as OneAgent, by rule: no other agent is at hand
	Adapt       bool `json:"adapt,omitzero"`        // recorded agents may answer what they were not asked
}

// stageTimeouts are the default budgets of the stages, in seconds.
var stageTimeouts = map[Stage]int64{
	Init: 120, Perspectives: 86400, Wave1: 600, Pivot: 120, Wave2: 600,
	Citations: 600, Summaries: 600, Synthesis: 600, Review: 300, Finalize: 120,
}

// Where a policy's values come from.
const (
	PolicyRead          = "policy"
	PolicyMissing       = "default_missing"
	PolicyInvalidJSON   = "default_invalid_json"
	PolicyInvalidSchema = "default_invalid_schema"
)

// Policy is what the rules read from run-config/policy.json. Reading it never
// fails on its content: the default stands in for each bad or missing value, and
// Source says where the values come from.
type Policy struct {
	Source      string
	Budget      Budget
	ConfirmPlan bool // a person's yes is needed before the first wave is planned
	// Perspectives is how many perspectives the planner is asked for; 0 leaves the
	// number to it.
	Perspectives int
	Evidence     Evidence
	Confinement  Confinement
	// Sources says which sources are allowed.
	Sources policy.Policy
	// Agents are the names of the drivers and models that do the work of each role.
	Agents map[string]Agent
	// Servers are the names of the MCP servers that agents of a wave may use.
	Servers []string
	// Origins says whether records say where URLs come from: OriginsShown or
	// OriginsRequired; "" in a run that does not keep it.
	Origins string
	// Search are the names of the search services that may be asked; nil: those that
	// this home has.
	Search []string
	// Frozen is the run whose archive alone answers searches and fetches, and From the one
	// that this run builds on.
	Frozen, From Frozen
	// Estimate is what the run was expected to take; nil where nobody said.
	Estimate *Estimate
	timeouts map[Stage]int64
	legacy   bool // gates count as they are written
}

// Estimate is what a run is expected to take when it begins. Nothing is judged by it.
type Estimate struct {
	Tokens  float64  `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"` // null where the price of a model is not known
	Minutes float64  `json:"minutes"`
}

// Agent is what a run keeps of an agent: names. A command or an address is never
// taken from a run's folder.
type Agent struct {
	Driver string `json:"driver"`
	Model  string `json:"model"`
}

// Timeout is how long a stage may go without progress.
func (p Policy) Timeout(stage Stage) time.Duration {
	if seconds, ok := p.timeouts[stage]; ok {
		return time.Duration(seconds) * time.Second
	}
	return time.Duration(stageTimeouts[stage]) * time.Second
}

func parsePolicy(data []byte) Policy {
	doc, err := codec.Parse(data)
	if err != nil {
		return Policy{Source: PolicyInvalidJSON, Budget: budgetOf(nil)}
	}
	if doc.Get("schema_version").Str() != PolicyVersion {
		return Policy{Source: PolicyInvalidSchema, Budget: budgetOf(nil)}
	}
	p := Policy{Source: PolicyRead, Budget: budgetOf(doc), ConfirmPlan: doc.Get(confirmPlan).Bool(),
		Servers: doc.Get(serversKey).Strs(), Sources: policy.Read(doc.Get(sourcesKey)), Evidence: evidenceOf(doc), Confinement: ConfinementIn(doc.Get(confinementKey)), Frozen: frozenIn(doc.Get(frozenKey)), From: frozenIn(doc.Get(fromKey)), timeouts: map[Stage]int64{}, legacy: doc.Get(legacyGates).Bool()}
	if origins := doc.Get(originsKey).Str(); origins == OriginsShown || origins == OriginsRequired {
		p.Origins = origins
	}
	if doc.Get(searchKey) != nil {
		p.Search = append([]string{}, doc.Get(searchKey).Strs()...)
	}
	if n, ok := doc.Get(perspectiveCount).Int(); ok && n > 0 && n <= 1000 {
		p.Perspectives = int(n)
	}
	if v := doc.Get(estimateKey); v.Kind() == codec.Object {
		p.Estimate = estimateIn(v)
	}
	for _, m := range doc.Get(agentsKey).Members() {
		if p.Agents == nil {
			p.Agents = map[string]Agent{}
		}
		p.Agents[m.Key] = Agent{m.Value.Get("driver").Str(), m.Value.Get("model").Str()}
	}
	for _, stage := range Stages {
		const century = 100 * 366 * 24 * 3600 // what a Duration holds with room to spare
		if n, ok := doc.Get("stage_timeouts_seconds_v1").Get(string(stage)).Int(); ok && n > 0 && n <= century {
			p.timeouts[stage] = n
		}
	}
	return p
}

func estimateIn(v *codec.Value) *Estimate {
	var e Estimate
	e.Tokens, _ = v.Get("tokens").Float()
	e.Minutes, _ = v.Get("minutes").Float()
	if usd, ok := v.Get("cost_usd").Float(); ok {
		e.CostUSD = &usd
	}
	return &e
}

func evidenceOf(policy *codec.Value) Evidence {
	version, _ := policy.Get(EvidenceKey).Int()
	e := Evidence{Sentences: version >= evidenceVersion, Grounding: policy.Get(grounding).Str() == required, OneAgent: policy.Get(oneAgent).Bool(), Adapt: policy.Get(adapt).Bool()}
	e.Reader = e.Sentences && e.Grounding && policy.Get(verify).Str() == required
	return e
}

// write writes how sentences are checked into a policy.
func (e Evidence) write(policy *codec.Value) {
	value := func(yes bool) *codec.Value {
		if yes {
			return codec.Of(required)
		}
		return codec.Of(off)
	}
	if e.Sentences {
		policy.Set(EvidenceKey, codec.Of(evidenceVersion))
		policy.Set(grounding, value(e.Grounding))
		policy.Set(verify, value(e.Grounding && e.Reader))
	}
	if e.OneAgent {
		policy.Set(oneAgent, codec.Of(true))
	}
	if e.Adapt {
		policy.Set(adapt, codec.Of(true))
	}
}

func (in *InitInput) policy() *codec.Value {
	timeouts := codec.NewObject()
	for _, stage := range Stages {
		timeouts.Set(string(stage), codec.Of(stageTimeouts[stage]))
	}
	policy := codec.Of(tidegate.Pairs(
		"schema_version", PolicyVersion,
		"stage_timeouts_seconds_v1", timeouts,
		"citations_ladder_policy_v1", tidegate.Pairs(
			"direct_fetch_timeout_ms", 5000, "endpoint_timeout_ms", 5000, "max_redirects", 5, "max_body_bytes", 2097152,
			"direct_fetch_max_attempts", 1, "bright_data_max_attempts", 1, "apify_max_attempts", 1,
			"backoff_initial_ms", 100, "backoff_multiplier", 2, "backoff_max_ms", 1000),
		"run_lock_policy_v1", tidegate.Pairs("lease_seconds", 120, "heartbeat_interval_ms", 30000, "heartbeat_max_failures", 1),
		requireBoundGates, in.RequireBoundGates))
	Evidence{Sentences: true, Grounding: !in.Evidence.NoGrounding, Reader: !in.Evidence.NoReader, OneAgent: in.Evidence.OneAgent || in.Evidence.Single, Adapt: in.Evidence.Adapt}.write(policy)
	if in.Confinement.Mode != "" {
		policy.Set(confinementKey, codec.Of(in.Confinement))
	}
	if in.ConfirmPlan {
		policy.Set(confirmPlan, codec.Of(true))
	}
	if in.Perspectives > 0 {
		policy.Set(perspectiveCount, codec.Of(in.Perspectives))
	}
	if len(in.Agents) > 0 {
		agents := codec.NewObject()
		for _, role := range slices.Sorted(maps.Keys(in.Agents)) {
			agents.Set(role, codec.Of(in.Agents[role]))
		}
		policy.Set(agentsKey, agents)
	}
	if in.Estimate != nil {
		policy.Set(estimateKey, codec.Of(*in.Estimate))
	}
	if len(in.Servers) > 0 {
		policy.Set(serversKey, codec.Of(in.Servers))
	}
	if in.Origins != "" {
		policy.Set(originsKey, codec.Of(in.Origins))
	}
	if in.Search != nil {
		policy.Set(searchKey, codec.Of(in.Search))
	}
	if !in.Frozen.IsZero() {
		policy.Set(frozenKey, codec.Of(in.Frozen))
	}
	if !in.From.IsZero() {
		policy.Set(fromKey, codec.Of(in.From))
	}
	if !in.Policy.IsZero() {
		policy.Set(sourcesKey, codec.Of(in.Policy))
	}
	if len(in.Budget) > 0 {
		budget := codec.NewObject()
		for _, row := range budgetRows {
			if value, given := in.Budget[row.name]; given {
				budget.Set(row.name, codec.Of(value))
			}
		}
		policy.Set(budgetKey, budget)
	}
	return policy
}
