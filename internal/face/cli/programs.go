package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Notify runs a command of the person's by the system's shell, with data on its
// standard input, and waits for it. What it prints goes to stderr. When ctx ends,
// the command ends with everything that it started in its process group, and
// Notify returns the cause.
func (i Invocation) Notify(ctx context.Context, command string, data []byte) error {
	cmd := shell(ctx, command)
	inGroup(cmd)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = i.Dir, bytes.NewReader(data), i.Stderr, i.Stderr
	cmd.WaitDelay = time.Second // for processes that it left behind with its pipes open
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// NotifyTime is how long the command of --notify may take.
const NotifyTime = 10 * time.Second

// Tell hands a value as a line of JSON to the command of --notify, where one was named,
// and waits for it, at most for a time. A failure of that command is reported and changes
// nothing: what it is told of has already happened.
func (i Invocation) Tell(ctx context.Context, value any, most time.Duration) error {
	command := i.Flag("notify")
	if command == "" {
		return nil
	}
	data, err := codec.MarshalLine(value)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), most, errors.New("it took longer than "+most.String()+" and was stopped"))
	defer stop()
	if err := i.Notify(ctx, command, append(data, '\n')); err != nil {
		fmt.Fprintf(i.Stderr, "tidegate: --notify %s: %v\n", report.Visible(command), err)
	}
	return nil
}

// Edit lets the person edit a text in $VISUAL or $EDITOR and returns it as it was
// left. It returns INVALID_ARGS where neither is set, and READ_FAILED and
// WRITE_FAILED.
func (i Invocation) Edit(ctx context.Context, name string, text []byte) ([]byte, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if strings.TrimSpace(editor) == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("EDITOR", nil), "no editor is set: export EDITOR=vi, for example")
	}
	dir, remove, err := artifact.Scratch("tidegate-edit-")
	if err != nil {
		return nil, err
	}
	defer remove()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, tidegate.Errorf(tidegate.WriteFailed, nil, "the text to edit cannot be written: %w", err)
	}
	cmd := shell(ctx, editor+" "+name)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, i.Stdin, i.Stdout, i.Stderr
	if err := cmd.Run(); err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("EDITOR", editor), "%s ended with a failure: %w", editor, err)
	}
	edited, err := os.ReadFile(path)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the edited text cannot be read: %w", err)
	}
	return edited, nil
}
