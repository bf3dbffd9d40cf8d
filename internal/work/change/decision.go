package change

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
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

// signersFile, beside the folder of changes, says whose signatures count: an
// OpenSSH allowed_signers file. Without it decisions are not signed.
const signersFile = "allowed_signers"

// readSigners reads whose signatures count for the change in a folder, nil where
// decisions need none. It returns INVALID_ARGS for a list that cannot be used.
func readSigners(desk run.Desk, folder *artifact.Folder) (*seal.Signers, error) {
	path := filepath.Join(filepath.Dir(filepath.Dir(folder.Path())), signersFile)
	signers, err := seal.ReadSigners(desk.Reach, "signers", path)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	return signers, err
}

// sign makes the signature that a decision needs, "" where it needs none. It is
// made before the lock is taken. It returns INVALID_ARGS when no key was named,
// and for a key that is not one of the signers.
func (d decision) sign(ctx context.Context, desk run.Desk, folder *artifact.Folder) (string, error) {
	signers, err := readSigners(desk, folder)
	if err != nil || signers == nil {
		return "", err
	}
	message, err := codec.Canonical(d.value())
	if err != nil {
		return "", err
	}
	return signature(ctx, desk, signers, message)
}

// signature is the person's over a message. It returns INVALID_ARGS when no key was
// named, and for a key that is not one of the signers.
func signature(ctx context.Context, desk run.Desk, signers *seal.Signers, message []byte) (string, error) {
	if desk.Sign == nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil),
			"decisions about changes are signed here: name your key with --sign, or in TIDEGATE_SIGN_KEY")
	}
	armored, err := desk.Sign(ctx, message)
	if err != nil {
		return "", err
	}
	if _, err := signers.Verify(message, armored, desk.Now()); err != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil), "the signature does not count: %s", tidegate.AsError(err).Message)
	}
	return string(armored), nil
}

// details are what the line of a decision holds.
func (d decision) details(signature string) tidegate.Details {
	fields := tidegate.Pairs("decision", d.value())
	if signature != "" {
		fields = append(fields, tidegate.Detail{Key: "signature", Value: signature})
	}
	return fields
}

// isSigned reports whether a line of the log that a person's decision made has a
// signature that counts.
func isSigned(line *codec.Value, signers *seal.Signers) bool {
	message, err := codec.Canonical(line.Get("decision"))
	if err != nil {
		return false
	}
	at, ok := tidegate.ParseTime(line.Get("ts").Str())
	if !ok {
		return false
	}
	_, err = signers.Verify(message, []byte(line.Get("signature").Str()), at)
	return err == nil
}
