package seal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// EnvelopeName is the name under which the envelope lies in a sealed file.
const EnvelopeName = "seal.dsse.json"

// Sealed is what a sealed file holds.
type Sealed struct {
	Files     []File // in byte order of their names
	Predicate *codec.Value
	Signer    Signer
	WACZ      bool // it was written by [WriteWACZ]
}

// Write seals files with key and writes the sealed file to w: the same files and
// predicate, signed with the same key from a file, give the same bytes. The
// predicate is a JSON object that says what the files are.
//
// It returns INVALID_ARGS when there are no files, they are too many, a name
// occurs twice or leads out of its folder, or the predicate is not an object;
// the errors of [Key.Sign]; and the errors of w.
func Write(ctx context.Context, w io.Writer, key *Key, files []File, predicate *codec.Value) error {
	files, err := sorted(files)
	if err != nil {
		return err
	}
	data, err := sealEnvelope(ctx, key, files, predicate)
	if err != nil {
		return err
	}
	return pack(w, append([]File{{EnvelopeName, data}}, files...))
}

// sealEnvelope is the signed statement over files, as a file.
func sealEnvelope(ctx context.Context, key *Key, files []File, predicate *codec.Value) ([]byte, error) {
	if predicate.Kind() != codec.Object {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, nil, "the predicate must be an object, not %s", codec.Describe(predicate))
	}
	payload, err := codec.MarshalLine(about(subjectsOf(files), PredicateType, predicate))
	if err != nil {
		return nil, err
	}
	envelope, err := enclose(ctx, key, payload)
	if err != nil {
		return nil, err
	}
	return envelope.encode()
}

// sorted is files in the order in which they are sealed, or INVALID_ARGS.
func sorted(files []File) ([]File, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if name, fault := checkNames(files); fault != "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	return files, nil
}

