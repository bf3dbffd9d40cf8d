package setclock_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/setclock"
)

func init() {
	if os.Getenv("TELLS_TIME") == "" {
		return
	}
	began := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := time.Now()
		os.Stdout.WriteString(now.UTC().Format(time.RFC3339) + " " + now.Sub(began).Round(time.Hour).String() + "\n")
	}
	os.Exit(0)
}

// TestAProgramSeesTheClockThatIsSet: its time of day jumps, and its durations do not.
func TestAProgramSeesTheClockThatIsSet(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	setclock.Copy(t, os.Args[0], program)
	command := exec.Command(program)
	command.Env = append(os.Environ(), "TELLS_TIME=1")
	in := must.Get(command.StdinPipe())(t)
	out := must.Get(command.StdoutPipe())(t)
	var now atomic.Int64
	setclock.Start(t, command, func(int) time.Duration { return time.Duration(now.Load()) })
	lines := bufio.NewScanner(out)
	for _, off := range []time.Duration{0, 5 * time.Hour, -26 * time.Hour, 0} {
		now.Store(int64(off))
		want := time.Now().Add(off)
		in.Write([]byte("\n"))
		if !lines.Scan() {
			t.Fatal(lines.Err(), command.Wait())
		}
		text := lines.Text()
		got, err := time.Parse(time.RFC3339, text[:20])
		if err != nil || got.Sub(want).Abs() > time.Hour || text[21:] != "0s" {
			t.Errorf("off by %v: %q, %v", off, text, err)
		}
	}
	in.Close()
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}
