package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/tool"
)

// pageGrace is what pages that are being sent have when the server ends.
const pageGrace = 3 * time.Second

func serveCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:  "serve",
		Short: "Show runs and changes in a browser",
		Long: `Show the runs, and the changes of the project, in a browser: what is happening,
what it waits for, what it costs, and whether it can be trusted; jobs with their
prompts, answers and faults side by side; sources, gates, the report with the
passages that it rests on, the log. The page of a run that is under way changes
as the run does.

It prints the address to open, with a token that lets you in, and serves until it
is interrupted. The token is kept in the home for 30 days, so that open tabs work
after a restart; --new-token makes another. Only this machine can reach it unless
--http names another address. The pages can only be read; with --allow-decisions they also offer the
decisions that are commands otherwise, such as to pause a run or to give a job its
tries again, each asked for once more before it is taken. Where decisions are
signed a page takes none and shows the command. With --allow-work pages start runs,
confirm their plans, continue runs, retry jobs, audit files and ask about reports.
What that costs in 24 hours together is at most the amount, with everything under
way counted with the most that it may cost; no page raises a limit or accepts
anything. Agents are those of your own tidegate.toml alone, in cells. The runs rest
when the server ends, as they do after Ctrl-C. Behind a reverse proxy, --public-url
is the address that people open.`,
		Example: "tidegate serve\ntidegate serve --http 8643\ntidegate serve --allow-decisions\ntidegate serve --allow-work 20\ntidegate serve --http 8643 --public-url https://example.org/tidegate",
		Flags: []cli.Flag{
			{Name: "http", About: "serve at `HOST:PORT`; without a host, on this machine only; port 0 takes a free one (default 127.0.0.1:8643, and a free port where that is taken)"},
			{Name: "new-token", Kind: tool.Switch, About: "make another token: addresses and tabs with the one before no longer work"},
			{Name: "allow-decisions", Kind: tool.Switch, About: "let whoever has the token take a person's decisions"},
			{Name: "allow-work", About: "let whoever has the token start and continue runs that cost at most this many `USD` in 24 hours together", Kind: tool.Word},
			{Name: "public-url", About: "the `address` under which a reverse proxy offers the pages"},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			var public *url.URL
			if given := call.Flag("public-url"); given != "" {
				var err error
				if public, err = web.ParsePublic(given); err != nil {
					return err
				}
			}
			shown := site(env, call.Version)
			if call.Flag("allow-decisions") == "true" {
				// A page has no key: a decision that must be signed is typed.
				unsigned := *env
				unsigned.SignKey = ""
				shown.Decisions = catalog.Tools(&unsigned)
			}
			allowed, err := workAllowed(call)
			if err != nil {
				return err
			}
			listener, err := cli.Listen(cmp.Or(call.Flag("http"), pagePort), nil)
			if err != nil && call.Flag("http") == "" {
				fmt.Fprintf(call.Stderr, "tidegate: %s is taken, so another port is used\n", pagePort)
				listener, err = cli.Listen("127.0.0.1:0", nil)
			}
			if err != nil {
				return err
			}
			token, err := pageToken(env, call.Flag("new-token") == "true")
			if err != nil {
				fmt.Fprintf(call.Stderr, "tidegate: tabs will not outlive this server: %s\n", tidegate.AsError(err).Message)
			}
			if allowed > 0 {
				if shown.Works, err = researchEnv(env).OpenWorks(ctx, allowed); err != nil {
					listener.Close()
					return err
				}
				defer shown.Works.End()
			}
			fmt.Fprintln(call.Stdout, web.Address(listener.Addr().String(), public, token))
			return cli.Serve(ctx, listener, web.Handler(shown, token, public), pageGrace, true)
		},
	}
}

// workAllowed is what work from pages may cost in 24 hours, 0 where it is not allowed. It
// returns INVALID_ARGS.
func workAllowed(call cli.Invocation) (float64, error) {
	given := call.Flag("allow-work")
	if given == "" {
		return 0, nil
	}
	usd, err := strconv.ParseFloat(given, 64)
	if err != nil || !(usd > 0) || math.IsInf(usd, 0) {
		return 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("allow-work", tidegate.Cut(given)), "--allow-work must be a number of USD above 0, got %q", tidegate.Cut(given))
	}
	return usd, nil
}

// pagePort is where pages are served that nobody asked to have elsewhere.
const pagePort = "127.0.0.1:8643"

// site is what the pages show.
func site(env *catalog.Env, version string) *web.Site {
	commands := &research.Env{Env: env}
	return &web.Site{
		Home: env.Home, Project: env.Project, Desk: env.Desk(artifact.Everywhere), Version: version,
		Standing: commands.Standing, PDF: printPDF,
	}
}

func exportCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "run export", Operands: "RUN", MaxArgs: 1,
		Short: "Write a run as pages, or as one file for another machine",
		Long: `With --html, write the pages that ` + "`tidegate serve`" + ` shows of a run as files, for somebody
who has neither the run nor tidegate: one folder, no script, nothing to ask a
server for. Open its index.html. The folder must not be there yet.

With --bundle, write the run itself, or an audit, update or answer, into one file
that ` + "`tidegate import`" + ` takes on another machine. The same folder gives the same bytes.`,
		Example: "tidegate run export harbour --html harbour-pages\ntidegate run export harbour --bundle harbour.bundle",
		Flags: []cli.Flag{
			{Name: "html", About: "the `folder` to write", Kind: tool.PathFlag},
			{Name: "bundle", About: "the `file` to write", Kind: tool.PathFlag},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			dir, file := call.Flag("html"), call.Flag("bundle")
			switch {
			case (dir == "") == (file == ""):
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("html", dir, "bundle", file), "name either the folder to write with --html, or the file with --bundle")
			case file != "":
				return exportBundle(ctx, env, call, file)
			}
			r, err := namedRun(ctx, env, call)
			if err != nil {
				return err
			}
			defer r.Close()
			files, err := web.Export(ctx, site(env, call.Version), r.ManifestPath(), dir)
			if err != nil {
				return err
			}
			out := report.Report{Name: "run_export", Title: "run " + r.ID(), Status: report.Pass, Summary: report.Counted(files, "file") + " written"}
			out.Add(report.Fields{{Name: "open", Value: filepath.Join(dir, "index.html")}})
			return call.Show(out, "text")
		},
	}
}
