package seal_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
)

// sample is what the tests seal, in byte order of names.
var sample = []seal.File{
	{Name: "Zeta.md", Data: nil},
	{Name: "evidence/archive.warc.gz", Data: []byte("PK\x03\x04 and other bytes \x00\xff")},
	{Name: "manifest.json", Data: []byte("{}\n")},
	{Name: "report.md", Data: []byte("# Report\n\nHarbours silt up [1].\n")},
	{Name: "wave-1/überblick.md", Data: []byte("text")},
}

func predicate() *codec.Value {
	return must.Value(codec.Parse([]byte(`{"run_id":"harbour","version":"1.0","cost":1.50,"gates":["A","B"]}`)))
}

func write(t testing.TB, key *seal.Key, files []seal.File) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, seal.Write(context.Background(), &b, key, files, predicate()))
	return b.Bytes()
}

// sealers are keys of the kinds that make different envelopes.
func sealers(t testing.TB) map[string]*seal.Key {
	t.Helper()
	return map[string]*seal.Key{
		"an SSH key":         open(t, inOpenSSH(seeded(1))),
		"a bare Ed25519 key": open(t, inPKCS8(seeded(1))),
		"an ECDSA key":       open(t, inOpenSSH(private["nistp256"]())),
		"an RSA key":         open(t, inOpenSSH(private["rsa"]())),
	}
}

func TestWhatIsSealedIsReadBack(t *testing.T) {
	t.Parallel()
	shuffled := []seal.File{sample[3], sample[0], sample[4], sample[2], sample[1]}
	for name, key := range sealers(t) {
		t.Run(name, func(t *testing.T) {
			list := signers(t, "alice@example.com "+key.PublicKey())
			data := write(t, key, shuffled)
			got := must.Get(seal.Open(data, list, noon))(t)
			if diff := cmp.Diff(sample, got.Files, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if want := (seal.Signer{Principal: "alice@example.com", Fingerprint: key.Fingerprint()}); got.Signer != want {
				t.Errorf("signer %+v, want %+v", got.Signer, want)
			}
			if text := must.Value(codec.MarshalLine(got.Predicate)); string(text) != string(must.Value(codec.MarshalLine(predicate()))) {
				t.Errorf("predicate %s", text)
			}
			if !strings.Contains(name, "ECDSA") && !bytes.Equal(data, write(t, key, sample)) {
				t.Error("the same files give other bytes")
			}
		})
	}
}

// A file that was sealed once is verified for ever, and sealed again it has the
// same bytes, whatever the libraries below do.
func TestSealedFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for file, encode := range map[string]func(ed25519.PrivateKey) []byte{
		"testdata/ssh.sealed":  func(key ed25519.PrivateKey) []byte { return inOpenSSH(key) },
		"testdata/bare.sealed": func(key ed25519.PrivateKey) []byte { return inPKCS8(key) },
	} {
		key := open(t, encode(seeded(1)))
		data := write(t, key, sample)
		golden.Check(t, file, data)
		if _, err := seal.Open(data, signers(t, "alice "+key.PublicKey()), noon); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestWhatCannotBeSealed(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	for _, test := range []struct {
		name, why string
		files     []seal.File
	}{
		{"nothing", "there must be a file", nil},
		{"a name twice", `occurs twice: "a"`, []seal.File{{Name: "a"}, {Name: "b"}, {Name: "a"}}},
		{"the envelope's name", "that of the envelope", []seal.File{{Name: "seal.dsse.json"}}},
		{"the envelope's name in capitals", "that of the envelope", []seal.File{{Name: "SEAL.dsse.json"}}},
		{"no name", "a name must be", []seal.File{{Name: ""}}},
		{"a way out", "a name must be", []seal.File{{Name: "a/../../b"}}},
		{"an absolute name", "a name must be", []seal.File{{Name: "/etc/passwd"}}},
		{"a folder", "a name must be", []seal.File{{Name: "."}}},
		{"a trailing slash", "a name must be", []seal.File{{Name: "a/"}}},
		{"a backslash", "a name must be", []seal.File{{Name: `..\a`}}},
		{"a control character", "a name must be", []seal.File{{Name: "a\nb"}}},
		{"no UTF-8", "a name must be", []seal.File{{Name: "a\xff"}}},
		{"a long name", "a name must be", []seal.File{{Name: strings.Repeat("a", 1025)}}},
		{"too many files", "too many", many(65534)},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			err := seal.Write(t.Context(), &b, key, test.files, predicate())
			refused(t, err, tidegate.InvalidArgs, test.why)
			if b.Len() > 0 {
				t.Errorf("%d bytes were written", b.Len())
			}
		})
	}
	for text, why := range map[string]string{`[]`: "an array", `"x"`: `the string "x"`} {
		err := seal.Write(t.Context(), io.Discard, key, sample, must.Value(codec.Parse([]byte(text))))
		refused(t, err, tidegate.InvalidArgs, "the predicate must be an object, not "+why)
	}
	refused(t, seal.Write(t.Context(), io.Discard, key, sample, nil), tidegate.InvalidArgs, "the predicate must be an object")
	if err := seal.Write(t.Context(), fullDisk{}, key, sample, predicate()); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if !full.Asked() {
		return
	}
	data := write(t, key, many(65533))
	if _, err := seal.Open(data, signers(t, "alice "+key.PublicKey()), noon); err != nil {
		t.Errorf("as many files as there can be: %v", err)
	}
}

