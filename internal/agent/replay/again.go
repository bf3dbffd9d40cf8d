package replay

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// scene is where a line is done again: the run as it stood, the line, and what it
// says beside its fields of what was asked for.
type scene struct {
	*walk
	ctx    context.Context
	desk   run.Desk
	change change
	line   line
	args   *codec.Value
	out    *rehearsed
}

// operation does again what a line records.
type operation func(s *scene) error

// errGiven says that a line records what was handed in, although a rule could have
// made it too.
var errGiven = errors.New("it was handed in")

// operationOf is the operation that does a line again, nil for what was handed in.
func operationOf(l line) operation {
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
		run.EventCreated: created, run.EventMoved: onRun(moved), run.EventVerdict: verdict, run.EventDecided: decided, run.EventReviewed: reviewed,
		run.EventStatus: editing(statusSet), run.EventFailed: editing(failed), run.EventProgress: editing(progressed),
	}
	byKind = map[string]operation{
		"wave1_plan": planned, "gates_write": gateWritten, "gate_accept": gateAccepted, "claim_accept": editing(claimAccepted),
		"summary_pack_build": onRun(packed), "citations_validate": judgedSources, "claims_read": onRun(readingsTaken), "review_kept": onRun(sentBack),
		"job_lease": leased, "search": onRun(searched), "job_retry": editing(retried), "policy_write": editing(policySet), "manifest_write": editing(manifestSet),
	}
}

// onRun is an operation on the run as it stood.
func onRun(again func(s *scene, r *run.Run) error) operation {
	return func(s *scene) error {
		_, err := run.With(s.ctx, s.desk, s.manifestPath(), func(r *run.Run, _ *struct{}) error { return again(s, r) })
		return err
	}
}

// editing is an operation that does again what a decision, or a failure, wrote into
// manifest, policy or the folder of a job. The decision itself is taken from the log; its
// effect on the documents is compared.
func editing(again func(s *scene, u *run.Update) error) operation {
	return onRun(func(s *scene, r *run.Run) error {
		_, err := r.Update(s.ctx, func(u *run.Update) error { return again(s, u) })
		return err
	})
}

// path is where the copy has a file of the run.
func (s *scene) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// given is the path of a file that the arguments name, "" where they do not.
func (s *scene) given(key string) string {
	if name := s.args.Get(key).Str(); name != "" {
		return s.path(name)
	}
	return ""
}

func (s *scene) reason() string { return s.line.get("reason") }

// created compares the documents that the run began with.
func created(s *scene) error {
	if s.line.number != 1 {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the log begins the run a second time")
	}
	for _, doc := range s.first {
		difference := ""
		if codec.DigestBytes(doc.Data) != doc.Digest {
			difference = "the log has " + doc.Digest + ", and " + codec.DigestBytes(doc.Data) + " comes out"
			s.notAsThen(doc.Name)
		}
		s.step(doc.Name, difference)
		s.note(doc.Name, doc.Digest)
	}
	return errGiven
}

func planned(s *scene) error {
	_, err := step.Plan(s.ctx, s.desk, step.PlanInput{ManifestPath: s.manifestPath(), Reason: s.reason()})
	return err
}

// reviewed reviews a wave.
func reviewed(s *scene) error {
	most, _ := s.args.Get("max_failures").Int()
	_, err := step.ReviewWaveInRun(s.ctx, s.desk, s.manifestPath(), step.WaveReviewInput{
		PerspectivesPath: s.given("perspectives_path"), OutputsDir: s.given("outputs_dir"), PerspectiveIDs: s.args.Get("perspective_ids").Strs(),
		MaxFailures: int(most), ReportPath: s.path(s.kept.Layout().WaveReview),
	})
	return err
}

// decided decides the pivot from the outputs.
func decided(s *scene) error {
	in, err := step.PivotOf(s.ctx, s.desk, s.manifestPath())
	if err != nil {
		return err
	}
	in.Reason = s.reason()
	_, err = step.DecidePivot(s.ctx, s.desk, in)
	return err
}

