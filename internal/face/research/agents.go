package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/tool"
)

// agentsCommands show which agents could work, and which will.
func agentsCommands(env commands) []cli.Command {
	format := tool.Flag{Name: "format", About: "how to show it", Default: "text", Enum: []string{"text", "json"}}
	return []cli.Command{
		{
			Path:  "agents",
			Flags: []tool.Flag{format},
			Run: func(ctx context.Context, call cli.Invocation) error {
				return env.showAgents(ctx, call, false)
			},
		},
		{
			Path:     "agents check",
			Operands: []tool.Operand{{Name: "DRIVER", About: "the agent; all when absent", Optional: true}},
			Flags:    []tool.Flag{screen.ModelFlag, format, screen.UnconfinedFlag},
			Complete: dispatch.AgentNames(),
			Run: func(ctx context.Context, call cli.Invocation) error {
				return env.showAgents(ctx, call, true)
			},
		},
	}
}

// Agents lists the agents, and which of them each role will use.
type Agents struct {
	OK     codec.True   `json:"ok"`
	Agents []AgentState `json:"agents"`
	Roles  []RoleAgent  `json:"roles"`

	Confinement Confinement     `json:"confinement"`
	Cells       []client.CellOf `json:"cells"`

	asked bool // each was asked the tiny question
}

// AgentState is how one agent stands.
type AgentState struct {
	Driver  string        `json:"driver"`
	Model   string        `json:"model"` // as a role names it; empty: the client's own choice
	Version string        `json:"version"`
	State   string        `json:"state"` // ready, answers, absent, or the kind of its failure
	Problem string        `json:"problem"`
	Help    string        `json:"help"` // what a person can type
	Answer  string        `json:"answer"`
	Usage   *driver.Usage `json:"usage"`
	CostUSD *float64      `json:"cost_usd"`
	agent   config.Agent  // its settings
	choices []string      // models that it offers, where one has to be named
	wanted  bool          // a role will use it, or a person asked for it
}

// RoleAgent is the agent that a role will use.
type RoleAgent struct {
	Role   string `json:"role"`
	Driver string `json:"driver"` // empty: none is named, and none can be found
	Model  string `json:"model"`
	From   string `json:"from"` // "tidegate.toml" or "found"
}

// The states of an agent besides the kinds of failures.
const (
	agentReady   = "ready"
	agentAnswers = "answers"
	agentAbsent  = "absent"
)

func (e commands) showAgents(ctx context.Context, call cli.Invocation, ask bool) error {
	only := ""
	if len(call.Args) > 0 {
		only = call.Args[0]
	}
	typed, err := screen.Cells(call)
	if err != nil {
		return err
	}
	found, err := e.agents(ctx, only, call.Flag("model"), ask, typed)
	if err != nil {
		return err
	}
	if call.Flag("format") != "json" {
		return call.Show(found.report(), "text")
	}
	if err := call.Line(found); err != nil {
		return err
	}
	if found.report().Status == report.Fail {
		return cli.Exit(screen.ExitNotPassed)
	}
	return nil
}

