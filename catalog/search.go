package catalog

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// searching guards how the environments of this process search.
var searching sync.Mutex

// Searching is how this process searches, as the configuration says: once made for all
// its calls, so that the pauses that services want, and budgets, hold over all of them. It
// returns the errors of [config.Load] and [fetch.ParseAllow]. Nothing is opened before a
// search.
func (e *Env) Searching(ctx context.Context) (*step.Searching, error) {
	searching.Lock()
	defer searching.Unlock()
	if e.searching != nil {
		return e.searching, nil
	}
	settings, err := config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
	if err != nil {
		return nil, err
	}
	made := &step.Searching{Call: e.Call, Default: settings.Search.Named()}
	if len(made.Default) == 0 {
		made.Default = search.Free()
	}
	for _, s := range search.Services {
		of := settings.Search.Of(s.Name)
		made.Places = append(made.Places, step.Place{Service: s, Address: of.URL, KeyEnv: cmp.Or(of.KeyEnv, s.KeyEnv), Key: e.Variable(cmp.Or(of.KeyEnv, s.KeyEnv))})
	}
	if made.Call == nil {
		allow, err := fetch.ParseAllow(settings.Fetch.Allow)
		if err != nil {
			return nil, err
		}
		made.Call = fetch.New(fetch.Options{Allow: allow, Proxy: settings.Fetch.Proxy, Now: e.Now}).Call
	}
	e.searching = made
	return made, nil
}

// Variable is the value of a variable of the environment of which agents get a part.
func (e *Env) Variable(name string) string {
	if e.Environ == nil {
		return os.Getenv(name)
	}
	for _, entry := range slices.Backward(e.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// maySearch returns INVALID_ARGS for an agent that names a service which the person has
// not: a question is sent to nobody whom the person did not name.
func (e *Env) maySearch(ctx context.Context, names []string) error {
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

func searchTools(env *Env) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: searchTool, Set: "job", Core: true, Shorthand: env.byRun("manifest_path"), Effect: tool.Writes, OpenWorld: true,
			Command: &tool.Command{
				Path:     "search",
				Operands: []tool.Operand{runOperand[0], {Name: "QUERY", Field: "query", About: "what to search for"}}, Hide: []string{"manifest_path", "token"}, Fill: env.fillRun,
			},
		}, func(ctx context.Context, call tool.Caller, in searchIn) (step.SearchResult, error) {
			if in.Token == "" && tidegate.ActorOf(ctx).Kind != tidegate.Person {
				return step.SearchResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token", nil), "token is required: search for a job that you hold, by the token of its lease")
			}
			how, err := env.Searching(ctx)
			if err != nil {
				return step.SearchResult{}, err
			}
			asked := step.SearchInput{ManifestPath: in.ManifestPath, Query: in.Query, Service: in.Service, Language: in.Language, MaxResults: in.MaxResults}
			if in.Token == "" {
				return step.Search(ctx, env.Desk(call.Reach), how, asked)
			}
			b, err := job.OpenBoard(ctx, env.Desk(call.Reach), in.ManifestPath)
			if err != nil {
				return step.SearchResult{}, err
			}
			defer b.Close()
			return b.Search(ctx, how, in.Token, func(forbidden []string) bool {
				return driver.Task{Tools: driver.Tools{Web: true, Forbidden: forbidden}}.MaySearch()
			}, asked)
		}),
	}
}
