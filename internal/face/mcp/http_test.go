package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// post sends a request as a client of an older revision does; change may spoil it.
func post(t *testing.T, url, body string, change func(*http.Request)) (status int, answer string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if change != nil {
		change(request)
	}
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	data := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(data)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestHTTPRefusesWhatItShould(t *testing.T) {
	open := httptest.NewServer(mcp.Handler(toys(nil), "", options(nil)))
	defer open.Close()
	closed := httptest.NewServer(mcp.Handler(toys(nil), "secret", options(nil)))
	defer closed.Close()
	for _, tt := range []struct {
		name   string
		server *httptest.Server
		body   string
		change func(*http.Request)
		status int
	}{
		{"a plain request", open, ping, nil, 200},
		{"at the root", open, ping, func(r *http.Request) { r.URL.Path = "/" }, 200},
		{"elsewhere", open, ping, func(r *http.Request) { r.URL.Path = "/etc/passwd" }, 404},
		{"by another method", open, "", func(r *http.Request) { r.Method = "PUT" }, 405},
		{"a page of another origin", open, ping, header("Origin", "https://evil.example"), 403},
		{"a page that hides its origin", open, ping, header("Sec-Fetch-Site", "cross-site"), 403},
		{"a name that was bound to this machine", open, ping, func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		{"the name of this machine", open, ping, func(r *http.Request) { r.Host = "localhost:80" }, 200},
		{"no token", closed, ping, nil, 401},
		{"another token", closed, ping, header("Authorization", "Bearer secre"), 401},
		{"a longer token", closed, ping, header("Authorization", "Bearer secret2"), 401},
		{"another scheme", closed, ping, header("Authorization", "Basic secret"), 401},
		{"the token", closed, ping, header("Authorization", "Bearer secret"), 200},
		{"the token, as some write it", closed, ping, header("Authorization", "bearer  secret"), 200},
		{"the token from another origin", closed, ping, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer secret")
			r.Header.Set("Origin", "https://evil.example")
		}, 403},
		{"nothing", open, "", nil, 400},
		{"no JSON", open, "hello", nil, 400},
		{"half a message", open, ping[:20], nil, 400},
		{"too much", open, `{"x":"` + strings.Repeat("x", 17<<20) + `"}`, nil, 413},
		{"another type", open, ping, header("Content-Type", "text/plain"), 415},
		{"a revision that never was", open, ping, header("Mcp-Protocol-Version", "1999-01-01"), 400},
		{"an unknown method", open, `{"jsonrpc":"2.0","id":1,"method":"tools/burn"}`, nil, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, answer := post(t, tt.server.URL+"/mcp", tt.body, tt.change)
			if status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, answer)
			}
		})
	}
	for _, server := range []*httptest.Server{open, closed} {
		response, err := http.Get(server.URL + "/healthz")
		if err != nil || response.StatusCode != 200 {
			t.Fatalf("/healthz: %v %v", response, err)
		}
		response.Body.Close()
	}
}

func TestTokenIsAskedForBeforeTheBodyIsRead(t *testing.T) {
	server := httptest.NewServer(mcp.Handler(toys(nil), "secret", options(nil)))
	defer server.Close()
	conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	// A body is announced and never sent.
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "401") {
		t.Errorf("got %q %v", line, err)
	}
}

func TestEveryRevisionIsServed(t *testing.T) {
	server := httptest.NewServer(mcp.Handler(toys(nil), "", options(nil)))
	defer server.Close()
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		body := strings.Replace(strings.SplitN(hello, "\n", 2)[0], "2025-11-25", revision, 1)
		status, answer := post(t, server.URL+"/mcp", body, nil)
		if status != 200 || !strings.Contains(answer, `"protocolVersion":"`+revision+`"`) {
			t.Errorf("%s: %d %s", revision, status, answer)
		}
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	status, answer := post(t, server.URL+"/mcp", body, func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "server/discover")
	})
	if status != 200 || !strings.Contains(answer, "2026-07-28") {
		t.Errorf("2026-07-28: %d %s", status, answer)
	}
}