// gateWritten judges a gate and records what its judge says.
func gateWritten(s *scene) error {
	_, err := gates.RecordGate(s.ctx, s.desk, gates.GateInput{ManifestPath: s.manifestPath(), Gate: s.args.Get("gate").Str(), Reason: s.reason()})
	return err
}

// rejudged judges the gates again that a line lets pass whose patch is not kept.
func rejudged(s *scene, r *run.Run) error {
	s.out.partial = true
	for _, gate := range s.line.entry.Get("gates").Members() {
		if gate.Value.Str() != run.GatePass {
			continue
		}
		found, err := gates.Judge(s.ctx, r, gate.Key)
		if err != nil {
			return err
		}
		s.out.lines = append(s.out.lines, codec.Of(tidegate.Pairs("kind", "gate_judged", "event", run.EventJudged, "gate", found.Gate, "status", found.Status(), "inputs_digest", found.InputsDigest)))
	}
	s.leave("%s, because the log does not say all of what was asked for", s.name(s.line))
	return nil
}

// gateAccepted lets a gate pass, as a person did.
func gateAccepted(s *scene) error {
	_, err := gates.RecordGate(s.ctx, s.desk, gates.GateInput{ManifestPath: s.manifestPath(), Gate: s.line.get("gate"), Accept: true, Reason: s.reason()})
	return err
}

// claimAccepted lets a sentence stand, as a person did.
func claimAccepted(s *scene, u *run.Update) error {
	get := func(key string) string { return s.args.Get(key).Str() }
	_, err := sentences.TakeAcceptance(u, s.line.get("claim"), s.line.get("digest"),
		evidence.Acceptance{By: get("by"), Reason: get("reason"), At: get("at"), Signature: get("signature")})
	return err
}

// moved moves the run on, with everything that a move writes. Where that leads
// elsewhere than the run went, or cannot be tried because manifest or gates are not
// what they were, the run goes on as its record says.
func moved(s *scene, r *run.Run) error {
	if !s.exact {
		s.leave("line %d of the log: the move from %s to %s, because manifest or gates do not come out as they were then", s.line.number, s.line.get("from"), s.line.get("to"))
		return s.movedByRecord(r)
	}
	in := stage.AdvanceInput{ManifestPath: s.manifestPath(), GatesPath: r.Path(r.Layout().Gates), RequestedNext: s.args.Get("requested_next").Str(),
		Reason: strings.TrimPrefix(s.reason(), "stage_advance: ")}
	advanced, err := stage.Move(s.ctx, s.desk, in)
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
		InputsDigest: history[at].Get("inputs_digest").Str(), EvidenceDigest: s.line.get("evidence_digest"), By: history[at].Get("by").Str(), Seed: s.line.get("seed")}
	move.GatesRevision, _ = history[at].Get("gates_revision").Int()
	desk := s.desk.Rehearsing()
	if err := r.Rehearse(s.ctx, desk, func(u *run.Update) error { return u.MoveTo(move) }); err != nil {
		return err
	}
	s.byRecord = desk.Rehearsal.Files
	return errGiven
}

// judgedSources judges what the outputs cite by the archive, as far as it went.
func judgedSources(s *scene) error {
	nothing := func(context.Context, []string, func([]*archive.Packed) error) error { return nil }
	_, err := sourcing.ValidateCitations(s.ctx, s.desk, nothing, sourcing.CitationsInput{ManifestPath: s.manifestPath(), DryRun: s.line.get("mode") == "dry_run", Reason: s.reason()})
	return err
}

// packed builds the summary pack. Summaries that were handed in with it are taken
// as they were kept.
func packed(s *scene, r *run.Run) error {
	in := step.PackInput{ByRule: s.line.entry.Get("by_rule").Bool(), ManifestPath: s.manifestPath(), PerspectivesPath: s.given("perspectives_path"), CitationsPath: s.given("citations_path"),
		Mode: s.line.get("mode"), Reason: s.reason()}
	if in.Mode == step.PackGiven {
		in.FixtureSummariesDir = r.Path(r.Layout().SummariesDir)
		for name, digest := range s.change.files {
			if kept, err := s.kept.Folder().Read(name); err == nil && codec.DigestBytes(kept) == digest && name != r.Layout().SummaryPack {
				if err := s.stage.Write(name, kept); err != nil {
					return err
				}
			}
		}
	}
	_, err := step.BuildPack(s.ctx, s.desk, in)
	return err
}

