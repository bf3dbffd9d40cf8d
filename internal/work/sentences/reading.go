package sentences

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// ReadingVersion is the schema_version of a reading.
const ReadingVersion = "reading.v1"

// Reading is an accepted answer of a second reader to one part, as
// jobs/<job>/<attempt>/reading.json keeps it.
type Reading struct {
	SchemaVersion string `json:"schema_version"`
	JobID         string `json:"job_id"`
	Attempt       int    `json:"attempt"`
	Round         int64  `json:"round"`
	Part          int    `json:"part"`
	Look          int    `json:"look"`
	reading.Judged
}

// VerifyJob is the id of the job in which a part of a round is read.
func VerifyJob(round int64, part int) string {
	if round > 1 {
		return fmt.Sprintf("verify.%d.%d", round, part)
	}
	return fmt.Sprintf("verify.%d", part)
}

// ReadingFile is where the accepted answer of an attempt lies.
func ReadingFile(jobID string, attempt int) string {
	return run.AttemptDir(jobID, attempt) + "/reading.json"
}

// TakeReading stages a reading that was judged. It returns INVALID_STATE and
// STAGE_MISMATCH.
func TakeReading(u *run.Update, read Reading) error {
	if err := step.TakesIn(u, run.Review); err != nil {
		return err
	}
	read.SchemaVersion = ReadingVersion
	return u.WriteJSON(ReadingFile(read.JobID, read.Attempt), read)
}

// ReadingOf is the accepted reading of a job that counts, nil where another is asked for:
// one that refuses most of what stands by rule counts when a second one does the same. It
// returns READ_FAILED and INVALID_STATE.
func ReadingOf(folder *artifact.Folder, jobID string) (*Reading, error) {
	has, err := run.JobsIn(folder).Of(jobID)
	if err != nil {
		return nil, err
	}
	var list []Reading
	for _, n := range has.Attempts {
		data, err := folder.Read(ReadingFile(jobID, n))
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		var read Reading
		if err := json.Unmarshal(data, &read); err != nil || read.SchemaVersion != ReadingVersion {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", filepath.Join(folder.Path(), ReadingFile(jobID, n))), "the reading of %s is none", jobID)
		}
		list = append(list, read)
	}
	if len(list) == 0 || len(list) == 1 && list[0].Refuses {
		return nil, nil
	}
	return &list[len(list)-1], nil
}

// seedVersion is the schema_version of a seed.
const seedVersion = "reader_seed.v1"

// roundSeed is the seed of a round as a run keeps it, by which its sentences are dealt to
// readers.
type roundSeed struct {
	SchemaVersion string `json:"schema_version"`
	Round         int64  `json:"round"`
	Seed          string `json:"seed"`
}

// ParseSeed reads the file with the seed of a round.
func ParseSeed(data []byte) (seed reading.Seed, err error) {
	var kept roundSeed
	if err := json.Unmarshal(data, &kept); err != nil || kept.SchemaVersion != seedVersion {
		return seed, tidegate.Errorf(tidegate.InvalidState, nil, "the seed of a round is not %s", seedVersion)
	}
	drawn, err := hex.DecodeString(kept.Seed)
	if err != nil || len(drawn) != len(seed) {
		return seed, tidegate.Errorf(tidegate.InvalidState, nil, "the seed of a round is not one of %d bytes", len(seed))
	}
	return reading.Seed(drawn), nil
}

func readSeed(folder *artifact.Folder, name string) (seed reading.Seed, err error) {
	data, err := folder.Read(name)
	if err != nil {
		return seed, err
	}
	seed, err = ParseSeed(data)
	return seed, tidegate.WithDetails(err, tidegate.Pairs("path", filepath.Join(folder.Path(), filepath.FromSlash(name))))
}

