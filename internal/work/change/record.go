package change

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
)

// logFile is the chained log of a change. It says what was done, on whose
// authority, and what was kept; together with the kept reviews it decides.
const logFile = "log.jsonl"

// The events of the log.
const (
	eventKept      = "kept"         // a review was submitted and kept
	eventFound     = "found"        // a REVIEW.md that was written by other means was kept
	eventStarted   = "started"      // the implementation began
	eventLimit     = "limit"        // a person set the number of fix rounds
	eventCompleted = "completed"    // a review completed the change
	eventRound     = "round"        // a review began another fix round
	eventPerson    = "needs_person" // only a person moves the change on
	eventAccepted  = "accepted"     // a person let the change go on
	eventWorktree  = "worktree"     // the change is implemented in a worktree of its own
	eventRebased   = "rebased"      // it begins from another commit, and is reviewed again
	eventMerged    = "merged"       // what was reviewed is part of the project
	eventAbandoned = "abandoned"    // a person ended it
)

// record is what the log of a change says.
type record struct {
	lines       int
	head        string          // the digest of the last line
	heads       map[string]bool // the digests of all lines, and that of an empty log
	decisions   map[string]bool // the digests of the decisions that were taken
	reviews     []logged
	limit       *int64   // of fix rounds, as a person set it
	phase       string   // after the last move
	been        []string // the phases that it was in, in order
	iteration   int64    // after the last move
	counted     int      // the review that the last fix round began for
	needsPerson string   // why only a person moves the change on; "" when anyone does
	cause       cause
	worktree    *Worktree // where it is implemented; nil for the project
	torn        bool      // the last line is not whole, and was left out
	asFound     bool      // a person accepts the log as it is found
	broken      string    // what shows that the log was changed by other means
}

// logged is a review that the log names, with the digests of its files.
type logged struct {
	number  int
	found   bool // written by other means: it decides nothing
	review  string
	sidecar string // "" for one that was found
}

// files are the names of the files of a review, with their digests.
func (l logged) files() map[string]string {
	files := map[string]string{historyName(l.number): l.review}
	if !l.found {
		files[sidecarName(l.number)] = l.sidecar
	}
	return files
}

// newRecord is the record of a change that has no log.
func newRecord() *record {
	return &record{head: artifact.FirstPrev, heads: map[string]bool{artifact.FirstPrev: true}, decisions: map[string]bool{}}
}

// readLocked is readRecord under the lock, where the log must be the one that
// its head names, too.
func readLocked(desk run.Desk, held *artifact.Lock, id string) (*record, error) {
	log, err := held.CheckLog(logFile)
	if err != nil && tidegate.CodeOf(err) != tidegate.Tampered {
		return nil, err
	}
	r, readErr := readRecord(desk, held.Folder(), id)
	switch {
	case readErr != nil:
	case err != nil:
		r.breaks("%s", tidegate.AsError(err).Message)
	case r.torn && !log.Headed:
		// Where there is a head, the next write cuts off what a killed process left.
		r.breaks("its last line is torn")
	}
	return r, readErr
}

// readToDecide is readRecord for a decision, which is made before the lock is
// taken. What a killed process left is finished or taken back first, so that the
// decision is about a log that stays.
func readToDecide(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string) (*record, error) {
	folder.Settle(ctx)
	return readRecord(desk, folder, id)
}

