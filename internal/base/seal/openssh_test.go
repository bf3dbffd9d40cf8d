package seal_test

import (
	"bytes"

	"crypto/ed25519"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// keygen runs OpenSSH's ssh-keygen with message on its standard input.
func keygen(t testing.TB, message string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(program(t, "ssh-keygen"), args...)
	cmd.Stdin = strings.NewReader(message)
	cmd.Env = append(os.Environ(), "TZ=UTC", "SSH_AUTH_SOCK=", "SSH_ASKPASS=")
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("ssh-keygen %v: %w: %s", args, err, complaints.String())
	}
	return out.String(), nil
}

// keygenVerifies reports whether ssh-keygen accepts sig as a signature by name over
// message.
func keygenVerifies(t testing.TB, message string, sig []byte, signersFile, name string, at time.Time) error {
	t.Helper()
	_, err := keygen(t, message, "-Y", "verify", "-f", signersFile, "-I", name, "-n", "tidegate",
		"-s", put(t, "sig", sig), "-O", "verify-time="+at.UTC().Format("20060102150405")+"Z")
	return err
}

// Keys made by ssh-keygen sign here, and each program verifies what the other
// one signed. The short form has ssh-keygen write down an RSA key, because making
// one takes as long as all the rest.
func TestSignaturesGoBothWays(t *testing.T) {
	t.Parallel()
	kinds := [][]string{
		{"-t", "ed25519"},
		{"-t", "ecdsa", "-b", "384"},
		{"-t", "rsa", "-b", "2048"},
		{"-t", "ecdsa", "-b", "256", "-m", "PKCS8"},
		{"-t", "ed25519", "-N", passphrase},
	}
	if full.Asked() {
		kinds = append(kinds,
			[]string{"-t", "ecdsa", "-b", "256"},
			[]string{"-t", "ecdsa", "-b", "521"},
			[]string{"-t", "rsa", "-b", "2048", "-m", "PEM"},
			[]string{"-t", "ecdsa", "-b", "256", "-N", passphrase, "-m", "PEM"})
	}
	for _, kind := range kinds {
		t.Run(strings.Join(kind, " "), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			args := append([]string{"-q", "-a", "1", "-C", "made for a test", "-f", path}, kind...)
			locked := strings.Contains(strings.Join(kind, " "), "-N")
			if !locked {
				args = append(args, "-N", "")
			}
			if kind[1] == "rsa" && !full.Asked() {
				path = put(t, "key", inOpenSSH(fixedRSA()))
				args = []string{"-q", "-p", "-P", "", "-N", "", "-f", path}
			}
			must.Get(keygen(t, "", args...))(t)
			public, err := keygen(t, "", "-y", "-P", passphrase, "-f", path)
			if err != nil {
				t.Fatal(err)
			}
			key := must.Get(seal.OpenKey(artifact.Everywhere, "sign", path, seal.Unlock{Passphrase: func() ([]byte, error) { return []byte(passphrase), nil }}))(t)
			file := put(t, "signers", []byte("# ours\nalice@example.com namespaces=\"tidegate\" "+key.PublicKey()+"\n"))
			list := must.Get(seal.ReadSigners(artifact.Everywhere, "signers", file))(t)

			ours := sign(t, key, "decision")
			if err := keygenVerifies(t, "decision", ours, file, "alice@example.com", noon); err != nil {
				t.Error(err)
			}
			if err := keygenVerifies(t, "another decision", ours, file, "alice@example.com", noon); err == nil {
				t.Error("ssh-keygen takes it for a signature over another message")
			}
			if locked {
				return // ssh-keygen would ask the terminal
			}
			for _, hash := range []string{"sha512", "sha256"} {
				theirs := must.Get(keygen(t, "decision", "-Y", "sign", "-f", path, "-n", "tidegate", "-O", "hashalg="+hash))(t)
				signer, err := list.Verify([]byte("decision"), []byte(theirs), noon)
				if err != nil || signer.Principal != "alice@example.com" {
					t.Errorf("%s: %+v, %v", hash, signer, err)
				}
				if printed, err := keygen(t, public, "-l", "-f", "-"); err != nil || !strings.Contains(printed, " "+signer.Fingerprint+" ") {
					t.Errorf("ssh-keygen prints %q, %v, and the signer is %s", printed, err, signer.Fingerprint)
				}
				if hash == "sha512" && !strings.Contains(strings.Join(kind, " "), "ecdsa") && theirs != string(ours) {
					t.Errorf("ssh-keygen writes\n%s and not\n%s", theirs, ours)
				}
			}
			theirs := must.Get(keygen(t, "decision", "-Y", "sign", "-f", path, "-n", "git"))(t)
			_, err = list.Verify([]byte("decision"), []byte(theirs), noon)
			refused(t, err, tidegate.Tampered, `was made for "git"`)
		})
	}
}

