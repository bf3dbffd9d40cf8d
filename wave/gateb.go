package wave

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/run"
)

// GateRequest are the arguments of [DeriveGateB] and [RecordGateB].
type GateRequest struct {
	ManifestPath string
	ReportPath   string // of the wave review, inside the run; "" for the run's own
	Reason       string
}

// GateResult is the result of [DeriveGateB].
type GateResult struct {
	OK               codec.True       `json:"ok"`
	GateID           string           `json:"gate_id"`
	Status           string           `json:"status" jsonschema:"pass or fail"`
	Metrics          tidegate.Details `json:"metrics" jsonschema:"counts and flags (0 or 1) that the status follows from"`
	Update           tidegate.Details `json:"update" jsonschema:"the update to hand to deep_research_gates_write, unchanged"`
	InputsDigest     string           `json:"inputs_digest" jsonschema:"the inputs_digest to hand to deep_research_gates_write"`
	WaveReviewReport string           `json:"wave_review_report_path"`
	Rule             string           `json:"rule" jsonschema:"the rule in words"`

	warnings []string
	notes    string
	recorded bool
}

// Passed reports whether the gate passed.
func (g GateResult) Passed() bool { return g.Status == run.GatePass }

const gateRule = "every perspective of the run was reviewed and passed, the report's counts agree with its results, " +
	"the outputs still are as reviewed, and no tool budget was exceeded"

// DeriveGateB derives gate B from the report of a wave review. It does not
// believe the report: under the run's lock it judges the outputs again, and a
// difference fails the gate with the warning STALE_REPORT. The update names every
// file that was judged, with its digest, so that the gate counts only as long as
// they stay as they are. It changes nothing but the audit log.
//
// It returns NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED,
// INVALID_STATE (the report is an error, or the outputs change while they are
// judged), PATH_NOT_ALLOWED and LOCK_HELD.
func DeriveGateB(ctx context.Context, clock run.Clock, req GateRequest) (GateResult, error) {
	return deriveGateB(ctx, clock, req, func(*run.Update, GateResult) error { return nil })
}

// RecordGateB derives gate B and records it in the run's gates, in one step
// under the lock. It returns the errors of [DeriveGateB] and of
// [run.Update.EditGates].
func RecordGateB(ctx context.Context, clock run.Clock, req GateRequest) (GateResult, error) {
	result, err := deriveGateB(ctx, clock, req, func(u *run.Update, g GateResult) error {
		_, err := u.EditGates(codec.Of(g.Update), g.InputsDigest, nil, strings.TrimSpace(req.Reason))
		return err
	})
	result.recorded = err == nil
	return result, err
}

func deriveGateB(ctx context.Context, clock run.Clock, req GateRequest, then func(*run.Update, GateResult) error) (GateResult, error) {
	opened, err := run.Open(ctx, req.ManifestPath)
	if err != nil {
		return GateResult{}, err
	}
	defer opened.Close()
	name := opened.Layout().WaveReview
	if req.ReportPath != "" {
		if name, err = opened.Name("wave_review_report_path", req.ReportPath); err != nil {
			return GateResult{}, err
		}
	}
	var result GateResult
	_, err = opened.Update(ctx, clock, func(u *run.Update) error {
		g := gateB{run: opened, reportName: name}
		if err := g.read(); err != nil {
			return err
		}
		if err := g.judgeAgain(ctx); err != nil {
			return err
		}
		result = g.result(u.Now())
		u.Audit("gate_b_derive", tidegate.D("reason", strings.TrimSpace(req.Reason), "status", result.Status, "metrics", result.Metrics,
			"inputs_digest", result.InputsDigest, "wave_review_report_path", result.WaveReviewReport, "warnings", result.warnings))
		return then(u, result)
	})
	return result, err
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

// gateB is one derivation under way.
type gateB struct {
	run        *run.Run
	reportName string
	report     *codec.Value
	doc        *perspective.Document
	stale      []string // ids whose output is judged differently by now
	missing    []string // ids of the run that the report does not cover
	over       []string // "id: what is wrong with the use of tools"
	bound      *codec.Value
}

func (g *gateB) read() error {
	path := g.run.Path(g.reportName)
	data, err := g.run.Folder().Read(g.reportName)
	if err != nil {
		return tidegate.WithDetails(err, tidegate.D("wave_review_report_path", path))
	}
	if g.report, err = codec.ParseFile("wave_review_report_path", path, data); err != nil {
		return err
	}
	if ok := g.report.Get("ok"); ok.Kind() == codec.Bool && !ok.Bool() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.D("ok", false), "%s is the error of a review that did not take place", path)
	}
	if err := reviewShape.Check(g.report); err != nil {
		return err
	}
	name := g.run.Layout().Perspectives
	if data, err = g.run.Folder().Read(name); err != nil {
		return tidegate.WithDetails(err, tidegate.D("perspectives_path", g.run.Path(name)))
	}
	g.doc, err = perspective.Parse(data, perspective.Contracts)
	var syntax *codec.SyntaxError
	if errors.As(err, &syntax) {
		return codec.NotJSON(tidegate.D("perspectives_path", g.run.Path(name)), name, syntax)
	}
	return err
}

