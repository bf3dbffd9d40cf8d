package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
)

type soundIn struct {
	Harbour string `json:"harbour" path:"absolute" jsonschema:"the folder"`
	Log     string `json:"log,omitzero" path:"absolute" jsonschema:"where to write" writes:"true"`
}

type soundOut struct {
	OK codec.True `json:"ok"`
}

// A watched call is repeated when something it reads has changed, but not for
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
		}, func(_ context.Context, _ tool.Caller, in soundIn) (soundOut, error) {
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

// On a terminal, a result is drawn over the one before, with marks where it
// differs; after one longer than the screen, the screen is cleared first.
func TestWatchRedrawsInPlace(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows int
		over string // what comes before the second result
	}{
		{"on a screen with room", 24, "\r\x1b[5A\x1b[J"},
		{"on a small screen", 4, "\x1b[2J\x1b[H"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			harbour := t.TempDir()
			depth := filepath.Join(harbour, "depth")
			write := func(text string) {
				if err := os.WriteFile(depth, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
			write("3")
			synctest.Test(t, func(t *testing.T) {
				sound := tool.New(tool.Spec{
					Name: "harbour_sound", Set: "toy", Summary: "Sound a harbour.", Effect: tool.Reads,
					Command: &tool.Command{
						Path:     "harbour sound",
						Operands: []tool.Operand{{Name: "HARBOUR", Field: "harbour", About: "the folder"}},
						Watch:    func(args *codec.Value) []string { return []string{args.Get("harbour").Str()} },
					},
				}, func(context.Context, tool.Caller, soundIn) (depthOut, error) {
					data, err := os.ReadFile(depth)
					return depthOut{Depth: string(data)}, err
				})
				var out bytes.Buffer
				program := cli.Program{Tools: []*tool.Tool{sound}, Stdout: &out, Stderr: io.Discard, Dir: harbour,
					Terminal: cli.Terminal{Width: 60, Size: func() (int, int) { return 60, tt.rows }}}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan int)
				go func() { ended <- program.Run(ctx, []string{"harbour", "sound", harbour, "--watch"}) }()
				time.Sleep(5050 * time.Millisecond)
				write("12")
				time.Sleep(5 * time.Second)
				cancel()
				<-ended
				want := "  depth:  3\n  quay:   long\n  \n  sounded\n  watching for changes; interrupt to stop\n" +
					tt.over + "› depth:  12\n  quay:   long\n  \n  sounded\n  watching for changes; interrupt to stop\n"
				if out.String() != want {
					t.Errorf("got  %q\nwant %q", out.String(), want)
				}
			})
		})
	}
}

type depthOut struct {
	OK    codec.True `json:"ok"`
	Depth string     `json:"depth"`
}

func (d depthOut) Report() report.Report {
	r := report.Report{Summary: "sounded"}
	r.Add(report.Fields{{Name: "depth", Value: d.Depth}, {Name: "quay", Value: "long"}})
	return r
}