// ClosingSeed is the seed of the present round, in hex, for the log; "" for a round that was
// read by nobody.
func ClosingSeed(r *run.Run) (string, error) {
	seed, err := readSeed(r.Folder(), r.Layout().RoundSeed(roundOf(r)))
	if err != nil {
		return "", artifact.UnlessMissing(err)
	}
	return hex.EncodeToString(seed[:]), nil
}

// seedDigest is what the log has of a seed before its round is closed.
func seedDigest(seed reading.Seed) string { return codec.DigestBytes(seed[:]) }

// Readings are what second readers are asked about a text whose jobs lie in a folder that is
// no run's.
type Readings struct {
	*reading.Questions
	Folder *artifact.Folder
	Round  int64

	dealt bool
	taken map[int]bool // parts whose readings are taken in
}

// seedFile is where a folder that is no run's keeps the seed of a round.
func seedFile(round int64) string {
	return fmt.Sprintf("review/rounds/%d/seed.json", round)
}

// Deal deals the sentences as the seed in the folder has it; dealt is false where there is
// none. It returns READ_FAILED and INVALID_STATE.
func (q *Readings) Deal() (dealt bool, err error) {
	if q.dealt {
		return true, nil
	}
	if q.Seed, err = readSeed(q.Folder, seedFile(q.Round)); err != nil {
		return false, artifact.UnlessMissing(err)
	}
	q.SetParts()
	q.dealt = true
	return true, nil
}

// Draw stages the seed of the round.
func (q *Readings) Draw(u interface {
	WriteJSON(name string, v any) error
	Log(event run.Event, kind string, fields tidegate.Details)
}, seed reading.Seed) error {
	u.Log(run.EventDealt, "reader_seed", tidegate.Pairs("round", q.Round, "seed_digest", seedDigest(seed)))
	return u.WriteJSON(seedFile(q.Round), roundSeed{seedVersion, q.Round, hex.EncodeToString(seed[:])})
}

// Advance takes in what was read. Once every part was, it adds those that are looked at
// again, with other passages; more says that there are such. It returns READ_FAILED and
// INVALID_STATE.
func (q *Readings) Advance() (more bool, err error) {
	if dealt, err := q.Deal(); !dealt || err != nil {
		return false, err
	}
	whole := true
	for _, part := range q.Claims.Parts {
		if q.taken[part.Number] {
			continue
		}
		read, err := ReadingOf(q.Folder, VerifyJob(q.Round, part.Number))
		if err != nil {
			return false, err
		}
		if read == nil {
			whole = false
			continue
		}
		if q.taken == nil {
			q.taken = map[int]bool{}
		}
		q.taken[part.Number] = true
		q.Record(part.Number, read.Judged, evidence.Verdict{Look: read.Look, Job: read.JobID, Attempt: read.Attempt, Round: int(q.Round)})
	}
	return whole && q.LookAgain(), nil
}

// AttemptFiles are the digests of what the attempts at the jobs in a folder keep, by name, and
// of the seed of the first round.
func AttemptFiles(folder *artifact.Folder) (tidegate.Details, error) {
	files := tidegate.Details{}
	err := fs.WalkDir(folder.FS(), run.JobsDir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == run.JobsDir {
			return fs.SkipAll // there was none
		}
		if err != nil || !entry.Type().IsRegular() || strings.Count(name, "/") < 3 {
			return err // beside the attempts lie leases
		}
		digest, err := folder.Digest(name)
		files = append(files, tidegate.Detail{Key: name, Value: digest})
		return err
	})
	if err != nil {
		return nil, err
	}
	if digest, err := folder.Digest(seedFile(1)); err != nil || digest == "" {
		return files, err
	} else {
		return append(files, tidegate.Detail{Key: seedFile(1), Value: digest}), nil
	}
}

