package audit

import (
	"context"
	"io/fs"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Parts are what a second reader is asked about the report of an audit.
type Parts struct {
	*reading.Questions
	ID        string // of the audit
	Path      string // of its folder
	CreatedAt string

	audit *Audit
	taken map[int]bool // parts whose readings are taken in
}

func (a *Audit) parts(result *foreign.Result) *Parts {
	return &Parts{Questions: result.Questions(), ID: a.AuditID, Path: a.folder.Path(), CreatedAt: a.CreatedAt, audit: a, taken: map[int]bool{}}
}

// Advance takes in what was read. Once every part was, it adds those that are looked at
// again, with other passages; more says that there are such. It returns READ_FAILED and
// INVALID_STATE.
func (p *Parts) Advance() (more bool, err error) {
	for _, part := range p.Claims.Parts {
		if p.taken[part.Number] {
			continue
		}
		read, err := step.ReadingOf(p.audit.folder, step.VerifyJob(1, part.Number))
		if err != nil {
			return false, err
		}
		if read == nil {
			return false, nil
		}
		p.taken[part.Number] = true
		reading.Record(p.Claims, read.Judged, evidence.Verdict{Look: read.Look, Job: read.JobID, Attempt: read.Attempt, Round: 1})
	}
	return p.LookAgain(), nil
}

// have has a second reader read the report, and records what it handed in.
func (a *Audit) have(ctx context.Context, desk run.Desk, read func(ctx context.Context, parts *Parts) (why string, err error), result *foreign.Result) error {
	parts := a.parts(result)
	if len(parts.Claims.Parts) > 0 {
		var err error
		if a.why, err = read(ctx, parts); err != nil {
			return err
		}
	}
	files := tidegate.Details{}
	err := fs.WalkDir(a.folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasPrefix(name, run.JobsDir+"/") || strings.Count(name, "/") < 3 {
			return err // beside the attempts lie leases
		}
		digest, err := a.folder.Digest(name)
		files = append(files, tidegate.Detail{Key: name, Value: digest})
		a.log.Files[name] = digest
		return err
	})
	if err != nil {
		return err
	}
	if err := a.record(ctx, desk, func(tx *artifact.Tx) error {
		return tx.Record(logFile, line(desk, eventRead, tidegate.Pairs("verifier", a.Options.Verifier, "why", a.why, "files", files)))
	}); err != nil {
		return err
	}
	return a.hear(parts, result)
}

// hear takes what the second reader said into a result. It returns TAMPERED for readings
// that the log does not record.
func (a *Audit) hear(parts *Parts, result *foreign.Result) error {
	for more := true; more; {
		var err error
		if more, err = parts.Advance(); err != nil {
			return err
		}
	}
	for _, c := range parts.Claims.Sentences {
		if c.Verdict == nil {
			continue
		}
		name := step.ReadingFile(c.Verdict.Job, c.Verdict.Attempt)
		if digest, err := a.folder.Digest(name); err != nil || digest != a.log.Files[name] {
			return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("audit", a.Path()), "%s is not what the log of audit %s records", name, a.AuditID)
		}
	}
	result.Hear(a.Options, a.why)
	return nil
}
