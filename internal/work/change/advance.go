package change

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// Advance moves a change on by the review that was kept last. APPROVED completes
// it, when no issue is High, no test failed and, in a git repository, the files
// are those that were reviewed; otherwise it needs a person. NEEDS_FIX begins
// another fix round, as long as the limit that a person set (2 by default) allows
// one; beyond it, and for MAJOR_ISSUES, the change needs a person, and STATE.yaml
// says why. From then on only [Resume] moves it on. One review counts for one
// round, however often it is advanced. A complete change stays as it is, unless
// the last review does not approve it, which opens it again. A change without a
// kept review is moved by its REVIEW.md, and by a person only.
//
// It returns INVALID_ARGS for a bad id; NOT_FOUND naming the folder, STATE.yaml
// or REVIEW.md; SCHEMA_VALIDATION_FAILED for a STATE.yaml that cannot be
// understood; GATE_BLOCKED, with what is allowed, for any other phase, for a
// REVIEW.md that is not the review that was kept, for one whose verdict is not
// clear to every reader, and for an agent where only a person decides; TAMPERED
// when the log, a kept review or the limit is not as it was written;
// INVALID_STATE when STATE.yaml cannot be changed in place; LOCK_HELD,
// CANCELLED, READ_FAILED and WRITE_FAILED.
func Advance(ctx context.Context, desk run.Desk, project, id string) (Advanced, error) {
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return Advanced{}, err
	}
	defer folder.Close()
	for {
		// Reading the tree takes time, so it is done before the lock is taken.
		now, err := treeToCompare(ctx, desk, project, folder, id)
		if err != nil {
			return Advanced{}, err
		}
		result, err := advance(ctx, desk, folder, id, now)
		if !errors.Is(err, errTreeNeeded) {
			return result, err
		}
	}
}

// errTreeNeeded means that a review that approves arrived between the look at the
// tree and the lock.
var errTreeNeeded = errors.New("the tree must be read first")

// treeToCompare is the tree as it is, where the next move depends on it, otherwise
// nil. A folder without a state gets no lock file, so what is wrong with the state
// is reported here.
func treeToCompare(ctx context.Context, desk run.Desk, project string, folder *artifact.Folder, id string) (*git.Tree, error) {
	s, err := readState(folder)
	if err != nil {
		return nil, err
	}
	r, err := readRecord(desk, folder, id)
	if err != nil {
		return nil, err
	}
	last := r.last()
	if last == nil || !slices.Contains(reviewedPhases, s.phase) {
		return nil, nil
	}
	data, err := folder.ReadIfThere(historyName(last.number))
	if err != nil || review.Read(data).Verdict != review.Approved {
		return nil, err
	}
	t, err := git.ReadTree(ctx, desk, project, s.worktree)
	return &t, err
}

func advance(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, now *git.Tree) (Advanced, error) {
	v, err := enter(ctx, desk, folder, id, nil)
	if err != nil {
		return Advanced{}, err
	}
	defer v.leave()
	s, r := v.s, v.r
	result := Advanced{
		ChangeID: id, From: s.phase, Phase: s.phase, Iteration: s.iteration, MaxRounds: int(r.maxRounds()),
		NeedsPerson: s.needsPerson, StatePath: v.path(stateFile), ReviewPath: v.path(reviewFile),
	}
	if s.phase != Complete && !slices.Contains(reviewedPhases, s.phase) {
		return Advanced{}, blocked(id, s, "advances only from "+Implementing+", "+Testing+" or "+CodeReviewing, reviewedPhases)
	}
	if err := r.checkFiles(folder, id); err != nil {
		return Advanced{}, err
	}
	if err := r.checkLimit(folder, id, s); err != nil {
		return Advanced{}, err
	}
	if s.phase == Complete {
		again, err := reopens(folder, r)
		if err != nil {
			return Advanced{}, err
		}
		if !again {
			result.Message = "change " + id + " is already complete"
			return result, nil
		}
	}
	j, err := judge(ctx, folder, r, id)
	if err != nil {
		return Advanced{}, err
	}
	if j.needsTree() && s.needsPerson == "" && r.needsPerson == "" {
		if now == nil || now.Worktree != s.worktree {
			return Advanced{}, errTreeNeeded
		}
		if why := now.Differs(j.tree); why != "" {
			j.doubts = append(j.doubts, why)
		}
	}
	m := decide(s, r, j)
	m.describe(&result, j)
	if len(m.edits) == 0 {
		return result, nil
	}
	result.Changed = true
	return result, v.commit(ctx, m, "change_advance", j, nil)
}

