package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

// manifestIn are the arguments of the tools that take a run and nothing else.
type manifestIn struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
}

func (in manifestIn) manifest() string { return in.ManifestPath }

type stagesIn struct {
	Mermaid bool `json:"mermaid,omitzero" jsonschema:"show the table as a Mermaid diagram"`
}

type none struct{}

var (
	runOperand = []tool.Operand{{Name: "RUN", About: "the run, by its id or its folder"}}
	// readOperand is the run of a command that changes nothing.
	readOperand = []tool.Operand{{Name: "RUN", About: "the run, by its id, the beginning of it, or its folder"}}
)

// fillRun turns the RUN that a person typed into the path of its manifest.
func (e tools) fillRun(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	manifest, err := run.Find(e.Desk(artifact.Everywhere), e.Home, e.Dir, typed.Operands["RUN"])
	if err != nil {
		return err
	}
	args.Set("manifest_path", codec.Of(manifest))
	return nil
}

// fillReadRun is fillRun for a command that changes nothing: the beginning of an id
// is enough, and without one the latest run is meant.
func (e tools) fillReadRun(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	name := typed.Operands["RUN"]
	manifest, others, err := run.FindByBeginning(e.Desk(artifact.Everywhere), e.Home, e.Dir, name)
	if err != nil {
		return err
	}
	if others > 0 {
		typed.Say("the latest of " + strconv.Itoa(others+1) + " runs is meant: " + filepath.Base(filepath.Dir(manifest)))
	}
	args.Set("manifest_path", codec.Of(manifest))
	return nil
}

// fillVerify is fillReadRun with the signers of the configuration, where the person
// names none.
func (e tools) fillVerify(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	if e.Config.Signers != "" && args.Get("signers") == nil {
		args.Set("signers", codec.Of(e.Config.Signers))
	}
	return e.fillReadRun(ctx, typed, args)
}

// byRun lets a tool of a run take the run's id in the home of runs in the place
// of the paths of its files. Only a tool that takes others beside the manifest
// needs a look at the run, to find where it keeps them.
func (e tools) byRun(paths ...string) *tool.Shorthand {
	return &tool.Shorthand{
		Name: "run", About: "the run's id in the home of runs, instead of " + strings.Join(paths, " and "), For: paths,
		Fill: func(ctx context.Context, call tool.Caller, id string, args *codec.Value) error {
			manifest, err := run.ByID(e.Home, id)
			if err != nil {
				return err
			}
			if len(paths) == 1 && paths[0] == "manifest_path" {
				args.Set("manifest_path", codec.Of(manifest))
				return nil
			}
			opened, err := run.Open(ctx, e.Desk(call.Reach), manifest)
			if err != nil {
				return err
			}
			defer opened.Close()
			for _, path := range paths {
				args.Set(path, codec.Of(pathOf(opened, path, args)))
			}
			return nil
		},
	}
}

// pathOf is what an argument of a tool names in a run: its manifest, its gates,
// or the contracts of the wave that another argument names.
func pathOf(r *run.Run, arg string, args *codec.Value) string {
	switch arg {
	case "gates_path":
		return r.Path(r.Layout().Gates)
	case "perspectives_path":
		return r.Path(r.ContractsOf(run.Stage(args.Get("wave").Str())))
	}
	return r.ManifestPath()
}

// openRun does what fillRun does and opens the run, so that more can be filled
// from it.
func (e tools) openRun(ctx context.Context, typed tool.Typed, args *codec.Value) (*run.Run, error) {
	if err := e.fillRun(ctx, typed, args); err != nil {
		return nil, err
	}
	return run.Open(ctx, e.Desk(artifact.Everywhere), args.Get("manifest_path").Str())
}

// fillRunAndGates adds the gates, where the run keeps them.
func (e tools) fillRunAndGates(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	args.Set("gates_path", codec.Of(opened.Path(opened.Layout().Gates)))
	return nil
}

// fillPerspectives reads the document that a person names, gives it the id of the
// run where it has none, and finds where the run keeps it.
func (e tools) fillPerspectives(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	args.Delete("manifest_path")
	value, err := artifact.Everywhere.ReadJSON("PERSPECTIVES", typed.Operands["PERSPECTIVES"])
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(value.Get("run_id").Str()); value.Kind() == codec.Object && (id == "" || id == wave.Unassigned) {
		value.Set("run_id", codec.Of(opened.ID()))
	}
	args.Set("perspectives_path", codec.Of(opened.Path(opened.Layout().Perspectives)))
	args.Set("value", value)
	return nil
}

