package change_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/review"
)

const (
	statePath  = "agentd/changes/c/STATE.yaml"
	reviewPath = "agentd/changes/c/REVIEW.md"
)

const realState = `# by hand
change_id: c
schema_version: '2.0'
created_at: 2026-01-27T09:13:52.123456Z
phase: implementing # work
iteration: 1
session_id: null
checksums:
  proposal.md: {hash: 'sha256:test',   validated_at: null}
validations: []
`

func TestApprovedCompletesTheChange(t *testing.T) {
	for _, phase := range []string{"implementing", "testing", "code_reviewing"} {
		root := project(t, map[string]string{statePath: strings.Replace(realState, "implementing", phase, 1)})
		create(t, root, payload("c", review.Approved, "s"))
		got := advance(t, root, "c")
		if got.From != phase || got.Phase != "complete" || got.Verdict != "APPROVED" || !got.Changed || !got.Passed() || got.Iteration != 1 {
			t.Errorf("from %s: %+v", phase, got)
		}
		if diff := cmp.Diff(strings.Replace(realState, "implementing", "complete", 1), read(t, root, statePath)); diff != "" {
			t.Errorf("STATE.yaml (-want +got):\n%s", diff)
		}
	}
}

func TestACompleteChangeStaysAsItIs(t *testing.T) {
	for _, phase := range []string{"complete", "implemented"} {
		root := project(t, map[string]string{statePath: "phase: " + phase + "\n"})
		got := advance(t, root, "c")
		if got.Phase != "complete" || got.Changed || !got.Passed() {
			t.Errorf("%s: %+v", phase, got)
		}
		if text := read(t, root, statePath); text != "phase: "+phase+"\n" {
			t.Errorf("%s: STATE.yaml is now %q", phase, text)
		}
	}
}

func TestAFileThatCountsFromZeroGetsNoRoundMore(t *testing.T) {
	root := project(t, map[string]string{statePath: "phase: implementing\niteration: 0\n"})
	limit(t, root, "c", 1)
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	if got := advance(t, root, "c"); got.Iteration != 2 || got.Message != "needs fixes: round 1 of 1" {
		t.Errorf("first round: %+v", got)
	}
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	if got := advance(t, root, "c"); got.NeedsPerson == "" || got.Iteration != 2 {
		t.Errorf("beyond the limit: %+v", got)
	}
}

func TestFixRoundsEndWithAPerson(t *testing.T) {
	root := project(t, map[string]string{statePath: "phase: code_reviewing\nlast_action: null\nupdated_at: 2026-01-01T00:00:00Z\n"})
	fix := func(n int) { create(t, root, payload("c", review.NeedsFix, strings.Repeat("s", n), "one")) }
	expect := func(name string, iteration int64, person, changed bool) {
		t.Helper()
		got := advance(t, root, "c")
		if got.Iteration != iteration || (got.NeedsPerson != "") != person || got.Changed != changed || got.Phase != "implementing" || got.Passed() {
			t.Errorf("%s: %+v, want iteration %d, person %v, changed %v", name, got, iteration, person, changed)
		}
		status, err := change.StatusOf(t.Context(), desk, root, "c")
		if err != nil || status.Iteration != iteration || status.NeedsPerson != got.NeedsPerson {
			t.Errorf("%s: status %+v, error %v", name, status, err)
		}
	}
	fix(1)
	expect("first round", 2, false, true)
	expect("the same review again", 2, false, false)
	expect("the same review a third time", 2, false, false)
	fix(1) // the same words once more are another review
	expect("second round", 3, false, true)
	fix(2)
	expect("at the limit", 3, true, true)
	expect("at the limit again", 3, true, false)
	fix(2)
	expect("at the limit with another review", 3, true, false)
	limit(t, root, "c", 3)
	expect("with a higher limit", 4, false, true)
	expect("counted at the higher limit", 4, false, false)
	fix(3)
	expect("at the higher limit", 4, true, true)
	accept(t, root, "c")
	expect("a person granted one more", 5, false, false)
	fix(4)
	expect("and no more than one", 5, true, true)
	accept(t, root, "c")

	create(t, root, payload("c", review.MajorIssues, "s", "one"))
	expect("major issues", 6, true, true)
	limit(t, root, "c", 100)
	expect("a higher limit does not lead past major issues", 6, true, false)
	create(t, root, payload("c", review.Approved, "s"))
	expect("nor does a review that approves", 6, true, false)
	create(t, root, payload("c", review.MajorIssues, "s", "one"))
	accept(t, root, "c")
	expect("a person let it go on", 6, false, false)
	fix(5)
	expect("the worst is fixed", 7, false, true)

	create(t, root, payload("c", review.Approved, "s"))
	if got := advance(t, root, "c"); got.Phase != "complete" || got.NeedsPerson != "" {
		t.Errorf("approved at last: %+v", got)
	}
	text := read(t, root, statePath)
	if !strings.HasPrefix(text, "phase: complete\n") || strings.Contains(text, "needs_person") ||
		!strings.Contains(text, "last_action: review-approved\nupdated_at: 2026-02-14T12:00:00.000Z\n") {
		t.Errorf("STATE.yaml:\n%s", text)
	}
}

