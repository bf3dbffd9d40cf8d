package change_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

const (
	logPath     = "agentd/changes/c/log.jsonl"
	keptPath    = "agentd/changes/c/reviews/0001.md"
	sidecarPath = "agentd/changes/c/reviews/0001.json"
)

// approving is a review that approves although something speaks against it.
func approving(failed int64, severity review.Severity) *codec.Value {
	passed := int64(8)
	return codec.Of(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s",
		TestResults: &review.TestResults{Passed: &passed, Failed: &failed},
		Issues:      []review.Issue{{Title: "t", Severity: severity, Category: "Bug", Description: "d"}}})
}

// TestAttacks names each attack by what the attacker wants. The change is being
// implemented, and its one review says MAJOR_ISSUES.
func TestAttacks(t *testing.T) {
	approved := string(review.Format(review.Payload{ChangeID: "c", Verdict: review.Approved, Summary: "s"}, nil))
	edit := func(t *testing.T, root, name, from, to string) {
		t.Helper()
		text := read(t, root, name)
		if !strings.Contains(text, from) {
			t.Fatalf("%s has no %q", name, from)
		}
		write(t, root, name, strings.ReplaceAll(text, from, to))
	}
	remove := func(t *testing.T, root, name string) {
		t.Helper()
		must.Do(t, os.RemoveAll(filepath.Join(root, filepath.FromSlash(name))))
	}
	advanced := func(root string) error {
		_, err := change.Advance(agent, desk, root, "c")
		return err
	}
	for _, test := range []struct {
		wants  string
		attack func(t *testing.T, root string) error
		code   tidegate.Code
		naming string
	}{
		{"an approval by turning REVIEW.md around", func(t *testing.T, root string) error {
			edit(t, root, reviewPath, "MAJOR_ISSUES", "APPROVED")
			return advanced(root)
		}, tidegate.GateBlocked, "is not reviews/0001.md (MAJOR_ISSUES)"},
		{"an approval by a REVIEW.md of its own", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			return advanced(root)
		}, tidegate.GateBlocked, "REVIEW.md (APPROVED) is not reviews/0001.md"},
		{"an approval by a later review that nobody handed in", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			write(t, root, "agentd/changes/c/reviews/0002.md", approved)
			return advanced(root)
		}, tidegate.GateBlocked, "is not reviews/0001.md"},
		{"an approval by turning the kept review around", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			write(t, root, keptPath, approved)
			return advanced(root)
		}, tidegate.Tampered, "reviews/0001.md: it is not what was kept"},
		{"an approval by removing the kept review", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			remove(t, root, keptPath)
			return advanced(root)
		}, tidegate.Tampered, "reviews/0001.md: it was kept and is gone"},
		{"an approval by removing everything that was kept", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			remove(t, root, "agentd/changes/c/reviews")
			remove(t, root, logPath)
			return advanced(root)
		}, tidegate.GateBlocked, "only a person"},
		{"an approval by removing the log", func(t *testing.T, root string) error {
			write(t, root, reviewPath, approved)
			write(t, root, keptPath, approved)
			remove(t, root, logPath)
			return advanced(root)
		}, tidegate.GateBlocked, "only a person"},
		{"an approval by the folder of another change", func(t *testing.T, root string) error {
			v := payload("d", review.Approved, "s")
			create(t, root, v)
			for _, name := range []string{"REVIEW.md", "log.jsonl", "reviews/0001.md", "reviews/0001.json"} {
				write(t, root, "agentd/changes/c/"+name, read(t, root, "agentd/changes/d/"+name))
			}
			return advanced(root)
		}, tidegate.Tampered, "about another change"},
		{"an approval that a torn log forgets", func(t *testing.T, root string) error {
			remove(t, root, "agentd/changes/c/reviews")
			remove(t, root, logPath)
			create(t, root, payload("c", review.Approved, "s"))
			kept := read(t, root, reviewPath)
			create(t, root, payload("c", review.MajorIssues, "s", "one"))
			write(t, root, reviewPath, kept)
			write(t, root, logPath, strings.TrimSuffix(read(t, root, logPath), "\n"))
			return advanced(root)
		}, tidegate.Tampered, "its last line is torn"},
		{"an approval that a shortened log forgets", func(t *testing.T, root string) error {
			remove(t, root, "agentd/changes/c/reviews")
			remove(t, root, logPath)
			create(t, root, payload("c", review.Approved, "s"))
			kept, log := read(t, root, reviewPath), read(t, root, logPath)
			create(t, root, payload("c", review.MajorIssues, "s", "one"))
			write(t, root, reviewPath, kept)
			write(t, root, logPath, log)
			return advanced(root)
		}, tidegate.GateBlocked, "the last review that the log has"},
		{"a record that a foreign line covers", func(t *testing.T, root string) error {
			write(t, root, logPath, read(t, root, logPath)+`{"event":"kept","change_id":"c"}`+"\n")
			return advanced(root)
		}, tidegate.Tampered, "line 2 was written by other means"},
		{"a record that a later review covers", func(t *testing.T, root string) error {
			write(t, root, keptPath, approved)
			create(t, root, payload("c", review.Approved, "s"))
			return advanced(root)
		}, tidegate.Tampered, "reviews/0001.md"},
		{"another tree for its review", func(t *testing.T, root string) error {
			edit(t, root, sidecarPath, `"tree_digest": null`, `"tree_digest": "sha256:0"`)
			return advanced(root)
		}, tidegate.Tampered, "reviews/0001.json"},
		{"more rounds by an argument", func(t *testing.T, root string) error {
			rounds := int64(9)
			_, err := change.Start(agent, desk, root, "c", &rounds)
			return err
		}, tidegate.GateBlocked, "only a person sets how many fix rounds there may be"},
		{"more rounds by STATE.yaml", func(t *testing.T, root string) error {
			edit(t, root, statePath, "iteration: 1", "iteration: 1\nmax_rounds: 9")
			return advanced(root)
		}, tidegate.Tampered, "max_rounds 9, which a person sets"},
		{"other rounds than a person gave", func(t *testing.T, root string) error {
			limit(t, root, "c", 1)
			edit(t, root, statePath, "max_rounds: 1", "max_rounds: 9")
			return advanced(root)
		}, tidegate.Tampered, "max_rounds 9"},
		{"to accept its own failure", func(t *testing.T, root string) error {
			advance(t, root, "c")
			_, err := change.Resume(agent, desk, root, "c", true, "it is fine")
			return err
		}, tidegate.GateBlocked, "only a person resumes a change"},
		{"to forge a person's acceptance", func(t *testing.T, root string) error {
			advance(t, root, "c")
			write(t, root, logPath, read(t, root, logPath)+`{"event":"accepted","change_id":"c","actor":"person","phase":"implementing","needs_person":""}`+"\n")
			return advanced(root)
		}, tidegate.Tampered, "written by other means"},
	} {
		t.Run(test.wants, func(t *testing.T) {
			root := project(t, map[string]string{statePath: realState})
			create(t, root, payload("c", review.MajorIssues, "s", "one"))
			refused(t, test.attack(t, root), test.code, test.naming)
			if text := read(t, root, statePath); !strings.Contains(text, "phase: implementing") {
				t.Errorf("STATE.yaml:\n%s", text)
			}
		})
	}
}

