package job

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// research is a run, as it stood when it was opened, with what its jobs ask of it. Its
// methods may be called by several goroutines.
type research struct {
	*run.Run
	desk    run.Desk
	policy  run.Policy
	digests *artifact.Digests
	checker *sourcing.SourceChecker
	// passed says that a person let gate E pass: nobody need read the report
	passed bool
	before *readBefore

	scope     lazy[scope]
	waves     map[run.Stage]*lazy[contracts]
	gaps      lazy[map[string]string] // texts of the gaps of the second wave, by perspective id
	citable   lazy[*sources]
	documents lazy[[]sourcing.Document]                        // the person's own
	quotes    map[run.Stage]*lazy[map[string]*sourcing.Quoted] // of the person's own documents, by perspective
}

// readBefore is what is read again only when its file has changed, however often the run
// is opened.
type readBefore struct {
	contracts versions[contracts]
	claims    versions[*evidence.Claims]
	questions versions[*reading.Questions]
}

// openResearch opens a run for its jobs.
func openResearch(ctx context.Context, desk run.Desk, manifestPath string, before *readBefore) (*work, error) {
	opened, err := run.Open(ctx, desk, manifestPath, "status", "stage.current", "query.text")
	if err != nil {
		return nil, err
	}
	r := &research{Run: opened, desk: desk, digests: opened.Folder().Digests(), checker: sourcing.NewSourceChecker(opened), before: before,
		waves: map[run.Stage]*lazy[contracts]{run.Wave1: {}, run.Wave2: {}}, quotes: map[run.Stage]*lazy[map[string]*sourcing.Quoted]{run.Wave1: {}, run.Wave2: {}}}
	w, err := r.work()
	if err != nil {
		opened.Close()
	}
	return w, err
}

func (r *research) work() (w *work, err error) {
	if _, err := r.Gates(); err != nil {
		return nil, err
	}
	if r.policy, err = r.Policy(); err != nil {
		return nil, err
	}
	w = &work{record: r, run: r, policy: r.policy, stopped: goesOn(r.Manifest()), granted: map[string]int{}}
	if w.worked, err = r.RulesAtWork(); err != nil {
		return nil, err
	}
	for _, f := range r.Manifest().Failures() {
		if f.Get("accepted_at") == nil {
			continue
		}
		for _, j := range f.Get("jobs").Elems() {
			n, _ := j.Get("attempts").Int()
			w.granted[j.Get("job_id").Str()] = max(w.granted[j.Get("job_id").Str()], int(n))
		}
	}
	for _, k := range runKinds {
		if r.hasReached(k.stages) {
			w.kinds = append(w.kinds, Kind{kind: k.kind, waits: slices.Contains(k.stages, r.Manifest().Stage()),
				web: r.Manifest().Sensitivity() == "normal" && k.role == "researcher", list: func() ([]*Job, error) { return k.list(r) }})
		}
	}
	return w, nil
}

// hasReached reports whether the run has come to one of some stages, even if it has gone
// back since.
func (r *research) hasReached(stages []run.Stage) bool {
	m := r.Manifest()
	return slices.Index(run.Stages, m.Stage()) >= slices.Index(run.Stages, stages[0]) ||
		slices.ContainsFunc(m.History(), func(move *codec.Value) bool { return slices.Contains(stages, run.Stage(move.Get("to").Str())) })
}

// CreatedAt is when the run was created.
func (r *research) CreatedAt() string { return r.Manifest().Doc().Get("created_at").Str() }

func (r *research) missing(jobID string) error {
	stage := r.Manifest().Stage()
	return tidegate.Errorf(tidegate.JobNotFound, tidegate.Pairs("job_id", tidegate.Cut(jobID), "stage", stage),
		"the run has no job %q in stage %s", tidegate.Cut(jobID), stage)
}

func (r *research) update(ctx context.Context, changes []change) []error {
	list := make([]run.Change, len(changes))
	for i, c := range changes {
		list[i] = run.Change{Ctx: c.ctx, Do: func(u *run.Update) error {
			if err := r.allows(c.needs, u); err != nil {
				return err
			}
			return c.do(update{u, u})
		}}
	}
	return r.UpdateTogether(ctx, list...)
}

// allows returns INVALID_STATE where the run is not in the state that a change needs.
func (r *research) allows(needs need, u *run.Update) error {
	if needs != toStand {
		return u.NotFinal()
	}
	m, was := u.Manifest(), r.Manifest()
	if err := goesOn(m); err != nil {
		return err
	}
	if m.Stage() != was.Stage() || m.Moves() != was.Moves() {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("stage", m.Stage()), "the run has moved to %s meanwhile; look at its jobs again", m.Stage())
	}
	return nil
}

// goesOn returns INVALID_STATE for a run that gives out no jobs.
func goesOn(m run.Manifest) error {
	if status := m.Status(); status != run.Created && status != run.Running {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", m.ID(), "status", status), "the run is %s: it gives out no jobs", status)
	}
	return nil
}

// exists reports whether the run has a file.
func (r *research) exists(name string) bool {
	there, err := r.Folder().Exists(name)
	return err == nil && there
}

// seen has the digests of some files of the run, as an answer is judged by them.
func (r *research) seen(names ...string) (map[string]string, error) {
	seen := map[string]string{}
	for _, name := range names {
		digest, err := r.Folder().Digest(name)
		if err != nil {
			return nil, err
		}
		seen[name] = digest
	}
	return seen, nil
}