// reopens reports whether the review that was kept last revokes the completion of
// a change.
func reopens(folder *artifact.Folder, r *record) (bool, error) {
	last := r.last()
	if last == nil {
		return false, nil
	}
	data, err := folder.Read(historyName(last.number))
	return review.Read(data).Verdict != review.Approved, err
}

// blocked is GATE_BLOCKED for a phase from which a move does not begin.
func blocked(id string, s *state, rule string, allowed []string) error {
	return tidegate.Errorf(tidegate.GateBlocked,
		tidegate.Pairs("change_id", id, "phase", s.written, "allowed", allowed, "next", nextStep(id, s.phase)),
		"change %s is in phase %s and %s", id, s.written, rule)
}

// readState reads STATE.yaml. It returns NOT_FOUND naming it.
func readState(folder *artifact.Folder) (*state, error) {
	path := filepath.Join(folder.Path(), stateFile)
	text, err := folder.ReadIfThere(stateFile)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("state_path", path), "the change has no STATE.yaml, which `tidegate change start` makes: %s", path)
	}
	return parseState(path, text)
}

// judged is what the review of a change says.
type judged struct {
	verdict  review.Verdict
	number   int      // of the review; 0 when none was kept
	identity string   // distinguishes this review from every other
	doubts   []string // what speaks against an approval
	tree     git.Tree // that was reviewed
	setAside string   // why a person decides because of findings that did not hold
}

// kept reports whether the review is one that was kept.
func (j judged) kept() bool { return j.number > 0 }

// needsTree reports whether the files must be those that were reviewed.
func (j judged) needsTree() bool { return j.kept() && j.verdict == review.Approved }

// judge reads REVIEW.md, which must be the review that was kept last. A verdict
// that is not clear, that Agentd reads differently, or that belongs to another
// change is GATE_BLOCKED, and so is an agent's call where no review was kept.
func judge(ctx context.Context, folder *artifact.Folder, r *record, id string) (judged, error) {
	path := filepath.Join(folder.Path(), reviewFile)
	data, err := folder.ReadIfThere(reviewFile)
	if err != nil {
		return judged{}, err
	}
	if data == nil {
		return judged{}, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("review_path", path), "the change has no REVIEW.md: %s", path)
	}
	last := r.last()
	if last != nil {
		if err := lastKept(folder, r, last.number, data); err != nil {
			return judged{}, err
		}
	}
	shown := review.Show(path, data)
	unclear := func(reason string) error {
		return tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("review_path", path, "verdict", shown.Verdict,
			"agentd_verdict", shown.AgentdVerdict, "problems", shown.Problems, "allowed", review.Verdicts), "%s", reason)
	}
	reading := review.Read(data)
	switch {
	case reading.Verdict == "":
		return judged{}, unclear("REVIEW.md states no clear verdict: " + shown.Problems[0])
	case !shown.Agree:
		return judged{}, unclear(fmt.Sprintf("REVIEW.md says %s, but Agentd reads %s", shown.Verdict, shown.AgentdVerdict))
	case reading.Complete && reading.Payload.ChangeID != id:
		return judged{}, unclear(fmt.Sprintf("REVIEW.md is a review of change %s", reading.Payload.ChangeID))
	}
	if last == nil {
		numbers, err := history(folder)
		if err == nil {
			err = byPerson(ctx, id, "advances a change whose review was not handed in by `tidegate review create`", "tidegate change advance "+id)
		}
		return judged{verdict: reading.Verdict, identity: identity(lastOf(numbers), data)}, err
	}
	j := judged{verdict: reading.Verdict, number: last.number, identity: identity(last.number, data)}
	beside, err := readSidecar(folder, last.number)
	j.doubts, j.tree, j.setAside = doubts(reading.Payload, beside.FailedNew), beside.tree(), beside.NeedsPerson
	return j, err
}

// identity is the number of a review and its digest: the same words once more
// are another review.
func identity(number int, data []byte) string {
	return fmt.Sprintf("%d %s", number, codec.DigestBytes(data))
}

// doubts are what the review itself says against an approval. A test that failed before the
// change, too, is none of the reviewer's, but to mend it may have been the change's task.
func doubts(p review.Payload, failedNew *int64) []string {
	var doubts []string
	if high := p.Counts().High; high > 0 {
		doubts = append(doubts, "it names "+report.Counted(high, "issue")+" of severity High")
	}
	if failed := p.TestResults.FailedTests(); failed != 0 {
		said := report.Counted(int(failed), "test") + " failed"
		if failedNew != nil && *failedNew == 0 {
			said += ", as without the change"
		}
		doubts = append(doubts, said)
	}
	return doubts
}

