package seal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

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
