package seal_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestASignatureNamesItsSigner(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, form := range []struct {
			name   string
			encode func(crypto.PrivateKey) []byte
		}{{"OpenSSH", inOpenSSH}, {"PKCS#8", inPKCS8}} {
			t.Run(kind+" in "+form.name, func(t *testing.T) {
				key := open(t, form.encode(private[kind]()))
				public := must.Value(ssh.NewPublicKey(private[kind]().Public()))
				other := open(t, inOpenSSH(seeded(7)))
				list := signers(t, "bob@example.com "+other.PublicKey(), "alice@example.com "+key.PublicKey())

				got, err := list.Verify([]byte("decision"), sign(t, key, "decision"), noon)
				if err != nil {
					t.Fatal(err)
				}
				if want := (seal.Signer{Principal: "alice@example.com", Fingerprint: ssh.FingerprintSHA256(public)}); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if key.Fingerprint() != got.Fingerprint {
					t.Errorf("the key calls itself %s", key.Fingerprint())
				}

				_, err = list.Verify([]byte("another decision"), sign(t, key, "decision"), noon)
				refused(t, err, tidegate.Tampered, "does not count")
				_, err = signers(t, "bob@example.com "+other.PublicKey()).Verify([]byte("decision"), sign(t, key, "decision"), noon)
				refused(t, err, tidegate.Tampered, key.Fingerprint()+" is not among the signers")
			})
		}
	}
}

// blob is an SSH signature before it is armored, with every field open to
// abuse.
type blob struct {
	Magic     [6]byte
	Version   uint32
	Key       []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// forge makes a signature with an Ed25519 key that is right except for what spoil
// does to its fields before it is signed.
func forge(message string, spoil func(*blob), after func(*blob)) []byte {
	signer := must.Value(ssh.NewSignerFromKey(seeded(1)))
	b := blob{Magic: [6]byte([]byte("SSHSIG")), Version: 1, Key: signer.PublicKey().Marshal(), Namespace: "tidegate", Hash: "sha512"}
	spoil(&b)
	sum := sha512.Sum512([]byte(message))
	digest := sum[:]
	if b.Hash == "sha256" {
		short := sha256.Sum256([]byte(message))
		digest = short[:]
	}
	b.Signature = ssh.Marshal(must.Value(signer.Sign(rand.Reader, ssh.Marshal(struct {
		Magic                     [6]byte
		Namespace, Reserved, Hash string
		Digest                    []byte
	}{b.Magic, b.Namespace, b.Reserved, b.Hash, digest}))))
	after(&b)
	return armor(ssh.Marshal(b))
}

func armor(data []byte) []byte {
	return []byte("-----BEGIN SSH SIGNATURE-----\n" + base64.StdEncoding.EncodeToString(data) + "\n-----END SSH SIGNATURE-----\n")
}

func TestForgedFieldsAreRefused(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	list := signers(t, "alice "+key.PublicKey())
	nothing := func(*blob) {}
	for _, test := range []struct {
		name         string
		spoil, after func(*blob)
		why          string // "" where the signature counts
	}{
		{"nothing", nothing, nothing, ""},
		{"SHA-256", func(b *blob) { b.Hash = "sha256" }, nothing, ""},
		{"SHA-1", func(b *blob) { b.Hash = "sha1" }, nothing, `over the hash "sha1"`},
		{"another namespace", func(b *blob) { b.Namespace = "git" }, nothing, `was made for "git"`},
		{"no namespace", func(b *blob) { b.Namespace = "" }, nothing, `was made for ""`},
		{"namespace changed after signing", func(b *blob) { b.Namespace = "git" }, func(b *blob) { b.Namespace = "tidegate" }, "does not count"},
		{"reserved field, signed", func(b *blob) { b.Reserved = "x" }, nothing, "reserved"},
		{"reserved field, not signed", nothing, func(b *blob) { b.Reserved = "x" }, "reserved"},
		{"another magic", func(b *blob) { b.Magic[0] = 's' }, nothing, "fields of an SSH signature"},
		{"a later version", func(b *blob) { b.Version = 2 }, nothing, "version 2"},
		{"hash changed after signing", nothing, func(b *blob) { b.Hash = "sha256" }, "does not count"},
		{"no signature", nothing, func(b *blob) { b.Signature = nil }, "does not have the fields"},
		{"bytes behind the signature", nothing, func(b *blob) { b.Signature = append(b.Signature, 0) }, "more bytes"},
		{"another key", nothing, func(b *blob) { b.Key = must.Value(ssh.NewPublicKey(seeded(2).Public())).Marshal() }, "not among the signers"},
		{"no key", nothing, func(b *blob) { b.Key = nil }, "not among the signers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := list.Verify([]byte("decision"), forge("decision", test.spoil, test.after), noon)
			if test.why == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, err, tidegate.Tampered, test.why)
		})
	}
}

