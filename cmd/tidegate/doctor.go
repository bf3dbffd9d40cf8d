package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

func doctorCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "doctor",
		Flags: []tool.Flag{
			{Name: "home", About: "list what tidegate keeps here: path, bytes and kind", Kind: tool.Switch},
			formatFlag("text", "markdown"),
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			if call.Flag("home") == "true" {
				return call.Show(keptHere(env), call.Flag("format"))
			}
			findings := examine(ctx, env, call)
			if err := ctx.Err(); err != nil {
				return err
			}
			return call.Show(diagnosis(findings), call.Flag("format"))
		},
	}
}

// finding is one thing that the doctor looked at.
type finding struct {
	group  string
	what   string
	found  string
	status report.Status // None for a plain fact
}

func examine(ctx context.Context, env *catalog.Env, call cli.Invocation) []finding {
	found := []finding{
		{"Program", "version", call.Version, report.None},
		{"Program", "built with", runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH, report.None},
		clockFinding(env),
	}
	found = append(found, homeFindings(ctx, env)...)
	found = append(found, projectFinding(env.Project, env.Desk(artifact.Everywhere).ChangesFolder()+"/changes"), openFiles())
	found = append(found, cellFindings(env)...)
	found = append(found, terminalFindings(call.Terminal)...)
	found = append(found, proxyFindings(ctx, env)...)
	found = append(found, modelFindings(ctx, env)...)
	return append(found, clientFindings(env)...)
}

// proxyFindings says which proxy the environment names, whether it answers, and who uses it.
func proxyFindings(ctx context.Context, env *catalog.Env) []finding {
	if env.Getenv == nil {
		return nil
	}
	variable, address, err := fetch.AskProxy(ctx, env.Getenv)
	if variable == "" {
		return nil
	}
	asked := finding{"Network", "proxy", variable + " names " + address + ", which answers", report.Pass}
	if err != nil {
		asked.found, asked.status = fmt.Sprintf("%s names %s, which does not answer: %v", variable, address, err), report.Fail
	}
	used := "by models alone; pages are fetched through it where tidegate.toml has [fetch] proxy = true"
	if env.Config.Fetch.Proxy {
		used = "by models, and to fetch pages"
	}
	return []finding{asked, {"Network", "used", used, report.None}}
}

// modelFindings says which keys of models are set, and how agents search. It asks nobody:
// `tidegate agents` does.
func modelFindings(ctx context.Context, env *catalog.Env) []finding {
	var keys []string
	for _, e := range model.Endpoints() {
		if e.KeyEnv != "" && env.Getenv != nil && env.Getenv(e.KeyEnv) != "" {
			keys = append(keys, e.KeyEnv)
		}
	}
	set := finding{"Models", "keys", strings.Join(keys, ", "), report.Pass}
	if len(keys) == 0 {
		set.found, set.status = "none is set", report.None
	}
	return append([]finding{set, clientsInstalled(len(keys) == 0)}, searchFindings(ctx, env)...)
}

// clientsInstalled says which clients are there and, where nothing else is either, what works
// without an agent.
func clientsInstalled(alone bool) finding {
	var names []string
	for _, c := range client.Clients() {
		if _, err := exec.LookPath(c.Name); err == nil {
			names = append(names, c.Name)
		}
	}
	switch {
	case len(names) > 0:
		return finding{"Models", "clients", strings.Join(names, ", ") + "; `tidegate agents` says whether they are fit", report.None}
	case !alone:
		return finding{"Models", "clients", "none is installed", report.None}
	}
	return finding{"Models", "clients", "none is installed: `tidegate audit` by rule and `tidegate demo` need no agent; research, ask and review run do, and `tidegate setup` helps to get one", report.None}
}

// searchFindings says which search services are asked, what they lack, and which did not
// answer when a run of late asked them last.
func searchFindings(ctx context.Context, env *catalog.Env) []finding {
	how, err := env.Searching(ctx)
	if err != nil {
		return []finding{{"Search", "services", err.Error(), report.Fail}}
	}
	failed := lastFailures(ctx, env)
	var list []finding
	for _, p := range how.Asked(nil) {
		f := finding{"Search", p.Name, cmp.Or(p.Address, p.URL), report.None}
		if lacks := p.Lacks(); lacks != "" {
			f.found, f.status = lacks, report.Warn
		} else if why := failed[p.Name]; why != "" {
			f.found, f.status = why, report.Warn
		}
		delete(failed, p.Name)
		list = append(list, f)
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if failed[name] != "" {
			list = append(list, finding{"Search", name, failed[name], report.Warn})
		}
	}
	return list
}

// lastFailures are, by search service, why it did not answer when it was asked last in
// one of the latest runs; "" where it answered.
func lastFailures(ctx context.Context, env *catalog.Env) map[string]string {
	const most = 5 // runs
	failed := map[string]string{}
	runs, err := run.List(ctx, env.Desk(artifact.Everywhere), env.Home, run.ListInput{})
	if err != nil {
		return failed
	}
	for _, listed := range slices.Backward(runs.Runs[:min(len(runs.Runs), most)]) { // the latest has the last word
		r, err := run.Open(ctx, env.Desk(artifact.Everywhere), filepath.Join(listed.Root, run.ManifestFile))
		if err != nil {
			continue
		}
		lines, err := r.EventsOf(run.EventSearched)
		r.Close()
		if err != nil {
			continue
		}
		for _, l := range lines {
			for _, f := range l.Entry.Get("failed").Elems() {
				failed[f.Get("service").Str()] = f.Get("reason").Str() + " (run " + listed.RunID + ")"
			}
			failed[l.Entry.Get("service").Str()] = ""
		}
	}
	return failed
}

