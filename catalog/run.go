package catalog

import (
	"context"

	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/stage"
	"github.com/tidegate/tidegate/step"
	"github.com/tidegate/tidegate/tool"
)

type manifestIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
}

type runLogIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Last         int       `json:"last,omitzero" jsonschema:"how many of the last lines to show; all when absent" min:"1"`
}

type stagesIn struct {
	Mermaid bool `json:"mermaid,omitzero" jsonschema:"show the table as a Mermaid diagram"`
}

type none struct{}

// clock is the clock of the environment as package run takes it.
func (e *Env) clock() run.Clock { return run.Clock{Now: e.Now, Pinned: e.Pinned} }

var runOperand = []tool.Operand{{Name: "RUN", About: "the run, by its id or its folder"}}

// fillRun turns the RUN that a person typed into the path of its manifest.
func (e *Env) fillRun(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	manifest, err := run.Find(ctx, e.Home, e.Dir, typed.Operands["RUN"])
	if err != nil {
		return err
	}
	args.Set("manifest_path", codec.Of(manifest))
	return nil
}

// openRun does what fillRun does and opens the run, for what else is to be
// filled from it.
func (e *Env) openRun(ctx context.Context, typed tool.Typed, args *codec.Value) (*run.Run, error) {
	if err := e.fillRun(ctx, typed, args); err != nil {
		return nil, err
	}
	return run.Open(ctx, args.Get("manifest_path").Str())
}

// fillRunAndGates adds the gates, where the run keeps them.
func (e *Env) fillRunAndGates(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	args.Set("gates_path", codec.Of(opened.Path(opened.Layout().Gates)))
	return nil
}

// fillPerspectives reads the document that a person names, and finds where the
// run keeps it.
func (e *Env) fillPerspectives(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	opened, err := e.openRun(ctx, typed, args)
	if err != nil {
		return err
	}
	defer opened.Close()
	args.Delete("manifest_path")
	value, err := artifact.ReadJSON(ctx, "PERSPECTIVES", typed.Operands["PERSPECTIVES"])
	if err != nil {
		return err
	}
	args.Set("perspectives_path", codec.Of(opened.Path(opened.Layout().Perspectives)))
	args.Set("value", value)
	return nil
}

