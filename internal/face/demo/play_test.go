package demo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestACommandThatEndsOtherwiseEndsTheStory(t *testing.T) {
	var out bytes.Buffer
	calls := 0
	player := &demo.Player{Out: &out, Folder: filepath.Join(t.TempDir(), "demo"), Run: func(context.Context, []string, io.Writer) int { calls++; return 70 }}
	err := player.Play(t.Context())
	if tidegate.CodeOf(err) != tidegate.Internal || !strings.Contains(err.Error(), "step 1 ended with exit status 70") {
		t.Errorf("got %v", err)
	}
	if calls != 1 {
		t.Errorf("%d commands ran", calls)
	}
}

func TestALostOutputEndsTheStory(t *testing.T) {
	in, out := io.Pipe()
	must.Do(t, in.CloseWithError(errors.New("no space left")))
	player := &demo.Player{Out: out, Folder: filepath.Join(t.TempDir(), "demo"), Run: func(context.Context, []string, io.Writer) int {
		t.Error("a command runs that nobody sees")
		return 0
	}}
	if err := player.Play(t.Context()); tidegate.CodeOf(err) != tidegate.WriteFailed || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

func TestTheStoryNeedsAFolderOfItsOwn(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "precious.txt"), []byte("x"), 0o600))
	player := &demo.Player{Out: new(bytes.Buffer), Folder: folder, Run: func(context.Context, []string, io.Writer) int { return 0 }}
	if err := player.Play(t.Context()); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder was touched: %v %v", entries, err)
	}
}

func TestAPauseComesBetweenTwoStepsAndCanEndTheStory(t *testing.T) {
	stop := errors.New("enough")
	pauses := 0
	player := &demo.Player{
		Out: new(bytes.Buffer), Folder: filepath.Join(t.TempDir(), "demo"),
		Run:   func(context.Context, []string, io.Writer) int { return 0 },
		Pause: func(context.Context) error { pauses++; return stop },
	}
	if err := player.Play(t.Context()); !errors.Is(err, stop) || pauses != 1 {
		t.Errorf("%d pauses, %v", pauses, err)
	}
}

func TestNothingHappensAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	player := &demo.Player{
		Out: new(bytes.Buffer), Folder: filepath.Join(t.TempDir(), "demo"),
		Run: func(context.Context, []string, io.Writer) int { calls++; cancel(); return 0 },
	}
	if err := player.Play(ctx); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d commands, %v", calls, err)
	}
}

// TestATerminalIsShownThePartsThatMatter: on a terminal the story keeps the beginning and the end
// of what a command prints, and a file all of it; with pauses, and for pipes, nothing is left out.
func TestATerminalIsShownThePartsThatMatter(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		pause func(context.Context) error
		lines int
		kept  bool
	}{
		{"a terminal", 80, nil, 16, true},
		{"a pipe", 0, nil, 60, false},
		{"a terminal with pauses", 80, func(context.Context) error { return nil }, 60, false},
	} {
		var out bytes.Buffer
		folder := filepath.Join(t.TempDir(), "demo")
		player := &demo.Player{Out: &out, Folder: folder, Width: test.width, Pause: test.pause, Run: func(_ context.Context, _ []string, out io.Writer) int {
			for i := range 60 {
				fmt.Fprintf(out, "\x1b[1mline %d\x1b[0m", i+1) // a line may come in parts
				fmt.Fprintln(out)
			}
			return 70
		}}
		_ = player.Play(t.Context())
		shown := out.String()
		if n := strings.Count(shown, "mline "); n != test.lines || !strings.Contains(shown, "mline 1\x1b") || !strings.Contains(shown, "mline 60\x1b") || strings.Contains(shown, "… 44 lines that demo.txt has …") != test.kept {
			t.Errorf("%s is shown %d lines:\n%s", test.name, n, shown)
		}
		whole, err := os.ReadFile(filepath.Join(folder, demo.WholeFile))
		if (err == nil) != test.kept || test.kept && (strings.Count(string(whole), "\nline ") != 60 || !strings.HasPrefix(string(whole), "Should a harbour")) {
			t.Errorf("%s: %v\n%s", test.name, err, whole)
		}
	}
}
