package web_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

var update = flag.Bool("update", false, "rewrite the golden pages")

var pinned = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// play is a folder in which the whole demo was played: a run with its report,
// and a change with its reviews. It is played once.
var play = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "web-")
	if err != nil {
		return "", err
	}
	made = folder
	typed := program(folder)
	player := &demo.Player{Out: io.Discard, Folder: folder, Run: func(ctx context.Context, args []string, _ io.Writer) int {
		if len(args) > 1 && args[1] == "replay" {
			return 0 // it takes long, and makes nothing that a page shows
		}
		return typed(ctx, args)
	}}
	return folder, player.Play(context.Background())
})

var made string

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		web.NeverEarly()
	}
	code := m.Run()
	if chromium.cancel != nil {
		chromium.cancel()
	}
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

// program runs command lines in a folder, with a clock that stands still.
func program(folder string) func(context.Context, []string) int {
	env := environment(folder)
	var out bytes.Buffer
	p := cli.Program{Tools: catalog.Tools(env), Commands: research.Commands(recorded(env)), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: folder, Version: "test"}
	p.Commands = append(p.Commands, cli.Command{Path: "report", Operands: []tool.Operand{{Name: "RUN"}}, Flags: []tool.Flag{{Name: "format"}, {Name: "output"}},
		Run: func(context.Context, cli.Invocation) error { return nil }})
	return p.Run
}

func environment(folder string) *catalog.Env {
	now := func() time.Time { return pinned }
	return &catalog.Env{Now: now, Pinned: true, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Fetch: demo.Pages{Now: now}.Fetch}
}

func recorded(env *catalog.Env) *catalog.Env {
	env.Recordings = map[string]dispatch.Recording{"demo": {Unpack: demo.UnpackAgents, Fetch: demo.Pages{Now: env.Now}.Fetch, Question: demo.Question, Shape: demo.Shape}}
	return env
}

func site(folder string) *web.Site {
	env := environment(folder)
	return &web.Site{Home: env.Home, Project: folder, Desk: run.Desk{Now: env.Now, Pinned: true}, Version: "test",
		Standing: recorded(env).Standing}
}

const token = "OPENSESAME"

// browser is a client that keeps cookies and has visited the address that serve
// prints.
type browser struct {
	*http.Client
	base string
	cut  func() // cuts all connections to the server
}

func visit(t testing.TB, s *web.Site, public *url.URL) *browser {
	t.Helper()
	server := httptest.NewUnstartedServer(web.Handler(s, token, public))
	streams, stop := context.WithCancel(context.Background())
	server.Config.BaseContext = func(net.Listener) context.Context { return streams }
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(stop) // closing waits for every stream
	jar := must.Get(cookiejar.New(nil))(t)
	b := &browser{&http.Client{Jar: jar}, server.URL, server.CloseClientConnections}
	if status, _ := b.get(t, "/?token="+token); status != http.StatusOK {
		t.Fatalf("the first visit is answered with %d", status)
	}
	return b
}

func (b *browser) get(t testing.TB, path string) (status int, body string) {
	t.Helper()
	answer := must.Get(b.Get(b.base + path))(t)
	defer answer.Body.Close()
	data := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(data)
}

// demoSite is the site of the demo.
func demoSite(t testing.TB) *web.Site {
	t.Helper()
	folder := must.Get(play())(t)
	return site(folder)
}