// followRun hands on the log of a run as it grows.
func followRun(ctx context.Context, args *codec.Value, each func(string, *codec.Value) error) error {
	opened, err := run.Open(ctx, args.Get("manifest_path").Str())
	if err != nil {
		return err
	}
	defer opened.Close()
	for entry, err := range opened.Tail(ctx, 1) {
		if err == nil {
			err = each(entry.String(), entry.Entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func byHand(reason string) map[string]any { return map[string]any{"reason": reason} }

func runTools(env *Env) []*tool.Tool {
	hidden := []string{"manifest_path"}
	return []*tool.Tool{
		tool.New(tool.Spec{
			Name: "deep_research_run_init", Set: "run", Effect: tool.Writes,
			Summary: "Use this first, to start a research run. It makes the run's folder with manifest, gates, scope and policy, whole or not at all, " +
				"and returns their paths, which every other run tool takes.",
			Command: &tool.Command{
				Path: "run init", Short: "Start a run",
				Long: "Start a run: a folder with manifest, gates, scope and policy, in the home of runs (`tidegate doctor` says where) or in --in. " +
					"Next: `tidegate run status`.",
				Operands: []tool.Operand{{Name: "QUESTION", Field: "query", About: "the research question"}},
				Rename:   map[string]string{"root_override": "in", "run_id": "id"},
				Hide:     []string{"require_bound_gates"},
				Example:  `tidegate run init "Should the harbour buy electric tugs?" --id harbour`,
			},
		}, func(ctx context.Context, in run.InitInput) (run.InitResult, error) {
			in.LegacyGates, in.SignersPath = env.LegacyGates, env.Signers
			return run.Create(ctx, env.clock(), env.Home, in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_list", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to find a run whose path you do not know. It lists the runs in the home of runs with stage, status and question.",
			Command: &tool.Command{
				Path: "run list", Short: "List the runs",
				Long:    "List the runs in the home of runs with stage, status and question. Runs that were made elsewhere, with --in, are not among them: name those by their folder.",
				Example: "tidegate run list",
			},
		}, func(ctx context.Context, _ none) (run.ListResult, error) { return run.List(ctx, env.Home) }),

		tool.New(tool.Spec{
			Name: "deep_research_run_status", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to see where a run is, what it waits for and what to do next. It lists every unmet condition of the next move with the tool and arguments that would meet it.",
			Command: &tool.Command{
				Path: "run status", Short: "Show where a run is, what it waits for and the next command",
				Long:     "Show where a run stands: its stage, what it needs before it can move on, and the command to type next. It writes nothing.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Formats: []string{"markdown"}, Example: "tidegate run status harbour",
			},
		}, func(ctx context.Context, in manifestIn) (stage.StatusResult, error) {
			return stage.Status(ctx, string(in.ManifestPath))
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_stages", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to learn how a run may move. It prints the table of stages and statuses: what leads where, and what each move needs.",
			Command: &tool.Command{
				Path: "run stages", Short: "Print the table of stages and statuses",
				Long:    "Print the stages and statuses that a run can have: what leads where, and what each move needs.",
				Formats: []string{"markdown"}, Example: "tidegate run stages\ntidegate run stages --mermaid",
			},
		}, func(_ context.Context, in stagesIn) (stage.TableResult, error) { return stage.Print(in.Mermaid), nil }),

		tool.New(tool.Spec{
			Name: "deep_research_perspectives_write", Set: "run", Effect: tool.Writes, Idempotent: true, Destroys: true, PersonArgs: []string{"replan"},
			Summary: "Use this to give a run its perspectives, before its first wave is planned. It checks the whole perspectives.v1 document and writes it; a document that breaks the schema changes nothing.",
			Command: &tool.Command{
				Path: "perspectives write", Short: "Give a run its perspectives",
				Long: "Check perspectives.json and copy it into a run. A document that breaks the schema, or whose run_id is that of another run, changes nothing; " +
					"`tidegate perspectives check` lists all that is wrong with it. Once the wave is planned the contracts are frozen. --replan replaces them as long as the run " +
					"has not left its first wave: the outputs are set aside, and the plan is dropped. Next: `tidegate wave plan`.",
				Operands: []tool.Operand{runOperand[0], {Name: "PERSPECTIVES", About: "the perspectives.json to check and copy into the run", Path: true}},
				Hide:     []string{"perspectives_path"}, Fill: env.fillPerspectives, Defaults: byHand("written by hand"),
				Example: "tidegate perspectives write harbour perspectives.json",
			},
		}, func(ctx context.Context, in step.PerspectivesInput) (step.PerspectivesResult, error) {
			return step.WritePerspectives(env.deciding(ctx), env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_manifest_write", Set: "run", Effect: tool.Writes,
			Summary: "Use this to note something in a run's manifest by a merge patch: metrics, notes, fields of your own, or that a created run is running. " +
				"Question, limits, stage, status and failures are not its to change. Pass expected_revision so that nobody's change is lost.",
		}, func(ctx context.Context, in stage.ManifestWriteInput) (run.WriteResult, error) {
			return stage.ManifestWrite(ctx, env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_gates_write", Set: "run", Effect: tool.Writes,
			Summary: "Use this to record what a gate was judged to be. A pass is judged again before it is written, and refused with GATE_NOT_DERIVED when the gate's own judge does not find it; " +
				"the gate then counts only as long as the judged files stay as they are.",
		}, func(ctx context.Context, in step.GatesWriteInput) (run.WriteResult, error) {
			return step.GatesWrite(ctx, env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_stage_advance", Set: "run", Effect: tool.Writes,
			Summary: "Use this to move a run to its next stage. It moves only when every condition is met; a refusal lists all blockers, each with the tool and arguments that would meet it. dry_run decides and changes nothing.",
			Command: &tool.Command{
				Path: "run advance", Short: "Move a run to its next stage, if its gates allow it",
				Long: "Move a run to its next stage when all that the move needs is there. Otherwise the run stays where it is: every blocker is listed " +
					"with the command that meets it, and the exit status is 4. --dry-run only looks.",
				Operands: runOperand, Hide: []string{"manifest_path", "gates_path", "expected_manifest_revision"},
				Rename: map[string]string{"requested_next": "to"}, Fill: env.fillRunAndGates, Defaults: byHand("advanced by hand"),
				Example: "tidegate run advance harbour --dry-run",
			},
		}, func(ctx context.Context, in stage.AdvanceInput) (stage.AdvanceResult, error) {
			return stage.Advance(ctx, env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_retry_record", Set: "run", Effect: tool.Writes,
			Summary: "Use this before you try a gate again. It counts the attempt; when the retries are used up it refuses and leaves the run to a person.",
		}, func(ctx context.Context, in stage.RetryInput) (stage.RetryResult, error) {
			return stage.RetryRecord(ctx, env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_watchdog_check", Set: "run", Effect: tool.Writes, Destroys: true,
			Summary: "Use this from time to time while agents work. A run whose stage has gone too long without progress is failed, once, with a checkpoint; any other is left as it is.",
		}, func(ctx context.Context, in stage.WatchdogInput) (stage.WatchdogResult, error) {
			return stage.WatchdogCheck(ctx, env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_log", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to read what happened in a run. It returns the lines of the audit log, and whether each is chained to the one before.",
			Command: &tool.Command{
				Path: "run log", Short: "Show the audit log of a run",
				Long:     "Show what happened to a run: when, what, and the reason that was given. `tidegate run verify` says whether the log can be trusted. --follow goes on with what is added.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Follow: followRun, Example: "tidegate run log harbour --last 5\ntidegate run log harbour --follow",
			},
		}, func(ctx context.Context, in runLogIn) (run.LogResult, error) {
			return run.Log(ctx, string(in.ManifestPath), in.Last)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_verify", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this before you trust a run that others could have touched. It checks the schemas, the chain of the audit log, revisions and digests, and names what was tampered with.",
			Command: &tool.Command{
				Path: "run verify", Short: "Check a run for damage and tampering",
				Long: "Check a run before you trust it: its documents by their schemas, the chain of its audit log, and its files against the digests in the log. " +
					"What was changed by other means is named, and the exit status is 1. It repairs nothing. --head compares the log with a head that you noted elsewhere, " +
					"which finds a log that was rewritten as a whole.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Formats: []string{"markdown", "sarif", "junit", "github"}, Example: "tidegate run verify harbour",
			},
		}, func(ctx context.Context, in run.VerifyInput) (run.VerifyResult, error) {
			in.Follows = stage.Follows
			return run.Verify(ctx, in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_recover", Set: "run", Effect: tool.Writes, Idempotent: true,
			Summary: "Use this when a process was killed while it wrote to a run. It finishes or undoes what was left; every writing tool does the same by itself.",
			Command: &tool.Command{
				Path: "run recover", Short: "Finish or undo what a killed process left",
				Long: "Finish or undo what a process that was killed left half written in a run. Every command that writes to a run does this first, by itself; " +
					"this one does nothing else.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Example: "tidegate run recover harbour",
			},
		}, func(ctx context.Context, in manifestIn) (run.RecoverResult, error) {
			return run.Recover(ctx, env.clock(), string(in.ManifestPath))
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_limit", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true,
			Summary: "Set one of a run's limits.",
			Command: &tool.Command{
				Path: "run limit", Short: "Set one of a run's limits",
				Long:     "Set one of the limits that a run was made with: max_wave1_agents, max_wave2_agents, max_summary_kb, max_total_summary_kb or max_review_iterations.",
				Operands: []tool.Operand{runOperand[0], {Name: "NAME", Field: "name", About: "the limit"}, {Name: "VALUE", Field: "value", About: "its value from here on"}},
				Hide:     hidden, Fill: env.fillRun, Example: "tidegate run limit harbour max_review_iterations 6",
			},
		}, func(ctx context.Context, in stage.LimitInput) (stage.LimitResult, error) {
			return stage.Limit(env.deciding(ctx), env.clock(), in)
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_accept", Set: "run", Effect: tool.Writes, Person: true,
			Summary: "Accept the files of a run as they are where its log says otherwise.",
			Command: &tool.Command{
				Path: "run accept", Short: "Accept files that are not as the log recorded them",
				Long: "Accept the files of a run as they are where its log says otherwise, so that it can go on. The log records the decision with its reason, and " +
					"`tidegate run verify`, which names those files before, goes on showing it.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Example: "tidegate run accept harbour --reason \"a typo corrected by hand\"",
			},
		}, func(ctx context.Context, in run.AcceptInput) (run.AcceptResult, error) {
			return run.AcceptRecord(env.deciding(ctx), env.clock(), in)
		}),

		control(env, "pause", "Hold a run", "Hold a run: it does not advance until `tidegate run resume` lets it.", stage.Pause),
		control(env, "cancel", "End a run for good",
			"End a run for good: its files stay, and nothing moves it again. `tidegate run pause` only holds it.", stage.Cancel),

		tool.New(tool.Spec{
			Name: "deep_research_run_resume", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true,
			Summary: "Let a paused run go on.",
			Command: &tool.Command{
				Path: "run resume", Short: "Let a paused run go on, or accept a failed one",
				Long: "Let a paused run go on. A run that failed or needs a person goes on only with --accept: that is a person's " +
					"decision, recorded in the audit log, and grants once more what was used up.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Example: "tidegate run resume harbour\ntidegate run resume harbour --accept --reason \"sources checked by hand\"",
			},
		}, func(ctx context.Context, in stage.ResumeInput) (stage.ControlResult, error) {
			return stage.Resume(env.deciding(ctx), env.clock(), in)
		}),
	}
}

func control(env *Env, verb, short, long string, run func(context.Context, run.Clock, stage.ControlInput) (stage.ControlResult, error)) *tool.Tool {
	return tool.New(tool.Spec{
		Name: "deep_research_run_" + verb, Set: "run", Effect: tool.Writes, Idempotent: true, Person: true, Destroys: verb == "cancel",
		Summary: short + ".",
		Command: &tool.Command{
			Path: "run " + verb, Short: short, Long: long, Operands: runOperand, Hide: []string{"manifest_path"}, Fill: env.fillRun,
			Example: "tidegate run " + verb + " harbour",
		},
	}, func(ctx context.Context, in stage.ControlInput) (stage.ControlResult, error) {
		return run(env.deciding(ctx), env.clock(), in)
	})
}
