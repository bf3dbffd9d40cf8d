package review

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// TestRun is what a project's tests said.
type TestRun struct {
	Format  string // "go test -json", "JUnit", "TAP", or "" when only the exit status is known
	Status  int    // of the command; -1 when it was stopped
	Passed  int64
	Failed  int64
	Skipped int64
	Failing []string // the names of tests that failed, at most 50, in order
	Ran     []string // the names of all tests that passed or failed, in order
	Unnamed int64    // how many did and have no name
	Tail    string   // the end of the output
}

// What is kept of a test run.
const (
	maxFailing = 50
	maxTail    = 8 << 10
	maxXML     = 64 // elements inside each other
)

// ReadTestRun reads what a project's test command wrote: the events of go test
// -json, JUnit XML or TAP; of anything else only the exit status is known.
// The tests themselves write the output, so a failed command is never taken for
// success: where it names no failed test, it counts as one.
func ReadTestRun(output []byte, status int) TestRun {
	r := TestRun{Status: status, Tail: tail(output)}
	for _, format := range []struct {
		name string
		read func(*TestRun, []byte) bool
	}{{"go test -json", (*TestRun).goTest}, {"JUnit", (*TestRun).junit}, {"TAP", (*TestRun).tap}} {
		read := TestRun{Status: status, Tail: r.Tail, Format: format.name}
		if format.read(&read, output) {
			r = read
			break
		}
	}
	if status != 0 && r.Failed == 0 {
		r.fail(fmt.Sprintf("the command ended with status %d", status))
	}
	return r
}

// Words say how it went.
func (r TestRun) Words() string {
	if r.Format != "" || r.Status != 0 {
		return fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
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
	for line := range bytes.Lines(output) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte(`{`)) {
			continue
		}
		event, err := codec.Parse(line)
		if err != nil || event.Get("Action").Str() == "" {
			continue
		}
		events++
		pkg, test := event.Get("Package").Str(), event.Get("Test").Str()
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
		case (action == "fail" || action == "build-fail") && !failures[pkg]:
			failures[pkg] = true
			r.fail(cmp.Or(pkg, event.Get("ImportPath").Str()))
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
	inCase, failed, skipped, depth, suites := false, false, false, 0, 0
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
				failed = true
				if !inCase {
					r.fail("outside a test: " + attribute(t, "message"))
				}
			case "skipped":
				skipped = true
			}
		case xml.EndElement:
			depth--
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
	tapPlan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^1\.\.([0-9]{1,9})(?:\s|$)`) })
	tapLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(not )?ok\b[ \t]*([0-9]*)[ \t]*(?:-[ \t]*)?(.*?)(?:[ \t]*#[ \t]*((?i:skip|todo)).*)?$`)
	})
)

// tap reads the Test Anything Protocol. A test that is in the plan but not in the
// output has failed.
func (r *TestRun) tap(output []byte) bool {
	plan, seen, known := int64(-1), int64(0), false
	for raw := range bytes.Lines(output) {
		line := strings.TrimRight(string(raw), "\r\n")
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
			r.fail(cmp.Or(m[3], "test "+m[2]))
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
