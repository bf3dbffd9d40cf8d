package run

import (
	"encoding/json"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/policy"
)

// PolicyVersion is the schema_version of a run policy.
const PolicyVersion = "run_policy.v1"

// Keys of a policy that are read or written by themselves.
const (
	grounding   = "grounding"
	verify      = "verify"
	oneAgent    = "one_agent"
	adapt       = "adapt"
	confirmPlan = "confirm_plan"
	budgetKey   = "budget"
	sourcesKey  = "sources"
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
	Source   string
	Budget   Budget
	Evidence Evidence
	Sources  policy.Policy // which sources are allowed
	Asked
}

// Asked is what was asked of a run as its policy keeps it, each under its own key. Of a tool,
// only origins and search are asked; the rest is a person's, by commands and pages.
type Asked struct {
	// Confinement is how the agents of the run are kept, where it is known.
	Confinement Confinement `json:"confinement,omitzero" person:"true"`
	// ConfirmPlan makes the plan of the first wave wait for a person's yes.
	ConfirmPlan bool `json:"confirm_plan,omitzero" person:"true"`
	// Perspectives is how many perspectives the planner is asked for; 0 leaves the
	// number to it.
	Perspectives int `json:"perspectives,omitzero" person:"true"`
	// Agents are the names of the drivers and models that do the work of each role.
	Agents map[string]Agent `json:"agents,omitzero" person:"true"`
	// Estimate is what the run is expected to take, nil where nobody says.
	Estimate *Estimate `json:"estimate,omitzero" person:"true"`
	// Servers are the names of the MCP servers that agents of a wave may use.
	Servers []string `json:"mcp_servers,omitzero" person:"true"`
	Origins string   `json:"origins,omitzero" jsonschema:"whether records say where each URL comes from; required refuses a source that comes from nowhere" enum:"shown,required"`
	// Search is nil for the services that the home has.
	Search []string `json:"search,omitzero" jsonschema:"names of the search services that may be asked for the run, in this order; those that tidegate.toml names when absent, else those without a key"`
	// Frozen is the finished run whose archive alone answers searches and fetches.
	Frozen Frozen `json:"sources_run,omitzero" person:"true"`
	// From is the finished run that this one builds on.
	From Frozen `json:"from_run,omitzero" person:"true"`
}

// askedIn takes of a policy each value that may stand there.
func askedIn(doc *codec.Value) (a Asked) {
	for _, m := range doc.Members() {
		read := a
		data, err := codec.MarshalLine(tidegate.Pairs(m.Key, m.Value))
		if err == nil && json.Unmarshal(data, &read) == nil {
			a = read
		}
	}
	a.Confinement = ConfinementIn(doc.Get(confinementKey))
	if a.Origins != OriginsShown && a.Origins != OriginsRequired {
		a.Origins = ""
	}
	if a.Perspectives < 0 || a.Perspectives > 1000 {
		a.Perspectives = 0
	}
	return a
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
	return Policy{Source: PolicyRead, Budget: budgetOf(doc), Evidence: evidenceOf(doc), Sources: policy.Read(doc.Get(sourcesKey)), Asked: askedIn(doc)}
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
	for _, m := range codec.Of(in.Asked).Members() {
		policy.Set(m.Key, m.Value)
	}
	if !in.Policy.IsZero() {
		policy.Set(sourcesKey, codec.Of(in.Policy))
	}
	if len(in.Budget) > 0 {
		policy.Set(budgetKey, codec.Of(in.Budget))
	}
	return policy
}
