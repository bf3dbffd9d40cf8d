package run

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/seal"
)

// SignersFile lists, in a run whose decisions are signed, whose signatures
// count: an OpenSSH allowed_signers file.
const SignersFile = "run-config/allowed_signers"

// Decision is something that only a person decides about a run.
type Decision struct {
	What   string           // such as "pause" or "accept gate"
	Fields tidegate.Details // what exactly, with the reason
}

// Decide is [Run.Update] for a person's decision. In a run whose policy names
// signers it counts only with a signature by one of them, over the decision, the
// run's id and the head of the log that the person saw. The signature is made
// before the lock is taken, and kept with the decision beside the log.
//
// It also returns INVALID_ARGS when a signature is needed and none can be made,
// or its key is not one of the signers.
func (r *Run) Decide(ctx context.Context, clock Clock, d Decision, change func(*Update) error) (Audit, error) {
	if _, err := r.Gates(); err != nil {
		return Audit{}, err
	}
	return r.decide(ctx, clock, recording, d, change)
}

func (r *Run) decide(ctx context.Context, clock Clock, how manner, d Decision, change func(*Update) error) (Audit, error) {
	signed, err := r.sign(ctx, d)
	if err != nil {
		return Audit{}, err
	}
	return r.update(ctx, clock, how, func(u *Update) error {
		if err := change(u); err != nil || signed == nil || u.isEmpty() {
			return err // what changes nothing uses up no signature
		}
		return u.keepDecision(signed)
	})
}

// signedDecision is a decision with its signature, as it is kept.
type signedDecision struct {
	Decision  *codec.Value `json:"decision"` // what was signed, in canonical JSON
	Signature string       `json:"signature"`
}

// sign signs a decision where the run asks for it; it is nil elsewhere.
func (r *Run) sign(ctx context.Context, d Decision) (*signedDecision, error) {
	there, err := r.folder.Exists(SignersFile)
	if err != nil || !there || r.Legacy() {
		return nil, err
	}
	sign := seal.SignOf(ctx)
	if sign == nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("sign", nil),
			"decisions about run %q are signed: name your key with --sign, or in TIDEGATE_SIGN_KEY", r.ID())
	}
	last, err := r.folder.LastLine(AuditFile)
	if err != nil {
		return nil, err
	}
	value := codec.Of(append(tidegate.D("run_id", r.ID(), "created_at", r.manifest.doc.Get("created_at"), "head", last.Digest, "what", d.What), d.Fields...))
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

// signers reads whose signatures count in the run.
func (r *Run) signers() (*seal.Signers, error) {
	data, err := r.folder.Read(SignersFile)
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
	if err := s.verify(signers, u.clock); err != nil {
		return err
	}
	head, seen := s.Decision.Get("head").Str(), false
	err = u.run.eachLine(func(line artifact.Line) { seen = seen || line.Digest == head })
	if err != nil {
		return err
	}
	if !seen {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("head", head), "the signature is over another log: no line of this one has the head that was signed")
	}
	data, err := codec.MarshalFile(s)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("logs/decisions/%06d.json", u.record.lines+1)
	u.decision = name
	return u.Write(name, data)
}

func (s *signedDecision) verify(signers *seal.Signers, clock Clock) error {
	message, err := codec.Canonical(s.Decision)
	if err != nil {
		return err
	}
	if _, err := signers.Verify(message, []byte(s.Signature), clock.Now()); err != nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("sign", nil), "the signature does not count: %s", tidegate.AsError(err).Message)
	}
	return nil
}

// decisive are the events that a person's line records a decision with.
var decisive = map[Event]bool{EventStatus: true, EventAccepted: true, EventLimit: true, EventRestored: true}

// checkDecision looks at one line of a run whose decisions are signed.
func (v *verifier) checkDecision(line artifact.Line, entry *codec.Value) {
	if tidegate.Actor(entry.Get("actor").Str()) != tidegate.Person || !decisive[eventOf(entry)] && !entry.Get("replan").Bool() {
		return
	}
	name := entry.Get("decision").Str()
	unsigned := func(problem string) {
		v.find("error", "decision-unsigned", AuditFile, line.Number, "line %d is a person's decision, and %s", line.Number, problem)
	}
	if name == "" {
		unsigned("it has no signature")
		return
	}
	data, err := v.run.folder.Read(name)
	if err != nil {
		unsigned("its signature cannot be read: " + name)
		return
	}
	doc, err := codec.Parse(data)
	if err != nil {
		unsigned(name + " is not JSON")
		return
	}
	s := signedDecision{doc.Get("decision"), doc.Get("signature").Str()}
	at, _ := tidegate.ParseTime(entry.Get("ts").Str())
	head := s.Decision.Get("head").Str()
	switch message, err := codec.Canonical(s.Decision); {
	case err != nil:
		unsigned(name + " holds no decision")
	case s.Decision.Get("run_id").Str() != v.run.ID() || s.Decision.Get("created_at").Str() != v.run.manifest.doc.Get("created_at").Str():
		unsigned(name + " was signed for another run")
	case !v.recorded.digests[head]:
		unsigned(name + " was signed over another log")
	case v.recorded.decided[string(message)] != "" && v.recorded.decided[string(message)] != name:
		unsigned(name + " repeats an earlier decision")
	default:
		if _, err := v.signers.Verify(message, []byte(s.Signature), at); err != nil {
			unsigned("its signature does not count: " + tidegate.AsError(err).Message)
			return
		}
		v.recorded.decided[string(message)] = name
	}
}
