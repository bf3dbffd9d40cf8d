package client

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/must"
)

// streamOf is a stream of the client whose name a file begins with.
func streamOf(t testing.TB, file string) sandbox.Stream {
	name, _, _ := strings.Cut(filepath.Base(file), "-")
	for _, c := range clients {
		if c.name == name {
			return c.stream()
		}
	}
	t.Fatalf("%s is of no client", file)
	return nil
}

type outcome struct {
	Answer driver.Answer
	Error  *driver.Error
	Done   bool
	Events []driver.EventKind
	Tools  []string
}

// read reads a stream in pieces of at most size bytes.
func read(s sandbox.Stream, data []byte, size func() int) outcome {
	var o outcome
	for len(data) > 0 {
		n := min(max(1, size()), len(data))
		s.Take(data[:n], func(e driver.Event) {
			o.Events = append(o.Events, e.Kind)
			if e.Tool != "" {
				o.Tools = append(o.Tools, e.Tool)
			}
		})
		data = data[n:]
	}
	o.Done = s.Done()
	o.Answer, o.Error = s.Result("")
	return o
}

// The streams were recorded from the real clients, at a scripted model.
func TestStreamsOfTheRealClients(t *testing.T) {
	const text = "# Answer\n\n- first *point* [1]\n- second point – ünïcode ✓\n\n```go\nfunc main() {}\n```\n\n[1]: https://example.org/a\n"
	usage := func(requests int64) *driver.Usage {
		return &driver.Usage{Input: requests * 1234, Output: requests * 56}
	}
	cost := func(usd float64) *float64 { return &usd }
	for file, want := range map[string]struct {
		text  string // the beginning of the answer
		kind  driver.Kind
		wait  time.Duration
		usage *driver.Usage
		cost  *float64
		tools map[string]int
	}{
		"claude-text.jsonl":         {text: text, usage: &driver.Usage{Input: 1234 + 11 + 22, Output: 56}, cost: cost(0.006115400000000001)},
		"claude-write.jsonl":        {text: text, usage: &driver.Usage{Input: 2 * (1234 + 11 + 22), Output: 112}, cost: cost(0.012230800000000002), tools: map[string]int{"Write": 1}},
		"claude-empty.jsonl":        {usage: &driver.Usage{Input: 2 * (1234 + 11 + 22), Output: 112}, cost: cost(0.012230800000000002)},
		"claude-err-401.jsonl":      {kind: driver.Auth, usage: &driver.Usage{}, cost: cost(0)},
		"claude-err-429.jsonl":      {kind: driver.Rate, wait: 587 * time.Millisecond, usage: &driver.Usage{}, cost: cost(0)},
		"claude-err-500.jsonl":      {kind: driver.Unavailable, wait: 0, usage: &driver.Usage{}, cost: cost(0)},
		"claude-err-midclose.jsonl": {text: text, usage: &driver.Usage{Input: 2*1234 + 11 + 22, Output: 57}, cost: cost(0.011071400000000002)},
		"codex-text.jsonl":          {text: text, usage: usage(1)},
		"codex-write.jsonl":         {text: text, usage: usage(2), tools: map[string]int{"command_execution": 1}},
		"codex-empty.jsonl":         {usage: usage(1)},
		"codex-err-401.jsonl":       {kind: driver.Auth},
		"codex-err-500.jsonl":       {kind: driver.Unavailable},
		"codex-err-midclose.jsonl":  {kind: driver.Unavailable},
		"opencode-text.jsonl":       {text: text, usage: usage(1), cost: cost(0.0044826)},
		"opencode-write.jsonl":      {text: text, usage: usage(2), cost: cost(2 * 0.0044826), tools: map[string]int{"write": 1}},
		"opencode-empty.jsonl":      {usage: usage(1), cost: cost(0.0044826)},
		"opencode-err-401.jsonl":    {kind: driver.Auth},
		"gemini-text.jsonl":         {text: text, usage: usage(1)},
		"gemini-write.jsonl":        {text: text, usage: usage(2), tools: map[string]int{"write_file": 1}},
		"gemini-empty.jsonl":        {kind: driver.Empty, usage: usage(4)},
		"gemini-err-401.jsonl":      {kind: driver.Auth, usage: &driver.Usage{}},
	} {
		t.Run(file, func(t *testing.T) {
			data := must.Get(os.ReadFile(filepath.Join("testdata/streams", file)))(t)
			got := read(streamOf(t, file), data, func() int { return len(data) })
			if !got.Done || got.Answer.Session == "" {
				t.Errorf("done %v, session %q", got.Done, got.Answer.Session)
			}
			if kind, wait := kindOf(got.Error); kind != want.kind || wait != want.wait {
				t.Errorf("got %v after %v, want %q after %v", got.Error, wait, want.kind, want.wait)
			}
			if want.kind == "" && (!strings.HasPrefix(got.Answer.Text, want.text) || want.text == "" && got.Answer.Text != "") {
				t.Errorf("got the answer %q", got.Answer.Text)
			}
			if diff := cmp.Diff(want.usage, got.Answer.Usage); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.cost, got.Answer.CostUSD); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want.tools, got.Answer.ToolCalls); diff != "" {
				t.Error(diff)
			}
			for size := range 3 {
				if diff := cmp.Diff(got, read(streamOf(t, file), data, func() int { return size * 7 })); diff != "" {
					t.Errorf("in pieces of %d bytes: %s", size*7, diff)
				}
			}
		})
	}
}

func kindOf(err *driver.Error) (driver.Kind, time.Duration) {
	if err == nil {
		return "", 0
	}
	return err.Kind, err.Wait
}

// Reading ends whatever a client writes, and the pieces into which it is cut make
// no difference.
func FuzzStreams(f *testing.F) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) < 20 {
		f.Fatalf("%d streams, %v", len(files), err)
	}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(f)
		f.Add(data, uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		data = append(bytes.Clone(data), '\n')
		for _, c := range clients {
			whole := read(c.stream(), data, func() int { return len(data) })
			random := rand.New(rand.NewPCG(seed, 1))
			pieces := read(c.stream(), data, func() int { return random.IntN(200) })
			if diff := cmp.Diff(whole, pieces); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
	})
}

// The document and the package file name the versions that the code does.
func TestVersionsAreTheSameEverywhere(t *testing.T) {
	document := must.Get(os.ReadFile("../../../docs/setup.md"))(t)
	packages := must.Get(os.ReadFile("testdata/outsiders/package.json"))(t)
	for _, c := range clients {
		name := strings.TrimPrefix(c.get, "npm install -g ")
		for _, want := range []string{c.get, c.oldest + " or newer; tried with " + c.tested} {
			if !strings.Contains(string(document), want) {
				t.Errorf("docs/setup.md does not say %q", want)
			}
		}
		if want := `"` + name + `": "` + c.tested + `"`; !strings.Contains(string(packages), want) {
			t.Errorf("testdata/outsiders/package.json does not have %s", want)
		}
		if olderThan(c.tested, c.oldest) {
			t.Errorf("%s was tried with %s, which is older than %s", c.name, c.tested, c.oldest)
		}
	}
}
