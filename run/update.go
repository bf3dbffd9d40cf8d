package run

import (
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
)

// Update is a change of a run under its lock. What it writes lands together
// when the function that got it returns nil, and not at all otherwise.
type Update struct {
	ctx       context.Context // of the call that the update belongs to
	folder    *artifact.Folder
	tx        *artifact.Tx
	clock     Clock
	now       string
	runID     string
	run       *Run   // nil where only the gates file is known
	gatesName string // in folder
	logged    bool
	files     []writtenFile
	manifest  Manifest // as read under the lock, or as written by this update
}

// Audit says what became of the lines that an update logged. A line that could
// not be written changes nothing else.
type Audit struct {
	Written bool
	Path    string // of the log, absolute
	Problem string // why it was not written
}

// Update takes the run's lock, first finishing or undoing what a killed process
// left, and calls change. When change returns an error nothing is written and
// that error is returned. It also returns LOCK_HELD, CANCELLED and
// WRITE_FAILED.
func (r *Run) Update(ctx context.Context, clock Clock, change func(*Update) error) (Audit, error) {
	return update(ctx, r.folder, clock, &Update{run: r, runID: r.ID(), gatesName: r.layout.Gates}, change)
}

func update(ctx context.Context, folder *artifact.Folder, clock Clock, u *Update, change func(*Update) error) (Audit, error) {
	lock, err := folder.Lock(ctx, clock.Now)
	if err != nil {
		return Audit{}, err
	}
	defer lock.Unlock()
	u.ctx, u.folder, u.clock, u.now, u.tx = ctx, folder, clock, clock.Stamp(), lock.Begin()
	if err := change(u); err != nil {
		return Audit{}, err
	}
	u.logFiles()
	if err := u.tx.Commit(); err != nil {
		return Audit{}, err
	}
	audit := Audit{Path: filepath.Join(folder.Path(), filepath.FromSlash(AuditFile))}
	if err := u.tx.LogError(); err != nil {
		audit.Problem = tidegate.AsError(err).Message
	} else {
		audit.Written = u.logged
	}
	return audit, nil
}

// Now is the one time stamp of everything in this update.
func (u *Update) Now() string { return u.now }

// Write stages a file of the run; one file is written once in an update.
// Missing folders are made. Files land in the order of the calls, so that a
// reader who sees the last sees all. It returns WRITE_FAILED and
// PATH_NOT_ALLOWED, and the update must end with that error. The log keeps the
// file's digest, by which [Verify] knows it again.
func (u *Update) Write(name string, data []byte) error {
	u.files = append(u.files, writtenFile{path.Clean(name), codec.DigestBytes(data)})
	return u.tx.Write(name, data)
}

// WriteJSON stages a document: two-space indent and a final newline.
func (u *Update) WriteJSON(name string, v any) error {
	data, err := codec.MarshalFile(v)
	if err != nil {
		return err
	}
	return u.Write(name, data)
}

// Remove stages the removal of a file. It returns the errors of [Update.Write].
func (u *Update) Remove(name string) error {
	u.files = append(u.files, writtenFile{name: path.Clean(name)})
	return u.tx.Remove(name)
}

// Audit stages a line of the run's audit log: ts, kind and run_id, then fields.
func (u *Update) Audit(kind string, fields tidegate.Details) {
	u.audit(kind, u.runID, fields)
}

func (u *Update) audit(kind, runID string, fields tidegate.Details) {
	u.logged = true
	u.tx.Log(AuditFile, auditLine(u.clock, u.now, kind, runID, fields))
}

// Manifest reads the manifest again, under the lock, with the demands that the
// run was opened with.
func (u *Update) Manifest() (Manifest, error) {
	if u.manifest.doc != nil {
		return u.manifest, nil
	}
	same, err := u.run.isUnchanged(u.ctx)
	if err != nil {
		return Manifest{}, err
	}
	if same {
		u.manifest = u.run.manifest
		return u.manifest, nil
	}
	data, err := artifact.ReadFile(u.ctx, "manifest_path", u.run.path)
	if err != nil {
		return Manifest{}, err
	}
	m, err := u.run.parseManifest(data)
	if err != nil {
		return Manifest{}, err
	}
	u.manifest = m
	return m, nil
}

