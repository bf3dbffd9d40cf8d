package job

import (
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// work is what jobs belong to and are kept in: a run, or other work that agents do
// in a folder of its own.
type work interface {
	ID() string
	createdAt() string
	Folder() *artifact.Folder
	Policy() (run.Policy, error)
	Close() error
	// kinds are the kinds of work that it has come to.
	kinds() []*kind
	// waitsFor reports whether it waits for jobs of a kind.
	waitsFor(k *kind) bool
	// web reports whether agents at jobs of a kind may search and read the web.
	web(k *kind) bool
	// takesJobs returns INVALID_STATE unless it goes on.
	takesJobs() error
	// unmoved returns INVALID_STATE when it has moved, or does not go on any more,
	// since it was opened.
	unmoved(u update) error
	// granted is the last attempt at a job whose tries a person has given again.
	granted(jobID string) int
	// worked is when a rule was at work for it.
	worked() (run.Times, error)
	// missing is JOB_NOT_FOUND.
	missing(jobID string) error
	// update makes changes of different jobs under the lock, and returns what became
	// of each thing that they do.
	update(ctx context.Context, desk run.Desk, changes []*change) []error
}

// update is a change under the lock of the work, as [run.Update] is one of a run.
type update interface {
	Now() string
	Time() time.Time
	Pinned() bool
	NotFinal() error
	Found(name string) string
	LastLine() int
	OthersWrote() int
	Log(event run.Event, kind string, fields tidegate.Details)
	Write(name string, data []byte) error
	WriteJSON(name string, v any) error
	Remove(name string) error
}

// research is the work of a run.
type research struct{ *run.Run }

func openResearch(ctx context.Context, desk run.Desk, manifestPath string) (work, error) {
	r, err := run.Open(ctx, desk, manifestPath, "status", "stage.current", "query.text")
	if err != nil {
		return nil, err
	}
	if _, err := r.Gates(); err != nil {
		r.Close()
		return nil, err
	}
	return research{r}, nil
}

func (r research) createdAt() string { return r.Manifest().Doc().Get("created_at").Str() }

func (r research) kinds() []*kind {
	var reached []*kind
	for i := range kinds {
		if kinds[i].reached(r.Manifest()) {
			reached = append(reached, &kinds[i])
		}
	}
	return reached
}

func (r research) waitsFor(k *kind) bool { return k.now(r.Manifest().Stage()) }

func (r research) web(k *kind) bool {
	return r.Manifest().Sensitivity() == "normal" && (k.name == string(run.Wave1) || k.name == string(run.Wave2))
}

func (r research) takesJobs() error {
	if err := r.Writable(); err != nil {
		return err
	}
	return takesJobs(r.Manifest())
}

// takesJobs returns INVALID_STATE unless the run goes on.
func takesJobs(m run.Manifest) error {
	if status := m.Status(); status != run.Created && status != run.Running {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", m.ID(), "status", status), "the run is %s: it gives out no jobs", status)
	}
	return nil
}

func (r research) unmoved(u update) error {
	m := u.(*run.Update).Manifest()
	if err := takesJobs(m); err != nil {
		return err
	}
	if seen := r.Manifest(); m.Stage() != seen.Stage() || m.Moves() != seen.Moves() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("stage", m.Stage()), "the run has moved to %s meanwhile; look at its jobs again", m.Stage())
	}
	return nil
}

func (r research) granted(jobID string) int {
	granted := 0
	for _, f := range r.Manifest().Failures() {
		if f.Get("accepted_at") == nil {
			continue
		}
		for _, j := range f.Get("jobs").Elems() {
			if n, ok := j.Get("attempts").Int(); ok && j.Get("job_id").Str() == jobID {
				granted = max(granted, int(n))
			}
		}
	}
	return granted
}

func (r research) worked() (run.Times, error) { return r.RulesAtWork() }

func (r research) missing(jobID string) error {
	stage := r.Manifest().Stage()
	return tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("job_id", tidegate.Cut(jobID), "stage", stage),
		"the run has no job %q in stage %s", tidegate.Cut(jobID), stage)
}

func (r research) update(ctx context.Context, desk run.Desk, changes []*change) []error {
	list := make([]run.Change, len(changes))
	for i, c := range changes {
		list[i] = run.Change{Ctx: c.ctx, Do: func(u *run.Update) error { return c.do(u) }}
	}
	return r.UpdateTogether(ctx, list...)
}

// inRun is an acceptance of which the run itself is a part.
func inRun(accept func(u *run.Update, j *Job, attempt int, judged judgement) error) func(update, *Job, int, judgement) error {
	return func(u update, j *Job, attempt int, judged judgement) error {
		return accept(u.(*run.Update), j, attempt, judged)
	}
}