// leased makes the prompt of an attempt. One that was given out by a program that did
// not check every sentence may have other words: it is compared by its digest.
func leased(s *scene) error {
	board, err := s.openBoard()
	if err != nil {
		return err
	}
	id := s.line.get("job_id")
	number, _ := s.line.entry.Get("attempt").Int()
	attempt, err := s.keptAttempt(id, int(number))
	if err != nil {
		return err
	}
	again, err := board.LeaseAgain(s.ctx, id, attempt.Get("by_person").Bool())
	if err != nil {
		return err
	}
	name, digest := run.AttemptDir(id, int(number))+"/prompt.md", codec.DigestBytes([]byte(again.PromptMD))
	s.out.partial = true
	s.out.files[name] = []byte(again.PromptMD)
	fields := tidegate.Pairs("kind", s.line.kind, "event", s.line.event, "job_id", id, "attempt", again.Attempt, "prompt_digest", digest, "args", tidegate.Pairs())
	s.out.lines = []*codec.Value{codec.Of(fields)}
	if from := attempt.Get("made_from"); codec.Digest(from) != codec.Digest(codec.Of(again.MadeFrom)) {
		s.step(attemptFile(id, int(number)), "made_from is "+shown(from)+" and comes out as "+shown(codec.Of(again.MadeFrom)))
	}
	return nil
}

// searched makes what was found again from the archive.
func searched(s *scene, r *run.Run) error {
	doc, err := sourcing.SearchAgain(s.ctx, r, s.line.entry)
	if err != nil {
		return err
	}
	data, err := codec.MarshalFile(doc)
	if err != nil {
		return err
	}
	s.out.partial = true
	s.out.files[sourcing.SearchFile(doc.SearchID)] = data
	s.out.lines = []*codec.Value{codec.Of(tidegate.Pairs("kind", s.line.kind, "event", s.line.event, "search_id", doc.SearchID, "args", s.args))}
	return nil
}

// readingsTaken writes what second readers said into the document of the claims.
func readingsTaken(s *scene, r *run.Run) error {
	taken, err := sentences.RecordReadings(s.ctx, r)
	if err == nil && !taken {
		err = tidegate.Errorf(tidegate.InvalidState, nil, "not every part that waits for it was read")
	}
	return err
}

// sentBack writes the review by which the rule sends a report back.
func sentBack(s *scene, r *run.Run) error {
	if s.line.entry.Get("made_by").Get("actor").Str() != string(tidegate.Rule) {
		return errGiven
	}
	refused, err := sentences.SendBack(s.ctx, r)
	if err == nil && refused == 0 {
		err = tidegate.Errorf(tidegate.InvalidState, nil, "no sentence of the report is refused")
	}
	return err
}

// verdict judges a kept answer and takes it where it has no fault, or the pairs of a look.
func verdict(s *scene) error {
	board, err := s.openBoard()
	if err != nil {
		return err
	}
	if s.line.kind == "job_settled" {
		return board.SettleAgain(s.ctx, s.desk)
	}
	id := s.line.get("job_id")
	number, _ := s.line.entry.Get("attempt").Int()
	n, _ := s.line.entry.Get("answer").Int()
	again, err := board.JudgeAgain(s.ctx, s.desk, id, int(number), int(n))
	if err != nil {
		return err
	}
	codes := []string{}
	for _, f := range again.Faults {
		codes = append(codes, f.Code)
	}
	s.out.partial = true
	fields := tidegate.Pairs("kind", s.line.kind, "event", s.line.event, "accepted", len(codes) == 0 && !again.Held, "faults", codes, "args", tidegate.Pairs())
	if again.Held {
		fields = append(fields, tidegate.Detail{Key: "held", Value: true})
	}
	s.out.lines = []*codec.Value{codec.Of(fields)}
	if err := s.compareRepair(id, int(number), int(n), again.Repair); err != nil {
		return err
	}
	if err := s.readAgain(run.AttemptDir(id, int(number)) + "/events.jsonl"); err != nil {
		return err
	}
	compared := []string{"warnings", "unwrapped"}
	if !again.Held { // else its faults are those of its pairs
		compared = append(compared, "faults")
	}
	return s.compareAttempt(id, int(number), int(n), again, compared...)
}