// Open verifies the sealed file in data and returns what it holds; the files are
// parts of data. One of signers must have signed it, and must have been valid at
// that time.
//
// It returns TAMPERED, with what differs, when it is not a sealed file, when any
// byte of it is not as it was sealed, when a file was added, removed, renamed or
// moved, and when [Signers.Verify] does so.
func Open(data []byte, signers *Signers, at time.Time) (*Sealed, error) {
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || files[0].Name != EnvelopeName {
		return nil, tampered(tidegate.Pairs("file", EnvelopeName), "a sealed file begins with %s, and this one does not", EnvelopeName)
	}
	all, listed, covers, wacz := takePackage(files)
	envelope, files := all[0].Data, all[1:]
	if name, fault := checkNames(files); fault != "" {
		return nil, tampered(tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	payload, signer, err := disclose(envelope, signers, at)
	if err != nil {
		return nil, err
	}
	predicate, err := compare(payload, files)
	if err == nil && wacz {
		err = checkPackage(all, predicate, listed, covers, signer)
	}
	if err != nil {
		return nil, err
	}
	return &Sealed{files, predicate, signer, wacz}, nil
}

func subjectsOf(files []File) []Subject {
	var subjects []Subject
	for _, file := range files {
		subjects = append(subjects, Subject{file.Name, digest(file.Data)})
	}
	return subjects
}

// checkNames says what is wrong with the names of files that are to be sealed,
// and with which; "" when nothing is.
func checkNames(files []File) (name, fault string) {
	if len(files) == 0 {
		return "", "there must be a file to seal"
	}
	for i, file := range files {
		switch {
		case !validName(file.Name):
			return file.Name, "a name must be relative, stay in its folder, and hold no control character and no backslash"
		case strings.EqualFold(file.Name, EnvelopeName), strings.EqualFold(file.Name, dataPackage), strings.EqualFold(file.Name, packageDigest):
			return file.Name, "a name is that of the envelope, or of the list of a WACZ"
		case i > 0 && files[i-1].Name == file.Name:
			return file.Name, "a name occurs twice"
		case i > 0 && files[i-1].Name > file.Name:
			return file.Name, "a file is out of order"
		}
	}
	return "", ""
}

// Sign makes an SSH signature over a message, in the namespace of tidegate.
type Sign func(ctx context.Context, message []byte) (armored []byte, err error)

// payloadType is the type of an in-toto statement in an envelope.
const payloadType = "application/vnd.in-toto+json"

// envelope is a DSSE envelope: a payload with its signatures, of which we write
// one. Its signature is that of an SSH key as ssh-keygen writes it, or the bare
// one of an Ed25519 key, which every reader of DSSE can verify.
type envelope struct {
	Payload     []byte              `json:"payload"`
	PayloadType string              `json:"payloadType"`
	Signatures  []envelopeSignature `json:"signatures"`
}

type envelopeSignature struct {
	KeyID string `json:"keyid"` // the fingerprint of the key
	Sig   []byte `json:"sig"`
}

// encode writes e as it stands in a sealed file.
func (e envelope) encode() ([]byte, error) { return codec.MarshalFile(e) }

// signedMessage is what is signed: the payload together with its type, so that
// neither can be mistaken for another.
func signedMessage(payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// enclose signs payload and puts it into an envelope.
func enclose(ctx context.Context, key *Key, payload []byte) (envelope, error) {
	message := signedMessage(payload)
	var sig []byte
	if key.bare {
		plain, err := key.signPlain(ctx, message)
		if err != nil {
			return envelope{}, err
		}
		sig = plain.Blob
	} else {
		armored, err := key.Sign(ctx, message)
		if err != nil {
			return envelope{}, err
		}
		sig = armored
	}
	return envelope{payload, payloadType, []envelopeSignature{{key.Fingerprint(), sig}}}, nil
}

// disclose verifies the envelope in data and returns its payload. Every byte of
// data counts: what is not signed must be as encode writes it.
func disclose(data []byte, signers *Signers, at time.Time) (payload []byte, signer Signer, err error) {
	e, err := parseEnvelope(data)
	if err != nil {
		return nil, Signer{}, err
	}
	message, sig := signedMessage(e.Payload), e.Signatures[0]
	if len(sig.Sig) == ed25519.SignatureSize {
		signer, err = signers.verifyBare(message, sig.Sig, sig.KeyID, at)
	} else if signer, err = signers.verifyPlain(message, sig.Sig, at); err == nil && sig.KeyID != signer.Fingerprint {
		err = tampered(nil, "the envelope says that it was signed by another key than %s", signer.Fingerprint)
	}
	return e.Payload, signer, err
}

// parseEnvelope reads an envelope with one signature, written as encode does.
func parseEnvelope(data []byte) (e envelope, err error) {
	doc, err := codec.Parse(data)
	if err != nil {
		return e, tampered(nil, "the envelope is not JSON: %w", err)
	}
	sig := codec.NewObject()
	if list := doc.Get("signatures").Elems(); len(list) == 1 {
		sig = list[0]
	}
	e = envelope{
		Payload:     unbase64(doc.Get("payload")),
		PayloadType: doc.Get("payloadType").Str(),
		Signatures:  []envelopeSignature{{KeyID: sig.Get("keyid").Str(), Sig: unbase64(sig.Get("sig"))}},
	}
	// Anything that was not understood, or could be written in another way, is
	// missing or different when the envelope is written again.
	again, err := e.encode()
	if err != nil || !bytes.Equal(again, data) || e.PayloadType != payloadType {
		return e, tampered(nil, "the envelope is not written as a DSSE envelope with one signature is written here")
	}
	return e, nil
}

// unbase64 is what v holds, nothing when it is not base64.
func unbase64(v *codec.Value) []byte {
	data, _ := base64.StdEncoding.DecodeString(v.Str())
	return data
}

// PredicateType says what the predicate of a statement is about: a run that was
// sealed.
const PredicateType = "https://tidegate.dev/sealed-run/v1"

// statementType is what makes a document an in-toto statement.
const statementType = "https://in-toto.io/Statement/v1"

// statement is an in-toto statement (v1): what a predicate says about files, which
// are named by their digests.
type statement struct {
	Type          string       `json:"_type"`
	Subject       []subject    `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     *codec.Value `json:"predicate"`
}

type subject struct {
	Name   string `json:"name"`
	Digest struct {
		SHA256 string `json:"sha256"`
	} `json:"digest"`
}

// statementShape is the statement as we read it. Further fields are allowed, as
// in-toto demands; they are signed like the rest.
var statementShape = codec.Table(
	codec.Field{Name: "_type", Shape: codec.OneOf(statementType)},
	codec.Field{Name: "subject", Shape: codec.List(codec.Table(
		codec.Field{Name: "name", Shape: codec.NotBlank()},
		codec.Field{Name: "digest", Shape: codec.Table(codec.Field{Name: "sha256", Shape: codec.NotBlank()})},
	), 1)},
	codec.Field{Name: "predicateType", Shape: codec.OneOf(PredicateType)},
	codec.Field{Name: "predicate", Shape: codec.MapOf(codec.Anything())},
)

// about is the statement over files, by the SHA-256 of each.
func about(subjects []Subject, predicateType string, predicate *codec.Value) statement {
	s := statement{Type: statementType, PredicateType: predicateType, Predicate: predicate}
	for _, each := range subjects {
		sub := subject{Name: each.Name}
		sub.Digest.SHA256 = each.SHA256
		s.Subject = append(s.Subject, sub)
	}
	return s
}

// Subject is a file that a statement is about.
type Subject struct{ Name, SHA256 string }

// Attest writes an in-toto statement about files that lie elsewhere, as one line
// of JSON: bare or, with a key, in a DSSE envelope signed by it. It returns the
// errors of [Key.Sign].
func Attest(ctx context.Context, key *Key, subjects []Subject, predicateType string, predicate *codec.Value) ([]byte, error) {
	payload, err := codec.MarshalLine(about(subjects, predicateType, predicate))
	if err != nil || key == nil {
		return payload, err
	}
	enclosed, err := enclose(ctx, key, payload)
	if err != nil {
		return nil, err
	}
	return codec.MarshalLine(enclosed)
}

// digest is the SHA-256 of data as in-toto writes it.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// compare reads a statement and returns its predicate when its subjects are
// exactly files, which are in byte order of their names.
func compare(payload []byte, files []File) (predicate *codec.Value, err error) {
	doc, err := codec.Parse(payload)
	if err != nil {
		return nil, tampered(nil, "the statement is not JSON: %w", err)
	}
	if err := statementShape.Check(doc); err != nil {
		return nil, tampered(nil, "the statement is not an in-toto statement of ours: %s", tidegate.AsError(err).Message)
	}
	signed := map[string]string{}
	for _, sub := range doc.Get("subject").Elems() {
		name := sub.Get("name").Str()
		if _, twice := signed[name]; twice {
			return nil, tampered(tidegate.Pairs("file", name), "the statement names a file twice: %q", name)
		}
		signed[name] = sub.Get("digest").Get("sha256").Str()
	}
	for _, file := range files {
		want, named := signed[file.Name]
		if !named {
			return nil, tampered(tidegate.Pairs("file", file.Name), "a file was added that was not sealed: %q", file.Name)
		}
		if got := digest(file.Data); got != want {
			return nil, tampered(tidegate.Pairs("file", file.Name, "sealed", "sha256:"+want, "found", "sha256:"+got), "a file is not as it was sealed: %q", file.Name)
		}
		delete(signed, file.Name)
	}
	for _, sub := range doc.Get("subject").Elems() {
		if name := sub.Get("name").Str(); signed[name] != "" {
			return nil, tampered(tidegate.Pairs("file", name), "a file that was sealed is missing: %q", name)
		}
	}
	return doc.Get("predicate"), nil
}
