package dispatch

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Take has a team work at an order, and notes which services its researchers will ask. Where
// nobody says what the report is to be, a recorded report is what it was asked to be. It
// returns INVALID_ARGS for services that cannot be asked.
func (e *Env) Take(ctx context.Context, o *Order, t *Team) error {
	if !o.Shaped && t.shape != (evidence.Shape{}) {
		o.Shape = t.shape
	}
	o.Team = t
	return t.mayAsk(ctx, e, *o)
}

// mayAsk notes which services researchers will ask. It returns the errors of lacking.
func (t *Team) mayAsk(ctx context.Context, e *Env, o Order) error {
	if err := run.CheckSearch(o.Search); err != nil {
		return err
	}
	if !o.hasWeb() || t.workers != nil || t.recorded() && o.Search == nil {
		return t.lacking(o)
	}
	how, err := e.Searching(ctx)
	if err != nil {
		return err
	}
	t.search = how.Asked(o.Search)
	return t.lacking(o)
}

// lacking returns INVALID_ARGS for a service that the person named and that cannot be
// asked, and for agents of whose searches nobody hears, where the person asks for them.
func (t *Team) lacking(o Order) error {
	if name := Scheme(t.Agents["researcher"].Driver); o.Origins == run.OriginsRequired && (name == "exec" || name == "acp" && len(t.search) == 0 && o.Frozen.IsZero()) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("origins", o.Origins, "agent", t.Agents["researcher"].Driver),
			"--origins required: nobody sees what %s agents search, so no source of theirs has an origin; name another agent, or leave it out", name)
	}
	for _, p := range t.search {
		if lacks := p.Lacks(); lacks != "" && o.Search != nil {
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("search", p.Name), orTrust(t.project, "url", "key_env")...), "--search %s: %s", p.Name, lacks)
		}
	}
	return nil
}

// searchNames are the services that researchers may ask.
func (t *Team) searchNames() []string {
	names := []string{}
	for _, p := range t.search {
		names = append(names, p.Name)
	}
	return names
}
