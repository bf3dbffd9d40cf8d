package seal_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

// socket is a path for a socket, short enough for every system.
func socket(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "agent"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// listen serves every connection to a socket until the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	path := socket(t)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("there are no sockets of this kind here: %v", err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	return path
}

// byAgent opens the public half of a key whose private half the agent at the socket
// has.
func byAgent(t *testing.T, public ssh.PublicKey, socket string) *seal.Key {
	t.Helper()
	key := must.Get(seal.OpenKey(artifact.Everywhere, "sign", put(t, "key.pub", ssh.MarshalAuthorizedKey(public)), seal.Unlock{Agent: socket}))(t)
	return key
}

func TestAnAgentSigns(t *testing.T) {
	t.Parallel()
	ring := agent.NewKeyring()
	for _, kind := range kinds {
		must.Do(t, ring.Add(agent.AddedKey{PrivateKey: private[kind]()}))
	}
	path := listen(t, func(conn net.Conn) { _ = agent.ServeAgent(ring, conn) })
	for _, kind := range kinds {
		key := byAgent(t, must.Value(ssh.NewPublicKey(private[kind]().Public())), path)
		signer, err := signers(t, "alice "+key.PublicKey()).Verify([]byte("decision"), sign(t, key, "decision"), noon)
		if err != nil || signer.Fingerprint != key.Fingerprint() {
			t.Errorf("%s: %+v, %v", kind, signer, err)
		}
	}
	absent := byAgent(t, must.Value(ssh.NewPublicKey(seeded(9).Public())), path)
	_, err := absent.Sign(t.Context(), []byte("decision"))
	refused(t, err, tidegate.FileNotFound, "the ssh-agent does not have the key "+absent.Fingerprint())

	var b bytes.Buffer
	err = seal.Write(t.Context(), &b, absent, sample, predicate())
	refused(t, err, tidegate.FileNotFound, "does not have the key")
	if b.Len() > 0 {
		t.Errorf("%d bytes of a sealed file were written", b.Len())
	}
	_, err = seal.OpenKey(artifact.Everywhere, "sign", put(t, "key-cert.pub", []byte(certificate(t))), seal.Unlock{Agent: path})
	refused(t, err, tidegate.InvalidArgs, "keys of type ssh-ed25519-cert-v01@openssh.com are not supported")

	must.Do(t, ring.Lock([]byte("locked")))
	locked := byAgent(t, must.Value(ssh.NewPublicKey(seeded(1).Public())), path)
	_, err = locked.Sign(t.Context(), []byte("decision"))
	refused(t, err, tidegate.FileNotFound, "does not have the key")
}

// misled is an agent that signs something else, or with something else.
type misled struct {
	agent.ExtendedAgent
	sign func(data []byte) (*ssh.Signature, error)
}

func (m misled) SignWithFlags(_ ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	return m.sign(data)
}

func (m misled) Sign(_ ssh.PublicKey, data []byte) (*ssh.Signature, error) { return m.sign(data) }

func TestAFaultyAgentIsNotBelieved(t *testing.T) {
	t.Parallel()
	ring := agent.NewKeyring().(agent.ExtendedAgent)
	for _, key := range []any{seeded(1), private["rsa"](), private["nistp256"]()} {
		must.Do(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	}
	other := must.Value(ssh.NewSignerFromKey(seeded(2)))
	old := must.Value(ssh.NewSignerFromKey(private["rsa"]())).(ssh.AlgorithmSigner)
	for _, test := range []struct {
		name, kind string
		sign       func(data []byte) (*ssh.Signature, error)
		why        string
	}{
		{"another key", "ed25519", func(data []byte) (*ssh.Signature, error) { return other.Sign(rand.Reader, data) }, "does not verify"},
		{"RSA with SHA-1", "rsa", func(data []byte) (*ssh.Signature, error) {
			return old.SignWithAlgorithm(rand.Reader, data, ssh.KeyAlgoRSA)
		}, `of type "ssh-rsa"`},
		{"no numbers", "nistp256", func([]byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: ssh.KeyAlgoECDSA256, Blob: []byte("x")}, nil
		}, "not a pair of numbers"},
		{"negative numbers", "nistp256", func([]byte) (*ssh.Signature, error) {
			return &ssh.Signature{Format: ssh.KeyAlgoECDSA256, Blob: []byte("\x00\x00\x00\x01\xff\x00\x00\x00\x01\xff")}, nil
		}, "does not verify"},
		{"a refusal", "ed25519", func([]byte) (*ssh.Signature, error) { return nil, os.ErrPermission }, "the ssh-agent did not sign"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := listen(t, func(conn net.Conn) { _ = agent.ServeAgent(misled{ring, test.sign}, conn) })
			key := byAgent(t, must.Value(ssh.NewPublicKey(private[test.kind]().Public())), path)
			_, err := key.Sign(t.Context(), []byte("decision"))
			refused(t, err, tidegate.ReadFailed, test.why)
		})
	}
}

