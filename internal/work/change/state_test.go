package change

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func TestParseState(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       state
	}{
		{"smallest", "change_id: c\nphase: planned\n", state{phase: Planned, written: "planned", iteration: 1}},
		{"old name of drafting", "phase: proposed\n", state{phase: Drafting, written: "proposed", iteration: 1}},
		{"old name of planned", "phase: challenged\n", state{phase: Planned, written: "challenged", iteration: 1}},
		{"new name of complete", "phase: implemented\n", state{phase: Complete, written: "implemented", iteration: 1}},
		{"complete", "phase: complete\n", state{phase: Complete, written: "complete", iteration: 1}},
		{"nulls", "phase: testing\niteration: null\nlast_action: ~\nupdated_at:\n", state{phase: Testing, written: "testing", iteration: 1}},
		{"quotes", "'phase': \"testing\"\niteration: 4\nneeds_person: 'why: so'\n", state{phase: Testing, written: "testing", iteration: 4, needsPerson: "why: so"}},
		{"unknown keys", "phase: testing\ntelemetry: {calls: [1]}\nchecksums:\n  a: {hash: x}\n", state{phase: Testing, written: "testing", iteration: 1}},
		{"alias", "x: &p testing\nphase: *p\n", state{phase: Testing, written: "testing", iteration: 1}},
		{"one document with its marks", "%YAML 1.1\n---\nphase: testing\n...\n", state{phase: Testing, written: "testing", iteration: 1}},
		{"times", "phase: testing\nupdated_at: 2026-01-27T09:13:52.123456Z\n", state{phase: Testing, written: "testing", iteration: 1, updatedAt: "2026-01-27T09:13:52.123456Z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must.Get(parseState("STATE.yaml", []byte(test.text)))(t)
			got.doc = nil
			if diff := cmp.Diff(test.want, *got, cmp.AllowUnexported(state{})); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
	for _, phase := range Phases {
		if _, err := parseState("STATE.yaml", []byte("phase: "+phase)); err != nil {
			t.Errorf("phase %s: %v", phase, err)
		}
	}
}

func TestStatesThatCannotBeUnderstood(t *testing.T) {
	for _, test := range []struct{ name, text, path string }{
		{"empty", "", "$"},
		{"list", "- a\n", "$"},
		{"text", "phase", "$"},
		{"not YAML", "phase: [\n", "$"},
		{"not UTF-8", "phase: \xff\n", "$"},
		{"key twice", "phase: planned\nphase: complete\n", "$"},
		{"two documents", "phase: planned\n---\nphase: complete\n", "$"},
		{"no phase", "change_id: c\n", "$.phase"},
		{"unknown phase", "phase: changes_requested\n", "$.phase"},
		{"phase is a list", "phase: [planned]\n", "$.phase"},
		{"iteration is a word", "phase: planned\niteration: two\n", "$.iteration"},
		{"iteration below 0", "phase: planned\niteration: -1\n", "$.iteration"},
		{"iteration too large", "phase: planned\niteration: 99999999999\n", "$.iteration"},
		{"iteration in quotes", "phase: planned\niteration: '1'\n", "$.iteration"},
		{"reason is a map", "phase: planned\nneeds_person: {a: b}\n", "$.needs_person"},
	} {
		_, err := parseState("STATE.yaml", []byte(test.text))
		if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
			t.Errorf("%s: got error %v, want SCHEMA_VALIDATION_FAILED", test.name, err)
			continue
		}
		if path, _ := tidegate.AsError(err).Details.Get("path"); path != test.path {
			t.Errorf("%s: path %v, want %s", test.name, path, test.path)
		}
	}
}

func TestEditsTouchOnlyTheirLines(t *testing.T) {
	round := []edit{{key: keyPhase, value: Implementing}, {key: keyIteration, value: "2", bare: true}}
	person := []edit{{key: keyNeedsPerson, value: "it's: \"so\" # really"}}
	for _, test := range []struct {
		name, before, after string
		edits               []edit
	}{
		{"plain values with comments", "# head\nchange_id: c # id\nphase:   testing   # now\n\niteration: 1 # count\nmore: [a,   b]\n",
			"# head\nchange_id: c # id\nphase:   implementing   # now\n\niteration: 2 # count\nmore: [a,   b]\n", round},
		{"quoted values", "phase: 'testing' # it's\n\"iteration\": 1\n", "phase: implementing # it's\n\"iteration\": 2\n", round},
		{"double quotes", "phase: \"testing\"\niteration: 1\n", "phase: implementing\niteration: 2\n", round},
		{"missing iteration", "phase: testing\nafter: x\n", "phase: implementing\niteration: 2\nafter: x\n", round},
		{"no final newline", "phase: testing", "phase: implementing\niteration: 2", round},
		{"CRLF", "phase: testing\r\nafter: x\r\n", "phase: implementing\r\niteration: 2\r\nafter: x\r\n", round},
		{"byte-order mark", "\ufeffphase: testing\niteration: 1\n", "\ufeffphase: implementing\niteration: 2\n", round},
		{"document marks", "---\nphase: testing\n...\n", "---\nphase: implementing\niteration: 2\n...\n", round},
		{"indented mapping", "  phase: testing\n  after: x\n", "  phase: implementing\n  iteration: 2\n  after: x\n", round},
		{"empty value", "phase: testing\niteration: # none yet\n", "phase: implementing\niteration: 2 # none yet\n", round},
		{"null", "phase: testing\niteration: null\n", "phase: implementing\niteration: 2\n", round},
		{"characters of several bytes", "é: 漢字 # 漢\nphase: testing # 字\niteration: 1\n", "é: 漢字 # 漢\nphase: implementing # 字\niteration: 2\n", round},
		{"times and actions follow where they are", "phase: testing\niteration: 1\nupdated_at: 2026-01-01T00:00:00Z\nlast_action: null\n",
			"phase: implementing\niteration: 2\nupdated_at: 2026-02-14T12:00:00.000Z\nlast_action: review-needs-fix\n", round},
		{"a reason is quoted", "phase: testing\nx: 1\n", "phase: testing\nneeds_person: 'it''s: \"so\" # really'\nx: 1\n", person},
		{"a reason replaces another", "phase: testing\nneeds_person: 'old' # k\n", "phase: testing\nneeds_person: 'it''s: \"so\" # really' # k\n", person},
		{"a reason goes", "phase: testing\n# why\nneeds_person: old\nx: 1\n", "phase: testing\n# why\nx: 1\n", []edit{{key: keyNeedsPerson, remove: true}}},
		{"a long reason goes", "needs_person: |\n  old\n  older\nphase: testing\n", "phase: testing\n", []edit{{key: keyNeedsPerson, remove: true}}},
		{"a last reason goes", "phase: testing\nneeds_person: >\n  old\n  older", "phase: testing\n", []edit{{key: keyNeedsPerson, remove: true}}},
		{"flow style", "{phase: testing, iteration: 1, x: [1, 2]}\n", "{phase: implementing, iteration: 2, x: [1, 2]}\n", round},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := must.Get(parseState("STATE.yaml", []byte(test.before)))(t)
			got := must.Get(s.edited("STATE.yaml", actionNeedsFix, noon, test.edits))(t)
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditsThatCannotBeMadeInPlace(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"new key in flow style", "{phase: testing}\n"},
		{"block scalar", "phase: testing\niteration: 1\nlast_action: |\n  a\n  b\n"},
		{"anchor", "phase: &p testing\nother: *p\n"},
		{"alias", "other: &p testing\nphase: *p\n"},
		{"tag", "phase: !!str testing\n"},
	} {
		s, err := parseState("STATE.yaml", []byte(test.text))
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		_, err = s.edited("STATE.yaml", actionNeedsFix, noon, []edit{{key: keyPhase, value: Implementing}, {key: keyIteration, value: "2", bare: true}})
		if tidegate.CodeOf(err) != tidegate.InvalidState {
			t.Errorf("%s: got error %v, want INVALID_STATE", test.name, err)
		}
	}
}

// FuzzState changes arbitrary files: an edit either fails or changes exactly
// what was asked for, on at most the lines that it needs.
func FuzzState(f *testing.F) {
	for _, seed := range []string{
		"phase: testing\niteration: 1\n", "# c\nphase: 'testing' # x\nneeds_person: |\n  a\n\n  b\nz: {a: [1, 2]}\n", "{phase: testing}", "---\nphase: testing\n...\n",
		"? phase\n: testing\n", "phase: !!str testing\n", "a: &x [1]\nb: *x\nphase: testing\n", "phase: testing\r\nx: \"a\\\"b\"\r\n", "phase:\n  testing\n", "phase: testing\n\tx: 1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseState("STATE.yaml", []byte(text))
		if err != nil {
			return
		}
		edits := []edit{{key: keyPhase, value: Complete}, {key: keyIteration, value: "7", bare: true}, {key: keyNeedsPerson, value: "it's: so"}}
		got, err := s.edited("STATE.yaml", actionApproved, noon, edits)
		if err != nil {
			return
		}
		again, err := parseState("STATE.yaml", got)
		if err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		if again.phase != Complete || again.iteration != 7 || again.needsPerson != "it's: so" {
			t.Fatalf("got %+v", again)
		}
		kept := 0
		for line := range strings.SplitSeq(text, "\n") {
			if bytes.Contains(got, []byte(line)) {
				kept++
			}
		}
		if lines := strings.Count(text, "\n") + 1; lines-kept > 5 {
			t.Fatalf("%d of %d lines differ:\n%s", lines-kept, lines, got)
		}
	})
}
