package pivot

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

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
