package seal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestWhatSignersFilesMayHold(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	sig := sign(t, key, "decision")
	public := key.PublicKey()
	for _, test := range []struct {
		name, text, principal string
	}{
		{"a name and a key", "alice " + public + "\n", "alice"},
		{"a comment behind the key", "alice " + public + " alice's laptop # mine\n", "alice"},
		{"comments and empty lines", "\n# alice mallory\n  \t\n   # indented\nalice " + public, "alice"},
		{"blanks", " \talice \t " + strings.Replace(public, " ", " \t ", 1) + " \t\n", "alice"},
		{"line ends of Windows", "# x\r\n\r\nalice " + public + "\r\n", "alice"},
		{"a byte-order mark", "\ufeffalice " + public, "alice"},
		{"several names", "alice,bob@example.com,*@example.org " + public, "alice,bob@example.com,*@example.org"},
		{"names in quotes", `"alice smith,bob" ` + public, "alice smith,bob"},
		{"a quote in quotes", `"alice \"al\" smith" ` + public, `alice "al" smith`},
		{"namespaces", `alice namespaces="git,tidegate" ` + public, "alice"},
		{"a pattern of namespaces", `alice namespaces="t?de*" ` + public, "alice"},
		{"any letter case", `alice NameSpaces="tidegate",VALID-AFTER="20200101Z" ` + public, "alice"},
		{"spaces in quotes", `alice namespaces="a b,tidegate",valid-before="20990101" ` + public, "alice"},
		{"the first line that lets it sign", "bob namespaces=\"git\" " + public + "\nalice " + public + "\ncarol " + public, "alice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := must.Get(seal.ParseSigners([]byte(test.text)))(t)
			signer, err := list.Verify([]byte("decision"), sig, noon)
			if err != nil || signer.Principal != test.principal {
				t.Errorf("got %+v, %v, want %s", signer, err, test.principal)
			}
		})
	}
}

// TestAPatternIsNoName: a key that is listed for many is not shown as one of them.
func TestAPatternIsNoName(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	for principals, want := range map[string]string{
		"alice@example.org":                  "alice@example.org",
		"*":                                  "a key that is listed for the pattern *",
		"*@example.org":                      "a key that is listed for the pattern *@example.org",
		"alice?":                             "a key that is listed for the pattern alice?",
		"!mallory@example.org,*@example.org": "a key that is listed for the pattern !mallory@example.org,*@example.org",
		"alice,bob":                          "a key that is listed for alice,bob",
	} {
		signer, err := signers(t, principals+" "+key.PublicKey()).Verify([]byte("decision"), sign(t, key, "decision"), noon)
		if err != nil || signer.String() != want {
			t.Errorf("%s is shown as %q, want %q, %v", principals, signer, want, err)
		}
	}
}

func TestNamespacesNarrowALine(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	for _, namespaces := range []string{"git", "tide", "tidegate.dev", "*,!tidegate", "!git", "TIDEGATE"} {
		list := signers(t, `alice namespaces="`+namespaces+`" `+key.PublicKey())
		_, err := list.Verify([]byte("decision"), sign(t, key, "decision"), noon)
		refused(t, err, tidegate.Tampered, "is listed for other namespaces only (line 1 of the signers): "+namespaces)
	}
}

func TestMalformedLinesAreNamed(t *testing.T) {
	t.Parallel()
	public := open(t, inOpenSSH(seeded(1))).PublicKey()
	kind, encoded, _ := strings.Cut(public, " ")
	short := string(ssh.MarshalAuthorizedKey(must.Value(ssh.NewPublicKey(private["short rsa"]().Public()))))
	for _, test := range []struct{ line, why string }{
		{"alice", "expected the type of a key"},
		{"alice " + kind, "not written in base64"},
		{"alice " + kind + " " + encoded[:20] + "!", "not written in base64"},
		{"alice " + kind + " " + encoded[:40], "the ssh-ed25519 key cannot be read"},
		{"alice ssh-rsa " + encoded, "the key is of the type ssh-ed25519, not ssh-rsa"},
		{"alice ssh-nonsense " + encoded, "the key is of the type ssh-ed25519, not ssh-nonsense"},
		{public, "unknown"}, // a line of authorized_keys: the type stands where the principals should
		{"alice " + certificate(t), "keys of type ssh-ed25519-cert-v01@openssh.com are not supported"},
		{"alice " + short, "the RSA key has 1024 bits, and needs 2048"},
		{`alice cert-authority ` + public, "certificate authorities are not supported"},
		{`alice namespaces="tidegate",cert-authority ` + public, "certificate authorities are not supported"},
		{`alice namespaces=tidegate ` + public, "the option namespaces must be in double quotes"},
		{`alice namespaces="tidegate ` + public, "have no closing quote"},
		{`alice namespaces ` + public, "must hold names"},
		{`alice namespaces="" ` + public, "must hold names"},
		{`alice namespaces="a",namespaces="tidegate" ` + public, "the option namespaces stands there twice"},
		{`alice namespaces="tidegate"` + public, "separated by commas"},
		{`alice namespaces="tidegate", ` + public, `the option "" is unknown`},
		{`alice no-touch-required ` + public, `the option "no-touch-required" is unknown`},
		{`alice valid-after=20200101 ` + public, "must be in double quotes"},
		{`alice valid-after="2020-01-01" ` + public, "YYYYMMDD[HHMM[SS]][Z]"},
		{`alice valid-after="20201301" ` + public, "YYYYMMDD[HHMM[SS]][Z]"},
		{`alice valid-after="always" ` + public, "YYYYMMDD[HHMM[SS]][Z]"},
		{`alice valid-before="2020010112" ` + public, "YYYYMMDD[HHMM[SS]][Z]"},
		{`alice valid-before="" ` + public, "YYYYMMDD[HHMM[SS]][Z]"},
		{`alice valid-before="20200101",valid-after="20200101" ` + public, "valid-before must be later"},
		{`"alice ` + public, "have no closing quote"},
		{`"alice"` + public, "followed by a space"},
		{`"" ` + public, "empty name"},
		{"alice,,bob " + public, "empty name"},
		{"alice, " + public, "empty name"},
		{"!,alice " + public, "empty name"},
		{"al\x1bice " + public, "cannot be shown"},
		{"al\xffice " + public, "cannot be shown"},
		{"al\u202eice " + public, "cannot be shown"},
	} {
		_, err := seal.ParseSigners([]byte("# ours\nbob " + public + "\n" + test.line + "\ncarol " + public + "\n"))
		refused(t, err, tidegate.InvalidArgs, "line 3 of the signers file: ")
		refused(t, err, tidegate.InvalidArgs, test.why)
		if line, _ := tidegate.AsError(err).Details.Get("line_number"); line != 3 {
			t.Errorf("%s: the details name line %v", test.line, line)
		}
	}
	for _, text := range []string{"", "\n", "# nobody\n"} {
		_, err := seal.ParseSigners([]byte(text))
		refused(t, err, tidegate.InvalidArgs, "lists no key")
	}
}

