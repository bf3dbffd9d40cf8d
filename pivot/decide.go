package pivot

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Decision is the result of [Wave1.Decide].
type Decision struct {
	OK            codec.True `json:"ok"`
	Wave2Required bool       `json:"wave2_required" jsonschema:"true: run a second wave on wave2_gap_ids; false: continue with the citations"`
	RuleHit       string     `json:"rule_hit" jsonschema:"the rule that decided" enum:"Wave2Required.P0,Wave2Required.P1,Wave2Required.Volume,Wave2Skip.NoGaps"`
	Explanation   string     `json:"explanation" jsonschema:"the rule's template, filled in"`
	Metrics       Metrics    `json:"metrics"`
	Gaps          []Gap      `json:"gaps" jsonschema:"by priority, then by id"`
	Wave2GapIDs   []string   `json:"wave2_gap_ids" jsonschema:"the gaps that a second wave is to close; empty when it is skipped"`
	InputsDigest  string     `json:"inputs_digest" jsonschema:"digest of the gaps and the validation reports"`
	PivotPath     *string    `json:"pivot_path" jsonschema:"the file that was written; null when no run was named, or the run keeps no decision in its stage"`
	AuditWritten  bool       `json:"audit_written" jsonschema:"a line was added to the run's audit log"`

	Agents *float64 `json:"-"` // how many the run allows in wave 2; nil when none is named, or it does not say
}

// Wave1 is a first wave that can be decided on.
type Wave1 struct {
	Outputs  []Output // in byte order of the ids
	Explicit []Gap    // to decide on instead of those that the outputs state

	reports []Report // in the same order
}

// Check says whether a wave can be decided on. It returns, in the order in which
// things are looked at: INVALID_ARGS; WAVE1_NOT_VALIDATED, WAVE1_CONTRACT_NOT_MET,
// MISMATCHED_PERSPECTIVE_ID; DUPLICATE_GAP_ID, INVALID_GAP_PRIORITY; and
// PATH_NOT_ALLOWED for an output that lies outside its run.
func Check(in Input) (Wave1, error) {
	reports, err := in.check()
	if err != nil {
		return Wave1{}, err
	}
	outputs := byID(in.Outputs)
	slices.SortStableFunc(reports, func(a, b Report) int { return strings.Compare(a.PerspectiveID, b.PerspectiveID) })
	if err := checkPreconditions(outputs, reports); err != nil {
		return Wave1{}, err
	}
	explicit, err := explicitGaps(in.ExplicitGaps)
	if err != nil {
		return Wave1{}, err
	}
	for _, o := range outputs {
		if !filepath.IsAbs(o.Path) && !filepath.IsLocal(o.Path) {
			return Wave1{}, tidegate.Errorf(tidegate.PathNotAllowed, o.Details(), "the output of %q leaves the run's folder: %s", tidegate.Cut(o.PerspectiveID), o.Path)
		}
	}
	return Wave1{outputs, explicit, reports}, nil
}

// Named is the wave with the files in its reports named otherwise: a run names its
// own by names that hold wherever it lies.
func (w Wave1) Named(name func(path string) string) Wave1 {
	w.reports = slices.Clone(w.reports)
	for i, r := range w.reports {
		w.reports[i].MarkdownPath = name(r.MarkdownPath)
	}
	return w
}

// Decide decides by the rubric on gaps, which it puts in gap order: those that the
// outputs state, or [Wave1.Explicit].
func (w Wave1) Decide(gaps []Gap) Decision {
	if gaps == nil {
		gaps = []Gap{}
	}
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(strings.Compare(a.Priority, b.Priority), strings.Compare(a.ID, b.ID))
	})
	out := Judge(gaps)
	return Decision{
		Wave2Required: out.Wave2Required, RuleHit: out.RuleHit, Explanation: out.Explanation, Metrics: out.Metrics,
		Gaps: gaps, Wave2GapIDs: out.Wave2GapIDs,
		// It covers everything that decides, and nothing else: no time, no order of arguments.
		InputsDigest: codec.Digest(tidegate.Pairs("gaps", gaps, "wave1_validation_reports", w.reports)),
	}
}