func many(n int) []seal.File {
	files := make([]seal.File, n)
	for i := range files {
		files[i].Name = fmt.Sprintf("%05d", i)
	}
	return files
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// part is a stretch of a sealed file, with what must be said when a byte of it
// changes.
type part struct {
	end  int
	says string
}

// parts are the stretches of the sealed file in data.
func parts(t *testing.T, data []byte) (all []part) {
	t.Helper()
	reader := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	end := 0
	for _, file := range reader.File {
		end += 30 + len(file.Name)
		// A header that is damaged may give another name or length.
		all = append(all, part{end, "the file is damaged: "})
		end += int(file.UncompressedSize64)
		all = append(all, part{end, fmt.Sprintf("an entry does not have its checksum: %q", file.Name)})
	}
	return append(all, part{len(data), "is not their directory, byte "})
}

// Every byte counts: those of the files, of the envelope, and of the archive
// around them.
func TestEveryChangedByteIsFound(t *testing.T) {
	t.Parallel()
	for name, key := range sealers(t) {
		t.Run(name, func(t *testing.T) {
			list := signers(t, "alice "+key.PublicKey())
			data := write(t, key, sample)
			all := parts(t, data)
			for i, n := 0, stride(5); i < len(data); i += n {
				for i >= all[0].end {
					all = all[1:]
				}
				for _, flip := range []byte{0x01, 0x10, 0x20, 0x80, 0xff} {
					bad := bytes.Clone(data)
					bad[i] ^= flip
					_, err := seal.Open(bad, list, noon)
					if tidegate.CodeOf(err) != tidegate.Tampered || !strings.Contains(err.Error(), all[0].says) {
						t.Fatalf("byte %d of %d changed by %#x: got %v, want %q", i, len(data), flip, err, all[0].says)
					}
				}
			}
			for i, n := 0, stride(5); i < len(data); i += n {
				for what, bad := range map[string][]byte{
					"cut off":  data[:i],
					"removed":  append(bytes.Clone(data[:i]), data[i+1:]...),
					"inserted": append(append(bytes.Clone(data[:i]), 'x'), data[i:]...),
					"doubled":  append(bytes.Clone(data[:i+1]), data[i:]...),
				} {
					if _, err := seal.Open(bad, list, noon); tidegate.CodeOf(err) != tidegate.Tampered {
						t.Fatalf("byte %d %s: %v", i, what, err)
					}
				}
			}
			for what, bad := range map[string][]byte{
				"a byte behind it":  append(bytes.Clone(data), 0),
				"a byte before it":  append([]byte{0}, data...),
				"twice":             append(bytes.Clone(data), data...),
				"nothing":           nil,
				"an empty archive":  must.Value(packed()),
				"only the envelope": must.Value(packed(unpacked(t, data)[0])),
			} {
				if _, err := seal.Open(bad, list, noon); tidegate.CodeOf(err) != tidegate.Tampered {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func packed(files ...seal.File) ([]byte, error) {
	var b bytes.Buffer
	err := seal.Pack(&b, files)
	return b.Bytes(), err
}

// unpacked is what lies in the archive of a sealed file, the envelope first.
func unpacked(t testing.TB, data []byte) (files []seal.File) {
	t.Helper()
	reader := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	for _, file := range reader.File {
		content := must.Get(file.Open())(t)
		files = append(files, seal.File{Name: file.Name, Data: must.Value(io.ReadAll(content))})
	}
	return files
}

// An attacker who makes the archive whole again is found by the statement, and
// one who changes the statement by the signature.
func TestEveryChangedByteIsFoundInAnArchiveMadeAnew(t *testing.T) {
	t.Parallel()
	for name, key := range sealers(t) {
		t.Run(name, func(t *testing.T) {
			list := signers(t, "alice "+key.PublicKey())
			files := unpacked(t, write(t, key, sample))
			flips := []byte{0x01, 0x10, 0x20, 0x80, 0xff}
			for n := range files {
				good := files[n].Data
				says := fmt.Sprintf("a file is not as it was sealed: %q", files[n].Name)
				if n == 0 {
					says = "" // the envelope: form, statement or signature
				}
				for i, step := 0, stride(4); i < len(good); i += step {
					for j := i % stride(5); j < len(flips); j += stride(5) {
						flip := flips[j]
						files[n].Data = bytes.Clone(good)
						files[n].Data[i] ^= flip
						_, err := seal.Open(must.Value(packed(files...)), list, noon)
						if tidegate.CodeOf(err) != tidegate.Tampered || !strings.Contains(err.Error(), says) {
							t.Fatalf("byte %d of %s changed by %#x: %v", i, files[n].Name, flip, err)
						}
					}
				}
				files[n].Data = good
			}
			if _, err := seal.Open(must.Value(packed(files...)), list, noon); err != nil {
				t.Errorf("as it was: %v", err)
			}
		})
	}
}

func TestNoFileMoreOrLess(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	list := signers(t, "alice "+key.PublicKey())
	whole := unpacked(t, write(t, key, sample))
	envelope, files := whole[0], whole[1:]
	with := func(files ...seal.File) []seal.File { return append([]seal.File{envelope}, files...) }
	renamed := append([]seal.File(nil), files...)
	renamed[2].Name = "manifest.yaml"
	for _, test := range []struct {
		name, says string
		files      []seal.File
	}{
		{"a file more", `a file was added that was not sealed: "zzz"`, with(append(files[:5:5], seal.File{Name: "zzz"})...)},
		{"a file less", `a file that was sealed is missing: "manifest.json"`, with(files[0], files[1], files[3], files[4])},
		{"an empty file less", `a file that was sealed is missing: "Zeta.md"`, with(files[1:]...)},
		{"a file twice", `a name occurs twice: "report.md"`, with(files[0], files[1], files[2], files[3], files[3], files[4])},
		{"a name changed", `a file was added that was not sealed: "manifest.yaml"`, with(renamed...)},
		{"another order", `a file is out of order: "Zeta.md"`, with(files[1], files[0], files[2], files[3], files[4])},
		{"the envelope last", "begins with seal.dsse.json", append(files[:5:5], envelope)},
		{"two envelopes", "that of the envelope", with(append(files[:4:4], envelope, files[4])...)},
		{"no envelope", "begins with seal.dsse.json", files},
		{"no files", "there must be a file", with()},
		{"a way out", "a name that cannot stand here", with(append([]seal.File{{Name: "../x"}}, files...)...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := seal.Open(must.Value(packed(test.files...)), list, noon)
			refused(t, err, tidegate.Tampered, test.says)
		})
	}
	if _, err := seal.Open(must.Value(packed(with(files...)...)), list, noon); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

// resealed is the sample with another envelope.
func resealed(t *testing.T, key *seal.Key, change func(envelope string) string) []byte {
	t.Helper()
	files := unpacked(t, write(t, key, sample))
	before := string(files[0].Data)
	after := change(before)
	if after == before {
		t.Fatal("nothing was changed")
	}
	files[0].Data = []byte(after)
	return must.Value(packed(files...))
}

func TestForgedEnvelopesAreRefused(t *testing.T) {
	t.Parallel()
	key, bare := open(t, inOpenSSH(seeded(1))), open(t, inPKCS8(seeded(1)))
	curve := open(t, inOpenSSH(private["nistp256"]()))
	other := open(t, inOpenSSH(seeded(2)))
	list := signers(t, "alice "+key.PublicKey(), "bob "+other.PublicKey(), "carol "+curve.PublicKey(), "dave "+open(t, inOpenSSH(private["rsa"]())).PublicKey())
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	again := func(key *seal.Key, statement string) func(string) string {
		return func(string) string { return string(enveloped(t, key, "tidegate", statement)) }
	}
	statement := statementOf(t, unpacked(t, write(t, key, sample))[0].Data)
	for _, test := range []struct {
		name   string
		key    *seal.Key
		change func(string) string
		says   string
	}{
		{"another payload type", key, replace("vnd.in-toto", "vnd.other"), "not written as a DSSE envelope"},
		{"another key's name", key, replace(key.Fingerprint(), other.Fingerprint()), "signed by another key than " + key.Fingerprint()},
		{"another key's name, bare", bare, replace(key.Fingerprint(), other.Fingerprint()), "not by " + other.Fingerprint()},
		{"another kind of key's name, bare", bare, replace(key.Fingerprint(), curve.Fingerprint()), "not by " + curve.Fingerprint()},
		{"nobody's name, bare", bare, replace(key.Fingerprint(), "SHA256:x"), "SHA256:x is not among the signers"},
		{"a field more", key, replace(`"payloadType"`, `"note": "x",`+"\n  "+`"payloadType"`), "not written as a DSSE envelope"},
		{"a field twice", key, replace(`"payloadType"`, `"payload": "",`+"\n  "+`"payloadType"`), "not JSON"},
		{"two signatures", key, replace("\n  ]", ",\n    {\n      \"keyid\": \"\",\n      \"sig\": \"\"\n    }\n  ]"), "not written as a DSSE envelope"},
		{"no signature", key, func(s string) string { return s[:strings.Index(s, `"signatures"`)] + "\"signatures\": []\n}\n" }, "not written as a DSSE envelope"},
		{"another layout", key, replace("\n  ", "\n   "), "not written as a DSSE envelope"},
		{"no JSON", key, func(string) string { return "x" }, "not JSON"},
		{"a list", key, func(string) string { return "[]\n" }, "not written as a DSSE envelope"},
		{"another signer", key, again(other, statement), ""},
		{"the namespace of others", key, func(string) string { return string(enveloped(t, key, "git", statement)) }, `was made for "git"`},
		{"the twin of the signature", curve, func(s string) string {
			sig := must.Value(base64.StdEncoding.DecodeString(between(s, `"sig": "`, `"`)))
			return strings.Replace(s, base64.StdEncoding.EncodeToString(sig), base64.StdEncoding.EncodeToString(twin(t, private["nistp256"]().Public(), sig)), 1)
		}, "is not written as it was made"},
		{"other line ends in the signature", key, func(s string) string {
			sig := must.Value(base64.StdEncoding.DecodeString(between(s, `"sig": "`, `"`)))
			return strings.Replace(s, base64.StdEncoding.EncodeToString(sig), base64.StdEncoding.EncodeToString(bytes.ReplaceAll(sig, []byte("\n"), []byte("\r\n"))), 1)
		}, "is not written as it was made"},
		{"no statement", key, again(key, "x"), "the statement is not JSON"},
		{"another type of statement", key, again(key, strings.Replace(statement, "Statement/v1", "Statement/v0.1", 1)), "not an in-toto statement of ours"},
		{"another type of predicate", key, again(key, strings.Replace(statement, "sealed-run", "other", 1)), "not an in-toto statement of ours"},
		{"no subjects", key, again(key, statement[:strings.Index(statement, `[`)]+`[],"predicateType":"https://tidegate.dev/sealed-run/v1","predicate":{}}`), "not an in-toto statement of ours"},
		{"a predicate that is not an object", key, again(key, statement[:strings.Index(statement, `"predicate":`)]+`"predicate":1}`), "not an in-toto statement of ours"},
		{"another digest", key, again(key, strings.Replace(statement, `"sha256"`, `"sha1"`, 1)), "not an in-toto statement of ours"},
		{"a file twice", key, again(key, strings.Replace(statement, `"name":"manifest.json"`, `"name":"report.md"`, 1)), "names a file twice"},
		{"a field of others", key, again(key, strings.Replace(statement, `"predicate":`, `"x":1,"predicate":`, 1)), "counts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := seal.Open(resealed(t, test.key, test.change), list, noon)
			switch test.says {
			case "": // another signer who may sign
				if err != nil || got.Signer.Principal != "bob" {
					t.Errorf("got %+v, %v", got, err)
				}
			case "counts": // in-toto demands that unknown fields are ignored
				if err != nil {
					t.Error(err)
				}
			default:
				refused(t, err, tidegate.Tampered, test.says)
			}
		})
	}
	t.Run("a signer who is not listed", func(t *testing.T) {
		_, err := seal.Open(write(t, key, sample), signers(t, "bob "+other.PublicKey()), noon)
		refused(t, err, tidegate.Tampered, key.Fingerprint()+" is not among the signers")
		_, err = seal.Open(write(t, bare, sample), signers(t, "bob "+other.PublicKey()), noon)
		refused(t, err, tidegate.Tampered, key.Fingerprint()+" is not among the signers")
	})
	t.Run("a signer whose time is over", func(t *testing.T) {
		old := signers(t, `alice valid-before="20260101" `+key.PublicKey())
		for _, key := range []*seal.Key{key, bare} {
			_, err := seal.Open(write(t, key, sample), old, noon)
			refused(t, err, tidegate.Tampered, "was valid only until 2026-01-01T00:00:00Z")
		}
	})
	t.Run("a signer for other things", func(t *testing.T) {
		git := signers(t, `alice namespaces="git" `+key.PublicKey())
		for _, key := range []*seal.Key{key, bare} {
			_, err := seal.Open(write(t, key, sample), git, noon)
			refused(t, err, tidegate.Tampered, "is listed for other namespaces only")
		}
	})
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// statementOf is the statement in an envelope.
func statementOf(t testing.TB, envelope []byte) string {
	t.Helper()
	return string(must.Value(base64.StdEncoding.DecodeString(must.Value(codec.Parse(envelope)).Get("payload").Str())))
}

// enveloped is an envelope in which everything is right except what the caller
// changes.
func enveloped(t testing.TB, key *seal.Key, namespace, statement string) []byte {
	t.Helper()
	sig := must.Get(seal.SignFor(key, context.Background(), namespace, pae(statement)))(t)
	return must.Value(codec.MarshalFile(struct {
		Payload     []byte `json:"payload"`
		PayloadType string `json:"payloadType"`
		Signatures  []any  `json:"signatures"`
	}{[]byte(statement), "application/vnd.in-toto+json", []any{struct {
		KeyID string `json:"keyid"`
		Sig   []byte `json:"sig"`
	}{key.Fingerprint(), sig}}}))
}

// pae is what DSSE signs, by an external library.
func pae(statement string) []byte {
	return dsse.PAE("application/vnd.in-toto+json", []byte(statement))
}

// The statement is one of in-toto, written as its specification shows it.
func TestTheStatementIsOneOfInToto(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	got := statementOf(t, unpacked(t, write(t, key, sample[2:4]))[0].Data)
	want := `{"_type":"https://in-toto.io/Statement/v1","subject":[` +
		`{"name":"manifest.json","digest":{"sha256":"ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"}},` +
		`{"name":"report.md","digest":{"sha256":"` + strings.TrimPrefix(codec.DigestBytes(sample[3].Data), "sha256:") + `"}}],` +
		`"predicateType":"https://tidegate.dev/sealed-run/v1",` +
		`"predicate":{"run_id":"harbour","version":"1.0","cost":1.50,"gates":["A","B"]}}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// outsider is an Ed25519 key for the external library, which itself gives the key a
// name: the one that we use.
type outsider ed25519.PublicKey

func (o outsider) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(ed25519.PublicKey(o), data, sig) {
		return errors.New("does not verify")
	}
	return nil
}
func (o outsider) KeyID() (string, error)   { return "", nil }
func (o outsider) Public() crypto.PublicKey { return ed25519.PublicKey(o) }

// Others verify what a bare Ed25519 key sealed, with a library for DSSE and the
// public key.
func TestOthersVerifyTheEnvelope(t *testing.T) {
	t.Parallel()
	key := open(t, inPKCS8(seeded(1)))
	envelope := unpacked(t, write(t, key, sample))[0].Data
	parsed := new(dsse.Envelope)
	must.Do(t, json.Unmarshal(envelope, parsed))
	verifier := must.Get(dsse.NewEnvelopeVerifier(outsider(seeded(1).Public().(ed25519.PublicKey))))(t)
	accepted, err := verifier.Verify(t.Context(), parsed)
	if err != nil || len(accepted) != 1 || accepted[0].KeyID != key.Fingerprint() {
		t.Errorf("got %+v, %v", accepted, err)
	}
	parsed.Payload = base64.StdEncoding.EncodeToString([]byte("{}"))
	if _, err := verifier.Verify(t.Context(), parsed); err == nil {
		t.Error("another payload is accepted, so the test shows nothing")
	}
}

// Others verify what an SSH key sealed with base64 and ssh-keygen.
func TestOpenSSHVerifiesTheEnvelope(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	envelope := unpacked(t, write(t, key, sample))[0].Data
	sig := must.Value(base64.StdEncoding.DecodeString(between(string(envelope), `"sig": "`, `"`)))
	list := put(t, "signers", []byte("alice "+key.PublicKey()+"\n"))
	if err := keygenVerifies(t, string(pae(statementOf(t, envelope))), sig, list, "alice", noon); err != nil {
		t.Error(err)
	}
}

// Everybody can look into a sealed file with the programs that they have.
func TestOthersOpenTheArchive(t *testing.T) {
	t.Parallel()
	data := write(t, open(t, inOpenSSH(seeded(1))), sample)
	if diff := cmp.Diff(sample, unpacked(t, data)[1:], cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	file := put(t, "run.sealed", data)
	for _, args := range [][]string{
		{"unzip", "-t", file},
		{"python3", "-c", "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); sys.exit(z.testzip() or len(z.namelist()) != 6)", file},
	} {
		t.Run(args[0], func(t *testing.T) {
			if out, err := exec.Command(program(t, args[0]), args[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", args, err, out)
			}
		})
	}
}

// FuzzEnvelope puts envelopes into archives that are whole.
func FuzzEnvelope(f *testing.F) {
	key, bare := open(f, inOpenSSH(seeded(1))), open(f, inPKCS8(seeded(1)))
	list := signers(f, "alice "+key.PublicKey())
	files := unpacked(f, write(f, key, sample))
	ssh, ed25519 := files[0].Data, unpacked(f, write(f, bare, sample))[0].Data
	f.Add(ssh)
	f.Add(ed25519)
	f.Add(enveloped(f, key, "git", statementOf(f, ssh)))
	f.Add(enveloped(f, open(f, inOpenSSH(seeded(2))), "tidegate", "{}"))
	f.Fuzz(func(t *testing.T, envelope []byte) {
		data := must.Value(packed(append([]seal.File{{Name: seal.EnvelopeName, Data: envelope}}, files[1:]...)...))
		if _, err := seal.Open(data, list, noon); err == nil && !bytes.Equal(envelope, ssh) && !bytes.Equal(envelope, ed25519) {
			t.Fatalf("%q opens", envelope)
		} else if err != nil && tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatal(err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	key := open(f, inOpenSSH(seeded(1)))
	list := signers(f, "alice "+key.PublicKey())
	good := write(f, key, sample)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(must.Value(packed()))
	f.Add(must.Value(packed(sample...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := seal.Open(data, list, noon); err == nil && !bytes.Equal(data, good) {
			t.Fatalf("%q opens", data)
		} else if err != nil && tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatal(err)
		}
	})
}
