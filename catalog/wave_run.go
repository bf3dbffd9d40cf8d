package catalog

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

// fillOutputs reads the outputs of a folder: <id>.md for each perspective of
// the wave that has one there.
func (e tools) fillOutputs(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	perspectives := opened.Path(opened.ContractsOf(run.Stage(args.Get("wave").Str())))
	doc, err := step.ReadPerspectives(e.Desk(artifact.Everywhere), "perspectives_path", perspectives, wave.Contracts)
	if err != nil {
		return err
	}
	args.Set("perspectives_path", codec.Of(perspectives))
	folder, err := artifact.Everywhere.Open("FOLDER", typed.Operands["FOLDER"])
	if err != nil {
		return err
	}
	defer folder.Close()
	outputs := codec.Of([]string{})
	for _, p := range doc.List {
		path := filepath.Join(typed.Operands["FOLDER"], p.ID+".md")
		data, err := artifact.Everywhere.ReadFile("FOLDER", path)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("FOLDER", path), "the output %s is empty; have it written again, or take the file away", path)
		}
		outputs.Append(codec.Of(tidegate.Pairs("perspective_id", p.ID, "markdown_path", path)))
	}
	if outputs.Len() == 0 {
		return tidegate.Errorf(tidegate.OutputNotFound, tidegate.Pairs("FOLDER", typed.Operands["FOLDER"], "perspectives_path", perspectives),
			"the folder %s has no <id>.md for any perspective in %s", filepath.Base(typed.Operands["FOLDER"]), filepath.Base(perspectives))
	}
	args.Set("outputs", outputs)
	return nil
}

// readOutputs reads the outputs that were handed in by their paths. It returns
// INVALID_ARGS for one that was not given, or given in two ways.
func (e tools) readOutputs(ctx context.Context, reach artifact.Reach, in step.IngestInput) error {
	for i := range in.Outputs {
		o := &in.Outputs[i]
		details := tidegate.Pairs("index", i, "perspective_id", tidegate.Cut(o.PerspectiveID))
		switch {
		case o.Markdown == "" && o.MarkdownPath == "":
			return tidegate.Errorf(tidegate.InvalidArgs, details, "output %d needs markdown or markdown_path", i)
		case o.MarkdownPath == "":
			continue
		case o.Markdown != "":
			return tidegate.Errorf(tidegate.InvalidArgs, details, "output %d cannot have both markdown and markdown_path", i)
		}
		data, err := e.handedIn(ctx, reach, "markdown_path", o.MarkdownPath, filepath.Dir(in.ManifestPath))
		if err != nil {
			return tidegate.WithDetails(err, details)
		}
		o.Markdown = string(data)
	}
	return nil
}

// refusedOutputs shows every reason why outputs are refused, and where it stands.
func (e tools) refusedOutputs(ctx context.Context, in any, err *tidegate.Error) (report.Report, bool) {
	handed := in.(step.IngestInput)
	if tidegate.ClassOf(err.Code) != tidegate.NotMet || e.readOutputs(ctx, artifact.Everywhere, handed) != nil {
		return report.Report{}, false
	}
	r, failed := step.RefusedOutputs(ctx, e.Desk(artifact.Everywhere), handed)
	return r, failed == nil
}

// writePrompts writes the prompts of a plan into the folder that a person names.
func writePrompts(ctx context.Context, typed tool.Typed, value any) error {
	dir := typed.Flags["prompts"]
	if dir == "" {
		return nil
	}
	entries := value.(step.PlanResult).Entries()
	err := artifact.Everywhere.CreateFolder("prompts", dir, func(d *artifact.Draft) error {
		for _, entry := range entries {
			if err := d.Write(entry.PerspectiveID+".md", []byte(entry.PromptMD)); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, entry := range entries {
		if err := artifact.Everywhere.WriteFile("prompts", filepath.Join(dir, entry.PerspectiveID+".md"), []byte(entry.PromptMD)); err != nil {
			return err
		}
	}
	return nil
}

func waveRunTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_wave1_plan", Set: "wave", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
			Command: &tool.Command{
				Path:     "wave plan",
				Operands: runOperand, Hide: []string{"manifest_path"}, Fill: env.fillRun, Defaults: byHand("planned by hand"),
				Flags: []tool.Flag{{Name: "prompts", About: "a folder to write the prompts to, one file each", Kind: tool.PathFlag}}, After: writePrompts,
			},
		}, at(env, step.Plan)),
		declare(tool.Spec{
			Name: "deep_research_wave_output_ingest", Set: "wave", Shorthand: env.byRun("manifest_path", "perspectives_path"), Effect: tool.Writes,
			Command: &tool.Command{
				Path:     "wave ingest",
				Operands: []tool.Operand{runOperand[0], {Name: "FOLDER", About: "the folder that holds <perspective id>.md files", Path: true}},
				Hide:     []string{"manifest_path", "perspectives_path"}, Fill: env.fillOutputs, Defaults: map[string]any{"wave": "wave1"},
				Instead: env.refusedOutputs,
			},
		}, func(ctx context.Context, call tool.Caller, in step.IngestInput) (step.IngestResult, error) {
			if err := env.readOutputs(ctx, call.Reach, in); err != nil {
				return step.IngestResult{}, err
			}
			return step.Ingest(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_wave_restore", Set: "wave", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path:     "wave restore",
				Operands: []tool.Operand{runOperand[0], {Name: "ID", Field: "perspective_id", About: "the perspective whose output is put back"}},
				Hide:     []string{"manifest_path"}, Fill: env.fillRun, Defaults: byHand("put back by hand"),
			},
		}, at(env, step.Restore)),
	}
}