// TestDoubtfulApprovals are reviews that say APPROVED and do not complete a
// change.
func TestDoubtfulApprovals(t *testing.T) {
	for _, test := range []struct {
		wants   string
		payload *codec.Value
		reason  string
	}{
		{"to complete with a High issue", approving(0, review.High), "the review approves, but it names 1 issue of severity High"},
		{"to complete with failed tests", approving(2, review.Low), "the review approves, but 2 tests failed"},
		{"to complete with both", approving(1, review.High), "the review approves, but it names 1 issue of severity High, and 1 test failed"},
		{"to complete with a count that cannot be", approving(-3, review.Low), "the review approves, but -3 tests failed"},
		{"to complete with tests that are left out", func() *codec.Value {
			v := payload("c", review.Approved, "s")
			v.Set("test_results", codec.Of(map[string]int{"passed": 3, "total": 5}))
			return v
		}(), "the review approves, but 2 tests failed"},
	} {
		for _, after := range []review.Verdict{"", review.MajorIssues, review.NeedsFix} {
			t.Run(test.wants+" after "+after.String(), func(t *testing.T) {
				root := project(t, map[string]string{statePath: realState})
				want := test.reason
				if after != "" {
					create(t, root, payload("c", after, "s", "one"))
					advance(t, root, "c")
				}
				if after == review.MajorIssues {
					want = "the review found major issues"
				}
				create(t, root, test.payload)
				for range 2 {
					got := advance(t, root, "c")
					if got.Phase != "implementing" || got.NeedsPerson != want || got.Verdict != "APPROVED" {
						t.Fatalf("got %+v, want a person for %q", got, want)
					}
				}
				if text := read(t, root, statePath); !strings.Contains(text, "needs_person: ") {
					t.Errorf("STATE.yaml:\n%s", text)
				}
				if got := accept(t, root, "c"); got.Phase != "complete" || got.Verdict != "APPROVED" || got.Reason != "I looked at it" {
					t.Errorf("a person accepts: %+v", got)
				}
				if got := advance(t, root, "c"); got.Changed || got.Phase != "complete" {
					t.Errorf("afterwards: %+v", got)
				}
			})
		}
	}
	t.Run("no doubt", func(t *testing.T) {
		root := project(t, map[string]string{statePath: realState})
		create(t, root, approving(0, review.Medium))
		if got := advance(t, root, "c"); got.Phase != "complete" {
			t.Errorf("got %+v", got)
		}
	})
}

