package codec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"
)

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