// agents looks at every agent at once, or only at the named one. It returns
// INVALID_ARGS for a driver that does not exist, CANCELLED, and the errors of
// [config.Load].
func (e commands) agents(ctx context.Context, only, model string, ask bool, typed dispatch.CellChoice) (Agents, error) {
	loaded, err := config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
	if err != nil {
		return Agents{}, err
	}
	out := Agents{Agents: []AgentState{}, Roles: []RoleAgent{}, asked: ask}
	add := func(agent config.Agent, role bool) {
		if model != "" {
			agent.Model = model
		}
		same := func(s AgentState) bool { return s.Driver == agent.Driver && s.Model == agent.Model }
		if agent.Driver != "" && (only == "" || only == agent.Driver) && !slices.ContainsFunc(out.Agents, same) {
			out.Agents = append(out.Agents, AgentState{Driver: agent.Driver, Model: agent.Model, agent: agent, wanted: role || only != ""})
		}
	}
	for _, role := range config.Roles {
		if role == config.DefaultRole {
			continue
		}
		agent := loaded.Agent(role)
		from := config.FileName
		if agent.Driver == "" {
			from = ""
		}
		out.Roles = append(out.Roles, RoleAgent{role, agent.Driver, agent.Model, from})
		add(agent, true)
	}
	for _, name := range dispatch.AgentNames() {
		if name != dispatch.DemoAgents && !slices.ContainsFunc(out.Agents, func(s AgentState) bool { return s.Driver == name }) {
			add(config.Agent{Driver: name}, false)
		}
	}
	if len(out.Agents) == 0 {
		add(dispatch.NamedAgent(loaded.Settings, config.DefaultRole, only), true)
	}
	cells := e.CellsFor(typed, loaded.Settings)
	out.Confinement, out.Cells = confinementOf(cells)
	drivers := make([]driver.Driver, len(out.Agents))
	for i, s := range out.Agents {
		if drivers[i], err = e.driverOf(typed.Over(s.agent), cells); err != nil {
			return Agents{}, err
		}
	}
	var all sync.WaitGroup
	for i := range out.Agents {
		all.Go(func() { out.Agents[i].probe(ctx, drivers[i], ask) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return Agents{}, tidegate.Errorf(tidegate.Cancelled, nil, "stopped while asking the agents: %w", context.Cause(ctx))
	}
	for i, role := range out.Roles {
		if role.Driver == "" {
			found := out.first(role.Role)
			out.Roles[i].Driver, out.Roles[i].Model = found.Driver, cmp.Or(role.Model, found.Model)
		}
		if role.Driver == "" && out.Roles[i].Driver != "" {
			out.Roles[i].From = "found"
		}
	}
	return out, nil
}

// first is the first agent that can do the work of a role, in the order in which
// `research` looks for one.
func (a Agents) first(role string) AgentState {
	for _, name := range dispatch.AgentNames() {
		for _, s := range a.Agents {
			if s.Driver == name && (s.State == agentReady || s.State == agentAnswers) && (role != dispatch.Implementer || !dispatch.IsEndpoint(name)) {
				return s
			}
		}
	}
	return AgentState{}
}

// driverOf makes the driver of an agent that is looked at.
func (e commands) driverOf(agent config.Agent, cells driver.Cells) (driver.Driver, error) {
	made := agent.Driver
	if name, ok := strings.CutPrefix(made, "recorded:"); ok && name != "" {
		if _, known := e.Recordings[name]; !known {
			made = "recorded:" + e.Absolute(name)
		}
	}
	return e.NewDriver(made, agent, cells)
}

// Limits of the tiny question.
const (
	tinyPrompt   = "Answer with the one word: ready"
	tinyAnswer   = 64 << 10
	tinyDeadline = 3 * time.Minute
)

// probe asks the agent whether it can work and, with ask, for a word.
func (s *AgentState) probe(ctx context.Context, d driver.Driver, ask bool) {
	version, err := driver.Check(ctx, d)
	s.Version, s.State = version, agentReady
	if s.Model == "" {
		s.Model = model.Chosen(d)
	}
	if err == nil && ask && !strings.HasPrefix(s.Driver, "recorded:") {
		var answer driver.Answer
		answer, err = d.Run(ctx, driver.Task{
			ID: driver.TaskID("", "", "", "check", 1, 1, tinyPrompt), Job: "check", Kind: "check", Attempt: 1, Turn: 1, Prompt: tinyPrompt, Model: s.Model,
			Limits: driver.Limits{Deadline: tinyDeadline, Answer: tinyAnswer},
		}, func(driver.Event) {})
		driver.Forget(d, answer.Session)
		s.Answer, s.Usage, s.CostUSD = tidegate.Cut(report.OneLine(answer.Text)), answer.Usage, answer.CostUSD
		if answer.Version != "" {
			s.Version = answer.Version
		}
		s.State = agentAnswers
	}
	var failure *driver.Error
	if errors.As(err, &failure) {
		s.State, s.Problem, s.Help, s.choices = string(failure.Kind), failure.Message, failure.Help, failure.Choices
		if s.Version == "" && (failure.Message == s.Driver+" is not installed" || s.missing(failure)) {
			s.State = agentAbsent
		}
	} else if err != nil {
		s.State, s.Problem = string(driver.Died), err.Error()
	}
}

// missing reports whether an endpoint is not there: its key is not set, or nothing
// answers on this machine.
func (s *AgentState) missing(failure *driver.Error) bool {
	return slices.ContainsFunc(model.Endpoints(), func(e model.Endpoint) bool {
		return s.Driver == e.Driver && (failure.Help == e.Help || e.KeyEnv != "" && strings.HasPrefix(failure.Message, e.KeyEnv+" is not set"))
	})
}

// fine reports whether nothing is wrong with an agent: it can work, or it is a
// client that is not installed and that nobody wants.
func (s AgentState) fine() bool {
	return s.State == agentReady || s.State == agentAnswers || s.State == agentAbsent && !s.wanted
}

func (a Agents) report() report.Report {
	r := report.Report{Name: "agents", Title: "Agents"}
	table := report.NewTable("Agent", "Version", "State", "")
	helps := report.Bullets{}
	failed := 0
	for _, s := range a.Agents {
		name, state, note := s.Driver, s.State, s.Problem
		if s.Model != "" {
			name += " (" + s.Model + ")"
		}
		status := report.Pass
		switch {
		case s.State == agentAbsent && !s.wanted:
			status, state, note = report.None, "not installed", s.Help
			if dispatch.IsEndpoint(s.Driver) {
				state = "not set up"
			}
		case !s.fine():
			status = report.Fail
			failed++
			if s.Help != "" {
				helps = append(helps, s.Driver+": "+s.Help)
			}
			for _, model := range s.choices {
				helps = append(helps, s.Driver+" has "+model)
			}
		case s.State == agentAnswers:
			note = s.Answer
			if s.Usage != nil {
				note += fmt.Sprintf(" (%s)", report.Counted(int(s.Usage.Input+s.Usage.Output), "token"))
			}
		}
		table.Row(status, name, s.Version, state, note)
	}
	r.Add(table)
	if len(helps) > 0 {
		r.Add(report.Heading("What helps"), helps)
	}
	roles := report.NewTable("Role", "Agent", "Model", "From")
	missing, needed := 0, false
	for _, role := range a.Roles {
		name := role.Driver
		if name == "" {
			name = "none"
			missing++
			needed = needed || role.Role != dispatch.Implementer // whom no run of research needs
		}
		roles.Row(report.None, role.Role, name, role.Model, role.From)
	}
	r.Add(report.Heading("What each role will use"), roles)
	a.addCells(&r)
	switch {
	case failed > 0 && a.asked:
		r.Status, r.Summary = report.Fail, report.Counted(failed, "agent")+" cannot be used"
	case failed > 0:
		r.Status, r.Summary = report.Warn, report.Counted(failed, "agent")+" cannot be used"
	case needed:
		r.Status, r.Summary = report.Warn, "no agent is there for "+report.Counted(missing, "role")+"; `tidegate setup` helps to get one"
	case a.asked:
		r.Status, r.Summary = report.Pass, "every agent answers"
	default:
		r.Status, r.Summary = report.Pass, "`tidegate agents check` asks each for one word"
	}
	return r
}
