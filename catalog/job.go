package catalog

import (
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// board opens the jobs of the run that was named.
func (e tools) board(ctx context.Context, call tool.Caller, manifest string) (*job.Board, error) {
	b, err := job.OpenBoard(ctx, e.Desk(call.Reach), manifest)
	if err == nil {
		b.Fetch = e.Pages(call)
	}
	return b, err
}

// onBoard is a tool's function that does what do does with the jobs of the run that
// was named.
func onBoard[In interface{ manifest() string }, Out any](env tools, do func(context.Context, *job.Board, In) (Out, error)) func(context.Context, tool.Caller, In) (Out, error) {
	return func(ctx context.Context, call tool.Caller, in In) (Out, error) {
		b, err := env.board(ctx, call, in.manifest())
		if err != nil {
			var none Out
			return none, err
		}
		defer b.Close()
		return do(ctx, b, in)
	}
}

type stepIn struct {
	manifestIn
	Reason string `json:"reason,omitzero" jsonschema:"why, for the caller's own records"`
}

type jobListIn struct {
	manifestIn
	States []string `json:"states,omitzero" jsonschema:"only jobs in these states: open, leased, accepted, exhausted; all when absent"`
}

type jobLeaseIn struct {
	manifestIn
	Holder       string `json:"holder" jsonschema:"who takes the job, in a few words"`
	JobID        string `json:"job_id,omitzero" jsonschema:"the job to take; the first open one when absent"`
	LeaseSeconds int    `json:"lease_seconds,omitzero" jsonschema:"for how long; deep_research_job_extend makes it longer" min:"30" max:"7200" default:"1800"`
}

type jobSubmitIn struct {
	manifestIn
	Token      string       `json:"token" jsonschema:"as deep_research_job_lease returned it"`
	Answer     string       `json:"answer,omitzero" jsonschema:"the whole answer, in the format that the lease names"`
	AnswerPath string       `json:"answer_path,omitzero" path:"absolute" jsonschema:"absolute path of a file with the answer, instead of answer"`
	Usage      *usageIn     `json:"usage,omitzero" jsonschema:"what the answer took"`
	ToolUsage  *codec.Value `json:"tool_usage,omitzero" holds:"object" jsonschema:"calls by tool, as the contract's tool_budget names them"`
}

type usageIn struct {
	InputTokens  int64    `json:"input_tokens,omitzero"`
	OutputTokens int64    `json:"output_tokens,omitzero"`
	CostUSD      *float64 `json:"cost_usd,omitzero"`
}

type jobExtendIn struct {
	manifestIn
	Token        string `json:"token" jsonschema:"as deep_research_job_lease returned it"`
	LeaseSeconds int    `json:"lease_seconds" jsonschema:"for how long from now" min:"30" max:"7200"`
}

type jobReleaseIn struct {
	manifestIn
	Token  string `json:"token" jsonschema:"as deep_research_job_lease returned it"`
	Reason string `json:"reason" jsonschema:"why, for the audit log"`
}

type jobOfRunIn struct {
	manifestIn
	JobID  string `json:"job_id" jsonschema:"the job"`
	Reason string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

type jobRetryIn struct {
	manifestIn
	JobID string `json:"job_id" jsonschema:"the job"`
	Note  string `json:"note" jsonschema:"for the next agent, and for the audit log"`
}

type jobAnswerIn struct {
	manifestIn
	JobID  string `json:"job_id" jsonschema:"the job"`
	Answer string `json:"answer" jsonschema:"the whole answer"`
}

var jobOperand = tool.Operand{Name: "JOB", Field: "job_id", About: "the job, as `tidegate job list` names it"}

func jobTools(env tools) []*tool.Tool {
	hidden := []string{"manifest_path"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "deep_research_run_step", Set: "run", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true, Idempotent: true,
			Command: &tool.Command{
				Path:     "run step",
				Operands: runOperand, Hide: append(hidden, "reason"), Fill: env.fillRun,
			},
		}, func(ctx context.Context, call tool.Caller, in stepIn) (engine.StepResult, error) {
			return engine.Settle(ctx, env.Desk(call.Reach), env.Pages(call), in.ManifestPath, engine.StepTime)
		}),

		declare(tool.Spec{
			Name: "deep_research_job_list", Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Reads, Idempotent: true,
			Command: env.readsRun("job list"),
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobListIn) (job.ListResult, error) {
			return b.List(in.States)
		})),

		declare(tool.Spec{
			Name: "deep_research_job_lease", Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobLeaseIn) (job.LeaseResult, error) {
			leased, err := b.Lease(ctx, job.LeaseInput{Holder: in.Holder, JobID: in.JobID, For: time.Duration(in.LeaseSeconds) * time.Second})
			return job.LeaseResult{Job: leased}, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_submit", Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
		}, func(ctx context.Context, call tool.Caller, in jobSubmitIn) (job.SubmitResult, error) {
			if err := in.oneAnswer(); err != nil {
				return job.SubmitResult{}, err
			}
			b, err := env.board(ctx, call, in.ManifestPath)
			if err != nil {
				return job.SubmitResult{}, err
			}
			defer b.Close()
			answer := []byte(in.Answer)
			if in.AnswerPath != "" {
				if answer, err = env.handedIn(ctx, call.Reach, "answer_path", in.AnswerPath, b.Run().Root()); err != nil {
					return job.SubmitResult{}, err
				}
			}
			input := job.SubmitInput{Token: in.Token, Answer: answer, ToolUsage: in.ToolUsage}
			if in.Usage != nil {
				usage := driver.Charge(*in.Usage)
				input.Usage = &usage
			}
			verdict, err := b.Submit(ctx, input)
			return job.SubmitResult{Verdict: verdict}, err
		}),

		declare(tool.Spec{
			Name: "deep_research_job_extend", Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobExtendIn) (job.ExtendResult, error) {
			until, err := b.Extend(ctx, in.Token, time.Duration(in.LeaseSeconds)*time.Second)
			return job.ExtendResult{ExpiresAt: until}, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_release", Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes,
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobReleaseIn) (job.ReleaseResult, error) {
			released, err := b.Release(ctx, in.Token, in.Reason)
			return job.ReleaseResult{State: released.State}, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_show", Set: "job", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{
				Path:     "job show",
				Operands: []tool.Operand{readOperand[0], jobOperand}, Hide: []string{"manifest_path", "reason"}, Fill: env.fillReadRun,
			},
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobOfRunIn) (job.ShowResult, error) {
			shown, err := b.Show(in.JobID)
			if err == nil {
				shown.Pairs, err = b.Pairs(in.JobID)
			}
			return shown, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_prompt", Set: "job", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{
				Path:     "job prompt",
				Operands: []tool.Operand{readOperand[0], jobOperand}, Hide: []string{"manifest_path", "reason"}, Fill: env.fillReadRun,
			},
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobOfRunIn) (job.PromptResult, error) {
			return b.Prompt(ctx, in.JobID)
		})),

		declare(tool.Spec{
			Name: "deep_research_job_answer", Set: "job", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path:     "job answer",
				Operands: []tool.Operand{runOperand[0], jobOperand, {Name: "FILE", About: "the file with the answer; standard input when absent", Path: true, Optional: true}},
				Hide:     []string{"manifest_path", "answer"}, Fill: env.fillAnswer,
			},
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobAnswerIn) (job.SubmitResult, error) {
			verdict, err := b.Answer(ctx, in.JobID, []byte(in.Answer))
			return job.SubmitResult{Verdict: verdict}, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_take_back", Set: "job", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path:     "job release",
				Operands: []tool.Operand{runOperand[0], jobOperand}, Hide: []string{"manifest_path"}, Fill: env.fillRun, Defaults: byHand("released by hand"),
			},
		}, onBoard(env, func(ctx context.Context, b *job.Board, in jobOfRunIn) (job.ReleaseResult, error) {
			released, err := b.ReleaseJob(ctx, in.JobID, in.Reason)
			return job.ReleaseResult{State: released.State}, err
		})),

		declare(tool.Spec{
			Name: "deep_research_job_retry", Set: "job", Effect: tool.Writes, Person: true,
			Command: &tool.Command{
				Path:     "job retry",
				Operands: []tool.Operand{runOperand[0], jobOperand}, Hide: []string{"manifest_path"}, Fill: env.fillRun,
			},
		}, func(ctx context.Context, call tool.Caller, in jobRetryIn) (job.ReleaseResult, error) {
			if err := run.CheckText("note", in.Note); err != nil {
				return job.ReleaseResult{}, err
			}
			b, err := env.board(ctx, call, in.ManifestPath)
			if err != nil {
				return job.ReleaseResult{}, err
			}
			defer b.Close()
			retried, err := b.Retry(ctx, in.JobID, in.Note, job.AnyAttempt)
			return job.ReleaseResult{State: retried.State}, err
		}),
	}
}

