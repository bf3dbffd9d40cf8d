// Package signing has keys for tests, and a verifier that somebody else wrote.
package signing

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/crypto/ssh"
)

// New is a new key, and a list of signers with it.
func New(t testing.TB) (*seal.Key, *seal.Signers) {
	t.Helper()
	_, private := must.Both(ed25519.GenerateKey(rand.Reader))(t)
	return With(t, private)
}

// With is a key, and a list of signers with it as ada@example.org.
func With(t testing.TB, private crypto.Signer) (*seal.Key, *seal.Signers) {
	t.Helper()
	block := must.Get(ssh.MarshalPrivateKey(private, ""))(t)
	key := must.Get(seal.OpenKey(artifact.Everywhere, "sign", write(t, block), seal.Unlock{}))(t)
	public := must.Get(ssh.NewPublicKey(private.Public()))(t)
	signers := must.Get(seal.ParseSigners([]byte("ada@example.org " + string(ssh.MarshalAuthorizedKey(public)))))(t)
	return key, signers
}

// PKCS8 is a file with a new Ed25519 key in PKCS #8, whose signatures every reader of DSSE
// verifies, and such a reader.
func PKCS8(t testing.TB) (path string, verifier *dsse.EnvelopeVerifier) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	if verifier, err = dsse.NewEnvelopeVerifier(verifies(public)); err != nil {
		t.Fatal(err)
	}
	return write(t, &pem.Block{Type: "PRIVATE KEY", Bytes: der}), verifier
}

func write(t testing.TB, block *pem.Block) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	return path
}

type verifies ed25519.PublicKey

func (v verifies) KeyID() (string, error)   { return "", nil }
func (v verifies) Public() crypto.PublicKey { return ed25519.PublicKey(v) }
func (v verifies) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(ed25519.PublicKey(v), data, sig) {
		return errors.New("the signature is wrong")
	}
	return nil
}
