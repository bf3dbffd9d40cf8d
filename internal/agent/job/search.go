package job

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Search searches the web for the holder of a lease, within what its contract allows. May
// says whether the tools that a contract forbids leave a search. It returns the errors of [sourcing.Search], INVALID_ARGS, JOB_NOT_FOUND and LEASE_LOST for the
// token, and INVALID_STATE for a job whose agents have no search.
func (b *Board) Search(ctx context.Context, how *sourcing.Searching, token string, may func(forbidden []string) bool, in sourcing.SearchInput) (sourcing.SearchResult, error) {
	id, number, err := ofToken(token)
	if err != nil {
		return sourcing.SearchResult{}, err
	}
	if _, err := b.Job(id); err != nil {
		return sourcing.SearchResult{}, err
	}
	err = b.update(ctx, id, toBeOpen, func(u update) error {
		_, _, err := b.leaseByToken(u, token)
		return err
	})
	if err != nil {
		return sourcing.SearchResult{}, err
	}
	if err = b.searchTerms(id, may, &in); err != nil {
		return sourcing.SearchResult{}, err
	}
	in.JobID, in.Attempt = id, number
	return sourcing.Search(ctx, b.desk, how, in)
}

// searchTerms fills in what the contract of a job says of its searches: how many there may
// be, and what the planner expects of them. A service that the run has not is ignored.
func (b *Board) searchTerms(id string, may func(forbidden []string) bool, in *sourcing.SearchInput) error {
	j, err := b.Job(id)
	if err != nil || !j.kind.web {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the job %s allows no search", id)
	}
	p, v, err := b.present().run.contract(j.wave, j.perspective)
	if err != nil {
		return err
	}
	if !may(lines(v.Get("tool_policy").Get("forbidden"))) {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the contract of %s forbids searching", id)
	}
	for _, limit := range p.ToolBudget {
		if limit.Tool == "search_calls" {
			calls := most(limit.Calls)
			in.Calls = &calls
		}
	}
	in.Prefer, in.Domains, _ = step.Platforms(v.Get("expected_platforms").Strs(), nil)
	return nil
}
