package run

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/text/markdown"
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
		if codec.Of(tidegate.Pairs(m.Key, m.Value)).Decode(&read) == nil {
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

// Budget is what a run may spend on agents. Positive infinity means that there is
// no limit.
type Budget struct {
	MaxParallel    float64 // agents that a home drives, at once
	Tries          float64 // per job
	AttemptMinutes float64 // of one attempt that a home drives
	IdleMinutes    float64 // without a word from an agent
	MaxMinutes     float64 // of the whole run, while a lease is alive
	MaxTokens      float64
	MaxCostUSD     float64
	MaxAnswerKB    float64
	MaxMB          float64 // of the run's folder
	MaxSearches    float64
}

// budgetRow is one name of a budget in the policy.
type budgetRow struct {
	name           string
	field          func(*Budget) *float64
	fallback       float64
	least, highest float64
	whole          bool
}

var budgetRows = []budgetRow{
	{"max_parallel", func(b *Budget) *float64 { return &b.MaxParallel }, 4, 1, 1000, true},
	{"tries", func(b *Budget) *float64 { return &b.Tries }, 4, 1, 100, true},
	{"attempt_minutes", func(b *Budget) *float64 { return &b.AttemptMinutes }, 20, 0.01, 1440, false},
	{"idle_minutes", func(b *Budget) *float64 { return &b.IdleMinutes }, 5, 0.01, 1440, false},
	{"max_minutes", func(b *Budget) *float64 { return &b.MaxMinutes }, 240, 0, 1e6, false},
	{"max_tokens", func(b *Budget) *float64 { return &b.MaxTokens }, math.Inf(1), 0, 1e15, true},
	{"max_cost_usd", func(b *Budget) *float64 { return &b.MaxCostUSD }, math.Inf(1), 0, 1e9, false},
	{"max_answer_kb", func(b *Budget) *float64 { return &b.MaxAnswerKB }, 512, 1, 16384, true},
	{"max_mb", func(b *Budget) *float64 { return &b.MaxMB }, 1024, 1, 1e6, true},
	{"max_searches", func(b *Budget) *float64 { return &b.MaxSearches }, 200, 0, 1e5, true},
}

// DefaultBudget is the budget of a new run: the values given by name, and the
// defaults for the rest.
func DefaultBudget(given map[string]float64) Budget {
	policy := codec.NewObject()
	values := codec.NewObject()
	for name, value := range given {
		values.Set(name, codec.Of(value))
	}
	policy.Set(budgetKey, values)
	return budgetOf(policy)
}

// BudgetNames are the names of a budget, in the order of the policy.
func BudgetNames() []string {
	names := make([]string, len(budgetRows))
	for i, row := range budgetRows {
		names[i] = row.name
	}
	return names
}

// budgetOf reads the budget of a policy. The default stands in for each bad or
// missing value.
func budgetOf(policy *codec.Value) Budget {
	var b Budget
	for _, row := range budgetRows {
		*row.field(&b) = row.fallback
		if given, ok := policy.Get(budgetKey).Get(row.name).Float(); ok && row.fault(given) == "" {
			*row.field(&b) = given
		}
	}
	return b
}

func (row budgetRow) fault(value float64) string {
	switch {
	case math.IsNaN(value) || value < row.least || value > row.highest:
		return "must be from " + plainNumber(row.least) + " to " + plainNumber(row.highest)
	case row.whole && value != math.Trunc(value):
		return "must be a whole number"
	}
	return ""
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// CheckBudget returns INVALID_ARGS for a name that no budget has, and for a value
// out of its range.
func CheckBudget(name string, value float64) error {
	for _, row := range budgetRows {
		if row.name != name {
			continue
		}
		if fault := row.fault(value); fault != "" {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, value), "%s %s", name, fault)
		}
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "%q is not part of the budget, which has %s",
		tidegate.Cut(name), strings.Join(BudgetNames(), ", "))
}

// Of is the value of the budget under that name.
func (b Budget) Of(name string) float64 {
	for _, row := range budgetRows {
		if row.name == name {
			return *row.field(&b)
		}
	}
	return math.NaN()
}

