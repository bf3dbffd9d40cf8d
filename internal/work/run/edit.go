package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// The edits of a manifest. Each names what it changes, so that a misspelt field
// cannot be stored. None of them knows a rule about what may change: packages
// stage and step do.

// Move is a step from stage to stage.
type Move struct {
	From, To       Stage
	Status         Status // after the move
	Reason         string
	InputsDigest   string // of the decision, as the earlier system forms it
	EvidenceDigest string // of what the decision looked at
	GatesRevision  int64
	Requested      Stage  // that the caller asked for, "" where the rules chose
	By             string // who sent the run back to writing: ByRule or ByReview; "" for another move
	Seed           string // of the round of review that it closes, "" for none
}

// Who sends a run back to writing.
const (
	ByRule   = "rule"
	ByReview = "review"
)

// moveReason begins the reason of a line that records a move.
const moveReason = "stage_advance: "

// MoveTo stages a move.
func (u *Update) MoveTo(move Move) error {
	m := u.manifest
	move.Reason = strings.TrimPrefix(cut(moveReason+move.Reason), moveReason) // as the line has it, so that it comes out of a replay
	history := m.doc.Get("stage").Get("history").Clone()
	entry := tidegate.Pairs("from", move.From, "to", move.To, "ts", u.now, "reason", move.Reason,
		"inputs_digest", move.InputsDigest, "gates_revision", move.GatesRevision, "evidence_digest", move.EvidenceDigest)
	fields := tidegate.Pairs("from", move.From, "to", move.To, "status", move.Status, "evidence_digest", move.EvidenceDigest)
	if move.By != "" {
		by := tidegate.Detail{Key: "by", Value: move.By}
		entry, fields = append(entry, by), append(fields, by)
	}
	if move.Seed != "" {
		fields = append(fields, tidegate.Detail{Key: "seed", Value: move.Seed})
	}
	history.Append(codec.Of(entry))
	// A long history is passed on as it was read.
	stage := codec.Of(tidegate.Pairs("current", move.To, "started_at", u.now, "last_progress_at", u.now))
	stage.Set("history", history)
	patch := codec.Of(tidegate.Pairs("status", move.Status))
	patch.Set("stage", stage)
	args := tidegate.Pairs()
	if move.Requested != "" {
		args = tidegate.Pairs("requested_next", move.Requested)
	}
	return u.editManifest(edit{patch: patch, event: EventMoved, reason: moveReason + move.Reason, fields: append(fields, tidegate.Detail{Key: argsKey, Value: args})})
}

// Failure is one entry of the manifest's failures.
type Failure struct {
	Kind    string        `json:"-"` // timeout, needs_person, …
	Stage   Stage         `json:"stage"`
	Message string        `json:"-"`
	Code    tidegate.Code `json:"code,omitzero"`    // "" when there is none
	Gate    string        `json:"gate_id,omitzero"` // the gate that it is about, "" when it is not about one
	Count   int64         `json:"count,omitzero"`   // how far a counter stood; kept where Code is given
	Jobs    []JobTries    `json:"jobs,omitzero"`    // the jobs whose tries are used up, in byte order of their ids
}

// JobTries says how many attempts at a job there were.
type JobTries struct {
	ID       string `json:"job_id"`
	Attempts int    `json:"attempts"`
}

// Fail stages a failure and the status that it leads to.
func (u *Update) Fail(status Status, failure Failure, reason string) error {
	m := u.manifest
	failure.Message = cut(failure.Message) // as the line has it
	entry := tidegate.Pairs("kind", failure.Kind, "stage", failure.Stage, "message", failure.Message, "retryable", false, "ts", u.now)
	if failure.Code != "" {
		entry = append(entry, tidegate.Detail{Key: "code", Value: failure.Code})
		if failure.Gate != "" {
			entry = append(entry, tidegate.Detail{Key: "gate_id", Value: failure.Gate})
		}
		entry = append(entry, tidegate.Detail{Key: "count", Value: failure.Count})
	}
	if len(failure.Jobs) > 0 {
		entry = append(entry, tidegate.Detail{Key: "jobs", Value: failure.Jobs})
	}
	failures := m.doc.Get("failures").Clone()
	failures.Append(codec.Of(entry))
	return u.editManifest(edit{patch: codec.Of(tidegate.Pairs("status", status, "failures", failures)), event: EventFailed, reason: reason,
		fields: tidegate.Pairs("status", status, "failure", failure.Kind, "message", failure.Message, argsKey, failure)})
}

