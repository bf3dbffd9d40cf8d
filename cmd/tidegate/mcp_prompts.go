package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/tool"
)

// instructions tell a model what the server is for and where to begin, as far
// as the tools for it are offered. Clients cut them at 2 KB.
func instructions(offered []*tool.Tool) string {
	text := `tidegate judges what AI agents wrote, by contract, deterministically and offline. Use it before you trust, merge or pass on an agent's output, and to decide what happens next.

A judgement that goes against an output is a result, not an error: read "pass", then act on what the result says to change. An error ({"ok":false,"error":{"code","message","details"}}) says what to correct in the call; correct it and call again. All paths in arguments are absolute.`
	var begin []string
	for _, each := range []struct{ job, tool string }{
		{"outputs of several agents", "deep_research_wave_review"},
		{"one output", "deep_research_wave_output_validate"},
		{"a finished report", "report_audit"},
		{"a question that finished runs may answer", "ask"},
		{"a code review", "create_review"},
		{"where a research run stands and what it waits for", "deep_research_run_status"},
	} {
		if slices.ContainsFunc(offered, func(t *tool.Tool) bool { return t.Name == each.tool }) {
			begin = append(begin, each.job+": "+each.tool)
		}
	}
	if slices.ContainsFunc(offered, func(t *tool.Tool) bool { return t.Name == "deep_research_job_submit" }) {
		text += "\n\n" + researchLoop
	}
	if len(begin) > 0 {
		text += "\n\nWhere to begin: " + strings.Join(begin, "; ") + "."
	}
	return text
}

// researchLoop is how an agent takes a question to a report.
const researchLoop = `To research a question: deep_research_run_init makes a run, whose run_id the other tools take as "run". Then repeat: deep_research_run_step does all that needs no agent and says in waiting_for what comes next. While that is "agents", take an open job with deep_research_job_lease, do exactly what its prompt_md says (or hand it, unchanged, to a sub-agent), and hand the answer in with deep_research_job_submit; where accepted is false, make the changes of each change_note and submit again. "time": call deep_research_run_step again. "person": stop, and tell the person the reason and the command in next. "nothing": the run is over.`

//go:embed prompts.md
var promptTexts string

// prompts are the jobs that people start most often. What they say stands in prompts.md, with
// the values of their arguments in its verbs and behind those how the project is tested.
func prompts(test string) []mcp.Prompt {
	tests := "run or read its tests"
	if test != "" {
		tests = fmt.Sprintf("run its tests with the project's command %q", test)
	}
	texts := tool.Texts(promptTexts)
	prompt := func(name string, needs []string, arguments ...mcp.PromptArgument) mcp.Prompt {
		said := texts[name]
		return mcp.Prompt{Name: name, Title: said.Short, Description: said.Summary, Arguments: arguments, Needs: needs, Text: func(args map[string]string) (string, error) {
			var values []any
			for _, a := range arguments {
				values = append(values, args[a.Name])
			}
			return fmt.Sprintf(said.Long, append(values, tests)...), nil
		}}
	}
	perspectives := mcp.PromptArgument{Name: "perspectives_path", Description: "absolute path of perspectives.json", Required: true}
	return []mcp.Prompt{
		prompt("research", []string{"deep_research_run_init", "deep_research_run_step", "deep_research_job_lease", "deep_research_job_submit"},
			mcp.PromptArgument{Name: "question", Description: "the research question", Required: true}),
		prompt("review_wave", []string{"deep_research_wave_review", "deep_research_wave_retry_prompt"}, perspectives,
			mcp.PromptArgument{Name: "outputs_dir", Description: "absolute path of the folder with one <perspective_id>.md per perspective", Required: true}),
		prompt("decide_pivot", []string{"deep_research_wave_output_validate", "deep_research_pivot_decide"},
			mcp.PromptArgument{Name: "manifest_path", Description: "absolute path of the run's manifest.json", Required: true}, perspectives),
		prompt("submit_code_review", []string{"create_review"},
			mcp.PromptArgument{Name: "change_id", Description: "the change, as its folder under agentd/changes is called", Required: true}),
	}
}
