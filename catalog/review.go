package catalog

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/reviews"
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

type reviewListIn struct {
	ChangeID string `json:"change_id,omitzero" jsonschema:"the change, which is the name of its folder under agentd/changes; the reviews that belong to no change when absent"`
}

type reviewShowIn struct {
	ReviewPath string `json:"review_path" path:"absolute" jsonschema:"absolute path of a REVIEW.md"`
}

type reviewDiffIn struct {
	ChangeID string   `json:"change_id,omitzero" jsonschema:"the change, which is the name of its folder under agentd/changes; needed without reviews"`
	Reviews  []string `json:"reviews,omitzero" jsonschema:"ids of reviews that belong to no change, as review_list has them: two, the earlier first, or one, which is compared with the one of the same name before"`
	From     int      `json:"from,omitzero" jsonschema:"number of the earlier review; the one before when absent" min:"1"`
	To       int      `json:"to,omitzero" jsonschema:"number of the later review; the newest when absent" min:"1"`
}

type changeStartIn struct {
	ChangeID  string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
	MaxRounds *int64 `json:"max_rounds,omitzero" jsonschema:"most rounds of fixing before a person is needed; 2 when nobody sets it" min:"0" max:"1000000"`
}

type changeResumeIn struct {
	ChangeID string `json:"change_id" jsonschema:"the change, which is the name of its folder under agentd/changes"`
	Accept   bool   `json:"accept,omitzero" jsonschema:"accept what keeps the change from continuing"`
	Reason   string `json:"reason" jsonschema:"why; it is kept in the log of the change"`
}

var changeOperand = []tool.Operand{{Name: "ID", Field: "change_id", About: "the change, as its folder under agentd/changes is named"}}

// fillReview reads the payload from the file that a person names.
func fillReview(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	path := typed.Operands["PAYLOAD"]
	payload, err := readPayload(ctx, typed, path)
	if err != nil {
		return err
	}
	if payload.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("PAYLOAD", path), "%s must hold a JSON object", filepath.Base(path))
	}
	for _, m := range payload.Members() {
		args.Set(m.Key, m.Value)
	}
	return nil
}

// readPayload reads a file, or standard input where a person names that.
func readPayload(ctx context.Context, typed tool.Typed, path string) (*codec.Value, error) {
	if path != tool.Stdin && path != "/dev/stdin" {
		return artifact.Everywhere.ReadJSON("PAYLOAD", path)
	}
	data, err := tool.ReadInput(ctx, typed.Input, "the review")
	if err != nil {
		return nil, err
	}
	return codec.ParseFile("PAYLOAD", path, data)
}

var payloadOperand = []tool.Operand{{Name: "PAYLOAD", About: "a JSON file with the review, - for standard input", Path: true}}

