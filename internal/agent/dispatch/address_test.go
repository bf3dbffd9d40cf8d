package dispatch

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/test/must"
)

func newEnv(t *testing.T) *Env {
	t.Helper()
	dir := t.TempDir()
	return &Env{Now: time.Now, Dir: dir, Home: filepath.Join(dir, "runs"), ConfigDir: filepath.Join(dir, "config"), Getenv: func(string) string { return "" }}
}

// TestAModelByItsAddress: an address is the whole network of a program, stands in what is
// typed again and in what is recorded, and is refused where it would say nothing.
func TestAModelByItsAddress(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const address = "127.0.0.1:9"
	for name, cells := range map[string]CellChoice{"exec:true": {Address: address}, "recorded:" + t.TempDir(): {Network: "model", Address: address}} {
		if _, err := e.Team(t.Context(), ForRun(name, "", nil, cells)); tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), "--agent-model-address") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	team := must.Get(e.Team(t.Context(), ForRun("exec:true", "", nil, CellChoice{Network: "model", Address: address})))(t)
	defer team.Close()
	if again := team.Again(); !strings.Contains(again, " --agent-network model --agent-model-address "+address) {
		t.Errorf("typed again: %q", again)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if kept := must.Get(team.confinement(true))(t); !strings.Contains(kept.Network, "the model at "+address+" on this machine") {
		t.Errorf("recorded: %+v", kept)
	}
}

// TestAProjectNamesNoAddress: a port of this machine is opened by a person alone.
func TestAProjectNamesNoAddress(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	must.Do(t, os.WriteFile(filepath.Join(e.Dir, config.FileName), []byte("[agents.default]\nnetwork = \"model\"\nmodel_address = \"127.0.0.1:9\"\n"), 0o600))
	loaded := must.Get(e.settings(t.Context()))(t)
	if agent := loaded.Agent("planner"); agent.ModelAddress != "" || !loaded.Project.Waits("model_address") {
		t.Errorf("it counts: %+v, %v", agent, loaded.Project.Waiting)
	}
	must.Do(t, os.WriteFile(filepath.Join(e.Dir, config.FileName), []byte("[agents.default]\nmodel_address = \"localhost:9\"\n"), 0o600))
	if _, err := e.settings(t.Context()); tidegate.CodeOf(err) != tidegate.InvalidArgs {
		t.Errorf("a name: got %v", err)
	}
}

// TestThePlanNamesTheFilesOfACommand: what the arguments of a program name is opened to it.
func TestThePlanNamesTheFilesOfACommand(t *testing.T) {
	t.Parallel()
	file, missing := filepath.Join(t.TempDir(), "notes.txt"), "/nowhere/at/all"
	must.Do(t, os.WriteFile(file, nil, 0o600))
	d := must.Get(client.New(driver.Settings{Driver: "exec:cat " + file + " " + missing}, driver.Host{}))(t)
	team := &Team{roles: job.Roles(), Agents: map[string]engine.Agent{}, Drivers: map[string]driver.Driver{}}
	for _, role := range team.roles {
		team.Agents[role], team.Drivers[role] = engine.Agent{Driver: "exec:cat " + file + " " + missing}, d
	}
	sent := strings.Join(team.sends(Order{}), "\n")
	if !strings.Contains(sent, "It may read what its arguments name: "+file+".") || strings.Contains(sent, "name: "+missing) {
		t.Errorf("got %s", sent)
	}
	if team.Cells.Unconfined = true; strings.Contains(strings.Join(team.sends(Order{}), "\n"), "may read") {
		t.Error("without a cell it may read everything")
	}
}
