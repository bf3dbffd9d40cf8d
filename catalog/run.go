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

type runInitIn struct {
	Query             string     `json:"query" jsonschema:"the research question"`
	Mode              string     `json:"mode,omitzero" jsonschema:"how thorough the run is" enum:"quick,standard,deep" default:"standard"`
	Sensitivity       string     `json:"sensitivity,omitzero" jsonschema:"how far the run may reach out" enum:"normal,restricted,no_web" default:"normal"`
	RunID             string     `json:"run_id,omitzero" jsonschema:"the id, which becomes the folder's name; made up when absent"`
	RootOverride      tool.Path  `json:"root_override,omitzero" jsonschema:"absolute folder in which the run is made, instead of the home of runs"`
	Limits            *runLimits `json:"limits,omitzero" jsonschema:"caps that differ from the defaults"`
	RequireBoundGates bool       `json:"require_bound_gates,omitzero" jsonschema:"accepted for older callers; every gate says what it judged"`
}

type runLimits struct {
	MaxWave1Agents      *int64 `json:"max_wave1_agents,omitzero" jsonschema:"most perspectives in the first wave"`
	MaxWave2Agents      *int64 `json:"max_wave2_agents,omitzero" jsonschema:"most perspectives in the second wave"`
	MaxSummaryKB        *int64 `json:"max_summary_kb,omitzero" jsonschema:"most KiB of one summary"`
	MaxTotalSummaryKB   *int64 `json:"max_total_summary_kb,omitzero" jsonschema:"most KiB of all summaries"`
	MaxReviewIterations *int64 `json:"max_review_iterations,omitzero" jsonschema:"most review rounds"`
}

type manifestIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
}

type verifyIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Head         string    `json:"head,omitzero" jsonschema:"a head of the log that was noted elsewhere, to compare with"`
	Signers      tool.Path `json:"signers,omitzero" jsonschema:"absolute path of an OpenSSH allowed_signers file that says whose signatures count, instead of the run's own list"`
}

type limitIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Name         string    `json:"name" jsonschema:"the limit, such as max_review_iterations"`
	Value        float64   `json:"value" jsonschema:"its value from here on"`
	Reason       string    `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

type acceptIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string    `json:"reason" jsonschema:"why what is there is accepted"`
}

type replanIn struct {
	PerspectivesPath tool.Path    `json:"perspectives_path" jsonschema:"absolute path of the perspectives.json to write"`
	Value            *codec.Value `json:"value" holds:"object" jsonschema:"the whole perspectives.v1 document"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
	Replan           bool         `json:"replan,omitzero" jsonschema:"replace the contracts of a wave that is planned already: its outputs are set aside and its plan is dropped"`
}

type gateIDIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Accept       bool      `json:"accept,omitzero" jsonschema:"let the gate pass, whatever its judge says"`
	Reason       string    `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

type runLogIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Last         int       `json:"last,omitzero" jsonschema:"how many of the last lines to show; all when absent" min:"1"`
}

type stagesIn struct {
	Mermaid bool `json:"mermaid,omitzero" jsonschema:"show the table as a Mermaid diagram"`
}

type advanceIn struct {
	ManifestPath             tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	GatesPath                tool.Path `json:"gates_path" jsonschema:"absolute path of the run's gates.json"`
	RequestedNext            string    `json:"requested_next,omitzero" jsonschema:"the stage to move to, where more than one can follow, such as wave2 or citations after pivot"`
	ExpectedManifestRevision *int64    `json:"expected_manifest_revision,omitzero" jsonschema:"the manifest revision that the decision was made on" min:"1"`
	Reason                   string    `json:"reason" jsonschema:"why, for the audit log"`
	DryRun                   bool      `json:"dry_run,omitzero" jsonschema:"decide and change nothing, not even the audit log"`
}

type manifestWriteIn struct {
	ManifestPath     tool.Path    `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Patch            *codec.Value `json:"patch" holds:"object" jsonschema:"merge patch (RFC 7396) of the manifest"`
	ExpectedRevision *int64       `json:"expected_revision,omitzero" jsonschema:"the revision that the patch was made for" min:"1"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
}

type gatesWriteIn struct {
	GatesPath        tool.Path    `json:"gates_path" jsonschema:"absolute path of the run's gates.json"`
	Update           *codec.Value `json:"update" holds:"object" jsonschema:"object of gate id (A to F) to the fields that change: status, checked_at, metrics, artifacts, warnings, notes"`
	InputsDigest     string       `json:"inputs_digest" jsonschema:"digest of what was judged, as the judging tool returned it"`
	ExpectedRevision *int64       `json:"expected_revision,omitzero" jsonschema:"the revision that the update was made for" min:"1"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
}