func TestAnAgentThatIsNotThere(t *testing.T) {
	t.Parallel()
	public := must.Value(ssh.NewPublicKey(seeded(1).Public()))
	_, err := byAgent(t, public, socket(t)).Sign(t.Context(), []byte("decision"))
	refused(t, err, tidegate.ReadFailed, "the ssh-agent cannot be reached")
	for name, answer := range map[string]string{"nothing": "", "half a length": "\x00\x00", "a giant": "\xff\xff\xff\xff", "garbage": "\x00\x00\x00\x01\xee", "a failure": "\x00\x00\x00\x01\x05"} {
		path := listen(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 100))
			_, _ = conn.Write([]byte(answer))
		})
		_, err := byAgent(t, public, path).Sign(t.Context(), []byte("decision"))
		if tidegate.CodeOf(err) != tidegate.ReadFailed {
			t.Errorf("an agent that answers with %s: %v", name, err)
		}
	}
}

// An agent may wait for a person for as long as it likes, and the caller need
// not.
func TestWaitingForAnAgentCanBeGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	path := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 100))
		cancel()
		_, _ = conn.Read(make([]byte, 100)) // until the other end gives up
	})
	_, err := byAgent(t, must.Value(ssh.NewPublicKey(seeded(1).Public())), path).Sign(ctx, []byte("decision"))
	refused(t, err, tidegate.Cancelled, "")
}

// realAgent starts OpenSSH's ssh-agent and returns its socket.
func realAgent(t *testing.T) string {
	t.Helper()
	path := socket(t)
	cmd := exec.Command(program(t, "ssh-agent"), "-D", "-a", path)
	cmd.Env = []string{"SSH_ASKPASS=false"} // no window may open
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // it speaks once the socket is there
		t.Fatal(err)
	}
	return path
}

func TestTheAgentOfOpenSSHSigns(t *testing.T) {
	t.Parallel()
	add := program(t, "ssh-add")
	path := realAgent(t)
	load := func(t *testing.T, key any, options ...string) {
		t.Helper()
		cmd := exec.Command(add, append(options, put(t, "key", inOpenSSH(key)))...)
		cmd.Env = append(os.Environ(), "SSH_AUTH_SOCK="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ssh-add: %v\n%s", err, out)
		}
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			key := byAgent(t, must.Value(ssh.NewPublicKey(private[kind]().Public())), path)
			_, err := key.Sign(t.Context(), []byte("decision"))
			refused(t, err, tidegate.FileNotFound, "does not have the key")

			load(t, private[kind]())
			if _, err := signers(t, "alice "+key.PublicKey()).Verify([]byte("decision"), sign(t, key, "decision"), noon); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a key that needs a yes", func(t *testing.T) {
		load(t, seeded(5), "-c") // nobody is there to say yes
		_, err := byAgent(t, must.Value(ssh.NewPublicKey(seeded(5).Public())), path).Sign(t.Context(), []byte("decision"))
		refused(t, err, tidegate.ReadFailed, "the ssh-agent did not sign with SHA256:")
	})
}