// judgeAgain compares the report with the outputs as they are, and binds the
// gate to them. What changes in between is refused rather than guessed.
func (g *gateB) judgeAgain(ctx context.Context) error {
	names := g.files()
	before, err := run.Bind(g.run.Folder(), names)
	if err != nil {
		return err
	}
	reported := map[string]*codec.Value{}
	for _, r := range g.report.Get("results").Elems() {
		reported[r.Get("perspective_id").Str()] = r
	}
	judge := new(Judge)
	for _, p := range g.doc.Perspectives {
		r := reported[p.ID]
		if r == nil {
			g.missing = append(g.missing, p.ID)
			continue
		}
		code, err := g.judgeOne(ctx, judge, p)
		if err != nil {
			return err
		}
		if r.Get("pass").Bool() != (code == "") || r.Get("failure").Get("code").Str() != code {
			g.stale = append(g.stale, p.ID)
		}
		delete(reported, p.ID)
		problem, err := g.toolUsage(p)
		if err != nil {
			return err
		}
		if problem != "" {
			g.over = append(g.over, p.ID+": "+problem)
		}
	}
	for id := range reported { // results for perspectives that the run does not have
		g.stale = append(g.stale, id)
	}
	slices.Sort(g.stale)
	after, err := run.Bind(g.run.Folder(), names)
	if err != nil {
		return err
	}
	g.bound = after.Value()
	if codec.Digest(before.Value()) != codec.Digest(g.bound) {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.D("run_root", g.run.Root()), "the outputs change while they are judged; derive the gate again when the agents have finished")
	}
	return nil
}

// files are what the gate is bound to: the report, the contracts, every output
// and its sidecar where there is one.
func (g *gateB) files() []string {
	names := []string{g.reportName, g.run.Layout().Perspectives}
	for _, p := range g.doc.Perspectives {
		names = append(names, g.output(p))
		if ok, err := g.run.Folder().Exists(g.sidecar(p)); ok && err == nil {
			names = append(names, g.sidecar(p))
		}
	}
	return names
}

func (g *gateB) output(p perspective.Perspective) string {
	return path.Join(g.run.Layout().Wave1Dir, p.ID+".md")
}

func (g *gateB) sidecar(p perspective.Perspective) string {
	return sidecarOf(g.output(p))
}

// judgeOne is the code of the failure, "" for an output that passes.
func (g *gateB) judgeOne(ctx context.Context, judge *Judge, p perspective.Perspective) (string, error) {
	file, err := g.run.Folder().Open(g.output(p))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return string(tidegate.OutputNotFound), nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	verdict, err := judge.Judge(ctx, p.Contract, file)
	if err != nil {
		return "", unreadable(ctx, tidegate.D("markdown_path", g.run.Path(g.output(p))), g.run.Path(g.output(p)), err)
	}
	if failure := verdict.Failure(); failure != nil {
		return string(failure.Code), nil
	}
	return "", nil
}

// toolUsage says what is wrong with the recorded use of tools, or "". That the
// record cannot be read is an error, and says nothing of the tools.
func (g *gateB) toolUsage(p perspective.Perspective) (string, error) {
	data, err := g.run.Folder().Read(g.sidecar(p))
	switch {
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		return "", nil
	case err != nil:
		return "", tidegate.WithDetails(err, tidegate.D("meta_path", g.run.Path(g.sidecar(p))))
	}
	v, err := codec.Parse(data)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidToolUsage, nil, "the sidecar is not JSON: %w", err).Error(), nil
	}
	if err := checkToolUsage(p.ToolBudget, v.Get("tool_usage")); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

