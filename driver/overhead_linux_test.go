package driver_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/driver"
)

// BenchmarkAttempt compares a driver with starting the bare program. The
// difference of the times is what a driver costs per attempt; MiB is the most
// memory that the process had which is there because of the driver.
func BenchmarkAttempt(b *testing.B) {
	bin := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "claude")); err != nil {
		b.Fatal(err)
	}
	environ := []string{"PATH=" + bin, "HOME=" + bin, "STANDIN=plain"}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			out, err := os.Create(filepath.Join(bin, "out"))
			if err != nil {
				b.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(bin, "claude"), "-p")
			cmd.Env, cmd.Stdin, cmd.Stdout = environ, strings.NewReader(task().Prompt), out
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			out.Close()
		}
	})
	made := func(b *testing.B, environ []string) driver.Driver {
		d, err := driver.New(driver.Settings{Driver: "claude", Env: []string{"STANDIN"}}, driver.Host{Environ: environ})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := driver.Check(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		return d
	}
	b.Run("driver", func(b *testing.B) {
		d := made(b, environ)
		for b.Loop() {
			if _, err := d.Run(b.Context(), task(), func(driver.Event) {}); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		// Its memory is looked at while an agent that does not exit is there.
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		most := 0
		made(b, append(environ, "STANDIN=hang after the answer")).Run(ctx, task(), func(driver.Event) {
			most = max(most, supervisorMemory())
			cancel()
		})
		b.ReportMetric(float64(most)/1024, "MiB")
	})
}

// supervisorMemory is the most memory that a supervisor of this process had, in
// KiB.
func supervisorMemory() int {
	most := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, _ := os.ReadFile(file); !strings.HasPrefix(string(line), "tidegate-supervisor") {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		var size int
		if _, text, ok := strings.Cut(string(status), "VmHWM:"); ok {
			fmt.Sscan(text, &size)
		}
		most = max(most, size)
	}
	return most
}