// SetStatus stages another status. A run that goes on counts its time from here.
func (u *Update) SetStatus(status Status, reason string) error {
	m := u.manifest
	patch := codec.Of(tidegate.Pairs("status", status))
	if status == Running {
		patch.Set("stage", progressed(u.now))
	}
	return u.editManifest(edit{patch: patch, event: EventStatus, reason: reason, fields: tidegate.Pairs("from", m.Status(), "status", status, argsKey, tidegate.Pairs())})
}

// AcceptFailures stages that a person accepts every failure that nobody has
// accepted yet, and the status that the run goes on with.
func (u *Update) AcceptFailures(status Status, why, reason string) error {
	m := u.manifest
	failures := m.doc.Get("failures").Clone()
	for _, f := range failures.Elems() {
		u.accept(f, why)
	}
	return u.resume(m, status, failures, reason, tidegate.Pairs("why", why))
}

// AcceptGateFailures stages that a person removed the reason for the failures
// that are about a gate, and that the run goes on when it has no other failure. It
// does nothing for a run without such a failure.
func (u *Update) AcceptGateFailures(gate, why, reason string) error {
	m := u.manifest
	if m.Status() != Failed {
		return nil
	}
	failures := m.doc.Get("failures").Clone()
	status, accepted := Running, false
	for _, f := range failures.Elems() {
		switch {
		case f.Get("gate_id").Str() == gate:
			accepted = u.accept(f, why) || accepted
		case f.Get("accepted_at") == nil:
			status = Failed
		}
	}
	if !accepted {
		return nil
	}
	return u.resume(m, status, failures, reason, tidegate.Pairs("why", why, "gate", gate))
}

// accept marks a failure that nobody has accepted yet.
func (u *Update) accept(failure *codec.Value, why string) bool {
	if failure.Kind() != codec.Object || failure.Get("accepted_at") != nil {
		return false
	}
	failure.Set("accepted_at", codec.Of(u.now))
	failure.Set("accepted_reason", codec.Of(why))
	return true
}

// resume stages failures, some of which a person accepted, and the status of the run
// from then on.
func (u *Update) resume(m Manifest, status Status, failures *codec.Value, reason string, args tidegate.Details) error {
	patch := codec.Of(tidegate.Pairs("status", status, "failures", failures))
	patch.Set("stage", progressed(u.now))
	return u.editManifest(edit{patch: patch, event: EventAccepted, reason: reason, fields: tidegate.Pairs("what", "failure", "from", m.Status(), "status", status, argsKey, args)})
}

// SetLimit stages another value of one of the manifest's limits.
func (u *Update) SetLimit(name string, value int64, reason string) error {
	from, _ := u.manifest.Limit(name)
	return u.editManifest(edit{patch: codec.Of(tidegate.Pairs("limits", tidegate.Pairs(name, value))), event: EventLimit, reason: reason,
		fields: tidegate.Pairs("limit", name, "from", from, "to", value, argsKey, tidegate.Pairs())})
}

// Progress stages a note that the stage has come further. The label says what
// was reached, such as "wave1_outputs_ingested:1". A manifest that a tool may
// read but not write, because it is incomplete, is left as it is.
func (u *Update) Progress(reason, label string) error {
	if ManifestShape.Check(u.manifest.doc) != nil {
		return nil
	}
	patch := codec.NewObject()
	patch.Set("stage", progressed(u.now))
	return u.editManifest(edit{patch: patch, event: EventProgress, reason: reason + " [progress:" + label + "]", fields: tidegate.Pairs("progress", label, argsKey, tidegate.Pairs())})
}

func progressed(now string) *codec.Value { return codec.Of(tidegate.Pairs("last_progress_at", now)) }

// edit is a change of the manifest.
type edit struct {
	patch  *codec.Value // merge patch
	event  Event
	reason string
	fields tidegate.Details
}

