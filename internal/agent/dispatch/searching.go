package dispatch

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/rule/search"
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
	settings, err := config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
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
	for _, entry := range slices.Backward(e.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
