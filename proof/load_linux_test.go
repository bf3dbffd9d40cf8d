package proof_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

const (
	parts  = 10 // of the time, in which memory is compared
	steady = 16 // MiB by which memory may differ from one part to another
)

// TestServersUnderLoad has agents call tools over MCP on HTTP, people look at pages and
// follow runs, and homes drive runs, all in one home and at once: for ten minutes in
// the long form, or as long as TIDEGATE_SOAK says, for a moment in the short one. No call fails. Afterwards each server
// has the same files open as before, and as many goroutines as one that nobody called;
// the homes have left none; and in the second half of the time each server had no more
// memory than in the first.
func TestServersUnderLoad(t *testing.T) {
	full.Story(t)
	t.Parallel()
	lasts, workers := 100*time.Millisecond, 1
	if full.Asked() {
		lasts, workers = 10*time.Minute, 4
		if asked := os.Getenv("TIDEGATE_SOAK"); asked != "" {
			var err error
			if lasts, err = time.ParseDuration(asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := newOffice(t)
	runs := []folder{o.copied(t, "first", withoutGap, "in summaries"), o.copied(t, "second", withGap, "completed")}
	tools, pages := o.serves(t, "mcp", "--http", "127.0.0.1:0", "--toolsets", "all"), o.serves(t, "serve")
	var made atomic.Int64
	work := map[string]func(ctx context.Context) (one func(n int) error, end func(), err error){
		"MCP": func(ctx context.Context) (func(int) error, func(), error) {
			client := &http.Client{Transport: &http.Transport{}}
			s, err := mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, nil).
				Connect(ctx, &mcp.StreamableClientTransport{Endpoint: tools.url, HTTPClient: client, DisableStandaloneSSE: true}, nil)
			if err != nil {
				return nil, nil, err
			}
			names := []string{"deep_research_run_status", "deep_research_job_list", "deep_research_run_verify"}
			return func(n int) error {
				out, err := overMCP(ctx, s, names[n%len(names)], `{"manifest_path":`+asJSON(runs[n%2].manifest())+`}`)
				if err == nil && !strings.Contains(string(out), `"ok": true`) {
					err = fmt.Errorf("%s: %s", names[n%len(names)], out)
				}
				return err
			}, func() { s.Close(); client.CloseIdleConnections() }, nil
		},
		"pages": func(context.Context) (func(int) error, func(), error) {
			jar, err := cookiejar.New(nil)
			if err != nil {
				return nil, nil, err
			}
			client := &http.Client{Jar: jar, Transport: &http.Transport{}}
			base, token, _ := strings.Cut(pages.url, "?")
			views := []string{"", "runs/first", "runs/second/jobs", "runs/second/report", "runs/first/log", "runs/second/events"}
			get := func(url string) error {
				answer, err := client.Get(url)
				if err != nil {
					return err
				}
				defer answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					return fmt.Errorf("%s: %s", url, answer.Status)
				}
				if !strings.HasSuffix(url, "/events") {
					_, err := io.Copy(io.Discard, answer.Body)
					return err
				}
				lines := bufio.NewScanner(answer.Body) // which does not end by itself
				for lines.Scan() {
					if lines.Text() == "event: line" {
						return nil
					}
				}
				return fmt.Errorf("%s ended: %v", url, lines.Err())
			}
			return func(n int) error { return get(base + views[n%len(views)]) }, client.CloseIdleConnections, get(base + "?" + token)
		},
		"engine": func(ctx context.Context) (func(int) error, func(), error) {
			return func(int) error {
				id := fmt.Sprintf("run%05d", made.Add(1))
				f := o.run(id)
				if _, err := run.Create(ctx, run.Desk{Now: time.Now}, o.env.Home, run.InitInput{Query: question, RunID: id}); err != nil {
					return err
				}
				out, err := engine.Drive(ctx, f.manifest(), engine.Options{Desk: run.Desk{Now: time.Now}, Pool: crew{}, Fetch: fetchArticles, Wait: func(context.Context, time.Duration) {}})
				if err == nil && out.Status != run.Completed {
					err = fmt.Errorf("the run is %s", out.Status)
				}
				return err
			}, func() {}, nil
		},
	}
	round := func(lasts time.Duration) map[string][]time.Duration {
		var mu sync.Mutex
		times := map[string][]time.Duration{}
		var all sync.WaitGroup
		end := time.Now().Add(lasts)
		for name, begin := range work {
			count, least := workers, 6 // one of each view
			if name == "engine" {
				count, least = 1, 1
			}
			for range count {
				all.Go(func() {
					// What a worker starts has its label.
					ctx := pprof.WithLabels(t.Context(), pprof.Labels("load", name))
					pprof.SetGoroutineLabels(ctx)
					one, stop, err := begin(ctx)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					defer stop()
					for n := 0; n < least || time.Now().Before(end); n++ {
						start := time.Now()
						if err := one(n); err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
						mu.Lock()
						times[name] = append(times[name], time.Since(start))
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		return times
	}
	servers := map[string]*server{"MCP": tools, "pages": pages}
	fresh, before, memory := map[string][]string{}, map[string][]string{}, map[string][]int{}
	for name, s := range servers {
		fresh[name] = s.files(t)
	}
	round(lasts / parts) // so that caches are full: pages keep the last runs open
	for name, s := range servers {
		before[name] = s.settled(t, func(files []string) bool { return connections(files) == connections(fresh[name]) })
	}
	measure := func() {
		for name, s := range servers {
			memory[name] = append(memory[name], s.memory(t))
		}
	}
	measure()
	ended := make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() {
		tick := time.NewTicker(lasts / parts)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				measure()
			}
		}
	})
	for name, times := range round(lasts) {
		slices.Sort(times)
		at := func(q float64) time.Duration { return times[int(q*float64(len(times)-1))].Round(10 * time.Microsecond) }
		t.Logf("%-6s %6d calls, median %v, 90 %% %v, 99 %% %v, longest %v", name, len(times), at(0.5), at(0.9), at(0.99), at(1))
	}
	close(ended)
	watched.Wait()
	var left strings.Builder
	if !soon(func() bool {
		left.Reset()
		err := pprof.Lookup("goroutine").WriteTo(&left, 1)
		return err == nil && !strings.Contains(left.String(), `"load":"engine"`)
	}) {
		t.Errorf("the homes left goroutines:\n%s", left.String())
	}
	idle := map[string]*server{"MCP": o.serves(t, "mcp", "--http", "127.0.0.1:0", "--toolsets", "all"), "pages": o.serves(t, "serve")}
	for _, s := range idle { // one call, because a server says where it serves before it does
		files := s.files(t)
		response := must.Get(http.Get(s.url))(t)
		response.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		s.settled(t, func(now []string) bool { return connections(now) == connections(files) })
	}
	for name, s := range servers {
		after := s.settled(t, func(files []string) bool { return slices.Equal(files, before[name]) })
		t.Logf("%-6s %d files before and %d after; MiB of memory in each part of the time %v", name, len(before[name]), len(after), memory[name])
		if !slices.Equal(after, before[name]) {
			t.Errorf("%s has %q open, and had %q", name, after, before[name])
		}
		if list := memory[name]; slices.Max(list[len(list)/2:]) > slices.Max(list[:len(list)/2+1])+steady {
			t.Errorf("%s has grown: %v MiB", name, list)
		}
		had, has := idle[name].goroutines(t), s.goroutines(t)
		t.Logf("%-6s %d goroutines, and %d in one that was called once", name, len(has), len(had))
		// The other may still read its home ahead.
		if len(has) > len(had) {
			t.Errorf("%s has goroutines that one has not that was called once:\n%s", name, strings.Join(has, "\n"))
		}
	}
}

// crew are agents that do what they are asked.
type crew struct{}

func (crew) Do(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	return driver.Answer{Text: storm{Seed: 1}.reply(task)}, nil
}

func (crew) Cancel(context.Context, string) error { return nil }

// server is a process of the program that serves.
type server struct {
	url     string
	process *os.Process
	stacks  chan []string // of its goroutines, when it was made to end by showing them
}

var serverAddress = regexp.MustCompile(`(?:url=|^)(http://\S+)`)

// serves starts the program with such words, and reads its URL from what it prints.
func (o *office) serves(t *testing.T, words ...string) *server {
	t.Helper()
	command := exec.Command(binary, append(words, "--project", o.dir, "--log-level", "info")...)
	command.Dir, command.Env = o.dir, append(os.Environ(), "TIDEGATE_HOME="+o.dir, "GOTRACEBACK=all")
	read, write := must.Both(os.Pipe())(t)
	command.Stdout, command.Stderr = write, write
	must.Do(t, command.Start())
	write.Close()
	t.Cleanup(func() { command.Process.Kill(); command.Wait(); read.Close() })
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		m := serverAddress.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		s := &server{m[1], command.Process, make(chan []string, 1)}
		go func() {
			var stacks []string
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "goroutine ") {
					stacks = append(stacks, "")
				}
				if len(stacks) > 0 {
					stacks[len(stacks)-1] += lines.Text() + "\n"
				}
			}
			s.stacks <- slices.DeleteFunc(stacks, func(stack string) bool {
				return !strings.HasPrefix(stack, "goroutine 1 ") && !strings.Contains(stack, "\ncreated by ") || strings.Contains(stack, "\ncreated by runtime.")
			})
		}()
		return s
	}
	t.Fatalf("tidegate %q does not say where it serves", words)
	return nil
}

