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
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

// noon is the time at which the tests verify.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// private makes the private keys of the tests, once.
var private = map[string]func() crypto.Signer{
	"ed25519":   sync.OnceValue(func() crypto.Signer { return seeded(1) }),
	"nistp256":  sync.OnceValue(func() crypto.Signer { return must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }),
	"nistp384":  sync.OnceValue(func() crypto.Signer { return must.Value(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) }),
	"nistp521":  sync.OnceValue(func() crypto.Signer { return must.Value(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)) }),
	"rsa":       sync.OnceValue(func() crypto.Signer { return fixedRSA() }),
	"short rsa": sync.OnceValue(func() crypto.Signer { return must.Value(rsa.GenerateKey(rand.Reader, 1024)) }),
}

// kinds are the kinds of keys that are good enough.
var kinds = []string{"ed25519", "nistp256", "nistp384", "nistp521", "rsa"}

// seeded is an Ed25519 key that is the same every time.
func seeded(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+n)), ed25519.SeedSize)))
}

// fixedRSA is an RSA key that is the same every time, and so are its signatures.
func fixedRSA() *rsa.PrivateKey {
	prime := func(hex string) *big.Int {
		n, ok := new(big.Int).SetString(hex, 16)
		if !ok {
			panic("not a number")
		}
		return n
	}
	p := prime("ed1f08ca57869a70cfdd9715d05dedfde4ada408a5b551e6c7400c5852064ead4268d379c0995d099311d89ba07cf5615663c7b317cdb34e0bb9fdb1cb4f1dd4" +
		"1780980c85f45081aa59b4650ccdbaaf61fd39067279e18955154abae727e6c3dca81e02dfa76d1c664bf263fbcb5b4dea38f124c28a8cedfb20fe38c9895a3f")
	q := prime("fd55e22ca6e80b47b3a4747a5ddeea0d4ce0963147348b204092b9eb8b007ee50465b5878749ee470682c765575070695b0a5bb49e7a1773ab733aa6d25b18fd" +
		"c1b98709d2b14ed5e3aff0a58a2c1db58d0efc78c4f4ff046a61337e2eefbcae4de356968c0317ce77390e2a4439c44ef9dc3f8c82b80461cbbd0a675a3a383d")
	one := big.NewInt(1)
	key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, Primes: []*big.Int{p, q}}
	key.D = new(big.Int).ModInverse(big.NewInt(65537), new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one)))
	key.Precompute()
	return key
}

// put writes a file and returns its path.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, data, 0o600))
	return path
}

// inOpenSSH is a private key in the form of OpenSSH.
func inOpenSSH(key crypto.PrivateKey) []byte {
	return pem.EncodeToMemory(must.Value(ssh.MarshalPrivateKey(key, "a comment")))
}

// inPKCS8 is a private key as openssl genpkey writes it.
func inPKCS8(key crypto.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must.Value(x509.MarshalPKCS8PrivateKey(key))})
}

// open opens the key in data.
func open(t testing.TB, data []byte) *seal.Key {
	t.Helper()
	key := must.Get(seal.OpenKey(artifact.Everywhere, "sign", put(t, "key", data), seal.Unlock{}))(t)
	return key
}

// signers is the signers file with those lines.
func signers(t testing.TB, lines ...string) *seal.Signers {
	t.Helper()
	s := must.Get(seal.ParseSigners([]byte(strings.Join(lines, "\n") + "\n")))(t)
	return s
}

func sign(t testing.TB, key *seal.Key, message string) []byte {
	t.Helper()
	sig := must.Get(key.Sign(context.Background(), []byte(message)))(t)
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
