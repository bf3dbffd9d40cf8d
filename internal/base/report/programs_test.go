package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
)

// schemas is where other people's schemas lie beside a checkout; they are not
// part of the project.
const schemas = "../../../../shared/schemas"

func schema(name string) func() (*jsonschema.Schema, error) {
	return sync.OnceValues(func() (*jsonschema.Schema, error) {
		path := filepath.Join(schemas, name)
		if _, err := os.Stat(path); err != nil {
			return nil, nil
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		return compiler.Compile(path)
	})
}

var (
	sarifSchema  = schema("sarif-schema-2.1.0.json")
	rdjsonSchema = schema("rdjson-DiagnosticResult.json")
)

// validate checks a document against a schema, if there is one.
func validate(t *testing.T, load func() (*jsonschema.Schema, error), document []byte) {
	t.Helper()
	s := must.Get(load())(t)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("not JSON: %v\n%s", err, document)
	}
	if s == nil {
		return
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, document)
	}
}

func TestSchemasArePresent(t *testing.T) {
	if _, err := os.Stat(schemas); err != nil {
		t.Skipf("%s is absent: SARIF, rdjson and JUnit are checked for form only", schemas)
	}
	for format, load := range map[string]func() (*jsonschema.Schema, error){"sarif": sarifSchema, "rdjson": rdjsonSchema} {
		if s, err := load(); s == nil || err != nil {
			t.Errorf("schema of %s: %v", format, err)
		}
		validate(t, load, render(t, format, sample(), report.Options{Root: "/runs/r1"}))
		validate(t, load, render(t, format, report.Report{}, report.Options{}))
	}
}

// valid is s as JSON and XML hold it.
func valid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

func checkSARIF(t *testing.T, s string) {
	t.Helper()
	out := render(t, "sarif", everywhere(s, s), report.Options{Version: s, Root: "/runs/r1"})
	validate(t, sarifSchema, out)
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				Message             struct{ Text string }
				PartialFingerprints map[string]string
				Properties          struct{ Title, Message, Help, Category string }
			}
		}
	}
	must.Do(t, json.Unmarshal(out, &log))
	run := log.Runs[0]
	if len(run.Results) != 3 || run.Tool.Driver.Name != "tidegate" {
		t.Fatalf("%q: %d results of %q, want 3 of tidegate", s, len(run.Results), run.Tool.Driver.Name)
	}
	prints := make(map[string]bool)
	for i, result := range run.Results {
		if got := run.Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("%q: result %d: rule %q at the index of %q", s, i, result.RuleID, got)
		}
		if strings.Contains(strings.ReplaceAll(result.Message.Text, `\](`, ""), "](") {
			t.Errorf("%q: result %d: a link in %q", s, i, result.Message.Text)
		}
		if result.Message.Text == "" {
			t.Errorf("%q: result %d has no message", s, i)
		}
		for _, print := range result.PartialFingerprints {
			prints[print] = true
		}
	}
	if len(prints) != 3 {
		t.Errorf("%q: %d fingerprints for 3 results", s, len(prints))
	}
	first := run.Results[0]
	if p := first.Properties; p.Title != valid(s) || p.Help != valid(s) || p.Category != valid(s) {
		t.Errorf("%q comes back as %+v", s, p)
	}
	if s == "" {
		return
	}
	place := first.Locations[0].PhysicalLocation
	u, err := url.Parse(place.ArtifactLocation.URI)
	if err != nil || place.Region.StartLine != 7 {
		t.Fatalf("%q: place %+v: %v", s, place, err)
	}
	if u.Host != "" || u.RawQuery != "" || u.Fragment != "" || (u.Scheme != "" && u.Scheme != "file") {
		t.Errorf("%q: the URI %q names something else than a file", s, place.ArtifactLocation.URI)
	}
	if !strings.HasPrefix(s, "/") && strings.TrimPrefix(u.Path, "./") != strings.TrimPrefix(s, "./") {
		t.Errorf("%q: the URI %q names %q", s, place.ArtifactLocation.URI, u.Path)
	}
}

func checkRDJSON(t *testing.T, s string) {
	t.Helper()
	out := render(t, "rdjson", everywhere(s, s), report.Options{})
	validate(t, rdjsonSchema, out)
	var result struct {
		Diagnostics []struct {
			Message  string
			Location struct{ Path string }
		}
	}
	must.Do(t, json.Unmarshal(out, &result))
	if len(result.Diagnostics) != 3 {
		t.Fatalf("%q: %d diagnostics, want 3", s, len(result.Diagnostics))
	}
	if first := result.Diagnostics[0]; first.Location.Path != valid(s) || !strings.Contains(first.Message, valid(s)) {
		t.Errorf("%q comes back as %+v", s, first)
	}
}

