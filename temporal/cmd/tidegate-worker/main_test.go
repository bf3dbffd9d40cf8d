package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal/server"
)

// The variable by which the test binary is the program: with the pool on Temporal, or
// with the local one.
const programVariable = "TIDEGATE_WORKER_TEST_POOL"

func TestMain(m *testing.M) {
	cli.Released = "test"
	switch os.Getenv(programVariable) {
	case "far":
		os.Exit(status(os.Args[1:], workersOf))
	case "local":
		os.Exit(status(os.Args[1:], func(*catalog.Env, *serverFlags) *dispatch.Workers { return nil }))
	case "server":
		os.Exit(server.Main(os.Args[1:]))
	case "agent":
		os.Exit(slowAgent())
	}
	os.Exit(m.Run())
}

// process is the program, started.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	name string
	done chan struct{}
	err  error // once done is closed

	mu    sync.Mutex
	lines []string // of stdout and stderr
	added chan struct{}
}

// begin starts the program with the pool on Temporal. It is killed when the test ends.
func begin(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return beginAs(t, "far", env, args...)
}

func beginAs(t *testing.T, pool string, env []string, args ...string) *process {
	t.Helper()
	return beginBy(t, (*exec.Cmd).Start, os.Args[0], pool, env, args...)
}

// beginBy starts a copy of the program in a way of its own.
func beginBy(t *testing.T, start func(*exec.Cmd) error, program, pool string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: strings.Join(args, " "), done: make(chan struct{}), added: make(chan struct{}, 1)}
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(append(os.Environ(), programVariable+"="+pool, "TEMPORAL_ADDRESS=", "XDG_CONFIG_HOME="+t.TempDir()), env...)
	p.cmd.Dir = t.TempDir()
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	must.Do(t, start(p.cmd))
	go p.read(out)
	go func() {
		p.err = p.cmd.Wait()
		in.Close()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s:\n%s", p.name, p.text())
		}
	})
	return p
}

func (p *process) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		p.mu.Unlock()
		select {
		case p.added <- struct{}{}:
		default:
		}
	}
	io.Copy(io.Discard, out)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// says waits until a line of the program matches, and returns its first group.
func (p *process) says(pattern string) string {
	p.t.Helper()
	wanted := regexp.MustCompile(pattern)
	deadline := time.After(2 * time.Minute)
	for {
		if found := wanted.FindStringSubmatch(p.text()); found != nil {
			return found[len(found)-1]
		}
		select {
		case <-p.added:
		case <-p.done:
			if wanted.FindString(p.text()) == "" {
				p.t.Fatalf("%s ended (%v) without saying %q:\n%s", p.name, p.err, pattern, p.text())
			}
		case <-deadline:
			p.t.Fatalf("%s does not say %q:\n%s", p.name, pattern, p.text())
		}
	}
}

// ends waits for the end of the program and returns its exit status.
func (p *process) ends() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(3 * time.Minute):
		p.t.Fatalf("%s does not end:\n%s", p.name, p.text())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// kill kills the program and waits until it is gone.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// beginServer starts the server for trying out as a process and returns its address.
func beginServer(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	p := beginAs(t, "server", nil, append([]string{"--port", "0"}, args...)...)
	return p, p.says(`listens at (\S+),`)
}

// beginWorker starts a worker and waits until it takes tasks.
func beginWorker(t *testing.T, address string, env []string, args ...string) *process {
	t.Helper()
	p := begin(t, env, append([]string{"--address", address}, args...)...)
	p.says("takes tasks of the queue")
	return p
}

// tree are the files of a folder by name.
func tree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must.Do(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	}))
	return files
}
