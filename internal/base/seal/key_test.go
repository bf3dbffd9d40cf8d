package seal_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

const passphrase = "correct horse battery"

// encrypted is the key seeded(1) with the passphrase, as ssh-keygen -a 1 writes it.
// With its usual rounds, each attempt at a passphrase is slow, on purpose.
var encrypted = sync.OnceValue(func() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: must.Value(base64.StdEncoding.DecodeString(
		"b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBtzNRsLL/JkJ9YncGifszwAAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5" +
			"AAAAIC3wQSXwAVr7R86FOu+HcglP+UmMFMsbnhKXPCkn2g+mAAAAkOYfAJ2TGEP9Rjy06uNyQgBax//qnU5xm0U/umWrIPdZ6z2v7r7VXu1XVXbYPefEA4pE" +
			"LefhyDQ4+LNkj0ZV4wbhzkrI+6qPP7OTu0xr040Cpvc7EQTathJuEs+viC0miM/lbNuYtK6dIlkkt6pE7fvKMjn/UFohq+xrht4xYRkrtLoXOZRy9uGGiqu1" +
			"t0sXqg=="))})
})

func TestAnEncryptedKeyAsksForItsPassphrase(t *testing.T) {
	t.Parallel()
	path := put(t, "key", encrypted())
	says := func(text string) seal.Unlock {
		return seal.Unlock{Passphrase: func() ([]byte, error) { return []byte(text), nil }}
	}
	key, err := seal.OpenKey(artifact.Everywhere, "sign", path, says(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signers(t, "alice "+key.PublicKey()).Verify([]byte("decision"), sign(t, key, "decision"), noon); err != nil {
		t.Error(err)
	}
	_, err = seal.OpenKey(artifact.Everywhere, "sign", path, says("wrong"))
	refused(t, err, tidegate.InvalidArgs, "key: the passphrase is wrong, or the key is damaged")
	_, err = seal.OpenKey(artifact.Everywhere, "sign", path, says(""))
	refused(t, err, tidegate.InvalidArgs, "key: the passphrase is wrong")

	gaveUp := errors.New("the terminal is gone")
	_, err = seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{Passphrase: func() ([]byte, error) { return nil, gaveUp }})
	if !errors.Is(err, gaveUp) {
		t.Errorf("got %v", err)
	}
}

// No program asks for a passphrase behind the caller's back.
func TestNobodyElseIsAsked(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	script := put(t, "askpass", []byte("#!/bin/sh\necho > '"+asked+"'\necho '"+passphrase+"'\n"))
	must.Do(t, os.Chmod(script, 0o700))
	t.Setenv("SSH_ASKPASS", script)
	t.Setenv("SSH_ASKPASS_REQUIRE", "force")
	t.Setenv("DISPLAY", ":0")
	_, err := seal.OpenKey(artifact.Everywhere, "sign", put(t, "key", encrypted()), seal.Unlock{})
	refused(t, err, tidegate.InvalidArgs, "there is nobody to ask for its passphrase")
	if _, err := os.Stat(asked); err == nil {
		t.Error("SSH_ASKPASS was started")
	}
}

func TestKeysThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	public := open(t, inOpenSSH(seeded(1))).PublicKey()
	p224 := must.Value(x509.MarshalECPrivateKey(must.Value(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))))
	for _, test := range []struct {
		name string
		data []byte
		why  string
	}{
		{"nothing", nil, "expected a private or a public key"},
		{"text", []byte("hello\n"), "expected a private or a public key"},
		{"binary", bytes.Repeat([]byte{0, 255}, 1000), "expected a private or a public key"},
		{"a certificate of TLS", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "expected a private key of OpenSSH"},
		{"PKCS#8, encrypted", []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"), "expected a private key of OpenSSH"},
		{"a short RSA key", inPKCS8(private["short rsa"]()), "the RSA key has 1024 bits"},
		{"an odd curve", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: p224}), "expected a private key of OpenSSH"},
		{"a public key without an agent", []byte(public + "\n"), "SSH_AUTH_SOCK"},
		{"two public keys", []byte(public + "\n" + public + "\n"), "one public key and nothing else"},
		{"a line of authorized_keys", []byte("restrict " + public + "\n"), "one public key and nothing else"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, "key", test.data)
			_, err := seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{})
			refused(t, err, tidegate.InvalidArgs, "key: ")
			refused(t, err, tidegate.InvalidArgs, test.why)
			if got, _ := tidegate.AsError(err).Details.Get("sign"); got != path {
				t.Errorf("the details name %v", got)
			}
		})
	}
	_, err := seal.OpenKey(artifact.Everywhere, "sign", filepath.Join(t.TempDir(), "absent"), seal.Unlock{})
	refused(t, err, tidegate.FileNotFound, "absent")
	_, err = seal.OpenKey(artifact.Everywhere, "sign", t.TempDir(), seal.Unlock{})
	refused(t, err, tidegate.ReadFailed, "")
}

// Whatever is wrong with a key file, and however a key is printed, nothing of it
// is shown.
func TestNothingOfAKeyIsShown(t *testing.T) {
	t.Parallel()
	shown := func(t *testing.T, text string, data []byte) {
		t.Helper()
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			for i := 0; i+8 <= len(line) && !strings.HasPrefix(line, "-"); i++ {
				if strings.Contains(text, line[i:i+8]) {
					t.Fatalf("%q shows %q", text, line[i:i+8])
				}
			}
		}
	}
	for _, test := range []struct {
		data   []byte
		stride int
	}{
		{inOpenSSH(seeded(1)), stride(7)},
		{inPKCS8(seeded(1)), stride(7)},
		{inOpenSSH(private["nistp256"]()), stride(7)},
		{encrypted(), stride(40)},
	} {
		data := test.data
		path := filepath.Join(t.TempDir(), "key")
		for i := 0; i < len(data); i += test.stride {
			bad := bytes.Clone(data)
			bad[i] ^= 3
			must.Do(t, os.WriteFile(path, bad, 0o600))
			key, err := seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{Passphrase: func() ([]byte, error) { return []byte("no"), nil }})
			if err == nil {
				shown(t, fmt.Sprintf("%v %+v %#v", key, key, key), bad)
				continue
			}
			if tidegate.CodeOf(err) != tidegate.InvalidArgs {
				t.Fatalf("byte %d: %v", i, err)
			}
			shown(t, err.Error()+fmt.Sprintf("%v %+v", errors.Unwrap(err), tidegate.AsError(err).Details), bad)
		}
	}
	key := open(t, inPKCS8(seeded(1)))
	text := fmt.Sprintf("%v %+v %#v", key, key, key)
	for _, secret := range []string{string(seeded(1).Seed()), fmt.Sprintf("%x", seeded(1).Seed()), base64.StdEncoding.EncodeToString(seeded(1).Seed()), fmt.Sprint(seeded(1).Seed()[:4])} {
		if strings.Contains(text, strings.Trim(secret, "[]")) {
			t.Errorf("%q shows the key", text)
		}
	}
}

// stride is 1 in the full form of a test, and n in the short one.
func stride(n int) int {
	if full.Asked() {
		return 1
	}
	return n
}
