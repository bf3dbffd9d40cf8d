package change

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Hooks are the git hooks that can review, with what each does.
var Hooks = map[string]string{
	"pre-commit":  `"$tidegate" review run --staged`,
	"pre-push":    `"$tidegate" review run --committed`,
	"post-commit": `nohup "$tidegate" review run --head HEAD`,
}

// hookMark is the line by which a hook of ours is known.
const hookMark = "# This hook was made by `tidegate review hook install`."

// chained is the end of the name that a hook of somebody else gets, which ours runs
// first.
const chained = ".before-tidegate"

// HookInput says which hook is made.
type HookInput struct {
	Kind    string   // one of [Hooks]
	Program string   // the absolute path of this program
	Args    []string // for review run
	Chain   bool     // a hook of somebody else stays, and runs first
}

// InstallHook makes a git hook that reviews, and returns its path. It writes nothing
// over a hook that somebody else made.
//
// It returns INVALID_ARGS for a kind that is none, NOT_FOUND outside a git repository,
// ALREADY_EXISTS_CONFLICT for a hook of somebody else without Chain, INVALID_STATE where
// another tool keeps the hooks, and WRITE_FAILED.
func InstallHook(ctx context.Context, desk run.Desk, project string, in HookInput) (string, error) {
	folder, err := hooksOf(ctx, desk, project, in.Kind)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	does := Hooks[in.Kind]
	name := "hooks/" + in.Kind
	was, err := folder.ReadIfThere(name)
	if err != nil {
		return "", err
	}
	before := ""
	if was != nil && !bytes.Contains(was, []byte(hookMark)) {
		path := filepath.Join(folder.Path(), filepath.FromSlash(name))
		if taken, err := folder.ReadIfThere(name + chained); err != nil || taken != nil || !in.Chain {
			if err != nil {
				return "", err
			}
			return "", tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("hook", path), "%s is a hook of somebody else: --chain lets it run first, from %s", path, in.Kind+chained)
		}
		if err := folder.WriteProgram(name+chained, was); err != nil {
			return "", err
		}
	}
	if kept, err := folder.ReadIfThere(name + chained); err == nil && kept != nil {
		before = "\"$0" + chained + "\" \"$@\" || exit\n"
	}
	var args strings.Builder
	for _, arg := range in.Args {
		args.WriteString(" " + quoted(arg))
	}
	line := does + args.String()
	if in.Kind == "post-commit" {
		line += ` >"$(git rev-parse --git-dir)/tidegate-review.txt" 2>&1 </dev/null &`
	} else {
		what := strings.TrimPrefix(in.Kind, "pre-")
		line += " && exit\nstatus=$?\n[ -x \"$tidegate\" ] || echo \"tidegate: the program is gone, and with $0 goes this hook\" >&2\necho 'tidegate: the review stops this " + what + "; `git " + what +
			" --no-verify` goes without it' >&2\nexit $status"
	}
	text := "#!/bin/sh\n" + hookMark + "\n" + before + "tidegate=" + quoted(in.Program) + "\n" + line + "\n"
	return filepath.Join(folder.Path(), filepath.FromSlash(name)), folder.WriteProgram(name, []byte(text))
}

// RemoveHook removes a hook that [InstallHook] made, puts back the one that it runs first,
// and returns its path. It returns NOT_FOUND where there is none of ours, and what
// InstallHook returns about kinds and repositories.
func RemoveHook(ctx context.Context, desk run.Desk, project, kind string) (string, error) {
	folder, err := hooksOf(ctx, desk, project, kind)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	name := "hooks/" + kind
	path := filepath.Join(folder.Path(), filepath.FromSlash(name))
	was, err := folder.ReadIfThere(name)
	if err != nil {
		return "", err
	}
	if !bytes.Contains(was, []byte(hookMark)) {
		return "", tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("hook", path),
			"%s is no hook that `tidegate review hook install` made", path)
	}
	before, err := folder.ReadIfThere(name + chained)
	switch {
	case err != nil:
		return "", err
	case before == nil:
		return path, folder.Remove(name)
	}
	if err := folder.WriteProgram(name, before); err != nil {
		return "", err
	}
	return path, folder.Remove(name + chained)
}

// hooksOf opens the repository whose hooks of a kind are meant.
func hooksOf(ctx context.Context, desk run.Desk, project, kind string) (*artifact.Folder, error) {
	if Hooks[kind] == "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("KIND", tidegate.Cut(kind)),
			"KIND must be pre-commit, pre-push or post-commit, got %q", tidegate.Cut(kind))
	}
	if err := git.InWorkTree(ctx, project); err != nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("project", project),
			"there is no repository for a hook in %s: %w", project, err)
	}
	o, err := git.ReadOrigin(ctx, project)
	if err != nil {
		return nil, git.Unread(ctx, err)
	}
	for _, place := range []string{"--local", "--global"} {
		if elsewhere, err := git.Ask(ctx, project, "config", place, "--get", "core.hooksPath"); err == nil {
			at := strings.TrimSpace(string(elsewhere))
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("hooks", tidegate.Cut(at)),
				"core.hooksPath is %s, which another tool keeps: call `tidegate review run --staged` in its %s",
				tidegate.Cut(at), kind)
		}
	}
	return desk.Reach.Open("repository", o.Common)
}

// quoted is a word as a shell reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