// readRecord reads the log of a change; one that has none has done nothing yet.
func readRecord(desk run.Desk, folder *artifact.Folder, id string) (*record, error) {
	r := newRecord()
	signers, err := seal.ReadSigners(desk.Reach, "signers", signersOf(folder))
	if artifact.UnlessMissing(err) != nil {
		return nil, err
	}
	file, err := folder.Open(logFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for line, err := range artifact.ReadLog(file) {
		if err != nil {
			return nil, err
		}
		if line.Torn {
			r.torn = true
			break
		}
		r.lines++
		v, err := codec.Parse(line.Text)
		switch {
		case err != nil || line.Prev == "":
			r.breaks("line %d was written by other means", line.Number)
		case line.Prev != r.head:
			r.breaks("line %d does not follow the line before it", line.Number)
		case v.Get("change_id").Str() != id:
			r.breaks("line %d is about another change", line.Number)
		case signers != nil && isDecision(v) && !signers.Signed(v.Get("decision"), v.Get("signature").Str(), v.Get("ts").Str()):
			r.breaks("line %d is a person's decision without a signature that counts", line.Number)
		case v.Get("decision") != nil && r.decisions[codec.Digest(v.Get("decision"))]:
			r.breaks("line %d repeats a decision", line.Number)
		default:
			r.take(v)
		}
		r.head = line.Digest
		r.heads[r.head] = true
	}
	return r, nil
}

// isDecision reports whether a line is one that only a person's decision makes.
func isDecision(line *codec.Value) bool {
	event := line.Get("event").Str()
	return line.Get("decision") != nil || event == eventAccepted || event == eventLimit
}

func (r *record) breaks(format string, args ...any) {
	if r.broken == "" {
		r.broken = fmt.Sprintf(format, args...)
	}
}

// take takes in what one line says.
func (r *record) take(line *codec.Value) {
	if d := line.Get("decision"); d != nil {
		r.decisions[codec.Digest(d)] = true
	}
	if phase := line.Get("phase"); phase != nil {
		r.been = append(r.been, line.Get("from").Str(), phase.Str())
		r.phase = phase.Str()
		r.iteration, _ = line.Get("iteration").Int()
		r.needsPerson, r.cause = line.Get("needs_person").Str(), cause(line.Get("cause").Str())
	}
	byPerson := line.Get("actor").Str() == string(tidegate.Person)
	event := line.Get("event").Str()
	number, _ := line.Get("review").Int()
	if event == eventRound || event == eventRebased || event == eventAccepted && byPerson {
		r.counted = int(number)
	}
	switch {
	case event == eventKept || event == eventFound:
		l := logged{number: int(number), found: event == eventFound}
		l.review = line.Get("digests").Get(historyName(l.number)).Str()
		l.sidecar = line.Get("digests").Get(sidecarName(l.number)).Str()
		r.reviews = append(r.reviews, l)
	case event == eventWorktree || event == eventRebased:
		r.worktree = &Worktree{Path: line.Get("worktree").Str(), Branch: line.Get("branch").Str(), Base: line.Get("base").Str(), Rebased: int(number)}
	case event == eventLimit && byPerson:
		if limit, ok := line.Get("max_rounds").Int(); ok {
			r.limit = &limit
		}
	case event == eventAccepted && byPerson && line.Get("digests") != nil:
		r.accept(line.Get("digests"))
	}
}

// accept takes the files as a person found them for what was kept. A review with a
// missing file is no longer kept.
func (r *record) accept(found *codec.Value) {
	r.broken, r.asFound = "", true
	for i := range r.reviews {
		l := &r.reviews[i]
		l.review = found.Get(historyName(l.number)).Str()
		l.sidecar = found.Get(sidecarName(l.number)).Str()
	}
	r.reviews = slices.DeleteFunc(r.reviews, func(l logged) bool { return l.review == "" || l.sidecar == "" && !l.found })
}

// last is the newest review that was submitted, nil when there is none.
func (r *record) last() *logged {
	for _, l := range slices.Backward(r.reviews) {
		if !l.found {
			return &l
		}
	}
	return nil
}

// newest is the highest number of a review that the log has, 0 when it has none.
func (r *record) newest() int {
	newest := 0
	for _, l := range r.reviews {
		newest = max(newest, l.number)
	}
	return newest
}

// present is the digests of the files of all reviews as they are, null for a file
// that is missing.
func (r *record) present(folder *artifact.Folder) (*codec.Value, error) {
	present := codec.NewObject()
	for _, l := range r.reviews {
		for _, name := range []string{historyName(l.number), sidecarName(l.number)} {
			data, err := folder.ReadIfThere(name)
			if err != nil {
				return nil, err
			}
			digest := codec.Of(nil)
			if data != nil {
				digest = codec.Of(codec.DigestBytes(data))
			}
			present.Set(name, digest)
		}
	}
	return present, nil
}

// checkFiles returns TAMPERED when the log, or a review that was kept, is not as
// it was written.
func (r *record) checkFiles(folder *artifact.Folder, id string) error {
	if r.broken != "" {
		return tampered(folder, id, logFile, r.broken)
	}
	present, err := r.present(folder)
	if err != nil {
		return err
	}
	for _, l := range r.reviews {
		files := l.files()
		for _, name := range []string{historyName(l.number), sidecarName(l.number)} {
			want, kept := files[name]
			switch got := present.Get(name).Str(); {
			case !kept || got == want && got != "":
			case got == "":
				return tampered(folder, id, name, "it was kept and is gone")
			default:
				return tampered(folder, id, name, "it is not what was kept")
			}
		}
	}
	return nil
}

// checkLimit returns TAMPERED when STATE.yaml gives a limit that no person set.
func (r *record) checkLimit(folder *artifact.Folder, id string, s *state) error {
	if s.maxRounds == nil || r.limit != nil && *r.limit == *s.maxRounds {
		return nil
	}
	return tampered(folder, id, stateFile, fmt.Sprintf("it says max_rounds %d, which a person sets by `tidegate change start %s --max-rounds %d`", *s.maxRounds, id, *s.maxRounds))
}

func tampered(folder *artifact.Folder, id, name, reason string) error {
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("change_id", id, "path", folder.Path(), "file", name, "reason", reason),
		"the record of change %s does not match %s: %s", id, name, reason)
}

