package driver_test

import (
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
	b.Run("driver", func(b *testing.B) {
		d, err := driver.New(driver.Settings{Driver: "claude", Env: []string{"STANDIN"}}, driver.Host{Environ: environ})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := driver.Check(b.Context(), d); err != nil {
			b.Fatal(err)
		}
		most := 0
		for b.Loop() {
			first := most == 0
			_, err := d.Run(b.Context(), task(), func(driver.Event) {
				if first {
					most = max(most, supervisorMemory())
				}
			})
			if err != nil {
				b.Fatal(err)
			}
		}
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