// oneAnswer returns INVALID_ARGS unless the answer was given in exactly one way.
func (in jobSubmitIn) oneAnswer() error {
	switch {
	case in.Answer == "" && in.AnswerPath == "":
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("answer", nil), "answer or answer_path is required")
	case in.Answer != "" && in.AnswerPath != "":
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("answer_path", tidegate.Cut(in.AnswerPath)), "answer and answer_path cannot both be given")
	}
	return nil
}

// handedIn reads a file that a caller hands in by its path. An agent can name any
// path, so its file must lie in the roots or, where there are none, in the run or
// the working folder.
func (e tools) handedIn(ctx context.Context, reach artifact.Reach, arg, path, runRoot string) ([]byte, error) {
	if err := run.CheckGiven(ctx, arg, path); err != nil {
		return nil, err
	}
	if !reach.Confined() && tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		reach = artifact.Within(runRoot, e.Dir)
	}
	return reach.ReadFile(arg, path)
}

// fillAnswer reads the file that a person names, or standard input.
func (e tools) fillAnswer(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	if err := e.fillRun(ctx, typed, args); err != nil {
		return err
	}
	if file, named := typed.Operands["FILE"]; named {
		data, err := artifact.Everywhere.ReadFile("FILE", file)
		args.Set("answer", codec.Of(string(data)))
		return err
	}
	data, err := tool.ReadInput(ctx, typed.Input, "the answer")
	if err != nil {
		return err
	}
	args.Set("answer", codec.Of(string(data)))
	return nil
}
