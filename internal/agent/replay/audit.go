package replay

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/gate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/internal/work/telemetry"
)

// AuditInput are the arguments of [Audit].
type AuditInput struct {
	FixturesRoot string   `json:"fixtures_root,omitzero" path:"absolute" jsonschema:"absolute path of a folder that holds captured runs"`
	BundleRoots  []string `json:"bundle_roots,omitzero" path:"absolute" jsonschema:"absolute paths of captured runs"`
	BundlePaths  []string `json:"bundle_paths,omitzero" path:"absolute" jsonschema:"the same as bundle_roots; both are looked at"`
	MinBundles   int64    `json:"min_bundles,omitzero" min:"1" default:"1" jsonschema:"how many captured runs must be usable"`
	Telemetry    bool     `json:"include_telemetry_metrics,omitzero" default:"true" jsonschema:"look at how long the runs took, too"`
	OutputDir    string   `json:"output_dir,omitzero" path:"absolute" writes:"true" jsonschema:"absolute path of a new folder to write quality-audit.json to; nothing is written when absent"`
	Reason       string   `json:"reason" jsonschema:"why"`
}

// QualityAudit is the result of [Audit].
type QualityAudit struct {
	OK             codec.True      `json:"ok"`
	SchemaVersion  string          `json:"schema_version"`
	BundlesScanned int             `json:"bundles_scanned_total"`
	BundlesUsed    int             `json:"bundles_used_total"`
	Findings       []AuditFinding  `json:"findings" jsonschema:"errors first, then warnings, each by code and bundle"`
	Summary        AuditSummary    `json:"summary"`
	Bundles        []AuditedBundle `json:"bundles" jsonschema:"by bundle_id, run_id and folder"`
	Invalid        []InvalidBundle `json:"invalid_bundles"`
	OutputPath     *string         `json:"output_path" jsonschema:"null when nothing was written"`
}

// AuditFinding is one thing that captured runs show.
type AuditFinding struct {
	Code     string           `json:"code"`
	Severity string           `json:"severity" jsonschema:"error or warn"`
	BundleID *string          `json:"bundle_id" jsonschema:"null for what several show together"`
	RunID    *string          `json:"run_id" jsonschema:"null where there is none"`
	Details  tidegate.Details `json:"details"`
}

// AuditSummary counts what was found.
type AuditSummary struct {
	Warnings             int             `json:"warnings_total"`
	Errors               int             `json:"errors_total"`
	Infos                int             `json:"info_total"`
	InvalidBundles       int             `json:"invalid_bundles_total"`
	BundlesWithTelemetry int             `json:"bundles_with_telemetry_total"`
	GateE                AuditedGate     `json:"gate_e_status"`
	DriftFlags           []string        `json:"drift_flags" jsonschema:"the codes of what several runs show together, in byte order"`
	Telemetry            *AuditTelemetry `json:"telemetry" jsonschema:"null where no run says how long it took"`
}

// AuditedGate counts the syntheses that pass gate E, and those that do not.
type AuditedGate struct {
	Pass int `json:"pass"`
	Fail int `json:"fail"`
}

// AuditTelemetry is how long the runs took.
type AuditTelemetry struct {
	Duration AuditEnvelope `json:"run_duration_s"`
}

// AuditEnvelope has the bounds within which figures lie.
type AuditEnvelope struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	Avg float64 `json:"avg"`
}

// AuditedBundle is what one captured run shows.
type AuditedBundle struct {
	BundleID   string           `json:"bundle_id"`
	RunID      string           `json:"run_id"`
	BundleRoot string           `json:"bundle_root"`
	GateE      string           `json:"gate_e_status"`
	Metrics    tidegate.Details `json:"metrics" jsonschema:"the figures of gate E"`
	DurationS  *int64           `json:"run_duration_s" jsonschema:"null where the run does not say"`

	utilization, duplicates synthesis.Rate
	missing                 bool
}

