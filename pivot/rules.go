package pivot

import (
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Metrics counts gaps.
type Metrics struct {
	P0    int `json:"p0_count"`
	P1    int `json:"p1_count"`
	P2    int `json:"p2_count"`
	P3    int `json:"p3_count"`
	Total int `json:"total_gaps"`
}

// count counts gaps by priority.
func count(gaps []Gap) Metrics {
	m := Metrics{Total: len(gaps)}
	for _, g := range gaps {
		switch g.Priority {
		case "P0":
			m.P0++
		case "P1":
			m.P1++
		case "P2":
			m.P2++
		case "P3":
			m.P3++
		}
	}
	return m
}

// quantities are the numbers that conditions and templates name.
var quantities = []struct {
	name string
	of   func(Metrics) int
}{
	{"p0_count", func(m Metrics) int { return m.P0 }},
	{"p1_count", func(m Metrics) int { return m.P1 }},
	{"p1_count+p2_count", func(m Metrics) int { return m.P1 + m.P2 }},
	{"total_gaps", func(m Metrics) int { return m.Total }},
}

func quantity(name string, m Metrics) int {
	for _, q := range quantities {
		if q.name == name {
			return q.of(m)
		}
	}
	panic("pivot: no quantity " + name)
}

// AtLeast is a condition: the quantity of that name is Least or more.
type AtLeast struct {
	Quantity string
	Least    int
}

// Rule is one row of the rubric.
type Rule struct {
	ID       string
	When     []AtLeast // all must hold; a rule without any always applies
	Requires bool      // a second wave
	Template string    // of the explanation; {quantity} stands for its number
}

// The ids of the rules.
const (
	requiredP0     = "Wave2Required.P0"
	requiredP1     = "Wave2Required.P1"
	requiredVolume = "Wave2Required.Volume"
	skipNoGaps     = "Wave2Skip.NoGaps"
)

// Rules is the rubric. Rules are tried in order, and the first that applies
// decides; the last one always applies.
var Rules = []Rule{
	{requiredP0, []AtLeast{{"p0_count", 1}}, true,
		"Wave 2 required because p0_count={p0_count} (rule Wave2Required.P0)."},
	{requiredP1, []AtLeast{{"p1_count", 2}}, true,
		"Wave 2 required because p1_count={p1_count} (rule Wave2Required.P1)."},
	{requiredVolume, []AtLeast{{"total_gaps", 4}, {"p1_count+p2_count", 3}}, true,
		"Wave 2 required because total_gaps={total_gaps} and p1_count+p2_count={p1_count+p2_count} (rule Wave2Required.Volume)."},
	{skipNoGaps, nil, false,
		"Wave 2 skipped because total_gaps={total_gaps} (rule Wave2Skip.NoGaps)."},
}

// Applies reports whether all conditions of the rule hold.
func (r Rule) Applies(m Metrics) bool {
	for _, c := range r.When {
		if quantity(c.Quantity, m) < c.Least {
			return false
		}
	}
	return true
}

// Explanation is the rule's template filled in.
func (r Rule) Explanation(m Metrics) string {
	text := r.Template
	for _, q := range quantities {
		text = strings.ReplaceAll(text, "{"+q.name+"}", strconv.Itoa(q.of(m)))
	}
	return text
}

// Condition says in words when the rule applies.
func (r Rule) Condition() string {
	if len(r.When) == 0 {
		return "otherwise"
	}
	parts := make([]string, len(r.When))
	for i, c := range r.When {
		parts[i] = c.Quantity + " >= " + strconv.Itoa(c.Least)
	}
	return strings.Join(parts, " and ")
}

// Outcome is what the rubric makes of gaps.
type Outcome struct {
	Wave2Required bool
	RuleHit       string
	Explanation   string
	Metrics       Metrics
	Wave2GapIDs   []string // what a second wave is to close, in gap order; empty when it is skipped
}

// fewestGaps is how many gaps a second wave gets when none of them requires one by
// its priority.
const fewestGaps = 3

// Judge decides by the rubric. The gaps are in gap order: by priority, then by
// id.
func Judge(gaps []Gap) Outcome {
	m := count(gaps)
	for _, r := range Rules {
		if !r.Applies(m) {
			continue
		}
		out := Outcome{Wave2Required: r.Requires, RuleHit: r.ID, Explanation: r.Explanation(m), Metrics: m, Wave2GapIDs: []string{}}
		if r.Requires {
			out.Wave2GapIDs = wave2GapIDs(gaps)
		}
		return out
	}
	panic("pivot: no rule applies")
}

// wave2GapIDs is the P0 and P1 gaps, or, when there are none, the first gaps.
func wave2GapIDs(gaps []Gap) []string {
	var ids []string
	for _, g := range gaps {
		if g.Priority == "P0" || g.Priority == "P1" {
			ids = append(ids, g.ID)
		}
	}
	if ids != nil {
		return ids
	}
	for _, g := range gaps[:min(fewestGaps, len(gaps))] {
		ids = append(ids, g.ID)
	}
	return ids
}

// RuleList is the rubric as it prints itself.
type RuleList struct {
	OK    codec.True `json:"ok"`
	Rules []RuleText `json:"rules" jsonschema:"in the order in which they are tried; the first that applies decides"`
}

// RuleText is one rule in words.
type RuleText struct {
	ID            string `json:"rule"`
	Condition     string `json:"condition" jsonschema:"when the rule applies"`
	Wave2Required bool   `json:"wave2_required"`
	Explanation   string `json:"explanation" jsonschema:"template; <quantity> stands for its number"`
}

// ListRules prints [Rules].
func ListRules() RuleList {
	var list RuleList
	marks := strings.NewReplacer("{", "<", "}", ">")
	for _, r := range Rules {
		list.Rules = append(list.Rules, RuleText{r.ID, r.Condition(), r.Requires, marks.Replace(r.Template)})
	}
	return list
}

// Report shows the rules as a table.
func (l RuleList) Report() report.Report {
	r := report.Report{Name: "pivot_rules", Title: "Rules of the pivot", Summary: "The first rule that applies decides."}
	table := report.NewTable("Rule", "Applies when", "Second wave")
	templates := make(report.Fields, 0, len(l.Rules))
	for _, rule := range l.Rules {
		table.Row(report.None, rule.ID, rule.Condition, wave2Word(rule.Wave2Required))
		templates = append(templates, report.Field{Name: rule.ID, Value: rule.Explanation})
	}
	r.Add(table, report.Heading("Explanations"), templates)
	return r
}

func wave2Word(required bool) string {
	if required {
		return "required"
	}
	return "skipped"
}
