package seal_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/seal"
)

// noon is the time at which the tests verify.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// private makes the private keys of the tests, once.
var private = map[string]func() crypto.Signer{
	"ed25519":   sync.OnceValue(func() crypto.Signer { return seeded(1) }),
	"nistp256":  sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }),
	"nistp384":  sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) }),
	"nistp521":  sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)) }),
	"rsa":       sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 2048)) }),
	"short rsa": sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 1024)) }),
}

// kinds are the kinds of keys that are good enough.
var kinds = []string{"ed25519", "nistp256", "nistp384", "nistp521", "rsa"}

// seeded is an Ed25519 key that is the same every time.
func seeded(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+n)), ed25519.SeedSize)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// put writes a file and returns its path.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// inOpenSSH is a private key in the form of OpenSSH.
func inOpenSSH(key crypto.PrivateKey) []byte {
	return pem.EncodeToMemory(must(ssh.MarshalPrivateKey(key, "a comment")))
}

// inPKCS8 is a private key as openssl genpkey writes it.
func inPKCS8(key crypto.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))})
}

// open opens the key in data.
func open(t testing.TB, data []byte) *seal.Key {
	t.Helper()
	key, err := seal.OpenKey(t.Context(), "sign", put(t, "key", data), seal.Unlock{})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signers is the signers file with those lines.
func signers(t testing.TB, lines ...string) *seal.Signers {
	t.Helper()
	s, err := seal.ParseSigners([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t testing.TB, key *seal.Key, message string) []byte {
	t.Helper()
	sig, err := key.Sign(context.Background(), []byte(message))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// refused demands an error of that code that says why.
func refused(t testing.TB, err error, code tidegate.Code, why string) {
	t.Helper()
	if tidegate.CodeOf(err) != code || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want %s with %q", err, code, why)
	}
}

// program finds an external program, or skips the test.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here", name)
	}
	return path
}
