package dispatch

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// TestADriverThatEndsIsWaitedFor: between the last line of a run and the end of what drove it,
// a decision waits, and is taken afterwards; one about a run that does not come to rest is
// told that it is at work.
func TestADriverThatEndsIsWaitedFor(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			folder := t.TempDir()
			env := &Env{Dir: folder, Home: filepath.Join(folder, "runs"), ConfigDir: folder, Now: time.Now}
			made := must.Get(run.Create(t.Context(), env.Desk(artifact.Everywhere), env.Home, run.InitInput{Query: "Why tides?", RunID: "tides"}))(t)
			person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
			must.Get(stage.Pause(person, env.Desk(artifact.Everywhere), stage.ControlInput{ManifestPath: filepath.Join(made.Root, run.ManifestFile), Reason: "lunch"}))(t)
			w := must.Get(env.OpenBackground(t.Context(), 5))(t)
			defer w.End()
			w.driving["tides"] = make(chan struct{})
			answered := make(chan error, 1)
			go func() { answered <- w.Continue(person, "tides") }()
			synctest.Wait()
			select {
			case err := <-answered:
				t.Fatalf("while the driver ends, the answer is %v", err)
			default:
			}
			want := "the run is at work"
			if ends {
				w.mu.Lock()
				w.release("tides")
				w.mu.Unlock()
				want = "names none" // it gets as far as asking for agents
			}
			if err := <-answered; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the driver ends %v: %v", ends, err)
			}
		})
	}
}
