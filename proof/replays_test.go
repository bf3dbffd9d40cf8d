package proof_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// places are what may happen to the folder of a run before it is replayed. Each
// returns where the run is then.
var places = []struct {
	name string
	take func(t *testing.T, root string) string
}{
	{"where it is", func(_ *testing.T, root string) string { return root }},
	{"copied", func(t *testing.T, root string) string {
		to := filepath.Join(filepath.Dir(root), "a copy", filepath.Base(root))
		must.Do(t, os.CopyFS(to, os.DirFS(root)))
		must.Do(t, os.RemoveAll(root))
		return to
	}},
	{"renamed", func(t *testing.T, root string) string {
		rename(t, root, root+" Ünter anderem")
		return root + " Ünter anderem"
	}},
	{"through a link", func(t *testing.T, root string) string {
		link := filepath.Join(filepath.Dir(filepath.Dir(root)), "link")
		must.Do(t, os.Symlink(filepath.Dir(root), link))
		return filepath.Join(link, filepath.Base(root))
	}},
	{"without the right to write", func(t *testing.T, root string) string {
		must.Do(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return os.Chmod(path, info.Mode().Perm()&^0o222)
		}))
		t.Cleanup(func() {
			filepath.Walk(root, func(path string, _ os.FileInfo, err error) error {
				os.Chmod(path, 0o700)
				return err
			})
		})
		return root
	}},
}

// TestRunsReplayTheSameEverywhere replays a run of each kind with the program, in each of the surroundings and places: nothing differs from
// what was recorded, what is said has the same bytes, and no byte of the run
// changes. The short form has one run, in the first and the last of them.
func TestRunsReplayTheSameEverywhere(t *testing.T) {
	t.Parallel()
	kinds := played.Kinds
	said := make([]atomic.Pointer[string], len(kinds))
	var replays atomic.Int64
	t.Cleanup(func() { t.Logf("%d replays", replays.Load()) })
	type way struct {
		name   string
		around int // one of the surroundings
		take   func(*testing.T, string) string
	}
	try := func(t *testing.T, i, around int, take func(*testing.T, string) string) {
		root := played.Lay(t, scratch.Short(t), kinds[i].Name)
		if where := surroundings[around]; where.files != nil {
			where.files(t, root)
		}
		before := snapshot(t, root)
		root = take(t, root)
		got := call(t, root, surroundings[around].env, surroundings[around].shell, surroundings[around].dir, "run replay $WORK --format json", nil)
		replays.Add(1)
		text := strings.ReplaceAll(string(got), root, "$RUN")
		if !said[i].CompareAndSwap(nil, &text) {
			if diff := cmp.Diff(*said[i].Load(), text); diff != "" {
				t.Errorf("%s is replayed otherwise (-want +got):\n%s", kinds[i].Name, diff)
			}
		}
		if v := parsed(t, got); !v.Get("pass").Bool() || len(v.Get("steps").Elems()) < 40 {
			t.Errorf("%s does not come out as it was: %s", kinds[i].Name, got)
		}
		if after := snapshot(t, root); !maps.EqualFunc(before, after, bytes.Equal) {
			t.Errorf("replaying %s has changed it:\n%s", kinds[i].Name, cmp.Diff(before, after))
		}
	}
	var ways []way
	for i := range surroundings {
		ways = append(ways, way{surroundings[i].name, i, places[0].take})
	}
	for _, place := range places {
		ways = append(ways, way{place.name, 0, place.take})
	}
	if !full.Asked() {
		kinds, ways = kinds[:1], []way{ways[0], ways[len(ways)-1]}
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			for j := range kinds {
				try(t, j, w.around, w.take)
			}
		})
	}
}
