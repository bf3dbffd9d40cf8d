package proof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/setclock"
)

// jumps are by how much the clock of a program is off once it was set, and for how many
// of its looks; 0: to the end.
var jumps = []struct {
	name string
	by   time.Duration
	long int
}{
	{"forward", 5 * time.Hour, 0}, {"back", -5 * time.Hour, 0}, {"a month forward", 31 * 24 * time.Hour, 0}, {"a month back", -31 * 24 * time.Hour, 0},
	{"forward and back", 5 * time.Hour, 40}, {"back and forward", -5 * time.Hour, 40},
}

// TestClockJumpsInAProgram sets the clock of the program forward or back by hours while it
// takes the question of the demo to its report: at one look of it at the clock after the
// other. The run is completed, with the report that it has under a steady clock; every job
// was leased once, and the run agrees with its record.
func TestClockJumpsInAProgram(t *testing.T) {
	if !full.Asked() {
		t.Skip("it drives whole runs; engine/clock_test.go is its short form")
	}
	program := filepath.Join(t.TempDir(), "tidegate")
	setclock.Copy(t, binary, program)
	looks := 0
	want := clockRun(t, program, func(look int) time.Duration {
		looks = look
		return 0
	})
	if looks < 100 {
		t.Fatalf("the program looks at the clock %d times", looks)
	}
	const points = 25 // for each jump
	var tried atomic.Int32
	t.Cleanup(func() { t.Logf("%d jumps among %d looks at the clock", tried.Load(), looks) })
	for j, jump := range jumps {
		for at := 1 + j; at < looks; at += max(1, looks/points) {
			t.Run(fmt.Sprintf("%s at %d", jump.name, at), func(t *testing.T) {
				t.Parallel()
				tried.Add(1)
				got := clockRun(t, program, func(look int) time.Duration {
					if look < at || jump.long > 0 && look >= at+jump.long {
						return 0
					}
					return jump.by
				})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-steady +set):\n%s", diff)
				}
			})
		}
	}
}

// dayRule finds the days, times of day and minutes of work in a report.
var dayRule = regexp.MustCompile(`\d{1,2} [A-Z][a-z]+ 20\d\d(, \d\d:\d\d)?| · \d+ min`)

// clockRun is what a run of the demo comes to under a clock: its report, and how often
// each job was leased.
func clockRun(t *testing.T, program string, off setclock.Off) map[string]string {
	t.Helper()
	home := t.TempDir()
	command := func(program string, words ...string) *exec.Cmd {
		c := exec.Command(program, words...)
		c.Dir, c.Env = home, append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+home)
		return c
	}
	var out bytes.Buffer
	research := command(program, "research", "Harbour: should the port replace two of its four tugs with electric ones?", "--agent", "recorded:demo", "--yes")
	research.Stdout, research.Stderr = &out, &out
	setclock.Start(t, research, off)
	if err := research.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	for _, words := range [][]string{{"run", "verify", "harbour"}, {"run", "replay", "harbour"}} {
		if said, err := command(binary, words...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", words, err, said)
		}
	}
	report := must.Get(command(binary, "report", "harbour", "--format", "markdown").Output())(t)
	log := must.Get(os.ReadFile(filepath.Join(home, "runs", "harbour", "logs", "audit.jsonl")))(t)
	result := map[string]string{"report": dayRule.ReplaceAllString(string(report), "then")}
	leases := map[string]int{}
	for line := range bytes.Lines(log) {
		var entry struct {
			Kind string `json:"kind"`
			Job  string `json:"job_id"`
		}
		must.Do(t, json.Unmarshal(line, &entry))
		if entry.Kind == "job_lease" || entry.Kind == "job_takeover" {
			leases[entry.Job]++
		}
	}
	for job, n := range leases {
		result["leases of "+job] = fmt.Sprint(n)
	}
	return result
}
