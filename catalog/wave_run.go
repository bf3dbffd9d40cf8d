package catalog

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/step"
	"github.com/tidegate/tidegate/tool"
)

type planIn struct {
	ManifestPath     tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath tool.Path `json:"perspectives_path,omitzero" jsonschema:"absolute path of perspectives.json; the run's own when absent"`
	Reason           string    `json:"reason" jsonschema:"why, for the audit log"`
}

type ingestIn struct {
	ManifestPath     tool.Path      `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath tool.Path      `json:"perspectives_path" jsonschema:"absolute path of perspectives.json with the contracts"`
	Wave             string         `json:"wave" jsonschema:"the wave that the outputs belong to" enum:"wave1,wave2"`
	Outputs          []submissionIn `json:"outputs" jsonschema:"what the agents wrote" minitems:"1" extra:"ignore"`
}

type submissionIn struct {
	PerspectiveID string       `json:"perspective_id" jsonschema:"the perspective that the output was written for"`
	Markdown      string       `json:"markdown" jsonschema:"the whole output"`
	ToolUsage     *codec.Value `json:"tool_usage,omitzero" holds:"object" jsonschema:"how often the agent called each tool: an object of numbers"`
}

type gateIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	ReportPath   tool.Path `json:"wave_review_report_path,omitzero" jsonschema:"absolute path of the review's report inside the run; wave-review.json when absent"`
	Reason       string    `json:"reason" jsonschema:"why, for the audit log"`
}

type restoreIn struct {
	ManifestPath  tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	PerspectiveID string    `json:"perspective_id" jsonschema:"the perspective whose output is put back"`
	Reason        string    `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// fillOutputs reads the outputs of a folder: <id>.md for each perspective of
// the wave that has one there.
func (e *Env) fillOutputs(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	perspectives := opened.Path(opened.ContractsOf(run.Stage(args.Get("wave").Str())))
	doc, err := perspective.Read(ctx, "perspectives_path", perspectives, perspective.Contracts)
	if err != nil {
		return err
	}
	args.Set("perspectives_path", codec.Of(perspectives))
	folder, err := artifact.Open(ctx, "FOLDER", typed.Operands["FOLDER"])
	if err != nil {
		return err
	}
	defer folder.Close()
	outputs := codec.Of([]string{})
	for _, p := range doc.Perspectives {
		path := filepath.Join(typed.Operands["FOLDER"], p.ID+".md")
		data, err := artifact.ReadFile(ctx, "FOLDER", path)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("FOLDER", path), "the output %s is empty; have it written again, or take the file away", path)
		}
		outputs.Append(codec.Of(tidegate.D("perspective_id", p.ID, "markdown", string(data))))
	}
	if outputs.Len() == 0 {
		return tidegate.Errorf(tidegate.OutputNotFound, tidegate.D("FOLDER", typed.Operands["FOLDER"], "perspectives_path", perspectives),
			"the folder %s has no <id>.md for any perspective in %s", filepath.Base(typed.Operands["FOLDER"]), filepath.Base(perspectives))
	}
	args.Set("outputs", outputs)
	return nil
}

func waveRunTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		tool.New(tool.Spec{
			Name: "deep_research_wave1_plan", Set: "wave", Effect: tool.Writes,
			Summary: "Use this once a run has its perspectives, to get the prompts for its agents. It writes the plan of the first wave: for each perspective a prompt with the question, the scope and every rule that the output will be judged by.",
			Command: &tool.Command{
				Path: "wave plan", Short: "Write the prompts of the first wave",
				Long: "Write wave-1/wave1-plan.json into a run that has its perspectives: for each a prompt with the question, the scope and every rule that " +
					"the output will be judged by, as prompt_md of its entry. Give each prompt to an agent, save what it writes as <perspective id>.md, " +
					"and hand the folder to `tidegate wave ingest`.",
				Operands: runOperand, Hide: []string{"manifest_path"}, Fill: env.fillRun, Defaults: byHand("planned by hand"),
				Example: "tidegate wave plan harbour",
			},
		}, func(ctx context.Context, in planIn) (step.PlanResult, error) {
			return step.Plan(ctx, env.clock(), step.PlanInput{ManifestPath: string(in.ManifestPath), PerspectivesPath: string(in.PerspectivesPath), Reason: in.Reason})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_wave_output_ingest", Set: "wave", Effect: tool.Writes,
			Summary: "Use this to hand the outputs of agents to a run. Each is judged by its contract and tool budget first; either all are written or none, and a refusal names the output and the rule.",
			Command: &tool.Command{
				Path: "wave ingest", Short: "Take the outputs in a folder into a run, all or none",
				Long: "Judge the outputs in a folder by their contracts and copy them into a run. When one fails, its fault is named and none is copied; " +
					"`tidegate wave review` lists the faults of all. A perspective without a file is left for later.",
				Operands: []tool.Operand{runOperand[0], {Name: "FOLDER", About: "the folder that holds <perspective id>.md files", Path: true}},
				Hide:     []string{"manifest_path", "perspectives_path"}, Fill: env.fillOutputs, Defaults: map[string]any{"wave": "wave1"},
				Example: "tidegate wave ingest harbour mended",
			},
		}, func(ctx context.Context, in ingestIn) (step.IngestResult, error) {
			req := step.IngestInput{ManifestPath: string(in.ManifestPath), PerspectivesPath: string(in.PerspectivesPath), Wave: in.Wave}
			for _, o := range in.Outputs {
				req.Outputs = append(req.Outputs, step.Submission(o))
			}
			return step.Ingest(ctx, env.clock(), req)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_gate_b_derive", Set: "wave", Effect: tool.Writes,
			Summary: "Use this after a wave review to derive gate B. It judges the outputs again instead of believing the report, and returns the update for deep_research_gates_write, bound to the files that were judged.",
		}, func(ctx context.Context, in gateIn) (step.GateBResult, error) {
			return step.DeriveGateB(ctx, env.clock(), step.GateBInput{ManifestPath: string(in.ManifestPath), ReportPath: string(in.ReportPath), Reason: in.Reason})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_wave_restore", Set: "wave", Effect: tool.Writes, Person: true,
			Summary: "Put back the output of a perspective as the run took it.",
			Command: &tool.Command{
				Path: "wave restore", Short: "Put back an output as the run took it",
				Long: "Put back the output of a perspective as the run took it, when it was changed by other means since. " +
					"`tidegate run verify` says which outputs were.",
				Operands: []tool.Operand{runOperand[0], {Name: "ID", Field: "perspective_id", About: "the perspective whose output is put back"}},
				Hide:     []string{"manifest_path"}, Fill: env.fillRun, Defaults: byHand("put back by hand"), Example: "tidegate wave restore harbour grid",
			},
		}, func(ctx context.Context, in restoreIn) (step.RestoreResult, error) {
			return step.Restore(env.deciding(ctx), env.clock(), step.RestoreInput{ManifestPath: string(in.ManifestPath), PerspectiveID: in.PerspectiveID, Reason: in.Reason})
		}),
	}
}
