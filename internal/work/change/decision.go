package change

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// decision is what a person decides about a change. Its canonical JSON stands in
// the log with what it did; it names the change and the log that the person saw,
// so that it counts once and nowhere else, even when it is signed.
type decision struct {
	ChangeID  string `json:"change_id"`
	Decision  string `json:"decision"`             // the command
	MaxRounds *int64 `json:"max_rounds,omitempty"` // of change start
	Reason    string `json:"reason,omitempty"`     // of change resume
	Review    int    `json:"review,omitempty"`     // the newest review that was kept
	Head      string `json:"head"`                 // the digest of the last line of the log that the person saw
}

// decision is a decision about the change in the state of its record.
func (r *record) decision(id, command string) decision {
	return decision{ChangeID: id, Decision: command, Review: r.newest(), Head: r.head}
}

// value is the decision as it is logged, and as it is signed in its canonical
// form.
func (d decision) value() *codec.Value { return codec.Of(d) }

// taken reports whether the log has the decision already: a repetition does
// nothing more.
func (r *record) taken(d decision) bool { return r.decisions[codec.Digest(d.value())] }

// admits returns INVALID_STATE unless the decision was made about this log and
// its newest review.
func (r *record) admits(d decision) error {
	refuse := func(reason string) error {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", d.ChangeID, "head", d.Head), "the decision about change %s does not count: %s", d.ChangeID, reason)
	}
	switch {
	case !r.heads[d.Head]:
		return refuse("it was made about another log")
	case d.Review != r.newest():
		return refuse("another review came in since")
	}
	return nil
}

// byPerson returns GATE_BLOCKED, with the command, unless the call is made on a
// person's authority.
func byPerson(ctx context.Context, id, what, command string) error {
	if tidegate.ActorOf(ctx).Kind == tidegate.Person {
		return nil
	}
	return tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("change_id", id, "allowed", []string{command}), "only a person %s: `%s`", what, command)
}

// maxReason is how many characters a reason may have.
const maxReason = 4096

func checkReason(text string) error {
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxReason {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("reason", tidegate.Cut(text)), "reason must say why, in at most %d characters", maxReason)
	}
	return nil
}
