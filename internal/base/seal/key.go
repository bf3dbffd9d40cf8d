package seal

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// Key signs.
type Key struct {
	public ssh.PublicKey
	sign   func(ctx context.Context, data []byte) (*ssh.Signature, error)
	bare   bool              // an Ed25519 key that is not an SSH key: seals carry its bare signature
	p384   *ecdsa.PrivateKey // the key that signs a WACZ; nil for one of another kind, and one that an agent has
}

// Unlock is what a key may need besides its file.
type Unlock struct {
	Passphrase func() ([]byte, error) // asks for the passphrase of an encrypted key; nil where nobody can be asked
	Agent      string                 // the socket of an ssh-agent; "" where there is none
}

// OpenKey opens the key at path, which the caller was given as the argument arg.
// It is a private key of OpenSSH, or in PEM; an Ed25519 key in PKCS#8, as
// `openssl genpkey` makes it; or a public key of OpenSSH whose other half the
// ssh-agent has, which is asked at each signature.
//
// It returns the errors of [artifact.Reach.ReadFile] and of unlock.Passphrase, and
// INVALID_ARGS when the file holds no key that can be used, or the passphrase is
// missing or wrong.
func OpenKey(reach artifact.Reach, arg, path string, unlock Unlock) (*Key, error) {
	data, err := reach.ReadFile(arg, path)
	if err != nil {
		return nil, err
	}
	defer clear(data) // no copy of a private key stays longer than it must
	file := keyFile{arg, path}
	block, _ := pem.Decode(data)
	if block == nil {
		return file.public(data, unlock.Agent)
	}
	private, raw, err := file.private(data, unlock.Passphrase)
	if err != nil {
		return nil, err
	}
	if err := checkKey(private.PublicKey()); err != nil {
		return nil, file.unusable("%w", err)
	}
	key := &Key{public: private.PublicKey(), bare: block.Type == "PRIVATE KEY" && private.PublicKey().Type() == ssh.KeyAlgoED25519}
	key.sign = func(_ context.Context, data []byte) (*ssh.Signature, error) {
		return private.SignWithAlgorithm(nil, data, algorithm(key.public)) // without chance: the same bytes have the same signature
	}
	if curve, ok := raw.(*ecdsa.PrivateKey); ok && curve.Curve == elliptic.P384() {
		key.p384 = curve
	}
	return key, nil
}

// keyFile is where a key was read. Its errors name the file. They never quote it,
// nor what the parser of a private key says about it.
type keyFile struct{ arg, path string }

func (f keyFile) unusable(format string, args ...any) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(f.arg, f.path), "%s: "+format, append([]any{filepath.Base(f.path)}, args...)...)
}

// private is the key as it signs, and as Go has it.
func (f keyFile) private(data []byte, passphrase func() ([]byte, error)) (ssh.AlgorithmSigner, any, error) {
	raw, err := ssh.ParseRawPrivateKey(data)
	if missing := (*ssh.PassphraseMissingError)(nil); errors.As(err, &missing) {
		if passphrase == nil {
			return nil, nil, f.unusable("the key is encrypted, and there is nobody to ask for its passphrase; add it to an ssh-agent and name its public file")
		}
		secret, failed := passphrase()
		if failed != nil {
			return nil, nil, failed
		}
		defer clear(secret)
		if raw, err = ssh.ParseRawPrivateKeyWithPassphrase(data, secret); err != nil {
			return nil, nil, f.unusable("the passphrase is wrong, or the key is damaged")
		}
	}
	var key ssh.Signer
	if err == nil {
		key, err = ssh.NewSignerFromKey(raw)
	}
	private, ok := key.(ssh.AlgorithmSigner)
	if err != nil || !ok {
		return nil, nil, f.unusable("expected a private key of OpenSSH, or one in PEM that PKCS#8 does not encrypt; the file cannot be read as one")
	}
	return private, raw, nil
}

// public is the key whose public half is data.
func (f keyFile) public(data []byte, socket string) (*Key, error) {
	public, _, options, rest, err := ssh.ParseAuthorizedKey(data)
	switch {
	case err != nil:
		return nil, f.unusable("expected a private or a public key of OpenSSH")
	case len(options) > 0 || len(rest) > 0:
		return nil, f.unusable("expected one public key and nothing else")
	case socket == "":
		return nil, f.unusable("the file is a public key, and there is no ssh-agent (SSH_AUTH_SOCK) that could have its other half")
	}
	if err := checkKey(public); err != nil {
		return nil, f.unusable("%w", err)
	}
	return &Key{public: public, sign: func(ctx context.Context, data []byte) (*ssh.Signature, error) {
		return signByAgent(ctx, socket, public, data)
	}}, nil
}

// Fingerprint is the fingerprint of the key, SHA256:…, as `ssh-keygen -l` prints it.
func (k *Key) Fingerprint() string { return fingerprint(k.public.Marshal()) }

// Sign signs message and returns the signature as ssh-keygen writes it. It
// returns NOT_FOUND when the ssh-agent does not have the key, READ_FAILED when
// it cannot be asked or does not sign, and CANCELLED when ctx ends first.
func (k *Key) Sign(ctx context.Context, message []byte) ([]byte, error) {
	return k.signFor(ctx, Namespace, message)
}

