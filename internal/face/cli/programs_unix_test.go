//go:build !windows

package cli_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate/internal/face/cli"
)

// TestNotifyEndsWithItsContext has a command that never ends and ignores requests
// to end, with a child like itself. When the context ends both are killed, and the
// cause is returned.
func TestNotifyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Skipf("there are no pipes with names here: %v", err)
	}
	gone := make(chan error)
	go func() {
		_, err := os.ReadFile(held) // ends when nobody has it open any more
		gone <- err
	}()
	ctx, cancel := context.WithCancelCause(t.Context())
	tooLong := errors.New("it took too long")
	out, in := io.Pipe()
	go func() {
		bufio.NewReader(out).ReadString('\n')
		cancel(tooLong)
		io.Copy(io.Discard, out)
	}()
	i := cli.Invocation{Program: cli.Program{Dir: dir, Stderr: in}}
	if err := i.Notify(ctx, "exec 3>held; trap '' TERM INT HUP; sleep 1000 & echo begun; wait", []byte("{}\n")); !errors.Is(err, tooLong) {
		t.Errorf("Notify returns %v, want %v", err, tooLong)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}
