//go:build !windows

package cli

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is a command line as a person would type it.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", "-c", line)
}

// inGroup gives a command its own process group. The end of its context ends the
// whole group.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
