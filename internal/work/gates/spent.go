package gates

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// SpentOf is what the attempts that have ended took of the run's budget, by the log
// and what they keep. The size of the folder is left to whoever gives out jobs: it says
// nothing about what was bought. Minutes are those in which a lease was alive or a rule
// at work, counted once however many were. It returns READ_FAILED and INVALID_JSON.
func SpentOf(r *run.Run) ([]synthesis.Spent, error) {
	policy, err := r.Policy()
	if err != nil {
		return nil, err
	}
	events, err := r.EventsOf(run.EventLeased, run.EventExtended, run.EventVerdict, run.EventEnded)
	if err != nil {
		return nil, err
	}
	type attempt struct {
		job    string
		number int64
	}
	var tokens, cost float64
	worked, err := r.RulesAtWork()
	if err != nil {
		return nil, err
	}
	leases := map[attempt]run.Span{}
	unspent := map[attempt][]run.Span{}
	for _, e := range events {
		number, _ := e.Entry.Get("attempt").Int()
		a := attempt{e.Entry.Get("job_id").Str(), number}
		lease, alive := leases[a]
		if e.Event == run.EventLeased || alive && e.Event == run.EventExtended {
			if e.Event == run.EventLeased {
				lease.From = e.Time
			}
			lease.To, _ = tidegate.ParseTime(e.Entry.Get("expires_at").Str())
			if times := e.Entry.Get("unspent"); times != nil {
				unspent[a] = append(unspent[a], run.ParseSpan(times.Get("from").Str(), times.Get("to").Str()))
			}
			leases[a] = lease
			continue
		}
		if !alive || e.Event == run.EventVerdict && !e.Entry.Get("accepted").Bool() && !e.Entry.Get("held").Bool() {
			continue
		}
		delete(leases, a)
		if e.Event == run.EventVerdict || lease.To.IsZero() || e.Time.Before(lease.To) {
			lease.To = e.Time
		} // else the lease had run out long before somebody noticed
		own := run.Times{}.With(lease)
		for _, span := range unspent[a] {
			own = own.Without(span)
		}
		for _, span := range own {
			worked = worked.With(span)
		}
		used, err := usageOf(r, a.job, int(number))
		if err != nil {
			return nil, err
		}
		in, _ := used.Get("input_tokens").Float()
		out, _ := used.Get("output_tokens").Float()
		usd, _ := used.Get("cost_usd").Float()
		tokens, cost = tokens+in+out, cost+usd
	}
	b := policy.Budget
	return []synthesis.Spent{{Name: "max_tokens", Used: tokens, Limit: b.MaxTokens}, {Name: "max_cost_usd", Used: cost, Limit: b.MaxCostUSD},
		{Name: "max_minutes", Used: worked.Total().Minutes(), Limit: b.MaxMinutes}}, nil
}

// usageOf is what an attempt was charged, nil where the run does not keep it.
func usageOf(r *run.Run, jobID string, number int) (*codec.Value, error) {
	name := run.AttemptDir(jobID, number) + "/attempt.json"
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	doc, err := codec.ParseFile("path", r.Path(name), data)
	return doc.Get("usage"), err
}
