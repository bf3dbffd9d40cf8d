package research

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

func setupCommand(env commands) cli.Command {
	return cli.Command{
		Path: "setup",
		Run:  env.setup,
	}
}

// dialogue is a person who sets up tidegate.
type dialogue struct {
	*dispatch.Env
	call  cli.Invocation
	input *bufio.Reader
	cells driver.Cells
}

// setup is the command of that name. It returns INVALID_ARGS where nobody can be asked,
// INVALID_STATE for an answer that does not work, and where everything is set up, and
// the errors of [config.Places.Add].
func (e commands) setup(ctx context.Context, call cli.Invocation) error {
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person})
	if !call.Terminal.Input {
		var keys []string
		for _, endpoint := range model.Endpoints() {
			if endpoint.KeyEnv != "" {
				keys = append(keys, "export "+endpoint.KeyEnv+"=…")
			}
		}
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("terminal", nil, "set a key", keys, "then", `tidegate research "QUESTION" --yes`, "or name an agent", "--agent api:ollama"),
			"nobody can be asked here, because standard input is not a terminal; nothing has to be set up where a key is set or an agent is named")
	}
	places := config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv}
	loaded, err := config.Load(ctx, places)
	if err != nil {
		return err
	}
	d := &dialogue{e.Env, call, bufio.NewReader(call.Stdin), e.CellsFor(dispatch.CellChoice{}, loaded.Settings)}
	hasAgent, hasSearch := loaded.User.Has("agents.default"), loaded.User.Has("search")
	if hasAgent && hasSearch {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("config", loaded.User.Path, "help", "tidegate config"), "an agent and a search are set up already: change them in %s", loaded.User.Path)
	}
	var tables []string
	for _, question := range []struct {
		name  string
		there bool
		ask   func(context.Context) (string, error)
	}{{"[agents.default]", hasAgent, d.agent}, {"[search]", hasSearch, d.search}} {
		if question.there {
			d.say("%s stays as it is.", question.name)
			continue
		}
		table, err := question.ask(ctx)
		if err != nil {
			return err
		}
		if table != "" {
			tables = append(tables, question.name+"\n"+table)
		}
	}
	if len(tables) == 0 {
		return call.Render(report.Report{Status: report.Skip, Summary: "nothing was changed"})
	}
	path, err := places.Add(ctx, strings.Join(tables, "\n"))
	if err != nil {
		return err
	}
	return call.Render(report.Report{Status: report.Pass, Summary: "written to " + path + "; `tidegate research \"QUESTION\"` can begin"})
}

func (d *dialogue) say(format string, args ...any) {
	fmt.Fprintln(d.call.Stderr, report.Visible(fmt.Sprintf(format, args...)))
}

// mostAnswers is how often a question is asked.
const mostAnswers = 3

// ask asks until an answer is right, which is usual where there was none. It returns
// INVALID_ARGS after too many answers.
func (d *dialogue) ask(ctx context.Context, question, usual string, wrong func(answer string) string) (string, error) {
	for range mostAnswers {
		answer, err := cli.Answer(ctx, d.input, d.call.Stderr, report.Wrapped(question+" ["+usual+"]", d.call.Terminal.ErrWidth))
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = usual
		}
		problem := wrong(answer)
		if problem == "" {
			return answer, nil
		}
		d.say("%s", problem)
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("answer", nil), "nothing was changed: the question had no answer that can be used; `tidegate agents` shows what is there")
}

// agent asks for the agent and for its key, and checks both.
func (d *dialogue) agent(ctx context.Context) (string, error) {
	usual, _, err := d.Installed(ctx, d.cells)
	if err == nil && usual == "" {
		usual, _, err = d.Answering(ctx, "")
	}
	if err != nil {
		return "", err
	}
	if usual == "" {
		usual = model.Endpoints()[0].Driver
	}
	var agent config.Agent
	agent.Driver, err = d.ask(ctx, "1. Who does the work? "+strings.Join(slices.DeleteFunc(dispatch.AgentNames(), func(name string) bool { return name == dispatch.DemoAgents }), ", ")+", model:URL, exec:COMMAND or acp:COMMAND", usual, func(answer string) string {
		if _, err := d.NewDriver(answer, config.Agent{}, d.cells); err != nil {
			return tidegate.AsError(err).Message
		}
		return ""
	})
	if err != nil {
		return "", err
	}
	if agent.KeyEnv, err = d.keyOf(ctx, agent.Driver); err != nil {
		return "", err
	}
	if err := d.check(ctx, &agent); err != nil {
		return "", err
	}
	table := "driver = " + quoted(agent.Driver) + "\n"
	if agent.Model != "" {
		table += "model = " + quoted(agent.Model) + "\n"
	}
	if agent.KeyEnv != "" {
		table += "key_env = " + quoted(agent.KeyEnv) + "\n"
	}
	return table, nil
}

var variableForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })

