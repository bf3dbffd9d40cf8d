package step

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// PerspectivesInput are the arguments of [WritePerspectives].
type PerspectivesInput struct {
	PerspectivesPath string       `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of the perspectives.json to write"`
	Value            *codec.Value `json:"value" holds:"object" jsonschema:"the whole perspectives.v1 document"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
	Replan           bool         `json:"replan,omitzero" jsonschema:"replace the contracts of a wave that is planned already: its outputs are set aside and its plan is dropped"`
}

// PerspectivesResult is the result of [WritePerspectives].
type PerspectivesResult struct {
	OK           codec.True `json:"ok"`
	Path         string     `json:"path"`
	AuditWritten bool       `json:"audit_written"`
	AuditPath    string     `json:"audit_path,omitzero"`

	replanned bool
}

// WritePerspectives is the tool deep_research_perspectives_write: it checks a
// whole perspectives.v1 document and writes it as it is given. In a run it
// writes the run's perspectives and nothing else, as long as no wave was planned
// by them. Outside it writes a file of that kind and leaves nothing else behind.
//
// With Replan, which is for a person, the contracts of a planned wave are
// replaced: its outputs are set aside, its plan is dropped, and gates A and B
// are to be judged again.
//
// It returns INVALID_ARGS, SCHEMA_VALIDATION_FAILED, INVALID_STATE (another
// run's id, a run that is final or past its first wave), CONTRACT_FROZEN,
// PATH_NOT_ALLOWED, TAMPERED, LOCK_HELD and WRITE_FAILED (also for a folder that
// is not there).
func WritePerspectives(ctx context.Context, desk run.Desk, in PerspectivesInput) (PerspectivesResult, error) {
	if err := run.CheckPath("perspectives_path", in.PerspectivesPath); err != nil {
		return PerspectivesResult{}, err
	}
	if in.Value.Kind() != codec.Object {
		return PerspectivesResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("value", in.Value), "value must be a perspectives.v1 document")
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return PerspectivesResult{}, err
	}
	if err := wave.CheckPerspectives(in.Value); err != nil {
		return PerspectivesResult{}, err
	}
	holder := run.HolderOf(desk, in.PerspectivesPath)
	switch {
	case holder.Changes != "":
		return PerspectivesResult{}, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("perspectives_path", in.PerspectivesPath),
			"perspectives cannot be written into a folder of code changes: %s", holder.Changes)
	case holder.Run == "":
		return writeFreely(ctx, desk, in)
	}
	return run.With(ctx, desk, filepath.Join(holder.Run, run.ManifestFile), func(r *run.Run, out *PerspectivesResult) error {
		return writeInRun(ctx, r, in, out)
	})
}

// writeFreely writes perspectives outside any run. An agent can name any path, so
// only a file that is, or becomes, a file of perspectives is written.
func writeFreely(ctx context.Context, desk run.Desk, in PerspectivesInput) (PerspectivesResult, error) {
	refused := func(problem string) error {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("perspectives_path", in.PerspectivesPath), "%s: %s", problem, in.PerspectivesPath)
	}
	if err := run.CheckOutside(ctx, desk, "perspectives_path", in.PerspectivesPath); err != nil {
		return PerspectivesResult{}, err
	}
	if !strings.HasSuffix(filepath.Base(in.PerspectivesPath), "perspectives.json") {
		return PerspectivesResult{}, refused("a file of perspectives has a name that ends in perspectives.json")
	}
	data, err := desk.Reach.ReadDocument("perspectives_path", in.PerspectivesPath)
	switch {
	case err == nil:
		if doc, err := codec.Parse(data); err != nil || doc.Get("schema_version").Str() != wave.PerspectivesVersion {
			return PerspectivesResult{}, refused("the file that is there holds something other than perspectives")
		}
	case tidegate.CodeOf(err) != tidegate.FileNotFound:
		return PerspectivesResult{}, err
	}
	document, err := codec.MarshalFile(in.Value)
	if err != nil {
		return PerspectivesResult{}, err
	}
	return PerspectivesResult{Path: in.PerspectivesPath}, desk.Reach.WriteFile("perspectives_path", in.PerspectivesPath, document)
}

func writeInRun(ctx context.Context, r *run.Run, in PerspectivesInput, out *PerspectivesResult) error {
	name := r.Layout().Perspectives
	if given, err := r.Name("perspectives_path", in.PerspectivesPath); err != nil || given != name {
		return tidegate.Errorf(tidegate.PathNotAllowed,
			tidegate.Pairs("perspectives_path", in.PerspectivesPath, "allowed", []string{r.Path(name)}),
			"the run keeps its perspectives in %s and nowhere else", name)
	}
	if id := in.Value.Get("run_id").Str(); id != r.ID() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("manifest_run_id", r.ID(), "perspectives_run_id", id),
			"the perspectives belong to run %q, the manifest beside them to run %q", id, r.ID())
	}
	out.Path = in.PerspectivesPath
	write := func(u *run.Update) error { return takePerspectives(u, in, out) }
	var audit run.Logged
	var err error
	if in.Replan {
		decision := run.Decision{What: "replan", Fields: tidegate.Pairs("value_digest", codec.Digest(in.Value), "reason", run.Note(in.Reason))}
		audit, err = r.Decide(ctx, decision, write)
	} else {
		audit, err = r.Update(ctx, write)
	}
	if err != nil {
		return err
	}
	if out.AuditWritten = audit.Written; audit.Written {
		out.AuditPath = audit.Path
	}
	return nil
}

// TakePerspectives stages perspectives that were checked, as [WritePerspectives]
// does. It returns INVALID_STATE and CONTRACT_FROZEN.
func TakePerspectives(u *run.Update, value *codec.Value, reason string) error {
	r := u.Run()
	return takePerspectives(u, PerspectivesInput{PerspectivesPath: r.Path(r.Layout().Perspectives), Value: value, Reason: reason}, new(PerspectivesResult))
}

func takePerspectives(u *run.Update, in PerspectivesInput, out *PerspectivesResult) error {
	r := u.Run()
	if err := u.NotFinal(); err != nil {
		return err
	}
	frozen, err := contractsFrozen(r, u.Manifest())
	if err != nil {
		return err
	}
	if in.Replan {
		if err := replan(u, u.Manifest()); err != nil {
			return err
		}
		out.replanned = frozen
	} else if frozen {
		return tidegate.Errorf(tidegate.ContractFrozen, tidegate.Pairs("perspectives_path", in.PerspectivesPath, "stage", u.Manifest().Stage()),
			"the perspectives of run %q are frozen: its wave was planned by them", r.ID())
	}
	u.Log(run.EventPerspectives, "perspectives_write", tidegate.Pairs("reason", run.Note(in.Reason), "path", r.InRecord(in.PerspectivesPath),
		"value_digest", codec.Digest(in.Value), "replan", in.Replan))
	return u.WriteJSON(r.Layout().Perspectives, in.Value)
}

// contractsFrozen reports true from the plan of the first wave on, or from stage
// wave1, whichever comes first.
func contractsFrozen(r *run.Run, m run.Manifest) (bool, error) {
	if m.Stage() != run.Init && m.Stage() != run.Perspectives {
		return true, nil
	}
	return r.Folder().Exists(r.Layout().Wave1Plan())
}

// replan sets aside what was done under contracts that a person replaces.
func replan(u *run.Update, m run.Manifest) error {
	r := u.Run()
	switch m.Stage() {
	case run.Init, run.Perspectives, run.Wave1:
	default:
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("stage", m.Stage()),
			"the run has left its first wave; other contracts need another run")
	}
	outputs, err := r.Outputs(r.WaveDir(run.Wave1), nil)
	if err != nil {
		return err
	}
	aside, err := freeFolder(r, r.WaveDir(run.Wave1)+"/.replanned")
	if err != nil {
		return err
	}
	for _, output := range outputs {
		for _, name := range []string{output, run.Sidecar(output), run.Accepted(output)} {
			data, err := r.Folder().Read(name)
			if tidegate.CodeOf(err) == tidegate.FileNotFound {
				continue
			}
			if err != nil {
				return err
			}
			if name != run.Accepted(output) {
				u.Write(aside+"/"+path.Base(name), data)
			}
			u.Remove(name)
		}
	}
	ids, err := r.PerspectiveIDs(r.Layout().Perspectives)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if err := u.ForgetAttempts(run.WaveJob(run.Wave1, id), ""); err != nil {
			return err
		}
	}
	for _, name := range []string{r.Layout().Wave1Plan(), r.Layout().WaveReview} {
		u.Remove(name)
	}
	return u.DropGates("replanned: other contracts", "A", "B")
}

// freeFolder is the first of dir/1, dir/2, … that does not exist.
func freeFolder(r *run.Run, dir string) (string, error) {
	for n := 1; ; n++ {
		name := dir + "/" + strconv.Itoa(n)
		if there, err := r.HasFolder(name); err != nil || !there {
			return name, err
		}
	}
}

// Report shows to a person that the perspectives were written.
func (p PerspectivesResult) Report() report.Report {
	out := report.Report{Name: "perspectives_write", Title: "Perspectives of the run", Status: report.Pass,
		Summary: "the document follows perspectives.v1 and was written"}
	if p.replanned {
		out.Summary += "; the plan was dropped, and what the wave had brought was set aside"
	}
	out.Add(report.Fields{{Name: "file", Value: p.Path}})
	return out
}

// ConfirmPlan is a person's yes to the perspectives of a run: its first wave may
// be planned by them. The yes is for the bytes that the person saw, by their
// digest. A run that does not wait for a yes stays as it is.
//
// It returns REVISION_MISMATCH when the perspectives have changed since,
// NOT_FOUND when there are none, INVALID_STATE for a run that is final, and the
// errors of [run.Open] and [run.Run.Decide].
func ConfirmPlan(ctx context.Context, desk run.Desk, manifestPath, digest string) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	decision := run.Decision{What: run.ConfirmPlan, Fields: tidegate.Pairs("perspectives", digest)}
	_, err = r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
		policy, err := u.Run().Policy()
		if err != nil || !policy.ConfirmPlan {
			return err
		}
		data, err := u.Run().Folder().Read(r.Layout().Perspectives)
		if err != nil {
			return err
		}
		if now := codec.DigestBytes(data); now != digest {
			return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.Pairs("expected", digest, "actual", now),
				"the perspectives have changed since they were shown")
		}
		return u.PlanConfirmed(digest, "a person said yes")
	}))
	return err
}
