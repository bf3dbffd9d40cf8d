package run

import (
	"cmp"
	"context"
	"io"
	"math"
	"path"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Update is a change of a run under its lock. What it writes lands together
// when the function that got it returns nil, and not at all otherwise. Its log
// lines are part of it.
type Update struct {
	ctx      context.Context // of the call that the update belongs to
	run      *Run
	lock     *artifact.Lock
	tx       *artifact.Tx
	desk     Desk
	at       time.Time
	now      string
	actor    tidegate.Actor
	lines    []Line
	written  []writtenFile
	manifest Manifest // as read under the lock, or as written by this update
	record   record   // what the log says about what is here
	signed   *signedDecision
	decision string       // the file of a signed decision that the update carries out
	adopted  *codec.Value // the gates to judge again in a run that another program made
	failed   error        // of a file that could not be staged
}

// Logged says what became of the lines that an update logged.
type Logged struct {
	Written bool
	Path    string // of the log, absolute
}

// Update takes the run's lock, first finishing or undoing what a killed process
// left, and calls change. When change returns an error nothing is written and
// that error is returned.
//
// It also returns NOT_FOUND and INVALID_STATE for a
// folder without gates of the run, TAMPERED when the run's documents are not those that its log records,
// LOCK_HELD, CANCELLED and WRITE_FAILED.
func (r *Run) Update(ctx context.Context, change func(*Update) error) (Logged, error) {
	if _, err := r.Gates(); err != nil {
		return Logged{}, err
	}
	return r.update(ctx, always, change)
}

// UpdateBeside is [Run.Update] for the tools that need only a manifest and
// write beside it. In a folder without gates nothing is recorded but their own
// line, and nothing can be tampered with. If the line cannot be written, nothing
// else changes.
func (r *Run) UpdateBeside(ctx context.Context, change func(*Update) error) (Logged, error) {
	return r.update(ctx, beside, change)
}

// recording is how an update treats the record of the run.
type recording int

const (
	always    recording = iota // no change without a line, and none over a record that does not match
	beside                     // a line where it can be written
	accepting                  // a person accepts what does not match
)

// Change is one of several changes that are made together.
type Change struct {
	Ctx context.Context // of the call that it belongs to
	Do  func(*Update) error
}

// UpdateTogether makes several changes as [Run.Update] makes one, in as few
// transactions as it can, and returns what became of each. In the log they stand
// as if each had been made alone, in the order of the list. A change that returns
// an error changes nothing and does not affect the others. No two of them may
// be about the same files, because each sees the files as they were before the
// first; but any of them may change a document that [Update.Found] knows.
func (r *Run) UpdateTogether(ctx context.Context, changes ...Change) []error {
	errs := make([]error, len(changes))
	if r.desk.Rehearsal != nil {
		for i, c := range changes {
			errs[i] = r.Rehearse(c.Ctx, r.desk, c.Do)
		}
		return errs
	}
	_, err := r.Gates()
	for at := 0; at < len(changes); {
		n := len(changes) - at
		if err == nil {
			n, _, err = r.transact(ctx, always, changes[at:], errs[at:])
		}
		for i := range n {
			if err != nil {
				errs[at+i] = err
			}
		}
		at += n
	}
	return errs
}

func (r *Run) update(ctx context.Context, how recording, do func(*Update) error) (Logged, error) {
	if r.desk.Rehearsal != nil {
		return Logged{}, r.Rehearse(ctx, r.desk, do)
	}
	errs := make([]error, 1)
	_, audit, err := r.transact(ctx, how, []Change{{ctx, do}}, errs)
	if err == nil {
		err = errs[0]
	}
	return audit, err
}

// transact makes the first n changes of a list in one transaction, and says what
// became of each of them. An error means that none was made.
func (r *Run) transact(ctx context.Context, how recording, changes []Change, errs []error) (n int, audit Logged, err error) {
	lock, err := r.folder.Lock(ctx, r.desk.Now)
	if err != nil {
		return len(changes), Logged{}, err
	}
	defer lock.Unlock()
	rec, err := r.readRecord()
	if err != nil {
		return len(changes), Logged{}, err
	}
	if how != accepting {
		if err := rec.check(); err != nil {
			return len(changes), Logged{}, err
		}
	}
	if err := rec.findEnd(lock, how); err != nil {
		return len(changes), Logged{}, err
	}
	if rec.lines != r.wrote {
		r.others = rec.lines
	}
	tx := lock.Begin()
	made, lines := 0, 0
	for n < len(changes) {
		u := &Update{ctx: changes[n].Ctx, run: r, lock: lock, tx: tx, desk: r.desk, actor: tidegate.ActorOf(changes[n].Ctx), record: rec}
		u.begin()
		mark := tx.Mark()
		errs[n] = u.apply(how, changes[n].Do)
		n++
		if errs[n-1] != nil {
			tx.BackTo(mark)
			continue
		}
		made++
		lines += len(u.lines)
		rec.lines += int64(len(u.lines))
		if u.adopted != nil || rec.covers(u.written) {
			break // the next change sees what this one wrote
		}
		if len(u.lines) > 0 {
			rec.unrecorded = nil
		}
	}
	if made == 0 {
		return n, Logged{}, nil
	}
	if err := tx.Commit(); err != nil {
		return n, Logged{}, err
	}
	r.wrote = rec.lines
	audit = Logged{Path: r.Path(LogFile), Written: lines > 0}
	if err := tx.LogError(); err != nil {
		audit.Written = false
	}
	return n, audit, nil
}

// apply stages what a change does, with its lines.
func (u *Update) apply(how recording, do func(*Update) error) error {
	if err := u.ctx.Err(); err != nil {
		return tidegate.Errorf(tidegate.Cancelled, tidegate.Pairs(), "cancelled before the run was changed (%w)", context.Cause(u.ctx))
	}
	if err := u.readManifest(); err != nil {
		return err
	}
	if how == always {
		if err := u.adopt(); err != nil {
			return err
		}
	}
	if err := cmp.Or(do(u), u.failed); err != nil {
		return err
	}
	if err := u.finishAdopting(); err != nil {
		return err
	}
	u.logFiles()
	return u.stageLines(how)
}

// begin sets the one time for everything in the update.
func (u *Update) begin() {
	u.at = u.desk.Now()
	u.now = tidegate.Stamp(u.at)
}

// findEnd finds out how many lines the log has. A log that does not match its
// head is TAMPERED, unless a person accepts it.
func (rec *record) findEnd(lock *artifact.Lock, how recording) error {
	log, err := lock.CheckLog(LogFile)
	switch {
	case how == accepting && (err == nil || tidegate.CodeOf(err) == tidegate.Tampered):
		return rec.run.eachLine(func(artifact.Line) { rec.lines++ })
	case rec.bare || tidegate.CodeOf(err) == tidegate.FileNotFound:
		// Beside a bare manifest the log is kept as well as it can be. If the log's
		// folder is not a folder, the write refuses it.
	case tidegate.CodeOf(err) == tidegate.Tampered:
		return rec.run.damaged(tidegate.AsError(err).Message)
	case err != nil:
		return err
	case rec.state != "" && !log.Headed:
		return rec.run.damaged(HeadFile + " is not there")
	case rec.seq != 0 && rec.seq != int64(log.Lines):
		return rec.run.damaged(HeadFile + " does not say how many lines the log has")
	}
	rec.lines = int64(log.Lines)
	return nil
}

// stageLines adds the lines of the update to its transaction.
func (u *Update) stageLines(how recording) error {
	if how == accepting {
		if err := u.tx.Accept(LogFile); err != nil {
			return err
		}
	}
	state := u.record.stateAfter(u.written)
	first, tx := u.record.lines+1, int64(0)
	if how == accepting || u.record.judgedByUs() && !u.record.bare {
		tx = first
	}
	for i, line := range u.lines {
		if u.decision != "" {
			line.Fields = append(line.Fields, tidegate.Detail{Key: "decision", Value: u.decision})
		}
		body := line.details(u.desk, u.now, u.run.ID(), u.actor, first+int64(i), tx, state)
		if how == beside {
			u.tx.Log(LogFile, body)
		} else if err := u.tx.Record(LogFile, body); err != nil {
			return err
		}
	}
	return nil
}

// Run is the run that is updated.
func (u *Update) Run() *Run { return u.run }

// Lock is the run's lock, for the archive: a file that only grows is added to in
// place and is not part of the update. What was added counts by a line that the
// update logs, with the name of the file as archive and, as records, where each
// piece lies and its digest; [Verify] checks that it is still there.
func (u *Update) Lock() *artifact.Lock { return u.lock }

// Now is the one time stamp of everything in this update.
func (u *Update) Now() string { return u.now }

// Time is the same with its monotonic reading, where the caller's clock has one.
func (u *Update) Time() time.Time { return u.at }

// Pinned reports whether the caller fixed the time, as tests do.
func (u *Update) Pinned() bool { return u.desk.Pinned }

// Actor is on whose authority the update is made.
func (u *Update) Actor() tidegate.Actor { return u.actor }

// As attributes the lines of the update to another actor: what follows from
// the files is done by rule, whoever started it.
func (u *Update) As(actor tidegate.Actor) { u.actor = actor }

// Write stages a file of the run; one file is written once in an update.
// Missing folders are made. Files land in the order of the calls, so that a
// reader who sees the last sees all. It returns WRITE_FAILED and
// PATH_NOT_ALLOWED, and the update ends with that error, whoever looks at it. The log
// keeps the file's digest, by which [Verify] recognizes it.
func (u *Update) Write(name string, data []byte) error {
	digest, err := u.putPlain(name, data)
	if err == nil {
		u.written = append(u.written, writtenFile{path.Clean(name), digest, false})
	}
	return u.fail(err)
}

// fail is err, which the update ends with.
func (u *Update) fail(err error) error {
	u.failed = cmp.Or(u.failed, err)
	return err
}

// WriteJSON stages a document: two-space indent and a final newline.
func (u *Update) WriteJSON(name string, v any) error {
	data, err := codec.MarshalFile(v)
	if err != nil {
		return u.fail(err)
	}
	return u.Write(name, data)
}

// Remove stages the removal of a file. One that does not exist is not logged. It
// returns the errors of [Update.Write] and READ_FAILED.
func (u *Update) Remove(name string) error {
	there, err := u.run.folder.Exists(name)
	if there {
		u.written = append(u.written, writtenFile{name: path.Clean(name)})
	}
	return u.fail(cmp.Or(err, u.take(name)))
}

// Found is the digest of one of the run's documents (manifest, gates, policy,
// scope, perspectives, plans) as it stood when the lock was taken, "" when it was
// not there.
func (u *Update) Found(name string) string { return u.record.found[name] }

// Pending has the digests of the files that the update writes so far, by name,
// "" for one that it removes.
func (u *Update) Pending() map[string]string {
	pending := map[string]string{}
	for _, f := range u.written {
		pending[f.name] = f.digest
	}
	return pending
}

// LastLine is the number of the last line that the update has logged so far, or
// that the log had before it.
func (u *Update) LastLine() int { return int(u.record.lines) + len(u.lines) }

// OthersWrote is the number of the last line in the log that others may have
// written. All later lines come from updates of this opened run, so that a caller
// that knows what those wrote need not read it again.
func (u *Update) OthersWrote() int {
	if u.desk.Rehearsal != nil || u.record.bare {
		return math.MaxInt // lines are not counted
	}
	return int(u.run.others)
}

// Log stages a line of the run's log.
func (u *Update) Log(event Event, kind string, fields tidegate.Details) {
	u.lines = append(u.lines, Line{event, kind, fields})
}

// Manifest is the manifest as it was read under the lock, or as this update has
// written it.
func (u *Update) Manifest() Manifest { return u.manifest }

// readManifest reads the manifest again, under the lock, and demands the same fields
// as when the run was opened.
func (u *Update) readManifest() error {
	if u.Found(u.run.name) == u.run.digest {
		u.manifest = u.run.manifest
		return nil
	}
	data, err := u.run.desk.Reach.ReadDocument("manifest_path", u.run.path)
	if err == nil {
		u.manifest, err = u.run.parseManifest(data)
	}
	return err
}

// NotFinal returns INVALID_STATE for a run that is completed or cancelled: what
// is handed in or judged afterwards is not part of it.
func (u *Update) NotFinal() error {
	m := u.manifest
	if !m.Status().Final() {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", m.ID(), "status", m.Status()),
		"the run is %s, which is final: it takes no more perspectives, plans, outputs or gates", m.Status())
}

// Gates reads and checks the gates under the lock, as [Run.Gates] does.
func (u *Update) Gates() (Gates, error) { return u.run.Gates() }

// EditGates lays patches over gates as [Gates.Apply] does, and stages the
// document and the line gates_write, with more fields. It returns the errors of
// Apply, and INVALID_STATE for a run that is final.
func (u *Update) EditGates(update *codec.Value, inputsDigest, reason string, more ...tidegate.Detail) (Gates, error) {
	before, err := u.Gates()
	if err != nil {
		return before, err
	}
	if err := u.NotFinal(); err != nil {
		return before, err
	}
	for _, m := range u.adopted.Members() {
		if update.Get(m.Key) == nil {
			update.Set(m.Key, m.Value)
		}
	}
	u.adopted = nil
	after, err := before.Apply(u.run.folder, u.Pending(), update, inputsDigest, u.at)
	if err != nil {
		return before, err
	}
	data, err := codec.MarshalFile(after.Doc())
	if err != nil {
		return before, err
	}
	gates := tidegate.Details{} // those that the update touches, with the status of each after it
	for _, m := range update.Members() {
		gates = append(gates, tidegate.Detail{Key: m.Key, Value: after.Status(m.Key)})
	}
	name, digest := u.run.layout.Gates, codec.DigestBytes(data)
	u.written = append(u.written, writtenFile{name, digest, true})
	u.Log(EventGates, "gates_write", append(tidegate.Pairs("prev_revision", before.Revision(), "new_revision", after.Revision(),
		"reason", reason, "inputs_digest", after.Doc().Get("inputs_digest").Str(), "gates_digest", digest,
		"prev_digest", u.record.digest(name), "gates", gates), more...))
	return after, u.put(name, data)
}

// DropGates stages that gates are to be judged again. It stages nothing where none of
// them has been judged, and returns the errors of [Update.EditGates].
func (u *Update) DropGates(reason string, ids ...string) error {
	gates, err := u.Gates()
	if err != nil {
		return err
	}
	dropped := codec.NewObject()
	for _, id := range ids {
		if gates.Status(id) != GateNotRun {
			dropped.Set(id, codec.Of(tidegate.Pairs("status", GateNotRun)))
		}
	}
	if dropped.Len() == 0 {
		return nil
	}
	_, err = u.EditGates(dropped, gates.Doc().Get("inputs_digest").Str(), reason)
	return err
}

// CheckRevision returns REVISION_MISMATCH when expected is given and differs.
func CheckRevision(expected *int64, got int64) error {
	if expected == nil || *expected == got {
		return nil
	}
	return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.Pairs("expected", *expected, "got", got),
		"expected revision %d, but the document is at revision %d", *expected, got)
}

