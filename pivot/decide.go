package pivot

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Decision is the result of [Decide].
type Decision struct {
	OK            codec.True `json:"ok"`
	Wave2Required bool       `json:"wave2_required" jsonschema:"true: run a second wave on wave2_gap_ids; false: go on to the citations"`
	RuleHit       string     `json:"rule_hit" jsonschema:"the rule that decided" enum:"Wave2Required.P0,Wave2Required.P1,Wave2Required.Volume,Wave2Skip.NoGaps"`
	Explanation   string     `json:"explanation" jsonschema:"the rule's template, filled in"`
	Metrics       Metrics    `json:"metrics"`
	Gaps          []Gap      `json:"gaps" jsonschema:"by priority, then by id"`
	Wave2GapIDs   []string   `json:"wave2_gap_ids" jsonschema:"the gaps that a second wave is to close; empty when it is skipped"`
	InputsDigest  string     `json:"inputs_digest" jsonschema:"digest of the gaps and the validation reports"`
	PivotPath     *string    `json:"pivot_path" jsonschema:"the file that was written; null when no run was named, or the run is not in stage pivot"`
	AuditWritten  bool       `json:"audit_written" jsonschema:"a line was added to the run's audit log"`

	agents    float64 // how many the run allows in wave 2
	hasAgents bool
}

// Decide checks what the decision rests on, collects the gaps, and decides by the
// rubric. Where the input names a run in stage pivot, the decision is written as
// pivot_decision.v1 to the run's pivot file, with the digests of the outputs that
// it was made from, and with the audit line where a reason is given. In any other
// stage of a run it is only returned.
//
// It returns, in the order in which things are looked at: INVALID_ARGS;
// WAVE1_NOT_VALIDATED, WAVE1_CONTRACT_NOT_MET, MISMATCHED_PERSPECTIVE_ID;
// DUPLICATE_GAP_ID, INVALID_GAP_PRIORITY; PATH_NOT_ALLOWED; what [run.Open] and
// [run.Run.Update] return; NOT_FOUND and READ_FAILED of an output,
// GAPS_SECTION_NOT_FOUND and GAPS_PARSE_FAILED, for the first perspective in
// byte order.
func Decide(ctx context.Context, clock run.Clock, in Input) (Decision, error) {
	reports, err := in.check()
	if err != nil {
		return Decision{}, err
	}
	outputs := byID(in.Outputs)
	sortReports(reports)
	if err := checkPreconditions(outputs, reports); err != nil {
		return Decision{}, err
	}
	explicit, err := explicitGaps(in.ExplicitGaps)
	if err != nil {
		return Decision{}, err
	}
	for _, o := range outputs {
		if !filepath.IsAbs(o.Path) && !filepath.IsLocal(o.Path) {
			return Decision{}, tidegate.Errorf(tidegate.PathNotAllowed, o.details(), "the output of %q leaves the run's folder: %s", tidegate.Cut(o.PerspectiveID), o.Path)
		}
	}
	w := wave1{outputs, reports, explicit}
	if in.ManifestPath == "" {
		return w.decide(ctx, source{progress: in.Progress})
	}
	return w.decideInRun(ctx, clock, in)
}

// wave1 is checked input.
type wave1 struct {
	outputs  []Output // sorted
	reports  []Report // sorted
	explicit []Gap
}

func (w wave1) decide(ctx context.Context, s source) (Decision, error) {
	gaps := w.explicit
	var err error
	if len(gaps) > 0 {
		err = s.exist(ctx, w.outputs)
	} else {
		gaps, err = s.gaps(ctx, w.outputs)
	}
	if err != nil {
		return Decision{}, err
	}
	sortGaps(gaps)
	out := Judge(gaps)
	return Decision{
		Wave2Required: out.Wave2Required, RuleHit: out.RuleHit, Explanation: out.Explanation, Metrics: out.Metrics,
		Gaps: gaps, Wave2GapIDs: out.Wave2GapIDs, InputsDigest: digest(gaps, w.reports),
	}, nil
}

func (w wave1) decideInRun(ctx context.Context, clock run.Clock, in Input) (Decision, error) {
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return Decision{}, err
	}
	defer r.Close()
	name, err := pivotFile(r)
	if err != nil {
		return Decision{}, err
	}
	from := source{r.Folder(), in.Progress}
	before, unread := from.digests(ctx, w.outputs)
	d, err := w.decide(ctx, from)
	if err = cmp.Or(err, unread); err != nil {
		return Decision{}, err
	}
	d.agents, d.hasAgents = r.Manifest().Limit("max_wave2_agents")
	if written, err := writesHere(r, r.Manifest()); err != nil || !written {
		return d, err
	}
	path := r.Path(name)
	audit, err := r.UpdateBeside(ctx, clock, func(u *run.Update) error {
		m, err := u.Manifest()
		if err != nil {
			return err
		}
		if written, err := writesHere(r, m); err != nil || !written {
			return cmp.Or(err, tidegate.Errorf(tidegate.InvalidState, tidegate.D("stage", m.Stage()), "the run left stage pivot meanwhile"))
		}
		after, err := from.digests(ctx, w.outputs)
		if err != nil {
			return err
		}
		if !slices.Equal(before, after) {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.D("run_root", r.Root()), "the outputs change while the pivot is decided; decide again when they are final")
		}
		if reason := strings.TrimSpace(in.Reason); reason != "" {
			u.Log(run.EventDecided, "pivot_decide", tidegate.D("reason", run.Note(reason), "pivot_path", path, "wave2_required", d.Wave2Required,
				"rule_hit", d.RuleHit, "inputs_digest", d.InputsDigest))
		}
		return u.WriteJSON(name, w.document(r, u, d, before))
	})
	if err != nil {
		return Decision{}, err
	}
	d.PivotPath, d.AuditWritten = &path, audit.Written
	return d, nil
}

// writesHere reports whether a decision is written: in a run only in stage pivot,
// and not once the run has ended there; with a bare manifest
// always.
func writesHere(r *run.Run, m run.Manifest) (bool, error) {
	isRun, err := r.Folder().Exists(r.Layout().Gates)
	return err == nil && (!isRun || m.Stage() == run.Pivot && !m.Status().Final()), err
}

// pivotFile is the name of the run's pivot file. It returns PATH_NOT_ALLOWED for a
// manifest that gives it the place of another document of the run, which the
// decision would replace.
func pivotFile(r *run.Run) (string, error) {
	name := r.Layout().Pivot
	if slices.Contains(r.DocumentsBeside("pivot_file"), name) {
		return "", tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("pivot_file", name),
			"the manifest's pivot_file %s is the place of another document", name)
	}
	return name, nil
}
