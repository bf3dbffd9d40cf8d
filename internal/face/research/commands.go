package research

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

var agentFlag = tool.Flag{Name: "agent", About: "who does the work: claude, codex, opencode, gemini, api:SERVICE (" + strings.Join(config.Services, ", ") + "), model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER (default as tidegate.toml says, else the first that is found)", Kind: tool.Word, Complete: dispatch.AgentNames()}

// commands are those of an environment.
type commands struct{ *dispatch.Env }

//go:embed commands.md
var texts string

// Commands are those that take a question to its report.
func Commands(surroundings *dispatch.Env) []cli.Command {
	Lend(surroundings)
	env := commands{surroundings}
	format := tool.Flag{Name: "format", About: "how to show what happens", Default: "text", Enum: []string{"text", "json"}}
	quiet := tool.Flag{Name: "quiet", About: "ring no bell at the end", Kind: tool.Switch}
	notify := tool.Flag{Name: "notify", About: "a `command` that gets the result as JSON on its standard input", Kind: tool.Word}
	return cli.Described(texts, append([]cli.Command{
		{
			Path:     "research",
			Operands: []tool.Operand{{Name: "QUESTION", About: "what you want to know", Optional: true}},
			Flags: append([]tool.Flag{
				agentFlag, screen.ModelFlag,
				{Name: "again", About: "ask the question of this finished `run` again, with its perspectives and settings, and say how the reports differ", Kind: tool.Word},
				{Name: "plan-only", About: "stop after the plan", Kind: tool.Switch},
				{Name: "yes", About: "do not ask", Kind: tool.Switch},
				quiet, notify, format,
			}, slices.Concat(screen.Flags(brief.Options), screen.CellFlags)...),
			Run: env.research,
		},
		askCommand(env, append([]tool.Flag{agentFlag, screen.ModelFlag, {Name: "format", About: "how to show the answer", Default: "text", Enum: []string{"text", "json", "markdown"}}}, screen.CellFlags...)...),
		{
			Path:     "run continue",
			Operands: []tool.Operand{{Name: "RUN", About: "the run, by its id or its folder; the last one when absent", Optional: true}},
			Flags:    append([]tool.Flag{agentFlag, screen.ModelFlag, quiet, notify, format}, slices.Concat(screen.Flags(brief.Named("one-agent", "adapt")), screen.CellFlags, screen.BudgetFlags)...),
			Run:      env.resume,
		},
		{
			Path:     "run watch",
			Operands: []tool.Operand{{Name: "RUN", About: "the run, by its id or its folder"}},
			Flags:    []tool.Flag{format},
			Run:      env.watch,
		},
		setupCommand(env),
	}, agentsCommands(env)...))
}

// RewriteFlags are those of the run that an update begins.
var RewriteFlags = slices.Concat([]tool.Flag{agentFlag, screen.ModelFlag, {Name: "yes", About: "do not ask", Kind: tool.Switch}}, screen.CellFlags, screen.BudgetFlags)

// named is the path of the manifest of the run that a person named.
func named(e *dispatch.Env, call cli.Invocation) (string, error) {
	return run.Find(e.OwnDesk(), e.Home, e.Dir, call.Args[0])
}
