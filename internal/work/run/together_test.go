package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestChangesMadeTogetherStandAsIfEachWasMadeAlone compares two runs: one whose
// changes share transactions, and one where each has its own.
func TestChangesMadeTogetherStandAsIfEachWasMadeAlone(t *testing.T) {
	refused := errors.New("refused")
	write := func(name string, then error) func(*run.Update) error {
		return func(u *run.Update) error {
			u.Log(run.EventProgress, "test", tidegate.Pairs("name", name, "before", u.LastLine()))
			if err := u.Write(name, []byte(name)); err != nil {
				return err
			}
			return then
		}
	}
	changes := []func(*run.Update) error{
		write("a/1.md", nil),
		write("b/refused.md", refused),
		write("a/2.md", nil),
		write("../out.md", nil),
		func(u *run.Update) error { return u.SetBudget("tries", 2, "a document") },
		write("a/3.md", nil),
		func(u *run.Update) error { return u.Remove(run.ScopeFile + ".not") },
		write("a/4.md", nil),
	}
	alone, together := runs.Create(t, run.InitInput{}).Root, filepath.Join(t.TempDir(), "copy")
	must.Do(t, os.CopyFS(together, os.DirFS(alone)))
	var apart []error
	r := runs.Open(t, filepath.Join(alone, run.ManifestFile))
	for _, change := range changes {
		_, err := r.Update(t.Context(), change)
		apart = append(apart, err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	list := []run.Change{{Ctx: gone, Do: write("a/nobody-waits.md", nil)}}
	for _, change := range changes {
		list = append(list, run.Change{Ctx: t.Context(), Do: change})
	}
	errs := runs.Open(t, filepath.Join(together, run.ManifestFile)).UpdateTogether(t.Context(), list...)
	if tidegate.CodeOf(errs[0]) != tidegate.Cancelled {
		t.Errorf("a change that nobody waits for: %v", errs[0])
	}
	if got, want := fmt.Sprint(errs[1:]), fmt.Sprint(apart); got != want || !errors.Is(errs[2], refused) {
		t.Errorf("errors %s, want %s", got, want)
	}
	if diff := cmp.Diff(filesIn(t, alone), filesIn(t, together)); diff != "" {
		t.Errorf("the folders differ (-alone +together):\n%s", diff)
	}
}

// filesIn are the files in a folder.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[name] = must.Read(t, filepath.Join(dir, name))
		}
		return err
	}))
	return files
}

// TestAnUpdateKnowsWhatOthersWrote changes a run through two openings in turn: each
// knows up to which line the log may be the other's.
func TestAnUpdateKnowsWhatOthersWrote(t *testing.T) {
	root := runs.Create(t, run.InitInput{}).Root
	manifest := filepath.Join(root, run.ManifestFile)
	hands := map[string]*run.Run{"mine": runs.Open(t, manifest), "another": runs.Open(t, manifest)}
	lines, mine := 0, 0 // in the log, and up to which of them the other hand may have written
	for i, hand := range []string{"mine", "mine", "another", "another", "mine", "mine", "another", "mine"} {
		var others, end int
		must.Get(hands[hand].Update(t.Context(), func(u *run.Update) error {
			others = u.OthersWrote()
			if i == 0 {
				lines = u.LastLine()
			}
			u.Log(run.EventProgress, "test", tidegate.Pairs("i", i))
			if err := u.Write("a.md", fmt.Append(nil, i)); err != nil {
				return err
			}
			end = u.LastLine() + 1 // the digest of the file follows
			return nil
		}))(t)
		if hand == "mine" && i > 0 && others != mine {
			t.Errorf("update %d: others wrote up to line %d, want %d", i, others, mine)
		}
		if i == 0 {
			mine = lines // it is not known who wrote before
			if others != mine {
				t.Errorf("the first update: others wrote up to line %d, want %d", others, mine)
			}
		}
		if hand == "another" {
			mine = end
		}
	}
}
