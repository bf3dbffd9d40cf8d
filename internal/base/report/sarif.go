package report

import (
	"io"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// SARIF writes every finding as a result of SARIF 2.1.0, with its rule, place
// and fingerprint. What SARIF has no field for (the case, the category, title
// and help apart from the message, properties) is in property bags as it was
// given. It fails only when w does, with WRITE_FAILED.
func SARIF(w io.Writer, r Report, o Options) error {
	all := r.occurrences(o.Root)
	rules, index := sarifRules(r.Rules, all)
	results := make([]sarifResult, 0, len(all))
	for _, f := range all {
		results = append(results, newSarifResult(f, index[f.Rule]))
	}
	document, err := codec.MarshalFile(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs: []sarifRun{{
			Tool:    sarifTool{sarifDriver{Name: program, Version: o.Version, Rules: rules}},
			Results: results,
			Properties: sarifRunBag{
				Name: r.Name, Title: r.Title, Status: r.Status.String(), Summary: r.Summary, Facts: facts(r.Properties),
			},
		}},
	})
	if err != nil {
		return err
	}
	return deliver(w, document)
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	Results    []sarifResult `json:"results"`
	Properties sarifRunBag   `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

// sarifRule always has all three texts: code hosts require them.
type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
	Full  sarifText `json:"fullDescription"`
	Help  sarifText `json:"help"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        Level             `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitempty"`
	Fingerprints sarifFingerprints `json:"partialFingerprints"`
	Properties   sarifResultBag    `json:"properties"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifFingerprints struct {
	ID string `json:"tidegateFinding/v1"`
}

type sarifRunBag struct {
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Status  string `json:"status,omitempty"`
	Summary string `json:"summary,omitempty"`
	Facts   []fact `json:"facts,omitempty"`
}

type sarifResultBag struct {
	Case     string `json:"case,omitempty"`
	Category string `json:"category,omitempty"`
	Title    string `json:"title,omitempty"`
	Message  string `json:"message,omitempty"`
	Help     string `json:"help,omitempty"`
	Facts    []fact `json:"facts,omitempty"`
}

// fact is a property as an element of a list, so that no name collides with
// another or with one that SARIF reserves.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func facts(properties []Property) []fact {
	list := make([]fact, len(properties))
	for i, p := range properties {
		list[i] = fact(p)
	}
	return list
}

// sarifRules lists the rules of the report, then those that only findings name,
// and says where each one stands.
func sarifRules(known []Rule, all []occurrence) ([]sarifRule, map[string]int) {
	rules := make([]sarifRule, 0, len(known))
	index := make(map[string]int, len(known))
	add := func(rule Rule) {
		if _, found := index[rule.ID]; found || rule.ID == "" {
			return
		}
		index[rule.ID] = len(rules)
		short := firstOf(rule.Short, rule.ID)
		rules = append(rules, sarifRule{
			ID: rule.ID, Short: sarifText{short}, Full: sarifText{short}, Help: sarifText{firstOf(rule.Help, short)},
		})
	}
	for _, rule := range known {
		add(rule)
	}
	for _, f := range all {
		add(Rule{ID: f.Rule})
	}
	return rules, index
}

func newSarifResult(f occurrence, ruleIndex int) sarifResult {
	result := sarifResult{
		RuleID:       f.Rule,
		RuleIndex:    ruleIndex,
		Level:        f.Level,
		Message:      sarifText{noLinks(f.explanation())},
		Fingerprints: sarifFingerprints{f.ID},
		Properties: sarifResultBag{
			Case: f.Case, Category: f.Category, Title: f.Title, Message: f.Message, Help: f.Help, Facts: facts(f.Properties),
		},
	}
	if result.Message.Text == f.Message {
		result.Properties.Message = ""
	}
	if f.File != "" {
		physical := sarifPhysical{Artifact: sarifArtifact{fileURI(f.File)}}
		if f.Line > 0 {
			physical.Region = &sarifRegion{f.Line}
		}
		result.Locations = []sarifLocation{{physical}}
	}
	return result
}

// noLinks disarms "[text](target)", the one markup that SARIF knows in plain
// messages (3.11.6). Braces stay as they are: a message without arguments has no
// placeholders to be filled.
func noLinks(s string) string { return strings.ReplaceAll(s, "](", `\](`) }
