package step

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/wave"
)

// PivotInput are the arguments of [DecidePivot]. The order of the lists does not
// matter.
type PivotInput struct {
	Outputs []pivot.Output `json:"wave1_outputs" jsonschema:"the wave-1 outputs, one per perspective" minitems:"1" extra:"ignore"`
	// Reports and ExplicitGaps are those of [pivot.Input].
	Reports      []*codec.Value `json:"wave1_validation_reports" jsonschema:"what deep_research_wave_output_validate answered for each output" minitems:"1"`
	ExplicitGaps []*codec.Value `json:"explicit_gaps,omitzero" jsonschema:"gaps that an operator states; when there are any, those in the outputs are not read"`
	// ManifestPath names the run, absolute; "" decides without writing.
	ManifestPath string `json:"manifest_path,omitzero" path:"absolute" jsonschema:"absolute path of the run's manifest.json; with it the decision is written to the run's pivot file" writes:"true"`
	// Reason goes into the run's audit log; "" writes no line.
	Reason string `json:"reason,omitzero" jsonschema:"why the decision is made now, for the run's audit log"`
	// Progress gets how many outputs have been read; it may be nil. It may be called
	// from several goroutines.
	Progress func(done, total int) `json:"-"`
}

// PivotOf is the input for a run as it stands: every perspective's wave-1 output,
// validated. An output that does not meet its contract has a report that says so,
// which [DecidePivot] refuses. Paths are absolute.
//
// It returns the errors of [run.Open] and [ReadPerspectives], and NOT_FOUND,
// READ_FAILED or PATH_NOT_ALLOWED for the first output in byte order of the ids
// that cannot be read.
func PivotOf(ctx context.Context, desk run.Desk, manifestPath string) (PivotInput, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, in *PivotInput) error {
		doc, err := ReadPerspectives(desk, "perspectives_path", r.Path(r.Layout().Perspectives), wave.Contracts)
		if err != nil {
			return err
		}
		n := len(doc.List)
		*in = PivotInput{Outputs: make([]pivot.Output, n), Reports: make([]*codec.Value, n), ManifestPath: manifestPath}
		err = parallel.Each(ctx, n, nil, func() func(i int) error {
			var judge wave.Judge
			return func(i int) error {
				p := doc.List[i]
				o := pivot.Output{PerspectiveID: p.ID, Path: r.Path(r.Output(run.Wave1, p.ID))}
				report, err := validationReport(ctx, desk, &judge, p.Contract, o)
				in.Outputs[i], in.Reports[i] = o, report
				return err
			}
		})
		return err
	})
}

// validationReport is the report on an output, as the validator gives it.
func validationReport(ctx context.Context, desk run.Desk, judge *wave.Judge, contract wave.Contract, o pivot.Output) (*codec.Value, error) {
	file, err := wave1Files{}.open(desk, o)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	verdict, err := judge.Judge(contract, artifact.Until(ctx, file))
	if err != nil {
		return nil, wave.Unreadable(o.Details(), o.Path, err)
	}
	if f := verdict.Failure(); f != nil {
		return codec.Of(tidegate.Pairs("ok", false, "perspective_id", o.PerspectiveID,
			"error", tidegate.Pairs("code", f.Code, "message", f.Message, "details", f.Details))), nil
	}
	return codec.Of(pivot.Report{
		OK: true, PerspectiveID: o.PerspectiveID, MarkdownPath: o.Path, Words: float64(verdict.Words), Sources: float64(verdict.Sources),
	}), nil
}

// DecidePivot is the tool deep_research_pivot_decide: it checks what the decision
// rests on, collects the gaps, and decides by the rubric. Where the input names a
// run, the decision is written as pivot_decision.v1 to the run's pivot file, with
// the digests of the outputs that it was made from, and with the audit line where a
// reason is given. After stage pivot, and before it in a run that jobs drive, it is
// only returned.
//
// It returns the errors of [pivot.Check], [run.Open] and [run.Run.Update];
// NOT_FOUND and READ_FAILED of an output, GAPS_SECTION_NOT_FOUND and
// GAPS_PARSE_FAILED, for the first perspective in byte order.
func DecidePivot(ctx context.Context, desk run.Desk, in PivotInput) (pivot.Decision, error) {
	w, err := pivot.Check(pivot.Input{Outputs: in.Outputs, Reports: in.Reports, ExplicitGaps: in.ExplicitGaps, InRun: in.ManifestPath != ""})
	if err != nil {
		return pivot.Decision{}, err
	}
	if in.ManifestPath == "" {
		return decide(ctx, desk, w, wave1Files{progress: in.Progress})
	}
	return decideInRun(ctx, desk, w, in)
}