// checkPreconditions says whether wave 1 can be decided on. Both lists are
// sorted by perspective id. It returns, in this order over all reports,
// WAVE1_NOT_VALIDATED, WAVE1_CONTRACT_NOT_MET and MISMATCHED_PERSPECTIVE_ID.
func checkPreconditions(outputs []Output, reports []Report) error {
	for _, r := range reports {
		if !r.OK {
			return notValidated(r)
		}
	}
	for _, r := range reports {
		if len(r.MissingSections) > 0 {
			return tidegate.Errorf(tidegate.Wave1ContractNotMet,
				tidegate.Pairs("perspective_id", r.PerspectiveID, "missing_sections", r.MissingSections),
				"the report of %q lists %s", tidegate.Cut(r.PerspectiveID), report.Counted(len(r.MissingSections), "missing section"))
		}
	}
	return checkPairs(outputs, reports)
}

func notValidated(r Report) error {
	details, subject := tidegate.Pairs("perspective_id", r.PerspectiveID), "the output of "+tidegate.Cut(r.PerspectiveID)
	if r.PerspectiveID == "" {
		details, subject = tidegate.Pairs("perspective_id", nil, "index", r.index), "an output"
	}
	code, message := tidegate.Cut(r.failure.Get("code").Str()), tidegate.Cut(r.failure.Get("message").Str())
	if code == "" {
		return tidegate.Errorf(tidegate.Wave1NotValidated, details, "%s did not pass validation: its report has ok false", subject)
	}
	details = append(details, tidegate.Pairs("failure", tidegate.Pairs("code", code, "message", message))...)
	return tidegate.Errorf(tidegate.Wave1NotValidated, details, "%s did not pass validation: %s (%s)", subject, code, message)
}

// checkPairs walks both sorted lists: every id must be in each exactly once.
func checkPairs(outputs []Output, reports []Report) error {
	for len(outputs) > 0 || len(reports) > 0 {
		var id string
		switch {
		case len(outputs) == 0:
			id = reports[0].PerspectiveID
		case len(reports) == 0:
			id = outputs[0].PerspectiveID
		default:
			id = min(outputs[0].PerspectiveID, reports[0].PerspectiveID)
		}
		withOutput, withReport := 0, 0
		for withOutput < len(outputs) && outputs[withOutput].PerspectiveID == id {
			withOutput++
		}
		for withReport < len(reports) && reports[withReport].PerspectiveID == id {
			withReport++
		}
		if withOutput != 1 || withReport != 1 {
			return tidegate.Errorf(tidegate.MismatchedPerspectiveID,
				tidegate.Pairs("perspective_id", id, "wave1_outputs", withOutput, "wave1_validation_reports", withReport),
				"%q must have one output and one report, got %d and %d", tidegate.Cut(id), withOutput, withReport)
		}
		outputs, reports = outputs[1:], reports[1:]
	}
	return nil
}

// byID is a copy of outputs in byte order of their ids. Equal ids, which rule out
// a decision, are put in the order of their paths.
func byID(outputs []Output) []Output {
	sorted := slices.Clone(outputs)
	slices.SortFunc(sorted, func(a, b Output) int {
		return cmp.Or(strings.Compare(a.PerspectiveID, b.PerspectiveID), strings.Compare(a.Path, b.Path))
	})
	return sorted
}

// Input is what a decision rests on. The order of the lists does not matter.
type Input struct {
	Outputs []Output
	// Reports are the results of validating the outputs, one each, as the
	// validator returns them; codec.Of makes one of a wave.Validation.
	Reports []*codec.Value
	// ExplicitGaps, when there are any, are used instead of what the outputs
	// state: objects with gap_id, priority, text, and optionally tags and
	// from_perspective_id.
	ExplicitGaps []*codec.Value
	InRun        bool // there is a run that paths can be relative to
}

// Output is a wave-1 output.
type Output struct {
	PerspectiveID string `json:"perspective_id" jsonschema:"the perspective that the output was written for"`
	Path          string `json:"output_md_path" path:"run" jsonschema:"the markdown file: absolute, or relative to the run root when manifest_path is given"`
}

// Details name an output in an error.
func (o Output) Details() tidegate.Details {
	return tidegate.Pairs("perspective_id", o.PerspectiveID, "output_md_path", o.Path)
}

