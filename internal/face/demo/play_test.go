package demo_test

import (
	"bytes"
	"context"
	"errors"
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
	player := &demo.Player{Out: &out, Folder: filepath.Join(t.TempDir(), "demo"), Run: func(context.Context, []string) int { calls++; return 70 }}
	err := player.Play(t.Context())
	if tidegate.CodeOf(err) != tidegate.Internal || !strings.Contains(err.Error(), "step 1 ended with exit status 70") {
		t.Errorf("got %v", err)
	}
	if calls != 1 {
		t.Errorf("%d commands ran", calls)
	}
}

func TestTheStoryNeedsAFolderOfItsOwn(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "precious.txt"), []byte("x"), 0o600))
	player := &demo.Player{Out: new(bytes.Buffer), Folder: folder, Run: func(context.Context, []string) int { return 0 }}
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
		Run:   func(context.Context, []string) int { return 0 },
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
		Run: func(context.Context, []string) int { calls++; cancel(); return 0 },
	}
	if err := player.Play(ctx); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d commands, %v", calls, err)
	}
}
