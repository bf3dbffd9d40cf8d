package step

import (
	"cmp"
	"context"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/gate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// KeepReview stages a review of the synthesis with that digest as the one that
// decides, with the directives for the next draft. The caller answers for made_by.
func KeepReview(u *run.Update, review synthesis.Review, synthesisDigest string, by synthesis.MadeBy) error {
	r := u.Run()
	u.Log(run.EventAssessed, "review_kept", tidegate.D("decision", review.Decision, "findings_count", len(review.Findings),
		"directives_count", len(review.Directives), "synthesis_digest", synthesisDigest, "made_by", by, "inputs_digest", review.InputsDigest(r.ID())))
	if err := u.WriteJSON(r.Layout().ReviewBundle, review.Bundle(r.ID(), synthesisDigest, by)); err != nil {
		return err
	}
	return u.WriteJSON(directivesOf(r), review.RevisionDirectives(r.ID()))
}

// directivesOf is the file with what the last review asks for.
func directivesOf(r *run.Run) string {
	return path.Join(path.Dir(r.Layout().ReviewBundle), "revision-directives.json")
}

// ReviewInput are the arguments of [ReviewSynthesis].
type ReviewInput struct {
	ManifestPath     string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	DraftPath        string `json:"draft_path,omitzero" path:"absolute" jsonschema:"absolute path of the synthesis inside the run; its draft when absent, else the final one"`
	CitationsPath    string `json:"citations_path,omitzero" path:"absolute" jsonschema:"accepted for older callers; the run's own records say what may be cited"`
	ReviewDir        string `json:"review_dir,omitzero" path:"absolute" jsonschema:"absolute path of the folder of reviews, which is the run's own"`
	Mode             string `json:"mode,omitzero" jsonschema:"fixture takes the review from a file, generate makes it from what the rules find" enum:"fixture,generate" default:"fixture"`
	FixtureBundleDir string `json:"fixture_bundle_dir,omitzero" path:"absolute" jsonschema:"absolute path of the folder that holds review-bundle.json, for mode fixture" requiredif:"mode=fixture"`
	Reason           string `json:"reason" jsonschema:"why, for the audit log"`
	// Dir is the working folder, in which an agent may name a review.
	Dir string `json:"-"`
}

// ReviewResult is the result of [ReviewSynthesis].
type ReviewResult struct {
	OK               codec.True `json:"ok"`
	ReviewBundlePath string     `json:"review_bundle_path"`
	Decision         string     `json:"decision" jsonschema:"PASS or CHANGES_REQUIRED"`
	InputsDigest     string     `json:"inputs_digest"`
}

// ReviewSynthesis is the tool deep_research_review_factory_run: it writes a review
// of a synthesis: one that was handed in, or one that follows from the rules alone.
// Such a review decides only in a legacy run.
//
// It returns SCHEMA_VALIDATION_FAILED for a review that breaks the rules of
// reviews, LINE_NOT_FOUND for a line that the draft does not have, STAGE_MISMATCH,
// INVALID_STATE for a run that is final, PATH_NOT_ALLOWED, NOT_FOUND, INVALID_JSON,
// and the errors of [run.Open] and [run.Run.Update].
func ReviewSynthesis(ctx context.Context, clock run.Clock, in ReviewInput) (ReviewResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return ReviewResult{}, err
	}
	defer r.Close()
	if err := inStage(r, r.Manifest(), run.Review); err != nil {
		return ReviewResult{}, err
	}
	if in.ReviewDir != "" {
		if name, err := r.Name("review_dir", in.ReviewDir); err != nil {
			return ReviewResult{}, err
		} else if name != path.Dir(r.Layout().ReviewBundle) {
			return ReviewResult{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("review_dir", in.ReviewDir, "run_root", r.Root()),
				"the run keeps its reviews in %s and nowhere else", r.Path(path.Dir(r.Layout().ReviewBundle)))
		}
	}
	name, err := draftName(r, in.DraftPath)
	if err != nil {
		return ReviewResult{}, err
	}
	judged, err := judgeSynthesis(ctx, r, name)
	if err != nil {
		return ReviewResult{}, err
	}
	review := judged.result.Review()
	if cmp.Or(in.Mode, "fixture") == "fixture" {
		if review, err = givenReview(ctx, r, in, judged); err != nil {
			return ReviewResult{}, err
		}
	}
	out := ReviewResult{ReviewBundlePath: r.Path(r.Layout().ReviewBundle), Decision: review.Decision, InputsDigest: review.InputsDigest(r.ID())}
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		if err := takesIn(u, run.Review); err != nil {
			return err
		}
		u.Log(run.EventAssessed, "review_factory_run", tidegate.D("reason", run.Note(in.Reason), "decision", review.Decision,
			"findings_count", len(review.Findings), "directives_count", len(review.Directives), "inputs_digest", out.InputsDigest))
		return KeepReview(u, review, codec.DigestBytes(judged.facts.Draft), synthesis.MadeBy{Actor: tidegate.Rule})
	})
	return out, err
}

