package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/internal/cli"
	"github.com/tidegate/tidegate/tool"
)

type soundIn struct {
	Harbour string `json:"harbour" path:"absolute" jsonschema:"the folder"`
	Log     string `json:"log,omitzero" path:"absolute" jsonschema:"where to write" writes:"true"`
}

type soundOut struct {
	OK codec.True `json:"ok"`
}

// A watched call is repeated when something it reads has changed, and not for
// what it writes itself, even into the folder that is watched.
func TestWatch(t *testing.T) {
	harbour := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(harbour, name), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("depth", "3")
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		sound := tool.New(tool.Spec{
			Name: "harbour_sound", Set: "toy", Summary: "Sound a harbour.", Effect: tool.WritesOnRequest,
			Command: &tool.Command{
				Path:     "harbour sound",
				Operands: []tool.Operand{{Name: "HARBOUR", Field: "harbour", About: "the folder"}},
				Watch:    func(args *codec.Value) []string { return []string{args.Get("harbour").Str()} },
			},
		}, func(_ context.Context, in soundIn) (soundOut, error) {
			write("log", strings.Repeat("x", int(calls.Add(1))))
			return soundOut{}, nil
		})
		program := cli.Program{Tools: []*tool.Tool{sound}, Stdout: io.Discard, Stderr: io.Discard, Dir: harbour}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan int)
		go func() {
			ended <- program.Run(ctx, []string{"harbour", "sound", harbour, "--log", filepath.Join(harbour, "log"), "--watch"})
		}()
		expect := func(want int64, after string) {
			t.Helper()
			time.Sleep(5050 * time.Millisecond) // never wakes together with the watcher
			if got := calls.Load(); got != want {
				t.Errorf("%d calls after %s, want %d", got, after, want)
			}
		}
		expect(1, "the start")
		write("depth", "12")
		expect(2, "a change")
		write("chart", "new")
		expect(3, "a new file")
		if err := os.Remove(filepath.Join(harbour, "chart")); err != nil {
			t.Error(err)
		}
		expect(4, "a file is gone")
		cancel()
		if status := <-ended; status != 0 {
			t.Errorf("exit status %d after an interrupt", status)
		}
	})
}