func (k *Key) signFor(ctx context.Context, namespace string, message []byte) ([]byte, error) {
	const hash = "sha512"
	data, err := signedBytes(namespace, hash, message)
	if err != nil {
		return nil, err
	}
	sig, err := k.signPlain(ctx, data)
	if err != nil {
		return nil, err
	}
	return signature{
		Magic: magic, Version: version,
		Key: k.public.Marshal(), Namespace: namespace, Hash: hash,
		Signature: ssh.Marshal(sig),
	}.armor(), nil
}

// signPlain signs data. An agent is somebody else's program: its answer is checked
// before it is written anywhere.
func (k *Key) signPlain(ctx context.Context, data []byte) (*ssh.Signature, error) {
	sig, err := k.sign(ctx, data)
	if err != nil {
		return nil, err
	}
	if sig, err = plain(k.public, sig); err == nil {
		err = check(k.public, data, sig)
	}
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("signer", k.Fingerprint()), "the key %s gave a signature that does not verify: %w", k.Fingerprint(), err)
	}
	return sig, nil
}

// minRSABits is the length of the shortest RSA key that counts.
const minRSABits = 2048

// checkKey says what is wrong with a kind of key, nil when its signatures count.
func checkKey(key ssh.PublicKey) error {
	switch kind := key.Type(); kind {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		if bits := cryptoKey[*rsa.PublicKey](key).N.BitLen(); bits < minRSABits {
			return fmt.Errorf("the RSA key has %d bits, and needs %d", bits, minRSABits)
		}
		return nil
	default:
		return fmt.Errorf("keys of type %s are not supported", kind)
	}
}

// cryptoKey is key as a key of the standard library, nil when it is of another
// kind.
func cryptoKey[K any](key ssh.PublicKey) K {
	var none K
	holder, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return none
	}
	k, _ := holder.CryptoPublicKey().(K)
	return k
}

// algorithm is how a key signs here.
func algorithm(key ssh.PublicKey) string {
	if key.Type() == ssh.KeyAlgoRSA {
		return ssh.KeyAlgoRSASHA512
	}
	return key.Type()
}

// check verifies sig over data with a key that passes checkKey.
func check(key ssh.PublicKey, data []byte, sig *ssh.Signature) error {
	if sig.Format != algorithm(key) && !(key.Type() == ssh.KeyAlgoRSA && sig.Format == ssh.KeyAlgoRSASHA256) {
		return fmt.Errorf("a signature of type %q by a key of type %s does not count", sig.Format, key.Type())
	}
	if len(sig.Rest) > 0 && !strings.HasPrefix(key.Type(), "sk-") {
		return errors.New("the signature has more bytes than it needs")
	}
	return key.Verify(data, sig)
}

// plain is sig in the one form that we write. Every ECDSA signature (r, s) has a
// twin, (r, n-s): plain is the one with the smaller s. An RSA signature has the
// length of its key. Without this, anybody could exchange a signature for its
// twin.
func plain(key ssh.PublicKey, sig *ssh.Signature) (*ssh.Signature, error) {
	out := *sig
	if key := cryptoKey[*rsa.PublicKey](key); key != nil && len(sig.Blob) < key.Size() {
		out.Blob = append(make([]byte, key.Size()-len(sig.Blob)), sig.Blob...)
	}
	if key := cryptoKey[*ecdsa.PublicKey](key); key != nil {
		var pair struct{ R, S *big.Int }
		if err := ssh.Unmarshal(sig.Blob, &pair); err != nil {
			return nil, errors.New("the signature is not a pair of numbers")
		}
		if twin := new(big.Int).Sub(key.Curve.Params().N, pair.S); twin.Cmp(pair.S) < 0 {
			pair.S = twin
		}
		out.Blob = ssh.Marshal(pair)
	}
	return &out, nil
}

// signByAgent lets the ssh-agent at socket sign data. The agent may ask a person
// first, so it may take as long as ctx lasts.
func signByAgent(ctx context.Context, socket string, key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	name := fingerprint(key.Marshal())
	failed := func(what string, err error) error {
		if ctx.Err() != nil {
			return tidegate.AsError(ctx.Err())
		}
		return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("agent", socket, "signer", name), "%s: %w", what, err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, failed("the ssh-agent cannot be reached", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	client := agent.NewClient(conn)
	keys, err := client.List()
	if err != nil {
		return nil, failed("the ssh-agent does not list its keys", err)
	}
	if !slices.ContainsFunc(keys, func(k *agent.Key) bool { return bytes.Equal(k.Blob, key.Marshal()) }) {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("agent", socket, "signer", name), "the ssh-agent does not have the key %s; ssh-add adds it", name)
	}
	var flags agent.SignatureFlags
	if key.Type() == ssh.KeyAlgoRSA {
		flags = agent.SignatureFlagRsaSha512
	}
	sig, err := client.SignWithFlags(key, data, flags)
	if err != nil {
		return nil, failed("the ssh-agent did not sign with "+name, err)
	}
	return sig, nil
}

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
