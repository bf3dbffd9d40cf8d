package stage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// model is what a run should be, written down a second time and as simply as
// possible: files are booleans, gates are words, and every rule is one line.
type model struct {
	stage, status string
	file          map[string]string // content, "" when the file does not exist
	recorded      map[string]string // gates
	judged        map[string]string // the content that a gate was bound to
	exhausted     bool              // the rounds of review are left to a person
	pivot, review string            // "", or what was decided
	pivotOf       string            // the output that the pivot was decided from
	reviewOf      string            // the synthesis that was reviewed
	rounds, limit int
}

func newModel() *model {
	return &model{stage: "init", status: "created", file: map[string]string{}, recorded: map[string]string{}, judged: map[string]string{}, limit: 2}
}

// gate is the recorded status of a gate, as long as what it judged is unchanged. A
// pass that judged nothing does not count.
func (m *model) gate(id string) string {
	judged := m.judged[id]
	if judged == "" && m.recorded[id] == "pass" {
		return ""
	}
	for _, f := range walkFiles {
		if f.gate == id && judged != "" && judged != m.file[f.fact] {
			return ""
		}
	}
	return m.recorded[id]
}

// stands are the gates that stay after each stage.
var stands = map[string]string{"wave1": "A", "pivot": "A B", "wave2": "A B", "citations": "A B", "summaries": "A B C", "synthesis": "A B C D", "review": "A B C D"}

// next says where an advance leads, or why not: the codes of all blockers.
func (m *model) next(requested string) (to string, codes []string) {
	follow := map[string]string{"init": "wave1 perspectives", "perspectives": "wave1", "wave1": "pivot", "pivot": "wave2 citations", "wave2": "citations",
		"citations": "summaries", "summaries": "synthesis", "synthesis": "review", "review": "synthesis finalize"}
	if m.stage == "finalize" {
		return "", []string{"INVALID_STATE"}
	}
	if requested != "" && !slices.Contains(strings.Fields(follow[m.stage]), requested) {
		return "", []string{"REQUESTED_NEXT_NOT_ALLOWED"}
	}
	need := func(ok bool, code string) {
		if !ok {
			codes = append(codes, code)
		}
	}
	need(m.status == "created" || m.status == "running", "INVALID_STATE")
	pivot, review := m.pivot, m.review
	if m.pivotOf != m.file["outputs1"] {
		pivot = ""
	}
	to = requested
	if to == "" {
		to = strings.Fields(follow[m.stage])[0]
		if m.stage == "pivot" {
			to = map[string]string{"": "", "skip": "citations", "wave2": "wave2"}[pivot]
		}
		if m.stage == "review" {
			to = map[string]string{"": "", "PASS": "finalize", "CHANGES_REQUIRED": "synthesis"}[review]
		}
	}
	switch m.stage + ">" + to {
	case "init>wave1", "perspectives>wave1":
		need(m.file["perspectives"] != "", "MISSING_ARTIFACT")
	case "wave1>pivot":
		need(m.file["outputs1"] != "", "MISSING_ARTIFACT")
		need(m.file["wave review"] != "", "MISSING_ARTIFACT")
		need(m.gate("B") == "pass", "GATE_BLOCKED")
	case "pivot>", "review>":
		need(false, "MISSING_ARTIFACT")
	case "pivot>wave2":
		need(pivot != "", "MISSING_ARTIFACT")
		need(pivot != "skip", "REQUESTED_NEXT_NOT_ALLOWED")
	case "pivot>citations":
		need(pivot != "", "MISSING_ARTIFACT")
		need(pivot != "wave2", "REQUESTED_NEXT_NOT_ALLOWED")
	case "wave2>citations":
		need(m.file["outputs2"] != "", "MISSING_ARTIFACT")
	case "citations>summaries":
		need(m.gate("C") == "pass", "GATE_BLOCKED")
		need(m.file["citations"] != "", "MISSING_ARTIFACT")
	case "summaries>synthesis":
		need(m.gate("D") == "pass", "GATE_BLOCKED")
		need(m.file["pack"] != "", "MISSING_ARTIFACT")
	case "synthesis>review":
		need(m.file["synthesis"] != "", "MISSING_ARTIFACT")
	case "review>finalize":
		need(m.gate("E") == "pass", "GATE_BLOCKED")
		need(m.gate("F") == "pass", "GATE_BLOCKED")
		need(review != "", "MISSING_ARTIFACT")
		need(review != "CHANGES_REQUIRED", "REQUESTED_NEXT_NOT_ALLOWED")
		need(review == "" || m.reviewOf == m.file["synthesis"], "MISSING_ARTIFACT")
	case "review>synthesis":
		need(review != "", "MISSING_ARTIFACT")
		need(review != "PASS" || m.gate("E") == "fail", "REQUESTED_NEXT_NOT_ALLOWED")
		need(review == "" || m.reviewOf == m.file["synthesis"], "MISSING_ARTIFACT")
		need(m.rounds < m.limit, "REVIEW_CAP_EXCEEDED")
	}
	for _, id := range strings.Fields(stands[m.stage]) {
		need(m.gate(id) == "pass", "GATE_BLOCKED")
	}
	// Gates come after everything else.
	slices.SortStableFunc(codes, func(a, b string) int {
		last := map[string]int{"GATE_BLOCKED": 1}
		return last[a] - last[b]
	})
	return to, codes
}