// fillTemplate reads the outline that a person names by its file.
func (e tools) fillTemplate(_ context.Context, _ tool.Typed, args *codec.Value) error {
	template, err := ReadTemplate(artifact.Everywhere, e.Dir, args.Get("template").Str())
	if err == nil && template != "" {
		args.Set("template", codec.Of(template))
	}
	return err
}

// ReadTemplate is the template that a person typed: a name as it is, or the outline in
// the file of that path, which may be relative to dir. It returns the errors of reading
// the file.
func ReadTemplate(reach artifact.Reach, dir, typed string) (string, error) {
	if typed == "" || slices.Contains(evidence.TemplateNames(), typed) {
		return typed, nil
	}
	if !filepath.IsAbs(typed) {
		typed = filepath.Join(dir, typed)
	}
	outline, err := reach.ReadFile("template", typed)
	if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.NotFound {
		return "", tidegate.Errorf(tidegate.CodeOf(err), tidegate.Pairs("template", typed), "%s is neither a file nor one of the templates %s", typed, strings.Join(evidence.TemplateNames(), ", "))
	}
	if !evidence.IsOutline(string(outline)) {
		outline = append(outline, '\n') // not a name
	}
	return string(outline), err
}

// followRun hands on the log of a run as it grows, until the run is final.
func (e tools) followRun(ctx context.Context, args *codec.Value, each func(string, *codec.Value) error) error {
	opened, err := run.Open(ctx, e.Desk(artifact.Everywhere), args.Get("manifest_path").Str())
	if err != nil {
		return err
	}
	defer opened.Close()
	for entry, err := range opened.Tail(ctx, 1) {
		if err == nil {
			err = each(entry.String(), entry.Entry)
		}
		if err != nil || run.Status(entry.Entry.Get("status").Str()).Final() {
			return err
		}
	}
	return nil
}

// chooseEvidence takes a person's choices about a run that was made.
func (e tools) chooseEvidence(ctx context.Context, typed tool.Typed, value any) error {
	choice := run.EvidenceChoice{NoGrounding: typed.Flags["grounding"] == "off", NoReader: typed.Flags["no-second-reader"] == "true", OneAgent: typed.Flags["one-agent"] == "true"}
	if grounding := typed.Flags["grounding"]; grounding != "" && grounding != "off" && grounding != "require" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("grounding", tidegate.Cut(grounding)), "--grounding is require or off, got %q", tidegate.Cut(grounding))
	}
	made, ok := value.(run.InitResult)
	if !ok || !made.Created || choice == (run.EvidenceChoice{}) {
		return nil
	}
	return stage.ChooseEvidence(ctx, e.Desk(artifact.Everywhere), made.ManifestPath, choice)
}

func byHand(reason string) map[string]any { return map[string]any{"reason": reason} }

