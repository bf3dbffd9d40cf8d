package replay

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/gate"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// BundleVersion is the schema_version of a captured run.
const BundleVersion = "fixture_bundle.v1"

// bundleFile describes a captured run; it lies beside the run's own files.
const bundleFile = "bundle.json"

// CaptureInput are the arguments of [Capture].
type CaptureInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	OutputDir    string `json:"output_dir" path:"absolute" jsonschema:"absolute path of the folder in which the bundle is made"`
	BundleID     string `json:"bundle_id" jsonschema:"the name of the bundle, which becomes its folder's name"`
	Reason       string `json:"reason" jsonschema:"accepted for older callers; the run is left as it is"`
}

// CaptureResult is the result of [Capture].
type CaptureResult struct {
	OK             codec.True `json:"ok"`
	SchemaVersion  string     `json:"schema_version"`
	BundleID       string     `json:"bundle_id"`
	BundleRoot     string     `json:"bundle_root"`
	BundleJSONPath string     `json:"bundle_json_path"`
	RunID          string     `json:"run_id"`
	NoWeb          bool       `json:"no_web" jsonschema:"true: replaying it needs no network"`
	IncludedPaths  []string   `json:"included_paths"`
}

// Capture is the tool deep_research_fixture_bundle_capture: it copies a run, as it
// is, into a new folder that can be replayed. The folder appears whole or not at
// all; the run is left as it is, its log too.
//
// It returns INVALID_ARGS, PATH_TRAVERSAL, PATH_NOT_ALLOWED as
// [run.NewPlace] does, ALREADY_EXISTS_CONFLICT, the errors of [run.Open],
// READ_FAILED and WRITE_FAILED.
func Capture(ctx context.Context, clock run.Clock, home string, in CaptureInput) (CaptureResult, error) {
	if err := run.CheckPath("output_dir", in.OutputDir); err != nil {
		return CaptureResult{}, err
	}
	if err := run.CheckID(in.BundleID); err != nil {
		return CaptureResult{}, tidegate.Errorf(tidegate.CodeOf(err), tidegate.D("bundle_id", tidegate.Cut(in.BundleID)), "bundle_id: %s", tidegate.AsError(err).Message)
	}
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return CaptureResult{}, err
	}
	defer r.Close()
	root := filepath.Join(in.OutputDir, in.BundleID)
	place, err := run.NewPlace(ctx, home, "output_dir", root)
	if err != nil {
		return CaptureResult{}, err
	}
	files, err := runFiles(r)
	if err != nil {
		return CaptureResult{}, err
	}
	out := CaptureResult{SchemaVersion: BundleVersion, BundleID: in.BundleID, BundleRoot: root, BundleJSONPath: filepath.Join(root, bundleFile), RunID: r.ID(), NoWeb: true,
		IncludedPaths: []string{bundleFile}}
	digests := codec.NewObject()
	for _, file := range files {
		name := strings.TrimPrefix(file.Name, inRun)
		out.IncludedPaths = append(out.IncludedPaths, name)
		digests.Set(name, codec.Of(codec.DigestBytes(file.Data)))
	}
	slices.Sort(out.IncludedPaths)
	gates, err := r.Gates()
	if err != nil {
		return CaptureResult{}, err
	}
	bundle, err := codec.MarshalFile(tidegate.D("bundle_id", in.BundleID, "created_at", clock.Stamp(), "included_paths", out.IncludedPaths,
		"inputs_digest", gates.Doc().Get("inputs_digest"), "no_web", true,
		"run_id", r.ID(), "schema_version", BundleVersion, "sha256", digests))
	if err != nil {
		return CaptureResult{}, err
	}
	err = artifact.CreateFolder(place, "output_dir", root, func(d *artifact.Draft) error {
		for _, file := range files {
			if err := d.Write(strings.TrimPrefix(file.Name, inRun), file.Data); err != nil {
				return err
			}
		}
		return d.Write(bundleFile, bundle)
	})
	return out, err
}

// BundleReplayInput are the arguments of [ReplayBundle].
type BundleReplayInput struct {
	BundleRoot string `json:"bundle_root" path:"absolute" jsonschema:"absolute path of the folder of a captured run"`
	Reason     string `json:"reason" jsonschema:"accepted for older callers; nothing is written"`
}

