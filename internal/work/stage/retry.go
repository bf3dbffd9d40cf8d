package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// RetryInput are the arguments of [RetryRecord].
type RetryInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	GateID       string `json:"gate_id" jsonschema:"the gate that is tried again" enum:"A,B,C,D,E,F"`
	ChangeNote   string `json:"change_note" jsonschema:"what is done differently this time"`
	Reason       string `json:"reason" jsonschema:"why, for the audit log"`
}

// RetryResult is the result of [RetryRecord]. RepeatedNote says that an earlier
// attempt at this gate had the same note. The attempt is recorded anyway; the caller
// sees that it tries nothing different.
type RetryResult struct {
	OK           codec.True `json:"ok"`
	GateID       string     `json:"gate_id"`
	RetryCount   int64      `json:"retry_count"`
	MaxRetries   int64      `json:"max_retries"`
	Attempt      int64      `json:"attempt"`
	AuditWritten bool       `json:"audit_written"`
	AuditPath    *string    `json:"audit_path"`
	RepeatedNote bool       `json:"repeated_note"`
}

// RetryRecord is the tool deep_research_retry_record: it counts one more attempt
// at a gate. When the retries of the gate are used up it returns RETRY_EXHAUSTED
// and logs the request; the run stays as it is.
//
// It also returns INVALID_ARGS, INVALID_STATE (the run is not created or
// running), NOT_FOUND, INVALID_JSON, SCHEMA_VALIDATION_FAILED, LOCK_HELD and
// WRITE_FAILED.
func RetryRecord(ctx context.Context, desk run.Desk, in RetryInput) (RetryResult, error) {
	row, known := run.FindGate(in.GateID)
	if !known {
		return RetryResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("gate_id", tidegate.Cut(in.GateID)),
			"gate_id must be one of %s", strings.Join(run.GateIDs(), ", "))
	}
	if err := run.CheckText("change_note", in.ChangeNote); err != nil {
		return RetryResult{}, err
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return RetryResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *RetryResult) error {
		*out = RetryResult{GateID: in.GateID}
		var exhausted error
		audit, err := r.Update(ctx, func(u *run.Update) error {
			m := u.Manifest()
			if err := run.ManifestShape.Check(m.Doc()); err != nil {
				return err
			}
			used, _ := m.Doc().Get("metrics").Get("retry_counts").Get(in.GateID).Int()
			used = max(used, 0)
			out.MaxRetries = allowance(m, tidegate.RetryExhausted, in.GateID, row.Retries)
			reason := fmt.Sprintf("retry_record(%s#%d): %s", in.GateID, used+1, strings.TrimSpace(in.Reason))
			if final := m.Status(); !slices.Contains(advancing, final) && (final != run.Failed || used < out.MaxRetries) {
				return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("status", final), "the run is %s; only a created or running run is tried again", final)
			}
			if used >= out.MaxRetries {
				exhausted = tidegate.Errorf(tidegate.RetryExhausted,
					tidegate.Pairs("gate_id", in.GateID, "retry_count", used, "max_retries", out.MaxRetries),
					"gate %s has used all its %d retries; a person decides", in.GateID, out.MaxRetries)
				message := fmt.Sprintf("gate %s has used all its %d retries", in.GateID, out.MaxRetries)
				u.Log(run.EventRefused, "retry_record", tidegate.Pairs("reason", run.Note(in.Reason), "gate", in.GateID, "message", message))
				return nil
			}
			out.RetryCount, out.Attempt = used+1, used+1
			out.RepeatedNote = repeatedNote(m, in)
			return u.Retry(in.GateID, used+1, in.ChangeNote, in.Reason, reason)
		})
		if err == nil {
			err = exhausted
		}
		if err != nil {
			return err
		}
		if out.AuditWritten = audit.Written; audit.Written {
			out.AuditPath = &audit.Path
		}
		return nil
	})
}

func repeatedNote(m run.Manifest, in RetryInput) bool {
	same := func(s string) string { return markdown.OneLine(run.Note(s)) }
	for _, h := range m.Doc().Get("metrics").Get("retry_history").Elems() {
		if h.Get("gate_id").Str() == in.GateID && same(h.Get("change_note").Str()) == same(in.ChangeNote) {
			return true
		}
	}
	return false
}