// goroutines ends the process and returns the stacks of its goroutines.
func (s *server) goroutines(t *testing.T) []string {
	t.Helper()
	must.Do(t, s.process.Signal(syscall.SIGQUIT))
	stacks := <-s.stacks
	if len(stacks) == 0 {
		t.Fatal("the process does not show its goroutines")
	}
	return stacks
}

// files are what the process has open: files by their names, connections by their kind.
func (s *server) files(t *testing.T) []string {
	t.Helper()
	folder := filepath.Join("/proc", strconv.Itoa(s.process.Pid), "fd")
	list := must.Get(os.ReadDir(folder))(t)
	var names []string
	for _, each := range list {
		name, err := os.Readlink(filepath.Join(folder, each.Name()))
		if err == nil { // one that was just closed is not open
			kind, _, _ := strings.Cut(name, ":[")
			names = append(names, kind)
		}
	}
	slices.Sort(names)
	return names
}

func connections(files []string) int {
	n := 0
	for _, kind := range files {
		if kind == "socket" {
			n++
		}
	}
	return n
}

// settled waits until the files that the process has open are as they should be, and
// returns them.
func (s *server) settled(t *testing.T, enough func(files []string) bool) []string {
	t.Helper()
	soon(func() bool { return enough(s.files(t)) })
	return s.files(t)
}

// soon waits for what happens a moment later, such as that the end of a connection is
// noticed, and reports whether it did within half a minute.
func soon(happened func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if happened() {
			return true
		}
		<-tick.C
	}
	return happened()
}

// memory is what the process has in memory, in MiB.
func (s *server) memory(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.process.Pid), "status"))
	if err != nil {
		t.Error(err)
		return 0
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		t.Error("the process is gone")
		return 0
	}
	kib, _ := strconv.Atoi(string(m[1]))
	return kib >> 10
}
