package research

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// mayAsk notes which services researchers will ask. It returns the errors of lacking.
func (c *crew) mayAsk(ctx context.Context, e *Env, o order) error {
	if err := run.CheckSearch(o.search); err != nil {
		return err
	}
	if !o.hasWeb() || c.far != nil || c.recorded() && o.search == nil {
		return c.lacking(o)
	}
	how, err := e.Searching(ctx)
	if err != nil {
		return err
	}
	c.search = how.Asked(o.search)
	return c.lacking(o)
}

// lacking returns INVALID_ARGS for a service that the person named and that cannot be
// asked, and for agents of whose searches nobody hears, where the person asks for them.
func (c *crew) lacking(o order) error {
	if name := Scheme(c.agents["researcher"].Driver); o.origins == run.OriginsRequired && (name == "exec" || name == "acp" && len(c.search) == 0 && o.frozen.IsZero()) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("origins", o.origins, "agent", c.agents["researcher"].Driver),
			"--origins required: nobody sees what %s agents search, so no source of theirs has an origin; name another agent, or leave it out", name)
	}
	for _, p := range c.search {
		if lacks := p.Lacks(); lacks != "" && o.search != nil {
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("search", p.Name), orTrust(c.project, "url", "key_env")...), "--search %s: %s", p.Name, lacks)
		}
	}
	return nil
}

// searchNames are the services that researchers may ask.
func (c *crew) searchNames() []string {
	names := []string{}
	for _, p := range c.search {
		names = append(names, p.Name)
	}
	return names
}

// searchFor searches for a model, as the tool that agents are lent does, and returns what
// was found as text.
func (e *Env) searchFor(ctx context.Context, task driver.Task, q driver.Query) (string, error) {
	lent := catalog.Lent{Manifest: task.Lease.Manifest, Token: task.Lease.Token, Search: task.MaySearch()}.Of(catalog.Tools(e.Env))
	if len(lent) == 0 {
		return "", tidegate.Errorf(tidegate.InvalidState, nil, "there is no search for this task")
	}
	args := codec.NewObject()
	for name, value := range map[string]string{"query": q.Text, "service": q.Service, "language": q.Language} {
		if value != "" {
			args.Set(name, codec.Of(value))
		}
	}
	text, err := codec.MarshalLine(args)
	if err != nil {
		return "", err
	}
	made := lent[0].Call(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), text, tool.Caller{})
	if made.Err != nil {
		return "", made.Err
	}
	found, _ := made.Value().(step.SearchResult)
	return shownToModel(found), nil
}

// shownToModel is what a model reads of a search.
func shownToModel(found step.SearchResult) string {
	var b strings.Builder
	for _, r := range found.Results {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", r.Rank, r.Title, r.URL)
		for _, more := range []string{r.Date, r.Snippet} {
			if more != "" {
				b.WriteString("   " + more + "\n")
			}
		}
	}
	if len(found.Results) == 0 {
		b.WriteString("nothing was found\n")
	}
	return b.String() + "By " + found.Service + ". Services that can be asked: " + strings.Join(found.Services, ", ") + "\n"
}
