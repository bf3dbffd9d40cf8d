package stage

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
)

// ManifestWriteInput are the arguments of [ManifestWrite].
type ManifestWriteInput struct {
	ManifestPath     string
	Patch            *codec.Value
	ExpectedRevision *int64 // that the caller saw; nil for any
	Reason           string
}

// ManifestWrite is the tool deep_research_manifest_write: it applies a merge
// patch (RFC 7396) to the manifest. The patch may move status along the table;
// stage, failures, retry counts, the place of artifacts and what identifies the
// document are not its to change, and the caps that the stage machine enforces
// can be lowered, down to 0, but not raised.
//
// It returns INVALID_ARGS, NOT_FOUND, READ_FAILED, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, IMMUTABLE_FIELD, REVISION_MISMATCH, INVALID_STATE
// (a status that does not follow), PATH_NOT_ALLOWED, LOCK_HELD and WRITE_FAILED.
func ManifestWrite(ctx context.Context, clock run.Clock, in ManifestWriteInput) (run.WriteResult, error) {
	if in.Patch.Kind() != codec.Object {
		return run.WriteResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("patch", in.Patch), "patch must be an object")
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return run.WriteResult{}, err
	}
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return run.WriteResult{}, err
	}
	defer r.Close()
	var next run.Manifest
	audit, err := r.Update(ctx, clock, func(u *run.Update) error {
		m, err := u.Manifest()
		if err != nil {
			return err
		}
		if err := checkPatch(m, in.Patch); err != nil {
			return err
		}
		if err := run.CheckRevision(in.ExpectedRevision, m.Revision()); err != nil {
			return err
		}
		trigger, err := patchTrigger(m, in.Patch)
		if err != nil {
			return err
		}
		edit := run.Edit{Patch: in.Patch, Expected: in.ExpectedRevision, Reason: strings.TrimSpace(in.Reason)}
		if trigger == ByResume {
			edit.Also = progressed(u.Now())
		}
		next, err = u.EditManifest(edit)
		return err
	})
	if err != nil {
		return run.WriteResult{}, err
	}
	return run.Written(next.Revision(), next.Doc().Get("updated_at").Str(), audit), nil
}

// progressed is the patch that restarts the watchdog's clock and keeps when the
// stage began.
func progressed(now string) *codec.Value {
	return codec.Of(tidegate.D("stage", tidegate.D("last_progress_at", now)))
}

// guarded are the fields that only their own tools change, with all below them.
var guarded = []string{
	"$.schema_version", "$.run_id", "$.created_at", "$.updated_at", "$.revision",
	"$.stage", "$.failures", "$.artifacts", "$.metrics.retry_counts", "$.metrics.retry_history",
}

// caps are the limits that the stage machine enforces.
var caps = []string{"max_wave1_agents", "max_wave2_agents", "max_review_iterations"}

// checkPatch returns IMMUTABLE_FIELD with the paths that a patch must not touch.
func checkPatch(m run.Manifest, patch *codec.Value) error {
	paths := []string{}
	for _, leaf := range leaves("$", patch) {
		if slices.ContainsFunc(guarded, func(g string) bool {
			return leaf == g || strings.HasPrefix(leaf, g+".") || strings.HasPrefix(g, leaf+".")
		}) {
			paths = append(paths, leaf)
		}
	}
	if len(paths) > 0 {
		return tidegate.Errorf(tidegate.ImmutableField, tidegate.D("paths", paths),
			"a patch must not touch %s; only its own tool changes it", strings.Join(paths, ", "))
	}
	for _, name := range caps {
		// Below 0 there is no cap: who could go there could raise it from there.
		to, given := patch.Get("limits").Get(name).Float()
		if from, ok := m.Limit(name); given && ok && (to < 0 || to > max(from, 0)) {
			paths = append(paths, "$.limits."+name)
		}
	}
	if len(paths) > 0 {
		return tidegate.Errorf(tidegate.ImmutableField, tidegate.D("paths", paths),
			"a patch can lower %s, down to 0, but not raise it: the cap was set when the run was made", strings.Join(paths, ", "))
	}
	return nil
}

// leaves lists the paths at which a patch writes something: every value that is
// no object, and every object without members.
func leaves(path string, v *codec.Value) []string {
	if v.Kind() != codec.Object || v.Len() == 0 && path != "$" {
		return []string{path}
	}
	var list []string
	for _, m := range v.Members() {
		list = append(list, leaves(path+"."+m.Key, m.Value)...)
	}
	return list
}

// patchTrigger is what a patch does to the status, "" when it leaves it. It
// returns INVALID_STATE for a status that no row of the table allows a patch to
// set; one that is no status at all is left to the schema.
func patchTrigger(m run.Manifest, patch *codec.Value) (Trigger, error) {
	to := run.Status(patch.Get("status").Str())
	from := m.Status()
	if to == from || !slices.Contains(run.Statuses, to) {
		return "", nil
	}
	if trigger := byPatch(from, to); trigger != "" {
		return trigger, nil
	}
	return "", tidegate.Errorf(tidegate.InvalidState, tidegate.D("from", from, "to", to, "allowed", statusesFrom(from)),
		"a patch cannot move a run from %s to %s%s", from, to, hint(from, to))
}

func hint(from, to run.Status) string {
	switch {
	case from == run.Completed || from == run.Cancelled:
		return ": " + string(from) + " is final"
	case from == run.Failed && to == run.Running:
		return ": a person decides that with `tidegate run resume --accept`"
	case to == run.Completed:
		return ": a run is completed by advancing to finalize"
	case to == run.Failed:
		return ": a run fails by its watchdog or its caps; to end it, cancel it"
	}
	return ""
}