// ReadingFiles are the files of the readings of the present round.
func ReadingFiles(r *run.Run) ([]string, error) {
	claims, err := ReadClaims(r)
	if err != nil || claims == nil {
		return nil, err
	}
	var names []string
	for _, p := range claims.Parts {
		read, err := ReadingOf(r.Folder(), VerifyJob(roundOf(r), p.Number))
		if err != nil {
			return nil, err
		}
		if read != nil {
			names = append(names, ReadingFile(read.JobID, read.Attempt))
		}
	}
	return names, nil
}

// roundOf is the number of the present round: one for each accepted synthesis.
func roundOf(r *run.Run) int64 { return r.Manifest().ReviewRounds() + 1 }

// Deal fixes the parts in which the sentences of a draft are read that nobody has read.
func (j Judged) Deal(seed reading.Seed) { j.sentences.dealtBy(seed).SetParts() }

// RecordReadings writes what second readers said into the run's document of claims, once
// every part that waits for it was read, and asks for a second look where that can
// help. It reports whether there was something to write. It returns READ_FAILED,
// TAMPERED, and the errors of [run.Run.Update].
func RecordReadings(ctx context.Context, r *run.Run) (bool, error) {
	kept, err := keptClaims(r)
	if err != nil || kept == nil || len(kept.Unread()) == 0 {
		return false, err
	}
	var all []*Reading
	for _, p := range kept.Unread() {
		read, err := ReadingOf(r.Folder(), VerifyJob(roundOf(r), p.Number))
		if err != nil || read == nil {
			return false, err
		}
		all = append(all, read)
	}
	draft, err := r.Folder().Read(r.Layout().Synthesis())
	if err != nil {
		return false, err
	}
	checked, err := checkSentences(ctx, r, markdown.Read(draft), kept)
	if err != nil {
		return false, err
	}
	claims := &checked.claims
	asked, err := checked.questions(r)
	if err != nil {
		return false, err
	}
	for _, read := range all {
		asked.Record(read.Part, read.Judged, evidence.Verdict{Look: read.Look, Job: read.JobID, Attempt: read.Attempt, Round: int(read.Round)})
	}
	asked.LookAgain()
	_, err = r.Update(ctx, func(u *run.Update) error {
		if err := step.TakesIn(u, run.Review); err != nil {
			return err
		}
		u.Log(run.EventRead, "claims_read", tidegate.Pairs("round", roundOf(r), "parts", len(all), "synthesis_digest", claims.SynthesisDigest, "args", tidegate.Pairs()))
		return u.WriteJSON(r.Layout().Claims(), claims)
	})
	return err == nil, err
}

// SendBack stages the review by which the rule sends a run back to writing, because
// sentences of its synthesis do not stand, unless it is there. It returns how many do
// not; while some wait for a reader it is 0. It returns READ_FAILED, TAMPERED, and the
// errors of [run.Run.Update].
func SendBack(ctx context.Context, r *run.Run) (refused int, err error) {
	policy, err := r.Policy()
	if err != nil {
		return 0, err
	}
	claims, err := keptClaims(r)
	if err != nil || claims == nil || !policy.Evidence.Reader || len(claims.Unread()) > 0 {
		return 0, err
	}
	outcome := claims.Judge(true)
	if accepted, err := ReportAccepted(r); err != nil || accepted || len(outcome.Refused) == 0 {
		return 0, err
	}
	if data, err := r.Folder().Read(r.Layout().ReviewBundle); err == nil {
		doc, _ := codec.Parse(data)
		if b, problem := synthesis.ReadBundle(doc); problem == "" && b.MadeBy.Actor == tidegate.Rule && b.SynthesisDigest == claims.SynthesisDigest {
			return len(outcome.Refused), nil
		}
	}
	_, err = r.Update(ctx, func(u *run.Update) error {
		review := synthesis.ReviewByRule(outcome.Directives(outcome.Strikes(strikesOf(claims))))
		return TakeSynthesisReview(u, review, synthesis.MadeBy{Actor: tidegate.Rule})
	})
	return len(outcome.Refused), err
}

