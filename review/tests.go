package review

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// TestRun is what a project's tests said.
type TestRun struct {
	Format    string // one of the formats that are known, or "" when only the exit status is
	Status    int    // of the command; -1 when it was stopped
	Passed    int64
	Failed    int64
	FailedNew int64 // of them those that the base does not have as failed, see [TestRun.Since]
	Skipped   int64
	Failing   []string          // the names of tests that failed, in order
	Said      map[string]string // by their names, what tests that failed said
	Ran       []string          // the names of all tests that passed or failed, in order
	Unnamed   int64             // how many did and have no name
	Unbuilt   bool              // no test ran: none could be set up or built
	Tail      string            // the end of the output
}

// What is kept of a test run.
const (
	maxFailing = 10_000
	maxShown   = 50      // of the tests that failed
	maxSaid    = 2 << 10 // of what one of them said, its end
	maxTail    = 8 << 10
	maxXML     = 64 // elements inside each other
)

// ReadTestRun reads what a project's test command wrote: the events of go test
// -json, JUnit XML, what cargo test and pytest print, or TAP; of anything else only the
// exit status is known.
// The tests themselves write the output, so a failed command is never taken for
// success: where it names no failed test, it counts as one.
func ReadTestRun(output []byte, status int) TestRun {
	r := TestRun{Status: status, Tail: tail(output)}
	for _, format := range []struct {
		name string
		read func(*TestRun, []byte) bool
	}{
		{"go test -json", (*TestRun).goTest}, {"JUnit", (*TestRun).junit}, {"cargo", (*TestRun).cargo},
		{"pytest", (*TestRun).pytest}, {"TAP", (*TestRun).tap},
	} {
		read := TestRun{Status: status, Tail: r.Tail, Format: format.name, Said: map[string]string{}}
		if format.read(&read, output) {
			r = read
			break
		}
	}
	if status != 0 && r.Failed == 0 {
		r.fail(fmt.Sprintf("the command ended with status %d", status))
	}
	r.FailedNew = r.Failed
	r.Unbuilt = r.Failed > 0 && r.Format != "" && r.Passed+r.Skipped+r.Unnamed+int64(len(r.Ran)) == 0 ||
		r.Format == "" && status != 0 && unbuiltLine().Match(output) && !ranLine().Match(output)
	return r
}

// What go test and cargo print where nothing can be set up or built, and where a test has run.
var (
	unbuiltLine = pattern(`(?m)^(?:FAIL\t\S+ \[(?:setup|build) failed\]|error: (?:could not compile|failed to (?:get|download|select)|no matching package).*)\r?$`)
	ranLine     = pattern(`(?m)^(?:ok  |FAIL)\t\S+\t`)
)

// Reason is what the first failure says, or else the end of the output, in a line.
func (r TestRun) Reason() string {
	for _, name := range r.Failing {
		if r.Said[name] != "" {
			return cutBytes(cleanLine(r.Said[name]))
		}
	}
	return cutBytes(cleanLine(r.Tail))
}

// Unstarted reports whether the shell found no command that it could run.
func (r TestRun) Unstarted() bool {
	return r.Format == "" && (r.Status == 126 || r.Status == 127)
}

// Since counts the tests that failed and did not fail on the base: they passed there, or
// were not there. Without names a failure is one of the base where that failed, too.
func (r *TestRun) Since(base TestRun) {
	failed := map[string]bool{}
	for _, name := range base.Failing {
		failed[name] = true
	}
	r.FailedNew = max(0, r.Failed-int64(len(r.Failing))-(base.Failed-int64(len(base.Failing)))) // those without a name
	for _, name := range r.Failing {
		if !failed[name] && (r.Format != "" || base.Failed == 0) {
			r.FailedNew++
		}
	}
}

// own notes what a test that failed said.
func (r *TestRun) own(name, text string) {
	name, text = cutBytes(cleanLine(name)), strings.TrimSpace(cleanText(text))
	if text == "" || len(r.Said) >= maxShown && r.Said[name] == "" {
		return
	}
	if text = strings.TrimSpace(r.Said[name] + "\n" + text); len(text) > maxSaid {
		text = "[…] " + strings.ToValidUTF8(text[len(text)-maxSaid:], "")
	}
	r.Said[name] = text
}

// Words say how it went.
func (r TestRun) Words() string {
	if r.Format != "" || r.Status != 0 {
		words := fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
		if r.Failed > r.FailedNew {
			words += fmt.Sprintf("; %d of those that failed do so without the change", r.Failed-r.FailedNew)
		}
		return words
	}
	return "passed, by the exit status"
}

// Results are the counts as a review has them; nil where nothing was counted.
func (r TestRun) Results() *TestResults {
	if r.Format == "" && r.Failed == 0 {
		return nil
	}
	passed, failed, total := r.Passed, r.Failed, r.Passed+r.Failed
	return &TestResults{Passed: &passed, Failed: &failed, Total: &total}
}

// Shown are the names of the tests that failed, as many as are shown.
func (r TestRun) Shown() []string { return r.Failing[:min(len(r.Failing), maxShown)] }