// Report is a validation report, reduced to the fields that the decision uses.
type Report struct {
	OK              bool           `json:"ok"`
	PerspectiveID   string         `json:"perspective_id"`
	MarkdownPath    string         `json:"markdown_path"`
	Words           float64        `json:"words"`
	Sources         float64        `json:"sources"`
	MissingSections []*codec.Value `json:"missing_sections"`

	index   int          // in the list it was given in
	failure *codec.Value // what a report that is not ok says of it
}

// check finds INVALID_ARGS, and reads the reports.
func (in Input) check() ([]Report, error) {
	if len(in.Outputs) == 0 {
		return nil, wrong("wave1_outputs", []string{}, "must have 1 or more entries")
	}
	for i, o := range in.Outputs {
		name := fmt.Sprintf("wave1_outputs[%d]", i)
		switch {
		case isBlankText(o.PerspectiveID):
			return nil, wrong(name+".perspective_id", o.PerspectiveID, "must not be blank")
		case isBlankText(o.Path):
			return nil, wrong(name+".output_md_path", o.Path, "must not be blank")
		case strings.ContainsRune(o.Path, 0):
			return nil, wrong(name+".output_md_path", tidegate.Cut(o.Path), "must not contain a NUL character")
		case !in.InRun && !filepath.IsAbs(o.Path):
			return nil, wrong(name+".output_md_path", tidegate.Cut(o.Path), "must be absolute when no manifest_path names the run that it is relative to")
		}
	}
	if len(in.Reports) == 0 {
		return nil, wrong("wave1_validation_reports", []string{}, "must have 1 or more entries")
	}
	reports := make([]Report, len(in.Reports))
	for i, v := range in.Reports {
		var err error
		if reports[i], err = readReport(fmt.Sprintf("wave1_validation_reports[%d]", i), v); err != nil {
			return nil, err
		}
		reports[i].index = i
	}
	return reports, nil
}

// readReport demands the six fields of a report that is ok. Of one that is not
// it demands nothing: that it is not ok is what counts.
func readReport(name string, v *codec.Value) (Report, error) {
	ok := v.Get("ok")
	r := Report{OK: ok.Bool(), PerspectiveID: v.Get("perspective_id").Str(), MarkdownPath: v.Get("markdown_path").Str(),
		MissingSections: v.Get("missing_sections").Elems()}
	switch {
	case v.Kind() != codec.Object:
		return r, wrongValue(name, v, "must be an object")
	case ok.Kind() != codec.Bool:
		return r, wrongValue(name+".ok", ok, "must be true or false")
	case !r.OK:
		r.failure = v.Get("error")
		return r, nil
	}
	for _, key := range []string{"perspective_id", "markdown_path"} {
		if err := checkText(name+"."+key, v.Get(key)); err != nil {
			return r, err
		}
	}
	for _, field := range []struct {
		key  string
		into *float64
	}{{"words", &r.Words}, {"sources", &r.Sources}} {
		n, isNumber := v.Get(field.key).Float()
		if !isNumber || n < 0 {
			return r, wrongValue(name+"."+field.key, v.Get(field.key), "must be a finite number of at least 0")
		}
		*field.into = n
	}
	if sections := v.Get("missing_sections"); sections.Kind() != codec.Array {
		return r, wrongValue(name+".missing_sections", sections, "must be an array")
	}
	return r, nil
}

func checkText(name string, v *codec.Value) error {
	if v.Kind() != codec.String || isBlankText(v.Str()) {
		return wrongValue(name, v, "must be a string that is not blank")
	}
	return nil
}

func isBlankText(s string) bool { return strings.TrimSpace(s) == "" }

// wrong is INVALID_ARGS for the argument of that name.
func wrong(name string, value any, rule string) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, value), "%s %s", name, rule)
}

// wrongValue is wrong for a JSON value, which may be absent.
func wrongValue(name string, v *codec.Value, rule string) error {
	if v == nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, nil), "%s is required; it %s", name, rule)
	}
	return wrong(name, quoted(v), rule)
}

// quoted is a value as details quote it: text is cut, and a list or object
// that is not empty is quoted only by its kind and length.
func quoted(v *codec.Value) any {
	switch {
	case v.Kind() == codec.String:
		return tidegate.Cut(v.Str())
	case v.Len() > 0:
		return fmt.Sprintf("%s of %d", v.Kind(), v.Len())
	}
	return v
}

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
