package codec

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is "sha256:" and the hexadecimal SHA-256 of the canonical form of v.
// It panics for a value that JSON cannot hold, which no document that was read
// and no result type of this module can be.
func Digest(v any) string {
	sum := sha256.New()
	out := bufio.NewWriter(sum)
	if err := writeCanonical(out, v); err != nil {
		panic(fmt.Sprintf("codec: digest of %T: %v", v, err))
	}
	_ = out.Flush() // a hash takes everything
	return DigestOf(sum)
}

// DigestBytes is "sha256:" and the hexadecimal SHA-256 of data.
func DigestBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// DigestReader is [DigestBytes] of all that r gives. It returns the errors of r.
func DigestReader(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return DigestOf(sum), nil
}

// DigestOf is [DigestBytes] of all that was written to sum, a SHA-256 hash.
func DigestOf(sum hash.Hash) string { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }

// writeCanonical writes the form of RFC 8785. A document with a long list is
// written piece by piece, any other at once.
func writeCanonical(out *bufio.Writer, v any) error {
	value, ok := v.(*Value)
	if !ok || !value.holdsText() {
		data, err := Canonical(v)
		if err == nil {
			_, err = out.Write(data)
		}
		return err
	}
	if value.kind == Object {
		return writeCanonicalObject(out, value)
	}
	return writeCanonicalArray(out, value)
}

func writeCanonicalObject(out *bufio.Writer, v *Value) error {
	members := slices.Clone(v.members)
	slices.SortFunc(members, func(a, b Member) int {
		return slices.Compare(utf16.Encode([]rune(a.Key)), utf16.Encode([]rune(b.Key)))
	})
	for i, m := range members {
		_ = out.WriteByte("{,"[min(i, 1)])
		if err := writeCanonical(out, m.Key); err != nil {
			return err
		}
		_ = out.WriteByte(':')
		if err := writeCanonical(out, m.Value); err != nil {
			return err
		}
	}
	return out.WriteByte('}')
}

func writeCanonicalArray(out *bufio.Writer, v *Value) error {
	var failed error
	mark := byte('[')
	next := func() {
		_ = out.WriteByte(mark)
		mark = ','
	}
	if v.hasText() {
		var one jsontext.Value // used again for each
		v.large.each(func(_ int, dec *jsontext.Decoder) bool {
			next()
			text, err := dec.ReadValue()
			if one = append(one[:0], text...); err == nil {
				err = one.Canonicalize()
			}
			if err == nil {
				_, err = out.Write(one)
			}
			failed = err
			return err == nil
		})
	}
	for _, elem := range v.elems {
		if failed != nil {
			return failed
		}
		next()
		failed = writeCanonical(out, elem)
	}
	if failed != nil {
		return failed
	}
	return out.WriteByte(']')
}

// holdsText reports whether v is, or holds, a list of which text is kept.
func (v *Value) holdsText() bool {
	if v.hasText() {
		return true
	}
	if v == nil {
		return false
	}
	return slices.ContainsFunc(v.elems, (*Value).holdsText) ||
		slices.ContainsFunc(v.members, func(m Member) bool { return m.Value.holdsText() })
}
