package catalog

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/change"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

// payloadIn is a review payload. Its data model allows unknown keys and reports
// all violations at once, so the review package reads it whole.
type payloadIn struct{ payload *codec.Value }

// JSONSchema is the data model of a review.
func (in *payloadIn) JSONSchema() *codec.Value { return review.Schema() }

// Decode keeps the payload for the review package, which judges it.
func (in *payloadIn) Decode(args *codec.Value) error {
	in.payload = args
	return nil
}

type changeIn struct {
	ChangeID string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
}

type reviewShowIn struct {
	ReviewPath tool.Path `json:"review_path" jsonschema:"absolute path of a REVIEW.md"`
}

type reviewDiffIn struct {
	ChangeID string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
	From     int    `json:"from,omitzero" jsonschema:"number of the earlier review; the one before when absent" min:"1"`
	To       int    `json:"to,omitzero" jsonschema:"number of the later review; the newest when absent" min:"1"`
}

type changeStartIn struct {
	ChangeID  string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
	MaxRounds *int64 `json:"max_rounds,omitzero" jsonschema:"most rounds of fixing before a person is needed; 2 when nobody sets it" min:"0" max:"1000000"`
}

type changeResumeIn struct {
	ChangeID string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
	Accept   bool   `json:"accept,omitzero" jsonschema:"accept what keeps the change from going on"`
	Reason   string `json:"reason" jsonschema:"why; it is kept in the log of the change"`
}

var changeOperand = []tool.Operand{{Name: "ID", Field: "change_id", About: "the change, as its folder under agentd/changes is named"}}

// fillReview reads the payload from the file that a person names.
func fillReview(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	path := typed.Operands["PAYLOAD"]
	payload, err := artifact.ReadJSON(ctx, "PAYLOAD", path)
	if err != nil {
		return err
	}
	if payload.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("PAYLOAD", path), "%s must hold a JSON object", filepath.Base(path))
	}
	for _, m := range payload.Members() {
		args.Set(m.Key, m.Value)
	}
	return nil
}

// payloadHelp is what a person has to know of the data model of a review.
const payloadHelp = "The payload is a JSON object:\n\n" +
	"  change_id, verdict (APPROVED, NEEDS_FIX or MAJOR_ISSUES), summary,\n" +
	"  issues: a list of objects with title, severity (High, Medium or Low),\n" +
	"    category, description and, where known, file, line, recommendation;\n" +
	"  test_results: passed, failed, total. The last two may be left out."

var payloadOperand = []tool.Operand{{Name: "PAYLOAD", About: "a JSON file with the review", Path: true}}

