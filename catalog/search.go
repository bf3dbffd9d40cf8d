package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
)

// maySearch returns INVALID_ARGS for an agent that names a service which the person has
// not: a question is sent to nobody whom the person did not name.
func (e tools) maySearch(ctx context.Context, names []string) error {
	if len(names) == 0 || tidegate.ActorOf(ctx).Kind == tidegate.Person {
		return nil
	}
	how, err := e.Searching(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(how.Default, name) {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("search", tidegate.Cut(name)), "a person must name %q; an agent chooses among %s", tidegate.Cut(name), strings.Join(how.Default, ", "))
		}
	}
	return nil
}

type searchIn struct {
	manifestIn
	Query      string `json:"query" jsonschema:"what to search for"`
	Service    string `json:"service,omitzero" jsonschema:"the service to ask first; the run's first when absent. A result names those that can be asked"`
	Language   string `json:"language,omitzero" jsonschema:"of the pages wanted, such as de"`
	MaxResults int    `json:"max_results,omitzero" jsonschema:"most results" min:"1" max:"20" default:"10"`
	Token      string `json:"token,omitzero" jsonschema:"of the lease whose tool budget the search counts against; an agent must name one"`
}

func searchTools(env tools) []*tool.Tool {
	search := env.onRun("search", tool.Operand{Name: "QUERY", Field: "query", About: "what to search for"})
	search.Hide = append(search.Hide, "token")
	return []*tool.Tool{
		declare(tool.Spec{
			Name: searchTool, Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: search,
		}, func(ctx context.Context, call tool.Caller, in searchIn) (sourcing.SearchResult, error) {
			if in.Token == "" && tidegate.ActorOf(ctx).Kind != tidegate.Person {
				return sourcing.SearchResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token", nil), "token is required: search for a job that you hold, by the token of its lease")
			}
			how, err := env.Searching(ctx)
			if err != nil {
				return sourcing.SearchResult{}, err
			}
			asked := sourcing.SearchInput{ManifestPath: in.ManifestPath, Query: in.Query, Service: in.Service, Language: in.Language, MaxResults: in.MaxResults}
			if in.Token == "" {
				return sourcing.Search(ctx, env.Desk(call.Reach), how, asked)
			}
			b, err := job.OpenBoard(ctx, env.Desk(call.Reach), in.ManifestPath)
			if err != nil {
				return sourcing.SearchResult{}, err
			}
			defer b.Close()
			return b.Search(ctx, how, in.Token, func(forbidden []string) bool {
				return driver.Task{Tools: driver.Tools{Web: true, Forbidden: forbidden}}.MaySearch()
			}, asked)
		}),
	}
}
