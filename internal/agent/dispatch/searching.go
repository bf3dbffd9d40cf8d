package dispatch

import (
	"cmp"
	"context"
	"os"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// searching guards how the environments of this process search.
var searching sync.Mutex

// Searching is how this process searches, as the configuration says: once made for all
// its calls, so that the pauses that services want, and budgets, hold over all of them. It
// returns the errors of [config.Load] and [fetch.ParseAllow]. Nothing is opened before a
// search.
func (e *Env) Searching(ctx context.Context) (*sourcing.Searching, error) {
	searching.Lock()
	defer searching.Unlock()
	if e.searching != nil {
		return e.searching, nil
	}
	settings, err := e.settings(ctx)
	if err != nil {
		return nil, err
	}
	made := &sourcing.Searching{Call: e.Call, Default: settings.Search.Named()}
	if len(made.Default) == 0 {
		made.Default = search.Free()
	}
	for _, s := range search.Services {
		of := settings.Search.Of(s.Name)
		made.Places = append(made.Places, sourcing.Place{Service: s, Address: of.URL, KeyEnv: cmp.Or(of.KeyEnv, s.KeyEnv), Key: e.Variable(cmp.Or(of.KeyEnv, s.KeyEnv))})
	}
	if made.Call == nil {
		allow, err := fetch.ParseAllow(settings.Fetch.Allow)
		if err != nil {
			return nil, err
		}
		made.Call = fetch.New(fetch.Options{Allow: allow, Proxy: settings.Fetch.Proxy, Getenv: e.Getenv, Now: e.Now}).Call
	}
	e.searching = made
	return made, nil
}

// Variable is the value of a variable of the environment of which agents get a part.
func (e *Env) Variable(name string) string {
	if e.Environ == nil {
		return os.Getenv(name)
	}
	return driver.Variable(e.Environ, name)
}

// Take has a team work at an order, and notes which services its researchers will ask. Where
// nobody says what the report is to be, a recorded report is what it was asked to be. It
// returns INVALID_ARGS for services that cannot be asked.
func (e *Env) Take(ctx context.Context, o *Order, t *Team) error {
	if !o.Shaped && t.shape != (evidence.Shape{}) {
		o.Shape = t.shape
	}
	o.Team = t
	if err := run.CheckSearch(o.Search); err != nil {
		return err
	}
	if o.hasWeb() && t.workers == nil && (!t.recorded() || o.Search != nil) {
		how, err := e.Searching(ctx)
		if err != nil {
			return err
		}
		t.search = how.Asked(o.Search)
	}
	return t.lacking(*o)
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
