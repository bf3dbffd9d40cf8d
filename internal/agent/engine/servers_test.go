package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestAgentsGetTheServersThatThePolicyNames looks at every task of two runs: one
// whose policy names a server, and one whose policy names none.
func TestAgentsGetTheServersThatThePolicyNames(t *testing.T) {
	t.Parallel()
	tidegate := driver.Server{Name: "tidegate", Command: "/bin/tidegate", Args: []string{"mcp", "--root", driver.FolderArg}}
	for _, named := range []bool{true, false} {
		in := run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour"}
		if named {
			in.Servers = []string{"tidegate", "unheard-of"}
		}
		desk := run.Desk{Now: time.Now}
		made := runs.CreateAt(t, desk, in)
		manifest := filepath.Join(made.Root, run.ManifestFile)
		judged := 0
		pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
			answer, err := obedient(ctx, task)
			if !named || task.Kind != "wave1" && task.Kind != "wave2" {
				if task.Tools.MCP != nil || task.Tools.Files || task.Tools.Write || task.Files != nil {
					t.Errorf("named %v: %s gets %+v and %v", named, task.Job, task.Tools, task.Files)
				}
				return answer, err
			}
			if diff := cmp.Diff([]driver.Server{tidegate}, task.Tools.MCP); diff != "" || !task.Tools.Files || task.Tools.Write {
				t.Errorf("%s gets %+v", task.Job, task.Tools)
			}
			// The contract in the folder judges as the run does.
			dir := t.TempDir()
			for name, text := range map[string]string{"perspectives.json": task.Files["perspectives.json"], "answer.md": answer.Text} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			if _, err := step.Validate(t.Context(), desk, step.ValidateInput{PerspectivesPath: filepath.Join(dir, "perspectives.json"),
				PerspectiveID: task.Job[len("wave1."):], MarkdownPath: filepath.Join(dir, "answer.md")}); err != nil {
				t.Errorf("%s: %v", task.Job, err)
			}
			judged++
			return answer, err
		}}
		out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: (&web{}).fetch, Wait: noWait, Parallel: 1,
			Servers: map[string]driver.Server{"tidegate": tidegate, "another": {Name: "another"}}})
		if err != nil || out.Status != run.Completed {
			t.Fatalf("%s, %v", shown(out), err)
		}
		if named != (judged > 3) {
			t.Errorf("named %v: %d outputs were judged", named, judged)
		}
	}
}
