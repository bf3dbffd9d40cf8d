package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/text/link"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"tidegate": main, "tidegate-in-harbour": inHarbour, "mcp-client": mcpClient, "honest-agent": honestAgent, "obedient-agent": obedientAgent})
}

// sharedFolder is where tests keep what several of them use.
var sharedFolder string

// tests are the tests of this package, with a folder that they share.
type tests struct{ *testing.M }

func (m tests) Run() int {
	var err error
	if sharedFolder, err = os.MkdirTemp("", "tidegate-tests-"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(sharedFolder)
	return m.M.Run()
}

// difference shows where two texts differ, "" where they do not. Scripts start this
// test binary as the program, and go-cmp would slow down every start.
func difference(want, got string) string {
	return string(diff.Diff("want", []byte(want), "got", []byte(got)))
}

// inHarbour is the program in a world that has only the demo's pages.
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

var textRule = regexp.MustCompile(`"@[\w.]+"`)

// mcpClient is an agent's client: it starts the server with its own arguments and
// calls a tool for each line of stdin, "TOOL ARGUMENTS : PATH". It then prints what
// the result has at PATH, or the code of the error. $token stands for the last
// token in a result, "@FILE" for the text of a file.
func mcpClient() {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	command := exec.Command("tidegate", append([]string{"mcp"}, os.Args[1:]...)...)
	command.Stderr = os.Stderr
	ctx := context.Background()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	check(err)
	tools, err := session.ListTools(ctx, nil)
	check(err)
	token := ""
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		if !slices.ContainsFunc(tools.Tools, func(t *mcp.Tool) bool { return t.Name == name }) {
			log.Fatalf("the server does not offer %s", name)
		}
		at := strings.LastIndex(rest, " : ")
		args := strings.ReplaceAll(rest[:at], "$token", token)
		args = textRule.ReplaceAllStringFunc(args, func(name string) string {
			text, err := os.ReadFile(strings.Trim(name, `"@`))
			check(err)
			quoted, err := json.Marshal(string(text))
			check(err)
			return string(quoted)
		})
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		check(err)
		doc, err := codec.Parse([]byte(result.Content[0].(*mcp.TextContent).Text))
		check(err)
		found := doc.Get("error").Get("code")
		if !result.IsError {
			found = doc
			for key := range strings.SplitSeq(rest[at+len(" : "):], ".") {
				found = found.Get(key)
			}
			if lent := doc.Get("job").Get("token").Str(); lent != "" {
				token = lent
			}
		}
		line, err := codec.MarshalLine(found)
		check(err)
		fmt.Printf("%s: %s\n", name, line)
	}
	check(session.Close())
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 scripts(t),
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
			if own, err := exec.LookPath("tidegate"); err == nil {
				env.Setenv("BIN", filepath.Dir(own)) // where no other program is
			}
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1") // whatever runs on this machine
			env.Setenv("LMSTUDIO_BASE_URL", "http://127.0.0.1:1")
			if strings.Contains(filepath.Base(env.WorkDir), "models") {
				startModels(env)
			}
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "full" {
				return false, fmt.Errorf("unknown condition %s", condition)
			}
			return full.Asked(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":      exits,
			"inside":     runsInside,
			"fill":       fill,
			"cid":        cid,
			"demo":       playedDemo,
			"researched": researched,
			"asked":      asked,
		},
	})
}

// newSite is a web site on loopback, at $SITE: articles, a page that is missing,
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

// playedDemo prints the demo and makes the folder that it leaves: demo FOLDER
func playedDemo(ts *testscript.TestScript, neg bool, args []string) {
	if full.Asked() {
		ts.Check(ts.Exec("tidegate", "demo", "--keep", args[0]))
		return
	}
	demo, err := theDemo()
	ts.Check(err)
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(demo.folder)))
	fmt.Fprint(ts.Stdout(), demo.told)
}

// researched is as if the demo's question had been researched: it prints what that
// prints and makes the home that it leaves.
func researched(ts *testscript.TestScript, neg bool, args []string) {
	done, err := theResearch()
	ts.Check(err)
	ts.Check(os.CopyFS(ts.Getenv("TIDEGATE_HOME"), os.DirFS(done.folder)))
	fmt.Fprint(ts.Stdout(), done.told)
}

// cid sets a variable to the beginning of a page's cid: cid VARIABLE PATH
func cid(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], cidOf(ts, args[1])[:len("cid_")+8])
}

func cidOf(ts *testscript.TestScript, page string) string {
	normalized, err := link.Normalize("http://" + ts.Getenv("SITE") + page)
	ts.Check(err)
	return source.CID(normalized)
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