func reviewTools(env tools) []*tool.Tool {
	exports := []string{"markdown", "sarif", "rdjson", "junit", "github", "gitlab"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "create_review", Set: "review", Core: true, Effect: tool.Writes,
			Command: &tool.Command{Path: "review create", Operands: payloadOperand, Fill: fillReview},
		}, func(ctx context.Context, call tool.Caller, in payloadIn) (change.Created, error) {
			return change.CreateReview(ctx, env.Desk(call.Reach), env.Project, in.payload, env.Strict)
		}),
		declare(tool.Spec{
			Name: "format_review_markdown", Set: "review", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "review format", Operands: payloadOperand, Fill: fillReview},
		}, func(_ context.Context, _ tool.Caller, in payloadIn) (review.Formatted, error) {
			return review.FormatMarkdown(in.payload, env.Strict)
		}),
		declare(tool.Spec{
			Name: "review_show", Set: "review", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "review show",
				Operands: []tool.Operand{{Name: "ID", Field: "review_path", About: "the change, the review that belongs to none, or the path of a REVIEW.md"}},
				Formats:  exports,
				Fill: func(ctx context.Context, typed tool.Typed, args *codec.Value) error {
					desk, id := env.Desk(artifact.Everywhere), filepath.Base(typed.Operands["ID"])
					if filepath.Dir(typed.Operands["ID"]) != env.Dir {
						return nil
					}
					path, ok := change.ReviewOf(desk, env.Project, id)
					if !ok {
						path, ok = reviews.Path(desk, env.Home, id)
					}
					if ok {
						args.Set("review_path", codec.Of(path))
					}
					return nil
				},
			},
		}, func(ctx context.Context, call tool.Caller, in reviewShowIn) (review.Shown, error) {
			return change.ShowReview(env.Desk(call.Reach), in.ReviewPath)
		}),
		declare(tool.Spec{
			Name: "review_prompt", Set: "review", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "review prompt",
				Operands: changeOperand,
				Formats:  []string{"markdown"}, Piped: "markdown",
			},
		}, func(ctx context.Context, call tool.Caller, in change.AskInput) (change.Asked, error) {
			return change.AskForReview(ctx, env.Desk(call.Reach), env.Project, in)
		}),
		declare(tool.Spec{
			Name: "review_check", Set: "review", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "review check",
				Operands: []tool.Operand{{Name: "PAYLOAD", Field: "payload_path", About: "a JSON file with the review"}},
				Formats:  exports,
			},
		}, func(ctx context.Context, call tool.Caller, in change.CheckInput) (change.Checked, error) {
			return change.CheckReview(ctx, env.Desk(call.Reach), env.Project, in)
		}),
		declare(tool.Spec{
			Name: "review_import", Set: "review", Effect: tool.WritesOnRequest,
			Command: &tool.Command{
				Path:     "review import",
				Operands: []tool.Operand{{Name: "FILE", Field: "files", About: "SARIF or rdjson of other tools", Repeats: true}},
				Rename:   map[string]string{"change_id": "change"},
				Formats:  exports,
			},
		}, func(ctx context.Context, call tool.Caller, in change.ImportInput) (review.Imported, error) {
			return change.ImportReview(ctx, env.Desk(call.Reach), env.Project, in)
		}),
		declare(tool.Spec{
			Name: "review_list", Set: "review", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path:     "review list",
				Operands: []tool.Operand{{Name: "ID", Field: "change_id", About: "the change; without it the reviews that belong to none", Optional: true}},
			},
		}, func(ctx context.Context, call tool.Caller, in reviewListIn) (change.ReviewList, error) {
			if in.ChangeID == "" {
				return reviews.List(env.Desk(call.Reach), env.Home, env.Project)
			}
			return change.Reviews(env.Desk(call.Reach), env.Project, in.ChangeID)
		}),
		declare(tool.Spec{
			Name: "review_diff", Set: "review", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{
				Path: "review diff",
				Operands: []tool.Operand{
					{Name: "ID", Field: "change_id", About: "the change, or a review that belongs to none"},
					{Name: "LATER", About: "the later review, where ID is one that belongs to no change", Optional: true},
				},
				Fill: func(_ context.Context, typed tool.Typed, args *codec.Value) error {
					ids := []string{typed.Operands["ID"]}
					if later := typed.Operands["LATER"]; later != "" {
						ids = append(ids, later)
					}
					if _, ok := reviews.Path(env.Desk(artifact.Everywhere), env.Home, ids[0]); ok || len(ids) > 1 {
						args.Delete("change_id")
						args.Set("reviews", codec.Of(ids))
					}
					return nil
				},
			},
		}, func(ctx context.Context, call tool.Caller, in reviewDiffIn) (change.DiffResult, error) {
			if len(in.Reviews) > 0 {
				return reviews.Diff(env.Desk(call.Reach), env.Home, in.Reviews)
			}
			if in.ChangeID == "" {
				return change.DiffResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("change_id", nil),
					"change_id is missing, and so is reviews")
			}
			return change.ReviewDiff(env.Desk(call.Reach), env.Project, in.ChangeID, in.From, in.To)
		}),
		declare(tool.Spec{
			Name: "change_list", Set: "review", Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "change list"},
		}, func(ctx context.Context, call tool.Caller, _ none) (change.List, error) {
			return change.All(env.Desk(call.Reach), env.Project)
		}),
		declare(tool.Spec{
			Name: "change_status", Set: "review", Core: true, Effect: tool.Reads, Idempotent: true,
			Command: &tool.Command{Path: "change status", Operands: changeOperand},
		}, func(ctx context.Context, call tool.Caller, in changeIn) (change.Status, error) {
			return change.StatusOf(ctx, env.Desk(call.Reach), env.Project, in.ChangeID)
		}),
		declare(tool.Spec{
			Name: "change_start", Set: "review", Core: true, Effect: tool.Writes, Idempotent: true, PersonArgs: []string{"max_rounds"},
			Command: &tool.Command{Path: "change start", Operands: changeOperand},
		}, func(ctx context.Context, call tool.Caller, in changeStartIn) (change.Started, error) {
			return change.Start(ctx, env.Desk(call.Reach), env.Project, in.ChangeID, in.MaxRounds)
		}),
		declare(tool.Spec{
			Name: "change_advance", Set: "review", Core: true, Effect: tool.Writes, Idempotent: true,
			Command: &tool.Command{Path: "change advance", Operands: changeOperand},
		}, func(ctx context.Context, call tool.Caller, in changeIn) (change.Advanced, error) {
			return change.Advance(ctx, env.Desk(call.Reach), env.Project, in.ChangeID)
		}),
		declare(tool.Spec{
			Name: "change_resume", Set: "review", Effect: tool.Writes, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "change resume", Operands: changeOperand},
		}, func(ctx context.Context, call tool.Caller, in changeResumeIn) (change.Resumed, error) {
			return change.Resume(ctx, env.Desk(call.Reach), env.Project, in.ChangeID, in.Accept, in.Reason)
		}),
	}
}
