package main

import (
	"bufio"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
)

// configPlaces are where the configuration of this program is.
func configPlaces(env *catalog.Env, formats func() map[string][]string) config.Places {
	return config.Places{Dir: env.Dir, User: env.ConfigDir, Getenv: env.Getenv, Formats: formats}
}

// configure reads the configuration and applies it. Even where a file is wrong, what
// the environment says counts.
func configure(ctx context.Context, env *catalog.Env, program *cli.Program) error {
	loaded, err := config.Load(ctx, configPlaces(env, func() map[string][]string { return formatsOf(program) }))
	env.Config = loaded.Settings
	if env.Config.Home != "" {
		env.Home = filepath.Join(env.Config.Home, "runs")
	}
	program.Formats = env.Config.Formats
	return err
}

// unlessItNeedsNone is the error of a wrong configuration, unless the command
// needs no configuration.
func unlessItNeedsNone(command string, err error) error {
	first, _, _ := strings.Cut(command, " ")
	without := []string{"", "config", "help", "version", "completion", "__complete", "__completeNoDesc", "explain", "doctor", "schema", "tools", "demo", "canary"}
	if slices.Contains(without, first) {
		return nil
	}
	return err
}

// formatsOf lists what each command can print.
func formatsOf(program *cli.Program) map[string][]string {
	formats := map[string][]string{}
	for _, t := range program.Tools {
		if t.Command != nil {
			formats[t.Command.Path] = append([]string{"text", "json"}, t.Command.Formats...)
		}
	}
	for _, c := range program.Commands {
		for _, f := range c.Flags {
			if f.Name == "format" {
				formats[c.Path] = f.Enum
			}
		}
	}
	return formats
}

func configCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "config",
		Operands: []tool.Operand{{Name: "KEY", About: "the key to show; all when absent", Optional: true}},
		Flags:    []tool.Flag{formatFlag("text", "json", "markdown")},
		Complete: config.Names(),
		Run: func(ctx context.Context, call cli.Invocation) error {
			loaded, err := config.Load(ctx, configPlaces(env, func() map[string][]string { return formatsOf(&call.Program) }))
			if err != nil {
				return err
			}
			shown := configuration(loaded, env.Home)
			if len(call.Args) > 0 {
				if err := shown.only(call.Args[0]); err != nil {
					return err
				}
			}
			if call.Flag("format") != "json" {
				return call.Show(shown.report(), call.Flag("format"))
			}
			return call.JSON(shown)
		},
	}
}

// settingsShown is what `tidegate config` prints.
type settingsShown struct {
	OK    codec.True     `json:"ok"`
	Files []configFile   `json:"files"`
	Keys  []config.Entry `json:"keys"`

	about *config.Key // the one key that was asked for
}

// configFile is a file that was read.
type configFile struct {
	Of      string   `json:"of"` // project or user
	Path    string   `json:"path"`
	Digest  string   `json:"digest"`
	Trusted bool     `json:"trusted"`
	Waiting []string `json:"waiting"` // keys that do not count before a person trusts the file
}

// configuration is what was loaded, with the folder of runs in place of the words
// that say where it is by default.
func configuration(loaded config.Config, runs string) settingsShown {
	shown := settingsShown{Files: []configFile{}, Keys: loaded.Entries()}
	for i, e := range shown.Keys {
		if e.Key == "home" && e.From == config.DefaultSource && runs != "" {
			shown.Keys[i].Value = strconv.Quote(filepath.Dir(runs))
		}
	}
	for _, each := range []struct {
		of     string
		source *config.Source
	}{{"project", loaded.Project}, {"user", loaded.User}} {
		if s := each.source; s != nil {
			shown.Files = append(shown.Files, configFile{each.of, s.Path, s.Digest, s.Trusted, append([]string{}, s.Waiting...)})
		}
	}
	return shown
}

