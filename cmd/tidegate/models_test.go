package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
)

// rightKey is the key that the services of tests accept.
const rightKey = "sk-right-0123456789abcdef"

// hosted is a service of tests that wants a key: each of those that have a name.
var hosted = fakemodel.Service{
	Models: []string{"claude-sonnet-5-5", "gpt-6.1-sol", "anthropic/claude-sonnet-5.5", "gemini-3.8-flash", "deaf-1", "small-1", "secret-price-1"},
	Keys: map[string]fakemodel.Fault{
		rightKey: fakemodel.None, "sk-barred-0123456789abcdef": fakemodel.Forbidden, "sk-broke-0123456789abcdef": fakemodel.NoQuota,
	},
}

// startModels gives a script models: $HOSTED wants a key, $LOCAL has two models and
// $EMPTY none; $PAGE is something else, $MOVED leads elsewhere, and nothing is at
// $NOBODY.
func startModels(env *testscript.Env) {
	say := func(r fakemodel.Request) fakemodel.Reply {
		switch r.Model {
		case "deaf-1":
			return fakemodel.Reply{Fault: fakemodel.NoTools}
		case "small-1":
			return fakemodel.Reply{Fault: fakemodel.TooLong}
		}
		return fakemodel.Reply{Text: "ready"}
	}
	var servers []*fakemodel.Server
	for name, service := range map[string]fakemodel.Service{"HOSTED": hosted, "LOCAL": {Models: []string{"qwen3:32b", "gemma4:31b"}}, "EMPTY": {}} {
		server := fakemodel.StartService(service, say)
		env.Defer(server.Close)
		env.Setenv(name, server.URL)
		servers = append(servers, server)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<title>Open WebUI</title>")) }))
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/v1/models", http.StatusPermanentRedirect))
	nobody := httptest.NewServer(nil)
	env.Defer(page.Close)
	env.Defer(moved.Close)
	nobody.Close()
	env.Setenv("SECURE", "https"+strings.TrimPrefix(servers[0].URL, "http"))
	env.Setenv("PAGE", page.URL)
	env.Setenv("MOVED", moved.URL)
	env.Setenv("NOBODY", nobody.URL)
	env.Setenv("OLLAMA_HOST", nobody.URL)
	env.Setenv("LMSTUDIO_BASE_URL", nobody.URL)
	env.Values["models"] = servers
}

// asked demands that models were asked so often since the last time: asked 0
func asked(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	for _, server := range ts.Value("models").([]*fakemodel.Server) {
		got += server.Forget()
	}
	if got != want {
		ts.Fatalf("models were asked %d times, want %d", got, want)
	}
}