// maxRounds is how many fix rounds there may be before a person is needed.
func (r *record) maxRounds() int64 {
	const byDefault = 2
	if r.limit == nil {
		return byDefault
	}
	return *r.limit
}

// line is the next line of the log.
func (r *record) line(ctx context.Context, desk run.Desk, id, kind, event string, fields tidegate.Details) tidegate.Details {
	r.lines++
	line := append(tidegate.Pairs("ts", tidegate.Stamp(desk.Now()), "kind", kind, "event", event, "change_id", id, "seq", r.lines), tidegate.ActorOf(ctx).Logged()...)
	line = append(line, fields...)
	if desk.Pinned {
		line = append(line, tidegate.Detail{Key: "clock", Value: "pinned"})
	}
	return line
}

// log makes a line of the log part of a transaction: no line, no change.
func (r *record) log(tx *artifact.Tx, line tidegate.Details) error {
	if r.asFound {
		if err := tx.Accept(logFile); err != nil {
			return err
		}
	}
	return tx.Record(logFile, line)
}

// decision is what a person decides about a change. Its canonical JSON stands in
// the log with what it did; it names the change and the log that the person saw,
// so that it counts once and nowhere else, even when it is signed.
type decision struct {
	ChangeID  string `json:"change_id"`
	Decision  string `json:"decision"`             // the command
	MaxRounds *int64 `json:"max_rounds,omitempty"` // of change start
	Reason    string `json:"reason,omitempty"`     // of change resume
	Review    int    `json:"review,omitempty"`     // the newest review that was kept
	Head      string `json:"head"`                 // the digest of the last line of the log that the person saw
}

// decision is a decision about the change in the state of its record.
func (r *record) decision(id, command string) decision {
	return decision{ChangeID: id, Decision: command, Review: r.newest(), Head: r.head}
}

// value is the decision as it is logged, and as it is signed in its canonical
// form.
func (d decision) value() *codec.Value { return codec.Of(d) }

// taken reports whether the log has the decision already: a repetition does
// nothing more.
func (r *record) taken(d decision) bool { return r.decisions[codec.Digest(d.value())] }

// admits returns INVALID_STATE unless the decision was made about this log and
// its newest review.
func (r *record) admits(d decision) error {
	refuse := func(reason string) error {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", d.ChangeID, "head", d.Head), "the decision about change %s does not count: %s", d.ChangeID, reason)
	}
	switch {
	case !r.heads[d.Head]:
		return refuse("it was made about another log")
	case d.Review != r.newest():
		return refuse("another review came in since")
	}
	return nil
}

// byPerson returns GATE_BLOCKED, with the command, unless the call is made on a
// person's authority.
func byPerson(ctx context.Context, id, what, command string) error {
	if tidegate.ActorOf(ctx).Kind == tidegate.Person {
		return nil
	}
	return tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("change_id", id, "allowed", []string{command}), "only a person %s: `%s`", what, command)
}

// maxReason is how many characters a reason may have.
const maxReason = 4096

func checkReason(text string) error {
	if strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > maxReason {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("reason", tidegate.Cut(text)), "reason must say why, in at most %d characters", maxReason)
	}
	return nil
}

// signersFile, beside the folder of changes, says whose signatures count: an
// OpenSSH allowed_signers file. Without it decisions are not signed.
const signersFile = "allowed_signers"

// signersOf is where the project of a change lists them.
func signersOf(folder *artifact.Folder) string {
	return filepath.Join(filepath.Dir(filepath.Dir(folder.Path())), signersFile)
}

