// Package git asks git about a project: where its repository is, which files it has and as
// which trees, and how its versions differ. git runs nothing of a repository here: which
// files there are comes from git, and their content is read by this program. A [Keeper]
// writes files with a repository of its own, for which the project's settings count for
// nothing.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// gitLimit is how long git may take for one answer. A variable, because tests do
// not wait that long.
var gitLimit = 10 * time.Second

// maxAnswer is how much git may say, in bytes: the names of a million files.
const maxAnswer = 128 << 20

var errNoRepository = errors.New("not a git repository")

// gitOptions keep a hostile repository from running anything: no hook, no file
// system monitor, no transport that would fetch a missing object. Nothing that is
// asked of git reads the content of a file of the work tree, so no filter,
// textconv or external diff comes into play; objects are read as they are. git's
// check of the owner guards against what is switched off here, and would stop
// every call in a container.
var gitOptions = []string{
	"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.untrackedCache=false",
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "diff.external=",
	"-c", "protocol.allow=never",
	"-c", "submodule.recurse=false",
	"-c", "safe.directory=*",
}

// gitEnvironment is what git gets of our own environment: where programs and the
// user's configuration are. Nothing in it can point git to another repository or
// make it run a program.
func gitEnvironment() []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Ask asks git about the folder dir and returns what it says. It fails with
// errNoRepository where there is no repository, and with what git complains of
// otherwise.
func Ask(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return AskWith(ctx, dir, nil, args...)
}

// AskWith is git with something to read.
func AskWith(ctx context.Context, dir string, input []byte, args ...string) ([]byte, error) {
	return Run(ctx, dir, nil, input, args...)
}

// Run is askGit with more in its environment. Options may stand before the
// command.
func Run(ctx context.Context, dir string, env []string, input []byte, args ...string) ([]byte, error) {
	answer := &bounded{limit: maxAnswer}
	err := answer.ask(ctx, dir, env, input, args...)
	switch {
	case err == nil:
		return answer.text, nil
	case answer.full:
		return nil, errors.New("git lists too many files")
	}
	return nil, err
}

// gitBegins is git of whose answer only the first bytes are wanted.
func gitBegins(ctx context.Context, dir string, bytes int, args ...string) ([]byte, error) {
	answer := &bounded{limit: bytes}
	if err := answer.ask(ctx, dir, nil, nil, args...); err != nil && !answer.full {
		return nil, err
	}
	return answer.text, nil
}

// Ask has git write its answer to b.
func (b *bounded) ask(ctx context.Context, dir string, env []string, input []byte, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, gitLimit, fmt.Errorf("git gave no answer within %v", gitLimit))
	defer cancel()
	complaint := &bounded{limit: 4 << 10}
	cmd := exec.CommandContext(ctx, "git", append(gitOptions, args...)...)
	cmd.Dir, cmd.Env = dir, append(gitEnvironment(), env...)
	cmd.Stdout, cmd.Stderr = b, complaint
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil || b.full:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bytes.Contains(complaint.text, []byte("not a git repository (or any")):
		return errNoRepository
	}
	if line, _, _ := strings.Cut(strings.TrimPrefix(string(complaint.text), "fatal: "), "\n"); line != "" {
		err = errors.New(line)
	}
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return fmt.Errorf("git %s: %w", args[0], err)
}

// bounded keeps what is written to it up to a limit, and fails beyond it.
type bounded struct {
	text  []byte
	limit int
	full  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-len(b.text))
	b.text = append(b.text, p[:room]...)
	if room < len(p) {
		b.full = true
		return room, errors.New("too much text")
	}
	return room, nil
}