func TestReadingSignersNamesTheFile(t *testing.T) {
	t.Parallel()
	public := open(t, inOpenSSH(seeded(1))).PublicKey()
	good := put(t, "signers", []byte("alice "+public))
	if _, err := seal.ReadSigners(artifact.Everywhere, "signers", good); err != nil {
		t.Error(err)
	}
	bad := put(t, "signers", []byte("alice "+public+"\nmallory\n"))
	_, err := seal.ReadSigners(artifact.Everywhere, "signers", bad)
	refused(t, err, tidegate.InvalidArgs, "line 2")
	if diff := cmp.Diff(tidegate.Pairs("signers", bad, "line_number", 2), tidegate.AsError(err).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	_, err = seal.ReadSigners(artifact.Everywhere, "signers", filepath.Join(t.TempDir(), "absent"))
	refused(t, err, tidegate.FileNotFound, "absent")
}

func TestASignerMustGoByTheNameAskedFor(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	sig := sign(t, key, "decision")
	list := signers(t,
		"alice@example.com,!*@evil.example.com,*@*.example.com "+key.PublicKey(),
		"root "+key.PublicKey())
	for name, principal := range map[string]string{
		"alice@example.com":      "alice@example.com,!*@evil.example.com,*@*.example.com",
		"bob@eu.example.com":     "alice@example.com,!*@evil.example.com,*@*.example.com",
		"root":                   "root",
		"bob@evil.example.com":   "",
		"alice@evil.example.com": "",
		"bob@example.com":        "",
		"Alice@example.com":      "",
		"":                       "",
	} {
		signer, err := list.As(name).Verify([]byte("decision"), sig, noon)
		if principal == "" {
			refused(t, err, tidegate.Tampered, "not among the signers")
		} else if err != nil || signer.Principal != principal {
			t.Errorf("%s: got %+v, %v, want %s", name, signer, err, principal)
		}
	}
}

// The time for a pattern of stars must grow with nothing but the lengths.
func TestManyStarsAreFast(t *testing.T) {
	t.Parallel()
	if seal.Match(strings.Repeat("*a", 2000)+"b", strings.Repeat("a", 4000)) {
		t.Error("it matches")
	}
	if !seal.Match(strings.Repeat("*a", 2000)+"*", strings.Repeat("a", 4000)) {
		t.Error("it does not match")
	}
}

func FuzzParseSigners(f *testing.F) {
	key := open(f, inOpenSSH(seeded(1)))
	sig := sign(f, key, "decision")
	f.Add(`alice namespaces="tidegate,git",valid-after="20200101Z",valid-before="20990101" ` + key.PublicKey() + " comment")
	f.Add(`"alice smith",x ` + key.PublicKey())
	f.Add("# x\r\nalice,!bob,*@example.com " + key.PublicKey() + "\n\nbob ssh-rsa AAAA\n")
	f.Add(`alice cert-authority ssh-dss AAAA`)
	f.Add(`a b="\"`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := seal.ParseSigners([]byte(text))
		if err != nil {
			if e := tidegate.AsError(err); e.Code != tidegate.InvalidArgs {
				t.Fatal(err)
			}
			return
		}
		// A signature counts only if its key stands in the file.
		signer, err := list.Verify([]byte("decision"), sig, noon)
		if err == nil && (signer.Principal == "" || !strings.Contains(text, "ssh-ed25519")) {
			t.Fatalf("%q lets %+v sign", text, signer)
		}
		// Comments and empty lines change nothing.
		more, err := seal.ParseSigners([]byte("\n# x\n" + strings.TrimPrefix(text, "\ufeff") + "\n \n"))
		if err != nil {
			t.Fatalf("with comments: %v", err)
		}
		again, err := more.Verify([]byte("decision"), sig, noon)
		if again != signer {
			t.Fatalf("with comments %+v signs, %v", again, err)
		}
	})
}

// Roots confine signers and key files like every other file.
func TestRootsConfineKeysAndSigners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := put(t, "signers", []byte("alice "+open(t, inOpenSSH(seeded(1))).PublicKey()))
	reach := artifact.Within(dir)
	_, err := seal.ReadSigners(reach, "signers", path)
	refused(t, err, tidegate.PathNotAllowed, "")
	_, err = seal.OpenKey(reach, "sign", path, seal.Unlock{})
	refused(t, err, tidegate.PathNotAllowed, "")
	must.Get(os.Stat(path))(t)
}