func (r *TestRun) fail(name string) {
	r.Failed++
	if len(r.Failing) < maxFailing {
		r.Failing = append(r.Failing, cutBytes(cleanLine(name)))
	}
}

func (r *TestRun) ran(name string) {
	if name = cutBytes(cleanLine(name)); name == "" {
		r.Unnamed++
		return
	}
	r.Ran = append(r.Ran, name)
}

// tail is the end of a text, from the beginning of a line where it has one.
func tail(output []byte) string {
	if cut := len(output) - maxTail; cut > 0 {
		output = output[cut:]
		if _, rest, found := bytes.Cut(output, []byte("\n")); found {
			output = rest
		}
	}
	return cleanText(string(output))
}

// goTest reads the events of go test -json. Other lines may stand between them, as
// the compiler writes some. A package that fails without a failed test of its own
// counts as one.
func (r *TestRun) goTest(output []byte) bool {
	events := 0
	failures := map[string]bool{} // packages that have a failed test
	said := map[string]*bytes.Buffer{}
	for line := range bytes.Lines(output) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte(`{`)) {
			continue
		}
		event, err := codec.Parse(line)
		if err != nil || event.Get("Action").Str() == "" {
			continue
		}
		events++
		built, _, _ := strings.Cut(event.Get("ImportPath").Str(), " ") // the package of a test binary
		pkg, test := cmp.Or(event.Get("Package").Str(), built), event.Get("Test").Str()
		name := strings.TrimSuffix(pkg+"."+test, ".")
		if text := event.Get("Output").Str(); text != "" && !strings.HasPrefix(text, "=== ") {
			if said[name] == nil {
				said[name] = &bytes.Buffer{}
			}
			if said[name].Len() < maxTail {
				said[name].WriteString(text)
			}
		}
		tell := func() {
			if said[name] != nil {
				r.own(name, said[name].String())
			}
		}
		switch action := event.Get("Action").Str(); {
		case action == "pass" && test != "":
			r.Passed++
			r.ran(pkg + "." + test)
		case action == "skip" && test != "":
			r.Skipped++
		case action == "fail" && test != "":
			failures[pkg] = true
			r.fail(pkg + "." + test)
			r.ran(pkg + "." + test)
			tell()
		case (action == "fail" || action == "build-fail") && !failures[pkg]:
			failures[pkg] = true
			r.fail(pkg)
			tell()
		}
	}
	return events > 0
}

// junit reads a JUnit document, of one suite or of several. It goes by the test
// cases, not by the counts that the document claims.
func (r *TestRun) junit(output []byte) bool {
	begin := bytes.IndexByte(output, '<')
	if begin < 0 || !bytes.Contains(output, []byte("<testsuite")) {
		return false
	}
	decoder := xml.NewDecoder(bytes.NewReader(output[begin:]))
	var name string
	inCase, failed, skipped, telling, depth, suites := false, false, false, false, 0, 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return suites > 0 && errors.Is(err, io.EOF)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxXML {
				return false
			}
			switch t.Name.Local {
			case "testsuite", "testsuites":
				suites++
			case "testcase":
				inCase, failed, skipped = true, false, false
				name = strings.Trim(attribute(t, "classname")+"."+attribute(t, "name"), ".")
			case "failure", "error":
				failed, telling = true, inCase
				if inCase {
					r.own(name, attribute(t, "message"))
				}
				if !inCase {
					r.fail("outside a test: " + attribute(t, "message"))
				}
			case "skipped":
				skipped = true
			}
		case xml.CharData:
			if telling {
				r.own(name, string(t))
			}
		case xml.EndElement:
			depth--
			telling = false
			if t.Name.Local != "testcase" || !inCase {
				continue
			}
			inCase = false
			switch {
			case failed:
				r.fail(name)
				r.ran(name)
			case skipped:
				r.Skipped++
			default:
				r.Passed++
				r.ran(name)
			}
		}
	}
}

func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var (
	tapPlan = pattern(`^1\.\.([0-9]{1,9})(?:\s|$)`)
	tapLine = pattern(`^(not )?ok\b[ \t]*([0-9]*)[ \t]*(?:-[ \t]*)?(.*?)(?:[ \t]*#[ \t]*((?i:skip|todo)).*)?$`)
)

// tap reads the Test Anything Protocol. A test that is in the plan but not in the
// output has failed.
func (r *TestRun) tap(output []byte) bool {
	plan, seen, known := int64(-1), int64(0), false
	telling := "" // the test that failed last
	for raw := range bytes.Lines(output) {
		line := strings.TrimRight(string(raw), "\r\n")
		if indent, text := cutIndent(line); telling != "" && text != "" && (indent != "" || strings.HasPrefix(text, "#")) {
			r.own(telling, strings.TrimPrefix(text, "# "))
			continue
		}
		telling = ""
		if m := tapPlan().FindStringSubmatch(line); m != nil {
			plan, _ = strconv.ParseInt(m[1], 10, 64)
			known = true
			continue
		}
		if strings.HasPrefix(line, "TAP version ") {
			known = true
			continue
		}
		if strings.HasPrefix(line, "Bail out!") && known {
			r.fail(line)
			continue
		}
		m := tapLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		seen++
		switch directive := strings.ToLower(m[4]); {
		case directive != "":
			r.Skipped++
		case m[1] != "":
			telling = cmp.Or(m[3], "test "+m[2])
			r.fail(telling)
			r.ran(m[3])
		default:
			r.Passed++
			r.ran(m[3])
		}
	}
	if missing := plan - seen; known && missing > 0 {
		r.fail(fmt.Sprintf("%d tests of the plan did not run", missing))
		r.Failed += missing - 1
	}
	return known
}

