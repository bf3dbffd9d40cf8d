package proof_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// caller makes one call of a tool for one worker and returns its envelope.
type caller func(worker int, tool, args string) ([]byte, error)

// blow is one kind of call that a hammer makes.
type blow struct {
	tool   string
	weight int
	// args makes the arguments. The label is unique among all calls, and the
	// revision is the last one of the manifest that the worker saw.
	args func(label string, revision int64) string
}

func always(args string) func(string, int64) string {
	return func(string, int64) string { return args }
}

func labelled(args string) func(string, int64) string {
	return func(label string, _ int64) string { return strings.ReplaceAll(args, "$LABEL", label) }
}

// blows is every writing tool, often those whose loss would show best. Stages
// and statuses move all the time, so that many calls are refused; a refusal must
// change nothing. cancel is final and comes last of all.
func blows() []blow {
	gates := `{` + gatesArg + `,"inputs_digest":"d","reason":"$LABEL","update":{"$GATE":{"notes":"$LABEL"}}}`
	output := `"outputs":[{"perspective_id":"moon","markdown":"$LABEL\n\n` + sampleOutput + `- https://example.org/$LABEL\n"}]`
	report := `{"ok":true,"perspective_id":"moon","markdown_path":"$WORK/runs/tides/wave-1/moon.md","words":20,"sources":1,"missing_sections":[]}`
	return []blow{
		{"deep_research_manifest_write", 20, labelled(`{` + manifestArg + `,"reason":"$LABEL","patch":{"metrics":{"$WORKER":"$LABEL"}}}`)},
		{"deep_research_manifest_write", 10, func(label string, revision int64) string {
			return fmt.Sprintf(`{%s,"reason":"%s","expected_revision":%d,"patch":{"metrics":{"$WORKER":"%s"}}}`, manifestArg, label, revision, label)
		}},
		{"deep_research_gates_write", 15, labelled(gates)},
		{"create_review", 15, labelled(`{"change_id":"c1","verdict":"NEEDS_FIX","summary":"$LABEL","issues":[{"title":"T","severity":"High","category":"Bug","description":"$LABEL"}]}`)},
		{"create_review", 1, labelled(`{"change_id":"c1","verdict":"MAJOR_ISSUES","summary":"$LABEL","issues":[{"title":"T","severity":"High","category":"Bug","description":"$LABEL"}]}`)},
		{"change_advance", 8, always(`{"change_id":"c1"}`)},
		{"change_start", 2, always(startChange.args)},
		{"change_resume", 2, labelled(`{"change_id":"c1","accept":true,"reason":"$LABEL"}`)},
		{"deep_research_wave_output_ingest", 8, labelled(`{` + manifestArg + `,` + perspectivesArg + `,"wave":"wave1",` + output + `}`)},
		{"deep_research_perspectives_write", 3, labelled(`{` + perspectivesArg + `,"reason":"$LABEL","value":` + samplePerspectives + `}`)},
		{"deep_research_wave1_plan", 3, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_wave_review", 3, always(reviewWave.args)},
		{"deep_research_gate_b_derive", 3, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_a_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_b_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_c_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_d_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_e_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_gate_f_record", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_run_limit", 1, labelled(`{` + manifestArg + `,"name":"max_summary_kb","value":7,"reason":"$LABEL"}`)},
		{"deep_research_run_accept", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_wave_restore", 1, labelled(`{` + manifestArg + `,"perspective_id":"moon","reason":"$LABEL"}`)},
		{"deep_research_perspectives_replan", 1, labelled(`{` + perspectivesArg + `,"reason":"$LABEL","value":` + samplePerspectives + `}`)},
		{"deep_research_pivot_decide", 3, labelled(`{` + manifestArg + `,"reason":"$LABEL","wave1_outputs":[{"perspective_id":"moon","output_md_path":"wave-1/moon.md"}],"wave1_validation_reports":[` + report + `]}`)},
		{"deep_research_summary_pack_build", 2, labelled(strings.ReplaceAll(buildPack, `"reason":"r"`, `"reason":"$LABEL"`))},
		{"deep_research_stage_advance", 3, labelled(`{` + manifestArg + `,` + gatesArg + `,"reason":"$LABEL"}`)},
		{"deep_research_retry_record", 1, labelled(`{` + manifestArg + `,"gate_id":"E","change_note":"$LABEL","reason":"$LABEL"}`)},
		{"deep_research_watchdog_check", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_run_recover", 1, always(`{` + manifestArg + `}`)},
		{"deep_research_run_init", 1, always(initRun.args)},
		{"deep_research_run_pause", 1, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_run_resume", 2, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{"deep_research_run_resume", 2, labelled(`{` + manifestArg + `,"accept":true,"reason":"$LABEL"}`)},
	}
}

// final is the blow that ends a run; every worker strikes it once.
var final = blow{"deep_research_run_cancel", 0, labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)}

// strike is one call that was made.
type strike struct {
	worker int
	label  string
	tool   string
	code   tidegate.Code // "" when it was accepted
	result *codec.Value
}

// hammer lets workers call tools at random, each as fast as it can, and returns
// what each of them did, in its order. After every call each of the watchers is
// told, unless it is still busy.
func hammer(t *testing.T, work string, workers, calls int, call caller, watchers ...chan struct{}) [][]strike {
	t.Helper()
	done := make([][]strike, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			var revision int64 = 1
			hit := func(b blow, label string) bool {
				args := b.args(label, revision)
				args = strings.ReplaceAll(args, "$WORKER", workerName(worker))
				args = strings.ReplaceAll(args, "$GATE", gateOf(worker))
				args = strings.ReplaceAll(args, "$WORK", work)
				s, err := struck(call, worker, label, b.tool, args)
				if err != nil {
					t.Errorf("%s of %s: %v", b.tool, label, err)
					return false
				}
				done[worker] = append(done[worker], s)
				for _, watcher := range watchers {
					select {
					case watcher <- struct{}{}:
					default:
					}
				}
				if seen := s.manifestRevision(); seen > 0 {
					revision = seen
				}
				return true
			}
			random := rand.New(rand.NewPCG(uint64(worker), 7))
			for i := range calls {
				if !hit(pick(random), fmt.Sprintf("%s-%d", workerName(worker), i)) {
					return
				}
			}
		})
	}
	group.Wait()
	return done
}

func struck(call caller, worker int, label, tool, args string) (strike, error) {
	envelope, err := call(worker, tool, args)
	if err != nil {
		return strike{}, err
	}
	result, err := codec.Parse(envelope)
	if err != nil {
		return strike{}, fmt.Errorf("%w in %s", err, envelope)
	}
	s := strike{worker: worker, label: label, tool: tool, result: result}
	if failure := result.Get("error"); failure != nil {
		s.code = tidegate.Code(failure.Get("code").Str())
		if tidegate.ClassOf(s.code) != tidegate.Conflict {
			return s, fmt.Errorf("answered %s", envelope)
		}
	}
	return s, nil
}

// manifestRevision is the revision of the manifest that a result tells, or 0.
func (s strike) manifestRevision() int64 {
	name := "manifest_revision"
	switch s.tool {
	case "deep_research_manifest_write":
		name = "new_revision"
		if s.code == tidegate.RevisionMismatch {
			revision, _ := s.result.Get("error").Get("details").Get("got").Int()
			return revision
		}
	}
	revision, _ := s.result.Get(name).Int()
	return revision
}

// gateOf is the gate that a worker writes notes to.
func gateOf(worker int) string { return string(rune('A' + worker%6)) }

func workerName(worker int) string { return fmt.Sprintf("w%02d", worker) }

func pick(random *rand.Rand) blow {
	all := blows()
	total := 0
	for _, b := range all {
		total += b.weight
	}
	at := random.IntN(total)
	for _, b := range all {
		if at -= b.weight; at < 0 {
			return b
		}
	}
	panic("the weights do not add up")
}
