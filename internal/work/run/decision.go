package run

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
)

// SignersFile lists whose signatures count in a run whose decisions are signed:
// an OpenSSH allowed_signers file.
const SignersFile = "run-config/allowed_signers"

// Decision is something that only a person decides about a run.
type Decision struct {
	What   string           // such as "pause" or "accept gate"
	Fields tidegate.Details // what exactly, with the reason
}

// The decisions about the evidence of a source.
const (
	AttachEvidence  = "attach evidence"
	AttachDocuments = "attach documents" // of the person's own
	ReplaceSource   = "replace source"
)

// ConfirmPlan is a person's yes to the perspectives of a run.
const ConfirmPlan = "confirm plan"

// AcceptClaim is a person's yes to one sentence of a report.
const AcceptClaim = "accept claim"

// ChooseEvidence is a person's choice of how sentences are checked, Confine that of how
// agents are kept, and RetryJob gives a job its tries again.
const (
	ChooseEvidence = "evidence"
	Confine        = "confine"
	RetryJob       = "job retry"
)

// Decide is [Run.Update] for a person's decision. In a run whose policy names
// signers it counts only with a signature by one of them, over the decision, the
// run's id and the head of the log that the person saw. The signature is made
// before the lock is taken, and kept with the decision beside the log.
//
// It also returns INVALID_ARGS when a signature is needed and none can be made,
// or its key is not one of the signers.
func (r *Run) Decide(ctx context.Context, d Decision, change func(*Update) error) (Logged, error) {
	if _, err := r.Gates(); err != nil {
		return Logged{}, err
	}
	return r.decide(ctx, always, d, change)
}

func (r *Run) decide(ctx context.Context, how recording, d Decision, change func(*Update) error) (Logged, error) {
	signed, err := r.sign(ctx, d)
	if err != nil {
		return Logged{}, err
	}
	return r.update(ctx, how, func(u *Update) error {
		u.signed = signed
		if err := change(u); err != nil || signed == nil || u.isEmpty() {
			return err // a decision that changes nothing uses up no signature
		}
		return u.keepDecision(signed)
	})
}

// signedDecision is a decision with its signature, as it is kept.
type signedDecision struct {
	Decision  *codec.Value `json:"decision"` // what was signed, in canonical JSON
	Signature string       `json:"signature"`
}

// sign signs a decision where the run asks for it, and returns nil elsewhere.
func (r *Run) sign(ctx context.Context, d Decision) (*signedDecision, error) {
	needed, err := r.needsSignature()
	if err != nil || !needed || r.desk.Rehearsal != nil {
		return nil, err
	}
	sign := r.desk.Sign
	if sign == nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil),
			"decisions about run %q are signed: name your key with --sign, or in TIDEGATE_SIGN_KEY", r.ID())
	}
	last, err := r.folder.LastLine(LogFile)
	if err != nil {
		return nil, err
	}
	value := codec.Of(append(tidegate.Pairs("run_id", r.ID(), "created_at", r.manifest.doc.Get("created_at"), "head", last.Digest, "what", d.What), d.Fields...))
	message, err := codec.Canonical(value)
	if err != nil {
		return nil, err
	}
	armored, err := sign(ctx, message)
	if err != nil {
		return nil, err
	}
	return &signedDecision{value, string(armored)}, nil
}

// needsSignature reports whether decisions about the run are signed: it was made
// that way, or has a list of signers.
func (r *Run) needsSignature() (bool, error) {
	there, err := r.folder.Exists(SignersFile)
	return there || r.ends.signers != "", err
}

// signers reads whose signatures count in the run: those of the list that it was
// made with. It returns TAMPERED for another list. Nobody can accept that one,
// because whoever rewrote it could accept it himself.
func (r *Run) signers() (*seal.Signers, error) {
	data, err := r.folder.Read(SignersFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound || err == nil && r.ends.signers != "" && codec.DigestBytes(data) != r.ends.signers {
		return nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("run_id", r.ID(), "changed", []string{SignersFile}),
			"%s is not the list of signers that the run was created with: put that back", SignersFile)
	}
	if err != nil {
		return nil, err
	}
	return seal.ParseSigners(data)
}

