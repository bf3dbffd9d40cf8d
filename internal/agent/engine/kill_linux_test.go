package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// homeOf makes this test binary the home of a run; see TestKilledHomeLosesNothing.
const homeOf, agentOf = "TIDEGATE_TEST_HOME", "TIDEGATE_TEST_AGENT"

func TestMain(m *testing.M) {
	if manifest := os.Getenv(homeOf); manifest != "" {
		out, err := engine.Drive(context.Background(), manifest, homeOptions(os.Getenv(agentOf)))
		fmt.Println(out.Stage, out.Status, err)
		return
	}
	if project := os.Getenv(changeOf); project != "" {
		out, err := driveApproved(context.Background(), project)
		fmt.Println(out.Phase, out.WaitingFor, out.Reason, err)
		return
	}
	os.Exit(m.Run())
}

func homeOptions(agent string) engine.Options {
	program, err := client.New(driver.Settings{Driver: "exec:sh " + agent, Access: driver.Access{Write: []string{filepath.Dir(agent)}}}, driver.Host{})
	if err != nil {
		panic(err)
	}
	return engine.Options{Desk: run.Desk{Now: time.Now}, Wait: noWait,
		Pool: &engine.Local{Drivers: func(string) []driver.Driver { return []driver.Driver{program} }}}
}

// TestKilledHomeLosesNothing kills the process that drives a run again and again,
// at random moments, and then lets it end.
func TestKilledHomeLosesNothing(t *testing.T) {
	full.Story(t)
	t.Parallel()
	count, kills := 1, 3
	if full.Asked() {
		count, kills = 50, 6
	}
	taken := 0
	for i := range count {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, uint64(i)))
			agent := slowAtFirst(t)
			manifest, desk := newRun(t, nil)
			for range kills {
				home := exec.Command(os.Args[0])
				home.Env = append(os.Environ(), homeOf+"="+manifest, agentOf+"="+agent)
				must.Do(t, home.Start())
				timer := time.AfterFunc(time.Duration(100+random.IntN(500))*time.Millisecond, func() { home.Process.Kill() })
				home.Wait()
				timer.Stop()
			}
			out, err := engine.Drive(t.Context(), manifest, homeOptions(agent))
			if err != nil || out.Stage != run.Citations {
				t.Fatalf("%s, %v", shown(out), err)
			}
			account(t, manifest, desk, 4)
			r := runs.Open(t, manifest)
			for _, id := range []string{"wave1.figures", "wave1.doubts", "wave1.records"} {
				if has, err := r.Jobs().Of(id); err != nil || len(has.Attempts) != 2 {
					t.Errorf("%s has the attempts %v, %v: a kill used a try", id, has.Attempts, err)
				}
			}
			events := must.Get(r.Events())(t)
			for _, e := range events {
				if e.Entry.Get("kind").Str() == "job_takeover" {
					taken++
				}
			}
			verify(t, manifest)
		})
	}
	if taken == 0 {
		t.Error("no home was killed while it had a lease")
	}
}

// slowAtFirst is an agent that takes longer than its home lives the first time it is
// asked, and whose first attempt at every job is bad.
func slowAtFirst(t *testing.T) (script string) {
	t.Helper()
	dir := t.TempDir()
	script = filepath.Join(dir, "agent.sh")
	for name, text := range map[string]string{
		"good.md": answerText,
		"agent.sh": `seen=` + dir + `/seen-$TIDEGATE_JOB
[ -e "$seen" ] || { touch "$seen"; sleep 2; }
case $TIDEGATE_KIND in
perspectives) sed -n '/^## Example$/,/^## Answer$/p' | sed -n '/^{$/,/^}$/p' ;;
*) if [ $TIDEGATE_ATTEMPT = 1 ]; then echo no; else cat ` + filepath.Join(dir, "good.md") + `; fi ;;
esac
`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return script
}
