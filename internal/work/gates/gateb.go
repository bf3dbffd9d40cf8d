package gates

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// judgeB is the judge of gate B: it uses the run's own wave review and nothing else.
func judgeB(ctx context.Context, r *run.Run) (run.Judgement, error) {
	return judgeOutputs(ctx, r, r.Layout().WaveReview)
}

var reviewShape = codec.Table(
	codec.Field{Name: "ok", Shape: codec.Truth()},
	codec.Field{Name: "pass", Shape: codec.Truth()},
	codec.Field{Name: "validated", Shape: codec.IntegerFrom(0)},
	codec.Field{Name: "failed", Shape: codec.IntegerFrom(0)},
	codec.Field{Name: "results", Shape: codec.List(codec.Table(
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "pass", Shape: codec.Truth()},
		codec.Field{Name: "failure", Shape: codec.Table(codec.Field{Name: "code", Shape: codec.NotBlank()}).OrNull()},
	), 0)},
	codec.Field{Name: "retry_directives", Shape: codec.List(codec.Table(
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "blocking_error_code", Shape: codec.NotBlank()},
	), 0)},
)

// outputsJudge is one judgement of gate B under way. Up to stage pivot the gate
// is about the first wave, from wave2 on about both.
type outputsJudge struct {
	run        *run.Run
	reportName string
	report     *codec.Value // of the first wave
	waves      []step.WaveContracts

	stale   []string // ids whose output is judged differently by now
	missing []string // ids of the run that the report does not cover
	over    []string // "id: what is wrong with the use of tools"
	refused []string // "id: what the run does not take"
	failed2 []string // ids of the second wave whose output is missing or breaks its contract
}

func judgeOutputs(ctx context.Context, r *run.Run, reportName string) (run.Judgement, error) {
	j := &outputsJudge{run: r, reportName: reportName}
	if err := j.read(); err != nil {
		return run.Judgement{}, err
	}
	before, err := j.bind()
	if err != nil {
		return run.Judgement{}, err
	}
	if err := j.judge(ctx); err != nil {
		return run.Judgement{}, err
	}
	after, err := j.bind()
	if err != nil {
		return run.Judgement{}, err
	}
	if codec.Digest(before.Value()) != codec.Digest(after.Value()) {
		return run.Judgement{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_root", r.Root()),
			"the outputs change while they are judged; judge the gate again when the agents have finished")
	}
	return j.judgement(after), nil
}

func (j *outputsJudge) read() error {
	path := j.run.Path(j.reportName)
	data, err := j.run.Folder().Read(j.reportName)
	if err != nil {
		return tidegate.WithDetails(err, tidegate.Pairs("wave_review_report_path", path))
	}
	if j.report, err = codec.ParseFile("wave_review_report_path", path, data); err != nil {
		return err
	}
	if ok := j.report.Get("ok"); ok.Kind() == codec.Bool && !ok.Bool() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("ok", false), "%s is the error of a review that did not take place", path)
	}
	if err := reviewShape.Check(j.report); err != nil {
		return err
	}
	waves, err := judgedWaves(j.run)
	if err != nil {
		return err
	}
	for _, wave := range waves {
		contracts, err := step.ReadContracts(j.run, wave)
		if err != nil {
			return err
		}
		j.waves = append(j.waves, contracts)
	}
	return nil
}

// judgedWaves are the waves that gate B is about.
func judgedWaves(r *run.Run) ([]run.Stage, error) {
	switch r.Manifest().Stage() {
	case run.Init, run.Perspectives, run.Wave1, run.Pivot:
		return []run.Stage{run.Wave1}, nil
	}
	return r.Waves()
}

// bind hashes what the gate is about: the report, the contracts, every output,
// and every sidecar that there is.
func (j *outputsJudge) bind() (run.Binding, error) {
	names := []string{j.reportName}
	for _, w := range j.waves {
		names = append(names, w.Name)
		for _, p := range w.Doc.List {
			output := j.run.Output(w.Wave, p.ID)
			names = append(names, output)
			used, err := j.run.Folder().Exists(run.Sidecar(output))
			if err != nil {
				return run.Binding{}, err
			}
			if used {
				names = append(names, run.Sidecar(output))
			}
		}
	}
	return run.Bind(j.run.Folder(), names)
}

