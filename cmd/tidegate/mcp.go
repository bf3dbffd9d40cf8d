package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/tool"
)

// tokenVariable holds the bearer token where no file does.
const tokenVariable = "TIDEGATE_MCP_TOKEN"

func mcpCommand(env *catalog.Env, tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path: "mcp",
		Flags: []tool.Flag{
			{Name: "relay", About: "for the clients of agents that tidegate starts: connect stdio to the home of the agent, by the `file` that names it", Kind: tool.PathFlag},
			{Name: "http", About: "serve streamable HTTP at `HOST:PORT` instead of stdio; without a host, on this machine only; port 0 takes a free one"},
			{Name: "token-file", About: "`file` with the bearer token that HTTP callers have to send", Kind: tool.PathFlag},
			{Name: "root", About: "a `folder` that callers may touch, beside the working folder and the runs; may be repeated", Kind: tool.PathFlag, List: true},
			{Name: "alone", About: "callers may touch the --root folders alone, neither the working folder nor the runs", Kind: tool.Switch},
			{Name: "read-only", About: "offer only what writes nothing", Kind: tool.Switch},
			{Name: "tools", About: "offer only the tools of these `names`", List: true},
			{Name: "toolsets", About: "offer the tools of these `sets`: wave, citation, pivot, summary, gate, run, job, review, or all; without it those that most agents need", List: true},
		},
		Run: func(ctx context.Context, call cli.Invocation) error { return serveMCP(ctx, env, tools, call) },
	}
}

func serveMCP(ctx context.Context, env *catalog.Env, tools []*tool.Tool, call cli.Invocation) error {
	if file := call.Flag("relay"); file != "" {
		return sandbox.Relay(ctx, file, call.Stdin, call.Stdout)
	}
	offered, err := mcp.Narrow(tool.ForAgents(tools), offerOf(call))
	if err != nil {
		return err
	}
	options := mcp.Options{
		Version: call.Version, Instructions: instructions(offered), Log: slog.Default(), Prompts: prompts(env.Config.Review.Test), Resources: schemaResources(),
	}
	address := call.Flag("http")
	roots, called := call.Flags["root"], "--root"
	if len(roots) == 0 && call.Flag("alone") != "true" {
		roots, called = env.Config.Roots, "a root in "+config.FileName
	}
	if len(roots) > 0 || address != "" || call.Flag("alone") == "true" {
		folders, err := allowedRoots(env, called, roots, call.Flag("alone") == "true")
		if err != nil {
			return err
		}
		options.Reach = artifact.Within(folders...)
	}
	if slices.ContainsFunc(offered, func(t *tool.Tool) bool { return t.Set == "run" }) {
		options.Templates, options.Links = runTemplates(env.Desk(options.Reach), env.Home), linksOf(env.Desk(options.Reach), env.Home)
	}
	if address == "" {
		if call.Flag("token-file") != "" {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token-file", call.Flag("token-file")), "--token-file is for --http; stdio has no callers to tell apart")
		}
		if call.Terminal.Input {
			fmt.Fprintln(call.Stderr, "waiting for an MCP client on stdin, which is a terminal; `tidegate mcp config` sets a client up, Ctrl-C ends this")
		}
		return mcp.ServeStdio(ctx, offered, call.Stdin, call.Stdout, options)
	}
	token, err := bearerToken(call.Flag("token-file"))
	if err != nil {
		return err
	}
	// Requests are logged unless somebody asked for errors only.
	if call.Log != nil && call.Log.Level() == slog.LevelWarn {
		call.Log.Set(slog.LevelInfo)
	}
	options.Users = users(env)
	listed, err := options.Users.All()
	if err != nil {
		return err
	}
	var exposed error
	if token == "" && len(listed) == 0 {
		exposed = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", address),
			"%s can be reached from other machines: give a token with --token-file or TIDEGATE_MCP_TOKEN, or listen on 127.0.0.1", address)
	}
	listener, err := cli.Listen(address, exposed)
	if err != nil {
		return err
	}
	at := listener.Addr().String()
	options.Log.Info("serving MCP", "address", at, "url", "http://"+at+"/mcp", "tools", len(offered), "token", token != "")
	return cli.Serve(ctx, listener, mcp.Handler(offered, token, options), mcp.GraceTime, false)
}

// offerOf is what the flags of a command say about the tools to offer.
func offerOf(call cli.Invocation) mcp.Narrowing {
	return mcp.Narrowing{ReadOnly: call.Flag("read-only") == "true", Names: call.Flags["tools"], Sets: call.Flags["toolsets"]}
}

// allowedRoots lists the folders that callers may touch. Clients start servers
// in / or in the user's home when they have no better idea, so neither counts
// unless it is named. With alone, only the given folders count. Called is what
// errors call them.
func allowedRoots(env *catalog.Env, called string, given []string, alone bool) ([]string, error) {
	if alone && len(given) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("root", nil), "--alone needs a --root")
	}
	for _, root := range given {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("root", root), "%s must be a folder that exists, got %s", called, root)
		}
	}
	folders := slices.Clone(given)
	if alone {
		return folders, nil
	}
	if home, err := os.UserHomeDir(); env.Dir != filepath.Dir(env.Dir) && (err != nil || env.Dir != filepath.Clean(home)) {
		folders = append(folders, env.Dir)
	}
	if env.Project != env.Dir {
		folders = append(folders, env.Project)
	}
	if env.Home != "" {
		folders = append(folders, env.Home, store.Audits.Home(env.Home))
	}
	return folders, nil
}

// bearerToken reads the token from a file or, without one, from the environment.
// It is "" when there is neither.
func bearerToken(file string) (string, error) {
	if file == "" {
		return strings.TrimSpace(os.Getenv(tokenVariable)), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token-file", file), "--token-file cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token-file", file), "--token-file must hold one token on one line: %s", file)
	}
	return token, nil
}
