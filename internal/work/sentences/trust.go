package sentences

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Trust says how the report of a run was checked.
type Trust struct {
	// Line is the trust line, "" where the run has no synthesis.
	Line string
	// Claims are the sentences of the synthesis as it stands, nil where none was
	// checked.
	Claims *evidence.Claims
	// Reader says that the run has a second reader.
	Reader bool
	// Accepted counts the sentences that a person accepted.
	Accepted int

	by evidence.Readers
}

// In is the trust line in the language of a report.
func (t Trust) In(language string) string {
	if t.Line == "" {
		return ""
	}
	return evidence.TrustLineIn(language, t.Claims, t.by)
}

// MaxAccepted is how many sentences a person may accept in a report that passes.
const MaxAccepted = 3

// ReadTrust says how the report of a run was checked. It returns READ_FAILED and
// INVALID_STATE, and TAMPERED where the log is damaged.
func ReadTrust(r *run.Run) (Trust, error) {
	if err := r.CheckLog(); err != nil {
		return Trust{}, err
	}
	digest, err := r.Folder().Digest(r.Layout().Synthesis())
	if err != nil || digest == "" {
		return Trust{}, err
	}
	policy, err := r.Policy()
	if err != nil {
		return Trust{}, err
	}
	claims, err := ReadClaims(r)
	if err != nil {
		return Trust{}, err
	}
	by := evidence.Readers{Off: !policy.Evidence.Grounding, None: !policy.Evidence.Reader, OneAgent: policy.Evidence.OneAgent, Adapted: policy.Evidence.Adapt}
	t := Trust{Reader: policy.Evidence.Reader}
	switch {
	case claims == nil:
		if by.Unsourced, err = gateAccepted(r, "C"); err != nil {
			return Trust{}, err
		}
	case claims.SynthesisDigest == digest:
		t.Claims = claims
		if err := readersOf(r, claims, &by); err != nil {
			return Trust{}, err
		}
		for i := range claims.Sentences {
			if claims.Sentences[i].Accepted != nil {
				t.Accepted++
			}
		}
	}
	t.Line, t.by = evidence.TrustLine(t.Claims, by), by
	return t, nil
}

// readersOf finds out who gave the verdicts on sentences.
func readersOf(r *run.Run, claims *evidence.Claims, by *evidence.Readers) error {
	unfit, err := r.EventsOf(run.EventUnfit)
	if err != nil {
		return err
	}
	readers := map[string]bool{}
	for _, e := range unfit {
		readers[e.Entry.Get("reader").Str()] = true
	}
	by.Unfit = len(readers)
	type attempt struct {
		job    string
		number int
	}
	seen := map[attempt]bool{}
	for i := range claims.Sentences {
		v := claims.Sentences[i].Verdict
		if v == nil || seen[attempt{v.Job, v.Attempt}] {
			continue
		}
		seen[attempt{v.Job, v.Attempt}] = true
		who, err := ReaderOf(r, v)
		if err != nil {
			return err
		}
		by.Person = by.Person || who == ReadByPerson
		by.Undriven = by.Undriven || who == ReadByHand
		by.Recorded = by.Recorded || strings.HasPrefix(who, "recorded")
		driver, _, _ := strings.Cut(who, " ")
		by.Service = by.Service || driver == "api" || driver == "model"
	}
	return nil
}

// Who read, where it was no agent that tidegate drove.
const (
	ReadByPerson = "a person"
	ReadByHand   = "an agent that tidegate did not start"
)

// ReaderOf names who gave a verdict: the driver with its model, a person, or an agent by
// hand. "" is for an attempt that the run does not have.
func ReaderOf(r *run.Run, v *evidence.Verdict) (string, error) {
	data, err := r.Folder().Read(run.AttemptDir(v.Job, v.Attempt) + "/attempt.json")
	if err != nil {
		return "", artifact.UnlessMissing(err)
	}
	attempt, err := codec.Parse(data)
	if err != nil {
		return "", err
	}
	driver, _, _ := strings.Cut(attempt.Get("driver").Str(), ":") // the rest concerns only the machine
	switch {
	case driver != "":
		return strings.TrimSpace(driver + " " + attempt.Get("model").Str()), nil
	case attempt.Get("by_person").Bool():
		return ReadByPerson, nil
	}
	return ReadByHand, nil
}