// editManifest applies an edit, raises the revision, and stages the manifest and
// its line.
func (u *Update) editManifest(e edit) error {
	before := u.manifest
	if err := ManifestShape.Check(before.doc); err != nil {
		return err
	}
	doc := codec.MergePatch(before.doc, e.patch)
	if doc.Kind() == codec.Object {
		doc.Set("revision", codec.Of(before.Revision()+1))
		doc.Set("updated_at", codec.Of(u.now))
	}
	if err := ManifestShape.Check(doc); err != nil {
		return err
	}
	digest, err := u.putManifest(doc)
	if err != nil {
		return err
	}
	u.written = append(u.written, writtenFile{u.run.name, digest, true})
	u.manifest = Manifest{doc}
	fields := tidegate.Pairs("prev_revision", before.Revision(), "new_revision", before.Revision()+1,
		"reason", e.reason, "patch_digest", codec.Digest(e.patch), "manifest_digest", digest, "prev_digest", u.record.digest(u.run.name))
	u.Log(e.event, "manifest_write", append(fields, e.fields...))
	return nil
}

// AcceptInput are the arguments of [AcceptRecord].
type AcceptInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string `json:"reason" jsonschema:"why what is there is accepted"`
}

// AcceptResult is the result of [AcceptRecord].
type AcceptResult struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	Accepted []string   `json:"accepted" jsonschema:"the files that were not what the log recorded"`
}

// AcceptRecord records the files of a run as they are, where they differ from its
// log. It is a person's decision: the run goes on with what is there, the log says
// who accepted it and why, and [Verify] goes on showing what was accepted. It
// returns the errors of [Open], INVALID_ARGS without a reason, INVALID_STATE when
// nothing needs to be accepted, LOCK_HELD and WRITE_FAILED.
func AcceptRecord(ctx context.Context, desk Desk, in AcceptInput) (AcceptResult, error) {
	if err := CheckText("reason", in.Reason); err != nil {
		return AcceptResult{}, err
	}
	r, err := Open(ctx, desk, in.ManifestPath)
	if err != nil {
		return AcceptResult{}, err
	}
	defer r.Close()
	gates, err := r.Gates()
	if err != nil {
		return AcceptResult{}, err
	}
	out := AcceptResult{RunID: r.ID()}
	decision := Decision{"accept record", tidegate.Pairs("reason", Note(in.Reason))}
	_, err = r.decide(ctx, accepting, decision, func(u *Update) error {
		files, err := u.mismatches()
		if err != nil {
			return err
		}
		matches, err := u.matchesRecord()
		if err != nil {
			return err
		}
		if matches {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the run's record matches its files: there is nothing to accept")
		}
		for _, f := range files.Members() {
			out.Accepted = append(out.Accepted, f.Key)
		}
		u.Log(EventAccepted, kindAccept, tidegate.Pairs("what", "record", "reason", Note(in.Reason),
			"manifest_revision", u.manifest.Revision(), "gates_revision", gates.Revision(), "files", files))
		return nil
	})
	if out.Accepted == nil {
		out.Accepted = []string{LogFile}
	}
	return out, err
}

// matchesRecord reports whether there is nothing to accept: the documents are
// what the log records, and the log itself shows no change by other means.
func (u *Update) matchesRecord() (bool, error) {
	v := newVerifier(u.run)
	if err := v.verify(); err != nil {
		return false, err
	}
	return v.out.Pass && u.record.check() == nil, nil
}

// mismatches are the files that are not what the log recorded, with the digests
// that they have.
func (u *Update) mismatches() (*codec.Value, error) {
	recorded, err := u.run.Recorded()
	if err != nil {
		return nil, err
	}
	files := codec.NewObject()
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		digest, err := u.run.folder.Digest(name)
		switch {
		case err != nil:
			return nil, err
		case digest == recorded[name]:
		default:
			files.Set(name, codec.OrNull(digest))
		}
	}
	return files, nil
}

// Report shows the result to a person.
func (a AcceptResult) Report() report.Report {
	out := report.Report{Name: "run_accept", Title: "run " + a.RunID, Summary: "accepted as it is"}
	out.Add(report.Heading("Not as the log recorded it"), report.Bullets(a.Accepted))
	return out
}