// A change that needs a person needs one until a person decides, whatever
// STATE.yaml says.
func TestStateDoesNotTakeTheNeedOfAPersonBack(t *testing.T) {
	for name, edit := range map[string]func(text string) string{
		"the line is removed": func(text string) string {
			return strings.ReplaceAll(text, "needs_person: the review found major issues\n", "")
		},
		"the line is emptied": func(text string) string {
			return strings.ReplaceAll(text, "needs_person: the review found major issues", "needs_person: null")
		},
		"the review is counted as one that a person accepted": func(text string) string {
			return strings.ReplaceAll(text, "needs_person: the review found major issues\n", "counted_review: 1 KEPT\n")
		},
		"the change is planned once more": func(text string) string {
			return strings.NewReplacer("needs_person: the review found major issues\n", "", "phase: implementing", "phase: planned").Replace(text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t, map[string]string{statePath: realState})
			create(t, root, payload("c", review.MajorIssues, "s", "one"))
			advance(t, root, "c")
			text := read(t, root, statePath)
			if edit(text) == text {
				t.Fatalf("STATE.yaml has nothing to edit:\n%s", text)
			}
			write(t, root, statePath, strings.ReplaceAll(edit(text), "KEPT", codec.DigestBytes([]byte(read(t, root, keptPath)))))
			must.Get(change.Start(agent, desk, root, "c", nil))(t)
			create(t, root, payload("c", review.Approved, "s"))
			if got := advance(t, root, "c"); got.NeedsPerson != "the review found major issues" || got.Phase != "implementing" {
				t.Errorf("got %+v", got)
			}
			if text := read(t, root, statePath); !strings.Contains(text, "needs_person: the review found major issues") {
				t.Errorf("STATE.yaml:\n%s", text)
			}
		})
	}
}

// The rounds that were used stay used.
func TestStateDoesNotGiveRoundsBack(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	for round := range 3 {
		create(t, root, payload("c", review.NeedsFix, "s", "one"))
		// As if no round had begun yet, or one for this review.
		text := regexp.MustCompile(`iteration: \d`).ReplaceAllString(read(t, root, statePath), "iteration: 1")
		write(t, root, statePath, text)
		counted := fmt.Sprintf("counted_review: %d %s\n", round+1, codec.DigestBytes([]byte(read(t, root, reviewPath))))
		write(t, root, statePath, regexp.MustCompile(`(?m)^counted_review: .*\n`).ReplaceAllString(text, "")+counted)
		got := advance(t, root, "c")
		if person := round == 2; (got.NeedsPerson != "") != person || got.Iteration != min(int64(round)+2, 3) {
			t.Errorf("round %d: %+v", round+1, got)
		}
	}
}

func TestALaterReviewReopensACompleteChange(t *testing.T) {
	for _, test := range []struct {
		verdict     review.Verdict
		phase       string
		iteration   int64
		needsPerson string
	}{
		{review.NeedsFix, "implementing", 2, ""},
		{review.MajorIssues, "implementing", 1, "the review found major issues"},
		{review.Approved, "complete", 1, ""},
	} {
		for _, written := range []string{"complete", "implemented"} {
			root := project(t, map[string]string{statePath: realState})
			create(t, root, payload("c", review.Approved, "s"))
			advance(t, root, "c")
			write(t, root, statePath, strings.Replace(read(t, root, statePath), "phase: complete", "phase: "+written, 1))
			create(t, root, payload("c", test.verdict, "later", "one"))
			before := read(t, root, statePath)
			got := advance(t, root, "c")
			if got.From != "complete" || got.Phase != test.phase || got.Iteration != test.iteration || got.NeedsPerson != test.needsPerson {
				t.Errorf("%s after %s: %+v", test.verdict, written, got)
			}
			if wrote := before != read(t, root, statePath); wrote != (test.phase != "complete") || wrote != got.Changed {
				t.Errorf("%s after %s: STATE.yaml was written: %v, and the answer says %v", test.verdict, written, wrote, got.Changed)
			}
		}
	}
}

