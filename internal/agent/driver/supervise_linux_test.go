package driver_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// TestASupervisorIsUsedAgain has agents name their parent. It does not run beside
// parallel tests, which share the supervisors.
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

// TestAnAgentGetsPlainStreamsAndNothingElse has an agent look at its open files: its
// reads block, and it has none of the files that the program was started with.
func TestAnAgentGetsPlainStreamsAndNothingElse(t *testing.T) {
	driver.EndResting()
	secret, err := os.Create(filepath.Join(t.TempDir(), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	inherited, err := syscall.Dup(int(secret.Fd())) // without close-on-exec, as a shell leaves it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	d, err := driver.New(driver.Settings{Driver: `exec:sh -c 'for n in 0 1 2; do grep flags /proc/self/fdinfo/$n; done; ls -l /proc/self/fd'`}, driver.Host{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := d.Run(t.Context(), driver.Task{Prompt: "look"}, func(driver.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(answer.Text, "secret") {
		t.Errorf("the agent has a file of the program:\n%s", answer.Text)
	}
	flags := 0
	for line := range strings.Lines(answer.Text) {
		word, ok := strings.CutPrefix(line, "flags:")
		if !ok {
			continue
		}
		flags++
		if mode, err := strconv.ParseInt(strings.TrimSpace(word), 8, 64); err != nil || mode&syscall.O_NONBLOCK != 0 {
			t.Errorf("a stream of the agent does not wait: %s", line)
		}
	}
	if flags != 3 {
		t.Errorf("%d streams:\n%s", flags, answer.Text)
	}
}
