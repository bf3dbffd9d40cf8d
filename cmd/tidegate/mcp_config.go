package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/skills"
	"github.com/tidegate/tidegate/tool"
)

func mcpConfigCommand(env *catalog.Env, tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path: "mcp config",
		Flags: []tool.Flag{
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
	reach := artifact.Within(env.Dir)
	if client.User() { // people keep such files elsewhere, behind links of their own
		reach = artifact.Everywhere
	}
	changed, err := writeEntry(reach, client, server, file, env.Dir)
	err = leftAsItIs(err, env.Dir)
	switch {
	case err != nil:
		fmt.Fprintf(call.Stdout, "%s\n%s\n", client.Block(server), client.Add(server))
		return err
	case changed:
		_, err = fmt.Fprintf(call.Stdout, "%s: %s starts tidegate from now on\n", file, client.Title)
	default:
		_, err = fmt.Fprintf(call.Stdout, "%s: nothing to do, tidegate is there\n", file)
	}
	folder := client.Skills(file)
	if narrowed := offer.ReadOnly || len(offer.Sets) > 0 && !slices.Contains(offer.Sets, "all"); err != nil || folder == "" || narrowed {
		return err
	}
	if err := leftAsItIs(writeSkills(reach, folder), env.Dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(call.Stdout, "%s: has the skills %s\n", folder, strings.Join(slices.Sorted(maps.Keys(skills.All())), ", "))
	return err
}

// leftAsItIs words the error of a path that leads out of the project.
func leftAsItIs(err error, dir string) error {
	if tidegate.CodeOf(err) != tidegate.PathNotAllowed {
		return err
	}
	return tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", dir), "a symbolic link leads out of %s, and nothing was written through it", dir)
}

// writeSkills puts the skills into a client's folder, each whole or not at all. It returns
// ALREADY_EXISTS_CONFLICT for one that is there in other words, once the others are
// written, PATH_NOT_ALLOWED, READ_FAILED and WRITE_FAILED.
func writeSkills(reach artifact.Reach, folder string) error {
	var conflict error
	all := skills.All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := filepath.Join(folder, name, skills.File)
		there, err := reach.ReadFile("path", path)
		switch {
		case err == nil && bytes.Equal(there, all[name]):
			continue
		case err == nil:
			conflict = tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", path), "%s differs from the skill of this version and was left as it is; remove it to have this one", path)
			continue
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			err = writeBeside(reach, path, all[name])
		}
		if err != nil {
			return err
		}
	}
	return conflict
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
// safely, PATH_NOT_ALLOWED, READ_FAILED and WRITE_FAILED.
func writeEntry(reach artifact.Reach, client mcp.Client, server mcp.Entry, file, dir string) (bool, error) {
	for _, other := range client.OtherForms(dir) {
		if _, err := os.Lstat(other); err == nil {
			return false, tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", other),
				"%s is there, which may have comments: add the printed block to it yourself", other)
		}
	}
	existing, err := reach.ReadFile("path", file)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return false, err
	}
	merged, changed, err := client.Merge(existing, server)
	if err != nil {
		return false, tidegate.Errorf(tidegate.AlreadyExistsConflict, tidegate.Pairs("path", file), "%s was left as it is, add the printed block to it yourself: %w", file, err)
	}
	if !changed {
		return false, nil
	}
	return true, writeBeside(reach, file, merged)
}

// writeBeside writes a file of a client whole or not at all, and its folder where there is
// none. It leaves no lock in a project's folders.
func writeBeside(reach artifact.Reach, file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("path", file), "cannot make the folder of %s: %w", file, err)
	}
	return reach.WriteFile("path", file, data)
}
