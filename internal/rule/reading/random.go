package reading

import (
	"crypto/sha256"
	"encoding/binary"
)

func sum(text string) []byte {
	s := sha256.Sum256([]byte(text))
	return s[:SeedSize]
}

// random is a stream of numbers that a seed fixes, on every machine.
type random struct {
	seed [SeedSize]byte
	n    uint64
}

// below is a number from 0 up to, and not including, n.
func (r *random) below(n int) int {
	var block [SeedSize + 8]byte
	copy(block[:], r.seed[:])
	binary.BigEndian.PutUint64(block[SeedSize:], r.n)
	r.n++
	s := sha256.Sum256(block[:])
	return int(binary.BigEndian.Uint64(s[:]) % uint64(n))
}

// shuffled is a list in another order.
func shuffled[T any](r *random, list []T) []T {
	out := append([]T{}, list...)
	for i := len(out) - 1; i > 0; i-- {
		k := r.below(i + 1)
		out[i], out[k] = out[k], out[i]
	}
	return out
}