// isUnchanged reports whether the manifest still has the bytes with which the
// run was opened. A manifest that has need not be held a second time.
func (r *Run) isUnchanged(ctx context.Context) (bool, error) {
	file, err := artifact.OpenFile(ctx, "manifest_path", r.path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	digest, err := codec.DigestReader(file)
	if err != nil {
		return false, tidegate.Errorf(tidegate.ReadFailed, tidegate.D("manifest_path", r.path), "cannot read (%w): %s", errors.Unwrap(err), r.path)
	}
	return digest == r.digest, nil
}

// NotFinal returns INVALID_STATE for a run that is completed or cancelled: what
// is handed in or judged afterwards is no part of it. Gates and perspectives
// without a manifest beside them belong to no run that could be final.
func (u *Update) NotFinal() error {
	m := u.manifest
	if u.run != nil {
		var err error
		if m, err = u.Manifest(); err != nil {
			return err
		}
	} else if data, err := u.folder.Read(ManifestFile); err == nil {
		if doc, err := codec.Parse(data); err == nil {
			m = Manifest{doc}
		}
	}
	if !m.Status().Final() {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.D("run_id", m.ID(), "status", m.Status()),
		"the run is %s, which is final: it takes no more perspectives, plans, outputs or gates", m.Status())
}

// Gates reads and checks the gates under the lock, as [Run.Gates] does.
func (u *Update) Gates() (Gates, error) {
	if u.run == nil {
		return readGates(u.folder, u.gatesName)
	}
	return u.run.Gates()
}

// Edit is a change of the manifest.
type Edit struct {
	Patch    *codec.Value // merge patch; what patch_digest in the audit line covers
	Also     *codec.Value // merge patch that follows from it, or nil
	Expected *int64       // revision that the caller saw, or nil
	Reason   string
}

// EditManifest applies an edit, raises the revision, stages the manifest and the
// audit line manifest_write, and returns the new manifest. It knows no rule
// about what may change: package stage does, and nobody else calls this.
//
// It returns REVISION_MISMATCH when the caller saw another revision,
// SCHEMA_VALIDATION_FAILED when the manifest before or after breaks the schema,
// and PATH_NOT_ALLOWED when the manifest does not lie in the run's folder: such a
// copy would be changed under another run's lock and logged in its log.
func (u *Update) EditManifest(edit Edit) (Manifest, error) {
	before, err := u.Manifest()
	if err != nil {
		return before, err
	}
	if u.run.name == "" {
		_, err := u.run.Name("manifest_path", u.run.path)
		return before, err
	}
	if err := ManifestShape.Check(before.doc); err != nil {
		return before, err
	}
	if err := CheckRevision(edit.Expected, before.Revision()); err != nil {
		return before, err
	}
	doc := codec.MergePatch(before.doc, edit.Patch)
	if edit.Also != nil {
		doc = codec.MergePatch(doc, edit.Also)
	}
	if doc.Kind() == codec.Object {
		doc.Set("revision", codec.Of(before.Revision()+1))
		doc.Set("updated_at", codec.Of(u.now))
	}
	if err := ManifestShape.Check(doc); err != nil {
		return before, err
	}
	digest, err := u.tx.WriteBy(u.run.name, func(w io.Writer) error { return codec.MarshalFileTo(w, doc) })
	if err != nil {
		return before, err
	}
	u.manifest = Manifest{doc}
	u.Audit("manifest_write", tidegate.D("prev_revision", before.Revision(), "new_revision", before.Revision()+1,
		"reason", edit.Reason, "patch_digest", codec.Digest(edit.Patch), "manifest_digest", digest))
	return u.manifest, nil
}

// Progress stages a note that the stage has come further: the watchdog counts
// from here. The label says what was reached, such as
// "wave1_output_ingested:p1". A manifest that a tool may read but not write,
// because it is incomplete or lies outside the run's folder, is left as it is.
func (u *Update) Progress(reason, label string) error {
	m, err := u.Manifest()
	if err != nil {
		return err
	}
	if u.run.name == "" || ManifestShape.Check(m.doc) != nil {
		return nil
	}
	patch := codec.Of(tidegate.D("stage", tidegate.D("last_progress_at", u.now)))
	_, err = u.EditManifest(Edit{Patch: patch, Reason: reason + " [progress:" + label + "]"})
	return err
}

// CheckRevision returns REVISION_MISMATCH when expected is given and differs.
func CheckRevision(expected *int64, got int64) error {
	if expected == nil || *expected == got {
		return nil
	}
	return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.D("expected", *expected, "got", got),
		"expected revision %d, but the document is at revision %d", *expected, got)
}