func (m *model) advance(requested string) []string {
	to, codes := m.next(requested)
	if len(codes) == 0 {
		if m.stage == "review" && to == "synthesis" {
			m.rounds++
		}
		if to == "wave2" {
			m.recorded["B"], m.judged["B"] = "not_run", "" // it is about both waves from here on
		}
		if to == "summaries" {
			m.recorded["D"], m.judged["D"] = "not_run", "" // what was built and judged early
		}
		m.stage, m.status = to, "running"
		if to == "finalize" {
			m.status = "completed"
		}
	} else if len(codes) == 1 && codes[0] == "REVIEW_CAP_EXCEEDED" {
		m.status = "failed"
		m.exhausted = true
	}
	return codes
}

// files of the walk: name in the model, in the run, and the gate that judges it.
type walkFile struct{ fact, name, gate string }

var walkFiles = []walkFile{
	{"perspectives", "perspectives.json", "A"},
	{"outputs1", "wave-1/p1.md", "B"},
	{"wave review", "wave-review.json", ""},
	{"outputs2", "wave-2/gap_p1_1.md", ""},
	{"citations", "citations/citations.jsonl", "C"},
	{"pack", "summaries/summary-pack.json", "D"},
	{"synthesis", "synthesis/final-synthesis.md", "E"},
	{"question", "manifest.json", "F"},
}

func TestRandomWalksAgreeWithTheModel(t *testing.T) {
	walks := 3
	if full.Asked() {
		walks = 60
	}
	reached := map[string]bool{}
	for seed := range uint64(walks) {
		rng := rand.New(rand.NewPCG(seed, 7))
		two := int64(2)
		y, m := newToy(t, run.InitInput{Limits: &run.Limits{MaxReviewIterations: &two}}), newModel()
		m.file["question"] = "asked"
		var trail []string
		for range 240 {
			what, got, want := walk(rng, y, m)
			trail = append(trail, what)
			stage, status := y.stage(), y.status()
			reached[stage+"/"+status] = true
			if got != want || stage != m.stage || status != m.status {
				t.Fatalf("walk %d: got %q in %s/%s, want %q in %s/%s, after:\n%s", seed, got, stage, status, want, m.stage, m.status, strings.Join(trail, "\n"))
			}
			if m.status == "cancelled" || m.status == "completed" {
				if rng.IntN(6) == 0 {
					break
				}
			}
		}
		if v, err := run.Verify(t.Context(), run.Desk{}, run.VerifyInput{ManifestPath: y.files.ManifestPath, Follows: stage.Follows}); err != nil || !v.Pass {
			t.Fatalf("walk %d: verify %+v, %v", seed, v.Findings, err)
		}
	}
	if len(reached) < 12 {
		t.Errorf("the walks reached only %v", reached)
	}
}

