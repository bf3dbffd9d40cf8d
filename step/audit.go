package step

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/synthesis"
)

// bundleFile describes a captured run; it lies beside the run's own files.
const bundleFile = "bundle.json"

// AuditInput are the arguments of [AuditQuality].
type AuditInput struct {
	FixturesRoot string   `json:"fixtures_root,omitzero" path:"absolute" jsonschema:"absolute path of a folder that holds captured runs"`
	BundleRoots  []string `json:"bundle_roots,omitzero" path:"absolute" jsonschema:"absolute paths of captured runs"`
	MinBundles   int64    `json:"min_bundles,omitzero" min:"1" default:"1" jsonschema:"how many captured runs must be usable"`
	OutputDir    string   `json:"output_dir,omitzero" path:"absolute" writes:"true" jsonschema:"absolute path of a new folder to write quality-audit.json to; nothing is written when absent"`
	Reason       string   `json:"reason" jsonschema:"why"`
}

// QualityAudit is the result of [AuditQuality].
type QualityAudit struct {
	OK             codec.True      `json:"ok"`
	SchemaVersion  string          `json:"schema_version"`
	BundlesScanned int             `json:"bundles_scanned_total"`
	BundlesUsed    int             `json:"bundles_used_total"`
	Findings       []AuditFinding  `json:"findings"`
	Bundles        []AuditedBundle `json:"bundles"`
	OutputPath     *string         `json:"output_path" jsonschema:"null when nothing was written"`
}

// AuditFinding is one thing that captured runs show.
type AuditFinding struct {
	Code     string `json:"code"`
	Severity string `json:"severity" jsonschema:"error or warn"`
	BundleID string `json:"bundle_id" jsonschema:"empty for what several show together"`
	Message  string `json:"message"`
}

// AuditedBundle is what one captured run shows.
type AuditedBundle struct {
	BundleID string           `json:"bundle_id"`
	RunID    string           `json:"run_id"`
	GateE    string           `json:"gate_e_status"`
	Metrics  tidegate.Details `json:"metrics" jsonschema:"the figures of gate E"`

	utilization, duplicates synthesis.Rate
}

// AuditQuality is the tool deep_research_quality_audit: it judges the syntheses of
// captured runs by the rules of today, and says what several of them show together.
//
// It returns INVALID_ARGS where there are too few, PATH_NOT_ALLOWED and
// ALREADY_EXISTS_CONFLICT for the folder to write to, and WRITE_FAILED.
func AuditQuality(ctx context.Context, home string, in AuditInput) (QualityAudit, error) {
	roots, err := in.roots(ctx)
	if err != nil {
		return QualityAudit{}, err
	}
	out := QualityAudit{SchemaVersion: "quality_audit.report.v1", BundlesScanned: len(roots), Findings: []AuditFinding{}, Bundles: []AuditedBundle{}}
	for _, root := range roots {
		if err := ctx.Err(); err != nil {
			return QualityAudit{}, err
		}
		out.bundle(ctx, root)
	}
	if least := max(in.MinBundles, 1); int64(len(out.Bundles)) < least {
		return QualityAudit{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("min_bundles", least, "bundles_scanned_total", len(roots), "bundles_used_total", len(out.Bundles)),
			"%d of %d captured runs can be used, and %d must be", len(out.Bundles), len(roots), least)
	}
	out.BundlesUsed = len(out.Bundles)
	out.trends()
	slices.SortStableFunc(out.Findings, func(a, b AuditFinding) int {
		return strings.Compare(a.Severity+"\x00"+a.Code+"\x00"+a.BundleID, b.Severity+"\x00"+b.Code+"\x00"+b.BundleID)
	})
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

// roots are the folders of the captured runs, in byte order of their names.
func (in AuditInput) roots(ctx context.Context) ([]string, error) {
	roots := slices.Clone(in.BundleRoots)
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
	slices.SortFunc(roots, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	if roots = slices.Compact(roots); len(roots) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("fixtures_root", in.FixturesRoot, "bundle_roots", in.BundleRoots), "no captured run is named or found")
	}
	return roots, nil
}

func (q *QualityAudit) find(severity, code, bundle, message string) {
	q.Findings = append(q.Findings, AuditFinding{code, severity, bundle, message})
}

// bundle judges the synthesis of one captured run.
func (q *QualityAudit) bundle(ctx context.Context, root string) {
	id := filepath.Base(root)
	r, err := run.Open(ctx, filepath.Join(root, run.ManifestFile))
	if err != nil {
		q.find("error", "BUNDLE_INVALID", id, tidegate.AsError(err).Message)
		return
	}
	defer r.Close()
	judged, err := judgeSynthesis(ctx, r, r.Layout().Synthesis())
	if err != nil {
		q.find("error", "BUNDLE_INVALID", id, tidegate.AsError(err).Message)
		return
	}
	q.Bundles = append(q.Bundles, AuditedBundle{id, r.ID(), judged.judgement.Status(), judged.result.Summary(), judged.result.Utilization, judged.result.Duplicates})
	if len(judged.judgement.Warnings) > 0 {
		q.find("error", "GATE_E_STATUS_FAIL", id, strings.Join(judged.judgement.Warnings, ", "))
	}
	if len(judged.result.Missing) > 0 {
		q.find("error", "MISSING_REQUIRED_SECTIONS", id, strings.Join(judged.result.Missing, ", "))
	}
	for _, code := range judged.judgement.Remarks {
		q.find("warn", code, id, "gate E warns of it")
	}
}

// trends are what captured runs show in the order of their names.
func (q *QualityAudit) trends() {
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
	if fell, rose := moves(func(b AuditedBundle) synthesis.Rate { return b.utilization }); fell > 0 && rose == 0 {
		q.find("warn", "UTILIZATION_TREND_DOWN", "", "fewer and fewer of the validated sources are cited")
	}
	if fell, rose := moves(func(b AuditedBundle) synthesis.Rate { return b.duplicates }); rose > 0 && fell == 0 {
		q.find("warn", "DUPLICATE_RATE_TREND_UP", "", "more and more citations repeat a source")
	}
	missing := 0
	for _, f := range q.Findings {
		if f.Code == "MISSING_REQUIRED_SECTIONS" {
			missing++
		}
	}
	if missing > 1 {
		q.find("error", "RECURRING_SECTION_OMISSIONS", "", "several syntheses lack a required section")
	}
}