// keepDecision checks a signed decision against the run and stages it beside
// the log. A signature counts once: for a head that is a line of this log, and
// for a decision that no later line has taken already.
func (u *Update) keepDecision(s *signedDecision) error {
	signers, err := u.run.signers()
	if err != nil {
		return err
	}
	if _, err := s.verify(signers, u.desk); err != nil {
		return err
	}
	head, seen := s.Decision.Get("head").Str(), false
	err = u.run.eachLine(func(line artifact.Line) { seen = seen || line.Digest == head })
	if err != nil {
		return err
	}
	if !seen {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("head", head), "the signature is over another log: no line of this one has the head that was signed")
	}
	data, err := codec.MarshalFile(s)
	if err != nil {
		return err
	}
	name := decisionName(u.record.lines + 1)
	u.decision = name
	return u.Write(name, data)
}

// Signature is who signed the decision that the update carries out, and the file that
// keeps the signature; both are "" where decisions are not signed. It returns the errors
// of a signature that does not count.
func (u *Update) Signature() (by, file string, err error) {
	if u.signed == nil {
		return "", "", nil
	}
	signers, err := u.run.signers()
	if err != nil {
		return "", "", err
	}
	by, err = u.signed.verify(signers, u.desk)
	return by, decisionName(u.record.lines + 1), err
}

// verify names the signer.
func (s *signedDecision) verify(signers *seal.Signers, desk Desk) (by string, err error) {
	message, err := codec.Canonical(s.Decision)
	if err != nil {
		return "", err
	}
	signer, err := signers.Verify(message, []byte(s.Signature), desk.Now())
	if err != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil), "the signature does not count: %s", tidegate.AsError(err).Message)
	}
	return signer.String(), nil
}

// decisionName is the file of the decision that an update carries out; line is the
// number of the update's first line.
func decisionName(line int64) string { return fmt.Sprintf("logs/decisions/%06d.json", line) }

// keptDecision is the signed decision in a file of the run, with the bytes that were signed.
// Problem says why there is none.
func (r *Run) keptDecision(name string) (s signedDecision, message []byte, problem string) {
	data, err := r.folder.Read(name)
	if err != nil {
		return s, nil, "its signature cannot be read: " + name
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return s, nil, name + " is not JSON"
	}
	s = signedDecision{doc.Get("decision"), doc.Get("signature").Str()}
	if message, err = codec.Canonical(s.Decision); err != nil {
		return s, nil, name + " holds no decision"
	}
	return s, message, ""
}

// decisive are the events by which a person's line records a decision.
var decisive = map[Event]bool{EventStatus: true, EventAccepted: true, EventLimit: true, EventRestored: true, EventAttached: true, EventReplaced: true, EventGranted: true}

// recordsDecision reports whether a line records a person's decision. No decision is
// needed for agents to be confined.
func recordsDecision(entry *codec.Value) bool {
	switch event := Event(entry.Get("event").Str()); event {
	case EventConfinement:
		return entry.Get("mode").Str() == ModeUnconfined
	default:
		return decisive[event] || entry.Get("replan").Bool()
	}
}