func checkGitLab(t *testing.T, s string) {
	t.Helper()
	var entries []struct {
		Description, Fingerprint string
		Location                 struct {
			Path  string
			Lines struct{ Begin int }
		}
	}
	must.Do(t, json.Unmarshal(render(t, "gitlab", everywhere(s, s), report.Options{}), &entries))
	if valid(s) == "" {
		return // a finding without a file has no place there
	}
	if len(entries) == 0 || entries[0].Location.Path != valid(s) || entries[0].Location.Lines.Begin != 7 || !strings.Contains(entries[0].Description, valid(s)) {
		t.Fatalf("%q comes back as %+v", s, entries)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if e.Fingerprint == "" || seen[e.Fingerprint] {
			t.Errorf("%q: a fingerprint is empty or stands twice: %+v", s, entries)
		}
		seen[e.Fingerprint] = true
	}
}

type junit struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
		Properties []struct{} `xml:"properties>property"`
	} `xml:"testsuite"`
}

func checkJUnit(t *testing.T, s string) {
	t.Helper()
	out := render(t, "junit", everywhere(s, s), report.Options{})
	var got junit
	if err := xml.Unmarshal(out, &got); err != nil {
		t.Fatalf("%q: %v\n%s", s, err, out)
	}
	suite := got.Suites[0]
	failures, skipped := 0, 0
	for _, c := range suite.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if len(got.Suites) != 1 || suite.Tests != 5 || len(suite.Cases) != 5 || suite.Failures != 2 || failures != 2 ||
		suite.Skipped != 1 || skipped != 1 || len(suite.Properties) != 2 {
		t.Errorf("%q: want 1 suite, 5 cases, 2 failures, 1 skipped, 2 properties:\n%s", s, out)
	}
	if want := xmlText(s); suite.Cases[0].Name != want || !strings.Contains(suite.Cases[0].Failure.Text, want) {
		t.Errorf("%q: name %q and text %q, want %q in both", s, suite.Cases[0].Name, suite.Cases[0].Failure.Text, want)
	}
}

// xmlText is s with U+FFFD for what XML 1.0 (2.2) does not allow.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= 0x20 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
			return r
		}
		return '\ufffd'
	}, valid(s))
}

func TestJUnitIsValidByBothSchemas(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is absent")
	}
	all := report.Report{}
	documents := map[string][]byte{
		"sample": render(t, "junit", sample(), report.Options{}),
		"empty":  render(t, "junit", all, report.Options{}),
	}
	for _, s := range hostile {
		r := everywhere(s, s)
		all.Cases = append(all.Cases, r.Cases...)
		all.Properties = append(all.Properties, r.Properties...)
	}
	documents["hostile"] = render(t, "junit", all, report.Options{})
	for _, xsd := range []string{"JUnit.xsd", "junit-10.xsd"} {
		path := filepath.Join(schemas, xsd)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is absent", path)
		}
		for name, document := range documents {
			t.Run(xsd+"/"+name, func(t *testing.T) {
				cmd := exec.Command(xmllint, "--nonet", "--noout", "--schema", path, "-")
				cmd.Stdin = bytes.NewReader(document)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

var workflowCommand = regexp.MustCompile(`^::(error|warning|notice) (?:file=([^:,]*),)?(?:line=([0-9]+),)?title=([^:,]*)::(.*)$`)

func checkGitHub(t *testing.T, s string) {
	t.Helper()
	out := string(render(t, "github", everywhere(s, s), report.Options{}))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%q: %d lines, want three commands and a summary:\n%s", s, len(lines), out)
	}
	for i, kind := range []string{"error", "warning", "notice"} {
		m := workflowCommand.FindStringSubmatch(lines[i])
		if m == nil || m[1] != kind {
			t.Fatalf("%q: line %q is no %s", s, lines[i], kind)
		}
		unescape := strings.NewReplacer("%25", "%", "%0A", "\n", "%3A", ":", "%2C", ",")
		if i == 0 && (unescape.Replace(m[2]) != report.Visible(s) || !strings.Contains(unescape.Replace(m[5]), strings.TrimSpace(report.Visible(s)))) {
			t.Errorf("%q comes back as %q", s, m)
		}
	}
	if !strings.HasPrefix(lines[3], "tidegate: fail") {
		t.Errorf("%q: summary %q", s, lines[3])
	}
	if i := strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), dangerous); i >= 0 || strings.Contains(out, "##[") {
		t.Errorf("%q reaches the log raw: %q", s, out)
	}
}

