package research

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// research is the command of that name.
func (e *Env) research(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		o, err := e.orderOf(ctx, call)
		if err != nil {
			return nil, err
		}
		return s.pursue(ctx, o, call.Flag("signers"))
	})
}

// pursue takes an order to its report, as far as the person says yes.
func (s *session) pursue(ctx context.Context, o order, signers string) (*Result, error) {
	e, call := s.Env, s.call
	cells, err := cellsOf(call)
	if err != nil {
		return nil, err
	}
	c, err := e.crewOf(ctx, ofRun(call.Flag("agent"), call.Flag("model"), o.kept, cells))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if !slices.ContainsFunc(shapeFlags, func(f cli.Flag) bool { return call.Flag(f.Name) != "" }) && c.shape != (evidence.Shape{}) {
		o.shape = c.shape // a recorded report is what it was asked to be
	}
	if err := c.mayAsk(ctx, e, o); err != nil {
		return nil, err
	}
	s.announce(c)
	if yes, err := s.mayBegin(ctx, o, c); err != nil || !yes {
		return nil, err
	}
	manifest, err := e.begin(ctx, o, c, signers)
	if err != nil {
		return nil, err
	}
	s.remember(manifest, c)
	if o.yes && !o.planOnly && o.perspectives == nil {
		s.perspectives = func() error {
			p, _, err := s.currentPlan(ctx, manifest, o, c)
			if err != nil {
				return err
			}
			return s.showPlan(p)
		}
	}
	if o.perspectives == nil {
		planned, err := s.drive(ctx, manifest, c, o.parallel)
		if err != nil {
			return planned, err
		}
		if !s.waitsForYes(ctx, manifest) {
			return planned, e.compareAgain(ctx, o.before, planned)
		}
	}
	result, err := s.confirm(ctx, manifest, o, c)
	if err != nil || result != nil || o.planOnly {
		return result, err
	}
	if result, err = s.drive(ctx, manifest, c, o.parallel); err != nil {
		return nil, err
	}
	return result, e.compareAgain(ctx, o.before, result)
}

// mayBegin holds the order to what can be known before anything is spent, and asks
// where the person has not said yes beforehand.
func (s *session) mayBegin(ctx context.Context, o order, c *crew) (bool, error) {
	free := o.yes || o.planOnly && o.perspectives != nil
	if !free && !s.canAsk() {
		return false, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", nil),
			"nobody can be asked here, because standard input is not a terminal: --yes says yes beforehand")
	}
	if yes, err := s.mayLeaveOut(ctx, o, free); err != nil || !yes {
		return false, err
	}
	if !o.evidence.Adapt {
		if err := c.answers(o.question); err != nil {
			return false, err
		}
	}
	if !o.planOnly || o.perspectives == nil {
		if err := c.ready(ctx, o.budget); err != nil {
			return false, err
		}
	} else if err := c.within(o.budget); err != nil {
		return false, err
	}
	if o.perspectives == nil && !o.yes {
		return s.mayPlan(ctx, o, c)
	}
	return true, nil
}

// mayLeaveOut names the files that cannot be read, and asks whether the run may begin
// without them.
func (s *session) mayLeaveOut(ctx context.Context, o order, free bool) (bool, error) {
	unread := o.documents.Unread
	if len(unread) == 0 {
		return true, nil
	}
	for i, u := range unread {
		if i == maxNamed {
			fmt.Fprintf(s.call.Stderr, "tidegate: and %d more\n", len(unread)-i)
			break
		}
		fmt.Fprintf(s.call.Stderr, "tidegate: %s\n", report.OneLine(u.String()))
	}
	if free {
		return true, nil
	}
	answer, err := s.ask(ctx, "Begin without "+report.Counted(len(unread), "file")+" that cannot be read? [y/N]")
	if err == nil && answer != 'y' {
		fmt.Fprintln(s.call.Stderr, "Nothing was begun, and nothing was spent.")
	}
	return answer == 'y', err
}

// maxNamed is how many files that cannot be read are named.
const maxNamed = 20

// mayPlan shows which agent will plan, within which budget, and asks.
func (s *session) mayPlan(ctx context.Context, o order, c *crew) (bool, error) {
	budget := run.DefaultBudget(o.budget)
	p, err := s.planOf(ctx, o, c, "", budget, nil)
	if err != nil {
		return false, err
	}
	if err := s.showPlan(p); err != nil {
		return false, err
	}
	answer, err := s.ask(ctx, "Let "+c.agents["planner"].Driver+" plan the perspectives? The plan is shown before the research begins. [y/N]")
	if err != nil {
		return false, err
	}
	if answer != 'y' {
		fmt.Fprintln(s.call.Stderr, "Nothing was begun, and nothing was spent.")
	}
	return answer == 'y', nil
}

