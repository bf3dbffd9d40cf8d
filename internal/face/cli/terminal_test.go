package cli_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
)

// sail is a tool that takes a while for each of four legs.
func sail(leg time.Duration) *tool.Tool {
	return tool.New(tool.Spec{
		Name: "boat_sail", Set: "toy", Summary: "Sail a boat.", Effect: tool.Reads,
		Command: &tool.Command{Path: "boat sail", Short: "Sail a boat", Example: "tidegate boat sail"},
	}, func(_ context.Context, call tool.Caller, _ struct{}) (struct {
		OK codec.True `json:"ok"`
	}, error) {
		for done := range 4 {
			time.Sleep(leg)
			call.Progress(done+1, 4)
		}
		return struct {
			OK codec.True `json:"ok"`
		}{}, nil
	})
}

func TestProgressIsShownOnATerminalAfterAMoment(t *testing.T) {
	const wiped = "\r\x1b[K"
	for _, tt := range []struct {
		name     string
		leg      time.Duration
		terminal bool
		want     string
	}{
		{"a long call", 200 * time.Millisecond, true,
			wiped + "boat sail [======================        ] 3/4" + wiped + "boat sail [==============================] 4/4" + wiped},
		{"a short call", 10 * time.Millisecond, true, ""},
		{"no terminal", 10 * time.Second, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				program := cli.Program{
					Tools: []*tool.Tool{sail(tt.leg)}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: "/harbour",
					Terminal: cli.Terminal{Progress: tt.terminal},
				}
				if status := program.Run(t.Context(), []string{"boat", "sail"}); status != 0 {
					t.Fatalf("exit status %d: %s", status, errs.String())
				}
				if errs.String() != tt.want {
					t.Errorf("stderr is %q, want %q", errs.String(), tt.want)
				}
				if want := "{\n  \"ok\": true\n}\n"; out.String() != want {
					t.Errorf("stdout is %q, want %q", out.String(), want)
				}
			})
		})
	}
}

// TestWhatIsSlowIsNamed waits for two things. One has a name that would act on a
// terminal and is too long for one.
func TestWhatIsSlowIsNamed(t *testing.T) {
	slow := tool.New(tool.Spec{
		Name: "boat_wait", Set: "toy", Summary: "Wait for a boat.", Effect: tool.Reads,
		Command: &tool.Command{Path: "boat wait", Short: "Wait for a boat", Example: "tidegate boat wait"},
	}, func(_ context.Context, call tool.Caller, _ struct{}) (struct {
		OK codec.True `json:"ok"`
	}, error) {
		for _, what := range []string{"https://slow.example/", "https://\x1b[2J.example/" + strings.Repeat("x", 100), ""} {
			time.Sleep(time.Second)
			call.Waiting(what, 7*time.Second)
			call.Progress(1, 3)
		}
		return struct {
			OK codec.True `json:"ok"`
		}{}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		program := cli.Program{Tools: []*tool.Tool{slow}, Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: &errs, Dir: "/harbour", Terminal: cli.Terminal{Progress: true, ErrWidth: 100}}
		program.Run(t.Context(), []string{"boat", "wait"})
		const bar = "\r\x1b[Kboat wait [==========                    ] 1/3"
		hostile := bar[4:] + ", waiting 7 s for https://\\x1b[2J.example/" + strings.Repeat("x", 100)
		want := bar + ", waiting 7 s for https://slow.example/" + "\r\x1b[K" + hostile[:99] + bar + "\r\x1b[K"
		if errs.String() != want {
			t.Errorf("stderr is %q, want %q", errs.String(), want)
		}
	})
}

func TestColoursAreForTerminals(t *testing.T) {
	for _, color := range []bool{true, false} {
		var out bytes.Buffer
		program := cli.Program{
			Tools: []*tool.Tool{weigh()}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: new(bytes.Buffer), Dir: "/harbour",
			Terminal: cli.Terminal{Color: color},
		}
		program.Run(t.Context(), []string{"boat", "weigh", "jolly"})
		if got := strings.Contains(out.String(), "\x1b["); got != color {
			t.Errorf("colours %v, want %v: %q", got, color, out.String())
		}
	}
}

func TestLogLevel(t *testing.T) {
	for name, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	} {
		level := new(slog.LevelVar)
		level.Set(-100)
		program := cli.Program{Tools: []*tool.Tool{weigh()}, Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Log: level}
		if status := program.Run(t.Context(), []string{"version", "--log-level", name}); status != 0 || level.Level() != want {
			t.Errorf("--log-level %s: exit status %d, level %v", name, status, level.Level())
		}
	}
}

// TestJSONDoesNotActOnATerminal: what an agent wrote reaches a terminal as escapes,
// and a pipe byte for byte.
func TestJSONDoesNotActOnATerminal(t *testing.T) {
	echo := tool.New(tool.Spec{Name: "boat_hail", Set: "toy", Summary: "Hail a boat.", Effect: tool.Reads,
		Command: &tool.Command{Path: "boat hail", Short: "Hail a boat", Example: "tidegate boat hail"}},
		func(context.Context, tool.Caller, struct{}) (struct {
			OK   codec.True `json:"ok"`
			Said string     `json:"said"`
		}, error) {
			return struct {
				OK   codec.True `json:"ok"`
				Said string     `json:"said"`
			}{Said: "\u009b2J\u202e"}, nil
		})
	for _, args := range [][]string{{"boat", "hail", "--format", "json"}, {"call", "boat_hail", "--args", "{}"}} {
		for width, want := range map[int]string{0: "\u009b2J\u202e", 80: `\u009b2J\u202e`} {
			var out, errs bytes.Buffer
			program := cli.Program{Tools: []*tool.Tool{echo}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: "/harbour", Terminal: cli.Terminal{Width: width}}
			if status := program.Run(t.Context(), args); status != 0 || !strings.Contains(out.String(), want) {
				t.Errorf("%v at width %d: status %d, %q %s", args, width, status, out.String(), errs.String())
			}
		}
	}
}

// TestWhatIsSaidIsWrapped at the width of the terminal, in whole words.
func TestWhatIsSaidIsWrapped(t *testing.T) {
	tell := tool.New(tool.Spec{
		Name: "boat_tell", Set: "toy", Summary: "Tell of a boat.", Effect: tool.Reads,
		Command: &tool.Command{Path: "boat tell", Short: "Tell of a boat", Example: "tidegate boat tell"},
	}, func(_ context.Context, call tool.Caller, _ struct{}) (struct {
		OK codec.True `json:"ok"`
	}, error) {
		call.Say("the anchor stays aboard whatever the weather may be")
		return struct {
			OK codec.True `json:"ok"`
		}{}, nil
	})
	for width, want := range map[int]string{0: "the anchor stays aboard whatever the weather may be\n", 24: "the anchor stays aboard\n"} {
		var errs bytes.Buffer
		program := cli.Program{Tools: []*tool.Tool{tell}, Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: &errs, Dir: "/harbour", Terminal: cli.Terminal{ErrWidth: width}}
		if status := program.Run(t.Context(), []string{"boat", "tell"}); status != 0 || !strings.HasPrefix(errs.String(), want) {
			t.Errorf("at %d: %d, %q", width, status, errs.String())
		}
	}
}