// only keeps one key. It returns INVALID_ARGS for a name that is not a key.
func (s *settingsShown) only(name string) error {
	names := config.Names()
	for _, e := range s.Keys {
		names = append(names, e.Key)
	}
	about := config.Find(name)
	if about == nil || !slices.Contains(names, name) && !strings.HasPrefix(name, "formats.") {
		meant := ""
		if near := codec.Nearest(name, names); near != "" {
			meant = "; did you mean " + near + "?"
		}
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("key", tidegate.Cut(name)), "there is no key %q%s", tidegate.Cut(name), meant)
	}
	s.about = about
	s.Keys = slices.DeleteFunc(s.Keys, func(e config.Entry) bool {
		return e.Key != name && !(e.From == config.DefaultSource && e.Key == about.Name)
	})
	if len(s.Keys) == 0 {
		s.Keys = []config.Entry{{Key: name, Value: about.Default, From: config.DefaultSource, Counts: true}}
	}
	return nil
}

func (s settingsShown) report() report.Report {
	r := report.Report{Name: "config", Title: "Configuration"}
	if s.about != nil {
		r.Title = s.about.Name
		r.Add(report.Paragraph(s.about.About+"."), report.Fields{
			{Name: "type", Value: s.about.Type}, {Name: "example", Value: s.about.Example},
			{Name: "default", Value: s.about.Default}, {Name: "goes before it", Value: s.about.Over},
		})
	}
	table := report.NewTable("Key", "Value", "From", "Does not count because")
	waiting := 0
	for _, e := range s.Keys {
		status := report.None
		if !e.Counts {
			status = report.Skip
		}
		table.Row(status, e.Key, e.Value, e.From, e.Why)
	}
	r.Add(table)
	for _, f := range s.Files {
		waiting += len(f.Waiting)
	}
	switch {
	case waiting > 0:
		r.Status, r.Summary = report.Warn, report.Counted(waiting, "key")+" of the project's file do not count; `tidegate config trust` shows them and asks"
	case len(s.Files) == 0:
		r.Summary = "there is no " + config.FileName + " here or above, and none of the user's own"
	}
	return r
}

func configTrustCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "config trust",
		Run:  func(ctx context.Context, call cli.Invocation) error { return trustProject(ctx, env, call) },
	}
}

func trustProject(ctx context.Context, env *catalog.Env, call cli.Invocation) error {
	ctx = byPerson(ctx)
	from := configPlaces(env, func() map[string][]string { return formatsOf(&call.Program) })
	loaded, err := config.Load(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case loaded.Project == nil:
		return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("config", filepath.Join(env.Dir, config.FileName)), "no %s is in %s or above it", config.FileName, env.Dir)
	case loaded.Project.Trusted:
		return call.Render(report.Report{Status: report.Pass, Summary: loaded.Project.Path + " is trusted already"})
	case len(loaded.Project.Waiting) == 0:
		return call.Render(report.Report{Status: report.Pass, Summary: loaded.Project.Path + " has nothing that needs trust"})
	}
	if err := call.Render(wouldCount(loaded)); err != nil {
		return err
	}
	if !call.Terminal.Input || call.Terminal.Width == 0 {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", loaded.Project.Path, "help", "tidegate config trust"),
			"a file is trusted on a terminal only, by a person who has read what it would do: %s", loaded.Project.Path)
	}
	answer, err := cli.Answer(ctx, bufio.NewReader(call.Stdin), call.Stderr, "\nTrust this file as it is? Type yes:")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return call.Render(report.Report{Status: report.Skip, Summary: "nothing was changed"})
	}
	if err := from.Trust(ctx, *loaded.Project); err != nil {
		return err
	}
	return call.Render(report.Report{Status: report.Pass, Summary: loaded.Project.Path + " is trusted until it changes"})
}

// wouldCount is what a person says yes to. Nothing in it is cut.
func wouldCount(loaded config.Config) report.Report {
	r := report.Report{Name: "config_trust", Title: "If you trust " + loaded.Project.Path + ", this counts too"}
	table := report.NewTable("Key", "Value", "Why it asks")
	for _, e := range loaded.Entries() {
		if reason, waits := strings.CutPrefix(e.Why, config.NotBeforeTrust); waits {
			table.Row(report.None, e.Key, e.Value, reason)
		}
	}
	r.Add(table)
	return r
}