func decide(ctx context.Context, desk run.Desk, w pivot.Wave1, files wave1Files) (pivot.Decision, error) {
	gaps := w.Explicit
	var err error
	if len(gaps) > 0 {
		err = files.exist(ctx, desk, w.Outputs)
	} else {
		gaps, err = files.gaps(ctx, desk, w.Outputs)
	}
	if err != nil {
		return pivot.Decision{}, err
	}
	return w.Decide(gaps), nil
}

func decideInRun(ctx context.Context, desk run.Desk, w pivot.Wave1, in PivotInput) (pivot.Decision, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, d *pivot.Decision) error {
		name, err := pivotFile(r)
		if err != nil {
			return err
		}
		w := w.Named(r.InRecord)
		files := wave1Files{r.Folder(), in.Progress}
		before, unread := files.digests(ctx, desk, w.Outputs)
		if *d, err = decide(ctx, desk, w, files); err != nil || unread != nil {
			return cmp.Or(err, unread)
		}
		if agents, ok := r.Manifest().Limit("max_wave2_agents"); ok {
			d.Agents = &agents
		}
		if written, err := keepsDecision(r, r.Manifest()); err != nil || !written {
			return err
		}
		path, recorded := r.Path(name), recordedOutputs(r, w.Outputs, before)
		var args tidegate.Details
		if len(w.Explicit) == 0 && ownOutputs(r, recorded) {
			args = run.Args()
		}
		audit, err := r.UpdateBeside(ctx, func(u *run.Update) error {
			m := u.Manifest()
			if written, err := keepsDecision(r, m); err != nil || !written {
				return cmp.Or(err, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("stage", m.Stage()), "the run moved to stage %s meanwhile", m.Stage()))
			}
			after, err := files.digests(ctx, desk, w.Outputs)
			if err != nil {
				return err
			}
			if !slices.Equal(before, after) {
				return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_root", r.Root()), "the outputs change while the pivot is decided; decide again when they are final")
			}
			if reason := strings.TrimSpace(in.Reason); reason != "" {
				u.Log(run.EventDecided, "pivot_decide", append(tidegate.Pairs("reason", run.Note(reason), "pivot_path", r.InRecord(path), "wave2_required", d.Wave2Required,
					"rule_hit", d.RuleHit, "inputs_digest", d.InputsDigest), args...))
			}
			early := ""
			if m.Stage().Before(run.Pivot) {
				early = string(m.Stage())
			}
			return u.WriteJSON(name, w.Document(r.ID(), u.Now(), u.Actor().Kind, early, *d, recorded))
		})
		d.PivotPath, d.AuditWritten = &path, audit.Written
		return err
	})
}

// keepsDecision reports whether a decision is written: in a run in stage pivot, and
// before it too where no jobs drive the run, although only one of stage pivot counts
// for the move; not once the run has ended there. With a bare manifest always.
func keepsDecision(r *run.Run, m run.Manifest) (bool, error) {
	isRun, err := r.Folder().Exists(r.Layout().Gates)
	if err != nil || !isRun {
		return err == nil, err
	}
	if m.Stage() == run.Pivot || m.Status().Final() {
		return !m.Status().Final(), nil
	}
	byJobs, err := r.HasFolder(run.JobsDir)
	return err == nil && !byJobs && m.Stage().Before(run.Pivot), err
}

// pivotFile is the name of the run's pivot file. It returns PATH_NOT_ALLOWED for a
// manifest that gives it the place of another document of the run, which the
// decision would replace.
func pivotFile(r *run.Run) (string, error) {
	name := r.Layout().Pivot
	if slices.Contains(r.DocumentsBeside("pivot_file"), name) {
		return "", tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("pivot_file", name),
			"the manifest's pivot_file %s is the place of another document", name)
	}
	return name, nil
}