func runTools(env tools) []*tool.Tool {
	hidden := []string{"manifest_path"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_run_init", Set: "run", Core: true, Effect: tool.Writes,
			Command: &tool.Command{
				Path:     "run init",
				Operands: []tool.Operand{{Name: "QUESTION", Field: "query", About: "the research question"}},
				Rename:   map[string]string{"root_override": "in", "run_id": "id", "audience": "for"},
				Fill:     env.fillTemplate,
				Flags: []tool.Flag{
					{Name: "no-second-reader", About: "let no second agent read the report's sentences against their pages, which the report says", Kind: tool.Switch},
					{Name: "grounding", About: "off makes warnings of what is not on the cited pages, and leaves out the second reader; the report says so", Kind: tool.Word},
					{Name: "one-agent", About: "let the agent that wrote the report read and review it, which the report says", Kind: tool.Switch},
				},
				After: env.chooseEvidence,
			},
		}, func(ctx context.Context, call tool.Caller, in run.InitInput) (run.InitResult, error) {
			in.SignersPath = env.Signers
			// One agent cannot be told from another here.
			in.Evidence.Single = tidegate.ActorOf(ctx).Kind == tidegate.Agent
			if err := env.maySearch(ctx, in.Search); err != nil {
				return run.InitResult{}, err
			}
			return run.Create(ctx, env.Desk(call.Reach), env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_run_list", Set: "run", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "run list"},
		}, func(ctx context.Context, call tool.Caller, in run.ListInput) (run.ListResult, error) {
			return run.List(ctx, env.Desk(call.Reach), env.Home, in)
		}),
		declare(tool.Spec{
			Name: "deep_research_run_status", Set: "run", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "run status",
				Operands: []tool.Operand{{Name: "RUN", About: "the run, by its id, the beginning of it, or its folder; the latest when absent", Optional: true}},
				Hide:     hidden, Fill: env.fillReadRun, Formats: []string{"markdown"},
			},
		}, ofRun(env, stage.Status)),
		declare(tool.Spec{
			Name: "deep_research_run_stages", Set: "run", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "run stages", Formats: []string{"markdown"}},
		}, func(_ context.Context, _ tool.Caller, in stagesIn) (stage.TableResult, error) {
			return stage.Print(in.Mermaid), nil
		}),
		declare(tool.Spec{
			Name: "deep_research_perspectives_write", Set: "run", Shorthand: env.byRun("perspectives_path"), Effect: tool.Writes, Idempotent: true, Destroys: true, PersonArgs: []string{"replan"},
			Command: &tool.Command{
				Path:     "perspectives write",
				Operands: []tool.Operand{runOperand[0], {Name: "PERSPECTIVES", About: "the perspectives.json to check and copy into the run", Path: true}},
				Hide:     []string{"perspectives_path"}, Fill: env.fillPerspectives, Defaults: byHand("written by hand"),
			},
		}, at(env, step.WritePerspectives)),
		declare(tool.Spec{
			Name: "deep_research_stage_advance", Set: "run", Shorthand: env.byRun("manifest_path", "gates_path"), Effect: tool.Writes,
			Command: &tool.Command{
				Path:     "run advance",
				Operands: runOperand, Hide: []string{"manifest_path", "gates_path", "expected_manifest_revision"},
				Rename: map[string]string{"requested_next": "to"}, Fill: env.fillRunAndGates, Defaults: byHand("advanced by hand"),
			},
		}, at(env, stage.Advance)),
		declare(tool.Spec{
			Name: "deep_research_run_log", Set: "run", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "run log", Operands: readOperand, Hide: hidden, Fill: env.fillReadRun, Follow: env.followRun,
			},
		}, at(env, run.Log)),
		declare(tool.Spec{
			Name: "deep_research_run_verify", Set: "run", Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "run verify", Operands: readOperand, Hide: hidden, Fill: env.fillVerify, Formats: []string{"markdown", "sarif", "junit", "github"}},
		}, func(ctx context.Context, call tool.Caller, in run.VerifyInput) (run.VerifyResult, error) {
			in.Follows = stage.Follows
			return run.Verify(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "deep_research_run_recover", Set: "run", Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, Idempotent: true,
			Command: env.onRun("run recover"),
		}, ofRun(env, run.Recover)),
		declare(tool.Spec{
			Name: "deep_research_run_limit", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true,
			Command: env.onRun("run limit", tool.Operand{Name: "NAME", Field: "name", About: "the limit"}, tool.Operand{Name: "VALUE", Field: "value", About: "its value from here on"}),
		}, at(env, stage.Limit)),
		declare(tool.Spec{
			Name: "deep_research_run_accept", Set: "run", Effect: tool.Writes, Person: true,
			Command: env.onRun("run accept"),
		}, at(env, run.AcceptRecord)),
		control(env, "pause", stage.Pause),
		control(env, "cancel", stage.Cancel),
		declare(tool.Spec{
			Name: "deep_research_run_delete", Set: "run", Effect: tool.Writes, Person: true, Destroys: true,
			Command: &tool.Command{Path: "run delete", Operands: runOperand, Hide: hidden, Fill: env.fillRun, Confirm: env.confirmDelete, NeedsYes: true},
		}, at(env, run.Delete)),
		declare(tool.Spec{
			Name: "deep_research_run_resume", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true,
			Command: env.onRun("run resume"),
		}, at(env, stage.Resume)),
	}
}

func control(env tools, verb string, run func(context.Context, run.Desk, stage.ControlInput) (stage.ControlResult, error)) *tool.Tool {
	command := env.onRun("run " + verb)
	if verb == "cancel" {
		command.Confirm = env.confirmCancel
	}
	return declare(tool.Spec{
		Name: "deep_research_run_" + verb, Set: "run", Effect: tool.Writes, Idempotent: true, Person: true, Destroys: verb == "cancel",
		Command: command,
	}, at(env, run))
}

// confirmCancel asks nothing about a run that has ended.
func (e tools) confirmCancel(ctx context.Context, args *codec.Value) (string, error) {
	r, err := run.Open(ctx, e.Desk(artifact.Everywhere), args.Get("manifest_path").Str())
	if err != nil {
		return "", err
	}
	defer r.Close()
	m := r.Manifest()
	if m.Status().Final() {
		return "", nil
	}
	return fmt.Sprintf("End run %s, which is %s in stage %s, for good? Its files stay, and nothing moves it again.", r.ID(), m.Status(), m.Stage()), nil
}

func (e tools) confirmDelete(ctx context.Context, args *codec.Value) (string, error) {
	d, err := run.Deletable(ctx, e.Desk(artifact.Everywhere), args.Get("manifest_path").Str())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Delete run %s, %s, %s? Nothing brings it back.", d.RunID, d.Root, d.Size()), nil
}
