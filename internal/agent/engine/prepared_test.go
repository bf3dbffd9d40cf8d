package engine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// prepared is a run whose next job is its report. Obedient agents bring it there once, and
// tests of what comes then have copies.
type prepared struct {
	begin func(t *testing.T) (string, run.Desk)
	agent func(ctx context.Context, task driver.Task) (driver.Answer, error)
	fetch sourcing.Fetch
	once  sync.Once
	files fs.FS
}

var (
	researched = &prepared{begin: plainRun, agent: obedient, fetch: new(web).fetch}
	misled     = &prepared{begin: plainRun, agent: obedient, fetch: ordering}
	long       = &prepared{begin: longRun, agent: new(author).answer, fetch: library}
)

func plainRun(t *testing.T) (string, run.Desk) { return newSmallRun(t, nil) }

// longRun has a report that is written by parts.
func longRun(t *testing.T) (string, run.Desk) {
	return newLong(t, evidence.Shape{Length: "1600"}, 3)
}

func (p *prepared) newRun(t *testing.T, budget map[string]float64) (string, run.Desk) {
	t.Helper()
	desk := run.Desk{Now: time.Now}
	p.once.Do(func() { p.make(t) })
	if p.files == nil {
		t.Fatal("the run could not be prepared")
	}
	root := filepath.Join(t.TempDir(), "harbour")
	must.Do(t, os.CopyFS(root, p.files))
	manifest := filepath.Join(root, run.ManifestFile)
	setBudget(t, desk, manifest, budget)
	return manifest, desk
}

func (p *prepared) make(t *testing.T) {
	t.Helper()
	manifest, desk := p.begin(t)
	for {
		out, err := engine.Settle(t.Context(), desk, p.fetch, manifest, 0)
		if err != nil || out.WaitingFor != engine.ForAgents {
			t.Fatal(shown(out), err)
		}
		if out.Stage == run.Synthesis {
			break
		}
		b := boardOf(t, desk, manifest)
		for _, open := range out.Jobs {
			leased := must.Get(b.Lease(t.Context(), job.LeaseInput{Holder: "somebody", JobID: open.ID}))(t)
			answer, err := p.agent(t.Context(), driver.Task{Kind: leased.Kind, Job: leased.JobID, Prompt: leased.PromptMD})
			if err != nil {
				t.Fatal(err)
			}
			if verdict, err := b.Submit(t.Context(), job.SubmitInput{Token: leased.Token, Answer: []byte(answer.Text)}); err != nil || !verdict.Accepted {
				t.Fatal(shown(verdict), err)
			}
		}
	}
	files := must.Get(scratch.Files(filepath.Dir(manifest)))(t)
	p.files = files
}
