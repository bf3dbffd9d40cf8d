package seal_test

import (
	"context"
	"io"
	"testing"

	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/must"
)

// A run with an archive of 64 MiB.
var large = []seal.File{{Name: "evidence/archive.warc.gz", Data: make([]byte, 64<<20)}, {Name: "report.md", Data: []byte("# Report\n")}}

func BenchmarkWrite(b *testing.B) {
	key := open(b, inOpenSSH(seeded(1)))
	b.SetBytes(64 << 20)
	for b.Loop() {
		must.Do(b, seal.Write(context.Background(), io.Discard, key, large, predicate()))
	}
}

func BenchmarkOpen(b *testing.B) {
	key := open(b, inOpenSSH(seeded(1)))
	data, list := write(b, key, large), signers(b, "alice "+key.PublicKey())
	b.SetBytes(64 << 20)
	for b.Loop() {
		must.Get(seal.Open(data, list, noon))(b)
	}
}

func BenchmarkVerify(b *testing.B) {
	key := open(b, inOpenSSH(seeded(1)))
	sig, list := sign(b, key, "decision"), signers(b, "alice "+key.PublicKey())
	for b.Loop() {
		must.Get(list.Verify([]byte("decision"), sig, noon))(b)
	}
}
