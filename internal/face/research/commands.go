package research

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// Env is what the commands take from their surroundings.
type Env struct {
	*catalog.Env
	Recordings map[string]Recording // by the name after "recorded:"
	Far        *Far                 // where agents work; nil: on this machine
}

// desk is that of a person at a terminal.
func (e *Env) desk() run.Desk { return e.Desk(artifact.Everywhere) }

// pages fetches pages for agents, of whose progress nobody hears.
func (e *Env) pages() step.Fetch { return e.Pages(tool.Caller{}) }

// Commands are those that take a question to its report.
func Commands(env *Env) []cli.Command {
	agent := cli.Flag{Name: "agent", About: "who does the work: claude, codex, opencode, gemini, exec:COMMAND, acp:COMMAND, model:URL or recorded:FOLDER (default as tidegate.toml says, else the first client that is installed)", Kind: tool.Word}
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

It finds an agent that is installed, shows what it is about to do and what that
may cost, and asks before anything is spent. Everything lies in the run's folder,
which has the name of the question's first words, or of those before a colon.
Whatever happens, ` + "`tidegate run continue`" + ` resumes from there.

Exit status 0: completed, every gate passed by its judge. 1: cancelled, or
completed with a gate that a person accepted. 4: it waits for a person. 130:
interrupted. Each says what to type next.`,
			Example: "tidegate research \"Which heat pump fits an old house?\"\n" +
				"tidegate research \"Tugs: should the port buy electric ones?\" --max-cost 5\n" +
				"tidegate research \"Does it rain more?\" --perspectives 3 --agent claude --yes\n" +
				"tidegate research \"What is this?\" --agent recorded:demo --yes",
			Flags: append([]cli.Flag{
				agent,
				{Name: "perspectives", About: "a `file` of perspectives, or how many the planner is to name", Kind: tool.Word},
				{Name: "files", About: "a `folder` with documents of your own that agents read and may cite", Kind: tool.PathFlag},
				{Name: "sensitivity", About: "how far the run may reach out", Default: "normal", Enum: []string{"normal", "restricted", "no_web"}},
				{Name: "signers", About: "an OpenSSH allowed_signers `file`: your decisions about the run must be signed by one of them", Kind: tool.PathFlag},
				{Name: "mcp", About: "let researchers judge their output before they hand it in, by an MCP server of this `name`: tidegate", Kind: tool.Word, List: true, Enum: []string{"tidegate"}},
				{Name: "plan-only", About: "stop after the plan", Kind: tool.Switch},
				{Name: "yes", About: "do not ask", Kind: tool.Switch},
				quiet, notify, format,
			}, budgetFlags...),
			Run: env.research,
		},
		{
			Path: "run continue", Operands: "RUN", MaxArgs: 1,
			Short: "Resume a run until it finishes or needs you",
			Long: `Resume a run after everything but a decision that only a person can take: do
by rule what can be done, start agents on the jobs that are open, judge what they
answer, and so on. It asks nothing. A paused run is resumed, and a plan that waits
for your yes has it. A run that failed is left as it is, with its reason and the
command that lets it resume; one that failed because its budget is used up resumes
with a larger one.

The exit status is that of ` + "`tidegate research`" + `.`,
			Example: "tidegate run continue harbour\ntidegate run continue harbour --agent exec:agent\ntidegate run continue harbour --max-cost 10",
			Flags:   append([]cli.Flag{agent, quiet, notify, format}, budgetFlags...),
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
	}, append(append(reviewCommands(env), changeCommands(env)...), agentsCommands(env)...)...)
}

// named is the path of the manifest of the run that a person named.
func (e *Env) named(call cli.Invocation) (string, error) {
	if len(call.Args) == 0 {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("RUN", nil), "RUN is missing: the run, by its id or its folder")
	}
	return run.Find(e.desk(), e.Home, e.Dir, call.Args[0])
}