// lastKept returns GATE_BLOCKED, naming both, when REVIEW.md is not the review
// that was kept last, and when there is a later one that the log does not have.
func lastKept(folder *artifact.Folder, r *record, number int, current []byte) error {
	kept, err := folder.Read(historyName(number))
	if err != nil {
		return err
	}
	numbers, err := history(folder)
	if err != nil {
		return err
	}
	later := lastOf(numbers)
	same := bytes.Equal(kept, current)
	if same && later <= r.newest() {
		return nil
	}
	path, keptPath := filepath.Join(folder.Path(), reviewFile), filepath.Join(folder.Path(), filepath.FromSlash(historyName(number)))
	now, then := review.Read(current).Verdict, review.Read(kept).Verdict
	details := tidegate.Pairs("review_path", path, "verdict", now.String(), "kept_path", keptPath, "kept_verdict", then.String(), "allowed", review.Verdicts)
	if same {
		return tidegate.Errorf(tidegate.GateBlocked, details, "%s is later than %s, the last review that the log has: hand in another review", historyName(later), historyName(number))
	}
	return tidegate.Errorf(tidegate.GateBlocked, details, "REVIEW.md (%s) is not %s (%s), the review that was kept last: put that back, or hand in another review", now, historyName(number), then)
}

// Start begins the implementation of a change: a planned one becomes
// implementing. A change that has no STATE.yaml, or no folder, is made and named
// in a warning. One that is being implemented already stays as it is.
//
// MaxRounds, unless it is nil, is how many fix rounds there may be before a person
// is needed; STATE.yaml and the log keep it. Only a person may set it, also while
// the change is being implemented, and it lets a change go on that waits because
// its rounds are used up.
//
// It returns INVALID_ARGS for a bad id or a limit below 0, GATE_BLOCKED, with
// what is allowed, for any other phase and for a limit that an agent gives,
// TAMPERED when the log or a kept review is not as it was written, and otherwise
// what [Advance] returns.
func Start(ctx context.Context, desk run.Desk, project string, id string, maxRounds *int64) (Started, error) {
	if maxRounds != nil {
		if *maxRounds < 0 {
			return Started{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("max_rounds", *maxRounds), "max_rounds must be at least 0, got %d", *maxRounds)
		}
		if err := byPerson(ctx, id, "sets how many fix rounds there may be", "tidegate change start "+id+" --max-rounds N"); err != nil {
			return Started{}, err
		}
	}
	folder, _, err := openOrMake(ctx, desk, project, id)
	if err != nil {
		return Started{}, err
	}
	defer folder.Close()
	d, err := limitDecision(ctx, desk, folder, id, maxRounds)
	if err != nil {
		return Started{}, err
	}
	signature := ""
	if d != nil {
		if signature, err = sign(ctx, desk, signersOf(folder), d.value()); err != nil {
			return Started{}, err
		}
	}
	v, err := enter(ctx, desk, folder, id, fresh(id, desk.Now()))
	if err != nil {
		return Started{}, err
	}
	defer v.leave()
	s, r := v.s, v.r
	m := newMove(s, r)
	m.needsPerson, m.cause = cmp.Or(r.needsPerson, s.needsPerson), r.cause
	switch {
	case s.phase == Planned:
		m.phase, m.event, m.action, m.message = Implementing, eventStarted, actionStarted, "change "+id+" is started"
	case slices.Contains(startedPhases, s.phase):
		m.message = "change " + id + " is started already"
	default:
		return Started{}, blocked(id, s, "starts only from "+Planned, []string{Planned})
	}
	var more tidegate.Details
	if d != nil && !r.taken(*d) {
		if err := r.admits(*d); err != nil {
			return Started{}, err
		}
		if err := r.checkFiles(folder, id); err != nil {
			return Started{}, err
		}
		m.setLimit(r, *maxRounds)
		more = append(tidegate.Pairs("max_rounds", *maxRounds), d.details(signature)...)
	}
	result := Started{Message: m.message, ChangeID: id, From: s.phase, Phase: m.phase, Changed: m.event != "", StatePath: v.path(stateFile), Warnings: []string{}}
	if v.isNew {
		result.From = ""
		result.Warnings = append(result.Warnings, git.ChangesDir(desk)+"/"+id+"/"+stateFile+" did not exist and was created")
	}
	if !result.Changed {
		return result, nil
	}
	m.edit(s)
	return result, v.commit(ctx, m, "change_start", judged{}, more)
}

// limitDecision is the decision of a person who gives a limit, nil without one.
func limitDecision(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, maxRounds *int64) (*decision, error) {
	if maxRounds == nil {
		return nil, nil
	}
	r, err := readToDecide(ctx, desk, folder, id)
	if err != nil {
		return nil, err
	}
	d := r.decision(id, "change_start")
	d.MaxRounds = maxRounds
	return &d, nil
}