// kindFiles is the kind of the lines that keep the digests of the files that an
// update wrote, except manifest and gates, which have lines of their own.
const kindFiles = "files_write"

// writtenFile is a file that an update wrote, or removed when digest is "".
type writtenFile struct {
	name, digest string
	hasLine      bool // its own line keeps the digest
}

// filesPerLine keeps a line of digests short enough for the log.
const filesPerLine = 1000

// logFiles stages the digests of what the update writes. An update that logs
// nothing itself does not begin a log.
func (u *Update) logFiles() {
	files := slices.DeleteFunc(slices.Clone(u.written), func(f writtenFile) bool { return f.hasLine })
	if len(u.lines) == 0 {
		begun, err := u.run.folder.Exists(LogFile)
		if len(files) == 0 || err == nil && !begun {
			return
		}
	}
	for _, name := range u.record.unrecorded { // written by hand, and recorded from here on
		if !slices.ContainsFunc(u.written, func(f writtenFile) bool { return f.name == name }) {
			files = append(files, writtenFile{name: name, digest: u.record.found[name]})
		}
	}
	for part := range slices.Chunk(files, filesPerLine) {
		digests := codec.NewObject()
		for _, f := range part {
			digests.Set(f.name, codec.OrNull(f.digest))
		}
		u.Log(EventFiles, kindFiles, tidegate.Pairs("files", digests))
	}
}