type perspectivesWriteIn struct {
	PerspectivesPath tool.Path    `json:"perspectives_path" jsonschema:"absolute path of the perspectives.json to write"`
	Value            *codec.Value `json:"value" holds:"object" jsonschema:"the whole perspectives.v1 document"`
	Reason           string       `json:"reason" jsonschema:"why, for the audit log"`
}

type retryIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	GateID       string    `json:"gate_id" jsonschema:"the gate that is tried again" enum:"A,B,C,D,E,F"`
	ChangeNote   string    `json:"change_note" jsonschema:"what is done differently this time"`
	Reason       string    `json:"reason" jsonschema:"why, for the audit log"`
}

type watchdogIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Stage        string    `json:"stage,omitzero" jsonschema:"the stage that the caller believes the run is in"`
	NowISO       string    `json:"now_iso,omitzero" jsonschema:"the time to judge by, RFC 3339; the present when absent"`
	Reason       string    `json:"reason" jsonschema:"why, for the audit log"`
}

type controlIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string    `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

type resumeIn struct {
	ManifestPath tool.Path `json:"manifest_path" jsonschema:"absolute path of the run's manifest.json"`
	Accept       bool      `json:"accept,omitzero" jsonschema:"let a failed run go on; what was used up is granted once more"`
	Reason       string    `json:"reason,omitzero" jsonschema:"why, for the audit log"`
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
		}, func(ctx context.Context, in runInitIn) (run.InitResult, error) {
			init := run.InitInput{
				Query: in.Query, Mode: in.Mode, Sensitivity: in.Sensitivity, RunID: in.RunID,
				RootOverride: string(in.RootOverride), RequireBoundGates: in.RequireBoundGates, LegacyGates: env.LegacyGates, SignersPath: env.Signers,
			}
			if in.Limits != nil {
				limits := run.Limits(*in.Limits)
				init.Limits = &limits
			}
			return run.Create(ctx, env.clock(), env.Home, init)
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
			Name: "deep_research_perspectives_write", Set: "run", Effect: tool.Writes, Idempotent: true, Destroys: true,
			Summary: "Use this to give a run its perspectives, before its first wave is planned. It checks the whole perspectives.v1 document and writes it; a document that breaks the schema changes nothing.",
		}, func(ctx context.Context, in perspectivesWriteIn) (step.PerspectivesResult, error) {
			return step.WritePerspectives(ctx, env.clock(), step.PerspectivesInput{PerspectivesPath: string(in.PerspectivesPath), Value: in.Value, Reason: in.Reason})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_perspectives_replan", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true, Destroys: true,
			Summary: "Give a run its perspectives, or replace those that its wave was planned by.",
			Command: &tool.Command{
				Path: "perspectives write", Short: "Give a run its perspectives",
				Long: "Check perspectives.json and copy it into a run. A document that breaks the schema, or whose run_id is that of another run, changes nothing; " +
					"`tidegate perspectives check` lists all that is wrong with it. Once the wave is planned the contracts are frozen. --replan replaces them as long as the run " +
					"has not left its first wave: the outputs are set aside, and the plan is dropped. Next: `tidegate wave plan`.",
				Operands: []tool.Operand{runOperand[0], {Name: "PERSPECTIVES", About: "the perspectives.json to check and copy into the run", Path: true}},
				Hide:     []string{"perspectives_path"}, Fill: env.fillPerspectives, Defaults: byHand("written by hand"),
				Example: "tidegate perspectives write harbour perspectives.json",
			},
		}, func(ctx context.Context, in replanIn) (step.PerspectivesResult, error) {
			return step.WritePerspectives(env.deciding(ctx), env.clock(), step.PerspectivesInput{PerspectivesPath: string(in.PerspectivesPath), Value: in.Value, Reason: in.Reason, Replan: in.Replan})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_manifest_write", Set: "run", Effect: tool.Writes,
			Summary: "Use this to note something in a run's manifest by a merge patch: metrics, notes, fields of your own, or that a created run is running. " +
				"Question, limits, stage, status and failures are not its to change. Pass expected_revision so that nobody's change is lost.",
		}, func(ctx context.Context, in manifestWriteIn) (run.WriteResult, error) {
			return stage.ManifestWrite(ctx, env.clock(), stage.ManifestWriteInput{
				ManifestPath: string(in.ManifestPath), Patch: in.Patch, ExpectedRevision: in.ExpectedRevision, Reason: in.Reason,
			})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_gates_write", Set: "run", Effect: tool.Writes,
			Summary: "Use this to record what a gate was judged to be. A pass is judged again before it is written, and refused with GATE_NOT_DERIVED when the gate's own judge does not find it; " +
				"the gate then counts only as long as the judged files stay as they are.",
		}, func(ctx context.Context, in gatesWriteIn) (run.WriteResult, error) {
			return step.GatesWrite(ctx, env.clock(), step.GatesWriteInput{
				GatesPath: string(in.GatesPath), Update: in.Update, InputsDigest: in.InputsDigest, ExpectedRevision: in.ExpectedRevision, Reason: in.Reason,
			})
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
		}, func(ctx context.Context, in advanceIn) (stage.AdvanceResult, error) {
			return stage.Advance(ctx, env.clock(), stage.AdvanceInput{
				ManifestPath: string(in.ManifestPath), GatesPath: string(in.GatesPath), RequestedNext: in.RequestedNext,
				ExpectedManifestRevision: in.ExpectedManifestRevision, Reason: in.Reason, DryRun: in.DryRun,
			})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_retry_record", Set: "run", Effect: tool.Writes,
			Summary: "Use this before you try a gate again. It counts the attempt; when the retries are used up it refuses and leaves the run to a person.",
		}, func(ctx context.Context, in retryIn) (stage.RetryResult, error) {
			return stage.RetryRecord(ctx, env.clock(), stage.RetryInput{ManifestPath: string(in.ManifestPath), GateID: in.GateID, ChangeNote: in.ChangeNote, Reason: in.Reason})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_watchdog_check", Set: "run", Effect: tool.Writes, Destroys: true,
			Summary: "Use this from time to time while agents work. A run whose stage has gone too long without progress is failed, once, with a checkpoint; any other is left as it is.",
		}, func(ctx context.Context, in watchdogIn) (stage.WatchdogResult, error) {
			return stage.WatchdogCheck(ctx, env.clock(), stage.WatchdogInput{ManifestPath: string(in.ManifestPath), Stage: in.Stage, NowISO: in.NowISO, Reason: in.Reason})
		}),

		tool.New(tool.Spec{
			Name: "deep_research_run_log", Set: "run", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to read what happened in a run. It returns the lines of the audit log, and whether each is chained to the one before.",
			Command: &tool.Command{
				Path: "run log", Short: "Show the audit log of a run",
				Long:     "Show what happened to a run: when, what, and the reason that was given. `tidegate run verify` says whether the log can be trusted.",
				Operands: runOperand, Hide: hidden, Fill: env.fillRun, Example: "tidegate run log harbour --last 5",
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
		}, func(ctx context.Context, in verifyIn) (run.VerifyResult, error) {
			return run.Verify(ctx, run.VerifyInput{ManifestPath: string(in.ManifestPath), Head: in.Head, SignersPath: string(in.Signers), Follows: stage.Follows})
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
				Long: "Set one of the limits that a run was made with: max_wave1_agents, max_wave2_agents, max_summary_kb, max_total_summary_kb or max_review_iterations; " +
					"or one of its budget: max_parallel, tries, attempt_minutes, idle_minutes, max_minutes, max_tokens, max_cost_usd, max_answer_kb or max_mb. " +
					"A run that stopped because that budget was used up goes on.",
				Operands: []tool.Operand{runOperand[0], {Name: "NAME", Field: "name", About: "the limit"}, {Name: "VALUE", Field: "value", About: "its value from here on"}},
				Hide:     hidden, Fill: env.fillRun, Example: "tidegate run limit harbour max_review_iterations 6",
			},
		}, func(ctx context.Context, in limitIn) (stage.LimitResult, error) {
			return stage.Limit(env.deciding(ctx), env.clock(), stage.LimitInput{ManifestPath: string(in.ManifestPath), Name: in.Name, Value: in.Value, Reason: in.Reason})
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
		}, func(ctx context.Context, in acceptIn) (run.AcceptResult, error) {
			return run.AcceptRecord(env.deciding(ctx), env.clock(), run.AcceptInput{ManifestPath: string(in.ManifestPath), Reason: in.Reason})
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
		}, func(ctx context.Context, in resumeIn) (stage.ControlResult, error) {
			return stage.Resume(env.deciding(ctx), env.clock(), stage.ResumeInput{ManifestPath: string(in.ManifestPath), Accept: in.Accept, Reason: in.Reason})
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
	}, func(ctx context.Context, in controlIn) (stage.ControlResult, error) {
		return run(env.deciding(ctx), env.clock(), stage.ControlInput{ManifestPath: string(in.ManifestPath), Reason: in.Reason})
	})
}