// TestClosedConnectionStopsTheWork closes the connection of a call, in an older
// revision and in the newest.
func TestClosedConnectionStopsTheWork(t *testing.T) {
	h := newHeld()
	server := httptest.NewServer(mcp.Handler(toys(h), "", options(nil)))
	defer server.Close()
	for _, revision := range []string{"2025-06-18", "2026-07-28"} {
		ctx, cancel := context.WithCancel(t.Context())
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_hold","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		if revision < "2026" {
			body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_hold"}}`
		}
		request := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/mcp", strings.NewReader(body)))(t)
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": revision, "Mcp-Method": "tools/call", "Mcp-Name": "toy_hold",
		} {
			request.Header.Set(name, value)
		}
		go func() {
			select {
			case <-h.began:
			case <-t.Context().Done():
			}
			cancel()
		}()
		if response, err := http.DefaultClient.Do(request); err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		if err := <-h.ended; err == nil {
			t.Errorf("%s: the call ended without a reason", revision)
		}
	}
}

func TestProgressOverHTTP(t *testing.T) {
	server := httptest.NewServer(mcp.Handler(toys(nil), "", options(nil)))
	defer server.Close()
	_, answer := post(t, server.URL+"/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"x","times":3},"_meta":{"progressToken":"p"}}}`, nil)
	if strings.Count(answer, "notifications/progress") < 2 || !strings.Contains(answer, `"progress":3`) || !strings.Contains(answer, `"said":"xxx"`) {
		t.Errorf("got %s", answer)
	}
}

// TestBatchesOfOldClients: revision 2025-03-26 has batches, and what names no revision is
// taken for it. Each call of one has its line in the log.
func TestBatchesOfOldClients(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"x","times":1}}},` +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"fail"}}},{"jsonrpc":"2.0","id":3,"method":"tools/list"}]`
	for revision, status := range map[string]int{"": http.StatusOK, "2025-03-26": http.StatusOK, "2025-06-18": http.StatusBadRequest} {
		log := new(journal)
		server := httptest.NewServer(mcp.Handler(toys(nil), "", options(log)))
		got, answer := post(t, server.URL+"/mcp", batch, func(r *http.Request) {
			if revision != "" {
				r.Header.Set("Mcp-Protocol-Version", revision)
			}
		})
		server.Close() // the log has every line then
		want, lines := []string{"rpc=tools/call name=toy_say outcome=ok", "rpc=tools/call name=toy_say outcome=NOT_FOUND", "rpc=tools/list outcome=ok"}, 3
		if status != http.StatusOK {
			want, lines = nil, 1
		}
		text := log.String()
		if got != status || strings.Contains(answer, `"said":"x"`) != (status == http.StatusOK) || strings.Count(text, "\n") != lines {
			t.Errorf("%q: status %d, %s\n%s", revision, got, answer, text)
		}
		for _, each := range want {
			if strings.Count(text, each) != 1 {
				t.Errorf("%q: the log has %q not once:\n%s", revision, each, text)
			}
		}
	}
}