// accept lets a person accept what keeps a change from going on.
func accept(t *testing.T, root, id string) change.Resumed {
	t.Helper()
	resumed := must.Get(change.Resume(person, desk, root, id, true, "I looked at it"))(t)
	return resumed
}

func TestAStaleReviewDoesNotTakeAPhaseBack(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	advance(t, root, "c")
	before := strings.Replace(read(t, root, statePath), "phase: implementing", "phase: testing", 1)
	write(t, root, statePath, before)
	if got := advance(t, root, "c"); got.Phase != "testing" || got.Changed {
		t.Errorf("got %+v", got)
	}
	if diff := cmp.Diff(before, read(t, root, statePath)); diff != "" {
		t.Errorf("STATE.yaml (-want +got):\n%s", diff)
	}
}

func TestAPersonAdvancesByAHandWrittenReview(t *testing.T) {
	root := project(t, map[string]string{statePath: realState, reviewPath: "## Verdict\n\nNEEDS_CHANGES\n"})
	move := func(want, phase string, iteration int64) {
		t.Helper()
		got, err := change.Advance(person, desk, root, "c")
		if err != nil || got.Verdict != want || got.Phase != phase || got.Iteration != iteration {
			t.Errorf("got %+v, error %v; want %s, %s, iteration %d", got, err, want, phase, iteration)
		}
	}
	before := tree(t, root)
	_, err := change.Advance(agent, desk, root, "c")
	refused(t, err, tidegate.GateBlocked, "only a person")
	after := tree(t, root)
	delete(after, filepath.Join("agentd", "changes", "c", ".tidegate.lock"))
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	move("NEEDS_FIX", "implementing", 2)
	move("NEEDS_FIX", "implementing", 2)
	write(t, root, reviewPath, "## Verdict\n\n- [x] MAJOR_ISSUES - no\n")
	move("MAJOR_ISSUES", "implementing", 2)
	write(t, root, reviewPath, "## Verdict\n\n- [x] APPROVED - fine\n")
	move("APPROVED", "complete", 2)
}

func TestRefusedAdvances(t *testing.T) {
	approved := string(review.Format(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}, nil))
	for _, test := range []struct {
		name          string
		state, review string
		code          tidegate.Code
		naming        string
	}{
		{"no STATE.yaml", "", approved, tidegate.FileNotFound, "STATE.yaml"},
		{"no REVIEW.md", realState, "", tidegate.FileNotFound, "REVIEW.md"},
		{"planned", "phase: planned\n", approved, tidegate.GateBlocked, "planned"},
		{"by its old name", "phase: challenged\n", approved, tidegate.GateBlocked, "challenged"},
		{"drafting", "phase: proposed\n", approved, tidegate.GateBlocked, "proposed"},
		{"archived", "phase: archived\n", approved, tidegate.GateBlocked, "archived"},
		{"rejected", "phase: rejected\n", "", tidegate.GateBlocked, "rejected"},
		{"no phase that is known", "phase: changes_requested\n", approved, tidegate.SchemaValidationFailed, "phase"},
		{"untouched skeleton", realState, "## Verdict\n- [ ] APPROVED\n- [ ] NEEDS_CHANGES\n", tidegate.GateBlocked, "no clear verdict"},
		{"contradictory", realState, "## Verdict\nAPPROVED\n## Verdict\nMAJOR_ISSUES\n", tidegate.GateBlocked, "contradictory"},
		{"Agentd reads something else", realState, "it says [x] approved\n\n## Verdict\nMAJOR_ISSUES\n", tidegate.GateBlocked, "Agentd reads APPROVED"},
		{"Agentd reads nothing", realState, "# Verdict: APPROVED\n", tidegate.GateBlocked, "Agentd reads UNKNOWN"},
		{"not UTF-8", realState, "## Verdict\nAPPROVED\n\xff", tidegate.GateBlocked, "UTF-8"},
		{"review of another change", realState, strings.Replace(approved, "`c`", "`d`", 1), tidegate.GateBlocked, "change d"},
		{"state that cannot be changed in place", "phase: &a implementing\nb: *a\n", approved, tidegate.InvalidState, "phase"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"agentd/changes/c/proposal.md": "x"}
			if test.state != "" {
				files[statePath] = test.state
			}
			if test.review != "" {
				files[reviewPath] = test.review
			}
			root := project(t, files)
			_, err := change.Advance(person, desk, root, "c")
			refused(t, err, test.code, test.naming)
			if test.code == tidegate.GateBlocked {
				if _, ok := tidegate.AsError(err).Details.Get("allowed"); !ok {
					t.Errorf("details %v do not say what is allowed", tidegate.AsError(err).Details)
				}
			}
			after := tree(t, root)
			for name, text := range files {
				if after[name] != text {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
	_, err := change.Advance(agent, desk, t.TempDir(), "c")
	refused(t, err, tidegate.FileNotFound, "agentd")
}

func TestStart(t *testing.T) {
	for _, test := range []struct {
		name, state string
		from        string
		changed     bool
		code        tidegate.Code
	}{
		{"planned", "phase: planned # x\n", "planned", true, ""},
		{"by its old name", "phase: challenged # x\n", "planned", true, ""},
		{"implementing", "phase: implementing # x\n", "implementing", false, ""},
		{"testing", "phase: testing # x\n", "testing", false, ""},
		{"drafting", "phase: proposed\n", "", false, tidegate.GateBlocked},
		{"complete", "phase: complete\n", "", false, tidegate.GateBlocked},
		{"archived", "phase: archived\n", "", false, tidegate.GateBlocked},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := project(t, map[string]string{statePath: test.state})
			got, err := change.Start(agent, desk, root, "c", nil)
			if tidegate.CodeOf(err) != test.code {
				t.Fatalf("got error %v, want %q", err, test.code)
			}
			if test.code != "" {
				if allowed, _ := tidegate.AsError(err).Details.Get("allowed"); cmp.Diff(any([]string{"planned"}), allowed) != "" {
					t.Errorf("allowed is %v, want planned", allowed)
				}
				return
			}
			if got.From != test.from || got.Changed != test.changed {
				t.Errorf("got %+v", got)
			}
			want := test.state
			if test.changed {
				want = "phase: implementing # x\n"
			}
			if text := read(t, root, statePath); text != want {
				t.Errorf("STATE.yaml %q, want %q", text, want)
			}
		})
	}
}