// A change that was completed by an edit of STATE.yaml, against its review, is
// opened again.
func TestStateCannotCompleteAgainstTheReview(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	create(t, root, payload("c", review.MajorIssues, "s", "one"))
	write(t, root, statePath, strings.Replace(realState, "implementing", "complete", 1))
	status, err := change.StatusOf(t.Context(), desk, root, "c")
	if err != nil || status.Next != "tidegate change advance c" || !slices.Contains(status.Review.Problems, "STATE.yaml says complete, but the log of the change does not") {
		t.Errorf("status %+v, error %v", status, err)
	}
	if got := advance(t, root, "c"); got.Phase != "implementing" || got.NeedsPerson == "" {
		t.Errorf("got %+v", got)
	}
}

// TestEveryEditOfTheRecordIsFound tries every byte of what was kept, and every
// line of the log that another line covers.
func TestEveryEditOfTheRecordIsFound(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	advance(t, root, "c")
	create(t, root, payload("c", review.Approved, "s"))
	create(t, root, payload("c", review.NeedsFix, "s", "two"))
	step := 17
	if full.Asked() {
		step = 1
	}
	found := func(what string) {
		t.Helper()
		if _, err := change.Advance(person, desk, root, "c"); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Errorf("%s: got error %v, want TAMPERED", what, err)
		}
	}
	for _, name := range []string{keptPath, sidecarPath, "agentd/changes/c/reviews/0002.md", "agentd/changes/c/reviews/0003.json"} {
		text := read(t, root, name)
		for i := 0; i < len(text); i += step {
			changed := []byte(text)
			changed[i] ^= 1
			write(t, root, name, string(changed))
			found(name + " with another byte")
		}
		write(t, root, name, text[1:])
		found(name + " without its first byte")
		write(t, root, name, text+"\n")
		found(name + " with a byte more")
		write(t, root, name, text)
	}
	log := read(t, root, logPath)
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	covered := len(log) - len(lines[len(lines)-1]) - 1
	for i := 0; i < covered; i += step {
		changed := []byte(log)
		changed[i] ^= 1
		write(t, root, logPath, string(changed))
		found("log with another byte")
	}
	for i := range lines[:len(lines)-1] {
		write(t, root, logPath, strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")+"\n")
		found("log without a line")
		write(t, root, logPath, strings.Join(slices.Insert(slices.Clone(lines), i, lines[i]), "")+"\n")
		found("log with a line twice")
		swapped := slices.Clone(lines)
		swapped[i], swapped[i+1] = strings.TrimSuffix(lines[i+1], "\n")+"\n", lines[i]
		write(t, root, logPath, strings.Join(swapped, ""))
		found("log with two lines swapped")
	}
	write(t, root, logPath, log)
	if _, err := change.Advance(person, desk, root, "c"); err != nil {
		t.Errorf("the record as it was written: %v", err)
	}
}

