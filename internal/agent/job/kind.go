package job

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/review"
)

// kind is one kind of agents' work.
type kind struct {
	name   string
	role   string // that does it, by the names of the configuration
	format string // of the answer: markdown or json
	// furnished says that an agent gets more than the prompt: tools, a contract, a folder
	furnished bool
	stages    []run.Stage

	// list makes the jobs of the kind that the run has come to. It is called with
	// the board's own lock held, as done is.
	list func(b *Board) ([]*Job, error)
	// done reports whether the run has what the job is to write.
	done func(b *Board, j *Job) bool
	// prompt is the whole text for the agent.
	prompt func(ctx context.Context, b *Board, j *Job) (draft, error)
	// judge says everything that is wrong with an answer.
	judge func(ctx context.Context, b *Board, j *Job, a answer) (judgement, error)
	// accept stages what was judged and found right.
	accept func(u update, j *Job, attempt int, judged judgement) error
}

// The kinds of a run, of a code change, of an audit, and of a further question.
var kinds, codeKinds, auditKinds, askKinds []kind

func init() {
	auditKinds, askKinds = []kind{auditVerifyKind}, []kind{askKind, auditVerifyKind}
	codeKinds = []kind{implementKind, codeReviewKind, codeVerifyKind}
	kinds = []kind{perspectivesKind, wave1Kind, wave2Kind, summaryKind, outlineKind, sectionKind, synthesisKind, verifyKind, reviewKind}
}

// reached reports whether a run has come to the kind's work, even if it has gone
// back since.
func (k *kind) reached(m run.Manifest) bool {
	return slices.Index(run.Stages, m.Stage()) >= slices.Index(run.Stages, k.stages[0]) ||
		slices.ContainsFunc(m.History(), func(move *codec.Value) bool { return slices.Contains(k.stages, run.Stage(move.Get("to").Str())) })
}

// now reports whether a run in that stage waits for the kind's work.
func (k *kind) now(stage run.Stage) bool { return slices.Contains(k.stages, stage) }

// draft is a prompt, with what it was made from.
type draft struct {
	text    string
	seen    map[string]string // digests of the documents that it was made from, by name
	sources map[string]string // short ids of sources to cids
	calls   map[string]int    // the tool budget of the contract
	// forbidden are the tools that the perspective takes away
	forbidden []string
	// folder is where the agent works, for a job that changes files
	folder string
	// seed chooses the controls of a part that a second reader is asked
	seed string
	// from is what the job is about
	from *MadeFrom
	// contract is the file of perspectives that holds the contract; nil without one
	contract []byte
}

// answer is an answer as it is judged.
type answer struct {
	text      string
	toolUsage *codec.Value
	attempt   *Attempt // that it belongs to
	number    int      // in the attempt
}

// judgement is what a kind says of an answer.
type judgement struct {
	faults   []Fault
	warnings []Fault
	seen     map[string]string // digests of the documents that it was judged by, by name
	// holds reports whether its sources would be judged by the same evidence; nil
	// without sources
	holds func(context.Context) (bool, error)
	// offline says that its sources cannot be judged, because nothing can be reached from
	// here.
	offline bool

	text      string       // what is accepted, where it is a text
	value     *codec.Value // where it is a document
	draft     step.Judged
	outline   *synthesis.Outline
	reading   *step.Reading // of a second reader
	review    synthesis.Review
	code      CodeReviewed
	checked   []review.Checked
	toolUsage *codec.Value
}
