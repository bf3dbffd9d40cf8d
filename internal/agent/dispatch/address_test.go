package dispatch

import (
	"os"
	"os/exec"
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

// TestNobodyVerifiesItself: who verifies a code review is another model than each reviewer,
// however they are named, and one service may be both.
func TestNobodyVerifiesItself(t *testing.T) {
	t.Parallel()
	const here = "model:http://127.0.0.1:9/v1"
	for name, c := range map[string]struct {
		file, reviewer, model, verifier string
		another                         bool
	}{
		"by flag":             {"", here, "m", here, false},
		"by configuration":    {"[agents.code_reviewer]\ndriver = \"" + here + "\"\nmodel = \"m\"\n", "", "", here, false},
		"localhost":           {"", here, "m", "model:http://LocalHost:9/", false},
		"a service by name":   {"", "api:ollama", "m", "model:http://[::1]:11434/v1", false},
		"no model":            {"[agents.verifier]\nmodel = \"n\"\n", here, "", here, false},
		"the same model":      {"[agents.verifier]\nmodel = \"m\"\n", here, "m", here, false},
		"a program":           {"", "exec:cat", "", "exec:" + must.Get(exec.LookPath("cat"))(t), false},
		"a program's model":   {"[agents.verifier]\nmodel = \"n\"\n", "exec:cat", "m", "exec:cat", false},
		"the second reviewer": {"", "exec:true", "", "exec:cat", false},
		"another model":       {"[agents.verifier]\nmodel = \"n\"\n", here, "m", here, true},
		"with its driver":     {"[agents.verifier]\ndriver = \"" + here + "\"\nmodel = \"n\"\n", here, "m", here, true},
		"another service":     {"", here, "m", "model:http://127.0.0.1:10/v1", true},
		"another client":      {"", "claude", "", "codex", true},
	} {
		e := newEnv(t)
		must.Do(t, os.MkdirAll(e.ConfigDir, 0o700))
		must.Do(t, os.WriteFile(filepath.Join(e.ConfigDir, config.FileName), []byte(c.file), 0o600))
		reviewers := []string{}
		if c.reviewer != "" {
			reviewers = []string{c.reviewer, "exec:cat"}[:1+strings.Count(name, "second")]
		}
		w := Wanted{Flag: "--reviewer", Named: map[string]string{job.CodeVerifier: c.verifier}, Model: c.model}
		w.AddPanel(reviewers)
		w.Roles = append(w.Roles, job.CodeVerifier)
		team := must.Get(e.Team(t.Context(), w))(t)
		if err := team.Independent(); (err == nil) != c.another || err != nil && tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: got %v with %+v", name, err, team.Agents)
		}
		team.Close()
	}
}