func TestGitHubSaysHowManyWereLeftOut(t *testing.T) {
	for _, test := range []struct {
		name                               string
		errors, warnings, notes            int
		wantErrors, wantWarnings, wantNote int
		left                               string
	}{
		{"none", 0, 0, 0, 0, 0, 0, ""},
		{"exactly full", 10, 10, 10, 10, 10, 10, ""},
		{"one error too many", 11, 0, 0, 10, 0, 1, "1 of 11"},
		{"the notice about the rest takes a place", 11, 0, 10, 10, 0, 10, "2 of 21"},
		{"many of all", 5000, 300, 20, 10, 10, 10, "5291 of 5320"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report.Report{Summary: "done", Status: report.Fail}
			c := report.Case{Name: "c", Status: report.Fail}
			for level, n := range map[report.Level]int{report.LevelError: test.errors, report.LevelWarning: test.warnings, report.LevelNote: test.notes} {
				for range n {
					c.Findings = append(c.Findings, report.Finding{Rule: "R", Level: level, Message: "m"})
				}
			}
			r.AddCase(c)
			out := string(render(t, "github", r, report.Options{}))
			got := [3]int{strings.Count(out, "::error "), strings.Count(out, "::warning "), strings.Count(out, "::notice ")}
			if want := [3]int{test.wantErrors, test.wantWarnings, test.wantNote}; got != want {
				t.Errorf("errors, warnings, notices: %v, want %v", got, want)
			}
			if strings.Contains(out, "not shown") != (test.left != "") || !strings.Contains(out, "::"+test.left) && test.left != "" {
				t.Errorf("want %q left out:\n%s", test.left, out)
			}
			if !strings.HasSuffix(out, "tidegate: fail done\n") {
				t.Errorf("no summary line:\n%s", out)
			}
		})
	}
}

func TestFilesAreRelativeToTheRoot(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"below", "/runs/r1/a b.md", "a%20b.md"},
		{"beside", "/runs/r12/a.md", "file:///runs/r12/a.md"},
		{"above", "/runs/a.md", "file:///runs/a.md"},
		{"the folder above", "/runs", "file:///runs"},
		{"below, with a name of dots", "/runs/r1/..a.md", "..a.md"},
		{"relative already", "wave-1/ä.md", "wave-1/%C3%A4.md"},
		{"a colon in the first part", "a:b.md", "./a:b.md"},
		{"dots inside", "/runs/r1/../r1/a.md", "a.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report.Report{Cases: []report.Case{{File: test.file, Findings: []report.Finding{{Rule: "R"}}}}}
			out := string(render(t, "sarif", r, report.Options{Root: "/runs/r1"}))
			if want := fmt.Sprintf("%q: %q", "uri", test.want); !strings.Contains(out, want) {
				t.Errorf("want %s in\n%s", want, out)
			}
		})
	}
}

func TestDerivedIDsIgnoreLinesAndMessages(t *testing.T) {
	fingerprint := regexp.MustCompile(`"tidegateFinding/v1": "(.*)"`)
	id := func(f report.Finding) string {
		r := report.Report{Cases: []report.Case{{Name: "c", Findings: []report.Finding{f}}}}
		return fingerprint.FindStringSubmatch(string(render(t, "sarif", r, report.Options{})))[1]
	}
	base := report.Finding{Rule: "R", Title: "t", File: "f", Line: 1, Message: "10 words too many"}
	moved, other := base, base
	moved.Line, moved.Message = 9, "12 words too many"
	other.Rule = "S"
	if id(base) != id(moved) {
		t.Error("a finding that moved is another one")
	}
	if id(base) == id(other) {
		t.Error("findings of different rules are one")
	}
}

type brokenPipe struct{}

var errBroken = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestAFailingWriterIsWriteFailed(t *testing.T) {
	for _, f := range report.Formats() {
		err := f.Write(brokenPipe{}, sample(), report.Options{})
		if tidegate.CodeOf(err) != tidegate.WriteFailed || !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want WRITE_FAILED with its cause", f.Name, err)
		}
	}
}

func TestAnEmptyReportIsWritten(t *testing.T) {
	for _, f := range report.Formats() {
		if err := f.Write(io.Discard, report.Report{}, report.Options{Width: 1}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if _, found := report.Lookup("json"); found {
		t.Error("json is the tool's envelope, not a format of a report")
	}
}
