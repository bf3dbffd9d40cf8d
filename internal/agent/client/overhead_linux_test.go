package client_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// BenchmarkAttempt compares a driver with starting the bare program. The
// difference of the times is what a driver costs per attempt. MiB is the memory
// that the supervisor has to itself; mapped includes what it shares with the
// program whose file it runs.
func BenchmarkAttempt(b *testing.B) {
	bin := b.TempDir()
	self := must.Get(os.Executable())(b)
	must.Do(b, os.Symlink(self, filepath.Join(bin, "claude")))
	environ := []string{"PATH=" + bin, "HOME=" + bin, "STANDIN=plain"}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			out := must.Get(os.Create(filepath.Join(bin, "out")))(b)
			cmd := exec.Command(filepath.Join(bin, "claude"), "-p")
			cmd.Env, cmd.Stdin, cmd.Stdout = environ, strings.NewReader(task().Prompt), out
			must.Do(b, cmd.Run())
			out.Close()
		}
	})
	made := func(b *testing.B, environ []string, cells driver.Cells) driver.Driver {
		d := must.Get(client.New(driver.Settings{Driver: "claude", Env: []string{"STANDIN"}}, driver.Host{Environ: environ, Cells: cells}))(b)
		must.Get(driver.Check(b.Context(), d))(b)
		return d
	}
	b.Run("unconfined", func(b *testing.B) {
		d := made(b, environ, driver.Cells{Unconfined: true})
		for b.Loop() {
			must.Get(d.Run(b.Context(), task(), func(driver.Event) {}))(b)
		}
	})
	b.Run("driver", func(b *testing.B) {
		d := made(b, environ, driver.Cells{})
		for b.Loop() {
			must.Get(d.Run(b.Context(), task(), func(driver.Event) {}))(b)
		}
		b.StopTimer()
		// Its memory is measured while an agent that does not exit is there.
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		var own, all int
		made(b, append(environ, "STANDIN=hang after the answer"), driver.Cells{}).Run(ctx, task(), func(driver.Event) {
			own, all = supervisorMemory()
			cancel()
		})
		b.ReportMetric(float64(own)/1024, "MiB")
		b.ReportMetric(float64(all)/1024, "MiB-mapped")
	})
}

// supervisorMemory is the memory, in KiB, of the supervisor of this process that
// has most: what it has to itself, and that together with what it shares.
func supervisorMemory() (own, all int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, _ := os.ReadFile(file); !strings.HasPrefix(string(line), "tidegate-supervisor") {
			continue
		}
		memory, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "smaps_rollup"))
		figure := func(name string) (size int) {
			_, text, _ := strings.Cut(string(memory), "\n"+name+":")
			fmt.Sscan(text, &size)
			return size
		}
		own, all = max(own, figure("Private_Clean")+figure("Private_Dirty")), max(all, figure("Rss"))
	}
	return own, all
}
