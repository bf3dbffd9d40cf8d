package report

import (
	"io"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// SARIF writes every finding as a result of SARIF 2.1.0, with its rule, place
// and fingerprint. What SARIF has no field for (the case, the category, title
// and help apart from the message, properties) is in property bags as it was
// given. It fails only when w does, with WRITE_FAILED.
func SARIF(w io.Writer, r Report, o Options) error {
	all := r.occurrences(o.Root)
	rules, index := sarifRules(r.Rules, all)
	results := []tidegate.Details{}
	for _, f := range all {
		results = append(results, sarifResult(f, index[f.Rule]))
	}
	driver := tidegate.Pairs("name", program)
	if o.Version != "" {
		driver = append(driver, tidegate.Pairs("version", o.Version)...)
	}
	driver = append(driver, tidegate.Pairs("rules", rules)...)
	document, err := codec.MarshalFile(tidegate.Pairs("$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
		"runs", []tidegate.Details{tidegate.Pairs("tool", tidegate.Pairs("driver", driver), "results", results, "properties",
			sarifRunBag{Name: r.Name, Title: r.Title, Status: r.Status.String(), Summary: r.Summary, Facts: facts(r.Properties)})}))
	if err != nil {
		return err
	}
	return deliver(w, document)
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
// and says where each one stands. A rule always has all three texts: code hosts
// require them.
func sarifRules(known []Rule, all []occurrence) ([]tidegate.Details, map[string]int) {
	rules := make([]tidegate.Details, 0, len(known))
	index := make(map[string]int, len(known))
	add := func(rule Rule) {
		if _, found := index[rule.ID]; found || rule.ID == "" {
			return
		}
		index[rule.ID] = len(rules)
		short := firstOf(rule.Short, rule.ID)
		rules = append(rules, tidegate.Pairs("id", rule.ID, "shortDescription", sarifText(short), "fullDescription", sarifText(short),
			"help", sarifText(firstOf(rule.Help, short))))
	}
	for _, rule := range known {
		add(rule)
	}
	for _, f := range all {
		add(Rule{ID: f.Rule})
	}
	return rules, index
}

func sarifText(text string) tidegate.Details { return tidegate.Pairs("text", text) }

func sarifResult(f occurrence, ruleIndex int) tidegate.Details {
	message := noLinks(f.explanation())
	bag := sarifResultBag{Case: f.Case, Category: f.Category, Title: f.Title, Message: f.Message, Help: f.Help, Facts: facts(f.Properties)}
	if message == f.Message {
		bag.Message = ""
	}
	result := tidegate.Pairs("ruleId", f.Rule, "ruleIndex", ruleIndex, "level", f.Level, "message", sarifText(message))
	if f.File != "" {
		location := tidegate.Pairs("uri", fileURI(f.File))
		physical := tidegate.Pairs("artifactLocation", location)
		region := tidegate.Pairs("startLine", f.Line)
		if f.last() > f.Line {
			region = append(region, tidegate.Pairs("endLine", f.last())...)
		}
		if f.Line > 0 {
			physical = append(physical, tidegate.Pairs("region", region)...)
		}
		result = append(result, tidegate.Pairs("locations", []tidegate.Details{tidegate.Pairs("physicalLocation", physical)})...)
		if f.Fix != "" && f.Line > 0 {
			replaced := tidegate.Pairs("deletedRegion", region, "insertedContent", sarifText(strings.TrimSuffix(f.Fix, "\n")))
			result = append(result, tidegate.Pairs("fixes", []tidegate.Details{tidegate.Pairs("description",
				sarifText("Replace the lines"),
				"artifactChanges", []tidegate.Details{tidegate.Pairs("artifactLocation", location, "replacements",
					[]tidegate.Details{replaced})})})...)
		}
	}
	return append(result, tidegate.Pairs("partialFingerprints", tidegate.Pairs("tidegateFinding/v1", f.ID), "properties", bag)...)
}

// noLinks disarms "[text](target)", the one markup that SARIF knows in plain
// messages (3.11.6). Braces stay as they are: a message without arguments has no
// placeholders to be filled.
func noLinks(s string) string { return strings.ReplaceAll(s, "](", `\](`) }
