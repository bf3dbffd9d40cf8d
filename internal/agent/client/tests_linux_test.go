package client_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/must"
)

func runTests(t *testing.T, tests sandbox.Tests, environ ...string) (string, int) {
	t.Helper()
	tests.Dir = t.TempDir()
	if tests.Limit == 0 {
		tests.Limit = time.Minute
	}
	output, status := must.Both(sandbox.RunTests(t.Context(), driver.Host{Temp: t.TempDir(), Environ: append(environ, "PATH="+os.Getenv("PATH"))}, tests))(t)
	return string(output), status
}

func TestTestsSayWhatTheyWriteAndHowTheyEnd(t *testing.T) {
	t.Parallel()
	output, status := runTests(t, sandbox.Tests{Command: "echo one; echo two >&2; cat; exit 7"})
	if output != "one\ntwo\n" || status != 7 {
		t.Errorf("got %q and %d", output, status)
	}
	if output, status := runTests(t, sandbox.Tests{Command: "kill -9 $$"}); status != -1 || !strings.Contains(output, "ended by a signal") {
		t.Errorf("a killed command: %q and %d", output, status)
	}
}

// TestTestsGetNoLogin is about the agents' variables and the person's secrets.
func TestTestsGetNoLogin(t *testing.T) {
	t.Parallel()
	output, _ := runTests(t, sandbox.Tests{Command: "env"}, "HOME=/nowhere", "ANTHROPIC_API_KEY=x1", "OPENAI_API_KEY=x2", "SSH_AUTH_SOCK=x3", "GH_TOKEN=x4", "CLAUDE_CODE_OAUTH_TOKEN=x5")
	for _, line := range strings.Split(output, "\n") {
		if _, value, _ := strings.Cut(line, "="); strings.HasPrefix(value, "x") {
			t.Errorf("the tests got %s", line)
		}
	}
	if strings.Contains(output, "/nowhere") || !strings.Contains(output, "/home\n") || !strings.Contains(output, "TMPDIR=") {
		t.Errorf("the tests lack what every agent gets: %s", output)
	}
}

// TestTestsEnd is about commands that would go on for ever, with what they started.
func TestTestsEnd(t *testing.T) {
	t.Parallel()
	began := time.Now()
	output, status := runTests(t, sandbox.Tests{Command: "setsid sleep 1000 & echo here; sleep 1000", Limit: 3 * time.Second})
	if status != -1 || !strings.Contains(output, "here\n") || !strings.Contains(output, "stopped after 3s") || time.Since(began) > time.Minute {
		t.Errorf("got %q and %d", output, status)
	}
	// A command that has ended leaves nothing, either.
	if output, status := runTests(t, sandbox.Tests{Command: "setsid sleep 1000 & echo done"}); output != "done\n" || status != 0 {
		t.Errorf("got %q and %d", output, status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sandbox.RunTests(ctx, driver.Host{Temp: t.TempDir()}, sandbox.Tests{Command: "sleep 1000", Dir: t.TempDir(), Limit: time.Hour}); err == nil {
		t.Error("a cancelled command gave no error")
	}
	if _, _, err := sandbox.RunTests(t.Context(), driver.Host{Temp: t.TempDir()}, sandbox.Tests{Command: "true", Dir: filepath.Join(t.TempDir(), "gone"), Limit: time.Hour}); err == nil {
		t.Error("a folder that is not there gave no error")
	}
}

// TestTestsHaveNoNetwork asks for a server outside the command's own loopback. With a
// network, tests have a door, which leads to the web and not to the person's machine.
func TestTestsHaveNoNetwork(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "-Urn", "true").Run(); err != nil {
		t.Skip("this system takes no network away:", err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	server := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	command := "bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "' && echo reached; id -u; grep -q 0000000000000000 /proc/self/status && echo no rights; echo door: $HTTPS_PROXY"
	offline, _ := runTests(t, sandbox.Tests{Command: command})
	online, _ := runTests(t, sandbox.Tests{Command: command, Network: true})
	if strings.Contains(offline+online, "reached") || strings.Contains(offline, "door: http") || !strings.Contains(online, "door: http") || !strings.Contains(offline, "no rights") {
		t.Errorf("offline:\n%s\nonline:\n%s", offline, online)
	}
	if !strings.Contains(offline, fmt.Sprintf("\n%d\n", os.Getuid())) {
		t.Errorf("the tests are another user: %s", offline)
	}
	// Its own loopback works: a socket can be bound there.
	if _, err := exec.LookPath("python3"); err == nil {
		output, status := runTests(t, sandbox.Tests{Command: `python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); print("connected")'`})
		if status != 0 || output != "connected\n" {
			t.Errorf("the loopback: %q and %d", output, status)
		}
	}
}