// keyOf asks which variable holds the key of an endpoint. It returns "" for the usual
// one, and for agents that need none.
func (d *dialogue) keyOf(ctx context.Context, name string) (string, error) {
	usual := "none"
	for _, e := range model.Endpoints() {
		if e.Driver == name {
			usual = e.KeyEnv
		}
	}
	if !dispatch.IsEndpoint(name) || usual == "" {
		d.say("2. %s needs no key from here.", name)
		return "", nil
	}
	answer, err := d.ask(ctx, "2. Which environment variable holds its key?", usual, wrongVariable)
	if answer == usual {
		return "", err
	}
	return answer, err
}

// wrongVariable says what is wrong with the name of a variable. It does not repeat the
// answer, which may be the key.
func wrongVariable(answer string) string {
	if !variableForm().MatchString(answer) || strings.HasPrefix(answer, "sk_") {
		return "This is not the name of an environment variable. The key itself is never kept: export it under a name, such as MODEL_KEY."
	}
	return ""
}

// check asks the agent whether it can work, and the person for a model where it has to
// be named.
func (d *dialogue) check(ctx context.Context, agent *config.Agent) error {
	for {
		made, err := d.NewDriver(agent.Driver, *agent, d.cells)
		if err != nil {
			return err
		}
		_, err = driver.Check(ctx, made)
		var failure *driver.Error
		switch {
		case ctx.Err() != nil:
			return tidegate.Errorf(tidegate.Cancelled, nil, "stopped, and nothing was changed: %w", context.Cause(ctx))
		case !errors.As(err, &failure):
			if err == nil {
				d.say("%s can work%s.", agent.Driver, with(model.Chosen(made)))
			}
			return err
		case failure.Code == tidegate.ModelRequired && agent.Model == "" && len(failure.Choices) > 0:
			d.say("It has these models: %s", strings.Join(failure.Choices, ", "))
			if agent.Model, err = d.ask(ctx, "Which model?", failure.Choices[0], func(answer string) string {
				if !slices.Contains(failure.Choices, answer) {
					return "It has no such model."
				}
				return ""
			}); err != nil {
				return err
			}
		default:
			help := "type `tidegate setup` again"
			if failure.Help != "" && !strings.HasPrefix(failure.Help, "--") {
				help = "type `" + failure.Help + "`, then `tidegate setup` again"
			}
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("agent", agent.Driver, "help", failure.Help), "nothing was changed: %s; %s", failure.Message, help)
		}
	}
}

func with(model string) string {
	if model == "" {
		return ""
	}
	return " with " + model
}

// search asks for the search service that is asked first, and tries it.
func (d *dialogue) search(ctx context.Context) (string, error) {
	var keyed []string
	for _, service := range search.Services {
		if service.Key == search.MustKey {
			keyed = append(keyed, service.Name)
		}
	}
	answer, err := d.ask(ctx, "3. Which search is asked first? free (Wikipedia and scholarly works, without a key), searxng URL, or one with a key and its variable, such as brave BRAVE_API_KEY: "+strings.Join(keyed, ", "), "free", func(answer string) string {
		words := strings.Fields(answer)
		switch {
		case len(words) > 2:
		case words[0] == "free" && len(words) == 1, words[0] == "searxng" && len(words) == 2:
			return ""
		case slices.Contains(keyed, words[0]) && len(words) == 2:
			return wrongVariable(words[1])
		case slices.Contains(keyed, words[0]):
			return ""
		}
		return "Expected free, searxng URL, or one of " + strings.Join(keyed, ", ") + " with a variable."
	})
	if err != nil || answer == "free" {
		return "", err
	}
	words := strings.Fields(answer)
	service, _ := search.Find(words[0])
	place := sourcing.Place{Service: service, KeyEnv: service.KeyEnv}
	table := "service = " + quoted(service.Name) + "\n"
	switch {
	case service.Name == "searxng":
		place.Address = words[1]
		table += "url = " + quoted(place.Address) + "\n"
	case len(words) == 2:
		place.KeyEnv = words[1]
	}
	if place.KeyEnv != "" {
		table += "key_env = " + quoted(place.KeyEnv) + "\n"
		if place.Key = d.Variable(place.KeyEnv); place.Key == "" {
			return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("search", service.Name, "help", "export "+place.KeyEnv+"=…"),
				"nothing was changed: %s is not set; type `export %s=…`, then `tidegate setup` again", place.KeyEnv, place.KeyEnv)
		}
	}
	how, err := d.Searching(ctx)
	if err != nil {
		return "", err
	}
	if err := how.Try(ctx, place); err != nil {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("search", service.Name, "help", "tidegate setup"), "nothing was changed: %s: %w; type `tidegate setup` again", service.Name, err)
	}
	d.say("%s can search.", service.Name)
	return table, nil
}

// quoted is a text as a file has it: the escapes of JSON are among those of TOML.
func quoted(text string) string {
	line, err := codec.MarshalLine(text)
	if err != nil {
		return `""`
	}
	return string(line)
}
