package seal

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// Signers says whose signatures count: an allowed_signers file of OpenSSH.
type Signers struct {
	lines []signerLine
}

// Signer is a key that signed, and the name that the signers file has for it.
type Signer struct {
	Principal   string // what the signers file calls the key: a name, or a list of patterns as it stands there
	Fingerprint string // of the key, SHA256:…, as `ssh-keygen -l` prints it
}

// String names the signer. A pattern is shown as one: whoever has the key may be any of
// those that it describes.
func (s Signer) String() string {
	switch {
	case strings.ContainsAny(s.Principal, "*?!"):
		return "a key that is listed for the pattern " + s.Principal
	case strings.Contains(s.Principal, ","):
		return "a key that is listed for " + s.Principal
	}
	return s.Principal
}

// ReadSigners reads the signers file at path, which the caller was given as the
// argument arg. It returns the errors of [artifact.Reach.ReadFile] and of
// [ParseSigners], with the path under arg.
func ReadSigners(reach artifact.Reach, arg, path string) (*Signers, error) {
	data, err := reach.ReadFile(arg, path)
	if err != nil {
		return nil, err
	}
	signers, err := ParseSigners(data)
	if err != nil {
		return nil, tidegate.WithDetails(err, append(tidegate.Pairs(arg, path), tidegate.AsError(err).Details...))
	}
	return signers, nil
}

// ParseSigners reads the text of a signers file. A line that ssh-keygen would
// not understand, or that this package does not support, is INVALID_ARGS with
// its number in details.line_number: a file of which a part is unclear says
// nothing about whom to trust. So is a file that lists nobody.
func ParseSigners(data []byte) (*Signers, error) {
	lines, err := parseSignerLines(string(data))
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "the signers file lists no key")
	}
	return &Signers{lines}, nil
}

// As is what is left of s when the signer must have the name principal: the keys of
// the lines whose principals match it.
func (s *Signers) As(principal string) *Signers {
	named := new(Signers)
	for _, line := range s.lines {
		if matchList(line.principals, principal) {
			named.lines = append(named.lines, line)
		}
	}
	return named
}

// Verify names the signer of message by its armored signature. The signer must have
// been valid at that time. It returns TAMPERED when the signature is damaged, is
// over another message or in another namespace, is of a weak kind, or is by a key
// that is not listed, not yet valid, or expired.
func (s *Signers) Verify(message, armored []byte, at time.Time) (Signer, error) {
	sig, err := parseSignature(armored)
	if err != nil {
		return Signer{}, tampered(nil, "%w", err)
	}
	if sig.Namespace != Namespace {
		return Signer{}, tampered(nil, "the signature must be made for the namespace %q, and was made for %q", Namespace, sig.Namespace)
	}
	line, err := s.find(fingerprint(sig.Key), at)
	if err != nil {
		return Signer{}, err
	}
	if err := sig.verify(line.key, message); err != nil {
		return Signer{}, tampered(tidegate.Pairs("signer", line.fingerprint), "the signature by %s does not count: %w", line.fingerprint, err)
	}
	return line.signer(), nil
}

// verifyPlain is Verify for a signature that must be written as we write it, so
// that not a byte of it can differ.
func (s *Signers) verifyPlain(message, armored []byte, at time.Time) (Signer, error) {
	signer, err := s.Verify(message, armored, at)
	if err != nil {
		return Signer{}, err
	}
	if again, err := rewrite(armored); err != nil || !bytes.Equal(again, armored) {
		return Signer{}, tampered(tidegate.Pairs("signer", signer.Fingerprint), "the signature by %s is not written as it was made", signer.Fingerprint)
	}
	return signer, nil
}

// verifyBare is Verify for a bare Ed25519 signature, which does not say by which
// key it was made.
func (s *Signers) verifyBare(message, sig []byte, keyID string, at time.Time) (Signer, error) {
	line, err := s.find(keyID, at)
	if err != nil {
		return Signer{}, err
	}
	key := cryptoKey[ed25519.PublicKey](line.key)
	if line.key.Type() != ssh.KeyAlgoED25519 || !ed25519.Verify(key, message, sig) {
		return Signer{}, tampered(tidegate.Pairs("signer", keyID), "the Ed25519 signature is not by %s over this message", keyID)
	}
	return line.signer(), nil
}

// find is the first line that lets the key of that fingerprint sign for us at
// that time.
func (s *Signers) find(fingerprint string, at time.Time) (signerLine, error) {
	fingerprint = tidegate.Cut(fingerprint)
	why := "is not among the signers"
	for _, line := range s.lines {
		if line.fingerprint != fingerprint {
			continue
		}
		switch {
		case line.namespaces != "" && !matchList(line.namespaces, Namespace):
			why = fmt.Sprintf("is listed for other namespaces only (line %d of the signers): %s", line.number, line.namespaces)
		case at.Before(line.after):
			why = fmt.Sprintf("is valid only from %s on (line %d of the signers)", line.after.Format(time.RFC3339), line.number)
		case !line.before.IsZero() && at.After(line.before):
			why = fmt.Sprintf("was valid only until %s (line %d of the signers)", line.before.Format(time.RFC3339), line.number)
		default:
			return line, nil
		}
	}
	return signerLine{}, tampered(tidegate.Pairs("signer", fingerprint), "the key %s %s", fingerprint, why)
}

// tampered is TAMPERED: something is not what was signed or sealed.
func tampered(details tidegate.Details, format string, args ...any) error {
	return tidegate.Errorf(tidegate.Tampered, details, format, args...)
}

// matchList reports whether name is in a pattern list of OpenSSH: patterns with
// * and ?, separated by commas. At least one must match, and none that begins
// with ! may.
func matchList(list, name string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if !match(pattern, name) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

// match reports whether pattern describes the whole of name: * stands for any
// bytes, ? for one. Its time is at most the product of the lengths.
func match(pattern, name string) bool {
	star, tried := -1, 0 // the last * in pattern, and where in name what follows it was tried
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, tried = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			tried++
			p, n = star+1, tried
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