func clockFinding(env *catalog.Env) finding {
	if env.Pinned {
		return finding{"Program", "clock", "pinned by TIDEGATE_NOW: times in logs are not real", report.Warn}
	}
	return finding{"Program", "clock", "the system's", report.Pass}
}

func homeFindings(ctx context.Context, env *catalog.Env) []finding {
	home := env.Home
	if home == "" {
		return []finding{{"Runs", "folder", "not known: set TIDEGATE_HOME", report.Fail}}
	}
	list := []finding{{"Runs", "folder", home, report.None}}
	probe := home
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		list = append(list, finding{"Runs", "runs", "none yet; the folder is made with the first run", report.None})
		probe = existingParent(home)
	} else if runs, err := run.List(ctx, env.Desk(artifact.Everywhere), home, run.ListInput{}); err == nil {
		list = append(list, finding{"Runs", "runs", strconv.Itoa(len(runs.Runs)), report.None})
	}
	return append(list, diskFindings(ctx, env.Now, probe)...)
}

func existingParent(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
}

func projectFinding(project, changes string) finding {
	entries, err := os.ReadDir(filepath.Join(project, filepath.FromSlash(changes)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"Code reviews", "project", project + " (no " + changes + " yet)", report.None}
	case err != nil:
		return finding{"Code reviews", "project", err.Error(), report.Warn}
	}
	return finding{"Code reviews", "project", project + " (" + report.Counted(len(entries), "change") + ")", report.None}
}

func terminalFindings(t cli.Terminal) []finding {
	if t.Width == 0 {
		return []finding{{"Terminal", "output", "no terminal: plain text, no limit on width", report.None}}
	}
	colours := "colours"
	if !t.Color {
		colours = "no colours (NO_COLOR or TERM=dumb)"
	}
	return []finding{{"Terminal", "output", fmt.Sprintf("%d columns, %s", t.Width, colours), report.Pass}}
}

// cellFindings says how agents are kept.
func cellFindings(env *catalog.Env) []finding {
	system, err := sandbox.Confinement(driver.Host{Cells: driver.Cells{Unconfined: env.Config.Unconfined}})
	switch {
	case env.Config.Unconfined:
		return []finding{{"Agents", "cells", "none: agents.confine is false in tidegate.toml, so agents work with your rights, on your files", report.Warn}}
	case err != nil:
		return []finding{{"Agents", "cells", err.Error(), report.Warn}}
	}
	found := []finding{{"Agents", "cells", fmt.Sprintf("Landlock ABI %d and seccomp; the network of an agent is %q", system.ABI, system.Held(cell.Model)), report.Pass}}
	if weak := system.Weak(); weak != "" {
		found = append(found, finding{"Agents", "signals", weak, report.Warn})
	}
	return found
}

// clientFindings says, for every client that has a configuration here, whether
// it starts this program.
func clientFindings(env *catalog.Env) []finding {
	var list []finding
	for _, client := range mcp.Clients {
		server, err := serverFor(env, client, nil)
		if err != nil {
			return []finding{{"Agent clients", "all", err.Error(), report.Warn}}
		}
		file, err := clientFile(client, env.Dir)
		if err != nil {
			continue
		}
		existing, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		_, changed, err := client.Merge(existing, server)
		switch {
		case err != nil:
			list = append(list, finding{"Agent clients", client.Name, file + ": " + err.Error(), report.Warn})
		case changed:
			list = append(list, finding{"Agent clients", client.Name, file + " does not name tidegate yet", report.None})
		default:
			list = append(list, finding{"Agent clients", client.Name, file + " starts this program", report.Pass})
		}
	}
	if len(list) == 0 {
		list = append(list, finding{"Agent clients", "none", "no configuration found; tidegate mcp config --client NAME --write makes one", report.None})
	}
	return list
}

func diagnosis(found []finding) report.Report {
	r := report.Report{Name: "doctor", Title: "tidegate doctor", Status: report.Pass, Summary: "fit for work"}
	unfit, warned := 0, 0
	var group report.Fields
	for i, f := range found {
		group = append(group, report.Field{Name: f.what, Value: f.found, Mark: f.status})
		if i+1 == len(found) || found[i+1].group != f.group {
			r.Add(report.Heading(f.group), group)
			group = nil
		}
		switch f.status {
		case report.Fail:
			unfit++
		case report.Warn:
			warned++
		}
	}
	switch {
	case unfit > 0:
		r.Status, r.Summary = report.Fail, fmt.Sprintf("%d unfit, %d to look at", unfit, warned)
	case warned > 0:
		r.Status, r.Summary = report.Warn, fmt.Sprintf("fit for work, %d to look at", warned)
	}
	return r
}
