package stage

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// kindNeedsPerson is the kind of a failure that only a person can end.
const kindNeedsPerson = "needs_person"

// LeaveToPerson stages that the run needs a person: it is failed, with the reason
// and what a person must know to decide. A run that has failed already stays as
// it is.
func LeaveToPerson(u *run.Update, failure run.Failure, reason string) error {
	status, ok := next(u.Manifest().Status(), ByCap)
	if !ok {
		return nil
	}
	failure.Kind, failure.Stage = kindNeedsPerson, u.Manifest().Stage()
	return u.Fail(status, failure, reason)
}

// allowance is how far a counter may go: its cap or, once a person accepted that
// it was used up, the same amount again from where it was then, and at least one more.
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