func TestRSAWithSHA1IsRefused(t *testing.T) {
	t.Parallel()
	signer := must.Value(ssh.NewSignerFromKey(private["rsa"]())).(ssh.AlgorithmSigner)
	key := open(t, inOpenSSH(private["rsa"]()))
	list := signers(t, "alice "+key.PublicKey())
	for algorithm, why := range map[string]string{
		ssh.KeyAlgoRSASHA512: "",
		ssh.KeyAlgoRSASHA256: "",
		ssh.KeyAlgoRSA:       `a signature of type "ssh-rsa" by a key of type ssh-rsa does not count`,
	} {
		sum := sha512.Sum512([]byte("decision"))
		signed := ssh.Marshal(struct {
			Magic                     [6]byte
			Namespace, Reserved, Hash string
			Digest                    []byte
		}{[6]byte([]byte("SSHSIG")), "tidegate", "", "sha512", sum[:]})
		sig := must.Value(signer.SignWithAlgorithm(rand.Reader, signed, algorithm))
		_, err := list.Verify([]byte("decision"), armor(ssh.Marshal(blob{
			Magic: [6]byte([]byte("SSHSIG")), Version: 1, Key: signer.PublicKey().Marshal(),
			Namespace: "tidegate", Hash: "sha512", Signature: ssh.Marshal(sig),
		})), noon)
		if why == "" {
			if err != nil {
				t.Errorf("%s: %v", algorithm, err)
			}
			continue
		}
		refused(t, err, tidegate.Tampered, why)
	}
}

// certificate is a certificate for the first Ed25519 key, as it stands in a file.
func certificate(t *testing.T) string {
	t.Helper()
	signer := must.Value(ssh.NewSignerFromKey(seeded(1)))
	cert := &ssh.Certificate{Key: signer.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"alice"}, ValidBefore: ssh.CertTimeInfinity}
	must.Do(t, cert.SignCert(rand.Reader, signer))
	return string(ssh.MarshalAuthorizedKey(cert))
}

// A certificate is not a key of the signers file, even if it is for one.
func TestACertificateIsNotItsKey(t *testing.T) {
	t.Parallel()
	cert, _, _, _, err := ssh.ParseAuthorizedKey([]byte(certificate(t)))
	if err != nil {
		t.Fatal(err)
	}
	list := signers(t, "alice "+open(t, inOpenSSH(seeded(1))).PublicKey())
	_, err = list.Verify([]byte("decision"), forge("decision", func(*blob) {}, func(b *blob) { b.Key = cert.Marshal() }), noon)
	refused(t, err, tidegate.Tampered, "not among the signers")
}

// Some programs leave out the zeros at the start of an RSA signature. It counts,
// and is written here with them.
func TestAnRSASignatureHasOneForm(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(fixedRSA()))
	list := signers(t, "alice "+key.PublicKey())
	const begins = 282 // the first decision whose signature begins with a zero
	for n := begins; n < 10_000; n++ {
		message := fmt.Sprint("decision ", n)
		good := sign(t, key, message)
		b := dearmor(t, good)
		var sig ssh.Signature
		must.Do(t, ssh.Unmarshal(b.Signature, &sig))
		if sig.Blob[0] != 0 {
			continue
		}
		sig.Blob = sig.Blob[1:]
		b.Signature = ssh.Marshal(sig)
		short := rearmor(b)
		if _, err := list.Verify([]byte(message), short, noon); err != nil {
			t.Error(err)
		}
		if again, err := seal.Rewrite(short); err != nil || !bytes.Equal(again, good) {
			t.Errorf("%q is rewritten as %q, %v", short, again, err)
		}
		return
	}
	t.Fatal("no signature begins with a zero")
}

func TestGarbageIsRefused(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	list := signers(t, "alice "+key.PublicKey())
	good := string(sign(t, key, "decision"))
	for name, text := range map[string]string{
		"nothing":           "",
		"one line":          "-----BEGIN SSH SIGNATURE-----",
		"begin and end":     "-----BEGIN SSH SIGNATURE----------END SSH SIGNATURE-----",
		"a private key":     string(inOpenSSH(seeded(1))),
		"no base64":         "-----BEGIN SSH SIGNATURE-----\n????\n-----END SSH SIGNATURE-----\n",
		"only the magic":    string(armor([]byte("SSHSIG"))),
		"something before":  "x" + good,
		"something behind":  good + "x",
		"two signatures":    good + good,
		"a giant field":     string(armor([]byte("SSHSIG\x00\x00\x00\x01\xff\xff\xff\xff"))),
		"bits behind the =": strings.Replace(string(armor([]byte("SSHSIG\x00"))), "AA==", "AB==", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := list.Verify([]byte("decision"), []byte(text), noon)
			refused(t, err, tidegate.Tampered, "the signature")
		})
	}
	for cut := range len(good) - 1 {
		if _, err := list.Verify([]byte("decision"), []byte(good[:cut]), noon); tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
	}
}

