package driver_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate/driver"
)

// TestASupervisorIsUsedAgain has agents tell who their parent is. It takes no part
// in parallel tests, which share the supervisors.
func TestASupervisorIsUsedAgain(t *testing.T) {
	driver.EndResting()
	parentOf := func(command string) string {
		d, err := driver.New(driver.Settings{Driver: "exec:" + command}, driver.Host{Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := d.Run(t.Context(), driver.Task{}, func(driver.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(answer.Text)
	}
	first := parentOf(`sh -c 'echo $PPID'`)
	// What an agent leaves is gone before the next one comes.
	left := parentOf(`sh -c '(setsid sleep 1000 >/dev/null & echo $!)'`)
	if pid, err := strconv.Atoi(left); err != nil || syscall.Kill(pid, 0) != syscall.ESRCH {
		t.Errorf("the process %q is still there", left)
	}
	if again := parentOf(`sh -c 'echo $PPID'`); again != first {
		t.Errorf("the second agent has the parent %s, the first had %s", again, first)
	}
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	for { // until the last of its threads is gone, and its socket with it
		stat, err := os.ReadFile("/proc/" + first + "/stat")
		threads, _ := os.ReadDir("/proc/" + first + "/task")
		if err != nil || strings.Contains(string(stat), ") Z ") && len(threads) <= 1 {
			break
		}
	}
	if other := parentOf(`sh -c 'echo $PPID'`); other == first {
		t.Errorf("the parent is %s, which was killed", other)
	}
}
