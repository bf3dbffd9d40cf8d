package artifact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

func commitFiles(tb testing.TB, f *artifact.Folder, n int, data []byte) {
	l := must.Get(f.Lock(context.Background(), time.Now))(tb)
	defer l.Unlock()
	tx := l.Begin()
	for i := range n {
		must.Do(tb, tx.Write(fmt.Sprintf("summaries/%05d.md", i), data))
	}
	tx.Log("logs/audit.jsonl", map[string]any{"kind": "summary"})
	must.Do(tb, tx.Commit())
}

// A transaction of as many files as a large summary pack has, replacing the files
// of the one before.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 2, 5000} {
		b.Run(fmt.Sprintf("%d_files_of_5_KB", n), func(b *testing.B) {
			f := must.Get(artifact.Everywhere.Open("dir", b.TempDir()))(b)
			defer f.Close()
			data := bytes.Repeat([]byte("word "), 1024)
			for b.Loop() {
				commitFiles(b, f, n, data)
			}
		})
	}
}

// The cost of a line that is part of its transaction.
func BenchmarkLine(b *testing.B) {
	data := bytes.Repeat([]byte("word "), 1024)
	for _, files := range []int{0, 1} {
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("with_%d_files_recorded_%v", files, recorded), func(b *testing.B) {
				f := must.Get(artifact.Everywhere.Open("dir", b.TempDir()))(b)
				defer f.Close()
				l := must.Get(f.Lock(context.Background(), time.Now))(b)
				defer l.Unlock()
				for b.Loop() {
					tx := l.Begin()
					for range files {
						tx.Write("a.json", data)
					}
					if line := (event{Kind: "summary"}); recorded {
						tx.Record(auditLog, line)
					} else {
						tx.Log(auditLog, line)
					}
					must.Do(b, errors.Join(tx.Commit(), tx.LogError()))
				}
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	f := must.Get(artifact.Everywhere.Open("dir", b.TempDir()))(b)
	defer f.Close()
	data := bytes.Repeat([]byte("word "), 1024)
	for b.Loop() {
		must.Do(b, f.Write("a.md", data))
	}
}

// Opening is what a review does ten thousand times.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "a.md")
	must.Do(b, os.WriteFile(path, []byte("text\n"), 0o600))
	b.Run("os.Open", func(b *testing.B) {
		for b.Loop() {
			file, _ := os.Open(path)
			file.Close()
		}
	})
	b.Run("OpenFile", func(b *testing.B) {
		for b.Loop() {
			file, _ := artifact.Everywhere.OpenFile("path", path)
			file.Close()
		}
	})
	b.Run("Folder.Open", func(b *testing.B) {
		f, _ := artifact.Everywhere.Open("dir", dir)
		defer f.Close()
		for b.Loop() {
			file, _ := f.Open("a.md")
			file.Close()
		}
	})
}