// strikesOf is in how many rounds before its own each sentence was refused.
func strikesOf(c *evidence.Claims) map[string]int {
	strikes := map[string]int{}
	for _, s := range c.Sentences {
		strikes[s.ID] = s.Strikes
	}
	return strikes
}

// ReadQuestions reads what second readers are asked; nil where the run has no sentences
// to read. It returns READ_FAILED and TAMPERED.
func ReadQuestions(ctx context.Context, r *run.Run) (*reading.Questions, error) {
	kept, err := keptClaims(r)
	if err != nil || kept == nil {
		return nil, err
	}
	draft, err := r.Folder().Read(r.Layout().Synthesis())
	if err != nil {
		return nil, err
	}
	checked, err := checkSentences(ctx, r, markdown.Read(draft), kept)
	if err != nil {
		return nil, err
	}
	return checked.questions(r)
}

// questions are what second readers are asked about the sentences of the present round.
func (c *checkedSentences) questions(r *run.Run) (*reading.Questions, error) {
	seed, err := readSeed(r.Folder(), r.Layout().RoundSeed(roundOf(r)))
	return c.dealtBy(seed), err
}

func (c *checkedSentences) dealtBy(seed reading.Seed) *reading.Questions {
	return &reading.Questions{Claims: &c.claims, Further: c.further, Seed: seed, Material: reading.Material{Language: c.language, Question: c.question, Text: c.pages.text}}
}

// Substance is how many cited sentences the findings of the run's report need, and from
// how many perspectives and sources. It returns READ_FAILED.
func Substance(r *run.Run) (findings, perspectives, sources int, err error) {
	facts, _, err := ReportFacts(r, nil)
	findings, perspectives, sources = facts.Needs()
	return findings, perspectives, sources, err
}

// Revision is the draft that the run's next synthesis edits.
type Revision struct {
	// Answered is the review that asks for changes, nil where none does.
	Answered *synthesis.Answered
	report   evidence.Report
	strikes  map[string]int
	drop     []string
}

// ReadRevision reads what the next synthesis edits: nil in the first round, and where the
// sentences of the last one are not known. It returns READ_FAILED and TAMPERED.
func ReadRevision(r *run.Run) (*Revision, error) {
	rounds := r.Manifest().ReviewRounds()
	if rounds == 0 {
		return nil, nil
	}
	claims, err := ReadClaimsAt(r, r.Layout().RoundClaims(rounds))
	if err != nil || claims == nil {
		return nil, err
	}
	v := &Revision{}
	if v.Answered, err = Answered(r); err != nil {
		return nil, err
	}
	name, _ := r.Layout().Round(rounds)
	draft, err := r.Folder().Read(name)
	if err != nil {
		return nil, err
	}
	if codec.DigestBytes(draft) != claims.SynthesisDigest {
		return nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("changed", []string{name}), "%s is not the draft whose sentences were read", name)
	}
	facts, _, err := ReportFacts(r, draft)
	if err != nil {
		return nil, err
	}
	policy, err := r.Policy()
	if err != nil {
		return nil, err
	}
	v.report = evidence.Read(markdown.Read(draft), facts)
	if policy.Evidence.Reader {
		outcome := claims.Judge(true)
		v.strikes = outcome.Strikes(strikesOf(claims))
		v.drop = outcome.Drops(v.strikes)
	}
	return v, nil
}

// Numbered is the draft with ids beside its sentences.
func (v *Revision) Numbered() string { return v.report.Numbered() }

// Words is how many words the draft has.
func (v *Revision) Words() int { return v.report.Words() }

// Carry gives the strikes of the sentences of the draft to those that edits made of them.
func (v *Revision) Carry(edited evidence.Edited, judged Judged) {
	if judged.Claims == nil {
		return
	}
	for id, n := range edited.Carry(v.strikes, v.report, judged.sentences.report) {
		if s := judged.Claims.Find(id); s != nil {
			s.Strikes = n
		}
	}
}
