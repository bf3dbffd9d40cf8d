package stage

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
)

// kindNeedsPerson is the kind of a failure that only a person can end.
const kindNeedsPerson = "needs_person"

// leaveToPerson stages that a cap is used up: the run is failed, once, and the
// reason is recorded. Count is how far the counter stood, so that what a person
// grants is counted from there.
func leaveToPerson(u *run.Update, m run.Manifest, reason string, code tidegate.Code, gate string, count int64, message string) (run.Manifest, error) {
	status, ok := next(m.Status(), ByCap)
	if !ok {
		return m, nil
	}
	failure := tidegate.D("kind", kindNeedsPerson, "stage", m.Stage(), "message", message, "retryable", false, "ts", u.Now(), "code", code)
	if gate != "" {
		failure = append(failure, tidegate.Detail{Key: "gate_id", Value: gate})
	}
	return fail(u, m, status, append(failure, tidegate.Detail{Key: "count", Value: count}), reason)
}

// fail stages a failure and the status that it leads to.
func fail(u *run.Update, m run.Manifest, status run.Status, failure tidegate.Details, reason string) (run.Manifest, error) {
	failures := m.Doc().Get("failures").Clone()
	failures.Append(codec.Of(failure))
	return u.EditManifest(run.Edit{Patch: codec.Of(tidegate.D("status", status, "failures", failures)), Reason: reason})
}

// allowance is how far a counter may go: its cap or, once a person accepted that
// it was used up, as much again from where it stood then, and at least one.
func allowance(m run.Manifest, code tidegate.Code, gate string, limit int64) int64 {
	total := limit
	for _, f := range m.Failures() {
		if f.Get("code").Str() == string(code) && f.Get("gate_id").Str() == gate && f.Get("accepted_at") != nil {
			count, _ := f.Get("count").Int()
			total = max(total, count+max(limit, 1))
		}
	}
	return total
}

// accept marks every failure that nobody accepted yet.
func accept(m run.Manifest, now, reason string) *codec.Value {
	failures := m.Doc().Get("failures").Clone()
	for _, f := range failures.Elems() {
		if f.Kind() == codec.Object && f.Get("accepted_at") == nil {
			f.Set("accepted_at", codec.Of(now))
			f.Set("accepted_reason", codec.Of(reason))
		}
	}
	return failures
}
