package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
)

// retryCaps say how often each gate may be tried again.
var retryCaps = map[string]int64{"A": 0, "B": 2, "C": 1, "D": 1, "E": 3, "F": 0}

// RetryInput are the arguments of [RetryRecord].
type RetryInput struct {
	ManifestPath string
	GateID       string
	ChangeNote   string
	Reason       string
}

// RetryResult is the result of [RetryRecord]. RepeatedNote says that an earlier
// attempt at this gate had the same note: it is recorded, and it is for the
// caller to see that nothing new is being tried.
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
// at a gate. When the retries of the gate are used up it returns
// RETRY_EXHAUSTED and leaves the run to a person: failed, once, with the reason.
//
// It also returns INVALID_ARGS, INVALID_STATE (the run is not created or
// running), NOT_FOUND, INVALID_JSON, SCHEMA_VALIDATION_FAILED, LOCK_HELD and
// WRITE_FAILED.
func RetryRecord(ctx context.Context, clock run.Clock, in RetryInput) (RetryResult, error) {
	limit, known := retryCaps[in.GateID]
	if !known {
		return RetryResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("gate_id", tidegate.Cut(in.GateID)),
			"gate_id must be one of %s", strings.Join(run.GateIDs, ", "))
	}
	if err := run.CheckText("change_note", in.ChangeNote); err != nil {
		return RetryResult{}, err
	}
	if err := run.CheckText("reason", in.Reason); err != nil {
		return RetryResult{}, err
	}
	r, err := run.Open(ctx, in.ManifestPath)
	if err != nil {
		return RetryResult{}, err
	}
	defer r.Close()
	out := RetryResult{GateID: in.GateID}
	var exhausted error
	audit, err := r.Update(ctx, clock, func(u *run.Update) error {
		m, err := u.Manifest()
		if err != nil {
			return err
		}
		if err := run.ManifestShape.Check(m.Doc()); err != nil {
			return err
		}
		used, _ := m.Doc().Get("metrics").Get("retry_counts").Get(in.GateID).Int()
		used = max(used, 0)
		out.MaxRetries = allowance(m, tidegate.RetryExhausted, in.GateID, limit)
		reason := fmt.Sprintf("retry_record(%s#%d): %s", in.GateID, used+1, strings.TrimSpace(in.Reason))
		if final := m.Status(); !slices.Contains(advancing, final) && (final != run.Failed || used < out.MaxRetries) {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.D("status", final), "the run is %s; only a created or running run is tried again", final)
		}
		if used >= out.MaxRetries {
			exhausted = tidegate.Errorf(tidegate.RetryExhausted,
				tidegate.D("gate_id", in.GateID, "retry_count", used, "max_retries", out.MaxRetries),
				"gate %s has used all its %d retries; a person decides", in.GateID, out.MaxRetries)
			_, err := leaveToPerson(u, m, reason, tidegate.RetryExhausted, in.GateID, used,
				fmt.Sprintf("gate %s has used all its %d retries", in.GateID, out.MaxRetries))
			return err
		}
		out.RetryCount, out.Attempt = used+1, used+1
		out.RepeatedNote = repeatedNote(m, in)
		_, err = u.EditManifest(run.Edit{Patch: retryPatch(m, in, u.Now(), used+1), Reason: reason})
		return err
	})
	if err == nil {
		err = exhausted
	}
	if err != nil {
		return RetryResult{}, err
	}
	if out.AuditWritten = audit.Written; audit.Written {
		out.AuditPath = &audit.Path
	}
	return out, nil
}

// retryPatch names only the two fields that change, so that it cannot undo what
// others wrote beside them.
func retryPatch(m run.Manifest, in RetryInput, now string, attempt int64) *codec.Value {
	history := m.Doc().Get("metrics").Get("retry_history").Clone()
	if history.Kind() != codec.Array {
		history = codec.Of([]string{})
	}
	history.Append(codec.Of(tidegate.D("ts", now, "gate_id", in.GateID, "attempt", attempt,
		"change_note", run.Note(in.ChangeNote), "reason", run.Note(in.Reason))))
	return codec.Of(tidegate.D("metrics", tidegate.D(
		"retry_counts", tidegate.D(in.GateID, attempt), "retry_history", history)))
}

func repeatedNote(m run.Manifest, in RetryInput) bool {
	same := func(s string) string { return strings.Join(strings.Fields(run.Note(s)), " ") }
	for _, h := range m.Doc().Get("metrics").Get("retry_history").Elems() {
		if h.Get("gate_id").Str() == in.GateID && same(h.Get("change_note").Str()) == same(in.ChangeNote) {
			return true
		}
	}
	return false
}
