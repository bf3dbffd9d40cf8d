package proof_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
	// never says why no such call can be accepted, "" where one can.
	never string
	// missing is the code for something that the call needs and a replan took away.
	missing tidegate.Code
}

func always(args string) func(string, int64) string {
	return func(string, int64) string { return args }
}

func labelled(args string) func(string, int64) string {
	return func(label string, _ int64) string { return strings.ReplaceAll(args, "$LABEL", label) }
}

// blows is every writing tool, with more weight on those whose loss would show best.
// Stages and statuses move all the time, so that many calls are refused; a refusal
// must change nothing. A run leaves its first wave when gate B is recorded and the
// outputs stay unchanged until somebody advances it. The job of another run is given
// out, answered badly and given back all the time. cancel is final and comes last.
func blows() []blow {
	output := `"outputs":[{"perspective_id":"moon","markdown":"$LABEL\n\n` + sampleOutput + `- https://example.invalid/$LABEL\n"}]`
	report := `{"ok":true,"perspective_id":"moon","markdown_path":"$WORK/runs/tides/wave-1/moon.md","words":20,"sources":1,"missing_sections":[]}`
	reasoned := labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)
	blows := []blow{
		{tool: "create_review", weight: 15, args: labelled(`{"change_id":"c1","verdict":"NEEDS_FIX","summary":"$LABEL","issues":[{"title":"T","severity":"High","category":"Bug","description":"$LABEL"}]}`)},
		{tool: "create_review", weight: 1, args: labelled(`{"change_id":"c1","verdict":"MAJOR_ISSUES","summary":"$LABEL","issues":[{"title":"T","severity":"High","category":"Bug","description":"$LABEL"}]}`)},
		{tool: "review_import", weight: 1, args: always(`{"files":["$WORK/findings.json"]}`)},
		{tool: "change_advance", weight: 8, args: always(`{"change_id":"c1"}`)},
		{tool: "change_start", weight: 2, args: always(startChange.args)},
		{tool: "change_resume", weight: 2, args: labelled(`{"change_id":"c1","accept":true,"reason":"$LABEL"}`)},
		{tool: "deep_research_wave_output_ingest", weight: 8, args: labelled(`{` + manifestArg + `,` + perspectivesArg + `,"wave":"wave1",` + output + `}`)},
		{tool: "deep_research_perspectives_write", weight: 3, args: labelled(`{` + perspectivesArg + `,"reason":"$LABEL","value":` + samplePerspectives + `}`), never: "the contracts are frozen"},
		{tool: "deep_research_perspectives_write", weight: 1, args: labelled(`{` + perspectivesArg + `,"reason":"$LABEL","replan":true,"value":` + samplePerspectives + `}`)},
		{tool: "deep_research_wave1_plan", weight: 3, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_wave_review", weight: 3, args: always(reviewWave.args), missing: tidegate.OutputNotFound},
		{tool: "deep_research_gate_a_record", weight: 1, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_gate_b_record", weight: 4, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_gate_d_record", weight: 1, args: reasoned, never: "nothing is summarised", missing: tidegate.FileNotFound},
		{tool: "deep_research_gate_e_record", weight: 1, args: reasoned, never: "nothing is written together", missing: tidegate.FileNotFound},
		{tool: "deep_research_gate_f_record", weight: 1, args: reasoned},
		{tool: "deep_research_claim_accept", weight: 1, args: labelled(`{` + manifestArg + `,"id":"c1","reason":"$LABEL"}`), never: "the run does not come to its synthesis"},
		{tool: "deep_research_run_step", weight: 1, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`), missing: tidegate.OutputNotFound},
		{tool: "deep_research_job_lease", weight: 4, args: labelled(`{` + nightArg + `,"holder":"$LABEL"}`)},
		{tool: "deep_research_job_submit", weight: 4, args: labelled(`{` + nightArg + `,"token":"$TOKEN","answer":"$LABEL"}`)},
		{tool: "deep_research_job_extend", weight: 1, args: always(`{` + nightArg + `,"token":"$TOKEN","lease_seconds":60}`)},
		{tool: "deep_research_job_release", weight: 1, args: labelled(`{` + nightArg + `,"token":"$TOKEN","reason":"$LABEL"}`)},
		{tool: "deep_research_job_answer", weight: 1, args: labelled(`{` + nightArg + `,"job_id":"perspectives","answer":"$LABEL"}`)},
		{tool: "deep_research_job_take_back", weight: 1, args: labelled(`{` + nightArg + `,"job_id":"perspectives","reason":"$LABEL"}`)},
		{tool: "deep_research_job_retry", weight: 1, args: labelled(`{` + nightArg + `,"job_id":"perspectives","note":"$LABEL"}`)},
		{tool: "deep_research_run_limit", weight: 1, args: func(label string, _ int64) string {
			return fmt.Sprintf(`{%s,"name":"max_summary_kb","value":%d,"reason":"%s"}`, manifestArg, 5+label[len(label)-1]%4, label)
		}},
		{tool: "deep_research_run_accept", weight: 1, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`), never: "the record matches the files all the time"},
		{tool: "deep_research_wave_restore", weight: 1, args: labelled(`{` + manifestArg + `,"perspective_id":"moon","reason":"$LABEL"}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_pivot_decide", weight: 3, args: labelled(`{` + manifestArg + `,"reason":"$LABEL","wave1_outputs":[{"perspective_id":"moon","output_md_path":"wave-1/moon.md"}],"wave1_validation_reports":[` + report + `]}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_summary_pack_build", weight: 2, args: labelled(strings.ReplaceAll(buildPack, `"reason":"r"`, `"reason":"$LABEL"`))},
		{tool: "deep_research_citations_fetch", weight: 3, args: always(fetchSources.args)},
		{tool: "deep_research_citations_validate", weight: 3, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_citations_attach", weight: 1, args: labelled(`{` + manifestArg + `,"cid":"` + sampleCID + `","file_path":"$WORK/moon.html","reason":"$LABEL"}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_citations_replace", weight: 1, args: labelled(`{` + manifestArg + `,"cid":"` + sampleCID + `","url":"https://example.invalid/$LABEL","reason":"$LABEL"}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_gate_c_record", weight: 1, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`), missing: tidegate.FileNotFound},
		{tool: "deep_research_stage_advance", weight: 6, args: labelled(`{` + manifestArg + `,` + gatesArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_run_recover", weight: 1, args: always(`{` + manifestArg + `}`)},
		{tool: "deep_research_run_init", weight: 1, args: always(initRun.args)},
		{tool: "deep_research_run_pause", weight: 1, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_run_resume", weight: 2, args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)},
		{tool: "deep_research_run_resume", weight: 2, args: labelled(`{` + manifestArg + `,"accept":true,"reason":"$LABEL"}`)},
	}
	return blows
}

// final is the blow that ends a run; every worker makes it once.
var final = blow{tool: "deep_research_run_cancel", args: labelled(`{` + manifestArg + `,"reason":"$LABEL"}`)}

// strike is one call that was made.
type strike struct {
	worker int
	label  string
	tool   string
	code   tidegate.Code // "" when it was accepted
	result *codec.Value
}

// hammer has workers call tools at random, each as fast as it can, and returns what
// each of them did, in order. After every call each of the watchers gets a tick,
// unless it is still busy.
func hammer(t *testing.T, work string, workers, calls int, call caller, watchers ...chan struct{}) [][]strike {
	t.Helper()
	done := make([][]strike, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			var revision int64 = 1
			token := strings.Repeat("0", 32) + "/1/perspectives" // of the last lease
			hit := func(b blow, label string) bool {
				args := b.args(label, revision)
				args = strings.ReplaceAll(args, "$WORKER", workerName(worker))
				args = strings.ReplaceAll(args, "$WORK", work)
				args = strings.ReplaceAll(args, "$TOKEN", token)
				s, err := b.strike(call, worker, label, args)
				if err != nil {
					t.Errorf("%s of %s: %v", b.tool, label, err)
					return false
				}
				done[worker] = append(done[worker], s)
				if leased := s.result.Get("job").Get("token").Str(); leased != "" {
					token = leased
				}
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

// strike makes the call. A call is accepted, or refused because of what others
// do at the same time. Nothing here changes a file by other means, so nothing is
// TAMPERED.
func (b blow) strike(call caller, worker int, label, args string) (strike, error) {
	envelope, err := call(worker, b.tool, args)
	if err != nil {
		return strike{}, err
	}
	result, err := codec.Parse(envelope)
	if err != nil {
		return strike{}, fmt.Errorf("%w in %s", err, envelope)
	}
	s := strike{worker: worker, label: label, tool: b.tool, result: result}
	if failure := result.Get("error"); failure != nil {
		s.code = tidegate.Code(failure.Get("code").Str())
	}
	switch {
	case s.code == "" && b.never == "", s.code != "" && s.code == b.missing:
	case s.code == "":
		return s, fmt.Errorf("was accepted, although %s: %s", b.never, envelope)
	case s.code == tidegate.Tampered || tidegate.ClassOf(s.code) != tidegate.Conflict:
		return s, fmt.Errorf("answered %s", envelope)
	}
	return s, nil
}

// manifestRevision is the revision of the manifest that a result states, or 0.
func (s strike) manifestRevision() int64 {
	revision, _ := s.result.Get("manifest_revision").Int()
	return revision
}

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
