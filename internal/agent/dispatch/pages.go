package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
)

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