func (g *gateB) result(now string) GateResult {
	results, directives := g.report.Get("results").Elems(), g.report.Get("retry_directives").Elems()
	validated, _ := g.report.Get("validated").Int()
	failed, _ := g.report.Get("failed").Int()
	failing := int64(0)
	for _, r := range results {
		if !r.Get("pass").Bool() {
			failing++
		}
	}
	var warnings []string
	warn := func(holds bool, code string) {
		if holds {
			warnings = append(warnings, code)
		}
	}
	warn(!g.report.Get("pass").Bool(), "WAVE_REVIEW_PASS_FALSE")
	warn(validated == 0, "ZERO_VALIDATED_PERSPECTIVES")
	warn(failed != 0, "FAILED_COUNT_NON_ZERO")
	warn(len(directives) > 0, "RETRY_DIRECTIVES_PRESENT")
	warn(int64(len(results)) != validated, "RESULT_COUNT_MISMATCH")
	warn(failing > 0, "RESULT_PASS_FALSE_PRESENT")
	warn(failing != failed, "FAILED_COUNT_INCONSISTENT_WITH_RESULTS")
	warn(len(g.stale) > 0, "STALE_REPORT")
	warn(len(g.missing) > 0, "PERSPECTIVES_NOT_REVIEWED")
	warn(len(g.over) > 0, string(tidegate.ToolBudgetExceeded))

	out := GateResult{
		GateID: "B", Status: run.GatePass, InputsDigest: codec.Digest(g.inputs()), WaveReviewReport: g.run.Path(g.reportName), Rule: gateRule, warnings: warnings,
	}
	if len(warnings) > 0 {
		out.Status = run.GateFail
	}
	out.Metrics = tidegate.D("validated_count", validated, "failed_count", failed, "results_count", len(results),
		"retry_directives_count", len(directives), "report_pass_flag", flag(g.report.Get("pass").Bool()), "validated_positive", flag(validated > 0),
		"all_results_pass", flag(failing == 0), "failed_matches_results", flag(failing == failed))
	out.notes = g.notes()
	out.Update = tidegate.D("B", tidegate.D("status", out.Status, "checked_at", now,
		"metrics", append(slices.Clone(out.Metrics), tidegate.Detail{Key: "bound", Value: g.bound}),
		"artifacts", g.files(), "warnings", append([]string{}, warnings...), "notes", out.notes))
	return out
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// notes names the perspectives behind the warnings.
func (g *gateB) notes() string {
	var parts []string
	for _, n := range []struct {
		what string
		ids  []string
	}{{"judged differently by now", g.stale}, {"not reviewed", g.missing}, {"tools", g.over}} {
		if len(n.ids) > 0 {
			parts = append(parts, strconv.Itoa(len(n.ids))+" "+n.what+": "+strings.Join(n.ids, ", "))
		}
	}
	return tidegate.Cut(strings.Join(parts, "; "))
}

// inputs is what the digest covers: what the report says, by name and not by
// place, so that it is the same wherever the run lies.
func (g *gateB) inputs() tidegate.Details {
	results, directives := []tidegate.Details{}, []tidegate.Details{}
	sorted := slices.Clone(g.report.Get("results").Elems())
	slices.SortStableFunc(sorted, func(a, b *codec.Value) int {
		return strings.Compare(a.Get("perspective_id").Str(), b.Get("perspective_id").Str())
	})
	for _, r := range sorted {
		var code any
		if c := r.Get("failure").Get("code"); c != nil {
			code = c
		}
		results = append(results, tidegate.D("perspective_id", r.Get("perspective_id"), "pass", r.Get("pass"), "failure_code", code))
	}
	for i, d := range g.report.Get("retry_directives").Elems() {
		directives = append(directives, tidegate.D("index", i, "perspective_id", d.Get("perspective_id"), "blocking_error_code", d.Get("blocking_error_code")))
	}
	return tidegate.D("schema", "gate_b_derive.inputs.v1", "report_path", g.reportName, "report_ok", true, "report_pass", g.report.Get("pass"),
		"validated", g.report.Get("validated"), "failed", g.report.Get("failed"), "results", results, "retry_directives", directives)
}