// draftName is the synthesis to review: the one that was named, else the draft,
// else the final one.
func draftName(r *run.Run, given string) (string, error) {
	if given != "" {
		return r.Name("draft_path", given)
	}
	there, err := thereOf(r, r.Layout().Draft())
	if err != nil || len(there) > 0 {
		return r.Layout().Draft(), err
	}
	return r.Layout().Synthesis(), nil
}

// givenReview reads a review that was handed in. In a legacy run findings and
// directives may have any shape, at most a hundred of each.
func givenReview(ctx context.Context, r *run.Run, in ReviewInput, judged judgedSynthesis) (synthesis.Review, error) {
	file := in.FixtureBundleDir + "/review-bundle.json"
	data, err := readGiven(ctx, r, "fixture_bundle_dir", file, in.Dir)
	if err != nil {
		return synthesis.Review{}, err
	}
	doc, err := codec.ParseFile("fixture_bundle_dir", file, data)
	if err != nil {
		return synthesis.Review{}, err
	}
	if r.Legacy() {
		return synthesis.GivenReview(doc)
	}
	review, faults := synthesis.ParseReview(data, judged.facts.Draft, judged.judgement.Status() == gate.Pass)
	if len(faults) > 0 {
		return review, tidegate.Errorf(faults[0].Code, tidegate.D("fixture_bundle_dir", file), "%s", faults[0].Message)
	}
	return review, nil
}

