package model_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/test/agents"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/must"
)

const modelSecret = "sk-test-0123456789abcdef"

// service is one of the endpoints that have a name, with what a test needs to play it.
type service struct {
	driver, model string
	protocol      string
	key, address  string // variables
	path          string // of the address below that of the server
	cost          float64
}

// Costs are by the prices of models.txt, for two replies of 1,234 tokens in, 22 of them
// cached, and 56 out.
var services = []service{
	{"api:anthropic", "claude-sonnet-5-5", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", 2 * (1212*2 + 22*0.10 + 56*10) / 1e6},
	{"api:openai", "gpt-6.1-sol", "responses", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", 2 * (1212*2 + 22*0.10 + 56*10) / 1e6},
	{"api:openrouter", "anthropic/claude-sonnet-5.5", "chat", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL", "/api/v1", 2 * fakemodel.CostUSD},
	{"api:gemini", "gemini-3.8-flash", "chat", "GEMINI_API_KEY", "GEMINI_BASE_URL", "/v1beta/openai", 2 * (1234*0.75 + 56*3.75) / 1e6},
	{"api:ollama", "qwen3:32b", "chat", "", "OLLAMA_HOST", "", 0},
}

// play starts the service and returns a driver for it.
func (s service) play(t *testing.T, of fakemodel.Service, script fakemodel.Script, change func(*driver.Settings, *driver.Host)) *asked {
	t.Helper()
	a := &asked{Server: fakemodel.StartService(of, script)}
	t.Cleanup(a.Close)
	settings := driver.Settings{Driver: s.driver}
	host := driver.Host{Environ: []string{s.address + "=" + a.URL + s.path}, Temp: t.TempDir()}
	if s.key != "" {
		host.Environ = append(host.Environ, s.key+"="+modelSecret)
	}
	host.Open = func(context.Context, driver.Task, string) (string, error) { return "a page", nil }
	if change != nil {
		change(&settings, &host)
	}
	var err error
	if a.driver, err = client.New(settings, host); err != nil {
		t.Fatal(err)
	}
	return a
}

func (s service) with(models ...string) fakemodel.Service {
	of := fakemodel.Service{Models: models, Keys: map[string]fakemodel.Fault{modelSecret: fakemodel.None}}
	if s.key == "" {
		of.Keys = nil
	}
	return of
}

// TestServices has every service think, call a tool and answer, by the rules of its
// protocol, to which the stand-in holds every request.
func TestServices(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s.driver, func(t *testing.T) {
			t.Parallel()
			a := s.play(t, s.with("text-embedding-9", s.model), fakemodel.InTurn(
				fakemodel.Reply{Thinking: "hm, hm", Calls: []fakemodel.Call{{Name: "open", Args: `{"url":"https://example.org/a"}`}, {Name: "open", Args: `{"url":`}}},
				fakemodel.Reply{Thinking: "ah", Text: agents.Answer},
			), nil)
			must.Get(driver.Check(t.Context(), a.driver))(t)
			if got := model.Chosen(a.driver); got != s.model {
				t.Errorf("the model is %q, want %q", got, s.model)
			}
			task := modelTask()
			task.Model = ""
			got, err := a.run(t.Context(), task)
			if err != nil || got.Text != agents.Answer || got.ToolCalls[driver.FetchCalls] != 1 {
				t.Fatalf("got %q, %v and %v", got.Text, got.ToolCalls, err)
			}
			if *got.Usage != (driver.Usage{Input: 2 * fakemodel.InputTokens, Output: 2 * fakemodel.OutputTokens}) {
				t.Errorf("usage is %+v", got.Usage)
			}
			if got.CostUSD == nil || math.Abs(*got.CostUSD-s.cost) > 1e-9 {
				t.Errorf("it cost %v, want %v", got.CostUSD, s.cost)
			}
			for _, r := range a.Requests() {
				if r.Protocol != s.protocol || r.Model != s.model || !slices.Equal(r.Tools, []string{"open"}) {
					t.Errorf("the request is %+v", r)
				}
			}
			if body := a.Requests()[0].Body; !strings.Contains(body, "There is no search of the web here, whatever the task says.") {
				t.Errorf("the model is not told that there is no search: %s", body)
			}
			if results := a.Requests()[1].Results; len(results) != 2 || !strings.Contains(results[0], "a page") || !strings.Contains(results[1], "are not JSON") {
				t.Errorf("the model got %q", results)
			}
			// The session goes on, with everything that the service wants back.
			again := task
			again.Turn, again.Prompt, again.Session = 2, "Shorter.", got.Session
			if _, err := a.run(t.Context(), again); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestServicesAreThoseOfTheConfiguration compares two lists that stand on different floors.
func TestServicesAreThoseOfTheConfiguration(t *testing.T) {
	var names []string
	for _, e := range model.Endpoints() {
		names = append(names, strings.TrimPrefix(e.Driver, "api:"))
	}
	if !slices.Equal(names, config.Services) {
		t.Errorf("endpoints of endpoint.go has %q, and Services of internal/base/config/parse.go %q: both need each service, in the same order", names, config.Services)
	}
}

// TestTheCacheIsUsed looks for the marks that tell Anthropic what to keep.
func TestTheCacheIsUsed(t *testing.T) {
	s := services[0]
	a := s.play(t, s.with(s.model), fakemodel.Say(agents.Answer), nil)
	must.Get(a.run(t.Context(), taskFor(s.model)))(t)
	var body struct {
		System   []map[string]any
		Messages []struct{ Content []map[string]any }
	}
	must.Do(t, json.Unmarshal([]byte(a.Requests()[0].Body), &body))
	if body.System[0]["cache_control"] == nil || body.Messages[0].Content[0]["cache_control"] == nil {
		t.Errorf("there are no marks in %s", a.Requests()[0].Body)
	}
}

func taskFor(model string) driver.Task {
	task := modelTask()
	task.Model = model
	return task
}

// TestCosts prices answers by the table of models.
func TestCosts(t *testing.T) {
	t.Parallel()
	s := services[0]
	for _, test := range []struct {
		model  string
		priced bool
		want   float64 // -1: not known
	}{
		{"claude-opus-5-5", false, ((1234-22)*4 + 22*0.20 + 56*20) / 1e6},
		{"claude-opus-5-5-20260922", false, ((1234-22)*4 + 22*0.20 + 56*20) / 1e6},
		{"claude-none-9", false, -1},
		{"claude-opus-5-5", true, -1},
	} {
		a := s.play(t, s.with(test.model), fakemodel.Say(agents.Answer), func(settings *driver.Settings, _ *driver.Host) { settings.Priced = test.priced })
		got := must.Get(a.run(t.Context(), taskFor(test.model)))(t)
		if test.want < 0 && got.CostUSD != nil || test.want >= 0 && (got.CostUSD == nil || math.Abs(*got.CostUSD-test.want) > 1e-9) {
			t.Errorf("%+v: it cost %v", test, got.CostUSD)
		}
		if got.Usage == nil {
			t.Errorf("%+v: nothing was used", test)
		}
	}
}

// TestServiceFails meets every fault with every service: at the check, which spends
// nothing, or with the first request.
func TestServiceFails(t *testing.T) {
	t.Parallel()
	wrong := map[string]fakemodel.Fault{"another": fakemodel.None}
	for _, s := range services[:4] {
		keyed := func(fault fakemodel.Fault) fakemodel.Service {
			of := s.with(s.model)
			of.Keys = map[string]fakemodel.Fault{modelSecret: fault}
			return of
		}
		for _, test := range []struct {
			name    string
			of      fakemodel.Service
			change  func(*driver.Settings, *driver.Host)
			reply   fakemodel.Reply
			checked bool // the check finds it
			kind    driver.Kind
			lasting bool
			code    tidegate.Code
			help    string
		}{
			{name: "wrong key", of: fakemodel.Service{Models: []string{s.model}, Keys: wrong}, checked: true, kind: driver.Auth, help: "export " + s.key + "=…"},
			{name: "no key", of: s.with(s.model), change: func(_ *driver.Settings, h *driver.Host) { h.Environ = h.Environ[:1] }, checked: true, kind: driver.Auth, help: "export " + s.key + "=…"},
			{name: "blank around the key", of: s.with(s.model), change: func(_ *driver.Settings, h *driver.Host) { h.Environ[1] += "\n" }, checked: true, kind: driver.Auth, help: "export " + s.key + "=…"},
			{name: "forbidden", of: keyed(fakemodel.Forbidden), checked: true, kind: driver.Auth, help: "export " + s.key + "=…"},
			{name: "no money", of: keyed(fakemodel.NoQuota), kind: driver.Unavailable, lasting: true, help: "--agent AGENT"},
			{name: "unknown model", of: s.with(s.model), change: func(settings *driver.Settings, _ *driver.Host) { settings.Model = s.model + "x" }, checked: true, kind: driver.Unavailable, lasting: true, code: tidegate.ModelRequired, help: "--model " + s.model},
			{name: "no model that fits", of: s.with("other-1", "other-2"), checked: true, kind: driver.Unavailable, lasting: true, code: tidegate.ModelRequired, help: "--model NAME"},
			{name: "rate", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.RateLimited, RetryAfter: 7 * time.Second}, kind: driver.Rate},
			{name: "overloaded", of: keyed(fakemodel.Overloaded), kind: driver.Unavailable},
			{name: "500", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.ServerError}, kind: driver.Unavailable},
			{name: "too long", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.TooLong}, kind: driver.Unavailable, lasting: true, code: tidegate.ModelRequired, help: "--model NAME"},
			{name: "cut", of: s.with(s.model), reply: fakemodel.Reply{Text: agents.Answer, Fault: fakemodel.CutStream}, kind: driver.Unavailable},
			{name: "refusal", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.Refusal}, kind: driver.Refused},
			{name: "no text", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.NoText}, kind: driver.Empty},
			{name: "no events", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.NoEvents}, kind: driver.Died},
			{name: "garbage", of: s.with(s.model), reply: fakemodel.Reply{Fault: fakemodel.Garbage}, kind: driver.Died},
			{name: "wrong path", of: s.with(s.model), change: func(_ *driver.Settings, h *driver.Host) { h.Environ[0] += "/wrong" }, kind: driver.Unavailable, lasting: true, code: tidegate.EndpointInvalid},
		} {
			t.Run(s.driver+" "+test.name, func(t *testing.T) {
				t.Parallel()
				a := s.play(t, test.of, func(fakemodel.Request) fakemodel.Reply { return test.reply }, test.change)
				_, err := driver.Check(t.Context(), a.driver)
				if !test.checked {
					if err != nil && test.code != tidegate.EndpointInvalid {
						t.Fatalf("the check finds %v", err)
					}
					_, err = a.run(t.Context(), taskFor(s.model))
				}
				failure := agents.CheckKind(t, err, test.kind)
				if failure == nil {
					return
				}
				if failure.Lasting != test.lasting || failure.Code != test.code || !strings.HasPrefix(failure.Help, test.help) {
					t.Errorf("got %+v", failure)
				}
				if test.kind == driver.Rate && failure.Wait != 7*time.Second {
					t.Errorf("waits for %v", failure.Wait)
				}
				if test.checked && len(a.Requests()) > 0 {
					t.Errorf("%d requests were made", len(a.Requests()))
				}
				if strings.Contains(failure.Message+failure.Help, modelSecret) {
					t.Errorf("the key is in %+v", failure)
				}
			})
		}
	}
}