func TestAPersonAcceptsARecordAsItIs(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	create(t, root, payload("c", review.Approved, "s"))
	write(t, root, keptPath, "## Verdict\n\nAPPROVED\n")
	must.Do(t, os.Remove(filepath.Join(root, filepath.FromSlash("agentd/changes/c/reviews/0002.json"))))
	if got := accept(t, root, "c"); got.Phase != "implementing" || got.Verdict != "" || got.Message != "the record of the change is accepted as it is" {
		t.Errorf("got %+v", got)
	}
	// The second review, of which a part is missing, is no longer kept; a person
	// accepted the first, and REVIEW.md is not that one.
	_, err := change.Advance(agent, desk, root, "c")
	refused(t, err, tidegate.GateBlocked, "is not reviews/0001.md (APPROVED)")
	create(t, root, payload("c", review.Approved, "s"))
	if got := advance(t, root, "c"); got.Phase != "complete" {
		t.Errorf("after another review: %+v", got)
	}
	before := tree(t, root)
	if got, err := change.Resume(person, desk, root, "c", true, "again"); err != nil || got.Changed || got.Message != "change c needs no person" {
		t.Errorf("resumed once more: %+v, error %v", got, err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestResumeIsRefused(t *testing.T) {
	root := project(t, map[string]string{statePath: realState})
	create(t, root, payload("c", review.MajorIssues, "s", "one"))
	before := tree(t, root)
	for _, test := range []struct {
		name   string
		id     string
		accept bool
		reason string
		code   tidegate.Code
		naming string
	}{
		{"without accept", "c", false, "why", tidegate.InvalidArgs, "accept must be given"},
		{"without a reason", "c", true, " \n", tidegate.InvalidArgs, "reason must say why"},
		{"with a reason that is too long", "c", true, strings.Repeat("é", 4097), tidegate.InvalidArgs, "at most 4096"},
		{"of a bad id", "../c", true, "why", tidegate.InvalidArgs, "change_id"},
		{"of no change", "absent", true, "why", tidegate.FileNotFound, "absent"},
	} {
		_, err := change.Resume(person, desk, root, test.id, test.accept, test.reason)
		if tidegate.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.naming) {
			t.Errorf("%s: got %v, want %s naming %q", test.name, err, test.code, test.naming)
		}
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// A log that cannot be written to does not prevent a review from being written,
// but none of those reviews decides.
func TestAReviewIsWrittenWithoutALog(t *testing.T) {
	root := project(t, map[string]string{statePath: realState, logPath + "/x": "a folder in place of the log"})
	create(t, root, payload("c", review.NeedsFix, "s", "one"))
	create(t, root, payload("c", review.Approved, "s"))
	if got := read(t, root, "agentd/changes/c/reviews/0002.md"); got != read(t, root, reviewPath) || !strings.HasPrefix(got, "# Verdict: APPROVED\n") {
		t.Errorf("REVIEW.md is not the second review:\n%s", got)
	}
	if _, err := change.Advance(agent, desk, root, "c"); tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("got error %v, want READ_FAILED", err)
	}
	must.Do(t, os.RemoveAll(filepath.Join(root, filepath.FromSlash(logPath))))
	_, err := change.Advance(agent, desk, root, "c")
	refused(t, err, tidegate.GateBlocked, "only a person")
}

// Every line of the log says what was done and on whose authority, in the chain
// that a run's log has.
func TestTheLogOfAChange(t *testing.T) {
	root := project(t, map[string]string{reviewPath: "## Verdict\n\nAPPROVED\n"})
	pinned := run.Desk{Now: now, Pinned: true}
	rounds := int64(1)
	_, err := change.Start(person, pinned, root, "c", &rounds)
	if err == nil {
		_, err = change.CreateReview(agent, pinned, root, payload("c", review.MajorIssues, "s", "one"), false)
	}
	if err == nil {
		_, err = change.Advance(agent, pinned, root, "c")
	}
	if err == nil {
		_, err = change.Resume(person, pinned, root, "c", true, "so be it")
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range bytes.Lines([]byte(read(t, root, logPath))) {
		v := must.Get(codec.Parse(bytes.TrimSpace(line)))(t)
		var keys []string
		for _, m := range v.Members() {
			keys = append(keys, m.Key)
		}
		if v.Get("ts").Str() != "2026-02-14T12:00:00.000Z" || v.Get("change_id").Str() != "c" || v.Get("clock").Str() != "pinned" {
			t.Errorf("line %s", line)
		}
		seq, _ := v.Get("seq").Int()
		if seq != int64(len(got)+1) {
			t.Errorf("line %d has seq %d", len(got)+1, seq)
		}
		got = append(got, v.Get("actor").Str()+" "+v.Get("kind").Str()+" "+v.Get("event").Str()+": "+strings.Join(keys[6:], " "))
	}
	want := []string{
		"person change_start limit: review verdict from phase iteration needs_person cause state_digest max_rounds decision clock prev",
		"agent create_review found: review digests clock prev",
		"agent create_review kept: review verdict digests tree_digest commit clock prev",
		"agent change_advance needs_person: review verdict from phase iteration needs_person cause state_digest clock prev",
		"person change_resume accepted: review verdict from phase iteration needs_person cause state_digest decision clock prev",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if decision := `"decision":{"change_id":"c","decision":"change_resume","reason":"so be it","review":2,"head":"sha256:`; !strings.Contains(read(t, root, logPath), decision) {
		t.Errorf("the log has no %s:\n%s", decision, read(t, root, logPath))
	}
}
