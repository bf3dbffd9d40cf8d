package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidegate/tidegate/citation"
	"github.com/tidegate/tidegate/internal/demo"
	"github.com/tidegate/tidegate/internal/full"
	_ "github.com/tidegate/tidegate/internal/scratch"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tidegate": main, "tidegate-in-harbour": inHarbour})
}

// inHarbour is the program in a world that has no other pages than the demo's.
func inHarbour() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	env, err := environment()
	if err != nil {
		panic(err)
	}
	env.Fetch = demo.Pages{Now: env.Now}.Fetch
	program := assemble(env)
	if err := configure(context.Background(), env, program); err != nil {
		panic(err)
	}
	os.Exit(program.Run(context.Background(), os.Args[1:]))
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			site := newSite()
			env.Defer(site.Close)
			env.Setenv("SITE", site.Listener.Addr().String())
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
			env.Setenv("TIDEGATE_HOME", env.WorkDir+"/home")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "full" {
				return false, fmt.Errorf("unknown condition %s", condition)
			}
			return full.Asked(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"fill":  fill,
			"cid":   cid,
		},
	})
}

// newSite is a web site on loopback, at $SITE: articles, a page that is not there,
// and one whose server is down until it is asked twice.
func newSite() *httptest.Server {
	var asked atomic.Int32
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/gone":
			http.NotFound(w, r)
			return
		case r.URL.Path == "/busy" && asked.Add(1) == 1:
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		name := path.Base(r.URL.Path)
		fmt.Fprintf(w, "<title>The %s and the tide</title><p>This page is about the %s. It pulls at the water 2,400 times a year, and the water follows it around the earth.</p>", name, name)
	}))
}

var citeRule = regexp.MustCompile(`\[@(/\w+)\]`)

// fill writes $SITE into files, and the cids of its pages: fill FILE…
func fill(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "$SITE", ts.Getenv("SITE"))
		text = citeRule.ReplaceAllStringFunc(text, func(cite string) string { return "[@" + cidOf(ts, cite[2:len(cite)-1]) + "]" })
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// cid sets a variable to the beginning of a page's cid: cid VARIABLE PATH
func cid(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], cidOf(ts, args[1])[:len("cid_")+8])
}

func cidOf(ts *testscript.TestScript, page string) string {
	normalized, err := citation.Normalize("http://" + ts.Getenv("SITE") + page)
	ts.Check(err)
	return citation.CID(normalized)
}

// exits runs a command and demands an exact exit status: exits 3 tidegate …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