// The agent that signs for ssh-keygen signs for us as well, and the other way
// round.
func TestSignaturesByAnAgentGoBothWays(t *testing.T) {
	t.Parallel()
	path := realAgent(t)
	file := put(t, "key", inOpenSSH(seeded(1)))
	add := exec.Command(program(t, "ssh-add"), file)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+path)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ssh-add: %v\n%s", err, out)
	}
	key := byAgent(t, must.Value(ssh.NewPublicKey(seeded(1).Public())), path)
	public := put(t, "key.pub", []byte(key.PublicKey()+"\n"))
	list := put(t, "signers", []byte("alice "+key.PublicKey()+"\n"))

	cmd := exec.Command(program(t, "ssh-keygen"), "-Y", "sign", "-f", public, "-n", "tidegate")
	cmd.Env = append(os.Environ(), "SSH_AUTH_SOCK="+path)
	cmd.Stdin = strings.NewReader("decision")
	theirs := must.Get(cmd.Output())(t)
	ours := sign(t, key, "decision")
	if !bytes.Equal(ours, theirs) {
		t.Errorf("ssh-keygen writes\n%s and not\n%s", theirs, ours)
	}
	if err := keygenVerifies(t, "decision", ours, list, "alice", noon); err != nil {
		t.Error(err)
	}
}

// ssh-keygen and this package agree on every line of a signers file: on names,
// purposes and times.
func TestSignersFilesAreReadAsOpenSSHReadsThem(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	sig := sign(t, key, "decision")
	public := key.PublicKey()
	step := 0
	for _, line := range []string{
		`NAMES ` + public,
		`NAMES ` + public + ` a comment`,
		`NAMES namespaces="tidegate" ` + public,
		`NAMES namespaces="git,t*" ` + public,
		`NAMES namespaces="git" ` + public,
		`NAMES namespaces="*,!tidegate" ` + public,
		`NAMES NAMESPACES="tidegate",valid-after="20260101" ` + public,
		`NAMES valid-after="20260504115959Z" ` + public,
		`NAMES valid-after="20260504120000" ` + public,
		`NAMES valid-after="202605041201" ` + public,
		`NAMES valid-before="20260504" ` + public,
		`NAMES valid-before="202605041200" ` + public,
		`NAMES valid-before="20260504115959Z" ` + public,
		`NAMES valid-after="20260101",valid-before="20270101",namespaces="tidegate" ` + public,
		`NAMES valid-after="20270101",valid-before="20260101" ` + public,
		`NAMES valid-after="tomorrow" ` + public,
		`NAMES namespaces=tidegate ` + public,
		`NAMES namespaces="tidegate",namespaces="tidegate" ` + public,
		`NAMES unknown ` + public,
		`NAMES ssh-rsa ` + strings.Fields(public)[1],
		`NAMES ` + open(t, inOpenSSH(seeded(2))).PublicKey(),
		"# NAMES " + public + "\n\nNAMES " + public,
	} {
		for _, names := range []string{`alice`, `bob,alice`, `a*`, `*`, `?lice`, `!alice,*`, `*,!alice`, `!bob,alice`, `Alice`, `alic`, `"alice"`, `"bob,al?ce"`, `bob`} {
			if step++; !full.Asked() && step%17 != 0 {
				continue
			}
			text := strings.ReplaceAll(line, "NAMES", names) + "\n"
			list, err := seal.ParseSigners([]byte(text))
			if err == nil {
				_, err = list.As("alice").Verify([]byte("decision"), sig, noon)
			}
			theirs := keygenVerifies(t, "decision", sig, put(t, "signers", []byte(text)), "alice", noon)
			if (err == nil) != (theirs == nil) {
				t.Errorf("%s: we say %v, ssh-keygen says %v", text, err, theirs)
			}
		}
	}
}

// ssh-keygen verifies the signature of a token as we do.
func TestATokenVerifiesInOpenSSH(t *testing.T) {
	t.Parallel()
	public := must.Value(ssh.ParsePublicKey(ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, seeded(3).Public().(ed25519.PublicKey), "ssh:"})))
	list := put(t, "signers", append([]byte("alice "), ssh.MarshalAuthorizedKey(public)...))
	if err := keygenVerifies(t, "decision", tokenSignature("decision", public, 1), list, "alice", noon); err != nil {
		t.Error(err)
	}
}
