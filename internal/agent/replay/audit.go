package replay

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// inAudit is where the files of an audit lie in its seal.
const inAudit = "audit/"

// Audit judges an audit again from its report and its archive, and compares the bytes of
// its result. It writes nothing. It returns the errors of reading the audit; what differs
// is a result.
func Audit(ctx context.Context, desk run.Desk, path, program string) (Result, error) {
	a, err := audit.Open(ctx, desk, path)
	if err != nil {
		return Result{}, err
	}
	defer a.Close()
	return auditAgain(ctx, a, program)
}

func auditAgain(ctx context.Context, a *audit.Audit, program string) (Result, error) {
	out := Result{RunID: a.ID(), Program: program, Recorded: a.Recorded(), Given: 1, Left: []string{}}
	again, err := a.Again(ctx)
	if err != nil {
		return Result{}, err
	}
	kept, err := a.Kept()
	if err != nil {
		return Result{}, err
	}
	made, err := again.Document()
	if err != nil {
		return Result{}, err
	}
	out.Steps = []Step{same(audit.ResultFile, kept, made)}
	if asks := again.Questions(); asks != nil {
		if err := out.readAgain(ctx, a, asks); err != nil {
			return Result{}, err
		}
	}
	out.Pass = out.otherVersion() || out.differ() == 0
	return out, nil
}

// readAgain judges the answers again that count, with their pairs.
func (r *Result) readAgain(ctx context.Context, a *audit.Audit, asks *reading.Questions) error {
	for look := 1; look <= 2; look++ {
		made, err := job.ReadAgain(ctx, a.Folder(), asks, look)
		if err != nil && tidegate.CodeOf(err) != tidegate.InvalidState {
			return err
		}
		for _, part := range asks.Claims.Parts {
			if part.Look != look {
				continue
			}
			kept, err := sentences.ReadingOf(a.Folder(), sentences.VerifyJob(1, part.Number))
			if err != nil {
				return err
			}
			if kept == nil {
				continue
			}
			name := sentences.ReadingFile(kept.JobID, kept.Attempt)
			data, err := a.Folder().Read(name)
			if err != nil {
				return err
			}
			r.Steps = append(r.Steps, same(name, data, made[name]))
		}
	}
	return nil
}

// SealAudit puts an audit that is finished into one signed file, as [Seal] does a run.
// With wacz, and then alone, the key may be nil. It returns INVALID_STATE for one that is
// not finished, TAMPERED for one that would not verify, and the errors of [seal.Write].
func SealAudit(ctx context.Context, desk run.Desk, path string, key *seal.Key, program string, wacz bool) (id string, data []byte, err error) {
	a, err := audit.Open(ctx, desk, path)
	if err != nil {
		return "", nil, err
	}
	defer a.Close()
	if _, err := a.Kept(); err != nil {
		return a.ID(), nil, err
	}
	s, err := subjectOfAudit(ctx, a)
	if err == nil {
		data, err = s.seal(ctx, desk, key, program, wacz, nil)
	}
	return a.ID(), data, err
}

// subjectOfAudit is an audit with its page, as they come out again.
func subjectOfAudit(ctx context.Context, a *audit.Audit) (*subject, error) {
	result, err := a.Again(ctx)
	if err != nil {
		return nil, err
	}
	s := &subject{noun: "audit", below: inAudit, id: a.ID(), question: "the audit of " + a.ReportName(), created: a.Created(),
		folder: a.Folder(), named: a.Named(), trust: result.Report().Summary, pages: func() (*archive.List, error) { return a.Pages(), nil },
		shown: []seal.File{{Name: sealedHTML, Data: paper.AuditOf(result).HTML()}}}
	for i := range result.Sources {
		s.sources = append(s.sources, cited{result.Sources[i].Title, []string{result.Sources[i].URL}})
	}
	return s, nil
}

// lookAtAudit is [Unsealed.lookAtRun] for an audit.
func (u *Unsealed) lookAtAudit(ctx context.Context, desk run.Desk, program string, then func(*subject) error) error {
	path := filepath.Join(unsealedAt, audit.File)
	verified, err := audit.Verify(ctx, desk, path, program)
	if err != nil {
		return err
	}
	for _, wrong := range verified.Wrong {
		u.Findings = append(u.Findings, run.Finding{Level: "error", Rule: "audit-differs", Message: wrong})
	}
	a, err := audit.Open(ctx, desk, path)
	if err != nil {
		return err
	}
	defer a.Close()
	if u.Replay, err = auditAgain(ctx, a, program); err != nil {
		return err
	}
	s, err := subjectOfAudit(ctx, a)
	if err != nil {
		return err
	}
	u.Pass = verified.Pass
	return then(s)
}