func reviewTools(env *Env) []*tool.Tool {
	exports := []string{"markdown", "sarif", "rdjson", "junit", "github"}
	return []*tool.Tool{
		tool.New(tool.Spec{
			Name: "create_review", Set: "review", Effect: tool.Writes,
			Summary: "Use this when you have verified an implementation, to submit your code review. It checks the payload and writes REVIEW.md of the change; " +
				"all violations come back at once and then nothing is written. The verdict is APPROVED, NEEDS_FIX or MAJOR_ISSUES.",
			Command: &tool.Command{
				Path: "review create", Short: "Check a review and write it as REVIEW.md",
				Long: "Check a code review and write it as REVIEW.md of its change, agentd/changes/<change_id> in the project. All faults are listed at once, and " +
					"then nothing is written. Next: `tidegate change advance` moves the change by the verdict. " + payloadHelp,
				Operands: payloadOperand, Fill: fillReview, Example: "tidegate review create review-1.json",
			},
		}, func(ctx context.Context, in payloadIn) (change.Created, error) {
			return change.CreateReview(ctx, env.Project, env.changeClock(), in.payload, env.Strict)
		}),

		tool.New(tool.Spec{
			Name: "format_review_markdown", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to see the REVIEW.md that create_review would write. It takes the same payload and writes nothing.",
			Command: &tool.Command{
				Path: "review format", Short: "Show the REVIEW.md that a review would become",
				Long:     "Check a code review and show the REVIEW.md that `tidegate review create` would write. It writes nothing. " + payloadHelp,
				Operands: payloadOperand, Fill: fillReview, Example: "tidegate review format review-1.json",
			},
		}, func(_ context.Context, in payloadIn) (review.Formatted, error) {
			return review.FormatMarkdown(in.payload, env.Strict)
		}),

		tool.New(tool.Spec{
			Name: "review_show", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to read a REVIEW.md: its verdict, issues and test results, and what is contradictory in it. It also says how the Agentd parser reads the verdict.",
			Command: &tool.Command{
				Path: "review show", Short: "Read a REVIEW.md; exits 1 unless it is approved",
				Long: "Read a REVIEW.md: verdict, issues, test results, and what contradicts itself in it. The exit status is 1 unless the verdict is APPROVED. " +
					"The formats sarif, junit, github and rdjson hand the issues to other programs.",
				Operands: []tool.Operand{{Name: "FILE", Field: "review_path", About: "the REVIEW.md to read"}},
				Formats:  exports, Example: "tidegate review show agentd/changes/charge-planner/REVIEW.md",
			},
		}, func(ctx context.Context, in reviewShowIn) (review.Shown, error) {
			return change.ShowReview(ctx, string(in.ReviewPath))
		}),

		tool.New(tool.Spec{
			Name: "review_list", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to see all reviews that a change has had, numbered, with their verdicts.",
			Command: &tool.Command{
				Path: "review list", Short: "List the reviews of a change",
				Long:     "List the reviews that a change has had, numbered, with verdict, issues and file. They are kept in the folder reviews of the change.",
				Operands: changeOperand, Example: "tidegate review list charge-planner",
			},
		}, func(ctx context.Context, in changeIn) (change.ReviewList, error) {
			return change.Reviews(ctx, env.Project, in.ChangeID)
		}),

		tool.New(tool.Spec{
			Name: "review_diff", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this after a second review, to see which issues are new, still there, or gone.",
			Command: &tool.Command{
				Path: "review diff", Short: "Compare two reviews of a change",
				Long:     "Show which issues are new, still there, or gone between two reviews of a change: the last two, or those that --from and --to number as `tidegate review list` does.",
				Operands: changeOperand, Example: "tidegate review diff charge-planner\ntidegate review diff charge-planner --from 1 --to 2",
			},
		}, func(ctx context.Context, in reviewDiffIn) (change.DiffResult, error) {
			return change.ReviewDiff(ctx, env.Project, in.ChangeID, in.From, in.To)
		}),

		tool.New(tool.Spec{
			Name: "change_list", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to see the code changes of the project with phase, iteration and verdict.",
			Command: &tool.Command{
				Path: "change list", Short: "List the changes of the project",
				Long:    "List the changes of the project, which are the folders in agentd/changes, with phase, iteration and verdict.",
				Example: "tidegate change list",
			},
		}, func(ctx context.Context, _ none) (change.List, error) { return change.All(ctx, env.Project) }),

		tool.New(tool.Spec{
			Name: "change_status", Set: "review", Effect: tool.Reads, Idempotent: true,
			Summary: "Use this to see where a code change stands: phase, iteration, verdict, and what may happen next.",
			Command: &tool.Command{
				Path: "change status", Short: "Show where a change stands",
				Long:     "Show where a change stands - phase, iteration, verdict of its review - and what to do next. It writes nothing.",
				Operands: changeOperand, Example: "tidegate change status charge-planner",
			},
		}, func(ctx context.Context, in changeIn) (change.Status, error) {
			return change.StatusOf(ctx, env.Project, in.ChangeID)
		}),

		tool.New(tool.Spec{
			Name: "change_start", Set: "review", Effect: tool.Writes, Idempotent: true, PersonArgs: []string{"max_rounds"},
			Summary: "Use this when the implementation of a code change begins. It sets the phase to implementing, and makes STATE.yaml where there is none.",
			Command: &tool.Command{
				Path: "change start", Short: "Begin the implementation of a change",
				Long: "Begin the implementation of a change: STATE.yaml in its folder, which is made where there is none, gets the phase implementing. " +
					"--max-rounds sets how often the reviewer may send it back before a person is needed, also later; no agent can. " +
					"Next: write the code, have it reviewed, and hand the review to `tidegate review create`.",
				Operands: changeOperand, Example: "tidegate change start charge-planner\ntidegate change start charge-planner --max-rounds 4",
			},
		}, func(ctx context.Context, in changeStartIn) (change.Started, error) {
			return change.Start(env.deciding(ctx), env.Project, env.changeClock(), in.ChangeID, in.MaxRounds)
		}),

		tool.New(tool.Spec{
			Name: "change_advance", Set: "review", Effect: tool.Writes, Idempotent: true,
			Summary: "Use this after a review, to move a code change by its verdict: APPROVED completes it when no issue is High, no test failed and the files are those that were reviewed; " +
				"NEEDS_FIX counts one more round up to the limit; everything else leaves it to a person, and needs_person says why.",
			Command: &tool.Command{
				Path: "change advance", Short: "Move a change by the verdict of its review",
				Long: "Move a change by the verdict of the review that was kept last: APPROVED completes it when no issue is High, no test failed and, in a git repository, " +
					"the files are those that were reviewed; NEEDS_FIX begins another round of fixing until the limit is reached (2, or what `tidegate change start --max-rounds` set). " +
					"Everything else leaves it to a person: `tidegate change resume`. Of a change whose REVIEW.md was written by hand, this command takes the verdict from there. " +
					"The exit status is 1 unless it is approved.",
				Operands: changeOperand, Example: "tidegate change advance charge-planner",
			},
		}, func(ctx context.Context, in changeIn) (change.Advanced, error) {
			return change.Advance(ctx, env.Project, env.changeClock(), in.ChangeID)
		}),

		tool.New(tool.Spec{
			Name: "change_resume", Set: "review", Effect: tool.Writes, Idempotent: true, Person: true,
			Summary: "Let a change go on that needs a person.",
			Command: &tool.Command{
				Path: "change resume", Short: "Let a change go on that needs a person",
				Long: "Let a change go on that needs a person, with --accept: you accept what `tidegate change status` names, and the log of the change keeps why. " +
					"An approval with doubts then completes the change; after major issues, or when the rounds of fixing are used up, one more round begins. " +
					"Where the log or a kept review was changed by other means, you accept the files as they are.",
				Operands: changeOperand, Example: "tidegate change resume charge-planner --accept --reason \"known flaky test\"",
			},
		}, func(ctx context.Context, in changeResumeIn) (change.Resumed, error) {
			return change.Resume(env.deciding(ctx), env.Project, env.changeClock(), in.ChangeID, in.Accept, in.Reason)
		}),
	}
}

func (env *Env) changeClock() change.Clock { return change.Clock{Now: env.Now, Pinned: env.Pinned} }
