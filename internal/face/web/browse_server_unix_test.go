//go:build unix

package web_test

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// TestBrowserOutlivesTheServer has tabs open on the pages of the real program: they say that
// it was killed and that it hangs, and go on by themselves when it is there again, with the
// port and the token that it had; without the token they say what to do.
func TestBrowserOutlivesTheServer(t *testing.T) {
	needsChromium(t)
	program := filepath.Join(t.TempDir(), "tidegate")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/tidegate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, manifest, desk := newRun(t)
	serve := func(args ...string) (*exec.Cmd, *url.URL) {
		t.Helper()
		server := exec.Command(program, append([]string{"serve"}, args...)...)
		server.Dir, server.Env = s.Project, append(os.Environ(), "TIDEGATE_HOME="+s.Project)
		out := must.Get(server.StdoutPipe())(t)
		must.Do(t, server.Start())
		t.Cleanup(func() { server.Process.Kill(); server.Wait() })
		lines := bufio.NewScanner(out)
		lines.Scan()
		at, err := url.Parse(lines.Text())
		if err != nil || at.Host == "" {
			t.Fatalf("it serves at %q, %v", lines.Text(), err)
		}
		return server, at
	}
	kill := func(server *exec.Cmd) {
		t.Helper()
		must.Do(t, server.Process.Kill())
		server.Wait()
	}
	server, at := serve("--http", "127.0.0.1:0")
	base, secret := "http://"+at.Host, at.Query().Get("token")
	ofRun, list := tabAt(t, base, secret), tabAt(t, base, secret)
	ofRun.open("/runs/rain")
	both := func(state, words string) {
		t.Helper()
		for _, p := range []*tab{ofRun, list} {
			p.until(`document.getElementById("live").dataset.state == "` + state + `" && document.getElementById("live").textContent.includes("` + words + `")`)
		}
	}
	both("live", "live")
	kill(server)
	both("lost", "the server is gone")
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Get(stage.Pause(person, desk, stage.ControlInput{ManifestPath: manifest, Reason: "lunch"}))(t)
	server, again := serve("--http", at.Host)
	if again.String() != at.String() {
		t.Fatalf("after a restart it is at %s, and was at %s", again, at)
	}
	both("live", "live")
	for _, p := range []*tab{ofRun, list} { // what was written meanwhile is there
		p.until(`document.body.innerText.toLowerCase().includes("paused")`)
	}
	must.Do(t, server.Process.Signal(syscall.SIGSTOP))
	both("lost", "the server does not answer")
	must.Do(t, server.Process.Signal(syscall.SIGCONT))
	both("live", "live")
	kill(server)
	_, other := serve("--http", at.Host, "--new-token")
	if strings.Contains(other.String(), secret) {
		t.Fatal("the token is the same")
	}
	both("lost", "open the address that the server printed")
}