// readAgain answers again what the agent of an attempt asked of the person's documents.
func (s *scene) readAgain(events string) error {
	data, err := s.kept.Folder().Read(events)
	if err != nil {
		return nil // an attempt by hand has none
	}
	differs, err := sourcing.ConsultAgain(s.ctx, s.kept, string(data))
	if err == nil && differs != "" {
		s.step(events, differs)
	}
	return err
}

// shown is a value of a line for people.
func shown(v *codec.Value) string {
	text, err := codec.MarshalLine(v)
	if err != nil {
		return err.Error()
	}
	return tidegate.Cut(string(text))
}

func statusSet(s *scene, u *run.Update) error {
	return u.SetStatus(run.Status(s.line.get("status")), s.reason())
}

func failed(s *scene, u *run.Update) error {
	failure := run.Failure{}
	if err := s.args.Decode(&failure); err != nil {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the log does not say what failed: %w", err)
	}
	failure.Kind, failure.Message = s.line.get("failure"), s.line.get("message")
	return u.Fail(run.Status(s.line.get("status")), failure, s.reason())
}

func progressed(s *scene, u *run.Update) error {
	label := s.line.get("progress")
	return u.Progress(strings.TrimSuffix(s.reason(), " [progress:"+label+"]"), label)
}

// manifestSet does another edit of the manifest: a limit, or that a person accepted
// failures.
func manifestSet(s *scene, u *run.Update) error {
	switch s.line.event {
	case run.EventLimit:
		to, _ := s.line.entry.Get("to").Int()
		return u.SetLimit(s.line.get("limit"), to, s.reason())
	case run.EventAccepted:
		return accept(u, s.line)
	}
	return tidegate.Errorf(tidegate.InvalidState, nil, "no rule writes a manifest for the event %q", tidegate.Cut(string(s.line.event)))
}

// accept stages that a person accepted failures, as a line says.
func accept(u *run.Update, l line) error {
	why, reason := l.args().Get("why").Str(), l.get("reason")
	if gate := l.args().Get("gate"); gate != nil {
		return u.AcceptGateFailures(gate.Str(), why, reason)
	}
	return u.AcceptFailures(run.Status(l.get("status")), why, reason)
}

// policySet does an edit of the policy: how agents are kept, how sentences are checked,
// a limit of the budget, or a person's yes to the plan.
func policySet(s *scene, u *run.Update) error {
	limit := s.line.get("limit")
	switch {
	case s.line.event == run.EventConfinement:
		return u.SetConfinement(run.ConfinementIn(s.line.entry))
	case s.line.event == run.EventLimit && limit == run.EvidenceKey:
		var choice run.EvidenceChoice
		if err := s.line.entry.Get("to").Decode(&choice); err != nil {
			return tidegate.Errorf(tidegate.InvalidState, nil, "the log does not say what was chosen: %w", err)
		}
		return u.ChooseEvidence(choice)
	case s.line.event == run.EventLimit:
		to, _ := s.line.entry.Get("to").Float()
		return run.Unfinished(func(u *run.Update) error {
			_, err := stage.SetBudget(u, stage.LimitInput{Name: limit, Value: to, Reason: s.reason()})
			return err
		})(u)
	}
	return u.PlanConfirmed(s.line.get("perspectives"), s.reason())
}

// retried gives a job its tries again, as a person did. The run keeps only the last of
// these decisions, and prompts show the one that stood then.
func retried(s *scene, u *run.Update) error {
	for _, l := range s.change.lines {
		if l.event == run.EventAccepted && l.args() != nil {
			if err := accept(u, l); err != nil {
				return err
			}
			break
		}
	}
	return u.ForgetAttempts(s.line.get("job_id"), s.line.get("note"))
}
