package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

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