func TestStartMakesWhatIsMissing(t *testing.T) {
	root := t.TempDir()
	got, err := change.Start(agent, desk, root, "c", nil)
	if err != nil || !got.Changed || got.Phase != "implementing" || len(got.Warnings) != 1 {
		t.Fatalf("got %+v, error %v", got, err)
	}
	want := "change_id: c\nschema_version: '2.0'\ncreated_at: 2026-02-14T12:00:00.000Z\nupdated_at: 2026-02-14T12:00:00.000Z\nphase: implementing\niteration: 1\nlast_action: change-started\n"
	if diff := cmp.Diff(want, read(t, root, statePath)); diff != "" {
		t.Errorf("STATE.yaml (-want +got):\n%s", diff)
	}
	create(t, root, payload("c", review.Approved, "s"))
	if got := advance(t, root, "c"); got.Phase != "complete" {
		t.Errorf("advanced: %+v", got)
	}
}

func TestStatusSaysWhatMovesTheChangeOn(t *testing.T) {
	root := project(t, map[string]string{"agentd/changes/c/STATE.yaml": "phase: implementing\n"})
	next := func(want string) {
		t.Helper()
		status, err := change.StatusOf(t.Context(), desk, root, "c")
		if err != nil || status.Next != want {
			t.Errorf("next %q, want %q (%v)", status.Next, want, err)
		}
	}
	next("tidegate review create PAYLOAD")
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	next("tidegate change advance c")
	advance(t, root, "c")
	next("fix what the review found; then tidegate review create PAYLOAD")
	create(t, root, payload("c", review.Approved, "s"))
	next("tidegate change advance c")
	advance(t, root, "c")
	next("merge the change")
}

func TestStatusAndList(t *testing.T) {
	root := project(t, map[string]string{
		"agentd/changes/broken/STATE.yaml":     "phase: [\n",
		"agentd/changes/c/STATE.yaml":          "phase: challenged\niteration: 4\nlast_action: validate-proposal\n",
		"agentd/changes/empty/proposal.md":     "x",
		"agentd/changes/notes.txt":             "x",
		"agentd/changes/.hidden/STATE.yaml":    "phase: planned\n",
		"agentd/changes/d/STATE.yaml":          "phase: implementing\nneeds_person: why\n",
		"agentd/changes/d/REVIEW.md":           "## Verdict\nMAJOR_ISSUES\n",
		"agentd/archive/20260101-e/STATE.yaml": "phase: archived\n",
	})
	status, err := change.StatusOf(t.Context(), desk, root, "c")
	if err != nil {
		t.Fatal(err)
	}
	if status.Phase != "planned" || status.PhaseInFile != "challenged" || status.Iteration != 4 || status.Review != nil || status.Next != "tidegate change start c" {
		t.Errorf("status %+v", status)
	}
	list := must.Get(change.All(desk, root))(t)
	var got []string
	for _, c := range list.Changes {
		line := c.ChangeID + " " + c.Phase + " " + c.Verdict + " " + c.NeedsPerson
		if c.Problem != "" {
			line += " (problem)"
		}
		got = append(got, line)
	}
	want := []string{"broken    (problem)", "c planned  ", "d implementing MAJOR_ISSUES why", "empty    (problem)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if list, err := change.All(desk, t.TempDir()); err != nil || list.Changes == nil || len(list.Changes) != 0 {
		t.Errorf("a project without changes: %+v, error %v", list, err)
	}
	_, err = change.StatusOf(t.Context(), desk, root, "empty")
	refused(t, err, tidegate.FileNotFound, "STATE.yaml")
	_, err = change.StatusOf(t.Context(), desk, root, "absent")
	refused(t, err, tidegate.FileNotFound, "absent")
}
