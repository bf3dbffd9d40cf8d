package replay

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// scene is where a line is done again: the run as it stood, and the line.
type scene struct {
	*walk
	ctx    context.Context
	clock  run.Clock
	change change
	line   line
	out    *rehearsed
}

// operation does again what a line records.
type operation func(s *scene) error

// errGiven says that a line records what was handed in, although a rule could have
// made it too.
var errGiven = errors.New("it was handed in")

// gone are the kinds of lines whose tools this program does not have.
var gone = []string{
	"fixture_run_seed", "dry_run_seed", "review_factory_run", "revision_control", "gate_e_reports",
	"telemetry_append", "run_metrics_write", "tick_ledger_append", "fallback_offer",
}

// redo finds the operation that redoes a line of a change, nil for what was handed in.
func redo(l line) operation {
	if again := byEvent[l.event]; again != nil {
		return again
	}
	return byKind[l.kind]
}

var (
	byEvent map[run.Event]operation
	byKind  map[string]operation
)

func init() {
	byEvent = map[run.Event]operation{
		run.EventMoved: moved, run.EventVerdict: verdict, run.EventDecided: decided,
		run.EventStatus: edited, run.EventFailed: edited, run.EventLimit: edited, run.EventPatched: edited, run.EventRetried: edited, run.EventProgress: edited,
	}
	byKind = map[string]operation{
		"wave1_plan": planned, "wave_review": reviewed, "gates_write": gateWritten, "gate_accept": gateWritten, "summary_pack_build": packed,
		"citations_validate": judgedSources, "citations_render_md": rendered,
		"job_lease": leased, "job_retry": retried, "policy_write": edited, "manifest_write": edited,
		"gate_a_evaluate": judged, "gate_b_derive": judged, "gate_c_compute": judged, "gate_d_evaluate": judged, "gate_e_evaluate": judged, "gate_f_evaluate": judged,
	}
}

func (s *scene) open() (*run.Run, error) { return run.Open(s.ctx, s.manifestPath()) }

func (s *scene) reason() string { return s.line.get("reason") }

// has finds a line of the same change.
func (s *scene) has(fits func(line) bool) (line, bool) {
	at := slices.IndexFunc(s.change.lines, fits)
	if at < 0 {
		return line{}, false
	}
	return s.change.lines[at], true
}

func planned(s *scene) error {
	_, err := step.Plan(s.ctx, s.clock, step.PlanInput{ManifestPath: s.manifestPath(), Reason: s.reason()})
	return err
}

// reviewed reviews the first wave. The report's own text says how many failures it
// has room for, and which outputs were asked for.
func reviewed(s *scene) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	name := r.Layout().WaveReview
	in := step.WaveReviewInput{PerspectivesPath: r.Path(r.Layout().Perspectives), OutputsDir: r.Path(r.WaveDir(run.Wave1))}
	var made []byte
	for _, in.MaxFailures = range []int{50, 25} {
		result, err := step.Review(s.ctx, s.clock, in)
		if err != nil {
			return err
		}
		path := r.Path(name)
		result.ReportPath = &path
		if made, err = codec.MarshalFile(result); err != nil {
			return err
		}
		s.out.lines = []*codec.Value{codec.Of(tidegate.D("kind", s.line.kind, "event", s.line.event, "pass", result.Pass, "validated", result.Validated, "failed", result.Failed))}
		if codec.DigestBytes(made) == s.change.files[name] {
			break
		}
	}
	s.out.files[name] = made
	return nil
}

// decided decides the pivot from the outputs. A decision whose gaps somebody named
// was handed in: the move out of the pivot says whether it counts.
func decided(s *scene) error {
	in, err := step.PivotOf(s.ctx, s.manifestPath())
	if err != nil {
		return err
	}
	in.Reason = s.reason()
	_, err = step.DecidePivot(s.ctx, s.clock, in)
	return err
}

// gateWritten judges a gate and records what its judge says, or that a person let
// it pass. What somebody wrote without a judgement is written again.
func gateWritten(s *scene) error {
	if patch := s.line.entry.Get("patch"); patch != nil {
		_, err := step.GatesWrite(s.ctx, s.clock, step.GatesWriteInput{GatesPath: filepath.Join(s.root, s.kept.Layout().Gates), Update: patch,
			InputsDigest: s.line.get("inputs_digest"), Reason: s.reason()})
		return err
	}
	found, ok := s.has(func(l line) bool { return l.kind == "gate_judged" })
	if !ok {
		return errGiven // somebody took a gate back, or a move did
	}
	in := step.GateInput{ManifestPath: s.manifestPath(), Gate: found.get("gate"), Reason: s.reason()}
	if accepted, ok := s.has(func(l line) bool { return l.kind == "gate_accept" }); ok {
		in.Accept, in.Reason = true, accepted.get("reason")
	}
	_, err := step.RecordGate(s.ctx, s.clock, in)
	return err
}

// judged asks the judge again about a gate that was evaluated and not written.
func judged(s *scene) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if s.line.get("document") != "" {
		return errGiven // a text other than the gate's own, which is not kept
	}
	found, err := step.Judge(s.ctx, r, s.line.get("gate"))
	if err != nil {
		return err
	}
	s.out.partial = true
	s.out.lines = []*codec.Value{codec.Of(tidegate.D("kind", s.line.kind, "event", s.line.event, "gate", found.Gate, "status", found.Status(), "inputs_digest", found.InputsDigest))}
	return nil
}