func (j *outputsJudge) judge(ctx context.Context) error {
	reported := map[string]*codec.Value{}
	for _, r := range j.report.Get("results").Elems() {
		reported[r.Get("perspective_id").Str()] = r
	}
	for _, w := range j.waves {
		judged := make([]judgedOutput, len(w.Doc.List))
		err := parallel.Each(ctx, len(judged), nil, func() func(int) error {
			judge := new(wave.Judge)
			return func(i int) (err error) {
				judged[i], err = j.judgeOne(ctx, judge, w.Wave, w.Doc.List[i])
				return err
			}
		})
		if err != nil {
			return err
		}
		for i, p := range w.Doc.List {
			code := judged[i].code
			if judged[i].over != "" {
				j.over = append(j.over, p.ID+": "+judged[i].over)
			}
			if judged[i].refused != "" {
				j.refused = append(j.refused, p.ID+": "+judged[i].refused)
			}
			if w.Wave == run.Wave2 {
				if code != "" {
					j.failed2 = append(j.failed2, p.ID+": "+code)
				}
				continue
			}
			r := reported[p.ID]
			switch {
			case r == nil:
				j.missing = append(j.missing, p.ID)
			case r.Get("pass").Bool() != (code == "") || r.Get("failure").Get("code").Str() != code:
				j.stale = append(j.stale, p.ID)
			}
			delete(reported, p.ID)
		}
	}
	for id := range reported { // results for perspectives that the run does not have
		j.stale = append(j.stale, id)
	}
	slices.Sort(j.stale)
	return nil
}

// judgedOutput is what is wrong with an output, "" for each that it meets.
type judgedOutput struct {
	code    string // the failure of its contract
	refused string // what the run does not take in an output that meets its contract
	over    string // the use of tools
}

func (j *outputsJudge) judgeOne(ctx context.Context, judge *wave.Judge, w run.Stage, p wave.Perspective) (out judgedOutput, err error) {
	name := j.run.Output(w, p.ID)
	path := j.run.Path(name)
	file, err := j.run.Folder().Open(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return judgedOutput{code: string(tidegate.OutputNotFound)}, nil
	}
	if err != nil {
		return out, err
	}
	defer file.Close()
	verdict, err := judge.Judge(p.Contract, artifact.Until(ctx, file))
	if err != nil {
		return out, wave.Unreadable(tidegate.Pairs("markdown_path", path), path, err)
	}
	if failure := verdict.Failure(); failure != nil {
		out.code = string(failure.Code)
	} else if out.refused, err = j.refusal(p, verdict, name); err != nil {
		return out, err
	}
	out.over, err = j.toolUsage(p, run.Sidecar(name))
	return out, err
}

// refusal is what a run refuses in an output that meets its contract, "" where it
// takes it.
func (j *outputsJudge) refusal(p wave.Perspective, verdict wave.Verdict, name string) (string, error) {
	text, err := j.run.Folder().Read(name)
	if err != nil {
		return "", err
	}
	if faults := step.Refusals(p, verdict, text); len(faults) > 0 {
		return string(faults[0].Error.Code), nil
	}
	return "", nil
}

// toolUsage says what is wrong with the recorded use of tools, or "". A failure to
// read the record is an error, and says nothing about the tools.
func (j *outputsJudge) toolUsage(p wave.Perspective, sidecar string) (string, error) {
	data, err := j.run.Folder().Read(sidecar)
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return "", nil
	case err != nil:
		return "", tidegate.WithDetails(err, tidegate.Pairs("meta_path", j.run.Path(sidecar)))
	}
	v, err := codec.Parse(data)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidToolUsage, nil, "the sidecar is not JSON: %w", err).Error(), nil
	}
	if err := wave.CheckToolUsage(p.ToolBudget, v.Get("tool_usage")); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