// InvalidBundle is a folder that cannot be used.
type InvalidBundle struct {
	BundleRoot string `json:"bundle_root"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

// Audit is the tool deep_research_quality_audit: it judges the syntheses of captured
// runs by the rules of today, and says what several of them show together, in the
// order of their names. It writes nothing but a report that is asked for.
//
// It returns INVALID_ARGS where there are too few, PATH_NOT_ALLOWED and
// ALREADY_EXISTS_CONFLICT for the folder to write to, and WRITE_FAILED.
func Audit(ctx context.Context, home string, in AuditInput) (QualityAudit, error) {
	roots, err := in.roots(ctx)
	if err != nil {
		return QualityAudit{}, err
	}
	out := QualityAudit{SchemaVersion: "quality_audit.report.v1", BundlesScanned: len(roots), Findings: []AuditFinding{}, Bundles: []AuditedBundle{}, Invalid: []InvalidBundle{}}
	for _, root := range roots {
		if err := ctx.Err(); err != nil {
			return QualityAudit{}, err
		}
		out.bundle(ctx, root, in.Telemetry)
	}
	if least := max(in.MinBundles, 1); int64(len(out.Bundles)) < least {
		return QualityAudit{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("min_bundles", least, "bundles_scanned_total", len(roots),
			"bundles_used_total", len(out.Bundles), "invalid_bundles", out.Invalid), "%d of %d captured runs can be used, and %d must be", len(out.Bundles), len(roots), least)
	}
	slices.SortStableFunc(out.Bundles, func(a, b AuditedBundle) int {
		return cmp.Or(strings.Compare(a.BundleID, b.BundleID), strings.Compare(a.RunID, b.RunID), strings.Compare(a.BundleRoot, b.BundleRoot))
	})
	out.BundlesUsed = len(out.Bundles)
	out.drift()
	out.sum()
	if in.OutputDir == "" {
		return out, nil
	}
	place, err := run.NewPlace(ctx, home, "output_dir", in.OutputDir)
	if err != nil {
		return QualityAudit{}, err
	}
	path := filepath.Join(in.OutputDir, "quality-audit.json")
	out.OutputPath = &path
	data, err := codec.MarshalFile(out)
	if err != nil {
		return QualityAudit{}, err
	}
	return out, artifact.CreateFolder(place, "output_dir", in.OutputDir, func(d *artifact.Draft) error { return d.Write("quality-audit.json", data) })
}

// roots are the folders of the captured runs, each once.
func (in AuditInput) roots(ctx context.Context) ([]string, error) {
	roots := slices.Concat(in.BundleRoots, in.BundlePaths)
	if in.FixturesRoot != "" {
		folder, err := artifact.Open(ctx, "fixtures_root", in.FixturesRoot)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		entries, err := folder.List(".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if there, err := folder.Exists(e.Name() + "/" + bundleFile); e.IsDir() && err == nil && there && !strings.HasPrefix(e.Name(), ".") {
				roots = append(roots, filepath.Join(in.FixturesRoot, e.Name()))
			}
		}
	}
	slices.Sort(roots)
	if roots = slices.Compact(roots); len(roots) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("fixtures_root", in.FixturesRoot, "bundle_roots", in.BundleRoots), "no captured run is named or found")
	}
	return roots, nil
}

func (q *QualityAudit) find(severity, code string, of *AuditedBundle, details tidegate.Details) {
	f := AuditFinding{Code: code, Severity: severity, Details: details}
	if of != nil {
		f.BundleID, f.RunID = &of.BundleID, &of.RunID
	}
	q.Findings = append(q.Findings, f)
}

// bundle judges the synthesis of one captured run.
func (q *QualityAudit) bundle(ctx context.Context, root string, timed bool) {
	b := AuditedBundle{BundleID: filepath.Base(root), BundleRoot: root}
	err := b.read(ctx, timed, q)
	if err == nil {
		q.Bundles = append(q.Bundles, b)
		return
	}
	e := tidegate.AsError(err)
	q.Invalid = append(q.Invalid, InvalidBundle{root, string(e.Code), e.Message})
	q.Findings = append(q.Findings, AuditFinding{"BUNDLE_INVALID", "error", &b.BundleID, nil, tidegate.D("code", e.Code, "message", e.Message)})
}

func (b *AuditedBundle) read(ctx context.Context, timed bool, q *QualityAudit) error {
	r, err := run.Open(ctx, filepath.Join(b.BundleRoot, run.ManifestFile))
	if err != nil {
		return err
	}
	defer r.Close()
	b.RunID = r.ID()
	if captured, err := readBundle(ctx, b.BundleRoot); err == nil {
		b.BundleID = captured.Get("bundle_id").Str()
	}
	found, err := step.Assess(ctx, r)
	if err != nil {
		return err
	}
	b.GateE, b.Metrics, b.utilization, b.duplicates, b.missing = found.Judgement.Status(), found.Result.Summary(), found.Result.Utilization, found.Result.Duplicates, len(found.Result.Missing) > 0
	if b.GateE == gate.Fail {
		q.find("error", "GATE_E_STATUS_FAIL", b, tidegate.D("warnings", found.Judgement.Said()))
	}
	if b.missing {
		q.find("error", "MISSING_REQUIRED_SECTIONS", b, tidegate.D("missing_sections", found.Result.Missing))
	}
	for _, code := range found.Judgement.Remarks {
		q.find("warn", code, b, tidegate.D())
	}
	if timed {
		figures, err := telemetry.Figures(r)
		switch {
		case tidegate.CodeOf(err) == tidegate.ReadFailed:
			return err // that says nothing about what it holds
		case err != nil:
			q.find("warn", "TELEMETRY_PARSE_FAILED", b, tidegate.D("message", tidegate.AsError(err).Message))
		case figures.DurationS > 0:
			b.DurationS = &figures.DurationS
		}
	}
	return nil
}

// drift is what captured runs show in the order of their names.
func (q *QualityAudit) drift() {
	moves := func(rate func(AuditedBundle) synthesis.Rate) (fell, rose int) {
		for i := 1; i < len(q.Bundles); i++ {
			was, is := rate(q.Bundles[i-1]), rate(q.Bundles[i])
			switch before, now := was.Of*max(is.In, 1), is.Of*max(was.In, 1); {
			case now < before:
				fell++
			case now > before:
				rose++
			}
		}
		return fell, rose
	}
	flag := func(severity, code string, details tidegate.Details) {
		q.find(severity, code, nil, details)
		q.Summary.DriftFlags = append(q.Summary.DriftFlags, code)
	}
	q.Summary.DriftFlags = []string{}
	if fell, rose := moves(func(b AuditedBundle) synthesis.Rate { return b.utilization }); fell > 0 && rose == 0 {
		flag("warn", "UTILIZATION_TREND_DOWN", tidegate.D("message", "fewer and fewer of the validated sources are cited"))
	}
	if fell, rose := moves(func(b AuditedBundle) synthesis.Rate { return b.duplicates }); rose > 0 && fell == 0 {
		flag("warn", "DUPLICATE_RATE_TREND_UP", tidegate.D("message", "more and more citations repeat a source"))
	}
	var lacking []string
	var took []int64
	for _, b := range q.Bundles {
		if b.missing {
			lacking = append(lacking, b.BundleID)
		}
		if b.DurationS != nil {
			took = append(took, *b.DurationS)
		}
	}
	if len(lacking) > 1 {
		flag("error", "RECURRING_SECTION_OMISSIONS", tidegate.D("bundle_ids", lacking))
	}
	if n := len(took); n > 1 && took[n-1] > took[0] {
		flag("warn", "LATENCY_ENVELOPE_REGRESSION", tidegate.D("first_run_duration_s", took[0], "last_run_duration_s", took[n-1]))
	}
	slices.Sort(q.Summary.DriftFlags)
	if len(took) == 0 {
		return
	}
	envelope := AuditEnvelope{Min: float64(slices.Min(took)), Max: float64(slices.Max(took))}
	for _, s := range took {
		envelope.Avg += float64(s) / float64(len(took))
	}
	q.Summary.BundlesWithTelemetry, q.Summary.Telemetry = len(took), &AuditTelemetry{envelope}
}

// sum orders the findings and counts them.
func (q *QualityAudit) sum() {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	slices.SortStableFunc(q.Findings, func(a, b AuditFinding) int {
		return cmp.Or(strings.Compare(a.Severity, b.Severity), strings.Compare(a.Code, b.Code), strings.Compare(text(a.BundleID), text(b.BundleID)), strings.Compare(text(a.RunID), text(b.RunID)))
	})
	for _, f := range q.Findings {
		switch f.Severity {
		case "error":
			q.Summary.Errors++
		default:
			q.Summary.Warnings++
		}
	}
	for _, b := range q.Bundles {
		if b.GateE == gate.Pass {
			q.Summary.GateE.Pass++
		} else {
			q.Summary.GateE.Fail++
		}
	}
	q.Summary.InvalidBundles = len(q.Invalid)
}
