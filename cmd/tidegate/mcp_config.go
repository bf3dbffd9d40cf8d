package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/tool"
)

func mcpConfigCommand(env *catalog.Env, tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path:  "mcp config",
		Short: "Tell an agent client about this server",
		Long: `Print the configuration that makes an agent client start "tidegate mcp", confined
to a folder. A team can share it: folders in the project are named relative to it
where the client allows that, which is all but codex, and the program by its name
when the PATH leads to this one. With --write it goes into the client's own file: what is there stays
as it is, byte for byte. Where that cannot be done safely - a file with comments, an
entry of the same name that says something else - nothing is written, and the
block is printed with the client's own command for adding it.

Files: claude-code .mcp.json, opencode opencode.json, gemini .gemini/settings.json,
cursor .cursor/mcp.json, vscode .vscode/mcp.json, all in the working folder; codex
config.toml in $CODEX_HOME or ~/.codex.`,
		Example: `tidegate mcp config --client claude-code --write
tidegate mcp config --client codex --root /srv/research
tidegate mcp config --client cursor --toolsets review --read-only`,
		Flags: []cli.Flag{
			{Name: "client", About: "the client to set up", Enum: mcp.ClientNames()},
			{Name: "root", About: "the `folder` that the client's agents may touch (default the working folder); may be repeated", Kind: tool.PathFlag, List: true},
			{Name: "toolsets", About: "offer the tools of these `sets`, as `tidegate mcp` takes them", List: true},
			{Name: "read-only", About: "offer only what writes nothing", Kind: tool.Switch},
			{Name: "write", About: "write it into the client's file instead of printing it", Kind: tool.Switch},
		},
		Run: func(ctx context.Context, call cli.Invocation) error { return configureClient(env, tools, call) },
	}
}

func configureClient(env *catalog.Env, tools []*tool.Tool, call cli.Invocation) error {
	client, ok := mcp.FindClient(call.Flag("client"))
	if !ok {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("client", nil), "--client is required: one of %s", strings.Join(mcp.ClientNames(), ", "))
	}
	server, err := serverFor(env, client, call.Flags["root"])
	if err != nil {
		return err
	}
	offer := offerOf(call)
	if _, err := mcp.Narrow(tool.ForAgents(tools), offer); err != nil {
		return err
	}
	if len(offer.Sets) > 0 {
		server.Args = append(server.Args, "--toolsets", strings.Join(offer.Sets, ","))
	}
	if offer.ReadOnly {
		server.Args = append(server.Args, "--read-only")
	}
	file, err := clientFile(client, env.Dir)
	if err != nil {
		return err
	}
	if call.Flag("write") != "true" {
		fmt.Fprintf(call.Stderr, "%s reads this from %s; --write puts it there.\n", client.Title, file)
		_, err := fmt.Fprint(call.Stdout, client.Block(server))
		return err
	}
	changed, err := writeEntry(client, server, file, env.Dir)
	switch {
	case err != nil:
		fmt.Fprintf(call.Stdout, "%s\n%s\n", client.Block(server), client.Add(server))
		return err
	case changed:
		_, err = fmt.Fprintf(call.Stdout, "%s: %s starts tidegate from now on\n", file, client.Title)
	default:
		_, err = fmt.Fprintf(call.Stdout, "%s: nothing to do, tidegate is there\n", file)
	}
	return err
}

// serverFor is this program as a client must start it.
func serverFor(env *catalog.Env, client mcp.Client, roots []string) (mcp.Entry, error) {
	program, err := os.Executable()
	if err != nil {
		return mcp.Entry{}, tidegate.Errorf(tidegate.Internal, nil, "the path of this program is not known: %w", err)
	}
	program = nameOnPath(program, os.Getenv("PATH"))
	if len(roots) == 0 {
		roots = []string{env.Dir}
	}
	server := mcp.Entry{Name: "tidegate", Command: program, Args: []string{"mcp"}}
	for _, root := range roots {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return server, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("root", root), "--root must be a folder that exists, got %s", root)
		}
		server.Args = append(server.Args, "--root", client.Folder(env.Dir, root))
	}
	server.Args = append(server.Args, "--project", client.Folder(env.Dir, env.Project))
	return server, nil
}

// nameOnPath is the name of a program where the path finds the program by it, otherwise
// its file.
func nameOnPath(program, path string) string {
	own, err := os.Stat(program)
	if err != nil {
		return program
	}
	base := filepath.Base(program)
	for _, dir := range filepath.SplitList(path) {
		found, err := os.Stat(filepath.Join(dir, base))
		if !filepath.IsAbs(dir) || err != nil || found.IsDir() {
			continue
		}
		if os.SameFile(own, found) {
			return strings.TrimSuffix(base, ".exe")
		}
		return program // another one of that name comes first
	}
	return program
}

// clientFile is where the client keeps its configuration.
func clientFile(client mcp.Client, dir string) (string, error) {
	if home := os.Getenv("CODEX_HOME"); home != "" && client.Name == "codex" {
		return filepath.Join(home, "config.toml"), nil
	}
	home, err := os.UserHomeDir()
	file := client.File(dir, home)
	if err != nil && !filepath.IsAbs(file) { // most clients have theirs in the project
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("HOME", nil), "the home folder is not known: %w", err)
	}
	return file, nil
}

// writeEntry adds the server to the client's file and reports whether that
// changed it. It returns ALREADY_EXISTS_CONFLICT when the file cannot be changed
// safely, READ_FAILED and WRITE_FAILED.
func writeEntry(client mcp.Client, server mcp.Entry, file, dir string) (bool, error) {
	for _, other := range client.OtherForms(dir) {
		if _, err := os.Lstat(other); err == nil {
			return false, tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", other),
				"%s is there, which may have comments: add the printed block to it yourself", other)
		}
	}
	existing, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", file), "cannot read %s: %w", file, err)
	}
	merged, changed, err := client.Merge(existing, server)
	if err != nil {
		return false, tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", file), "%s was left as it is, add the printed block to it yourself: %w", file, err)
	}
	if !changed {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", file), "cannot make the folder of %s: %w", file, err)
	}
	return true, artifact.Everywhere.WriteFile("path", file, merged)
}
