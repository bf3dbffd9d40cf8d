package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
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
	allow, err := fetch.ParseAllow(settings.Fetch.Allow)
	if err != nil {
		return nil, err
	}
	made.Reaches = allow.Reaches
	if made.Call == nil {
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

// Pages fetches pages from the web for a caller, as the configuration allows. Nothing is opened
// before it is called, and a run that must not reach the web does not call it.
func (e *Env) Pages(call tool.Caller) sourcing.Fetch { return e.PagesAgain(call)(nil) }

// OwnPages fetches pages for agents, of whose progress nobody hears.
func (e *Env) OwnPages() sourcing.Fetch { return e.Pages(tool.Caller{}) }

// PagesAgain is Pages for pages of which something is known already.
func (e *Env) PagesAgain(call tool.Caller) library.Again {
	return func(known func(url string) []archive.Field) sourcing.Fetch {
		if e.Fetch != nil {
			return e.Fetch
		}
		return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
			settings, err := e.settings(ctx)
			if err != nil {
				return err
			}
			allow, err := fetch.ParseAllow(settings.Fetch.Allow)
			if err != nil {
				return err
			}
			client := fetch.New(fetch.Options{Allow: allow, Proxy: settings.Fetch.Proxy, Getenv: e.Getenv, Known: known, Now: e.Now})
			defer client.Close()
			refused := 0
			err = client.Each(ctx, urls, func(batch []*archive.Packed) error {
				for _, p := range batch {
					if p.Entry().Kind == archive.Refused {
						refused++
					}
				}
				return keep(batch)
			}, func(p fetch.Progress) {
				if call.Waiting != nil {
					call.Waiting(p.Slow, p.For)
				}
				if call.Progress != nil {
					call.Progress(p.Done, p.Total)
				}
			})
			if refused > 0 && settings.Project.Waits("allow") {
				slog.Warn("sources with private addresses were refused: what the project's file allows does not count before you trust it",
					"file", settings.Project.Path, "sources", refused, "type", "tidegate config trust")
			}
			return err
		}
	}
}

// settings are what the configuration says by now.
func (e *Env) settings(ctx context.Context) (config.Config, error) {
	return config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
}

// sharing finds out which pages the runs of the home share, as long as pages come from the
// web. Runs that may reach other private addresses, or by other ways, share nothing.
func (e *Env) sharing() run.Sharing {
	if e.Fetch != nil {
		return nil
	}
	return func(ctx context.Context) (*run.Shared, error) {
		settings, err := e.settings(ctx)
		if err != nil || !settings.Archive.Share {
			return nil, err
		}
		like, err := codec.MarshalLine(settings.Fetch)
		return &run.Shared{Runs: e.Home, Reach: artifact.Everywhere, Like: string(like), Fresh: settings.Archive.MaxAge()}, err
	}
}

// openPage gives an agent the text of a page, fetched in the same way and with the same
// checks as sources, or from the run that answers in the place of the web or before it. The page is
// not kept: a page that an agent read is not evidence.
func (e *Env) openPage(ctx context.Context, task driver.Task, url string) (string, error) {
	fetch := e.OwnPages()
	if task.Lease.Manifest != "" {
		fetch = sourcing.AtHand(e.OwnDesk(), task.Lease.Manifest, fetch)
	}
	var text string
	var failed error
	err := fetch(ctx, []string{url}, func(captures []*archive.Packed) error {
		for _, packed := range captures {
			text, failed = textOf(packed.Capture())
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, failed
}

func textOf(c archive.Capture) (string, error) {
	last := c.Last()
	switch {
	case c.Kind == archive.Absent:
		return "", fmt.Errorf("the page cannot be opened: %s", c.Detail)
	case c.Kind != archive.Responded:
		return "", fmt.Errorf("the page cannot be opened: %s", strings.ReplaceAll(string(c.Kind), "_", " "))
	case last.Status != 200:
		return "", fmt.Errorf("the page cannot be opened: its server answers with status %d", last.Status)
	}
	content := page.Read(last.Body, last.Get("Content-Type"))
	if strings.TrimSpace(content.Text) == "" {
		return "", fmt.Errorf("the page has no text that can be read")
	}
	if content.Title == "" {
		return content.Text, nil
	}
	return content.Title + "\n\n" + content.Text, nil
}