func TestRequestsAreLoggedWithoutTheirContents(t *testing.T) {
	log := new(journal)
	server := httptest.NewServer(mcp.Handler(toys(nil), "secret-token", options(log)))
	defer server.Close()
	auth := header("Authorization", "Bearer secret-token")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"private-words"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"fail"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_say","arguments":{"private-key":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_\nforged line"}}`,
	} {
		post(t, server.URL+"/mcp", body, auth)
	}
	post(t, server.URL+"/mcp", ping, header("Authorization", "Bearer guess"))
	text := log.String()
	for _, want := range []string{
		`method=POST path=/mcp`, `status=200`, `rpc=tools/call name=toy_say outcome=ok`, `outcome=NOT_FOUND`, `outcome=INVALID_ARGS`, `status=401`, `took=`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s:\n%s", want, text)
		}
	}
	for _, secret := range []string{"private", "secret", "guess"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log has %q:\n%s", secret, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines != 5 {
		t.Errorf("%d lines for 5 requests:\n%s", lines, text)
	}
}

// start serves the toys at a free port until stop is called.
func start(t *testing.T, h *held) (url string, stop func() error) {
	t.Helper()
	listener := must.Get(cli.Listen(":0", nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- cli.Serve(ctx, listener, mcp.Handler(toys(h), "", options(nil)), mcp.GraceTime, false)
	}()
	return "http://" + listener.Addr().String() + "/mcp", func() error { cancel(); return <-done }
}

func TestServingAndShuttingDown(t *testing.T) {
	h := newHeld()
	url, stop := start(t, h)
	client := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, nil))(t)
	result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": "x"}})
	if err != nil || result.IsError {
		t.Fatalf("%+v %v", result, err)
	}
	client.Close()
	if status, answer := post(t, url, ping, header("X-Long", strings.Repeat("x", 100<<10))); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: status %d: %s", status, answer)
	}
	if err := stop(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := http.Post(url, "application/json", bytes.NewReader([]byte(ping))); err == nil {
		t.Error("the server still answers")
	}
}

func TestShuttingDownLetsCallsEnd(t *testing.T) {
	h := newHeld()
	url, stop := start(t, h)
	answered := make(chan string, 1)
	go func() {
		_, answer := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_hold"}}`, nil)
		answered <- answer
	}()
	<-h.began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// Once it refuses connections, it is shutting down.
	for {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
		if err != nil {
			break
		}
		conn.Close()
	}
	close(h.release)
	if answer := <-answered; !strings.Contains(answer, "released") {
		t.Errorf("the call was answered with %s", answer)
	}
	if err := <-stopped; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// TestHalfSentRequestsLeaveTheServerAlone opens connections that break off at
// every point of a request.
func TestHalfSentRequestsLeaveTheServerAlone(t *testing.T) {
	server := httptest.NewServer(mcp.Handler(toys(nil), "", options(nil)))
	defer server.Close()
	whole := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: " +
		fmt.Sprint(len(ping)) + "\r\n\r\n" + ping
	for cut := range len(whole) {
		conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
		must.Get(io.WriteString(conn, whole[:cut]))(t)
		conn.Close()
	}
	if status, answer := post(t, server.URL+"/mcp", ping, nil); status != 200 {
		t.Errorf("status %d: %s", status, answer)
	}
}

// TestUsersCallAsAgents: each by a token of their own, and without the role to work only
// what reads.
func TestUsersCallAsAgents(t *testing.T) {
	list := user.List{Home: t.TempDir(), Now: time.Now}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	with := options(nil)
	with.Users = list
	who := tool.New(tool.Spec{Name: "toy_who", Set: "run", Core: true, Summary: "Use this in tests.", Effect: tool.Reads},
		func(ctx context.Context, _ tool.Caller, _ struct{}) (sayOut, error) {
			return sayOut{Said: string(tidegate.ActorOf(ctx).Kind)}, nil
		})
	server := httptest.NewServer(mcp.Handler(append(toys(nil), who), "", with))
	defer server.Close()
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_who","arguments":{}}}`
	const offered = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, _ := post(t, server.URL+"/mcp", offered, nil); status != http.StatusOK {
		t.Errorf("before the first user, a stranger is answered with %d", status)
	}
	for role, writes := range map[user.Role]bool{user.Read: false, user.Decide: false, user.Work: true} {
		token := must.Get(list.Add(person, string(role), role, 0))(t)
		status, answer := post(t, server.URL+"/mcp", offered, header("Authorization", "Bearer "+token))
		if status != http.StatusOK || strings.Contains(answer, `"toy_write"`) != writes || !strings.Contains(answer, `"toy_who"`) {
			t.Errorf("%s: %d %s", role, status, answer)
		}
		if _, answer := post(t, server.URL+"/mcp", ask, header("Authorization", "Bearer "+token)); !strings.Contains(answer, `"said":"agent"`) {
			t.Errorf("%s is not an agent: %s", role, answer)
		}
		if status, _ := post(t, server.URL+"/mcp", offered, nil); status != http.StatusUnauthorized {
			t.Errorf("a stranger is answered with %d", status)
		}
	}
	for _, role := range user.Roles {
		must.Do(t, list.Remove(person, string(role)))
	}
	if status, _ := post(t, server.URL+"/mcp", offered, nil); status != http.StatusUnauthorized {
		t.Errorf("when the last user is gone, a stranger is answered with %d", status)
	}
}
