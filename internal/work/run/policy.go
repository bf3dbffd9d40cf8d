package run

import (
	"maps"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/policy"
)

// PolicyVersion is the schema_version of a run policy.
const PolicyVersion = "run_policy.v1"

// Keys of a policy. The first is kept as it was given and has no effect: every
// gate is bound.
const (
	grounding        = "grounding"
	verify           = "verify"
	oneAgent         = "one_agent"
	adapt            = "adapt"
	confirmPlan      = "confirm_plan"
	perspectiveCount = "perspectives"
	budgetKey        = "budget"
	agentsKey        = "agents"
	serversKey       = "mcp_servers"
	sourcesKey       = "sources"
	searchKey        = "search"
	originsKey       = "origins"
	estimateKey      = "estimate"
)

// The values of origins.
const (
	OriginsShown    = "shown"
	OriginsRequired = "required" // a source that comes from nowhere is refused
)

// EvidenceKey names how the sentences of a report are checked, as the limit of lines of the
// log that change it.
const EvidenceKey = "evidence"

// The values of grounding and verify.
const (
	required = "require"
	off      = "off"
)

// Evidence says how the sentences of a report are checked.
type Evidence struct {
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

func parsePolicy(data []byte) Policy {
	doc, err := codec.Parse(data)
	if err != nil {
		return Policy{Source: PolicyInvalidJSON, Budget: budgetOf(nil)}
	}
	if doc.Get("schema_version").Str() != PolicyVersion {
		return Policy{Source: PolicyInvalidSchema, Budget: budgetOf(nil)}
	}
	p := Policy{Source: PolicyRead, Budget: budgetOf(doc), ConfirmPlan: doc.Get(confirmPlan).Bool(),
		Servers: doc.Get(serversKey).Strs(), Sources: policy.Read(doc.Get(sourcesKey)), Evidence: evidenceOf(doc), Confinement: ConfinementIn(doc.Get(confinementKey)), Frozen: frozenIn(doc.Get(frozenKey)), From: frozenIn(doc.Get(fromKey))}
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
	return p
}

// Repeat asks of another run what was asked of this one, as far as its policy keeps it and it
// is not chosen anew.
func (p Policy) Repeat(in *InitInput) {
	in.Servers, in.Origins, in.Policy, in.Frozen, in.From = p.Servers, p.Origins, p.Sources, p.Frozen, p.From
	in.Evidence.NoGrounding, in.Evidence.NoReader = !p.Evidence.Grounding, !p.Evidence.Reader
	if in.Search = nil; in.Frozen.IsZero() {
		in.Search = p.Search
	}
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
	e := Evidence{Grounding: policy.Get(grounding).Str() == required, OneAgent: policy.Get(oneAgent).Bool(), Adapt: policy.Get(adapt).Bool()}
	e.Reader = e.Grounding && policy.Get(verify).Str() == required
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
	policy.Set(grounding, value(e.Grounding))
	policy.Set(verify, value(e.Grounding && e.Reader))
	if e.OneAgent {
		policy.Set(oneAgent, codec.Of(true))
	}
	if e.Adapt {
		policy.Set(adapt, codec.Of(true))
	}
}

func (in *InitInput) policy() *codec.Value {
	policy := codec.Of(tidegate.Pairs("schema_version", PolicyVersion))
	Evidence{Grounding: !in.Evidence.NoGrounding, Reader: !in.Evidence.NoReader, OneAgent: in.Evidence.OneAgent || in.Evidence.Single, Adapt: in.Evidence.Adapt}.write(policy)
	budget, agents := codec.NewObject(), codec.NewObject()
	for _, row := range budgetRows {
		if value, given := in.Budget[row.name]; given {
			budget.Set(row.name, codec.Of(value))
		}
	}
	for _, role := range slices.Sorted(maps.Keys(in.Agents)) {
		agents.Set(role, codec.Of(in.Agents[role]))
	}
	for _, kept := range []struct {
		key   string
		asked bool
		value any
	}{
		{confinementKey, in.Confinement.Mode != "", in.Confinement},
		{confirmPlan, in.ConfirmPlan, true},
		{perspectiveCount, in.Perspectives > 0, in.Perspectives},
		{agentsKey, len(in.Agents) > 0, agents},
		{estimateKey, in.Estimate != nil, in.Estimate},
		{serversKey, len(in.Servers) > 0, in.Servers},
		{originsKey, in.Origins != "", in.Origins},
		{searchKey, in.Search != nil, in.Search},
		{frozenKey, !in.Frozen.IsZero(), in.Frozen},
		{fromKey, !in.From.IsZero(), in.From},
		{sourcesKey, !in.Policy.IsZero(), in.Policy},
		{budgetKey, len(in.Budget) > 0, budget},
	} {
		if kept.asked {
			policy.Set(kept.key, codec.Of(kept.value))
		}
	}
	return policy
}
