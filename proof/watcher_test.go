package proof_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	reviewPath = "agentd/changes/c1/REVIEW.md"
	statePath  = "agentd/changes/c1/STATE.yaml"
)

// watcher reads files again and again while others write them.
type watcher struct {
	work  string
	first map[string]string          // the digest of each file at the beginning
	seen  map[string]map[string]bool // the digests of each file since
	looks int
}

// watched are the files to look at, each with a check that it is whole.
var watched = map[string]func(data []byte) bool{
	"runs/tides/manifest.json":          isDocument,
	"runs/tides/gates.json":             isDocument,
	"runs/tides/perspectives.json":      isDocument,
	"runs/tides/pivot.json":             isDocument,
	"runs/tides/wave-review.json":       isDocument,
	"runs/tides/wave-1/wave1-plan.json": isDocument,
	"runs/tides/wave-1/moon.md":         isOutput,
	"bare/summaries/summary-pack.json":  isDocument,
	"bare/summaries/moon.md":            endsWithLine,
	reviewPath:                          endsWithLine,
	statePath:                           endsWithLine,
}

func endsWithLine(data []byte) bool { return bytes.HasSuffix(data, []byte("\n")) }

func isDocument(data []byte) bool {
	_, err := codec.Parse(data)
	return err == nil && endsWithLine(data)
}

// isOutput demands that an output begins and ends with the same label.
func isOutput(data []byte) bool {
	label := labelRule.Find(data)
	return label == nil && bytes.HasPrefix(data, []byte("## ")) || label != nil && bytes.HasSuffix(data, append(label, '\n'))
}

func newWatcher(work string) *watcher {
	w := &watcher{work: work, first: map[string]string{}, seen: map[string]map[string]bool{}}
	for name := range watched {
		w.seen[name] = map[string]bool{}
		if data, err := os.ReadFile(filepath.Join(work, name)); err == nil {
			w.first[name] = codec.DigestBytes(data)
		}
	}
	return w
}

// replanned are the files that a replan takes away.
var replanned = map[string]bool{"runs/tides/wave-review.json": true, "runs/tides/wave-1/wave1-plan.json": true, "runs/tides/wave-1/moon.md": true}

// watch looks at the files at every tick, until ticks is closed. A file
// that was there once is always there, unless a replan takes it away.
func (w *watcher) watch(t *testing.T, ticks <-chan struct{}) {
	for range ticks {
		for name, whole := range watched {
			data, err := os.ReadFile(filepath.Join(w.work, name))
			switch {
			case errors.Is(err, fs.ErrNotExist) && (replanned[name] || w.first[name] == "" && len(w.seen[name]) == 0):
			case err != nil:
				t.Errorf("%s cannot be read: %v", name, err)
				return
			case !whole(data):
				t.Errorf("%s was seen in part:\n%s", name, data)
				return
			default:
				w.seen[name][codec.DigestBytes(data)] = true
				w.looks++
			}
		}
	}
}

// lookAround calls the reading tools in turn, one at every tick, until ticks is
// closed. They must understand every state that they meet. It acts as the worker
// after the last.
func lookAround(t *testing.T, work string, ticks <-chan struct{}, call caller) {
	questions := []command{
		{"deep_research_run_status", `{` + manifestArg + `}`},
		{"deep_research_run_log", `{` + manifestArg + `,"last":3}`},
		{"deep_research_wave_output_validate", `{` + perspectivesArg + `,"perspective_id":"moon","markdown_path":"$WORK/runs/tides/wave-1/moon.md"}`},
		{"review_show", `{"review_path":"$WORK/` + reviewPath + `"}`},
		{"change_status", `{"change_id":"c1"}`},
		{"deep_research_run_list", `{}`},
	}
	next := 0
	for range ticks {
		q := questions[next%len(questions)]
		next++
		out, err := call(workers(), q.tool, strings.ReplaceAll(q.args, "$WORK", work))
		if gone := bytes.Contains(out, []byte(`"`+tidegate.FileNotFound+`"`)); err == nil && gone && q.tool == "deep_research_wave_output_validate" {
			continue // missing until it is handed in again after a replan
		}
		if err != nil || !bytes.Contains(out, []byte(`"ok": true`)) {
			t.Errorf("%s while others write: %v\n%s", q.tool, err, out)
			return
		}
	}
}
