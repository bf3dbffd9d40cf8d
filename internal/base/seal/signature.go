package seal

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Namespace is what the signatures of this package are for. One that was made
// for another purpose, such as a commit of git, does not count here, and one of
// ours counts nowhere else.
const Namespace = "tidegate"

// The armor of a signature in a text file. OpenSSH breaks its lines at 70
// characters.
const (
	armorBegin = "-----BEGIN SSH SIGNATURE-----"
	armorEnd   = "-----END SSH SIGNATURE-----"
	armorWidth = 70
)

// The values of the first two fields of a signature.
var magic = [6]byte{'S', 'S', 'H', 'S', 'I', 'G'}

const version = 1

// signature is an SSH signature, field by field as OpenSSH's PROTOCOL.sshsig
// lays it out.
type signature struct {
	Magic     [6]byte
	Version   uint32
	Key       []byte // the public key in its wire form
	Namespace string
	Reserved  string // empty: what stood here would not be signed
	Hash      string
	Signature []byte // an ssh.Signature in its wire form
}

// signedBytes is what the key signs in place of message.
func signedBytes(namespace, hash string, message []byte) ([]byte, error) {
	var digest []byte
	switch hash {
	case "sha512":
		sum := sha512.Sum512(message)
		digest = sum[:]
	case "sha256":
		sum := sha256.Sum256(message)
		digest = sum[:]
	default:
		return nil, fmt.Errorf("the signature is over the hash %q; it must be sha512 or sha256", hash)
	}
	return ssh.Marshal(struct {
		Magic                     [6]byte
		Namespace, Reserved, Hash string
		Digest                    []byte
	}{magic, namespace, "", hash, digest}), nil
}

// armor writes s as ssh-keygen does.
func (s signature) armor() []byte {
	text := base64.StdEncoding.EncodeToString(ssh.Marshal(s))
	var b strings.Builder
	b.WriteString(armorBegin + "\n")
	for len(text) > armorWidth {
		b.WriteString(text[:armorWidth] + "\n")
		text = text[armorWidth:]
	}
	b.WriteString(text + "\n" + armorEnd + "\n")
	return []byte(b.String())
}

// parseSignature reads an armored signature. Its lines may be broken elsewhere
// than armor breaks them. It judges the form alone.
func parseSignature(armored []byte) (s signature, err error) {
	text, begins := strings.CutPrefix(strings.TrimSpace(string(armored)), armorBegin)
	text, ends := strings.CutSuffix(text, armorEnd)
	if !begins || !ends {
		return s, fmt.Errorf("the signature is not enclosed in the lines %s and %s", armorBegin, armorEnd)
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return s, errors.New("the signature is not written in base64")
	}
	switch err := ssh.Unmarshal(blob, &s); {
	case err != nil || s.Magic != magic:
		return s, errors.New("the signature does not have the fields of an SSH signature")
	case s.Version != version:
		return s, fmt.Errorf("the signature is of version %d; only version %d is known", s.Version, version)
	case s.Reserved != "":
		return s, errors.New("the signature has something in its reserved field")
	}
	return s, nil
}

// verify returns nil when s is a signature by key over message.
func (s signature) verify(key ssh.PublicKey, message []byte) error {
	sig := new(ssh.Signature)
	if err := ssh.Unmarshal(s.Signature, sig); err != nil {
		return errors.New("the signature of the key does not have the fields of an SSH signature")
	}
	signed, err := signedBytes(s.Namespace, s.Hash, message)
	if err != nil {
		return err
	}
	return check(key, signed, sig)
}

// rewrite writes an armored signature in the one form that we write.
func rewrite(armored []byte) ([]byte, error) {
	s, err := parseSignature(armored)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePublicKey(s.Key)
	if err != nil {
		return nil, err
	}
	sig := new(ssh.Signature)
	if err := ssh.Unmarshal(s.Signature, sig); err != nil {
		return nil, err
	}
	if sig, err = plain(key, sig); err != nil {
		return nil, err
	}
	s.Signature = ssh.Marshal(sig)
	return s.armor(), nil
}