// A changed byte is refused, unless it is the white space of the armor.
func TestNoByteOfASignatureCanBeChanged(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ed25519", "nistp256", "rsa"} {
		key := open(t, inOpenSSH(private[kind]()))
		list := signers(t, "alice "+key.PublicKey())
		good := sign(t, key, "decision")
		for i := range good {
			for _, flip := range []byte{1, 0x20, 0x80, 0xff, '\n' ^ '\r'} {
				bad := bytes.Clone(good)
				bad[i] ^= flip
				if _, err := list.Verify([]byte("decision"), bad, noon); err == nil {
					if again, err := seal.Rewrite(bad); err != nil || !bytes.Equal(again, good) {
						t.Fatalf("%s: byte %d changed by %#x, and it counts: %q", kind, i, flip, bad)
					}
				}
			}
		}
	}
}

// Signatures with the armor of others, such as other widths of lines, count.
func TestLinesMayBeBrokenElsewhere(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	list := signers(t, "alice "+key.PublicKey())
	good := string(sign(t, key, "decision"))
	for _, text := range []string{
		strings.ReplaceAll(good, "\n", "\r\n"),
		strings.TrimSpace(good),
		"\n" + good + "\n",
		string(forge("decision", func(*blob) {}, func(*blob) {})),
	} {
		if _, err := list.Verify([]byte("decision"), []byte(text), noon); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if again, err := seal.Rewrite([]byte(text)); err != nil || string(again) != good {
			t.Errorf("%q is rewritten as %q, %v", text, again, err)
		}
	}
}

// Every ECDSA signature has a twin that verifies as well. We always write the same
// one of them, so that in a sealed file the other can be refused.
func TestAnECDSASignatureHasOneForm(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"nistp256", "nistp384", "nistp521"} {
		key := open(t, inOpenSSH(private[kind]()))
		list := signers(t, "alice "+key.PublicKey())
		for range 20 / stride(4) {
			good := sign(t, key, "decision")
			if again, err := seal.Rewrite(good); err != nil || !bytes.Equal(again, good) {
				t.Fatalf("%s: %q is rewritten as %q, %v", kind, good, again, err)
			}
			other := twin(t, private[kind]().Public(), good)
			if _, err := list.Verify([]byte("decision"), other, noon); err != nil {
				t.Fatalf("%s: the twin does not count: %v", kind, err)
			}
			if again, err := seal.Rewrite(other); err != nil || !bytes.Equal(again, good) {
				t.Fatalf("%s: the twin is rewritten as %q, %v", kind, again, err)
			}
		}
	}
}

// twin is the other ECDSA signature that verifies where armored does.
func twin(t testing.TB, public crypto.PublicKey, armored []byte) []byte {
	t.Helper()
	b := dearmor(t, armored)
	var sig ssh.Signature
	var pair struct{ R, S *big.Int }
	must.Do(t, ssh.Unmarshal(b.Signature, &sig))
	must.Do(t, ssh.Unmarshal(sig.Blob, &pair))
	pair.S.Sub(order(public), pair.S)
	sig.Blob = ssh.Marshal(pair)
	b.Signature = ssh.Marshal(sig)
	again := must.Get(seal.Rewrite(armored))(t)
	out := rearmor(b)
	if bytes.Equal(out, again) {
		t.Fatal("the twin is the signature itself")
	}
	return out
}

func dearmor(t testing.TB, armored []byte) (b blob) {
	t.Helper()
	text := strings.TrimSuffix(strings.TrimPrefix(string(armored), "-----BEGIN SSH SIGNATURE-----\n"), "-----END SSH SIGNATURE-----\n")
	must.Do(t, ssh.Unmarshal(must.Value(base64.StdEncoding.DecodeString(text)), &b))
	return b
}

// rearmor breaks lines as ssh-keygen does.
func rearmor(b blob) []byte {
	text := base64.StdEncoding.EncodeToString(ssh.Marshal(b))
	out := "-----BEGIN SSH SIGNATURE-----\n"
	for len(text) > 70 {
		out, text = out+text[:70]+"\n", text[70:]
	}
	return []byte(out + text + "\n-----END SSH SIGNATURE-----\n")
}

