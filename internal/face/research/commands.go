package research

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

var agentFlag = cli.Flag{Name: "agent", About: "who does the work: claude, codex, opencode, gemini, api:SERVICE (" + strings.Join(config.Services, ", ") + "), model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER (default as tidegate.toml says, else the first that is found)", Kind: tool.Word, Complete: dispatch.AgentNames()}

// commands are those of an environment.
type commands struct{ *dispatch.Env }

// Commands are those that take a question to its report.
func Commands(surroundings *dispatch.Env) []cli.Command {
	Lend(surroundings)
	env := commands{surroundings}
	format := cli.Flag{Name: "format", About: "how to show what happens", Default: "text", Enum: []string{"text", "json"}}
	quiet := cli.Flag{Name: "quiet", About: "ring no bell at the end", Kind: tool.Switch}
	notify := cli.Flag{Name: "notify", About: "a `command` that gets the result as JSON on its standard input", Kind: tool.Word}
	return append([]cli.Command{
		{
			Path: "research", Operands: "QUESTION", MaxArgs: 1,
			Short: "Take a question to a cited report",
			Long: `Take a question to a cited report: agents plan the perspectives, research them,
summarize, write the report and review it; every answer is judged by contract,
every source is fetched and checked, and every gate is a rule.

Where nobody names an agent, it takes the first client that is installed and logged
in, else the first service whose key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY,
OPENROUTER_API_KEY, GEMINI_API_KEY), else Ollama or LM Studio on this machine, and
says so. It shows what it is about to do and what that may cost, and asks before
anything is spent. Everything lies in the run's folder,
which has the name of the question's first words, or of those before a colon.
Whatever happens, ` + "`tidegate run continue`" + ` resumes from there.

Exit status 0: completed, every gate passed by its judge. 1: cancelled, or
completed with a gate or a record that a person accepted. 4: it waits for a person. 130:
interrupted. Each says what to type next.`,
			Example: "tidegate research \"Which heat pump fits an old house?\"\n" +
				"tidegate research \"Tugs: should the port buy electric ones?\" --max-cost 5\n" +
				"tidegate research \"Does it rain more?\" --perspectives 3 --agent claude --yes\n" +
				"tidegate research \"Does it rain more?\" --agent api:ollama --model qwen3:32b\n" +
				"tidegate research \"Does it rain more?\" --since 2023-01-01 --dated\n" +
				"tidegate research \"Does it rain more?\" --template literature --length long\n" +
				"tidegate research --again harbour\n" +
				"tidegate research \"Who pays for the quay?\" --from harbour",
			Flags: append([]cli.Flag{
				agentFlag, screen.ModelFlag,
				{Name: "again", About: "ask the question of this finished `run` again, with its perspectives and settings, and say how the reports differ", Kind: tool.Word},
				{Name: "plan-only", About: "stop after the plan", Kind: tool.Switch},
				{Name: "yes", About: "do not ask", Kind: tool.Switch},
				quiet, notify, format,
			}, slices.Concat(screen.Flags(brief.Options), screen.CellFlags)...),
			Run: env.research,
		},
		askCommand(env, append([]cli.Flag{agentFlag, screen.ModelFlag, {Name: "format", About: "how to show the answer", Default: "text", Enum: []string{"text", "json", "markdown"}}}, screen.CellFlags...)...),
		{
			Path: "run continue", Operands: "RUN", MaxArgs: 1,
			Short: "Resume a run until it finishes or needs you",
			Long: `Resume a run after everything but a decision that only a person can take: do
by rule what can be done, start agents on the jobs that are open, judge what they
answer, and so on. It asks nothing. A paused run is resumed, and a plan that waits
for your yes has it. A run that failed is left as it is, with its reason and the
command that lets it resume; one that failed because its budget is used up resumes
with a larger one.

Without a run it takes the one that was last driven on this machine by you, with the agents
that you named for it then, and says which.

The exit status is that of ` + "`tidegate research`" + `.`,
			Example: "tidegate run continue\ntidegate run continue harbour\ntidegate run continue harbour --agent exec:agent\ntidegate run continue harbour --max-cost 10",
			Flags:   append([]cli.Flag{agentFlag, screen.ModelFlag, quiet, notify, format}, slices.Concat(screen.Flags(brief.Named("one-agent", "adapt")), screen.CellFlags, screen.BudgetFlags)...),
			Run:     env.resume,
		},
		{
			Path: "run watch", Operands: "RUN", MaxArgs: 1,
			Short: "Watch a run that another process drives",
			Long: `Show a run while it works, no matter who drives it: its stages, its jobs, what was spent
and what happened last. It ends with the run, with the exit status that the run
has, and changes nothing.`,
			Example: "tidegate run watch harbour\ntidegate run watch harbour --format json",
			Flags:   []cli.Flag{format},
			Run:     env.watch,
		},
		setupCommand(env),
	}, agentsCommands(env)...)
}

// RewriteFlags are those of the run that an update begins.
var RewriteFlags = slices.Concat([]cli.Flag{agentFlag, screen.ModelFlag, {Name: "yes", About: "do not ask", Kind: tool.Switch}}, screen.CellFlags, screen.BudgetFlags)

// named is the path of the manifest of the run that a person named.
func named(e *dispatch.Env, call cli.Invocation) (string, error) {
	if len(call.Args) == 0 {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("RUN", nil), "RUN is missing: the run, by its id or its folder")
	}
	return run.Find(e.OwnDesk(), e.Home, e.Dir, call.Args[0])
}