func (j *outputsJudge) judgement(bound run.Binding) run.Judgement {
	results, directives := j.report.Get("results").Elems(), j.report.Get("retry_directives").Elems()
	validated, _ := j.report.Get("validated").Int()
	failed, _ := j.report.Get("failed").Int()
	failing := int64(0)
	for _, r := range results {
		if !r.Get("pass").Bool() {
			failing++
		}
	}
	out := run.Judgement{Gate: "B", InputsDigest: codec.Digest(j.inputs()), Notes: j.notes(), Bound: bound}
	warn := func(holds bool, code string) {
		if holds {
			out.Warnings = append(out.Warnings, code)
		}
	}
	warn(!j.report.Get("pass").Bool(), "WAVE_REVIEW_PASS_FALSE")
	warn(validated == 0, "ZERO_VALIDATED_PERSPECTIVES")
	warn(failed != 0, "FAILED_COUNT_NON_ZERO")
	warn(len(directives) > 0, "RETRY_DIRECTIVES_PRESENT")
	warn(int64(len(results)) != validated, "RESULT_COUNT_MISMATCH")
	warn(failing > 0, "RESULT_PASS_FALSE_PRESENT")
	warn(failing != failed, "FAILED_COUNT_INCONSISTENT_WITH_RESULTS")
	warn(len(j.stale) > 0, "STALE_REPORT")
	warn(len(j.missing) > 0, "PERSPECTIVES_NOT_REVIEWED")
	warn(len(j.over) > 0, string(tidegate.ToolBudgetExceeded))
	warn(len(j.refused) > 0, "OUTPUT_NOT_TAKEN")
	warn(len(j.failed2) > 0, "WAVE2_OUTPUT_REFUSED")
	out.Metrics = tidegate.Pairs("validated_count", validated, "failed_count", failed, "results_count", len(results),
		"retry_directives_count", len(directives), "report_pass_flag", codec.Flag(j.report.Get("pass").Bool()), "validated_positive", codec.Flag(validated > 0),
		"all_results_pass", codec.Flag(failing == 0), "failed_matches_results", codec.Flag(failing == failed))
	if len(j.waves) > 1 {
		out.Metrics = append(out.Metrics, tidegate.Pairs("wave2_planned", len(j.waves[1].Doc.List), "wave2_failed", len(j.failed2))...)
	}
	return out
}

// notes names the perspectives behind the warnings.
func (j *outputsJudge) notes() string {
	var parts []string
	for _, n := range []struct {
		what string
		ids  []string
	}{
		{"judged differently by now", j.stale}, {"not reviewed", j.missing}, {"tools", j.over},
		{"not taken by the run", j.refused}, {"of the second wave", j.failed2},
	} {
		if len(n.ids) > 0 {
			parts = append(parts, strconv.Itoa(len(n.ids))+" "+n.what+": "+strings.Join(n.ids, ", "))
		}
	}
	return tidegate.Cut(strings.Join(parts, "; "))
}

// inputs is what the digest covers: the content of the report, by name and not by
// place, so that it is the same wherever the run lies.
func (j *outputsJudge) inputs() tidegate.Details {
	results, directives := []tidegate.Details{}, []tidegate.Details{}
	sorted := slices.Clone(j.report.Get("results").Elems())
	slices.SortStableFunc(sorted, func(a, b *codec.Value) int {
		return strings.Compare(a.Get("perspective_id").Str(), b.Get("perspective_id").Str())
	})
	for _, r := range sorted {
		var code any
		if c := r.Get("failure").Get("code"); c != nil {
			code = c
		}
		results = append(results, tidegate.Pairs("perspective_id", r.Get("perspective_id"), "pass", r.Get("pass"), "failure_code", code))
	}
	for i, d := range j.report.Get("retry_directives").Elems() {
		directives = append(directives, tidegate.Pairs("index", i, "perspective_id", d.Get("perspective_id"), "blocking_error_code", d.Get("blocking_error_code")))
	}
	inputs := tidegate.Pairs("schema", "gate_b_derive.inputs.v1", "report_path", j.reportName, "report_ok", true, "report_pass", j.report.Get("pass"),
		"validated", j.report.Get("validated"), "failed", j.report.Get("failed"), "results", results, "retry_directives", directives)
	if len(j.waves) > 1 {
		inputs = append(inputs, tidegate.Detail{Key: "wave2_failed", Value: append([]string{}, j.failed2...)})
	}
	return inputs
}
