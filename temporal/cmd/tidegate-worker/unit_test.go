package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal"
)

func TestQueues(t *testing.T) {
	for _, test := range []struct {
		flag string
		want map[string]string // nil for a fault
	}{
		{"", map[string]string{"": "tidegate"}},
		{"researchers", map[string]string{"": "researchers"}},
		{"a,reviewer=b,writer=c", map[string]string{"": "a", "reviewer": "b", "writer": "c"}},
		{"reviewer=b", map[string]string{"": "tidegate", "reviewer": "b"}},
		{"reviewers=b", nil},
		{"a,", nil},
		{"reviewer=", nil},
		{"a b", nil},
		{"a.b", nil},
		{strings.Repeat("a", 201), nil},
	} {
		got, err := (&serverFlags{queue: test.flag}).queues()
		if (err == nil) != (test.want != nil) || err == nil && !maps.Equal(got, test.want) {
			t.Errorf("%q: %v, %v", test.flag, got, err)
		}
	}
}

// TestHomeNamesItsServer: what a person types to resume a far home leads to the same
// workers.
func TestHomeNamesItsServer(t *testing.T) {
	t.Setenv("TEMPORAL_ADDRESS", "of.the.environment:1")
	for typed, want := range map[string]string{
		"":                                  " --address of.the.environment:1 --queue tidegate",
		"address=host:2 queue=a,reviewer=b": " --address host:2 --queue 'a,reviewer=b'",
		"tls=true namespace=team api-key=/k patience=1m tls-ca=": " --address of.the.environment:1 --queue tidegate --api-key /k --namespace team --patience 1m --tls",
	} {
		f := &serverFlags{}
		for _, setting := range f.settings() {
			for _, pair := range strings.Fields(typed) {
				if name, value, _ := strings.Cut(pair, "="); name == setting.Name {
					setting.Set(value)
				}
			}
		}
		if got := f.again(); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "90s": 90 * time.Second, "10m": 10 * time.Minute} {
		if got, err := duration("patience", text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"90", "-1s", "0s", "soon"} {
		if got, err := duration("patience", text); err == nil || !strings.Contains(err.Error(), "--patience") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestCommandOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"--queue q":      "work --queue q",
		"work --queue q": "work --queue q",
		"research q":     "research q",
		"":               "",
		"--help":         "--help",
		"--version":      "--version",
	} {
		if got := strings.Join(withCommand(strings.Fields(line)), " "); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

// TestScreenShowsTasks follows two tasks on the worker's screen.
func TestScreenShowsTasks(t *testing.T) {
	w := &temporal.Worker{Queue: "researchers", Name: "host, process 7", Agents: map[string]temporal.Agent{"researcher": {Name: "claude"}}}
	v := newView(cli.Invocation{Program: cli.Program{Stdout: io.Discard}}, w)
	v.screen = screen.NewScreen(io.Discard)
	task := func(job string) temporal.Notice {
		return temporal.Notice{Task: driver.Task{ID: "sha256:" + job, Job: job, Attempt: 1, Turn: 1}, Driver: "claude"}
	}
	shows := func(wanted ...string) {
		t.Helper()
		text := strings.Join(v.now().Lines(screen.Size{Columns: 100, Rows: 30}), "\n")
		for _, words := range wanted {
			if !strings.Contains(text, words) {
				t.Errorf("the screen does not show %q:\n%s", words, text)
			}
		}
	}
	shows("researchers", "host, process 7 with claude", "takes tasks")
	v.notice(task("wave1.grid"))
	v.notice(task("wave1.cost"))
	called := task("wave1.grid")
	called.Event = &driver.Event{Kind: driver.ToolCall, Tool: "search_calls"}
	v.notice(called)
	shows("wave1.grid", "wave1.cost", "search_calls", "begun with claude")
	if len(v.tasks) != 2 {
		t.Errorf("%d tasks", len(v.tasks))
	}
	for job, err := range map[string]error{"wave1.grid": nil, "wave1.cost": errors.New("died: \x1b[2Jclaude ended")} {
		ended := task(job)
		ended.Ended, ended.Err = true, err
		v.notice(ended)
	}
	v.ending = true
	shows("answered", "failed: died", "finishes its tasks")
	if len(v.tasks) != 0 || v.done != 1 || v.failed != 1 {
		t.Errorf("%d tasks, %d done, %d failed", len(v.tasks), v.done, v.failed)
	}
	if text := strings.Join(v.now().Lines(screen.Size{Columns: 100, Rows: 30}), "\n"); strings.Contains(text, "\x1b[2J") {
		t.Error("an agent wrote on the terminal")
	}
}

func TestMetrics(t *testing.T) {
	if _, _, _, err := serveMetrics("nowhere", "x"); err == nil {
		t.Error("metrics are served nowhere")
	}
	handler, at, stop, err := serveMetrics("127.0.0.1:0", "tidegate_worker")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	handler.WithTags(map[string]string{"task_queue": "researchers"}).Counter("temporal_test").Inc(3)
	until(t, "the counter is there", func() bool {
		response := must.Get(http.Get(at))(t)
		defer response.Body.Close()
		text := must.Get(io.ReadAll(response.Body))(t)
		return strings.Contains(string(text), `tidegate_worker_temporal_test_total{task_queue="researchers"} 3`)
	})
}

// TestTLSOfTheEnvironment holds TEMPORAL_TLS to what it asks for: no word of it leads to
// a connection without TLS but one that says so.
func TestTLSOfTheEnvironment(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	first := make(chan byte, 16)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			var b [1]byte
			if n, _ := conn.Read(b[:]); n == 1 {
				select {
				case first <- b[0]:
				default:
				}
			}
			conn.Close()
		}
	}()
	const handshake = 0x16
	for said, tls := range map[string]bool{"true": true, "1": true, "T": true, "false": false} {
		t.Setenv("TEMPORAL_TLS", said)
		ctx, stop := context.WithCancel(t.Context())
		server := &serverFlags{options: temporal.Options{Address: listener.Addr().String()}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if connection, err := server.connect(ctx); err == nil {
				connection.Close()
			}
		}()
		if got := <-first; (got == handshake) != tls {
			t.Errorf("TEMPORAL_TLS=%s: the first byte is %#x", said, got)
		}
		stop()
		<-ended
		for len(first) > 0 {
			<-first
		}
	}
	for _, said := range []string{"yes", "on", "required"} {
		t.Setenv("TEMPORAL_TLS", said)
		if _, err := (&serverFlags{}).connect(t.Context()); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("TEMPORAL_TLS=%s: %v", said, err)
		}
	}
}
