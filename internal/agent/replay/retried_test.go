package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestTriesThatWereGivenAgainAreReplayed: a person gives a job its tries again and
// again, each time with another note. The prompts come out as they were, with the note
// that stood then.
func TestTriesThatWereGivenAgainAreReplayed(t *testing.T) {
	t.Parallel()
	stuck := played.Kinds[slices.IndexFunc(played.Kinds, func(k played.Kind) bool { return k.Name == "needs-a-person" })]
	r := open(t, played.Drive(t, t.TempDir(), stuck))
	at := time.Date(2026, 2, 14, 13, 0, 0, 0, time.UTC)
	desk := run.Desk{Pinned: true, Now: func() time.Time { return at }}
	for _, note := range []string{"Name the tugs.", "Name all of them.", ""} {
		at = at.Add(time.Minute)
		board, err := job.OpenBoard(t.Context(), desk, r.ManifestPath())
		if err != nil {
			t.Fatal(err)
		}
		_, err = board.Retry(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), "synthesis", note, job.AnyAttempt)
		board.Close()
		if err != nil {
			t.Fatal(err)
		}
		out, err := engine.Drive(t.Context(), r.ManifestPath(), played.Options(desk, stuck.Agent))
		if err != nil || out.Status != run.Failed {
			t.Fatalf("%s %s %v", out.Status, out.Reason, err)
		}
	}
	result, err := replay.Run(t.Context(), open(t, r.Root()), "")
	if err != nil || !result.Pass || len(result.Left) > 0 {
		t.Errorf("%s %v %v", differences(result), result.Left, err)
	}
}

// TestARepairWithoutItsSessionIsReplayed: the agent that repairs an answer without the
// session of its author is shown the whole task, which is no difference. Less and more than
// that is one; the short form has more.
func TestARepairWithoutItsSessionIsReplayed(t *testing.T) {
	full.Story(t)
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "review-rounds")
	name := "jobs/synthesis.2/001/prompt-2.md"
	repair := must.Get(os.ReadFile(filepath.Join(root, name)))(t)
	task := must.Get(os.ReadFile(filepath.Join(root, "jobs/synthesis.2/001/prompt.md")))(t)
	for text, same := range map[string]bool{string(task) + "\n" + string(repair): true, string(task): false, string(task) + "\nmore" + string(repair): false} {
		if text == string(task) && !full.Asked() {
			continue
		}
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
		result := must.Get(replay.Run(t.Context(), open(t, root), ""))(t)
		at := slices.IndexFunc(result.Steps, func(s replay.Step) bool { return s.What == name })
		if at < 0 || result.Steps[at].Same != same {
			t.Errorf("%q: %s", text[:40], differences(result))
		}
	}
}