// contracts are the contracts of a wave, with the digest of their file.
type contracts struct {
	doc    *wave.Perspectives
	raw    map[string]*codec.Value // by perspective id, as they were written
	digest string
}

// contracts are the frozen contracts of a wave.
func (r *research) contracts(of run.Stage) (contracts, error) {
	return r.waves[of].get(func() (contracts, error) {
		name := r.ContractsOf(of)
		digest, err := r.digests.Of(name)
		if err != nil {
			return contracts{}, err
		}
		return r.before.contracts.of(name, digest, func() (contracts, error) { return r.readContracts(of) })
	})
}

func (r *research) readContracts(of run.Stage) (c contracts, err error) {
	if c.doc, c.digest, err = step.Contracts(r.Run, of); err != nil {
		return c, err
	}
	data, err := r.Folder().ReadDocument(r.ContractsOf(of))
	if err != nil {
		return c, err
	}
	written, err := codec.ParseFile("perspectives_path", r.Path(r.ContractsOf(of)), data)
	if err != nil {
		return c, err
	}
	c.raw = map[string]*codec.Value{}
	for _, v := range written.Get("perspectives").Elems() {
		c.raw[v.Get("id").Str()] = v
	}
	return c, nil
}

// contract is a perspective of a wave, as it is judged and as it was written.
func (r *research) contract(of run.Stage, id string) (wave.Perspective, *codec.Value, error) {
	c, err := r.contracts(of)
	if err != nil {
		return wave.Perspective{}, nil, err
	}
	p, ok := c.doc.Find(id)
	if !ok {
		return wave.Perspective{}, nil, tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.Pairs("perspective_id", id), "the perspectives list no %q", tidegate.Cut(id))
	}
	return *p, c.raw[id], nil
}

// gap is the text of the gap that a perspective of the second wave is to close.
func (r *research) gap(of run.Stage, id string) (string, error) {
	if of != run.Wave2 {
		return "", nil
	}
	gaps, err := r.gaps.get(func() (map[string]string, error) {
		name := r.Layout().Wave2Plan()
		data, err := r.Folder().Read(name)
		if err != nil {
			return nil, err
		}
		plan, err := codec.ParseFile("path", r.Path(name), data)
		gaps := map[string]string{}
		for _, e := range plan.Get("entries").Elems() {
			gaps[e.Get("perspective_id").Str()] = e.Get("text").Str()
		}
		return gaps, err
	})
	return gaps[id], err
}

// output is what a wave of the run was to write.
type output struct {
	wave        run.Stage
	perspective string
	title       string
}

// outputs lists what the waves of the run were to write, in the order of their contracts.
func (r *research) outputs() ([]output, error) {
	waves, err := r.Waves()
	if err != nil {
		return nil, err
	}
	var list []output
	for _, wave := range waves {
		c, err := r.contracts(wave)
		if err != nil {
			return nil, err
		}
		for _, p := range c.doc.List {
			list = append(list, output{wave, p.ID, markdown.OneLine(p.Title)})
		}
	}
	return list, nil
}

// perspectives are the ids of all outputs.
func (r *research) perspectives() ([]string, error) {
	outputs, err := r.outputs()
	ids := make([]string, len(outputs))
	for i, o := range outputs {
		ids[i] = o.perspective
	}
	return ids, err
}

// claims are the sentences of the synthesis of a round, nil where the run has none.
func (r *research) claims(round int64) (*evidence.Claims, error) {
	m, name := r.Manifest(), r.Layout().Claims()
	switch past := m.ReviewRounds(); {
	case round <= past:
		name = r.Layout().RoundClaims(round)
	case m.Stage() == run.Synthesis:
		return nil, nil
	}
	digest, err := r.digests.Of(name)
	if err != nil || digest == "" {
		return nil, err
	}
	return r.before.claims.of(name, digest, func() (*evidence.Claims, error) { return sentences.ReadClaimsAt(r.Run, name) })
}

// attached lists the person's own documents.
func (r *research) attached() ([]sourcing.Document, error) {
	return r.documents.get(func() ([]sourcing.Document, error) { return sourcing.AttachedDocuments(r.Run) })
}

// quoted is what the prompt of a perspective shows of the person's own documents, nil for
// a run without any.
func (r *research) quoted(stage run.Stage, perspective string) (*sourcing.Quoted, error) {
	all, err := r.quotes[stage].get(func() (map[string]*sourcing.Quoted, error) { return r.quoteDocuments(stage) })
	return all[perspective], err
}

func (r *research) quoteDocuments(stage run.Stage) (map[string]*sourcing.Quoted, error) {
	list, err := r.attached()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	c, err := r.contracts(stage)
	if err != nil {
		return nil, err
	}
	var questions []string
	for _, p := range c.doc.List {
		gap, err := r.gap(stage, p.ID)
		if err != nil {
			return nil, err
		}
		questions = append(questions, sourcing.QuestionOf(p.Title, gap, r.Manifest().Query()))
	}
	quoted, err := sourcing.Quote(context.Background(), r.Run, list, questions)
	byID := map[string]*sourcing.Quoted{}
	for i := range quoted {
		byID[c.doc.List[i].ID] = quoted[i]
	}
	return byID, err
}

// HasDocuments reports whether a person gave the run documents of their own.
func (b *Board) HasDocuments() bool {
	r := b.present().run
	if r == nil {
		return false
	}
	list, err := r.attached()
	return err == nil && len(list) > 0
}