// RevisionInput are the arguments of [ControlRevision].
type RevisionInput struct {
	ManifestPath     string  `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	GatesPath        string  `json:"gates_path" path:"absolute" jsonschema:"absolute path of the run's gates.json"`
	ReviewBundlePath string  `json:"review_bundle_path" path:"absolute" jsonschema:"absolute path of the review bundle, which is the run's own"`
	CurrentIteration float64 `json:"current_iteration" jsonschema:"the round of the review, from 1" min:"1"`
	Reason           string  `json:"reason" jsonschema:"why, for the audit log"`
}

// RevisionResult is the result of [ControlRevision].
type RevisionResult struct {
	OK           codec.True `json:"ok"`
	Action       string     `json:"action" jsonschema:"advance, revise or escalate"`
	NextStage    string     `json:"next_stage"`
	Notes        string     `json:"notes"`
	InputsDigest string     `json:"inputs_digest"`
}

// ControlRevision is the tool deep_research_revision_control: it says what comes
// after a review under the limits of the run. It does not move the run, and changes
// nothing but the audit log.
//
// It returns SCHEMA_VALIDATION_FAILED for a bundle without a decision,
// PATH_NOT_ALLOWED for one that is not the run's, INVALID_STATE for a limit that is
// not a number, NOT_FOUND, INVALID_JSON, and the errors of [run.Open] and
// [run.Run.Update].
func ControlRevision(ctx context.Context, clock run.Clock, in RevisionInput) (RevisionResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return RevisionResult{}, err
	}
	defer r.Close()
	if err := r.OwnGates(in.GatesPath); err != nil {
		return RevisionResult{}, err
	}
	if err := ownFile(r, "review_bundle_path", in.ReviewBundlePath, r.Layout().ReviewBundle); err != nil {
		return RevisionResult{}, err
	}
	doc, err := readDocument(r, "review_bundle_path", r.Layout().ReviewBundle)
	if err != nil {
		return RevisionResult{}, err
	}
	bundle, problem := synthesis.ReadBundle(doc)
	if problem != "" {
		return RevisionResult{}, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$.decision", "decision", doc.Get("decision")),
			"$.decision of the review bundle must be PASS or CHANGES_REQUIRED")
	}
	limit, ok := r.Manifest().Limit("max_review_iterations")
	if !ok || limit < 0 {
		return RevisionResult{}, tidegate.Errorf(tidegate.InvalidState, tidegate.D("value", r.Manifest().Doc().Get("limits").Get("max_review_iterations")),
			"limits.max_review_iterations must be a number of at least 0")
	}
	gates, err := r.Gates()
	if err != nil {
		return RevisionResult{}, err
	}
	state, err := r.GateState(gates, "E")
	if err != nil {
		return RevisionResult{}, err
	}
	revision := synthesis.Revision{RunID: r.ID(), Decision: bundle.Decision, GateE: cmp.Or(state.Counts(), gate.NotRun), Iteration: int(in.CurrentIteration), MaxIterations: int(limit)}
	out := RevisionResult{InputsDigest: revision.InputsDigest()}
	out.Action, out.NextStage = revision.Next()
	out.Notes = map[string]string{
		"advance":  "the review passed and gate E passed",
		"revise":   "the next draft is to make the changes that the review asks for",
		"escalate": "the rounds are used up; a person decides",
	}[out.Action]
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		u.Log(run.EventAssessed, "revision_control", tidegate.D("reason", run.Note(in.Reason), "action", out.Action, "next_stage", out.NextStage,
			"decision", bundle.Decision, "gate_e_status", revision.GateE, "current_iteration", revision.Iteration,
			"max_review_iterations", revision.MaxIterations, "inputs_digest", out.InputsDigest))
		return nil
	})
	return out, err
}

// ReportsInput are the arguments of [WriteGateEReports].
type ReportsInput struct {
	ManifestPath  string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	SynthesisPath string `json:"synthesis_path,omitzero" path:"absolute" jsonschema:"absolute path of the synthesis inside the run; the final one when absent"`
	CitationsPath string `json:"citations_path,omitzero" path:"absolute" jsonschema:"accepted for older callers; a run is judged by its own records, whatever this names"`
	OutputDir     string `json:"output_dir,omitzero" path:"absolute" jsonschema:"absolute path of the folder of reports, which is the run's own"`
	Reason        string `json:"reason" jsonschema:"why, for the audit log"`
}

// ReportsResult is the result of [WriteGateEReports].
type ReportsResult struct {
	OK           codec.True       `json:"ok"`
	OutputDir    string           `json:"output_dir"`
	ReportPaths  ReportPaths      `json:"report_paths"`
	Metrics      tidegate.Details `json:"metrics_summary"`
	Status       string           `json:"status" jsonschema:"pass or fail"`
	Warnings     []string         `json:"warnings"`
	InputsDigest string           `json:"inputs_digest"`
}

// ReportPaths are the four reports of gate E.
type ReportPaths struct {
	NumericClaims       string `json:"gate_e_numeric_claims"`
	SectionsPresent     string `json:"gate_e_sections_present"`
	CitationUtilization string `json:"gate_e_citation_utilization"`
	Status              string `json:"gate_e_status"`
}

// reportsDir is the folder of the reports of gate E.
const reportsDir = "reports"

// WriteGateEReports is the tool deep_research_gate_e_reports: it writes the findings
// of the judge of gate E as four reports, together. It returns the errors of
// [EvaluateGateE], PATH_NOT_ALLOWED for a folder other than the run's own, and
// INVALID_STATE for a run that is final.
func WriteGateEReports(ctx context.Context, clock run.Clock, in ReportsInput) (ReportsResult, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return ReportsResult{}, err
	}
	defer r.Close()
	if err := ownFile(r, "output_dir", in.OutputDir, reportsDir); err != nil {
		return ReportsResult{}, err
	}
	judged, err := judgeNamed(ctx, r, in.SynthesisPath)
	if err != nil {
		return ReportsResult{}, err
	}
	files, digest := synthesis.GateEReports(judged.facts, judged.result, synthesis.ReportPaths{
		Synthesis: judged.name, Citations: r.Layout().Citations, Reports: reportsDir})
	at := func(i int) string { return r.Path(reportsDir + "/" + files[i].Name) }
	out := ReportsResult{OutputDir: r.Path(reportsDir), ReportPaths: ReportPaths{at(0), at(1), at(2), at(3)}, Metrics: judged.result.Summary(),
		Status: judged.judgement.Status(), Warnings: judged.judgement.Said(), InputsDigest: digest}
	_, err = r.Update(ctx, clock, func(u *run.Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		var names []string
		for _, file := range files {
			name := reportsDir + "/" + file.Name
			names = append(names, name)
			if err := u.Write(name, file.Data); err != nil {
				return err
			}
		}
		u.Log(run.EventJudged, "gate_e_reports", tidegate.D("reason", run.Note(in.Reason), "gate", "E", "status", out.Status, "warnings", out.Warnings,
			"inputs_digest", digest, "report_paths", names))
		return nil
	})
	return out, err
}
