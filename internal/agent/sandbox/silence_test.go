package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestSilenceOfAProgramIsCountedInBytes: one that has no words is silent when nothing
// comes on either stream, and only where a person set a limit.
func TestSilenceOfAProgramIsCountedInBytes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		file := must.Get(os.Create(filepath.Join(t.TempDir(), name)))(t)
		defer file.Close()
		files[i] = file
	}
	heard := &listener{Attempt: &Attempt{
		Task: driver.Task{Limits: driver.Limits{Idle: time.Minute, Step: time.Minute}}, Stream: &Text{}, Output: 1 << 10, Plain: true, Now: func() time.Time { return now },
	}, stdout: files[0], stderr: files[1], began: now, line: now, step: now}
	later := func(want reason) {
		t.Helper()
		now = now.Add(4 * time.Minute)
		heard.read()
		if got := heard.exceeded(now); got != want {
			t.Errorf("%d after %v, want %d", got, now.Sub(heard.began), want)
		}
	}
	later(exited)
	later(exited) // no limit
	heard.Task.Limits.Silence = 5 * time.Minute
	for i := range 4 {
		must.Get(files[i%2].WriteString("."))(t)
		later(exited)
	}
	later(exited)
	later(idle)
}