// BundleReplay is the result of [ReplayBundle].
type BundleReplay struct {
	OK            codec.True    `json:"ok"`
	SchemaVersion string        `json:"schema_version"`
	BundlePath    string        `json:"bundle_path"`
	BundleID      string        `json:"bundle_id"`
	RunID         string        `json:"run_id"`
	Status        string        `json:"status" jsonschema:"pass or fail"`
	Checks        BundleChecks  `json:"checks"`
	Changed       []string      `json:"changed" jsonschema:"files that are not as they were captured"`
	Replay        Result        `json:"replay" jsonschema:"what the run did by rule, done again"`
	Summary       BundleSummary `json:"summary"`
	ReportPath    *string       `json:"replay_report_path" jsonschema:"null: nothing is written into a captured run"`
}

// BundleChecks are the checks of the earlier system: they compare what gate E says
// of the synthesis with what the bundle keeps of it.
type BundleChecks struct {
	Reports ReportChecks `json:"gate_e_reports"`
	Status  StatusChecks `json:"gate_e_status"`
}

// ReportChecks compare the reports of gate E. A report that the run did not ask for
// is compared with nothing.
type ReportChecks struct {
	Recomputed map[string]string `json:"recomputed_sha256"`
	Bundled    map[string]string `json:"bundled_sha256"`
	Matches    map[string]bool   `json:"matches"`
	Mismatches []string          `json:"mismatches"`
}

// StatusChecks compare the status of gate E and its warnings, each in byte order.
type StatusChecks struct {
	Status   string          `json:"evaluated_status" jsonschema:"pass or fail, empty where the run has no synthesis"`
	Warnings []string        `json:"evaluated_warnings"`
	Report   *BundledStatus  `json:"bundled_status_report" jsonschema:"null where the run has no report of gate E"`
	Gates    *BundledStatus  `json:"gates_snapshot" jsonschema:"null where gate E was not judged"`
	Checks   map[string]bool `json:"checks" jsonschema:"status and warnings against the report and the gates, as far as the bundle has them"`
}

// BundledStatus is a status that a bundle keeps.
type BundledStatus struct {
	Status   string   `json:"status"`
	Warnings []string `json:"warnings"`
}

// BundleSummary counts what was compared.
type BundleSummary struct {
	Compared     int  `json:"files_compared_total"`
	Matched      int  `json:"files_matched_total"`
	Mismatched   int  `json:"files_mismatched_total"`
	StatusChecks int  `json:"gate_e_status_checks_total"`
	StatusPassed int  `json:"gate_e_status_checks_passed"`
	OverallPass  bool `json:"overall_pass"`
}

// Passed reports whether nothing differs.
func (b BundleReplay) Passed() bool { return b.Summary.OverallPass }

// ReplayBundle is the tool deep_research_fixture_replay: it checks that a captured
// run is as it was captured, does again what it did by rule, and compares what gate E
// says of its synthesis with what it keeps. It writes nothing.
//
// It returns NOT_FOUND, INVALID_JSON and SCHEMA_VALIDATION_FAILED for a folder that
// is not a captured run, and the errors of [run.Open] and [Run].
func ReplayBundle(ctx context.Context, program string, in BundleReplayInput) (BundleReplay, error) {
	if err := run.CheckPath("bundle_root", in.BundleRoot); err != nil {
		return BundleReplay{}, err
	}
	bundle, err := readBundle(ctx, in.BundleRoot)
	if err != nil {
		return BundleReplay{}, err
	}
	r, err := run.Open(ctx, filepath.Join(in.BundleRoot, run.ManifestFile))
	if err != nil {
		return BundleReplay{}, err
	}
	defer r.Close()
	out := BundleReplay{SchemaVersion: "fixture_replay.report.v1", BundlePath: in.BundleRoot, BundleID: bundle.Get("bundle_id").Str(), RunID: r.ID(), Changed: []string{}}
	for _, m := range bundle.Get("sha256").Members() {
		digest, err := r.Folder().Digest(m.Key)
		if err != nil {
			return BundleReplay{}, err
		}
		if digest != m.Value.Str() {
			out.Changed = append(out.Changed, m.Key)
		}
	}
	if out.Replay, err = Run(ctx, r, program); err != nil {
		return BundleReplay{}, err
	}
	if out.Checks, err = checkGateE(ctx, r); err != nil {
		return BundleReplay{}, err
	}
	out.sum()
	return out, nil
}