// step does one thing to the run and to the model, and returns the outcomes.
func walk(rng *rand.Rand, y *toy, m *model) (what, got, want string) {
	outcome := func(err error) string { return string(tidegate.CodeOf(err)) }
	content := fmt.Sprint(rng.IntN(3))
	switch n := rng.IntN(18); {
	case n < 6: // advance, mostly as the run itself would choose
		requested := ""
		if rng.IntN(4) == 0 {
			requested = string(run.Stages[rng.IntN(len(run.Stages))])
		}
		_, err := y.advance(run.Stage(requested))
		codes := m.advance(requested)
		got, want = outcome(err), strings.Join(codes, " ")
		if details := tidegate.AsError(err); details != nil {
			if _, listed := details.Details.Get("blockers"); listed {
				got = codesOf(y.t, err)
			}
		}
		return "advance " + requested, got, want
	case n < 11: // an agent writes or removes a file
		f := walkFiles[rng.IntN(len(walkFiles)-1)] // nobody rewrites the question
		if missing := slices.IndexFunc(walkFiles, func(f walkFile) bool { return m.file[f.fact] == "" }); missing >= 0 && rng.IntN(2) == 0 {
			f = walkFiles[missing]
		}
		if f.fact == "perspectives" {
			y.put(f.name, perspectives)
			m.file[f.fact] = perspectives
			return "put " + f.name, "", ""
		}
		if rng.IntN(12) == 0 {
			y.remove(f.name)
			m.file[f.fact] = ""
			return "remove " + f.name, "", ""
		}
		if f.fact == "outputs1" {
			content = []string{withoutGap, withGap, withoutGap + "\n"}[rng.IntN(3)]
		}
		y.put(f.name, content)
		m.file[f.fact] = content
		return "put " + f.name + " " + content, "", ""
	case n < 14: // somebody judges a gate, bound to what it is about
		id := run.GateIDs()[rng.IntN(len(run.GateIDs()))]
		if next := slices.IndexFunc(run.GateIDs(), func(id string) bool { return m.gate(id) != "pass" }); next >= 0 && rng.IntN(4) > 0 {
			id = run.GateIDs()[next]
		}
		status := []string{"pass", "pass", "fail"}[rng.IntN(3)]
		artifacts := []string{}
		if m.status == "cancelled" || m.status == "completed" {
			return "gate " + id + " " + status, outcome(y.recordGate(id, status)), "INVALID_STATE"
		}
		m.judged[id] = ""
		for _, f := range walkFiles {
			if f.gate == id && m.file[f.fact] != "" {
				artifacts = append(artifacts, f.name)
				m.judged[id] = m.file[f.fact]
			}
		}
		y.gate(id, status, artifacts...)
		m.recorded[id] = status
		return "gate " + id + " " + status, "", ""
	case n < 15:
		if !slices.Contains([]string{"init", "wave1", "pivot"}, m.stage) || m.file["perspectives"] == "" || m.file["outputs1"] == "" || m.status == "cancelled" {
			return "no pivot", "", ""
		}
		y.decide()
		if m.stage != "pivot" {
			return "early pivot", "", "" // of which nothing follows
		}
		m.pivot, m.pivotOf = "skip", m.file["outputs1"]
		if m.pivotOf == withGap {
			m.pivot = "wave2"
		}
		return "pivot " + m.pivot, "", ""
	case n < 16:
		if m.file["synthesis"] == "" {
			return "no review", "", ""
		}
		m.review, m.reviewOf = []string{"PASS", "CHANGES_REQUIRED", "CHANGES_REQUIRED"}[rng.IntN(3)], m.file["synthesis"]
		y.review(m.review)
		return "review " + m.review, "", ""
	default:
		verb := []string{"pause", "resume", "accept", "accept", "cancel"}[rng.IntN(5)]
		if verb == "cancel" && rng.IntN(4) > 0 {
			verb = "resume"
		}
		_, err := y.control(verb)
		return verb, outcome(err), m.control(verb)
	}
}

func (m *model) control(verb string) string {
	to := map[string]string{"pause": "paused", "resume": "running", "accept": "running", "cancel": "cancelled"}[verb]
	if m.status == to {
		return ""
	}
	allowed := map[string]string{"pause": "created running", "resume": "paused", "accept": "failed", "cancel": "created running paused failed"}
	if !slices.Contains(strings.Fields(allowed[verb]), m.status) {
		return "INVALID_STATE"
	}
	if verb == "accept" {
		if m.exhausted {
			m.limit = m.rounds + 2
		}
		m.exhausted = false
	}
	m.status = to
	return ""
}
