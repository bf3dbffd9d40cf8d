package run

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Frozen names a finished run whose archive answers the searches and fetches of another:
// alone, or, for a run that builds on it, before the web. The zero value names none.
type Frozen struct {
	RunID string `json:"run_id"`
	Root  string `json:"root"`          // where it was when the other run began
	Head  string `json:"head,omitzero"` // of its log, for a run that builds on it
}

// IsZero reports whether no run is named.
func (f Frozen) IsZero() bool { return f == Frozen{} }

// Lines say it in the words of plans, prompts and reports, one sentence each.
func (f Frozen) Lines(language string) []string {
	if f.IsZero() {
		return nil
	}
	return []string{evidence.Say(language, "Searches and fetches are answered from the archive of the finished run %s alone. A page that it does not have cannot be reached.", f.RunID)}
}

// OpenFinished opens a run whose archive is to answer another. It returns the errors of
// [Open], and INVALID_STATE for a run that is not finished.
func OpenFinished(ctx context.Context, desk Desk, manifestPath string) (*Run, error) {
	r, err := Open(ctx, desk, manifestPath, "status")
	if err != nil {
		return nil, err
	}
	if status := r.Manifest().Status(); !status.Final() {
		r.Close()
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("sources", r.ID(), "status", status, "help", "tidegate run continue "+r.ID()),
			"run %q is %s: only a finished run can answer for its sources", r.ID(), status)
	}
	return r, nil
}

// Sources opens the finished run whose archive answers this one; nil where no archive but
// its own does. It is looked for where it was, and beside this run. It returns the
// errors of [OpenFinished], and NOT_FOUND where another run is there. A run that this one
// only builds on may be gone: the web answers then.
func (r *Run) Sources(ctx context.Context) (*Run, error) {
	policy, err := r.Policy()
	named := cmp.Or(policy.Frozen, policy.From)
	if err != nil || named.IsZero() {
		return nil, err
	}
	var failed error
	for _, root := range []string{named.Root, filepath.Join(filepath.Dir(r.Root()), named.RunID)} {
		found, err := OpenFinished(ctx, r.desk, filepath.Join(root, ManifestFile))
		if err == nil && found.ID() == named.RunID {
			return found, nil
		}
		if err == nil {
			found.Close()
		}
		failed = cmp.Or(failed, err)
	}
	if policy.Frozen.IsZero() {
		return nil, nil
	}
	if code := tidegate.CodeOf(failed); failed != nil && code != tidegate.FileNotFound {
		return nil, failed
	}
	return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("sources", named.RunID, "path", named.Root),
		"run %q is answered by the sources of run %q alone, which is no longer at %s", r.ID(), named.RunID, named.Root)
}
