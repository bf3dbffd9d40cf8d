package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/setclock"
)

// TestClocksOfMachinesDiffer drives the run of the demo while the clocks of the home and
// of its worker are hours apart from each other and from that of the server: the run is
// completed, no job is leased but for an attempt or accepted twice, the worker was paid
// for nothing that the home does not have, the run agrees with its record, and every time
// in its log is one of the home's.
func TestClocksOfMachinesDiffer(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	setclock.Copy(t, os.Args[0], program)
	_, address := beginServer(t)
	for name, ahead := range map[string]struct{ home, worker time.Duration }{
		"home-ahead-worker-behind": {7 * time.Hour, -9 * time.Hour},
		"home-behind-worker-ahead": {-7 * time.Hour, 9 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := func(ahead time.Duration, env []string, args ...string) *process {
				return beginBy(t, func(c *exec.Cmd) error {
					setclock.Start(t, c, func(int) time.Duration { return ahead })
					return nil
				}, program, "far", env, append(args, "--address", address, "--queue", name, "--agent", "recorded:demo")...)
			}
			worker := begin(ahead.worker, nil, "work")
			worker.says("takes tasks of the queue")
			data := t.TempDir()
			env := []string{"XDG_DATA_HOME=" + data, "XDG_CONFIG_HOME=" + t.TempDir()}
			began := time.Now().Add(ahead.home).Add(-time.Second) // times in the log have no fractions
			home := begin(ahead.home, env, "research", "Harbour: should the port replace two of its four tugs with electric ones?", "--yes")
			if status := home.ends(); status != 0 {
				t.Fatalf("exit status %d", status)
			}
			ended := time.Now().Add(ahead.home)
			for _, command := range []string{"verify", "replay"} {
				if p := beginAs(t, "local", env, "run", command, "harbour"); p.ends() != 0 {
					t.Errorf("run %s:\n%s", command, p.text())
				}
			}
			leases, accepted := 0, map[string]int{}
			for line := range strings.Lines(readLog(t, data)) {
				var entry struct {
					At       time.Time `json:"ts"`
					Kind     string    `json:"kind"`
					Job      string    `json:"job_id"`
					Accepted bool      `json:"accepted"`
				}
				must.Do(t, json.Unmarshal([]byte(line), &entry))
				if entry.At.Before(began) || entry.At.After(ended) {
					t.Errorf("the home worked from %v to %v, and the log says %s", began, ended, line)
				}
				switch {
				case entry.Kind == "job_lease" || entry.Kind == "job_takeover":
					leases++
				case entry.Accepted:
					accepted[entry.Job]++
				}
			}
			if len(accepted) < 10 {
				t.Errorf("%d jobs were accepted", len(accepted))
			}
			for job, n := range accepted {
				if n != 1 {
					t.Errorf("%s was accepted %d times", job, n)
				}
			}
			kept := func(file string) int {
				found := must.Get(filepath.Glob(filepath.Join(data, "tidegate", "runs", "harbour", "jobs", "*", "*", file)))(t)
				return len(found)
			}
			if n := kept("attempt.json"); n != leases {
				t.Errorf("%d leases, and %d attempts", leases, n)
			}
			if n, done := kept("answer-*"), strings.Count(worker.text(), ": answered ("); n != done {
				t.Errorf("the worker answered %d times, and the home has %d answers", done, n)
			}
		})
	}
}