// readBundle reads what describes a captured run.
func readBundle(ctx context.Context, root string) (*codec.Value, error) {
	path := filepath.Join(root, bundleFile)
	data, err := artifact.ReadDocument(ctx, "bundle_root", path)
	if err != nil {
		return nil, err
	}
	bundle, err := codec.ParseFile("bundle_root", path, data)
	if err != nil {
		return nil, err
	}
	return bundle, bundleShape.Check(bundle)
}

var bundleShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.OneOf(BundleVersion)},
	codec.Field{Name: "bundle_id", Shape: codec.NotBlank()},
	codec.Field{Name: "run_id", Shape: codec.NotBlank()},
	codec.Field{Name: "included_paths", Shape: codec.List(codec.NotBlank(), 1)},
	codec.Field{Name: "sha256", Shape: codec.MapOf(codec.NotBlank()), Optional: true},
)

// checkGateE asks gate E about the synthesis of a captured run.
func checkGateE(ctx context.Context, r *run.Run) (BundleChecks, error) {
	out := BundleChecks{
		Reports: ReportChecks{Recomputed: map[string]string{}, Bundled: map[string]string{}, Matches: map[string]bool{}, Mismatches: []string{}},
		Status:  StatusChecks{Warnings: []string{}, Checks: map[string]bool{}},
	}
	found, err := step.Assess(ctx, r)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return out, nil // the run did not come that far
	}
	if err != nil {
		return BundleChecks{}, err
	}
	for _, report := range found.Reports {
		out.Reports.Recomputed[report.Name] = codec.DigestBytes(report.Data)
		kept, err := r.Folder().Read(report.Name)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return BundleChecks{}, err
		}
		out.Reports.Bundled[report.Name] = codec.DigestBytes(kept)
		out.Reports.Matches[report.Name] = bytes.Equal(kept, report.Data)
		if !bytes.Equal(kept, report.Data) {
			out.Reports.Mismatches = append(out.Reports.Mismatches, report.Name)
		}
		if path.Base(report.Name) == "gate-e-status.json" {
			doc, err := codec.ParseFile("bundle_root", r.Path(report.Name), kept)
			if err != nil {
				return BundleChecks{}, err
			}
			out.Status.Report = statusOf(doc)
		}
	}
	gates, err := r.Gates()
	if err != nil {
		return BundleChecks{}, err
	}
	if e := gates.Gate("E"); e.Get("status").Str() == gate.Pass || e.Get("status").Str() == gate.Fail {
		out.Status.Gates = statusOf(e)
	}
	out.Status.Status, out.Status.Warnings = found.Judgement.Status(), sorted(found.Judgement.Said())
	for name, kept := range map[string]*BundledStatus{"bundled_report": out.Status.Report, "gates_snapshot": out.Status.Gates} {
		if kept != nil {
			out.Status.Checks["status_matches_"+name] = kept.Status == out.Status.Status
			out.Status.Checks["warnings_match_"+name] = slices.Equal(kept.Warnings, out.Status.Warnings)
		}
	}
	return out, nil
}

func statusOf(doc *codec.Value) *BundledStatus {
	s := BundledStatus{Status: doc.Get("status").Str()}
	for _, w := range doc.Get("warnings").Elems() {
		s.Warnings = append(s.Warnings, strings.TrimSpace(w.Str()))
	}
	s.Warnings = sorted(s.Warnings)
	return &s
}

// sorted are texts in byte order, each once.
func sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}

// sum counts what was compared. A run without a log, of which only the earlier
// system's files were captured, is judged by those.
func (b *BundleReplay) sum() {
	s := &b.Summary
	s.Compared, s.Mismatched = len(b.Checks.Reports.Bundled), len(b.Checks.Reports.Mismatches)
	s.Matched = s.Compared - s.Mismatched
	s.StatusChecks = len(b.Checks.Status.Checks)
	for _, holds := range b.Checks.Status.Checks {
		if holds {
			s.StatusPassed++
		}
	}
	replayed := b.Replay.Pass || len(b.Replay.Steps) == 0
	compared := len(b.Replay.Steps) + s.Compared + s.StatusChecks
	s.OverallPass = len(b.Changed) == 0 && replayed && compared > 0 && s.Mismatched == 0 && s.StatusPassed == s.StatusChecks
	b.Status = "fail"
	if s.OverallPass {
		b.Status = "pass"
	}
}

