package reading

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// SeedSize is the length of a seed in bytes.
const SeedSize = 16

// Seed deals sentences and their twins.
type Seed [SeedSize]byte

// PinnedSeed is the seed of a round that is to be the same each time: under a pinned
// clock, and where the reader is a recording that has none.
func PinnedSeed(round int64, synthesisDigest string) Seed {
	return sum(fmt.Sprintf("%d\n%s", round, synthesisDigest))
}

func sum(text string) Seed {
	s := sha256.Sum256([]byte(text))
	return Seed(s[:SeedSize])
}

// of is the seed of what is drawn apart.
func (s Seed) of(what string) *random { return &random{seed: sum(string(s[:]) + what)} }

// random is a stream of numbers that a seed fixes, on every machine.
type random struct {
	seed Seed
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