// recordedOutputs are outputs as a decision records them: by their run-root-relative
// name where they lie in the run, by their absolute path elsewhere.
func recordedOutputs(r *run.Run, outputs []pivot.Output, digests []string) []pivot.RecordedOutput {
	recorded := make([]pivot.RecordedOutput, len(outputs))
	for i, o := range outputs {
		name := o.Path
		if !filepath.IsAbs(name) {
			name = path.Clean(filepath.ToSlash(name))
		} else if inRun, err := r.Name("output_md_path", name); err == nil {
			name = inRun
		}
		recorded[i] = pivot.RecordedOutput{PerspectiveID: o.PerspectiveID, Name: name, Digest: digests[i]}
	}
	return recorded
}

// ownOutputs reports whether a decision was made from the run's own outputs.
func ownOutputs(r *run.Run, outputs []pivot.RecordedOutput) bool {
	return !slices.ContainsFunc(outputs, func(o pivot.RecordedOutput) bool { return o.Name != r.Output(run.Wave1, o.PerspectiveID) })
}

// wave1Files is where outputs are read from: the folder of a run, nil where no run
// is named.
type wave1Files struct {
	folder   *artifact.Folder
	progress func(done, total int)
}

// open opens an output. It returns NOT_FOUND, READ_FAILED and, for a relative
// path that leads out of the run, PATH_NOT_ALLOWED.
func (s wave1Files) open(desk run.Desk, o pivot.Output) (*os.File, error) {
	var file *os.File
	var err error
	if filepath.IsAbs(o.Path) {
		file, err = desk.Reach.OpenFile("output_md_path", o.Path)
	} else {
		file, err = s.folder.Open(filepath.ToSlash(o.Path))
	}
	if err != nil {
		return nil, tidegate.WithDetails(err, o.Details())
	}
	return file, nil
}

// path is where an output lies, for people.
func (s wave1Files) path(o pivot.Output) string {
	if filepath.IsAbs(o.Path) {
		return o.Path
	}
	return filepath.Join(s.folder.Path(), o.Path)
}

// each opens the outputs, which are sorted, on all cores; start makes a separate
// function for each worker. Of several failures it returns the first in the order of
// outputs.
func (s wave1Files) each(ctx context.Context, desk run.Desk, outputs []pivot.Output, progress func(done, total int), start func() func(i int, file *os.File) error) error {
	return parallel.Each(ctx, len(outputs), progress, func() func(i int) error {
		do := start()
		return func(i int) error {
			file, err := s.open(desk, outputs[i])
			if err != nil {
				return err
			}
			defer file.Close()
			if err := do(i, file); err != nil {
				return wave.Unreadable(outputs[i].Details(), outputs[i].Path, err)
			}
			return nil
		}
	})
}

// gaps are what the outputs state.
func (s wave1Files) gaps(ctx context.Context, desk run.Desk, outputs []pivot.Output) ([]pivot.Gap, error) {
	found := make([][]pivot.Gap, len(outputs))
	err := s.each(ctx, desk, outputs, s.progress, func() func(int, *os.File) error {
		var e pivot.Extractor
		return func(i int, file *os.File) (err error) {
			found[i], err = e.Extract(outputs[i].PerspectiveID, artifact.Until(ctx, file))
			for g := range found[i] {
				found[i][g].File = s.path(outputs[i])
			}
			return err
		}
	})
	return slices.Concat(found...), err
}

// exist demands that every output can be opened, as far as that can be seen
// without reading it.
func (s wave1Files) exist(ctx context.Context, desk run.Desk, outputs []pivot.Output) error {
	return s.each(ctx, desk, outputs, s.progress, func() func(int, *os.File) error {
		return func(int, *os.File) error { return nil }
	})
}

// digests are the digests of the outputs' bytes, in their order.
func (s wave1Files) digests(ctx context.Context, desk run.Desk, outputs []pivot.Output) ([]string, error) {
	digests := make([]string, len(outputs))
	err := s.each(ctx, desk, outputs, nil, func() func(int, *os.File) error {
		return func(i int, file *os.File) (err error) {
			digests[i], err = codec.DigestReader(artifact.Until(ctx, file))
			return err
		}
	})
	return digests, err
}

