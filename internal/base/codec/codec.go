// Package codec is the one way in and out for JSON.
//
// Reading is strict: duplicate keys, trailing data and invalid UTF-8 are
// errors with a position. Writing is stable: struct fields in declaration
// order, two-space indent, no HTML escaping, empty lists as [], so that the same
// value always gives the same bytes. Digests are SHA-256 over RFC 8785.
//
// It knows no schema of any document; [Shape] is the means by which other
// packages write theirs down.
package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tidegate/tidegate"
)

var marshalers = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(enc *jsontext.Encoder, details tidegate.Details) error {
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for _, d := range details {
			if err := enc.WriteToken(jsontext.String(d.Key)); err != nil {
				return err
			}
			if err := json.MarshalEncode(enc, d.Value, enc.Options()); err != nil {
				return err
			}
		}
		return enc.WriteToken(jsontext.EndObject)
	}),
))

var (
	wire = json.JoinOptions(marshalers, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
	line = json.JoinOptions(marshalers, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
)

// Marshal writes v as it goes over the wire: two-space indent, no final
// newline. Bytes that are not UTF-8 become U+FFFD. It fails only for values
// that JSON cannot hold, such as NaN or a channel.
func Marshal(v any) ([]byte, error) {
	// The encoder writes into the buffer's own memory, so that a large result
	// is in memory once.
	var out bytes.Buffer
	err := json.MarshalWrite(&out, v, wire)
	return out.Bytes(), err
}

// MarshalFile is [Marshal] with the final newline of a file.
func MarshalFile(v any) ([]byte, error) {
	data, err := Marshal(v)
	return append(data, '\n'), err
}

// MarshalFileTo writes what [MarshalFile] returns, piece by piece. It also
// returns the errors of w.
func MarshalFileTo(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, wire); err != nil {
		return err
	}
	_, err := w.Write([]byte("\n"))
	return err
}

// MarshalLine writes v on one line without white space and without newline.
func MarshalLine(v any) ([]byte, error) { return json.Marshal(v, line) }

// Canonical writes v in the form of RFC 8785.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v, line)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(data)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// True is the type of the field `ok` of a result: it always prints true, so no
// result can forget to set it.
type True struct{}

// MarshalJSON prints true.
func (True) MarshalJSON() ([]byte, error) { return []byte("true"), nil }

// UnmarshalJSON takes anything: whether a result that is read says true is for its reader
// to check.
func (*True) UnmarshalJSON([]byte) error { return nil }

// Digest is "sha256:" and the hexadecimal SHA-256 of the canonical form of v.
// It panics for a value that JSON cannot hold; no document that was read and no
// result type of this module is one.
func Digest(v any) string {
	data, err := Canonical(v)
	if err != nil {
		panic(fmt.Sprintf("codec: digest of %T: %v", v, err))
	}
	return DigestBytes(data)
}

// DigestBytes is "sha256:" and the hexadecimal SHA-256 of data.
func DigestBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return digestText(sum[:])
}

func digestText(sum []byte) string {
	text := append(make([]byte, 0, len("sha256:")+2*sha256.Size), "sha256:"...)
	return string(hex.AppendEncode(text, sum))
}

// DigestReader is [DigestBytes] of all that r gives. It returns the errors of r.
func DigestReader(r io.Reader) (string, error) {
	sum := sha256.New()
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	// Without its other methods a file is read into the buffer given.
	if _, err := io.CopyBuffer(sum, struct{ io.Reader }{r}, buffer[:]); err != nil {
		return "", err
	}
	return DigestOf(sum), nil
}

// buffers are what [DigestReader] reads into: most files are smaller than one.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// DigestOf is [DigestBytes] of all that was written to sum, a SHA-256 hash.
func DigestOf(sum hash.Hash) string { return digestText(sum.Sum(nil)) }

// Flag is 1 where something holds and otherwise 0, as metrics and sums have it.
func Flag(holds bool) int {
	if holds {
		return 1
	}
	return 0
}
