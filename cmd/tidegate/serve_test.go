package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestServeIsForThosePeopleWithItsAddress starts the pages four times in one home: only
// this machine reaches them, nothing is shown without the token, and open tabs outlive a
// restart: the token stays until another is asked for, or others could have read it.
func TestServeIsForThosePeopleWithItsAddress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	kept := filepath.Join(home, "serve.json")
	start := func(args ...string) (token string) {
		server := exec.Command("tidegate", append([]string{"serve", "--http", "0"}, args...)...)
		server.Dir, server.Env = home, append(os.Environ(), "TIDEGATE_HOME="+home)
		out := must.Get(server.StdoutPipe())(t)
		var said strings.Builder
		server.Stderr = &said
		must.Do(t, server.Start())
		defer func() {
			if err := server.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
			if server.Wait(); !strings.Contains(said.String(), "Open this address in a browser; Ctrl-C ends the server:\n") {
				t.Errorf("it says %q", said.String())
			}
		}()
		lines := bufio.NewScanner(out)
		lines.Scan()
		found := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+/)\?token=(\w{20,})$`).FindStringSubmatch(lines.Text())
		if found == nil {
			t.Fatalf("it serves at %q", lines.Text())
		}
		for at, want := range map[string]int{found[1]: 401, found[1] + "?token=" + strings.Repeat("A", len(found[2])): 401, found[0]: 303} {
			answer := must.Get(http.DefaultTransport.RoundTrip(request(t, at)))(t)
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s is answered with %d, want %d", at, answer.StatusCode, want)
			}
		}
		return found[2]
	}
	first := start()
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token is kept as %v, %v", info, err)
	}
	if start() != first {
		t.Error("a restart has another token")
	}
	second := start("--new-token")
	if second == first {
		t.Error("another token was asked for")
	}
	must.Do(t, os.Chmod(kept, 0o644))
	if start() == second {
		t.Error("a token that others could read is used again")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
		t.Errorf("the home has %v, %v", left, err)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	return r
}
