package job

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Search searches the web for the holder of a lease, within what its contract allows. May
// says whether the tools that a contract forbids leave a search. It returns the errors of [step.Search], INVALID_ARGS, JOB_NOT_FOUND and LEASE_LOST for the
// token, and INVALID_STATE for a job whose agents have no search.
func (b *Board) Search(ctx context.Context, how *step.Searching, token string, may func(forbidden []string) bool, in step.SearchInput) (step.SearchResult, error) {
	id, number, err := ofToken(token)
	if err != nil {
		return step.SearchResult{}, err
	}
	if _, err := b.Job(id); err != nil {
		return step.SearchResult{}, err
	}
	err = b.update(ctx, id, func(u update) error {
		_, _, err := b.held(u, token)
		return err
	})
	if err != nil {
		return step.SearchResult{}, err
	}
	if err = b.searchTerms(id, may, &in); err != nil {
		return step.SearchResult{}, err
	}
	in.JobID, in.Attempt = id, number
	return step.Search(ctx, b.desk, how, in)
}

// searchTerms fills in what the contract of a job says of its searches: how many there may
// be, and what the planner expects of them. A service that the run has not is ignored.
func (b *Board) searchTerms(id string, may func(forbidden []string) bool, in *step.SearchInput) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j == nil || j.perspective == "" || !b.work.web(j.kind) {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "whoever does %s has no search", id)
	}
	p, v, err := b.perspective(run.Stage(j.kind.name), j.perspective)
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
