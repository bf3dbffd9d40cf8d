package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/tool"
)

// pageGrace is what pages that are being sent have when the server ends.
const pageGrace = 3 * time.Second

func serveCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "serve",
		Flags: []tool.Flag{
			{Name: "http", About: "serve at `HOST:PORT`; without a host, on this machine only; port 0 takes a free one; unix:PATH is a socket (default 127.0.0.1:8643, and a free port where that is taken)"},
			{Name: "new-token", Kind: tool.Switch, About: "make another token: addresses and tabs with the one before no longer work"},
			{Name: "allow-decisions", Kind: tool.Switch, About: "let whoever has the token take a person's decisions"},
			{Name: "allow-work", About: "let whoever has the token start and continue runs that cost at most this many `USD` in 24 hours together", Kind: tool.Word},
			{Name: "public-url", About: "the `address` under which a reverse proxy offers the pages"},
			{Name: "user-header", About: "the `header` in which a reverse proxy names the user, such as X-Remote-User"},
			{Name: "proxy-secret-env", About: "the environment `variable` with the secret that the proxy sends"},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			var public *url.URL
			if given := call.Flag("public-url"); given != "" {
				var err error
				if public, err = guard.ParsePublic(given); err != nil {
					return err
				}
			}
			if strings.HasPrefix(call.Flag("http"), "unix:") && public == nil {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", call.Flag("http")), "--http unix:PATH needs --public-url: a browser opens the proxy's address")
			}
			if err := store.CheckHome(env.Home); err != nil {
				return err
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
			shown.Users = users(env)
			if shown.Proxy, err = proxyOf(env, call); err != nil {
				return err
			}
			var exposed error
			if shown.Proxy.Header != "" {
				exposed = tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", call.Flag("http")), "--user-header needs a loopback address or unix:PATH: others could say that they are somebody")
			}
			listener, err := cli.Listen(cmp.Or(call.Flag("http"), pagePort), exposed)
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
				if shown.Background, err = env.OpenBackground(ctx, allowed); err != nil {
					listener.Close()
					return err
				}
				defer shown.Background.End()
				shown.Audit = func(ctx context.Context, text string, noFetch bool) (foreign.Result, error) {
					return audit.Make(ctx, env.Desk(artifact.Everywhere), env.Pages(tool.Caller{}), audit.Input{Report: text, NoFetch: noFetch, Dir: env.Dir, Home: store.Audits.Home(env.Home)})
				}
			}
			fmt.Fprintln(call.Stderr, "Open this address in a browser; Ctrl-C ends the server:")
			fmt.Fprintln(call.Stdout, guard.Address(listener.Addr().String(), public, token))
			reading, stop := context.WithCancel(ctx)
			read := make(chan struct{})
			go func() {
				defer close(read)
				shown.Warm(reading)
				shown.ReadOn(reading)
			}()
			defer func() {
				stop()
				<-read
			}()
			return cli.Serve(ctx, listener, web.Handler(shown, token, public), pageGrace, true)
		},
	}
}

// proxyOf is the proxy that says who somebody is. It returns INVALID_ARGS.
func proxyOf(env *catalog.Env, call cli.Invocation) (guard.Proxy, error) {
	header, variable := call.Flag("user-header"), call.Flag("proxy-secret-env")
	if header == "" && variable == "" {
		return guard.Proxy{}, nil
	}
	secret := ""
	if variable != "" && env.Getenv != nil {
		secret = strings.TrimSpace(env.Getenv(variable))
	}
	if header == "" || len(secret) < 16 || strings.EqualFold(header, guard.SecretHeader) {
		return guard.Proxy{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("user-header", tidegate.Cut(header), "proxy-secret-env", tidegate.Cut(variable)),
			"--user-header and --proxy-secret-env belong together, and the variable must hold a secret of at least 16 characters")
	}
	return guard.Proxy{Header: header, Secret: secret}, nil
}

// byPerson is the context of a command that a person types.
func byPerson(ctx context.Context) context.Context {
	return tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
}

