package replay

import (
	"bytes"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
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
	shown, err := auditPage(ctx, a)
	if err != nil {
		return a.ID(), nil, err
	}
	files, left, err := seal.FilesOf(a.Folder(), inAudit, a.Named())
	if err != nil {
		return a.ID(), nil, err
	}
	files = append(files, seal.File{Name: sealedHTML, Data: shown})
	check := Unsealed{RunID: a.ID(), Program: program}
	if err := check.examineAudit(ctx, desk, files, program); err != nil {
		return a.ID(), nil, err
	}
	if !check.Pass {
		why := "nothing of it can be done again by rule"
		for _, f := range check.Findings {
			why = f.Message
		}
		return a.ID(), nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("audit", path), "a seal of this audit would not verify: %s", why)
	}
	at := desk.Stamp()
	about := codec.Of(tidegate.Pairs("audit_id", a.ID(), "question", "the audit of "+a.ReportName(), "created_at", a.Created(), "program", program, "sealed_at", at, leftOut, left))
	if !wacz {
		var out bytes.Buffer
		err = seal.Write(ctx, &out, key, files, about)
		return a.ID(), out.Bytes(), err
	}
	more, err := webOfAudit(ctx, a, shown, at)
	if err != nil {
		return a.ID(), nil, err
	}
	data, err = more.write(ctx, key, files, about)
	return a.ID(), data, err
}

// auditPage is the page of an audit.
func auditPage(ctx context.Context, a *audit.Audit) ([]byte, error) {
	result, err := a.Result(ctx)
	if err != nil {
		return nil, err
	}
	return paper.AuditOf(result).HTML(), nil
}

// examineAudit holds the files of a sealed audit against themselves.
func (u *Unsealed) examineAudit(ctx context.Context, desk run.Desk, files []seal.File, program string) error {
	u.Findings, u.Decisions, u.Confinement = []run.Finding{}, []run.Decided{}, []run.Confinement{}
	laid, err := artifact.NewReplica()
	if err != nil {
		return err
	}
	defer laid.Close()
	others, err := u.lay(laid, files, inAudit)
	if err != nil {
		return err
	}
	desk.Reach = laid.At(unsealedAt)
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
	if again, err := auditPage(ctx, a); err == nil {
		u.Replay.Steps = append(u.Replay.Steps, same(sealedHTML, others[sealedHTML], again))
	}
	if u.wacz {
		again, err := webOfAudit(ctx, a, others[sealedHTML], u.SealedAt)
		if err != nil {
			return err
		}
		u.Replay.Steps = append(u.Replay.Steps, again.compare(others)...)
	}
	result, err := a.Again(ctx)
	if err != nil {
		return err
	}
	u.Trust = result.Report().Summary
	u.Replay.Pass = u.Replay.differ() == 0
	u.Pass = verified.Pass && u.Replay.Pass
	return nil
}
