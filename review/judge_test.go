package review_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// about is a tree with two files; of one of them a part is shown.
func about(tests *review.TestRun) review.Reviewed {
	return review.Reviewed{
		Text: func(_ context.Context, file string) ([]byte, bool, error) {
			lines, ok := map[string]int{"a.go": 10, "b/c.go": 3}[file]
			return []byte(strings.Repeat("\n", lines)), ok, nil
		},
		Shown: func(file string, line int64) bool { return file == "a.go" && line <= 5 },
		Tests: tests,
	}
}

// answer is a payload as a reviewer answers it.
func answer(p review.Payload) *review.Answer {
	a := &review.Answer{Payload: p}
	a.Findings = append(a.Findings, review.Identify(p.Issues)...)
	return a
}

func TestJudge(t *testing.T) {
	t.Parallel()
	issue := func(file string, line *int64) []review.Issue {
		return []review.Issue{{Title: "t", Severity: review.Medium, Category: "Bug", File: file, Line: line, Description: "d"}}
	}
	high := []review.Issue{{Title: "t", Severity: review.High, Category: "Bug", Description: "d"}}
	failed := &review.TestRun{Failed: 2, FailedNew: 2, Passed: 1}
	for _, tt := range []struct {
		name           string
		verdict        review.Verdict
		issues         []review.Issue
		tests          *review.TestRun
		fault, warning string
	}{
		{name: "no issue", verdict: review.Approved},
		{name: "in the diff", verdict: review.NeedsFix, issues: issue("a.go", at(5))},
		{name: "the whole file", verdict: review.NeedsFix, issues: issue("a.go", nil)},
		{name: "no place", verdict: review.NeedsFix, issues: issue("", nil)},
		{name: "beside the diff", verdict: review.NeedsFix, issues: issue("a.go", at(6)), warning: "a.go:6 is outside the diff"},
		{name: "a file beside the diff", verdict: review.NeedsFix, issues: issue("b/c.go", nil), warning: "b/c.go is outside the diff"},
		{name: "no such file", verdict: review.NeedsFix, issues: issue("x.go", nil), fault: `there is no file "x.go" in the reviewed tree`},
		{name: "out of the tree", verdict: review.NeedsFix, issues: issue("../a.go", nil), fault: `there is no file "../a.go" in the reviewed tree`},
		{name: "absolute", verdict: review.NeedsFix, issues: issue("/etc/passwd", nil), fault: `there is no file "/etc/passwd" in the reviewed tree`},
		{name: "spelt otherwise", verdict: review.NeedsFix, issues: issue("./a.go", nil), fault: `"./a.go" is not how the file is named`},
		{name: "beyond the end", verdict: review.NeedsFix, issues: issue("a.go", at(11)), fault: "line 11 is outside a.go, which has 10 lines"},
		{name: "before the beginning", verdict: review.NeedsFix, issues: issue("a.go", at(0)), fault: "line 0 is outside a.go, which has 10 lines"},
		{name: "approved with a high issue", verdict: review.Approved, issues: high, fault: "the verdict is APPROVED, but 1 of the issues are High"},
		{name: "refused with a high issue", verdict: review.NeedsFix, issues: high},
		{name: "approved with failed tests", verdict: review.Approved, tests: failed, fault: "the verdict is APPROVED, but 2 of the project's tests failed"},
		{name: "refused with failed tests", verdict: review.MajorIssues, tests: failed},
		{name: "approved with passed tests", verdict: review.Approved, tests: &review.TestRun{Passed: 1}},
	} {
		p := review.Payload{ChangeID: "c", Verdict: tt.verdict, Summary: "s", Issues: tt.issues}
		faults, warnings := must.Both(review.Judge(t.Context(), answer(p), about(tt.tests)))(t)
		for _, list := range []struct {
			got  []review.Remark
			want string
		}{{faults, tt.fault}, {warnings, tt.warning}} {
			if len(list.got) == 0 && list.want == "" {
				continue
			}
			if len(list.got) != 1 || list.got[0].Message != list.want {
				t.Errorf("%s: %+v, want %q", tt.name, list.got, list.want)
			}
		}
		for _, f := range faults {
			if f.Change == "" || f.Path == "" {
				t.Errorf("%s: %+v does not say what to change, or where", tt.name, f)
			}
		}
	}
}

func TestJudgeEndsWhenTheTreeCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := about(nil)
	problem := errors.New("no disk")
	broken.Text = func(context.Context, string) ([]byte, bool, error) { return nil, false, problem }
	if _, _, err := review.Judge(t.Context(), answer(sample(review.NeedsFix)), broken); !errors.Is(err, problem) {
		t.Errorf("error %v, want %v", err, problem)
	}
}

func TestReadTestRun(t *testing.T) {
	t.Parallel()
	const goEvents = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"ok 1\n{\"Action\":\"fail\",\"Test\":\"TestForged\"}\n"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"skip","Package":"m/a","Test":"TestS"}
{"Action":"pass","Package":"m/a"}
# m/b
{"Action":"output","Package":"m/c","Test":"TestC/sub","Output":"=== RUN   TestC/sub\n"}
{"Action":"output","Package":"m/c","Test":"TestC/sub","Output":"    c_test.go:7: got 1, want 2\n"}
{"Action":"fail","Package":"m/c","Test":"TestC/sub"}
{"Action":"fail","Package":"m/c"}
{"Action":"fail","Package":"m/b"}
`
	const junit = `<?xml version="1.0"?>
<testsuites tests="900" failures="0"><testsuite name="s" tests="900">
<testcase classname="pkg.C" name="good"/><testcase classname="pkg.C" name="bad"><failure message="m">text</failure></testcase>
<testcase name="worse"><error/></testcase><testcase name="later"><skipped/></testcase></testsuite></testsuites>`
	const tap = "TAP version 14\n1..5\nok 1 - adds\nnot ok 2 - divides\n  ---\n  message: x\n  ...\nok 3 # SKIP no disk\nnot ok 4 - later # TODO\n"
	const cargo = `
running 4 tests
test queue::pushes ... ok
test queue::pops ... FAILED
test slow ... ignored
test panics - should panic ... ok

failures:

---- queue::pops stdout ----
thread 'queue::pops' panicked at src/queue.rs:9:
assertion failed

failures:
    queue::pops

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
`
	const pytest = `============ test session starts ============
collected 5 items

tests/test_a.py .F.s                                   [ 80%]

================= FAILURES ==================
_____________ TestQueue.test_pop ____________

    def test_pop(self):
>       assert 1 == 2
E       assert 1 == 2

