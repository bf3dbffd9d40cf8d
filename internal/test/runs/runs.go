// Package runs makes runs for tests, changes their files behind the program's back,
// and looks at what became of them. What cannot be done ends the test.
package runs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch" // runs of tests lie in memory
	"github.com/tidegate/tidegate/internal/work/run"
)

// Pinned is a desk whose time stands still.
var Pinned = run.Desk{Pinned: true, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }}

// Create makes a run in a folder of its own, with a question and an id where in has
// none.
func Create(t testing.TB, in run.InitInput) run.InitResult {
	t.Helper()
	if in.Query == "" {
		in.Query = "What moves the tide?"
	}
	if in.RunID == "" {
		in.RunID = "r1"
	}
	return CreateAt(t, Pinned, in)
}

// CreateAt makes a run in a folder of its own at a desk.
func CreateAt(t testing.TB, desk run.Desk, in run.InitInput) run.InitResult {
	t.Helper()
	out := must.Get(run.Create(t.Context(), desk, t.TempDir(), in))(t)
	return out
}

// Open opens a run until the test ends.
func Open(t testing.TB, manifestPath string) *run.Run {
	t.Helper()
	return OpenAt(t, Pinned, manifestPath)
}

// OpenAt is [Open] at another desk.
func OpenAt(t testing.TB, desk run.Desk, manifestPath string) *run.Run {
	t.Helper()
	r := must.Get(run.Open(t.Context(), desk, manifestPath))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// Put writes a file of a run behind its back.
func Put(t testing.TB, root, name, content string) {
	t.Helper()
	must.Write(t, filepath.Join(root, filepath.FromSlash(name)), content)
}

// Parse is the value of a JSON text.
func Parse[T string | []byte](t testing.TB, text T) *codec.Value {
	t.Helper()
	v := must.Get(codec.Parse([]byte(text)))(t)
	return v
}

// WantCode ends the test unless err has the code.
func WantCode(t testing.TB, err error, code tidegate.Code) *tidegate.Error {
	t.Helper()
	if tidegate.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return tidegate.AsError(err)
}

// Rechain rewrites the log of a run, or of another folder that is kept, as a whole: every line changed, chained again, under a new head.
func Rechain(t testing.TB, root string, change func(line string) string) {
	t.Helper()
	path := filepath.Join(root, "logs/audit.jsonl")
	prev, count, out := artifact.FirstPrev, 0, ""
	for line := range strings.Lines(must.Read(t, path)) {
		body, _, found := strings.Cut(strings.TrimSuffix(line, "\n"), `,"prev":"`)
		if !found {
			t.Fatalf("a line without a chain: %s", line)
		}
		line = change(body) + `,"prev":"` + prev + `"}`
		prev, count, out = codec.DigestBytes([]byte(line)), count+1, out+line+"\n"
	}
	Put(t, root, "logs/audit.jsonl", out)
	Put(t, root, "logs/audit.head", fmt.Sprintf(`{"lines":%d,"digest":%q,"size":%d}`+"\n", count, prev, len(out)))
}
