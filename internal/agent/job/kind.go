package job

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
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
	approves bool // what others wrote: the example of its prompt is no answer
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
	codeReviewKind = kind{name: "code_review", role: "code_reviewer", format: "json", approves: true}
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
	all := []kind{askKind, implementKind, codeReviewKind}
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
	held    bool // it waits for its pairs
}

// result is what an accepted answer comes to. Each kind of jobs has its own.
type result interface {
	// take stages it.
	take(u update, j *Job, attempt int) error
}

// State says whether a job can be taken.
type State string

// The states.
const (
	Open      State = "open"
	Leased    State = "leased"
	Held      State = "held" // its answer waits for other parts of the report
	Accepted  State = "accepted"
	Exhausted State = "exhausted" // its tries are used up: the run needs a person
)

// Job is one thing that an agent must write. The fields that are shown stand in
// the order of job_list.
type Job struct {
	ID        string  `json:"job_id"`
	Kind      string  `json:"kind" jsonschema:"perspectives, wave1, wave2, summary, outline, section, synthesis, verify or review"`
	State     State   `json:"state" enum:"open,leased,held,accepted,exhausted"`
	Attempt   int     `json:"attempt" jsonschema:"the number of the last attempt, 0 before the first"`
	TriesLeft int     `json:"tries_left"`
	Title     string  `json:"title"`
	Holder    *string `json:"holder" jsonschema:"who has it, null when nobody does"`
	ExpiresAt *string `json:"expires_at" jsonschema:"when the lease ends, null when there is none"`

	kind        *Kind
	task        task                     // what it asks for; nil for a job that is not asked for any more
	role        string                   // that does it, "" for that of its kind
	format      string                   // of its answer, "" for that of its kind
	perspective string                   // of which perspective, "" for a job of the whole work
	wave        run.Stage                // of the output that it is about
	round       int64                    // of review
	byPerson    bool                     // a person answers it
	driver      string                   // of the agent that takes it, "" where none of a home does
	seeds       func(round int64) []byte // those of the recording that reads, nil for none

	folder   *artifact.Folder // of the record that keeps it
	done     bool             // the work has what the job is to write
	attempts []*Attempt
	lease    *run.Lease
	after    int    // the last attempt that does not count any more
	note     string // of the person who gave the tries again
	asOf     int    // the line of the log up to which all this is known, 0 when that is unknown
	tally    tally
}

// last is the last attempt, nil before the first.
func (j *Job) last() *Attempt {
	if len(j.attempts) == 0 {
		return nil
	}
	return j.attempts[len(j.attempts)-1]
}

// next is the number of the next attempt.
func (j *Job) next() int {
	if last := j.last(); last != nil {
		return last.Number + 1
	}
	return 1
}

// answerFormat is markdown or json.
func (j *Job) answerFormat() string { return cmp.Or(j.format, j.kind.format) }

// lastAccepted reports whether the last attempt was accepted and still counts.
func (j *Job) lastAccepted() bool {
	last := j.last()
	return last != nil && last.Number > j.after && last.Outcome == OutcomeAccepted
}

// lastRefused finds the last answer that was judged and refused, nil when there is none
// that counts.
func (j *Job) lastRefused() (*lastAnswer, error) {
	for _, a := range slices.Backward(j.attempts) {
		if a.Number <= j.after && j.note == "" {
			return nil, nil
		}
		for _, s := range slices.Backward(a.Submissions) {
			if !s.Judged || len(s.Faults) == 0 {
				continue
			}
			text, err := j.folder.Read(a.dir() + "/" + s.Answer)
			if err != nil {
				return nil, err
			}
			return &lastAnswer{string(text), s.Faults}, nil
		}
	}
	return nil, nil
}

// maxGivenBack is how many tries of a job are given back at most.
const maxGivenBack = 10

// triesLeft counts the attempts that were used up: those that ended without an
// accepted answer, except those that are given back.
func (j *Job) triesLeft(tries int, now time.Time) int {
	used, back := 0, 0
	for _, a := range j.attempts {
		switch {
		case a == j.last() && j.ranOut(now):
			used++
		case a.Number <= j.after || a.Outcome == "" || a.Outcome == OutcomeAccepted:
		case a.givesBack() && back < maxGivenBack:
			back++
		default:
			used++
		}
	}
	return max(0, tries-used)
}

// ranOut reports whether the last attempt has used its try, although nobody has
// closed it: its lease has run out, and no answer waits to be judged. An attempt of a
// home goes on with the next home.
func (j *Job) ranOut(now time.Time) bool {
	last := j.last()
	if last == nil || last.Number <= j.after || last.Outcome != "" || j.lease == nil || j.lease.Home || j.lease.Lives(now) {
		return false
	}
	answer := last.lastAnswer()
	return answer == nil || answer.Judged
}

// Now reports whether the work waits for the job.
func (j *Job) Now() bool { return j.kind.waits }