// Rehearsal is what the updates of a call would have done, in the place of writing it.
type Rehearsal struct {
	Lines []Line            // of the log, in order, without what the chain adds
	Files map[string][]byte // by name, nil for one that would have been removed
}

// Rehearsing is the desk with a rehearsal of its own.
func (d Desk) Rehearsing() Desk {
	d.Rehearsal = &Rehearsal{Files: map[string][]byte{}}
	return d
}

// Rehearse is [Run.Update] at a desk with a rehearsal. It writes nothing: it takes
// no lock, asks for no signature, takes the run as it stands, whether or not that is
// what its log records, and leaves in the rehearsal what it would have written.
// Replaying a run uses it, mostly through functions that open the run at such a desk.
func (r *Run) Rehearse(ctx context.Context, desk Desk, change func(*Update) error) error {
	u := &Update{ctx: ctx, run: r, desk: desk, actor: tidegate.ActorOf(ctx)}
	u.begin()
	var err error
	if u.record, err = r.readRecord(); err != nil {
		return err
	}
	if err := u.readManifest(); err != nil {
		return err
	}
	if err := cmp.Or(change(u), u.failed); err != nil {
		return err
	}
	u.logFiles()
	desk.Rehearsal.Lines = append(desk.Rehearsal.Lines, u.lines...)
	return nil
}