// PivotFacts are what a run's own outputs say about its pivot, as they were when
// they were read.
type PivotFacts struct {
	Decision pivot.Decision
	Problem  string // why the outputs give no decision, "" when they do
	digests  map[string]string
}

// ReadPivot decides the pivot of a run from its own outputs and writes nothing.
// It returns READ_FAILED and the errors of [run.Open].
func ReadPivot(ctx context.Context, r *run.Run) (PivotFacts, error) {
	facts := PivotFacts{digests: map[string]string{}}
	contracts, err := ReadContracts(r, run.Wave1)
	if err != nil {
		return PivotFacts{Problem: tidegate.AsError(err).Message}, nil
	}
	for _, p := range contracts.Doc.List {
		name := r.Output(run.Wave1, p.ID)
		data, err := r.Folder().Read(name)
		if err != nil {
			facts.Problem = name + " cannot be read"
			return facts, nil
		}
		facts.digests[name] = codec.DigestBytes(data)
	}
	in, err := PivotOf(ctx, r.Desk(), r.ManifestPath())
	if err == nil {
		in.ManifestPath = ""
		facts.Decision, err = DecidePivot(ctx, r.Desk(), in)
	}
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return facts, err
	}
	if err != nil {
		facts.Problem = tidegate.AsError(err).Message
	}
	return facts, nil
}

// Names are the outputs that the facts were read from, in byte order.
func (f PivotFacts) Names() []string { return slices.Sorted(maps.Keys(f.digests)) }

// Digests are the digests of the outputs that the facts were read from, by name.
func (f PivotFacts) Digests() map[string]string { return f.digests }

// Counts says why a recorded decision does not count, or "". It counts when it
// was made in stage pivot, from the run's own outputs as they are. When an agent
// named its gaps, they must be those of the outputs themselves; a person may name
// others.
func (f PivotFacts) Counts(r *run.Run, d pivot.Recorded, digest string) (problem string, err error) {
	if f.Problem != "" {
		return f.Problem, nil
	}
	if d.Early != "" {
		return "it was made in stage " + tidegate.Cut(d.Early) + ", and counts only when it is made in stage pivot", nil
	}
	if len(d.Outputs) != len(f.digests) {
		return fmt.Sprintf("it was made from %d outputs, the run has %d", len(d.Outputs), len(f.digests)), nil
	}
	for _, o := range d.Outputs {
		name := path.Clean(o.Name)
		if want := f.digests[name]; want == "" || name != r.Output(run.Wave1, o.PerspectiveID) {
			return "it was made from " + tidegate.Cut(o.Name) + ", which is not an output of the run", nil
		} else if o.Digest != want {
			return name + " has changed since it was decided", nil
		}
	}
	if sameDecision(d, f.Decision) {
		return "", nil
	}
	if d.Actor == tidegate.Person {
		byPerson, err := decidedByPerson(r, digest)
		if err != nil || byPerson {
			return "", err
		}
	}
	return "its gaps are not those that the outputs state", nil
}

// Settled is a recorded decision that counts. If its gaps are those of the outputs,
// they are taken from there: only there is it said from which perspective a gap came,
// and so by which contract it is closed.
func (f PivotFacts) Settled(d pivot.Recorded) pivot.Recorded {
	if sameDecision(d, f.Decision) {
		d.Gaps = f.Decision.Gaps
	}
	return d
}

func sameDecision(d pivot.Recorded, own pivot.Decision) bool {
	if d.Wave2Required != own.Wave2Required || len(d.Gaps) != len(own.Gaps) || len(d.GapIDs) != len(own.Wave2GapIDs) {
		return false
	}
	for i, g := range own.Gaps {
		if d.Gaps[i].ID != g.ID || d.Gaps[i].Priority != g.Priority || d.Gaps[i].Text != g.Text {
			return false
		}
	}
	for i, id := range own.Wave2GapIDs {
		if d.GapIDs[i] != id {
			return false
		}
	}
	return true
}

// decidedByPerson reports whether, by the log, a person's command wrote the
// decision with these bytes.
func decidedByPerson(r *run.Run, digest string) (bool, error) {
	events, err := r.Events()
	if err != nil {
		return false, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Event == run.EventFiles && e.Entry.Get("files").Get(r.Layout().Pivot).Str() == digest {
			return e.Actor == tidegate.Person, nil
		}
	}
	return false, nil
}