// TestAddresses tells the address of a service from what people write.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		driver, variable string // what the variable is set to, with $U for the server
	}{
		{"api:anthropic", "ANTHROPIC_BASE_URL=$U"},
		{"api:anthropic", "ANTHROPIC_BASE_URL=$U/v1/"},
		{"api:anthropic", "ANTHROPIC_BASE_URL=$U/v1/messages"},
		{"api:openai", "OPENAI_BASE_URL=$U"},
		{"api:openai", "OPENAI_BASE_URL=$U/v1"},
		{"api:openai", "OPENAI_BASE_URL=$U/v1/responses"},
		{"api:ollama", "OLLAMA_HOST=$U"},
		{"api:ollama", "OLLAMA_HOST=$H"},
		{"api:ollama", "OLLAMA_HOST=:$P"},
		{"api:ollama", "OLLAMA_HOST=0.0.0.0:$P"},
		{"model:$U", "X="},
		{"model:$U/v1/chat/completions", "X="},
	} {
		server := fakemodel.StartService(fakemodel.Service{Models: []string{"m-1"}}, fakemodel.Say(agents.Answer))
		defer server.Close()
		address := strings.TrimPrefix(server.URL, "http://")
		fill := strings.NewReplacer("$U", server.URL, "$H", address, "$P", address[strings.LastIndex(address, ":")+1:]).Replace
		d, err := client.New(driver.Settings{Driver: fill(test.driver), Model: "m-1"},
			driver.Host{Environ: []string{fill(test.variable), "ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k"}, Temp: t.TempDir()})
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if _, err := driver.Check(t.Context(), d); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		if got, err := d.Run(t.Context(), taskFor("m-1"), func(driver.Event) {}); err != nil || got.Text != agents.Answer {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestModelsAreNamedOrFound is about endpoints that have a name for nothing.
func TestModelsAreNamedOrFound(t *testing.T) {
	t.Parallel()
	ollama := services[4]
	for _, test := range []struct {
		of      fakemodel.Service
		named   string
		want    string // "" for a failure
		choices []string
		help    string
	}{
		{of: fakemodel.Service{Models: []string{"qwen3:32b"}}, want: "qwen3:32b"},
		{of: fakemodel.Service{Models: []string{"nomic-embed-text:latest", "qwen3:32b"}}, want: "qwen3:32b"},
		{of: fakemodel.Service{Models: []string{"qwen3:32b", "gemma4:31b"}}, choices: []string{"qwen3:32b", "gemma4:31b"}, help: "--model NAME"},
		{of: fakemodel.Service{Models: []string{"qwen3:32b", "gemma4:31b"}}, named: "gemma4:31b", want: "gemma4:31b"},
		{of: fakemodel.Service{Models: []string{"qwen3:latest"}}, named: "qwen3", want: "qwen3"},
		{of: fakemodel.Service{Models: []string{"qwen3:32b"}}, named: "qwen3:33b", choices: []string{"qwen3:32b"}, help: "--model qwen3:32b"},
		{of: fakemodel.Service{Models: []string{"qwen3:32b"}}, named: "gpt-oss:20b", choices: []string{"qwen3:32b"}, help: "ollama pull gpt-oss:20b"},
		{of: fakemodel.Service{Models: []string{}}, help: "ollama pull qwen3"},
		{of: fakemodel.Service{NoList: true}, help: "--model NAME"},
		{of: fakemodel.Service{NoList: true}, named: "m-1", want: "m-1"},
	} {
		a := ollama.play(t, test.of, fakemodel.Say(agents.Answer), func(s *driver.Settings, _ *driver.Host) { s.Model = test.named })
		_, err := driver.Check(t.Context(), a.driver)
		if got := model.Chosen(a.driver); got != test.want {
			t.Errorf("%+v: the model is %q", test, got)
		}
		var failure *driver.Error
		if errors.As(err, &failure) != (test.want == "") {
			t.Errorf("%+v: got %v", test, err)
		}
		if failure != nil && (failure.Code != tidegate.ModelRequired || !slices.Equal(failure.Choices, test.choices) || failure.Help != test.help) {
			t.Errorf("%+v: got %+v", test, failure)
		}
	}
}

// TestUnfitAddresses are addresses at which something else is.
func TestUnfitAddresses(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<!doctype html><title>Open WebUI</title>"))
	}))
	defer page.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/v1/models", http.StatusPermanentRedirect))
	defer moved.Close()
	right := fakemodel.StartService(fakemodel.Service{Models: []string{"m-1"}}, fakemodel.Say(agents.Answer))
	defer right.Close()
	for _, test := range []struct{ address, want string }{
		{page.URL, "something else than a list of models"},
		{moved.URL, "leads to https://elsewhere.example/v1/models: name that address"},
		{right.URL + "/api", "but " + right.URL + "/v1 has a list of models"},
		{strings.Replace(right.URL, "http://", "https://", 1), " wants http://"},
	} {
		d, err := client.New(driver.Settings{Driver: "model:" + test.address}, driver.Host{Environ: []string{"X=1"}, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = driver.Check(t.Context(), d)
		failure := agents.CheckKind(t, err, driver.Unavailable)
		if failure != nil && (failure.Code != tidegate.EndpointInvalid || !failure.Lasting || failure.Help == "" || !strings.Contains(failure.Message, test.want)) {
			t.Errorf("%s: got %+v", test.address, failure)
		}
	}
}

// TestAModelWithoutReasoning is asked again without what it does not understand.
func TestAModelWithoutReasoning(t *testing.T) {
	s := services[1]
	a := s.play(t, s.with("plain-1"), fakemodel.Say(agents.Answer), nil)
	if got, err := a.run(t.Context(), taskFor("plain-1")); err != nil || got.Text != agents.Answer {
		t.Errorf("got %q and %v", got.Text, err)
	}
}

// TestAKeyThatIsRepeated has a service repeat the key wherever it can.
func TestAKeyThatIsRepeated(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, key string){
		"a status": func(w http.ResponseWriter, key string) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error":{"message":"%s is not known"}}`, key)
		},
		"a text": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, `{"detail":"%s"}`, key) },
		"an event": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, "data: {\"error\":{\"message\":\"overloaded by %s\"}}\n\n", key)
		},
		"a refusal": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"refusal\":\"not for %s\"},\"finish_reason\":\"stop\"}]}\n\n", key)
		},
		"a call": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"open\",\"arguments\":\"{\\\"url\\\":\\\"https://example.org/%s\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n", key)
		},
		"an answer, in two pieces": func(w http.ResponseWriter, key string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"it is %s\"}}]}\n\n", key[:9])
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s.\"},\"finish_reason\":\"stop\"}]}\n\n", key[9:])
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer(w, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}))
		defer server.Close()
		d := must.Get(client.New(driver.Settings{Driver: "model:" + server.URL + "/v1", KeyEnv: "K"}, driver.Host{Environ: []string{"K=" + modelSecret}, Temp: t.TempDir(), Open: func(_ context.Context, _ driver.Task, url string) (string, error) { return url, nil }}))(t)
		var events []driver.Event
		got, err := d.Run(t.Context(), taskFor("m-1"), func(e driver.Event) { events = append(events, e) })
		if all := fmt.Sprintf("%+v %v %+v", got, err, events); strings.Contains(all, modelSecret) || !strings.Contains(all, "[key]") && name != "a text" {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// TestAHostileService has a server that keeps to no protocol. Each attempt ends, as a failure of
// the service or with the answer that came before the end, and nothing is called that was not
// offered.
func TestAHostileService(t *testing.T) {
	t.Parallel()
	event := func(choice string) string { return "data: {\"choices\":[" + choice + "]}\n\n" }
	for name, send := range map[string]func(conn net.Conn){
		"headers without end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, "X-More: "+strings.Repeat("x", 1<<16)+"\r\n")
			}
		},
		"a header line without end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-More: ")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, strings.Repeat("x", 1<<16))
			}
		},
		"provisional answers without end": func(conn net.Conn) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			}
		},
		"a line without end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, strings.Repeat("x", 1<<16))
			}
		},
		"comments without end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, strings.Repeat(": still here\n\n", 4096))
			}
		},
		"calls without end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			for i, err := 0, error(nil); err == nil; i++ {
				_, err = fmt.Fprint(conn, event(fmt.Sprintf(`{"delta":{"tool_calls":[{"index":%d,"id":"call_of_another_job","function":{"name":"job_submit","arguments":"{\\"job\\":\\"wave1.moon\\"}"}}]}}`, i)))
			}
		},
		"a redirect to a file": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 307 Moved\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
		},
		"an answer behind the end": func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+
				event(`{"delta":{"content":"the answer"},"finish_reason":"stop"}`)+"data: [DONE]\n\n"+event(`{"delta":{"content":" and what came late"},"finish_reason":"stop"}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
							io.Copy(io.Discard, r.Body)
							send(conn)
						}
					}()
				}
			}()
			opened := 0
			host := driver.Host{Environ: []string{"K=" + modelSecret}, Temp: t.TempDir(), Open: func(context.Context, driver.Task, string) (string, error) { opened++; return "page", nil }}
			d := must.Get(client.New(driver.Settings{Driver: "model:http://" + listener.Addr().String() + "/v1", KeyEnv: "K"}, host))(t)
			got, err := d.Run(t.Context(), taskFor("m-1"), func(driver.Event) {})
			if name == "an answer behind the end" {
				if err != nil || got.Text != "the answer" {
					t.Errorf("the answer is %q, %v", got.Text, err)
				}
			} else if failure := (*driver.Error)(nil); !errors.As(err, &failure) {
				t.Errorf("got %q, %v", got.Text, err)
			}
			if opened > 0 {
				t.Errorf("%d pages were opened", opened)
			}
		})
	}
}