// checkDecision checks one line of a run whose decisions are signed. Before is
// the decision that the line before it carries out.
func (v *verifier) checkDecision(line artifact.Line, entry *codec.Value, before string) {
	if !recordsDecision(entry) {
		return
	}
	name := entry.Get("decision").Str()
	unsigned := func(problem string) {
		v.find("error", "decision-unsigned", LogFile, line.Number, "line %d is a person's decision, and %s", line.Number, problem)
	}
	if actor := tidegate.ActorKind(entry.Get("actor").Str()); actor != tidegate.Person {
		unsigned("it says that it was made by another: " + tidegate.Cut(string(actor)))
		return
	}
	if name == "" {
		unsigned("it has no signature")
		return
	}
	s, message, problem := v.run.keptDecision(name)
	if problem != "" {
		unsigned(problem)
		return
	}
	at, _ := tidegate.ParseTime(entry.Get("ts").Str())
	head := s.Decision.Get("head").Str()
	switch {
	case s.Decision.Get("run_id").Str() != v.run.ID() || s.Decision.Get("created_at").Str() != v.run.manifest.doc.Get("created_at").Str():
		unsigned(name + " was signed for another run")
	case !v.recorded.digests[head]:
		unsigned(name + " was signed over another log")
	case v.recorded.decided[string(message)] != "" && v.recorded.decided[string(message)] != name:
		unsigned(name + " repeats an earlier decision")
	case name != decisionName(int64(line.Number)) && name != before:
		unsigned(name + " belongs to another line")
	case !decides(s.Decision, entry):
		unsigned(name + " was signed for something else")
	default:
		if _, err := v.signers.Verify(message, []byte(s.Signature), at); err != nil {
			unsigned("its signature does not count: " + tidegate.AsError(err).Message)
			return
		}
		v.recorded.decided[string(message)] = name
	}
}

// UnsignedDecisions lists a person's decisions that lack the signature that the
// run asks for, each with what is wrong with it. It returns READ_FAILED.
func (r *Run) UnsignedDecisions() ([]string, error) {
	v := newVerifier(r)
	if err := v.readSigners(""); err != nil {
		return nil, err
	}
	if err := v.readLog(); err != nil {
		return nil, err
	}
	var unsigned []string
	for _, f := range v.out.Findings {
		if f.Rule == "decision-unsigned" || f.Rule == "signers-differ" {
			unsigned = append(unsigned, f.Message)
		}
	}
	return unsigned, nil
}

// decides reports whether a decision is about what a line records.
func decides(decision, entry *codec.Value) bool {
	event := Event(entry.Get("event").Str())
	if event == EventStatus {
		return decision.Get("what").Str() == map[Status]string{Paused: "pause", Cancelled: "cancel", Running: "resume"}[Status(entry.Get("status").Str())]
	}
	about := decidedBy[event]
	switch {
	case event == EventAccepted:
		about = acceptedBy[entry.Get("what").Str()]
	case about == nil: // a line of a new plan
		about = decidedBy[EventPerspectives]
	}
	fields, known := about[decision.Get("what").Str()]
	return known && fields.same(decision, entry)
}

// fields pairs the fields of a decision with those of the lines that carry it out.
type fields map[string]string

func (f fields) same(decision, entry *codec.Value) bool {
	for of, name := range f {
		was := decision.Get(of)
		if of == "documents" {
			was = was.Get(entry.Get("name").Str())
		}
		if codec.Digest(codec.Of(was)) != codec.Digest(codec.Of(entry.Get(name))) {
			return false
		}
	}
	return true
}

// decidedBy are the decisions that a line of an event can carry out, with what both
// must agree in.
var decidedBy = map[Event]map[string]fields{
	EventLimit:        {"limit": {"name": "limit", "value": "to"}, ChooseEvidence: {"choice": "to"}},
	EventGranted:      {RetryJob: {"job_id": "job_id"}},
	EventConfinement:  {Confine: {"mode": "mode"}},
	EventRestored:     {"restore output": {"perspective_id": "perspective_id"}},
	EventAttached:     {AttachDocuments: {"documents": "file"}, AttachEvidence: {"cid": "cid", "file": "file"}},
	EventReplaced:     {ReplaceSource: {"cid": "cid", "url": "url"}},
	EventPerspectives: {"replan": {"value_digest": "value_digest"}},
}

// acceptedBy is decidedBy for what a person accepts.
var acceptedBy = map[string]map[string]fields{
	"failure": {"resume --accept": nil, AcceptClaim: nil, AttachEvidence: nil, ReplaceSource: nil, "limit": nil, RetryJob: nil},
	"plan":    {ConfirmPlan: {"perspectives": "perspectives"}},
	"gate":    {"accept gate": {"gate": "gate"}},
	"claim":   {AcceptClaim: {"claim": "claim", "digest": "digest"}},
	"record":  {"accept record": nil},
}
