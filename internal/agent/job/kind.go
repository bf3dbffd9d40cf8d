package job

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// Kind is a kind of jobs that some work has come to.
type Kind struct {
	kind
	waits  bool // the work waits for them
	web    bool // who does them may search and read the web
	rounds bool // its jobs of earlier rounds are there, and not asked for any more
	// list makes the jobs. It is called with the board's own lock held.
	list func() ([]*Job, error)
}

// kind is what a kind of jobs is, whatever work they belong to.
type kind struct {
	name   string
	role   string // that does it, by the names of the configuration
	format string // of the answer: markdown or json
	// equipped says that an agent gets more than the prompt: tools, a contract, a folder
	equipped bool
	writes   bool // something of a report, so that others read it
}

// Each kind of jobs, whatever work they belong to.
var (
	perspectivesKind = kind{name: "perspectives", role: "planner", format: "json"}
	wave1Kind        = kind{name: string(run.Wave1), role: "researcher", format: "markdown", equipped: true}
	wave2Kind        = kind{name: string(run.Wave2), role: "researcher", format: "markdown", equipped: true}
	summaryKind      = kind{name: "summary", role: "summarizer", format: "markdown"}
	outlineKind      = kind{name: "outline", role: "writer", format: "json", writes: true}
	sectionKind      = kind{name: "section", role: "writer", format: "markdown", writes: true}
	synthesisKind    = kind{name: "synthesis", role: "writer", format: "markdown", writes: true}
	verifyKind       = kind{name: "verify", role: "verifier", format: "json"}
	reviewKind       = kind{name: "review", role: "reviewer", format: "json"}

	askKind        = kind{name: "ask", role: AskWriter, format: "markdown", writes: true}
	implementKind  = kind{name: "implement", role: "implementer", format: "markdown", equipped: true}
	codeReviewKind = kind{name: "code_review", role: "code_reviewer", format: "json"}
	codeVerifyKind = kind{name: "code_verify", role: VerifierRole, format: "json"}
)

// runKinds are the kinds of a run, in the order of its stages.
var runKinds = []struct {
	kind
	stages []run.Stage
	list   func(r *research) ([]*Job, error)
}{
	{perspectivesKind, []run.Stage{run.Init, run.Perspectives}, (*research).planJobs},
	{wave1Kind, []run.Stage{run.Wave1}, func(r *research) ([]*Job, error) { return r.waveJobs(run.Wave1) }},
	{wave2Kind, []run.Stage{run.Wave2}, func(r *research) ([]*Job, error) { return r.waveJobs(run.Wave2) }},
	{summaryKind, []run.Stage{run.Summaries}, (*research).summaryJobs},
	{outlineKind, []run.Stage{run.Synthesis}, (*research).outlineJobs},
	{sectionKind, []run.Stage{run.Synthesis}, (*research).sectionJobs},
	{synthesisKind, []run.Stage{run.Synthesis}, (*research).synthesisJobs},
	{verifyKind, []run.Stage{run.Review}, (*research).readingJobs},
	{reviewKind, []run.Stage{run.Review}, (*research).reviewJobs},
}

// Roles are the roles that do the work of a run, by the names of the configuration.
func Roles() []string {
	var roles []string
	for _, k := range runKinds {
		if !slices.Contains(roles, k.role) {
			roles = append(roles, k.role)
		}
	}
	return roles
}

func kindOf(name string) kind {
	all := []kind{askKind, implementKind, codeReviewKind, codeVerifyKind}
	for _, k := range runKinds {
		all = append(all, k.kind)
	}
	if at := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); at >= 0 {
		return all[at]
	}
	return kind{}
}

// task is what one job asks for. Each kind of jobs has its own.
type task interface {
	// done reports whether the work has what the job is to write.
	done(j *Job) bool
	// prompt is the whole text for the agent.
	prompt(ctx context.Context, j *Job) (draft, error)
	// judge says everything that is wrong with an answer, and what the answer comes to
	// that has no fault.
	judge(ctx context.Context, j *Job, a answer) (judgement, error)
}

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
	// contract is the file of perspectives that holds the contract; nil without one
	contract []byte
}

// answer is an answer as it is judged.
type answer struct {
	text      string
	toolUsage *codec.Value
	attempt   *Attempt       // that it belongs to
	number    int            // in the attempt
	fetch     sourcing.Fetch // how its sources are reached; nil: they are not
	lastTry   bool           // nobody is asked again
}

// judgement is what a task says of an answer.
type judgement struct {
	faults   []Fault
	warnings []Fault
	result   result            // what is taken where there are no faults; nil for nothing beside the answer
	seen     map[string]string // digests of the documents that it was judged by, by name
	// holds reports whether its sources would be judged by the same evidence; nil
	// without sources
	holds func(context.Context) (bool, error)
	// offline says that its sources cannot be judged, because nothing can be reached from
	// here.
	offline bool
	refuses bool // a second reader refuses most of what stands by rule
}

// result is what an accepted answer comes to. Each kind of jobs has its own.
type result interface {
	// take stages it.
	take(u update, j *Job, attempt int) error
}
