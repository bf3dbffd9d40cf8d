package run

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
