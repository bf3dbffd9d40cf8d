package main

import (
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

// prompts are the jobs that people start most often.
func prompts(test string) []mcp.Prompt {
	tests := "run or read its tests"
	if test != "" {
		tests = fmt.Sprintf("run its tests with the project's command %q", test)
	}
	return []mcp.Prompt{
		{
			Name:        "research",
			Title:       "Research a question",
			Description: "Take a question to a report with cited sources, job by job, with you and your sub-agents as the agents.",
			Arguments: []mcp.PromptArgument{
				{Name: "question", Description: "the research question", Required: true},
			},
			Needs: []string{"deep_research_run_init", "deep_research_run_step", "deep_research_job_lease", "deep_research_job_submit"},
			Text: func(args map[string]string) (string, error) {
				return fmt.Sprintf(`Research this question with tidegate: %[1]q

1. Call deep_research_run_init with {"query": %[1]q} and keep "run_id".
2. Call deep_research_run_step with {"run": <run_id>}. If "waiting_for" is "time", call it again. If it is "nothing", report what came out and stop. If it is "person", stop and say "reason" and "next".
3. If it is "agents", take each job of "jobs" that is open with deep_research_job_lease {"run": <run_id>, "holder": <your name>}. A sub-agent may do it: give it "prompt_md" unchanged, and nothing else.
4. Hand the whole answer in with deep_research_job_submit {"run": <run_id>, "token": <token>, "answer": <answer>}. If "accepted" is false, make the change of every "change_note" and submit again; after four refusals lease the job again.
5. Go back to 2.

The prompts are the contract: do not shorten, extend or explain them, and never touch the files of the run.`, args["question"]), nil
			},
		},
		{
			Name:        "review_wave",
			Title:       "Review a wave and retry",
			Description: "Judge all outputs of a wave by contract and have those that fail written again until all pass.",
			Arguments: []mcp.PromptArgument{
				{Name: "perspectives_path", Description: "absolute path of perspectives.json", Required: true},
				{Name: "outputs_dir", Description: "absolute path of the folder with one <perspective_id>.md per perspective", Required: true},
			},
			Needs: []string{"deep_research_wave_review", "deep_research_wave_retry_prompt"},
			Text: func(args map[string]string) (string, error) {
				return fmt.Sprintf(`Review the wave whose contracts are in %[1]q and whose outputs are in %[2]q.

1. Call deep_research_wave_review with {"perspectives_path": %[1]q, "outputs_dir": %[2]q}.
2. If "pass" is true, say so with the number of outputs, and stop.
3. If it is false, call deep_research_wave_retry_prompt with the same two arguments. Give each prompt to the agent that wrote that perspective, unchanged, and have it write its file in %[2]q again. Do not mend outputs yourself: the agent that did the research has to.
4. Go back to 1. After three rounds, stop and report which perspectives still fail, each with the code and the change_note of its retry directive.

OUTPUT_NOT_FOUND means that an agent has not written its file yet: let it finish, then go back to 1. Never weaken a contract in perspectives.json to make an output pass.`,
					args["perspectives_path"], args["outputs_dir"]), nil
			},
		},
		{
			Name:        "decide_pivot",
			Title:       "Decide the pivot",
			Description: "Decide by rubric, from the gaps that the first wave states, whether a second wave is needed.",
			Arguments: []mcp.PromptArgument{
				{Name: "manifest_path", Description: "absolute path of the run's manifest.json", Required: true},
				{Name: "perspectives_path", Description: "absolute path of the run's perspectives.json", Required: true},
			},
			Needs: []string{"deep_research_wave_output_validate", "deep_research_pivot_decide"},
			Text: func(args map[string]string) (string, error) {
				return fmt.Sprintf(`Decide whether the run of %[1]q needs a second wave.

1. Read %[2]q for the perspective ids. The output of a perspective is wave-1/<id>.md in the run's folder, unless its source_artifact says otherwise.
2. For each perspective call deep_research_wave_output_validate with {"perspectives_path": %[2]q, "perspective_id": <id>, "markdown_path": <absolute path of its output>} and keep the whole result: it is the validation report. If one is an error, stop: that output has to be written again first.
3. Call deep_research_pivot_decide with "manifest_path": %[1]q, "wave1_outputs": [{"perspective_id", "output_md_path"}, …] and "wave1_validation_reports": the results of step 2, as they are.
4. Report "wave2_required" with "explanation", and when it is true list the gaps in "wave2_gap_ids" with their priority and text.

The rubric decides, not you: do not argue with the result, and do not pass explicit_gaps to change it.`, args["manifest_path"], args["perspectives_path"]), nil
			},
		},
		{
			Name:        "submit_code_review",
			Title:       "Submit a code review",
			Description: "Turn a review of a code change into a REVIEW.md that the workflow can rely on.",
			Arguments: []mcp.PromptArgument{
				{Name: "change_id", Description: "the change, as its folder under agentd/changes is called", Required: true},
			},
			Needs: []string{"create_review"},
			Text: func(args map[string]string) (string, error) {
				return fmt.Sprintf(`Review the change %[1]q against its specification and submit the review with create_review.

1. Read the change's files and %[2]s. Note for every issue: severity (high: wrong or unsafe; medium: should be fixed; low: a suggestion), category, file, line, what is wrong, and what to do.
2. Verdict: APPROVED when nothing has to change, NEEDS_FIX when the author can fix it in one round, MAJOR_ISSUES when a person has to decide. A review with a high issue is not APPROVED.
3. Call create_review once, with "change_id": %[1]q and everything you found. If it answers INVALID_ARGS, details.violations lists all faults with their paths: correct them and call again.
4. Report the verdict, the counts of issues and "review_path". Read "warnings" in the result and say what they mean for the author.`, args["change_id"], tests), nil
			},
		},
	}
}