// SetBudget stages another value under one of the names of the budget. It returns
// the errors of [CheckBudget] and of reading the policy.
func (u *Update) SetBudget(name string, value float64, reason string) error {
	if err := CheckBudget(name, value); err != nil {
		return err
	}
	return u.editPolicy(EventLimit, func(policy *codec.Value) tidegate.Details {
		fields := tidegate.Pairs("limit", name, "to", value, "reason", Note(reason), argsKey, tidegate.Pairs())
		budget := policy.Get(budgetKey)
		if budget.Kind() != codec.Object {
			budget = codec.NewObject()
		}
		if was := budget.Get(name); was != nil {
			fields = append(fields, tidegate.Detail{Key: "was", Value: was})
		}
		budget.Set(name, codec.Of(value))
		policy.Set(budgetKey, budget)
		return fields
	})
}

// PlanConfirmed stages that a person said yes to the perspectives with that
// digest: the first wave may be planned by them.
func (u *Update) PlanConfirmed(perspectives, reason string) error {
	return u.editPolicy(EventAccepted, func(policy *codec.Value) tidegate.Details {
		policy.Set(confirmPlan, codec.Of(false))
		return tidegate.Pairs("what", "plan", confirmPlan, false, "perspectives", perspectives, "reason", Note(reason), argsKey, tidegate.Pairs())
	})
}

// ChooseEvidence stages a person's choice of how the sentences of the report are checked.
func (u *Update) ChooseEvidence(choice EvidenceChoice) error {
	return u.editPolicy(EventLimit, func(policy *codec.Value) tidegate.Details {
		e := evidenceOf(policy)
		e.Grounding, e.Reader, e.OneAgent = e.Grounding && !choice.NoGrounding, e.Reader && !choice.NoReader && !choice.NoGrounding, e.OneAgent || choice.OneAgent
		e.Adapt = e.Adapt || choice.Adapt
		e.write(policy)
		return tidegate.Pairs("limit", EvidenceKey, "to", choice, "reason", "", argsKey, tidegate.Pairs())
	})
}

// editPolicy stages an edit of the policy. The edit returns what the log says of it.
func (u *Update) editPolicy(event Event, edit func(*codec.Value) tidegate.Details) error {
	policy := codec.Of(tidegate.Pairs("schema_version", PolicyVersion))
	data, err := u.run.folder.Read(PolicyFile)
	if err == nil {
		policy, err = codec.ParseFile("path", u.run.Path(PolicyFile), data)
	}
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	if policy.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$"), "%s must be an object", PolicyFile)
	}
	policy = policy.Clone()
	u.Log(event, "policy_write", edit(policy))
	return u.WriteJSON(PolicyFile, policy)
}

// Spent is what was used of a budget.
type Spent struct {
	Minutes float64 `json:"minutes"`
	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	MB      float64 `json:"mb"`
}

// EarlierVersion is the schema_version of [EarlierFile].
const EarlierVersion = "earlier_run.v1"

// Earlier is what a run takes from the finished run that it builds on: what its report says
// and what it left open. It is a copy, so that the run stays whole without the other.
type Earlier struct {
	SchemaVersion string            `json:"schema_version"`
	RunID         string            `json:"run_id"`
	Head          string            `json:"head"` // of its log
	Question      string            `json:"question"`
	Sentences     []EarlierSentence `json:"sentences"`
	Open          []OpenQuestion    `json:"open"`
	// Changed are the addresses of pages that say something else since: they are fetched
	// again.
	Changed []string `json:"changed"`
}

// EarlierSentence is a sentence of an earlier report.
type EarlierSentence struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Standing string   `json:"standing"`
	URLs     []string `json:"urls"` // of the pages that it cites
}

// OpenQuestion is something that an earlier run left open.
type OpenQuestion struct {
	Kind string `json:"kind"` // gap, contradiction or changed
	Text string `json:"text"`
}

// The kinds of open questions.
const (
	OpenGap           = "gap"           // that no agent closed
	OpenContradiction = "contradiction" // numbers of different sources that differ
	OpenChanged       = "changed"       // a sentence whose page says something else since
)

// EarlierShown is an earlier run as prompts show it.
type EarlierShown struct {
	Question string
	Open     string // what it left open, one line each
	Said     string // the sentences of its report with their pages, one line each
	LeftOut  int    // sentences for which there was no room
}

// mostEarlier is how many bytes of an earlier report, and of what it left open, are shown.
const mostEarlier = 24 << 10

