package run

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
)

// PerspectivesInput are the arguments of [PerspectivesWrite].
type PerspectivesInput struct {
	PerspectivesPath string
	Value            *codec.Value // the whole document
	Reason           string
}

// PerspectivesResult is the result of [PerspectivesWrite].
type PerspectivesResult struct {
	OK           codec.True `json:"ok"`
	Path         string     `json:"path"`
	AuditWritten bool       `json:"audit_written"`
	AuditPath    string     `json:"audit_path,omitzero"`
	AuditError   string     `json:"audit_error,omitzero"`
}

// PerspectivesWrite is the tool deep_research_perspectives_write: it checks a
// whole perspectives.v1 document and writes it as it is given. In the folder of
// a run the document must belong to that run, and be written where the run keeps
// its perspectives or those of its second wave and nowhere else: everything else
// there has a writer of its own.
//
// It returns INVALID_ARGS, SCHEMA_VALIDATION_FAILED, INVALID_STATE (another
// run's id, or a run that is final), NOT_FOUND (no such folder), PATH_NOT_ALLOWED, LOCK_HELD and
// WRITE_FAILED.
func PerspectivesWrite(ctx context.Context, clock Clock, in PerspectivesInput) (PerspectivesResult, error) {
	if err := CheckPath("perspectives_path", in.PerspectivesPath); err != nil {
		return PerspectivesResult{}, err
	}
	if in.Value.Kind() != codec.Object {
		return PerspectivesResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("value", in.Value), "value must be a perspectives.v1 document")
	}
	if err := CheckText("reason", in.Reason); err != nil {
		return PerspectivesResult{}, err
	}
	if err := perspective.Check(in.Value); err != nil {
		return PerspectivesResult{}, err
	}
	root, name, err := perspectivesPlace(ctx, in.PerspectivesPath, in.Value.Get("run_id").Str())
	if err != nil {
		return PerspectivesResult{}, err
	}
	folder, err := artifact.Open(ctx, "perspectives_path", root)
	if err != nil {
		return PerspectivesResult{}, tidegate.WithDetails(err, tidegate.D("perspectives_path", in.PerspectivesPath))
	}
	defer folder.Close()
	audit, err := update(ctx, folder, clock, &Update{runID: in.Value.Get("run_id").Str()}, func(u *Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		u.Audit("perspectives_write", tidegate.D("reason", strings.TrimSpace(in.Reason), "path", in.PerspectivesPath,
			"value_digest", codec.Digest(in.Value)))
		return u.WriteJSON(name, in.Value)
	})
	if err != nil {
		return PerspectivesResult{}, err
	}
	out := PerspectivesResult{Path: in.PerspectivesPath, AuditWritten: audit.Written, AuditError: audit.Problem}
	if audit.Written {
		out.AuditPath = audit.Path
	}
	return out, nil
}

// perspectivesPlace is the root of the run that a file belongs to, and the
// file's name in it: the root is its own folder or the one above it, whichever
// holds a manifest, and its own folder when neither does. It returns
// INVALID_STATE when that manifest is another run's, and PATH_NOT_ALLOWED when
// the file is something else of the run.
func perspectivesPlace(ctx context.Context, path, runID string) (root, name string, err error) {
	folder := filepath.Dir(path)
	for _, candidate := range []string{folder, filepath.Dir(folder)} {
		r, err := Open(ctx, filepath.Join(candidate, ManifestFile))
		if err != nil {
			continue
		}
		defer r.Close()
		if r.ID() != runID {
			return "", "", tidegate.Errorf(tidegate.InvalidState, tidegate.D("manifest_run_id", r.ID(), "perspectives_run_id", runID),
				"the perspectives belong to run %q, the manifest beside them to run %q", runID, r.ID())
		}
		name := nameIn(r.Root(), path)
		switch name {
		case "":
			continue
		case r.layout.Perspectives, r.layout.Wave2Perspectives():
			return r.Root(), name, nil
		}
		return "", "", tidegate.Errorf(tidegate.PathNotAllowed,
			tidegate.D("perspectives_path", path, "allowed", []string{r.Path(r.layout.Perspectives), r.Path(r.layout.Wave2Perspectives())}),
			"%s is not a place for perspectives; the run keeps them in %s and those of a second wave in %s",
			name, r.layout.Perspectives, r.layout.Wave2Perspectives())
	}
	// The manifest of a run that cannot be opened must not be lost either.
	if name := filepath.Base(path); name == ManifestFile || name == layoutDefault("gates_file") {
		return "", "", tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("perspectives_path", path), "%s is not a place for perspectives", name)
	}
	return folder, filepath.Base(path), nil
}