// put stages the content of a file.
func (u *Update) put(name string, data []byte) error {
	if u.desk.Rehearsal != nil {
		u.desk.Rehearsal.Files[path.Clean(name)] = data
		return nil
	}
	return u.tx.Write(name, data)
}

// putPlain is put for a file that is the run's own and not a link to another. It
// returns the digest of data.
func (u *Update) putPlain(name string, data []byte) (digest string, err error) {
	if u.desk.Rehearsal != nil {
		return codec.DigestBytes(data), u.put(name, data)
	}
	return u.tx.WritePlain(name, data)
}

// take stages the removal of a file.
func (u *Update) take(name string) error {
	if u.desk.Rehearsal != nil {
		u.desk.Rehearsal.Files[path.Clean(name)] = nil
		return nil
	}
	return u.tx.Remove(name)
}

// putManifest stages a manifest and returns its digest. A long one is written
// piece by piece.
func (u *Update) putManifest(doc *codec.Value) (digest string, err error) {
	if u.desk.Rehearsal == nil {
		return u.tx.WriteBy(u.run.name, func(w io.Writer) error { return codec.MarshalFileTo(w, doc) })
	}
	data, err := codec.MarshalFile(doc)
	u.desk.Rehearsal.Files[u.run.name] = data
	return codec.DigestBytes(data), err
}

// Value is the line as it stands in the log, without the time and what the chain
// adds.
func (l Line) Value() *codec.Value {
	return codec.Of(append(tidegate.Pairs("kind", l.Kind, "event", l.Event), l.kept()...))
}