// sign signs a value that a person decided, by one of those whose signatures count; "" where
// the project has no list of them.
func sign(ctx context.Context, desk run.Desk, signersPath string, value any) (string, error) {
	signers, err := seal.ReadSigners(desk.Reach, "signers", signersPath)
	if err != nil {
		return "", artifact.UnlessMissing(err)
	}
	if desk.Sign == nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil),
			"decisions about changes are signed here: name your key with --sign, or in TIDEGATE_SIGN_KEY")
	}
	message, err := codec.Canonical(value)
	if err != nil {
		return "", err
	}
	armored, err := desk.Sign(ctx, message)
	if err != nil {
		return "", err
	}
	if _, err := signers.Verify(message, armored, desk.Now()); err != nil {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil), "the signature does not count: %s", tidegate.AsError(err).Message)
	}
	return string(armored), nil
}

// details are what the line of a decision holds.
func (d decision) details(signature string) tidegate.Details {
	fields := tidegate.Pairs("decision", d.value())
	if signature != "" {
		fields = append(fields, tidegate.Detail{Key: "signature", Value: signature})
	}
	return fields
}

// visit is a change under its lock, with what its files say.
type visit struct {
	id     string
	desk   run.Desk
	held   *artifact.Lock
	folder *artifact.Folder
	s      *state
	isNew  bool // there is no STATE.yaml yet
	r      *record
}

// enter takes the lock of a change and reads its record and its STATE.yaml. A
// missing STATE.yaml is taken to be orElse, unless that is nil. The visit ends
// with leave.
func enter(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, orElse []byte) (*visit, error) {
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return nil, err
	}
	v := &visit{id: id, desk: desk, held: held, folder: folder}
	if v.r, err = readLocked(desk, held, id); err == nil {
		v.s, err = readState(folder)
	}
	if tidegate.CodeOf(err) == tidegate.FileNotFound && orElse != nil {
		v.isNew = true
		v.s, err = parseState(v.path(stateFile), orElse)
	}
	if err != nil {
		v.leave()
		return nil, err
	}
	return v, nil
}

// moving enters a change whose files are those that its log records, and lets do move it on.
// A folder without a state gets no lock file.
func moving(ctx context.Context, desk run.Desk, project, id string, do func(v *visit) error) error {
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return err
	}
	defer folder.Close()
	if _, err := readState(folder); err != nil {
		return err
	}
	v, err := enter(ctx, desk, folder, id, nil)
	if err != nil {
		return err
	}
	defer v.leave()
	if err := v.r.checkFiles(folder, id); err != nil {
		return err
	}
	return do(v)
}

// enterToDecide makes a person's decision about a change, as fill completes it, and enters
// the change to carry it out. What is signed is signed before the lock is taken. A folder
// without a state gets no lock file.
func enterToDecide(ctx context.Context, desk run.Desk, folder *artifact.Folder, id, command string, fill func(*decision)) (v *visit, d decision, signature string, err error) {
	if _, err = readState(folder); err != nil {
		return nil, d, "", err
	}
	r, err := readToDecide(ctx, desk, folder, id)
	if err != nil {
		return nil, d, "", err
	}
	d = r.decision(id, command)
	fill(&d)
	if signature, err = sign(ctx, desk, signersOf(folder), d.value()); err == nil {
		v, err = enter(ctx, desk, folder, id, nil)
	}
	return v, d, signature, err
}

func (v *visit) leave() { v.held.Unlock() }

func (v *visit) path(name string) string { return filepath.Join(v.folder.Path(), name) }

// commit writes the state after a move, with its line in the log.
func (v *visit) commit(ctx context.Context, m move, kind string, j judged, more tidegate.Details) error {
	text, err := v.s.edited(v.path(stateFile), m.action, v.desk.Now(), m.edits)
	if err != nil {
		return err
	}
	tx := v.held.Begin()
	tx.Write(stateFile, text)
	fields := tidegate.Pairs("review", j.number, "verdict", j.verdict, "from", v.s.phase, "phase", m.phase, "iteration", m.iteration,
		"needs_person", m.needsPerson, "cause", m.cause, "state_digest", codec.DigestBytes(text))
	line := v.r.line(ctx, v.desk, v.id, kind, m.event, append(fields, more...))
	if err := v.r.log(tx, line); err != nil {
		return err
	}
	return tx.Commit()
}
