package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
)

// TestDemoOnManyMachines drives the run of the demo twice, with the local pool and with
// an embedded server, two workers and a home as processes, and compares every file.
func TestDemoOnManyMachines(t *testing.T) {
	question := "Harbour: should the port replace two of its four tugs with electric ones?"
	research := []string{"research", question, "--agent", "recorded:demo", "--parallel", "1", "--yes"}
	const now = "TIDEGATE_NOW=2026-03-02T09:00:00Z"

	// Both runs have the same path, which stands in their files.
	data, here := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "local")
	env := []string{now, "XDG_DATA_HOME=" + data}
	local := beginAs(t, "local", env, research...)
	if status := local.ends(); status != 0 {
		t.Fatalf("the local pool: exit status %d\n%s", status, local.text())
	}
	must.Do(t, os.Rename(data, here))

	_, address := beginServer(t)
	ofHome, ofWorkers := newCollector(t), newCollector(t)
	worker := func() *process {
		return beginWorker(t, address, []string{ofWorkers.variable}, "--agent", "recorded:demo", "--parallel", "1")
	}
	workers := []*process{worker(), worker()}
	far := begin(t, append(env, ofHome.variable), append(research, "--address", address, "--metrics", "127.0.0.1:0")...)
	far.says(`Metrics are at (\S+)`)
	if status := far.ends(); status != 0 {
		t.Fatalf("the pool on Temporal: exit status %d\n%s", status, far.text())
	}
	if ofHome.got.Load() == 0 {
		t.Error("the home sent no spans")
	}
	until(t, "the workers send spans", func() bool { return ofWorkers.got.Load() > 0 })

	want, got := tree(t, filepath.Join(here, "tidegate", "runs")), tree(t, filepath.Join(data, "tidegate", "runs"))
	if names := slices.Sorted(maps.Keys(want)); !slices.Equal(names, slices.Sorted(maps.Keys(got))) {
		t.Fatalf("the runs have different files:\n%q\n%q", names, slices.Sorted(maps.Keys(got)))
	}
	if len(want) < 100 {
		t.Fatalf("the run has %d files only", len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if a, b := comparable(t, name, want[name]), comparable(t, name, got[name]); !bytes.Equal(a, b) {
			t.Errorf("%s differs:\n%s\n---\n%s", name, firstDifference(a, b), firstDifference(b, a))
		}
	}

	done := 0
	for _, w := range workers {
		n := bytes.Count([]byte(w.text()), []byte(": answered ("))
		if n == 0 {
			t.Errorf("a worker did nothing:\n%s", w.text())
		}
		done += n
	}
	t.Logf("two workers did %d tasks", done)
}

// What differs between any two processes: their numbers, and the worker that has a
// session.
var machine = regexp.MustCompile(`process \d+|"process":\s*\d+|worker-[0-9a-f]{16}:`)

// The log and the archive are in the order of time, for the local pool too: answers
// are judged, and their sources fetched, while the next agent works. Documents about
// them have digests that go with that order.
var ordered = regexp.MustCompile(`"(seq|tx|offset)":\s*\d+|sha256:[0-9a-f]{64}`)

// comparable is what has to be the same of a file.
func comparable(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	data = machine.ReplaceAll(data, nil)
	switch path.Base(name) {
	case "audit.head":
		return nil
	case "audit.jsonl":
		return sorted(ordered.ReplaceAll(data, nil), "\n")
	case "index.json", "gates.json", "manifest.json", "summary-pack.json":
		return ordered.ReplaceAll(data, nil)
	case "archive.warc.gz":
		unpacked, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(unpacked); err != nil {
			t.Fatal(err)
		}
		return sorted(data, "WARC/1.1\r\n")
	}
	return data
}

func sorted(data []byte, separator string) []byte {
	parts := strings.Split(string(data), separator)
	slices.Sort(parts)
	return []byte(strings.Join(parts, separator))
}

// firstDifference is the part of a where it begins to differ from b.
func firstDifference(a, b []byte) []byte {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-100):min(len(a), i+200)]
}

// collector takes spans as one of OpenTelemetry does, and counts.
type collector struct {
	variable string // by which a program sends them there
	got      atomic.Int32
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.variable = "OTEL_EXPORTER_OTLP_ENDPOINT=http://" + proxy.Start(t, "127.0.0.1:1", func(_ context.Context, method string, _ func() ([]byte, error)) ([]byte, error) {
		if method == "Export" {
			c.got.Add(1)
		}
		return nil, nil
	})
	return c
}
