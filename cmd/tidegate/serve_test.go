package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestServeIsForThosePeopleWithItsAddress starts the pages twice in one home: only
// this machine reaches them, each start has a token of its own, nothing is shown
// without it, and looking writes nothing.
func TestServeIsForThosePeopleWithItsAddress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var addresses []string
	for range 2 {
		server := exec.Command("tidegate", "serve")
		server.Dir, server.Env = home, append(os.Environ(), "TIDEGATE_HOME="+home)
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
			server.Wait()
		})
		lines := bufio.NewScanner(out)
		lines.Scan()
		addresses = append(addresses, lines.Text())
	}
	tokens := map[string]bool{}
	for _, address := range addresses {
		found := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+/)\?token=(\w{20,})$`).FindStringSubmatch(address)
		if found == nil {
			t.Fatalf("it serves at %q", address)
		}
		tokens[found[2]] = true
		for at, want := range map[string]int{found[1]: 401, found[1] + "?token=" + strings.Repeat("A", len(found[2])): 401, address: 303} {
			answer, err := http.DefaultTransport.RoundTrip(request(t, at))
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s is answered with %d, want %d", at, answer.StatusCode, want)
			}
		}
	}
	if len(tokens) != 2 {
		t.Error("both have the same token")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the home has %v, %v", left, err)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