// problem is the first thing that differs.
func (b BundleReplay) problem() string {
	for _, name := range b.Changed {
		return name + ": it is not as it was captured"
	}
	for _, s := range b.Replay.Steps {
		if !s.Same {
			return s.What + ": " + s.Difference
		}
	}
	for _, name := range b.Checks.Reports.Mismatches {
		return name + ": gate E says something else"
	}
	return "gate E does not say what the bundle keeps of it, or there was nothing to compare"
}

// RegressionInput are the arguments of [Regress].
type RegressionInput struct {
	FixturesRoot string   `json:"fixtures_root" path:"absolute" jsonschema:"absolute path of the folder that holds captured runs"`
	BundleIDs    []string `json:"bundle_ids" minitems:"1" jsonschema:"the names of the captured runs to replay"`
	Reason       string   `json:"reason" jsonschema:"accepted for older callers; nothing is written"`
}

// Regression is the result of [Regress].
type Regression struct {
	OK            codec.True        `json:"ok"`
	SchemaVersion string            `json:"schema_version"`
	FixturesRoot  string            `json:"fixtures_root"`
	Status        string            `json:"status" jsonschema:"pass or fail"`
	Summary       RegressionSummary `json:"summary"`
	Outcomes      []Outcome         `json:"outcomes"`
}

// RegressionSummary counts outcomes.
type RegressionSummary struct {
	Total int `json:"total"`
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Error int `json:"error"`
}

// Outcome is the outcome for one captured run.
type Outcome struct {
	BundleID   string        `json:"bundle_id"`
	BundleRoot string        `json:"bundle_root"`
	OK         bool          `json:"ok" jsonschema:"false for one that cannot be replayed"`
	Status     string        `json:"status" jsonschema:"pass, fail or error"`
	Problem    string        `json:"problem" jsonschema:"what differs first; empty when it passes"`
	ReportPath *string       `json:"replay_report_path" jsonschema:"null: nothing is written into a captured run"`
	Error      *OutcomeError `json:"error" jsonschema:"why it cannot be replayed, null when it can"`
}

// OutcomeError is why a captured run cannot be replayed.
type OutcomeError struct {
	Code    tidegate.Code `json:"code"`
	Message string        `json:"message"`
}

// Passed reports whether every captured run comes out as it was.
func (r Regression) Passed() bool { return r.Status == "pass" }

// Regress is the tool deep_research_regression_run: it replays captured runs, each
// as [ReplayBundle] does. One that cannot be replayed is an outcome. It writes
// nothing. It returns INVALID_ARGS.
func Regress(ctx context.Context, program string, in RegressionInput) (Regression, error) {
	if err := run.CheckPath("fixtures_root", in.FixturesRoot); err != nil {
		return Regression{}, err
	}
	ids := []string{}
	for _, id := range in.BundleIDs {
		if id = strings.TrimSpace(id); id != "" {
			if err := run.CheckID(id); err != nil {
				return Regression{}, tidegate.Errorf(tidegate.CodeOf(err), tidegate.D("bundle_ids", tidegate.Cut(id)), "bundle_ids: %s", tidegate.AsError(err).Message)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return Regression{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("bundle_ids", in.BundleIDs), "bundle_ids must name a captured run")
	}
	out := Regression{SchemaVersion: "fixture_regression.report.v1", FixturesRoot: in.FixturesRoot, Status: "pass"}
	for _, id := range ids {
		o := Outcome{BundleID: id, BundleRoot: filepath.Join(in.FixturesRoot, id), OK: true}
		replayed, err := ReplayBundle(ctx, program, BundleReplayInput{BundleRoot: o.BundleRoot})
		out.Summary.Total++
		switch {
		case ctx.Err() != nil:
			return Regression{}, ctx.Err()
		case err != nil:
			e := tidegate.AsError(err)
			o.OK, o.Status, o.Problem, o.Error = false, "error", e.Message, &OutcomeError{e.Code, e.Message}
			out.Summary.Error++
		case !replayed.Passed():
			o.Status, o.Problem = "fail", replayed.problem()
			out.Summary.Fail++
		default:
			o.Status = "pass"
			out.Summary.Pass++
		}
		if o.Status != "pass" {
			out.Status = "fail"
		}
		out.Outcomes = append(out.Outcomes, o)
	}
	return out, nil
}