var (
	cargoTest    = pattern(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b`)
	cargoResult  = pattern(`^test result: (?:ok|FAILED)\. [0-9]+ passed;`)
	cargoSection = pattern(`^---- (.+?) (?:stdout|stderr) ----$`)
)

// cargo reads what cargo test prints.
func (r *TestRun) cargo(output []byte) bool {
	known, telling := false, ""
	for raw := range bytes.Lines(output) {
		line := strings.TrimRight(string(raw), "\r\n")
		if m := cargoSection().FindStringSubmatch(line); m != nil {
			telling = m[1]
			continue
		}
		if m := cargoTest().FindStringSubmatch(line); m != nil {
			telling = ""
			switch m[2] {
			case "ok":
				r.Passed++
				r.ran(m[1])
			case "FAILED":
				r.fail(m[1])
				r.ran(m[1])
			default:
				r.Skipped++
			}
			continue
		}
		if known = known || cargoResult().MatchString(line); line == "failures:" || cargoResult().MatchString(line) {
			telling = ""
		}
		if telling != "" && line != "" {
			r.own(telling, line)
		}
	}
	return known
}

var (
	pytestSummary = pattern(`^(?:=+ )?((?:[0-9]+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+) in [0-9.]+s`)
	pytestCount   = pattern(`([0-9]+) ([a-z]+)`)
	pytestTest    = pattern(`^(PASSED|FAILED|ERROR) (\S+?::.+?|\S+\.py)(?: - (.*))?$`)
	pytestVerbose = pattern(`^(\S+::.+?) (PASSED|FAILED|ERROR)(?: +\[ *[0-9]+%\])?$`)
	pytestSection = pattern(`^_{3,} (?:ERROR (?:at (?:setup|teardown) of|collecting) )?(.+?) _{3,}$`)
)

// pytest reads what pytest prints: its last line has the counts, its summary the names of
// tests that failed, and with -v or -rA those of the others.
func (r *TestRun) pytest(output []byte) bool {
	known, telling := false, ""
	said := map[string]*strings.Builder{} // by the last part of a name, as headings have it
	verdicts := map[string]string{}
	var names []string
	note := func(name, verdict string) {
		if verdicts[name] == "" {
			names = append(names, name)
		}
		verdicts[name] = verdict
	}
	counts := map[string]int64{}
	for raw := range bytes.Lines(output) {
		line := strings.TrimRight(string(raw), "\r\n ")
		if m := pytestSection().FindStringSubmatch(line); m != nil {
			telling = m[1]
			said[telling] = &strings.Builder{}
		} else if strings.HasPrefix(line, "=====") {
			telling = ""
		} else if telling != "" && said[telling].Len() < maxTail {
			said[telling].WriteString(line + "\n")
		}
		if m := pytestSummary().FindStringSubmatch(line); m != nil {
			known = true
			clear(counts)
			for _, count := range pytestCount().FindAllStringSubmatch(m[1], -1) {
				n, _ := strconv.ParseInt(count[1], 10, 64)
				counts[strings.TrimSuffix(count[2], "s")] += n
			}
		} else if m := pytestTest().FindStringSubmatch(line); m != nil {
			note(m[2], m[1])
			if m[3] != "" {
				r.own(m[2], m[3])
			}
		} else if m := pytestVerbose().FindStringSubmatch(line); m != nil {
			note(m[1], m[2])
		}
	}
	if !known {
		return false
	}
	for _, name := range names {
		short := strings.ReplaceAll(name[strings.Index(name, "::")+1:], "::", ".")
		if text := said[strings.TrimPrefix(short, ":")]; text != nil && verdicts[name] != "PASSED" {
			r.own(name, text.String())
		}
		if verdicts[name] == "PASSED" {
			r.Passed++
		} else {
			r.fail(name)
		}
		if verdicts[name] != "ERROR" || strings.Contains(name, "::") { // a file that cannot be read has no test
			r.ran(name)
		}
	}
	failed := counts["failed"] + counts["error"]
	for n := r.Failed; n < failed; n++ {
		r.Failed++
		r.Unnamed++
	}
	if more := counts["passed"] + counts["xpassed"] - r.Passed; more > 0 {
		r.Passed, r.Unnamed = r.Passed+more, r.Unnamed+more
	}
	r.Skipped = counts["skipped"] + counts["xfailed"]
	return true
}
