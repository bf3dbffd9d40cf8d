package change

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
)

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