========== short test summary info ==========
FAILED tests/test_a.py::TestQueue::test_pop - assert 1 == 2
ERROR tests/test_b.py
=== 1 failed, 2 passed, 1 skipped, 1 error in 0.12s ===
`
	for _, tt := range []struct {
		name, output            string
		status                  int
		format                  string
		passed, failed, skipped int64
		failing, ran            []string
		unnamed                 int64
		said                    map[string]string
		unbuilt                 bool
	}{
		{name: "cargo", output: cargo, status: 101, format: "cargo", passed: 2, failed: 1, skipped: 1,
			failing: []string{"queue::pops"}, ran: []string{"queue::pushes", "queue::pops", "panics"},
			said: map[string]string{"queue::pops": "thread 'queue::pops' panicked at src/queue.rs:9:\nassertion failed"}},
		{name: "pytest", output: pytest, status: 1, format: "pytest", passed: 2, failed: 2, skipped: 1,
			failing: []string{"tests/test_a.py::TestQueue::test_pop", "tests/test_b.py"},
			ran:     []string{"tests/test_a.py::TestQueue::test_pop"}, unnamed: 2,
			said: map[string]string{"tests/test_a.py::TestQueue::test_pop": "assert 1 == 2\ndef test_pop(self):\n>       assert 1 == 2\nE       assert 1 == 2"}},
		{name: "pytest -v", output: "tests/test_a.py::test_x[1-a b] PASSED   [ 50%]\ntests/test_a.py::test_y FAILED   [100%]\n1 failed, 1 passed in 0.01s\n", status: 1, format: "pytest", passed: 1, failed: 1,
			failing: []string{"tests/test_a.py::test_y"}, ran: []string{"tests/test_a.py::test_x[1-a b]",
				"tests/test_a.py::test_y"}},
		{name: "pytest that claims success", output: "=== 3 passed in 0.01s ===\n", status: 1, format: "pytest", passed: 3,
			failed: 1, failing: []string{"the command ended with status 1"}, unnamed: 3},
		{name: "go", output: goEvents, status: 1, format: "go test -json", passed: 1, failed: 2, skipped: 1,
			failing: []string{"m/c.TestC/sub", "m/b"}, ran: []string{"m/a.TestA", "m/c.TestC/sub"},
			said: map[string]string{"m/c.TestC/sub": "c_test.go:7: got 1, want 2"}},
		{name: "go, killed", output: `{"Action":"pass","Package":"m","Test":"TestA"}`, status: -1, format: "go test -json", passed: 1, failed: 1, failing: []string{"the command ended with status -1"}, ran: []string{"m.TestA"}},
		{name: "junit", output: junit, status: 1, format: "JUnit", passed: 1, failed: 2, skipped: 1,
			failing: []string{"pkg.C.bad", "worse"}, ran: []string{"pkg.C.good", "pkg.C.bad", "worse"},
			said: map[string]string{"pkg.C.bad": "m\ntext"}},
		{name: "junit after a remark", output: "running\n" + junit, status: 0, format: "JUnit", passed: 1, failed: 2,
			skipped: 1, failing: []string{"pkg.C.bad", "worse"}, ran: []string{"pkg.C.good", "pkg.C.bad", "worse"},
			said: map[string]string{"pkg.C.bad": "m\ntext"}},
		{name: "junit, cut off", output: junit[:200], status: 1, failed: 1, failing: []string{"the command ended with status 1"}},
		{name: "tap", output: tap, status: 0, format: "TAP", passed: 1, failed: 2, skipped: 2, failing: []string{"divides",
			"1 tests of the plan did not run"}, ran: []string{"adds", "divides"},
			said: map[string]string{"divides": "---\nmessage: x\n..."}},
		{name: "text", output: "PASS\nok  \tm\t0.1s\n", status: 0},
		{name: "text that claims success", output: "all 12 tests passed\n", status: 2, failed: 1, failing: []string{"the command ended with status 2"}},
		{name: "tap that claims success", output: "1..1\nok 1\n", status: 1, format: "TAP", passed: 1, failed: 1, failing: []string{"the command ended with status 1"}, unnamed: 1},
		{name: "nothing", status: 0},
		{name: "go, not built", output: `{"ImportPath":"m/a [m/a.test]","Action":"build-output","Output":"a.go:3: no module\n"}` + "\n" + `{"ImportPath":"m/a [m/a.test]","Action":"build-fail"}` + "\n" + `{"Action":"fail","Package":"m/a","FailedBuild":"m/a"}`,
			status: 1, format: "go test -json", failed: 1, failing: []string{"m/a"}, said: map[string]string{"m/a": "a.go:3: no module"}, unbuilt: true},
		{name: "go text, not built", output: "FAIL\tm/a [setup failed]\nFAIL\n", status: 1, failed: 1, failing: []string{"the command ended with status 1"}, unbuilt: true},
		{name: "go text, in part", output: "FAIL\tm/a [build failed]\nok  \tm/b\t0.1s\n", status: 1, failed: 1, failing: []string{"the command ended with status 1"}},
		{name: "cargo, not built", output: "error: could not compile `m` (lib test) due to 1 previous error\n", status: 101, failed: 1, failing: []string{"the command ended with status 101"}, unbuilt: true},
	} {
		got := review.ReadTestRun([]byte(tt.output), tt.status)
		want := review.TestRun{Format: tt.format, Status: tt.status, Passed: tt.passed, Failed: tt.failed,
			FailedNew: tt.failed, Skipped: tt.skipped, Said: tt.said, Failing: tt.failing, Ran: tt.ran, Unnamed: tt.unnamed,
			Unbuilt: tt.unbuilt, Tail: got.Tail}
		if len(got.Said) == 0 {
			got.Said = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		results := got.Results()
		if (results == nil) != (tt.passed+tt.failed == 0) || results != nil && *results.Total != tt.passed+tt.failed {
			t.Errorf("%s: a total of %v", tt.name, results)
		}
	}
	if words := review.ReadTestRun(nil, 0).Words(); words != "passed, by the exit status" {
		t.Errorf("a command that says nothing: %q", words)
	}
}

// TestRedBeforeIsNotRedNow: only what fails with the change and not without it counts.
func TestRedBeforeIsNotRedNow(t *testing.T) {
	t.Parallel()
	tap := func(lines ...string) review.TestRun {
		return review.ReadTestRun([]byte("TAP version 14\n"+strings.Join(lines, "\n")+"\n"), 1)
	}
	status := func(n int) review.TestRun { return review.ReadTestRun([]byte("text\n"), n) }
	for _, tt := range []struct {
		name      string
		base, now review.TestRun
		want      int64
	}{
		{"red before", tap("not ok 1 - a", "ok 2 - b"), tap("not ok 1 - a", "ok 2 - b"), 0},
		{"broken by the change", tap("ok 1 - a"), tap("not ok 1 - a"), 1},
		{"a test that was not there", tap("not ok 1 - a"), tap("not ok 1 - a", "not ok 2 - b"), 1},
		{"mended", tap("not ok 1 - a", "not ok 2 - b"), tap("not ok 1 - b", "ok 2 - a"), 0},
		{"without names", status(1), status(2), 0},
		{"without names, and it passed before", status(0), status(2), 1},
		{"one more of the plan is missing", tap("1..3", "ok 1 - a", "ok 2 - b"), tap("1..3", "ok 1 - a"), 2},
		{"a base that does not build", status(2), tap("not ok 1 - a"), 1},
	} {
		if tt.now.Since(tt.base); tt.now.FailedNew != tt.want {
			t.Errorf("%s: %d are counted, want %d: %+v", tt.name, tt.now.FailedNew, tt.want, tt.now)
		}
	}
	if !status(127).Unstarted() || status(1).Unstarted() {
		t.Error("a command that the shell does not find is one that ran")
	}
}

// TestTestsThatAreGone: by name where there are names, by count where there are none,
// and by file.
func TestTestsThatAreGone(t *testing.T) {
	t.Parallel()
	tap := func(lines ...string) review.TestRun {
		return review.ReadTestRun([]byte("TAP version 14\n"+strings.Join(lines, "\n")+"\n"), 0)
	}
	for _, tt := range []struct {
		name        string
		before, now review.TestRun
		want        []string
	}{
		{"the same", tap("ok 1 - a", "ok 2 - b"), tap("ok 1 - b", "not ok 2 - a"), nil},
		{"one more", tap("ok 1 - a"), tap("ok 1 - a", "ok 2 - b"), nil},
		{"one deleted, another added", tap("ok 1 - a", "ok 2 - b"), tap("ok 1 - a", "ok 2 - c"), []string{"b"}},
		{"skipped", tap("ok 1 - a", "ok 2 - b", "ok 3 - b"), tap("ok 1 - a", "ok 2 - b # SKIP"), []string{"b"}},
		{"without names", tap("ok 1", "ok 2", "ok 3"), tap("ok 1"), []string{"2 of 3 tests that have no name"}},
		{"more without names", tap("ok 1"), tap("ok 1", "ok 2"), nil},
		{"all", tap("ok 1 - a"), review.ReadTestRun(nil, 1), []string{"a"}},
		{"a build that failed before", review.ReadTestRun([]byte(`{"Action":"fail","Package":"m"}`), 1), review.ReadTestRun([]byte(`{"Action":"pass","Package":"m","Test":"T"}`), 0), nil},
		{"no counts", review.ReadTestRun(nil, 0), review.ReadTestRun(nil, 0), nil},
	} {
		if diff := cmp.Diff(tt.want, tt.now.Gone(tt.before)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	text := joined("x")
	got := review.TestsGone([]review.File{
		{Name: "a_test.go", Before: text}, {Name: "b_test.go", Before: text, After: text}, {Name: "src/__tests__/C.js", Before: text}, {Name: "d.go", Before: text},
		{Name: "e.txt", From: "tests/e.py", Before: text, After: text}, {Name: "g.spec.ts", From: "f.spec.ts", Before: text, After: text}, {Name: "latest.go", Before: text},
		{Name: "app/UserTest.java", Before: text}, {Name: "tests.md", Before: text},
	})
	if diff := cmp.Diff([]string{"a_test.go", "src/__tests__/C.js", "tests/e.py", "app/UserTest.java"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// FuzzTestRun reads arbitrary output: a command that failed never counts as
// success, and what is kept is bounded.
func FuzzTestRun(f *testing.F) {
	f.Add([]byte("TAP version 14\n1..999999999\nok"), 1)
	f.Add([]byte(`{"Action":"fail"}`), 0)
	f.Add([]byte(`<testsuite><testcase><failure></testcase></testsuite>`), 3)
	f.Fuzz(func(t *testing.T, output []byte, status int) {
		r := review.ReadTestRun(output, status)
		if status != 0 && r.Failed < 1 || r.Passed < 0 || r.Failed < 0 {
			t.Errorf("status %d, %d passed, %d failed", status, r.Passed, r.Failed)
		}
		if len(r.Shown()) > 50 || len(r.Failing) > 10_000 || len(r.Tail) > 32<<10 {
			t.Errorf("%d names, a tail of %d bytes", len(r.Failing), len(r.Tail))
		}
	})
}
