package audit

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// Parts are what a second reader is asked about the report of an audit.
type Parts struct {
	sentences.Readings
	ID        string // of the audit
	CreatedAt string
}

func (a *Audit) parts(result *foreign.Result) *Parts {
	return &Parts{sentences.Readings{Questions: result.Questions(), Folder: a.folder, Round: 1}, a.AuditID, a.CreatedAt}
}

// have has a second reader read the report, and records what it handed in.
func (a *Audit) have(ctx context.Context, desk run.Desk, read Reader, result *foreign.Result) error {
	parts := a.parts(result)
	if len(parts.Claims.Sentences) > 0 {
		var err error
		if a.why, err = read(ctx, parts); err != nil {
			return err
		}
	}
	files, err := sentences.AttemptFiles(a.folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		a.log.Files[f.Key] = f.Value.(string)
	}
	if err := a.record(ctx, desk, func(tx *artifact.Tx) error {
		return tx.Record(logFile, desk.Writer().Line(eventRead, tidegate.Pairs("verifier", a.Options.Verifier, "why", a.why, "files", files)))
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
		name := sentences.ReadingFile(c.Verdict.Job, c.Verdict.Attempt)
		if digest, err := a.folder.Digest(name); err != nil || digest != a.log.Files[name] {
			return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("audit", a.Path()), "%s is not what the log of audit %s records", name, a.AuditID)
		}
	}
	result.Hear(a.Options, a.why)
	return nil
}
