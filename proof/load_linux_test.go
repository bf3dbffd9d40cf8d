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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/engine"
	"github.com/tidegate/tidegate/internal/full"
	"github.com/tidegate/tidegate/run"
)

// stillClosing is how many connections and folders a server may still have open that it did
// not have before.
const stillClosing = 16

// TestServersUnderLoad has agents call tools over MCP on HTTP, people look at pages,
// and homes drive runs, all in one home and at once: for ten minutes in the long form,
// for a moment in the short one. No call fails, and afterwards each server has as
// many files open as before, but for connections that are closing, and has not grown.
func TestServersUnderLoad(t *testing.T) {
	t.Parallel()
	lasts, workers := 100*time.Millisecond, 2
	if full.Asked() {
		lasts, workers = 10*time.Minute, 4
	}
	o := newOffice(t)
	runs := []folder{o.run("first").climb(t, withoutGap, "in summaries"), o.run("second").climb(t, withGap, "completed")}
	tools := o.serves(t, regexp.MustCompile(`url=(http://\S+)`), "mcp", "--http", "127.0.0.1:0", "--project", o.dir)
	pages := o.serves(t, regexp.MustCompile(`(http://\S+)`), "serve", "--project", o.dir)
	session := func(ctx context.Context) (*mcp.ClientSession, error) {
		return mcp.NewClient(&mcp.Implementation{Name: "load", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: tools.url, DisableStandaloneSSE: true}, nil)
	}
	work := map[string]func(ctx context.Context) (one func(n int) error, end func(), err error){
		"MCP": func(ctx context.Context) (func(int) error, func(), error) {
			s, err := session(ctx)
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
			}, func() { s.Close() }, nil
		},
		"pages": func(context.Context) (func(int) error, func(), error) {
			jar, err := cookiejar.New(nil)
			if err != nil {
				return nil, nil, err
			}
			client := &http.Client{Jar: jar, Transport: &http.Transport{}}
			base, token, _ := strings.Cut(pages.url, "?")
			views := []string{"", "runs/first", "runs/second/jobs", "runs/second/report", "runs/first/log"}
			get := func(url string) error {
				answer, err := client.Get(url)
				if err != nil {
					return err
				}
				defer answer.Body.Close()
				if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
					return fmt.Errorf("%s: %s %v", url, answer.Status, err)
				}
				return nil
			}
			return func(n int) error { return get(base + views[n%len(views)]) }, client.CloseIdleConnections, get(base + "?" + token)
		},
		"engine": func(ctx context.Context) (func(int) error, func(), error) {
			var mu sync.Mutex
			made := 0
			return func(int) error {
				mu.Lock()
				made++
				id := fmt.Sprintf("run%p%05d", &mu, made)
				mu.Unlock()
				f := o.run(id)
				if _, err := run.Create(ctx, run.Clock{Now: time.Now}, o.env.Home, run.InitInput{Query: question, RunID: id}); err != nil {
					return err
				}
				pool := &agents{storm: storm{Seed: 1, Episode: 99}, late: func() {}}
				out, err := engine.Drive(ctx, f.manifest(), engine.Options{Clock: run.Clock{Now: time.Now}, Pool: pool, Fetch: fetchArticles, Wait: func(context.Context, time.Duration) {}})
				if err == nil && out.Status != run.Completed && out.Status != run.Failed {
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
			count := workers
			if name == "engine" {
				count = 1
			}
			for range count {
				all.Go(func() {
					one, stop, err := begin(t.Context())
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					defer stop()
					for n := 0; n == 0 || time.Now().Before(end); n++ {
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
	round(lasts / 10) // so that caches are full
	servers := map[string]*server{"MCP": tools, "pages": pages}
	before := map[string][2]int{}
	for name, s := range servers {
		before[name] = [2]int{s.files(t), s.memory(t)}
	}
	for name, times := range round(lasts) {
		slices.Sort(times)
		at := func(q float64) time.Duration { return times[int(q*float64(len(times)-1))].Round(10 * time.Microsecond) }
		t.Logf("%-6s %6d calls, median %v, 90 %% %v, 99 %% %v, longest %v", name, len(times), at(0.5), at(0.9), at(0.99), at(1))
	}
	for name, s := range servers {
		files := s.files(t)
		memory := s.memory(t)
		t.Logf("%-6s %d files before and %d after; %d MiB before and %d after", name, before[name][0], files, before[name][1]>>10, memory>>10)
		if files > before[name][0]+stillClosing {
			t.Errorf("%s has %d files open, and had %d", name, files, before[name][0])
		}
		if grown := memory - before[name][1]; grown > 64<<10 {
			t.Errorf("%s has grown by %d MiB", name, grown>>10)
		}
	}
}

// server is a process of the program that serves.
type server struct {
	url string
	pid int
}

// serves starts the program with such words, and reads its URL from what it prints.
func (o *office) serves(t *testing.T, url *regexp.Regexp, words ...string) *server {
	t.Helper()
	command := exec.Command(binary, append(words, "--log-level", "info")...)
	command.Dir, command.Env = o.dir, append(os.Environ(), "TIDEGATE_HOME="+o.dir)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = write, write
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() { command.Process.Kill(); command.Wait(); read.Close() })
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		if m := url.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, read)
			return &server{m[1], command.Process.Pid}
		}
	}
	t.Fatalf("tidegate %q does not say where it serves", words)
	return nil
}

// files is how many files and connections the process has open.
func (s *server) files(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(s.pid), "fd"))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// memory is what the process has in memory, in KiB.
func (s *server) memory(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		t.Fatal("the process is gone")
	}
	kib, _ := strconv.Atoi(string(m[1]))
	return kib
}