// A security token signs together with whether it was touched. This one is made
// of software.
func TestATokenMustBeTouched(t *testing.T) {
	t.Parallel()
	public := must.Value(ssh.ParsePublicKey(ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, seeded(3).Public().(ed25519.PublicKey), "ssh:"})))
	list := signers(t, "alice "+string(ssh.MarshalAuthorizedKey(public)))
	for flags, why := range map[byte]string{1: "", 5: "", 0: "user presence", 4: "user presence"} {
		_, err := list.Verify([]byte("decision"), tokenSignature("decision", public, flags), noon)
		if why == "" {
			if err != nil {
				t.Errorf("flags %d: %v", flags, err)
			}
			continue
		}
		refused(t, err, tidegate.Tampered, why)
	}
}

func tokenSignature(message string, public ssh.PublicKey, flags byte) []byte {
	sum := sha512.Sum512([]byte(message))
	data := sha256.Sum256(ssh.Marshal(struct {
		Magic                     [6]byte
		Namespace, Reserved, Hash string
		Digest                    []byte
	}{[6]byte([]byte("SSHSIG")), "tidegate", "", "sha512", sum[:]}))
	application := sha256.Sum256([]byte("ssh:"))
	counter := []byte{0, 0, 0, 9}
	signed := append(append(append(application[:], flags), counter...), data[:]...)
	sig := ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(seeded(3), signed), Rest: append([]byte{flags}, counter...)}
	return rearmor(blob{
		Magic: [6]byte([]byte("SSHSIG")), Version: 1, Key: public.Marshal(),
		Namespace: "tidegate", Hash: "sha512", Signature: ssh.Marshal(sig),
	})
}

func FuzzVerify(f *testing.F) {
	key := open(f, inOpenSSH(seeded(1)))
	list := signers(f, "alice "+key.PublicKey())
	good := sign(f, key, "decision")
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(forge("decision", func(b *blob) { b.Namespace = "git" }, func(*blob) {}))
	f.Add(armor([]byte("SSHSIG\x00\x00\x00\x01\xff\xff\xff\xff")))
	f.Fuzz(func(t *testing.T, armored []byte) {
		signer, err := list.Verify([]byte("decision"), armored, noon)
		if err != nil {
			if tidegate.CodeOf(err) != tidegate.Tampered {
				t.Fatal(err)
			}
			return
		}
		again, err := seal.Rewrite(armored)
		if err != nil || !bytes.Equal(again, good) || signer.Principal != "alice" {
			t.Fatalf("%q counts as a signature by %+v, %v", armored, signer, err)
		}
	})
}

func TestTheTimeDecides(t *testing.T) {
	t.Parallel()
	key := open(t, inOpenSSH(seeded(1)))
	sig := sign(t, key, "decision")
	for _, test := range []struct {
		options string
		at      string
		why     string // "" where the signature counts
	}{
		{`valid-after="20260504"`, "2026-05-04T00:00:00Z", ""},
		{`valid-after="20260504"`, "2026-05-03T23:59:59Z", "is valid only from 2026-05-04T00:00:00Z on (line 2 of the signers)"},
		{`valid-after="202605041230Z"`, "2026-05-04T12:29:59Z", "is valid only from 2026-05-04T12:30:00Z on"},
		{`valid-after="20260504123001Z"`, "2026-05-04T12:30:01Z", ""},
		{`valid-before="20260504"`, "2026-05-04T00:00:00Z", ""},
		{`valid-before="20260504"`, "2026-05-04T00:00:01Z", "was valid only until 2026-05-04T00:00:00Z (line 2 of the signers)"},
		{`valid-before="20260504"`, "2026-05-04T02:00:00+02:00", ""},
		{`valid-after="20260501",valid-before="20260601"`, "2026-05-04T12:00:00Z", ""},
		{`valid-after="20260501",valid-before="20260601"`, "2026-06-04T12:00:00Z", "was valid only until"},
	} {
		list := signers(t, "# ours", "alice "+test.options+" "+key.PublicKey())
		_, err := list.Verify([]byte("decision"), sig, must.Value(time.Parse(time.RFC3339, test.at)))
		if test.why == "" {
			if err != nil {
				t.Errorf("%s at %s: %v", test.options, test.at, err)
			}
			continue
		}
		refused(t, err, tidegate.Tampered, test.why)
	}
}

// order is the order of the curve of an ECDSA key.
func order(public crypto.PublicKey) *big.Int {
	return public.(*ecdsa.PublicKey).Curve.Params().N
}
