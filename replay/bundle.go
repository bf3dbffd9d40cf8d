package replay

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
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
	bundle, err := codec.MarshalFile(tidegate.D("bundle_id", in.BundleID, "created_at", clock.Stamp(), "included_paths", out.IncludedPaths, "no_web", true,
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
	Steps         []Step        `json:"steps"`
	Summary       ReplaySummary `json:"summary"`
}

// ReplaySummary counts what was compared.
type ReplaySummary struct {
	Compared    int  `json:"files_compared_total"`
	Matched     int  `json:"files_matched_total"`
	Mismatched  int  `json:"files_mismatched_total"`
	OverallPass bool `json:"overall_pass"`
}

// Passed reports whether nothing differs.
func (b BundleReplay) Passed() bool { return b.Summary.OverallPass }

// ReplayBundle is the tool deep_research_fixture_replay: it looks whether a captured
// run is as it was captured, and does again what it did by rule. It writes nothing.
//
// It returns NOT_FOUND, INVALID_JSON and SCHEMA_VALIDATION_FAILED for a folder that
// is no captured run, and the errors of [run.Open] and [Run].
func ReplayBundle(ctx context.Context, program string, in BundleReplayInput) (BundleReplay, error) {
	if err := run.CheckPath("bundle_root", in.BundleRoot); err != nil {
		return BundleReplay{}, err
	}
	path := filepath.Join(in.BundleRoot, bundleFile)
	data, err := artifact.ReadFile(ctx, "bundle_root", path)
	if err != nil {
		return BundleReplay{}, err
	}
	bundle, err := codec.ParseFile("bundle_root", path, data)
	if err != nil {
		return BundleReplay{}, err
	}
	if bundle.Get("schema_version").Str() != BundleVersion || bundle.Get("sha256").Kind() != codec.Object {
		return BundleReplay{}, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$.schema_version", "bundle_root", in.BundleRoot),
			"%s does not describe a captured run: it must be a %s with the digests of its files", path, BundleVersion)
	}
	r, err := run.Open(ctx, filepath.Join(in.BundleRoot, run.ManifestFile))
	if err != nil {
		return BundleReplay{}, err
	}
	defer r.Close()
	out := BundleReplay{SchemaVersion: "fixture_replay.report.v1", BundlePath: in.BundleRoot, BundleID: bundle.Get("bundle_id").Str(), RunID: r.ID(), Steps: []Step{}}
	for _, m := range bundle.Get("sha256").Members() {
		kept, err := r.Folder().Read(m.Key)
		switch {
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			out.Steps = append(out.Steps, Step{m.Key, false, "it is not there"})
		case err != nil:
			return BundleReplay{}, err
		case codec.DigestBytes(kept) != m.Value.Str():
			out.Steps = append(out.Steps, Step{m.Key, false, "it is not as it was captured"})
		}
	}
	replayed, err := Run(ctx, r, program)
	if err != nil {
		return BundleReplay{}, err
	}
	out.Steps = append(out.Steps, replayed.Steps...)
	for _, s := range out.Steps {
		out.Summary.Compared++
		if s.Same {
			out.Summary.Matched++
		}
	}
	out.Summary.Mismatched = out.Summary.Compared - out.Summary.Matched
	out.Summary.OverallPass = out.Summary.Compared > 0 && out.Summary.Mismatched == 0
	out.Status = "fail"
	if out.Summary.OverallPass {
		out.Status = "pass"
	}
	return out, nil
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

// Outcome is what came of one captured run.
type Outcome struct {
	BundleID   string `json:"bundle_id"`
	BundleRoot string `json:"bundle_root"`
	OK         bool   `json:"ok"`
	Status     string `json:"status" jsonschema:"pass, fail or error"`
	Problem    string `json:"problem" jsonschema:"what differs, or why it cannot be replayed; empty when it passes"`
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
			o.OK, o.Status, o.Problem = false, "error", string(tidegate.CodeOf(err))+": "+tidegate.AsError(err).Message
			out.Summary.Error++
		case !replayed.Passed():
			o.Status = "fail"
			out.Summary.Fail++
			for _, s := range replayed.Steps {
				if !s.Same && o.Problem == "" {
					o.Problem = s.What + ": " + s.Difference
				}
			}
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