// setLimit keeps the limit of fix rounds, and lets a change go on that waits for
// a higher one.
func (m *move) setLimit(r *record, limit int64) {
	if m.event == "" {
		m.action = actionLimit
	}
	m.event = eventLimit
	m.message += ", with a limit of " + strconv.FormatInt(limit, 10) + " fix rounds"
	m.edits = append(m.edits, edit{key: keyMaxRounds, value: strconv.FormatInt(limit, 10), bare: true})
	if r.cause == causeLimit && m.iteration-1 < limit {
		m.needsPerson, m.cause = "", ""
	}
}

// Resume lets a change that needs a person go on: a person accepts what stands in
// its way, and says why. An approval with doubts completes the change; fixes that
// a review asks for beyond the limit, or after major issues, begin. Where the log
// or a kept review is not as it was written, the person accepts the files as they
// are. A change that needs no person stays as it is.
//
// It returns INVALID_ARGS for a bad id, without accept and without a reason;
// GATE_BLOCKED for an agent; INVALID_STATE when another review came in while the
// person decided; and otherwise what [Advance] returns.
func Resume(ctx context.Context, desk run.Desk, project string, id string, accept bool, reason string) (Resumed, error) {
	const command = "tidegate change resume ID --accept --reason TEXT"
	if err := byPerson(ctx, id, "resumes a change that needs one", command); err != nil {
		return Resumed{}, err
	}
	if !accept {
		return Resumed{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("accept", accept), "accept must be given: `%s`", command)
	}
	if err := checkReason(reason); err != nil {
		return Resumed{}, err
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return Resumed{}, err
	}
	defer folder.Close()
	v, d, signature, err := enterToDecide(ctx, desk, folder, id, "change_resume", func(d *decision) { d.Reason = reason })
	if err != nil {
		return Resumed{}, err
	}
	defer v.leave()
	return v.resume(ctx, d, signature)
}

func (v *visit) resume(ctx context.Context, d decision, signature string) (Resumed, error) {
	id, folder, s, r := v.id, v.folder, v.s, v.r
	result := Resumed{ChangeID: id, From: s.phase, Phase: s.phase, Iteration: s.iteration, Reason: d.Reason, StatePath: v.path(stateFile)}
	if r.taken(d) {
		result.Message = "change " + id + " was resumed by this decision already"
		return result, nil
	}
	if err := r.admits(d); err != nil {
		return Resumed{}, err
	}
	more := d.details(signature)
	mismatch := r.checkFiles(folder, id)
	if mismatch != nil {
		if tidegate.CodeOf(mismatch) != tidegate.Tampered {
			return Resumed{}, mismatch
		}
		found, err := r.present(folder)
		if err != nil {
			return Resumed{}, err
		}
		r.accept(found)
		more = append(more, tidegate.Detail{Key: "digests", Value: found})
	}
	if err := r.checkLimit(folder, id, s); err != nil {
		return Resumed{}, err
	}
	needsPerson := r.needsPerson != "" || s.needsPerson != ""
	switch {
	case mismatch == nil && !needsPerson:
		result.Message = "change " + id + " needs no person"
		return result, nil
	case needsPerson && !slices.Contains(reviewedPhases, s.phase):
		return Resumed{}, blocked(id, s, "resumes only from "+Implementing+", "+Testing+" or "+CodeReviewing, reviewedPhases)
	}
	m := newMove(s, r)
	m.event, m.action, m.message = eventAccepted, actionAccepted, "the record of the change is accepted as it is"
	var j judged
	if needsPerson {
		var err error
		if j, err = judge(ctx, folder, r, id); err != nil {
			return Resumed{}, err
		}
		m.resume(s, r, j)
	}
	m.edit(s)
	result.Message, result.Verdict, result.Phase, result.Iteration, result.Changed = m.message, string(j.verdict), m.phase, m.iteration, true
	return result, v.commit(ctx, m, "change_resume", j, more)
}

// resume does what follows when a person accepts the review that asked for one.
func (m *move) resume(s *state, r *record, j judged) {
	switch {
	case j.verdict == review.Approved:
		m.phase, m.message = Complete, "accepted: the change is complete"
	case j.counted(s, r):
		m.message = "accepted: the fixes continue"
	case j.verdict == review.NeedsFix:
		m.fix(j)
		m.event, m.message = eventAccepted, "accepted: one more fix round begins"
	default:
		m.phase, m.message = Implementing, "accepted: what the review found is to be fixed"
		m.edits = append(m.edits, edit{key: keyCounted, value: j.identity})
	}
	m.action = actionAccepted
}
