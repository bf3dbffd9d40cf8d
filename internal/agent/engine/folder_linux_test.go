package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// forgetful is a claude that answers with the example of the prompt which it wrote
// into a file of its folder in the turn before; without that file it answers badly.
// With EAGER it writes the file first.
const forgetful = `#!/bin/sh
case "$1" in
--version) echo '2.1.325 (Claude Code)'; exit;;
auth) exit;;
esac
[ -n "$EAGER" ] && cat > asked
answer='{}'
if [ -f asked ]; then
	answer="$(sed -n '/^## Example/,$p' asked | sed -n '/^` + "```" + `/,/^` + "```" + `/p' | sed '/^` + "```" + `/d; s/["\\]/\\&/g' | awk '{printf "%s\\n", $0}')"
fi
cat > asked
printf '{"type":"system","subtype":"init","session_id":"s1"}\n'
printf '%s' '{"type":"result","subtype":"success","session_id":"s1","result":"'
printf '%s' "$answer"
printf '"}\n'
`

// between is a pool in which something happens between the two turns of an attempt.
type between struct {
	engine.Pool
	do func(ctx context.Context)
}

func (b *between) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	if task.Kind != "perspectives" {
		return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "nothing more is asked"}
	}
	if task.Turn == 2 && b.do != nil {
		b.do(ctx)
		return driver.Answer{}, context.Cause(ctx)
	}
	return b.Pool.Do(ctx, task, note)
}

// TestFolderLivesUntilTheAttemptHasEnded follows the folder of an attempt on this
// machine, for each way in which the attempt ends.
func TestFolderLivesUntilTheAttemptHasEnded(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, environ ...string) (manifest string, desk run.Desk, pool *between, folders func() int) {
		bin, temp := t.TempDir(), t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(forgetful), 0o700))
		environ = append(environ, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		d := must.Get(client.New(driver.Settings{Driver: "claude", Env: []string{"EAGER"}}, driver.Host{Temp: temp, Environ: environ}))(t)
		manifest, desk = newRun(t, map[string]float64{"tries": 1})
		return manifest, desk, &between{Pool: &engine.Local{Drivers: func(string) []driver.Driver { return []driver.Driver{d} }}}, func() int {
			entries := must.Get(os.ReadDir(temp))(t)
			return len(entries)
		}
	}
	accepted := func(t *testing.T, desk run.Desk, manifest string) bool {
		j := must.Get(boardOf(t, desk, manifest).Job("perspectives"))(t)
		return j.State == "accepted" && j.Attempt == 1
	}

	t.Run("accepted at once", func(t *testing.T) {
		t.Parallel()
		manifest, desk, pool, folders := begin(t, "EAGER=1")
		drive(t, manifest, desk, pool)
		if !accepted(t, desk, manifest) || folders() != 0 {
			t.Errorf("accepted: %v, with %d folders left", accepted(t, desk, manifest), folders())
		}
	})
	t.Run("accepted after the repair", func(t *testing.T) {
		t.Parallel()
		manifest, desk, pool, folders := begin(t)
		drive(t, manifest, desk, pool)
		if !accepted(t, desk, manifest) || folders() != 0 {
			t.Errorf("accepted: %v, with %d folders left", accepted(t, desk, manifest), folders())
		}
	})
	t.Run("failed in the repair", func(t *testing.T) {
		t.Parallel()
		manifest, desk, pool, folders := begin(t)
		there := 0
		pool.do = func(context.Context) { there = folders() }
		out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Wait: noWait, Pool: pool})
		if err == nil && out.Status != run.Failed || there != 1 || folders() != 0 {
			t.Errorf("%s, %v: %d folders between the turns, %d afterwards", shown(out), err, there, folders())
		}
	})
	t.Run("cancelled by a person", func(t *testing.T) {
		t.Parallel()
		manifest, desk, pool, folders := begin(t)
		there := 0
		pool.do = func(ctx context.Context) {
			there = folders()
			if _, err := stage.Cancel(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person}), desk, stage.ControlInput{ManifestPath: manifest}); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
		}
		out := drive(t, manifest, desk, pool)
		if out.Status != run.Cancelled || there != 1 || folders() != 0 {
			t.Errorf("%s: %d folders between the turns, %d afterwards", shown(out), there, folders())
		}
	})
	t.Run("left to the next home", func(t *testing.T) {
		t.Parallel()
		manifest, desk, pool, folders := begin(t)
		ctx, stop := context.WithCancel(t.Context())
		pool.do = func(ctx context.Context) { stop(); <-ctx.Done() }
		if _, err := engine.Drive(ctx, manifest, engine.Options{Desk: desk, Wait: noWait, Pool: pool, Agents: agents}); tidegate.CodeOf(err) != tidegate.Cancelled {
			t.Fatalf("got %v", err)
		}
		if folders() != 1 {
			t.Fatalf("%d folders are left, want that of the attempt, which goes on", folders())
		}
		pool.do = nil
		drive(t, manifest, desk, pool)
		if !accepted(t, desk, manifest) || folders() != 0 {
			t.Errorf("accepted: %v, with %d folders left", accepted(t, desk, manifest), folders())
		}
	})
}