// Shown is what prompts show of it; nil for none.
func (e *Earlier) Shown() *EarlierShown {
	if e == nil {
		return nil
	}
	shown := &EarlierShown{Question: e.Question}
	for _, o := range e.Open {
		if line := "- " + o.Kind + ": " + markdown.OneLine(o.Text) + "\n"; len(shown.Open)+len(line) <= mostEarlier {
			shown.Open += line
		}
	}
	for _, s := range e.Sentences {
		if len(s.URLs) == 0 {
			continue
		}
		line := "- " + markdown.OneLine(s.Text) + " (" + strings.Join(s.URLs, ", ") + ")\n"
		if len(shown.Said)+len(line) > mostEarlier {
			shown.LeftOut++
			continue
		}
		shown.Said += line
	}
	return shown
}

// Lines say what a run builds on and what is offered to its planner, in the words of plans.
func (e *Earlier) Lines() []string {
	if e == nil {
		return nil
	}
	lines := []string{"It builds on the run " + e.RunID + ": the pages of its archive are at hand, and the report says what changed since."}
	for _, o := range e.Open {
		lines = append(lines, "Offered to the planner, "+o.Kind+": "+tidegate.Cut(o.Text))
	}
	return lines
}

// Earlier is what the run builds on; nil where it builds on no other. It returns READ_FAILED,
// and INVALID_STATE for a file that is none.
func (r *Run) Earlier() (*Earlier, error) {
	data, err := r.folder.Read(EarlierFile)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	var e Earlier
	if err := json.Unmarshal(data, &e); err != nil || e.SchemaVersion != EarlierVersion {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", r.Path(EarlierFile)), "%s does not say what the run builds on", EarlierFile)
	}
	return &e, nil
}

// Frozen names a finished run whose archive answers the searches and fetches of another:
// alone, or, for a run that builds on it, before the web. The zero value names none.
type Frozen struct {
	RunID string `json:"run_id"`
	Root  string `json:"root"`          // where it was when the other run began
	Head  string `json:"head,omitzero"` // of its log, for a run that builds on it
}

// IsZero reports whether no run is named.
func (f Frozen) IsZero() bool { return f == Frozen{} }

// Lines say it in the words of plans, prompts and reports, one sentence each.
func (f Frozen) Lines(language string) []string {
	if f.IsZero() {
		return nil
	}
	return []string{evidence.Say(language, "Searches and fetches are answered from the archive of the finished run %s alone. A page that it does not have cannot be reached.", f.RunID)}
}

// OpenFinished opens a run whose archive is to answer another. It returns the errors of
// [Open], and INVALID_STATE for a run that is not finished.
func OpenFinished(ctx context.Context, desk Desk, manifestPath string) (*Run, error) {
	r, err := Open(ctx, desk, manifestPath, "status")
	if err != nil {
		return nil, err
	}
	if status := r.Manifest().Status(); !status.Final() {
		r.Close()
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("sources", r.ID(), "status", status, "help", "tidegate run continue "+r.ID()),
			"run %q is %s: only a finished run can answer for its sources", r.ID(), status)
	}
	return r, nil
}

// Sources opens the finished run whose archive answers this one; nil where no archive but
// its own does. It is looked for where it was, and beside this run. It returns the
// errors of [OpenFinished], and NOT_FOUND where another run is there. A run that this one
// only builds on may be gone: the web answers then.
func (r *Run) Sources(ctx context.Context) (*Run, error) {
	policy, err := r.Policy()
	named := cmp.Or(policy.Frozen, policy.From)
	if err != nil || named.IsZero() {
		return nil, err
	}
	var failed error
	for _, root := range []string{named.Root, filepath.Join(filepath.Dir(r.Root()), named.RunID)} {
		found, err := OpenFinished(ctx, r.desk, filepath.Join(root, ManifestFile))
		if err == nil && found.ID() == named.RunID {
			return found, nil
		}
		if err == nil {
			found.Close()
		}
		failed = cmp.Or(failed, err)
	}
	if policy.Frozen.IsZero() {
		return nil, nil
	}
	if code := tidegate.CodeOf(failed); failed != nil && code != tidegate.FileNotFound {
		return nil, failed
	}
	return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("sources", named.RunID, "path", named.Root),
		"run %q is answered by the sources of run %q alone, which is no longer at %s", r.ID(), named.RunID, named.Root)
}
