package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
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

// JUnit writes one suite with one test case per case. A failed case has one
// failure that holds all its findings, because the stricter of the two schemas
// in use allows one; findings of other cases stand in the suite's system-out.
// Time, timestamp and host name, which that schema demands, are constants.
// Characters that XML cannot hold become U+FFFD. It fails only when w does, with
// WRITE_FAILED.
func JUnit(w io.Writer, r Report, o Options) error {
	name := firstOf(r.Name, program)
	suite := junitSuite{
		Name: name, Package: program,
		Timestamp: "1970-01-01T00:00:00", Hostname: "localhost", Time: "0",
		Tests: len(r.Cases),
	}
	for _, p := range r.Properties {
		suite.Properties.List = append(suite.Properties.List, junitProperty{firstOf(p.Name, "property"), p.Value})
	}
	var notes []string
	if summary := joinNonEmpty(" ", r.Status.String(), r.Summary); summary != "" {
		notes = append(notes, summary)
	}
	for _, c := range r.Cases {
		test := junitCase{Name: c.Name, Class: name, Time: "0"}
		details := junitDetails(c, o.Root)
		switch c.Status {
		case Fail:
			suite.Failures++
			test.Failure = newJunitFailure(c, details)
		case Skip:
			suite.Skipped++
			test.Skipped = &junitSkipped{Message: c.Note, Text: details}
		default:
			if details != "" {
				notes = append(notes, c.Name+"\n"+details)
			}
		}
		suite.Cases = append(suite.Cases, test)
	}
	suite.Out = strings.Join(notes, "\n\n")
	body, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	return deliver(w, append(append([]byte(xml.Header), body...), '\n'))
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Package    string          `xml:"package,attr"`
	ID         int             `xml:"id,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Hostname   string          `xml:"hostname,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties junitProperties `xml:"properties"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
	Err        string          `xml:"system-err"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func newJunitFailure(c Case, details string) *junitFailure {
	failure := &junitFailure{Message: firstOf(c.Note, "failed"), Type: "fail", Text: details}
	if len(c.Findings) > 0 {
		failure.Message = c.Findings[0].headline()
		failure.Type = c.Findings[0].ruleID()
	}
	if more := len(c.Findings) - 1; more > 0 {
		failure.Message += fmt.Sprintf(" (and %d more)", more)
	}
	return failure
}

// junitDetails is all that is known of a case as plain text.
func junitDetails(c Case, root string) string {
	var parts []string
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	for _, f := range c.Findings {
		head := joinNonEmpty(" ", string(f.Level.known()), f.ruleID(), Place{firstOf(f.File, c.File), f.Line}.show(root))
		if f.ID != "" {
			head += " (" + f.ID + ")"
		}
		parts = append(parts, head+"\n"+f.prose())
	}
	return strings.Join(parts, "\n\n")
}

// RDJSON writes every finding as a diagnostic of reviewdog's DiagnosticResult. The
// format has one text per diagnostic and reviewdog refuses keys that it does not
// know, so title, help, category and properties are lines of the message, and the
// fingerprint is left out. It fails only when w does, with WRITE_FAILED.
func RDJSON(w io.Writer, r Report, o Options) error {
	diagnostics := []tidegate.Details{}
	for _, f := range r.occurrences(o.Root) {
		d := tidegate.Pairs("message", f.prose())
		if f.File != "" {
			location := tidegate.Pairs("path", f.File)
			lines := tidegate.Pairs("start", tidegate.Pairs("line", f.Line))
			if f.last() > f.Line {
				lines = append(lines, tidegate.Pairs("end", tidegate.Pairs("line", f.last()))...)
			}
			if f.Line > 0 {
				location = append(location, tidegate.Pairs("range", lines)...)
			}
			d = append(d, tidegate.Pairs("location", location)...)
			if f.Fix != "" && f.Line > 0 {
				d = append(d, tidegate.Pairs("suggestions", []tidegate.Details{tidegate.Pairs("range", lines, "text",
					strings.TrimSuffix(f.Fix, "\n"))})...)
			}
		}
		d = append(d, tidegate.Pairs("severity", levelShownAs[f.Level].rdjson, "code", tidegate.Pairs("value", f.Rule))...)
		diagnostics = append(diagnostics, d)
	}
	document, err := codec.MarshalFile(tidegate.Pairs("source", tidegate.Pairs("name", program), "diagnostics", diagnostics))
	if err != nil {
		return err
	}
	return deliver(w, document)
}

// githubCap is how many annotations of one kind GitHub shows for one step.
const githubCap = 10

// GitHub writes findings as workflow commands, which GitHub shows as annotations
// in the changed files: at most ten of a kind, and, where more were found, a
// last notice that says how many were left out. A plain line with the summary
// ends it. All content passes through [Visible]. It fails only when w does, with
// WRITE_FAILED.
func GitHub(w io.Writer, r Report, o Options) error {
	all := r.occurrences(o.Root)
	found := make(map[Level]int)
	for _, f := range all {
		found[f.Level]++
	}
	notices := githubCap
	if found[LevelError] > githubCap || found[LevelWarning] > githubCap || found[LevelNote] > githubCap {
		notices-- // the last one says what was left out
	}
	room := map[Level]int{LevelError: githubCap, LevelWarning: githubCap, LevelNote: notices}
	var out bytes.Buffer
	left := 0
	for _, f := range all {
		if room[f.Level] == 0 {
			left++
			continue
		}
		room[f.Level]--
		out.WriteString(githubCommand(f))
	}
	if left > 0 {
		fmt.Fprintf(&out, "::notice title=%s::%d of %d findings are not shown here: GitHub shows %d annotations of a kind for a step\n",
			program, left, len(all), githubCap)
	}
	summary := joinNonEmpty(" ", program+":", r.Status.String(), OneLine(firstOf(r.Summary, r.Title)))
	out.WriteString(summary + "\n")
	return deliver(w, out.Bytes())
}

func githubCommand(f occurrence) string {
	var properties []string
	if f.File != "" {
		properties = append(properties, "file="+githubProperty(f.File))
		if f.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", f.Line))
		}
	}
	title := OneLine(f.Rule)
	if t := OneLine(f.Title); t != "" {
		title += ": " + t
	}
	properties = append(properties, "title="+githubProperty(title))
	message := f.Message
	if f.Help != "" {
		message += "\nWhat to do: " + f.Help
	}
	return "::" + levelShownAs[f.Level].github + " " + strings.Join(properties, ",") + "::" + githubData.Replace(strings.TrimSpace(Visible(message))) + "\n"
}

var githubData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

var githubPropertyData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

func githubProperty(s string) string { return githubPropertyData.Replace(Visible(s)) }

// GitLab writes every finding that has a file as an entry of a GitLab code quality
// report, which GitLab shows beside the lines of a merge request. It fails only when w
// does, with WRITE_FAILED.
func GitLab(w io.Writer, r Report, o Options) error {
	entries := []glEntry{}
	seen := map[string]int{}
	for _, f := range r.occurrences(o.Root) {
		if f.File == "" {
			continue // the format has no place for it
		}
		e := glEntry{Description: f.prose(), CheckName: f.Rule, Severity: glSeverity(f.Level), Location: glLocation{f.File,
			glLines{max(1, f.Line), max(1, f.last())}}}
		// GitLab drops entries with the fingerprint of another one.
		key := f.ID
		if key == "" {
			key = f.Rule + "\x00" + f.File + "\x00" + e.Description
		}
		if seen[key]++; seen[key] > 1 {
			key = fmt.Sprintf("%s\x00%d", key, seen[key])
		}
		sum := sha256.Sum256([]byte(key))
		e.Fingerprint = hex.EncodeToString(sum[:16])
		entries = append(entries, e)
	}
	document, err := codec.MarshalFile(entries)
	if err != nil {
		return err
	}
	return deliver(w, document)
}

type glEntry struct {
	Description string     `json:"description"`
	CheckName   string     `json:"check_name"`
	Fingerprint string     `json:"fingerprint"`
	Severity    string     `json:"severity"`
	Location    glLocation `json:"location"`
}

type glLocation struct {
	Path  string  `json:"path"`
	Lines glLines `json:"lines"`
}

type glLines struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

func glSeverity(l Level) string {
	switch l {
	case LevelWarning:
		return "minor"
	case LevelNote:
		return "info"
	}
	return "major"
}