// begin makes the run. Its id is made of the first words of the question.
func (e *Env) begin(ctx context.Context, o order, c *crew, signers string) (manifest string, err error) {
	in := run.InitInput{
		Query: o.question, Sensitivity: o.sensitivity, SignersPath: signers,
		ConfirmPlan: !o.yes || o.planOnly, Perspectives: o.count, Budget: o.budget, Agents: c.names(), Servers: o.servers, Evidence: o.evidence, Policy: o.sources, Frozen: o.frozen, From: o.from, Earlier: o.earlier, Shape: o.shape,
	}
	if len(c.search) > 0 || !o.frozen.IsZero() {
		in.Search, in.Origins = c.searchNames(), run.OriginsShown
	}
	if o.origins == run.OriginsRequired {
		in.Origins = o.origins
	}
	in.Evidence.Single = !in.Evidence.OneAgent && c.single()
	if in.Estimate, err = e.expected(ctx, o, c); err != nil {
		return "", err
	}
	if in.Confinement, err = c.confinement(o.hasWeb()); err != nil {
		return "", err
	}
	n := o.count
	if o.perspectives != nil {
		n = o.perspectives.Get("perspectives").Len()
	}
	if limit := int64(n); n > usualPerspectives {
		in.Limits = &run.Limits{MaxWave1Agents: &limit}
	}
	name := nameOf(o.question)
	for i := 1; ; i++ {
		in.RunID = name
		if i > 1 {
			in.RunID = fmt.Sprintf("%s-%d", name, i)
		}
		made, err := run.Create(ctx, e.desk(), e.Home, in)
		if err == nil && made.Created {
			manifest = filepath.Join(made.Root, run.ManifestFile)
			break
		}
		if err != nil && tidegate.CodeOf(err) != tidegate.AlreadyExistsConflict {
			return "", err
		}
	}
	if len(o.documents.List) > 0 {
		if err := step.AttachDocuments(ctx, e.desk(), manifest, o.documents); err != nil {
			return "", err
		}
	}
	if o.perspectives == nil {
		return manifest, nil
	}
	return manifest, e.takePerspectives(ctx, manifest, o.perspectives)
}

// takePerspectives writes a person's perspectives into the run.
func (e *Env) takePerspectives(ctx context.Context, manifest string, doc *codec.Value) error {
	r, err := run.Open(ctx, e.desk(), manifest)
	if err != nil {
		return err
	}
	defer r.Close()
	doc = doc.Clone()
	doc.Set("run_id", codec.Of(r.ID()))
	doc.Set("created_at", r.Manifest().Doc().Get("created_at"))
	_, err = step.WritePerspectives(ctx, e.desk(), step.PerspectivesInput{
		PerspectivesPath: r.Path(r.Layout().Perspectives), Value: doc, Reason: "named by the person",
	})
	return err
}

// waitsForYes reports whether the plan of a run waits for a person's yes.
func (s *session) waitsForYes(ctx context.Context, manifest string) bool {
	r, err := run.Open(ctx, s.desk(), manifest)
	if err != nil {
		return false
	}
	defer r.Close()
	policy, err := r.Policy()
	if err != nil || !policy.ConfirmPlan {
		return false
	}
	there, err := r.Folder().Exists(r.Layout().Perspectives)
	status := r.Manifest().Status()
	return err == nil && there && (status == run.Created || status == run.Running)
}

// confirm shows the plan and asks for the yes, which is for the bytes that were
// shown. Without a yes, the result is how it ends.
func (s *session) confirm(ctx context.Context, manifest string, o order, c *crew) (*Result, error) {
	for {
		shown, data, err := s.currentPlan(ctx, manifest, o, c)
		if err != nil {
			return nil, err
		}
		if err := s.showPlan(shown); err != nil {
			return nil, err
		}
		if o.planOnly {
			return s.planned(ctx, manifest, c, true)
		}
		if o.yes {
			return nil, nil
		}
		answer, err := s.ask(ctx, "Begin the research? [y]es, [e]dit the perspectives, or [N]o")
		if err != nil {
			return nil, err
		}
		switch answer {
		case 'y':
			err := step.ConfirmPlan(ctx, s.desk(), manifest, shown.Digest)
			if tidegate.CodeOf(err) == tidegate.RevisionMismatch {
				fmt.Fprintln(s.call.Stderr, "The perspectives have changed since they were shown; here they are again.")
				continue
			}
			return nil, err
		case 'e':
			if err := s.edit(ctx, manifest, data); err != nil {
				fmt.Fprintf(s.call.Stderr, "The perspectives are as they were: %s\n", report.OneLine(tidegate.AsError(err).Message))
			}
		default:
			return s.planned(ctx, manifest, c, false)
		}
	}
}

// currentPlan is the plan of a run with its current perspectives.
func (s *session) currentPlan(ctx context.Context, manifest string, o order, c *crew) (plan, []byte, error) {
	r, err := run.Open(ctx, s.desk(), manifest)
	if err != nil {
		return plan{}, nil, err
	}
	defer r.Close()
	policy, err := r.Policy()
	if err != nil {
		return plan{}, nil, err
	}
	data, err := r.Folder().Read(r.Layout().Perspectives)
	if err != nil {
		return plan{}, nil, err
	}
	p, err := s.planOf(ctx, o, c, r.ID(), policy.Budget, data)
	return p, data, err
}

// planned is the result for a run that waits for the yes.
func (s *session) planned(ctx context.Context, manifest string, c *crew, planOnly bool) (*Result, error) {
	board, err := job.OpenBoard(ctx, s.desk(), manifest)
	if err != nil {
		return nil, err
	}
	defer board.Close()
	result, err := s.resultOf(board, engine.ForPerson, "the plan waits for your yes", "", c.again())
	result.asAsked = planOnly
	return &result, err
}

// edit lets the person edit the perspectives, and accepts them when they keep to
// the rules of the job.
func (s *session) edit(ctx context.Context, manifest string, data []byte) error {
	edited, err := s.call.Edit(ctx, "perspectives.json", data)
	if err != nil {
		return err
	}
	doc, err := codec.ParseFile("perspectives", "perspectives.json", edited)
	if err != nil {
		return err
	}
	if err := checkPerspectives(doc, "perspectives.json"); err != nil {
		return err
	}
	return s.takePerspectives(ctx, manifest, doc)
}
