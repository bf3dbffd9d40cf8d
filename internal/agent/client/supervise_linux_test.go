package client_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestASupervisorIsUsedAgain has agents name their parent. It does not run beside
// parallel tests, which share the supervisors.
func TestASupervisorIsUsedAgain(t *testing.T) {
	sandbox.EndResting()
	parentOf := func(command string) string {
		d := must.Get(client.New(driver.Settings{Driver: "exec:" + command}, driver.Host{Temp: t.TempDir()}))(t)
		answer := must.Get(d.Run(t.Context(), driver.Task{}, func(driver.Event) {}))(t)
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
	pid := must.Get(strconv.Atoi(first))(t)
	syscall.Kill(pid, syscall.SIGKILL)
	for { // until the last of its threads is gone, and its socket with it
		stat, err := os.ReadFile("/proc/" + first + "/stat")
		threads, _ := os.ReadDir("/proc/" + first + "/task")
		if err != nil || strings.Contains(string(stat), ") Z ") && len(threads) <= 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if other := parentOf(`sh -c 'echo $PPID'`); other == first {
		t.Errorf("the parent is %s, which was killed", other)
	}
}

// TestASwarmEnds has an agent leave processes that each start the next, in a session of
// its own, and end: whoever looks for them finds those that are gone. What outlives the
// attempt says so.
func TestASwarmEnds(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("no perl here")
	}
	many := 10
	if full.Asked() {
		many = 300 // which leave no process to other tests
	} else {
		t.Parallel()
	}
	outlived, script := filepath.Join(t.TempDir(), "outlived"), filepath.Join(t.TempDir(), "swarm.pl")
	must.Do(t, os.WriteFile(script, []byte(`use POSIX; %ENV = (); $end = time + 60;
for (1..$ARGV[1]) {
	$child = fork;
	next if !defined $child || $child;
	close STDIN; close STDOUT; close STDERR; chdir "/";
	while (time < $end) { $child = fork; exit if $child; POSIX::setsid() }
	open F, ">", $ARGV[0]; exit
}
print "hello"`), 0o600))
	d := must.Get(client.New(driver.Settings{Driver: fmt.Sprintf("exec:perl %s %s %d", script, outlived, many), Access: driver.Access{Write: []string{filepath.Dir(outlived)}}}, driver.Host{Temp: t.TempDir()}))(t)
	answer, err := d.Run(t.Context(), driver.Task{}, func(driver.Event) {})
	if err != nil || answer.Text != "hello" {
		t.Errorf("got %q, %v", answer.Text, err)
	}
	if _, err := os.Stat(outlived); err == nil {
		t.Error("a process outlived the attempt")
	}
}

// TestAnAgentGetsPlainStreamsAndNothingElse has an agent look at its open files: its
// reads block, and it has none of the files that the program was started with.
func TestAnAgentGetsPlainStreamsAndNothingElse(t *testing.T) {
	sandbox.EndResting()
	secret := must.Get(os.Create(filepath.Join(t.TempDir(), "secret")))(t)
	defer secret.Close()
	inherited, err := syscall.Dup(int(secret.Fd())) // without close-on-exec, as a shell leaves it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	d := must.Get(client.New(driver.Settings{Driver: `exec:sh -c 'for n in 0 1 2; do grep flags /proc/self/fdinfo/$n; done; ls -l /proc/self/fd'`}, driver.Host{Temp: t.TempDir()}))(t)
	answer := must.Get(d.Run(t.Context(), driver.Task{Prompt: "look"}, func(driver.Event) {}))(t)
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
