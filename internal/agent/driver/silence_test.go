package driver

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSilenceOfAProgramIsCountedInBytes: one that has no words is silent when nothing
// comes on either stream, and only where a person set a limit.
func TestSilenceOfAProgramIsCountedInBytes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		file, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		files[i] = file
	}
	heard := &listener{attempt: &attempt{
		task: Task{Limits: Limits{Idle: time.Minute, Step: time.Minute}}, stream: &text{}, output: 1 << 10, plain: true, now: func() time.Time { return now },
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
	heard.task.Limits.Silence = 5 * time.Minute
	for i := range 4 {
		if _, err := files[i%2].WriteString("."); err != nil {
			t.Fatal(err)
		}
		later(exited)
	}
	later(exited)
	later(idle)
}