// moved moves the run on, with everything that a move writes. Where that leads
// elsewhere than the run went, or cannot be tried because manifest or gates are not
// what they were, the run goes on as its record says.
func moved(s *scene) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if !s.asThen {
		s.leave("line %d of the log: the move from %s to %s, because manifest or gates do not come out as they were then", s.line.number, s.line.get("from"), s.line.get("to"))
		return s.movedByRecord(r)
	}
	in := stage.AdvanceInput{ManifestPath: s.manifestPath(), GatesPath: r.Path(r.Layout().Gates), Reason: strings.TrimPrefix(s.reason(), "stage_advance: ")}
	advanced, err := stage.Advance(s.ctx, s.clock, in)
	switch {
	case tidegate.CodeOf(err) == tidegate.Cancelled:
		return err
	case err != nil:
		s.step(s.name(s.line), "the run does not move when it is done again: "+string(tidegate.CodeOf(err))+": "+tidegate.AsError(err).Message)
	case string(advanced.To) != s.line.get("to"):
		s.step(s.name(s.line), "the run moves to "+string(advanced.To)+" when it is done again")
	default:
		return nil
	}
	return s.movedByRecord(r)
}

// movedByRecord brings the manifest to where the record says that the run went.
func (s *scene) movedByRecord(r *run.Run) error {
	history := s.kept.Manifest().History()
	at := r.Manifest().Moves()
	if at >= len(history) {
		return errGiven
	}
	move := run.Move{From: run.Stage(s.line.get("from")), To: run.Stage(s.line.get("to")), Status: run.Status(s.line.get("status")), Reason: history[at].Get("reason").Str(),
		InputsDigest: history[at].Get("inputs_digest").Str(), EvidenceDigest: s.line.get("evidence_digest")}
	move.GatesRevision, _ = history[at].Get("gates_revision").Int()
	ctx, notes := run.Rehearse(s.ctx)
	_, err := r.Update(ctx, s.clock, func(u *run.Update) error {
		_, err := u.MoveTo(move)
		return err
	})
	if err != nil {
		return err
	}
	s.byRecord = notes.Files
	return errGiven
}

// judgedSources judges what the outputs cite by the archive, as far as it went.
func judgedSources(s *scene) error {
	nothing := func(context.Context, []string, func([]*archive.Packed) error) error { return nil }
	_, err := step.ValidateCitations(s.ctx, s.clock, nothing, step.CitationsInput{ManifestPath: s.manifestPath(), DryRun: s.line.get("mode") == "dry_run", Reason: s.reason()})
	return err
}

func rendered(s *scene) error {
	_, err := step.RenderCitations(s.ctx, s.clock, step.RenderInput{ManifestPath: s.manifestPath(), Reason: s.reason()})
	return err
}

// packed builds the summary pack. Summaries that were handed in with it are taken
// as they were kept.
func packed(s *scene) error {
	in := step.PackInput{ManifestPath: s.manifestPath(), Mode: s.line.get("mode"), Reason: s.reason()}
	if in.Mode == step.PackGiven {
		r, err := s.open()
		if err != nil {
			return err
		}
		defer r.Close()
		in.FixtureSummariesDir = r.Path(r.Layout().SummariesDir)
		for name, digest := range s.change.files {
			if kept, err := s.kept.Folder().Read(name); err == nil && codec.DigestBytes(kept) == digest && name != r.Layout().SummaryPack {
				if err := s.stage.Write(name, kept); err != nil {
					return err
				}
			}
		}
	}
	_, err := step.BuildPack(s.ctx, s.clock, in)
	return err
}

// leased makes the prompt of an attempt.
func leased(s *scene) error {
	board, err := s.openBoard()
	if err != nil {
		return err
	}
	prompt, err := board.Prompt(s.ctx, s.line.get("job_id"))
	if err != nil {
		return err
	}
	number, _ := s.line.entry.Get("attempt").Int()
	s.out.partial = true
	s.out.lines = []*codec.Value{codec.Of(tidegate.D("kind", s.line.kind, "event", s.line.event, "job_id", prompt.JobID, "prompt_digest", codec.DigestBytes([]byte(prompt.PromptMD))))}
	s.out.files[run.AttemptDir(prompt.JobID, int(number))+"/prompt.md"] = []byte(prompt.PromptMD)
	return nil
}

// verdict judges a kept answer and takes it where it has no fault.
func verdict(s *scene) error {
	board, err := s.openBoard()
	if err != nil {
		return err
	}
	id := s.line.get("job_id")
	number, _ := s.line.entry.Get("attempt").Int()
	n, _ := s.line.entry.Get("answer").Int()
	again, err := board.JudgeAgain(s.ctx, s.clock, id, int(number), int(n))
	if err != nil {
		return err
	}
	codes := []string{}
	for _, f := range again.Faults {
		codes = append(codes, f.Code)
	}
	s.out.partial = true
	s.out.lines = []*codec.Value{codec.Of(tidegate.D("kind", s.line.kind, "event", s.line.event, "accepted", len(codes) == 0, "faults", codes))}
	if err := s.compareRepair(id, int(number), int(n), again.Repair); err != nil {
		return err
	}
	return s.compareAttempt(id, int(number), int(n), again, "faults", "warnings", "unwrapped")
}

func sortedNames(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// shown is a value of a line for people.
func shown(v *codec.Value) string {
	text, err := codec.MarshalLine(v)
	if err != nil {
		return err.Error()
	}
	return tidegate.Cut(string(text))
}
