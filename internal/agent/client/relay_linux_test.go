package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/must"
)

// relayed runs a script as an exec agent whose task has a relay. The home says each line
// back, with the job of the task.
func relayed(t *testing.T, script string, host driver.Host, access driver.Access) (string, error) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	agent := filepath.Join(t.TempDir(), "agent.sh")
	must.Do(t, os.WriteFile(agent, []byte("cat >/dev/null\nrelay() { "+self+" mcp --relay ${1:-../relay}; }\n"+script), 0o600))
	host.Temp = t.TempDir()
	if host.Tools == nil {
		host.Tools = func(_ context.Context, task driver.Task, agent io.ReadWriter, _ func(string) bool) {
			for lines := bufio.NewScanner(agent); lines.Scan(); {
				fmt.Fprintf(agent, "%s: %s\n", task.Job, lines.Text())
			}
		}
	}
	access.Read = append(access.Read, self)
	d := must.Get(client.New(driver.Settings{Driver: "exec:bash " + agent, Env: []string{"AGENT_API_KEY"}, Access: access}, host))(t)
	asked := task()
	asked.Job = "wave1.grid"
	asked.Tools.MCP = []driver.Server{{Name: "tidegate", Command: self, Args: []string{"mcp", "--relay", sandbox.RelayArg}}}
	answer, err := d.Run(t.Context(), asked, func(driver.Event) {})
	return answer.Text, err
}

// TestARelayReachesTheHome asks the tools of the home from a cell with each network,
// from one on a kernel that gives programs no network of their own, and without a cell.
func TestARelayReachesTheHome(t *testing.T) {
	t.Parallel()
	byPort := cell.System{Name: "linux", ABI: 7, Filter: true}
	for name, tt := range map[string]struct {
		cells   driver.Cells
		network cell.Network
		none    bool
	}{
		"none":                 {network: cell.None},
		"model":                {network: cell.Model},
		"web":                  {network: cell.Web},
		"model, by port":       {cells: driver.Cells{System: byPort}, network: cell.Model},
		"without a cell":       {cells: driver.Cells{Unconfined: true}, network: cell.None},
		"none, without a door": {cells: driver.Cells{System: byPort}, network: cell.None, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := relayed(t, "printf 'one\\ntwo\\n' | relay; echo $?", driver.Host{Cells: tt.cells}, driver.Access{Network: tt.network})
			want := "wave1.grid: one\nwave1.grid: two\n0\n"
			if tt.none {
				if err != nil || !strings.HasSuffix(text, "1\n") || strings.Contains(text, "wave1") {
					t.Errorf("got %q, %v", text, err)
				}
			} else if err != nil || text != want {
				t.Errorf("got %q, %v, want %q", text, err, want)
			}
		})
	}
}

// TestNobodyElseReachesTheHome has agents ask in ways that are not theirs.
func TestNobodyElseReachesTheHome(t *testing.T) {
	t.Parallel()
	// Each asks the door itself, and says the first line of its answer.
	ask := func(request string) string {
		return `at=$(sed 's/.*@//' ../relay); token=$(sed 's/.*agent:\(.*\)@.*/\1/' ../relay)
exec 3<>/dev/tcp/${at%:*}/${at#*:}
printf '` + request + `\r\n\r\n' >&3
head -1 <&3
`
	}
	for name, tt := range map[string]struct{ script, want string }{
		"no bearer":         {ask(`CONNECT tools.invalid:1 HTTP/1.1\r\nHost: tools.invalid:1`), "407"},
		"another's":         {ask(`CONNECT tools.invalid:1 HTTP/1.1\r\nHost: tools.invalid:1\r\nProxy-Authorization: Bearer x`), "407"},
		"another method":    {ask(`GET http://tools.invalid:1/ HTTP/1.1\r\nHost: tools.invalid:1\r\nProxy-Authorization: Bearer '$token'`), "403"},
		"its own bearer":    {ask(`CONNECT tools.invalid:1 HTTP/1.1\r\nHost: tools.invalid:1\r\nProxy-Authorization: Bearer '$token'`), "200"},
		"another file":      {"echo http://agent:x@127.0.0.1:47823 > mine; echo | relay mine", "407"},
		"no door":           {"echo nothing > mine; echo | relay mine", "INVALID_ARGS"},
		"no file":           {"echo | relay none", "INVALID_ARGS"},
		"a closed door":     {"echo http://agent:x@127.0.0.1:1 > mine; echo | relay mine", "INVALID_STATE"},
		"a file of its own": {"echo x > ../relay 2>/dev/null || echo refused", "refused"},
		"a long question":   {ask(`CONNECT tools.invalid:1 HTTP/1.1\r\nX: '$(head -c 100000 /dev/zero | tr "\0" x)'`), "431"},
		"too many at once":  {"mkfifo said; for i in 1 2 3 4 5 6 7 8; do (echo here; sleep 1000) | relay > said & done; for i in 1 2 3 4 5 6 7 8; do read said; done < said; echo | relay; kill $(jobs -p)", "429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if text, err := relayed(t, tt.script+"\ntrue\n", driver.Host{}, driver.Access{}); err != nil || !strings.Contains(text, tt.want) {
				t.Errorf("got %q, %v, want %s", text, err, tt.want)
			}
		})
	}
}

// TestAHomeIsToldOfTheAgentsSecrets hands a key to an agent that says it to its home.
func TestAHomeIsToldOfTheAgentsSecrets(t *testing.T) {
	t.Parallel()
	tools := func(_ context.Context, _ driver.Task, agent io.ReadWriter, leaks func(string) bool) {
		for lines := bufio.NewScanner(agent); lines.Scan(); {
			fmt.Fprintln(agent, leaks(lines.Text()))
		}
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "AGENT_API_KEY=sk-0123456789abcdef"}
	text, err := relayed(t, "printf 'tides\\nwhat is %s?\\n' $AGENT_API_KEY | relay", driver.Host{Tools: tools, Environ: environ}, driver.Access{})
	if err != nil || text != "false\ntrue\n" {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestTheToolsOfAHomeEndWithTheAttempt has an agent leave while its home still works for it.
func TestTheToolsOfAHomeEndWithTheAttempt(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	tools := func(ctx context.Context, _ driver.Task, agent io.ReadWriter, _ func(string) bool) {
		fmt.Fprintln(agent, "here")
		<-ctx.Done()
		close(ended)
	}
	text, err := relayed(t, "mkfifo said; (sleep 1000 | relay > said) &\nread said < said; echo $said\n", driver.Host{Tools: tools}, driver.Access{})
	if err != nil || text != "here\n" {
		t.Errorf("got %q, %v", text, err)
	}
	<-ended
}