// users is the list of those who are let in.
func users(env *catalog.Env) user.List { return user.List{Home: filepath.Dir(env.Home), Now: env.Now} }

func userAddCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "serve user add", Operands: []tool.Operand{{Name: "NAME", About: "who is let in"}},
		Flags: []tool.Flag{
			{Name: "role", About: "what they may do", Default: string(user.Read), Enum: []string{string(user.Read), string(user.Decide), string(user.Work)}},
			{Name: "days", About: "how many `days` the token counts (default for good)"},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			var days int
			var err error
			if given := call.Flag("days"); given != "" {
				if days, err = strconv.Atoi(given); err != nil || days < 1 {
					return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("days", tidegate.Cut(given)), "--days must be a number of days, got %q", tidegate.Cut(given))
				}
			}
			token, err := users(env).Add(byPerson(ctx), call.Args[0], user.Role(call.Flag("role")), days)
			if err != nil {
				return err
			}
			fmt.Fprintln(call.Stdout, token)
			return nil
		},
	}
}

func userListCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "serve user list",
		Run: func(_ context.Context, call cli.Invocation) error {
			all, err := users(env).All()
			if err != nil {
				return err
			}
			out := report.Report{Name: "user_list", Title: "users", Summary: report.Counted(len(all), "user")}
			fields := report.Fields{}
			for _, u := range all {
				about := string(u.Role) + ", added " + u.AddedAt
				if u.Until != "" {
					about += ", until " + u.Until
				}
				fields = append(fields, report.Field{Name: u.Name, Value: about})
			}
			out.Add(fields)
			return call.Show(out, "text")
		},
	}
}

func userRemoveCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "serve user remove",
		Operands: []tool.Operand{{Name: "NAME", About: "who is let in no longer"}},
		Run: func(ctx context.Context, call cli.Invocation) error {
			name := call.Args[0]
			if err := users(env).Remove(byPerson(ctx), name); err != nil {
				return err
			}
			return call.Show(report.Report{Name: "user_remove", Title: "users", Summary: name + " is no longer let in"}, "text")
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
	return &web.Site{
		Home: env.Home, Project: env.Project, Desk: env.Desk(artifact.Everywhere), Version: version,
		Standing: env.Standing, PDF: printPDF, Demo: sampleAudit(env), Agents: agentSetUp(env),
	}
}

// sampleAudit makes the audit of the sample report, once, in a folder that does not stay.
func sampleAudit(env *catalog.Env) func(context.Context) (foreign.Result, error) {
	if env.Sample == nil {
		return nil
	}
	made := sync.OnceValues(func() (foreign.Result, error) {
		folder, err := os.MkdirTemp("", "tidegate-sample-")
		if err != nil {
			return foreign.Result{}, tidegate.Errorf(tidegate.WriteFailed, nil, "the sample has no place: %w", err)
		}
		defer os.RemoveAll(folder)
		return audit.Make(context.Background(), env.Desk(artifact.Everywhere), env.Sample.Fetch, audit.Input{Report: env.Sample.Report, Name: env.Sample.Name, Home: folder})
	})
	return func(context.Context) (foreign.Result, error) { return made() }
}

// agentSetUp says whether an agent is set up. Clients are asked once, when the first page
// wants to know, and not waited for.
func agentSetUp(env *catalog.Env) func() string {
	var said atomic.Pointer[string]
	ask := sync.OnceFunc(func() {
		go func() {
			ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
			defer stop()
			words := "No agent is set up: type tidegate setup."
			if name, _, err := env.Installed(ctx, driver.Cells{}); err == nil && name != "" {
				words = "Its agent would be " + name + "."
			}
			said.Store(&words)
		}()
	})
	return func() string {
		ask()
		if words := said.Load(); words != nil {
			return *words
		}
		return ""
	}
}

func exportCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "run export",
		Operands: []tool.Operand{{Name: "RUN", About: "the run; with --bundle an audit, update or answer, too"}},
		Flags: []tool.Flag{
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
