package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// A client in a cell gets a copy of its login, without what renews it, and nothing
// that it writes comes back: a login that it changed, or settings that it planted,
// would be the person's from then on.

// fields calls do for every field of a JSON document that a path with dots names,
// with the object that holds it. A part of a path that is * stands for every name.
func fields(document map[string]any, path string, do func(in map[string]any, name string)) {
	first, rest, more := strings.Cut(path, ".")
	for name := range document {
		if first != "*" && first != name {
			continue
		}
		if !more {
			do(document, name)
		} else if inner, ok := document[name].(map[string]any); ok {
			fields(inner, rest, do)
		}
	}
}

// personFolder is the folder that a client has in the person's home; "" where it cannot be
// known.
func (p clientCell) personFolder(environ []string) string {
	home := driver.Variable(environ, "HOME")
	switch {
	case p.folder == "GEMINI_CLI_HOME" && driver.Variable(environ, p.folder) != "":
		return filepath.Join(driver.Variable(environ, p.folder), p.usual)
	case p.folder != "" && driver.Variable(environ, p.folder) != "":
		return driver.Variable(environ, p.folder)
	case strings.HasPrefix(p.usual, ".local/share/") && driver.Variable(environ, "XDG_DATA_HOME") != "":
		return filepath.Join(driver.Variable(environ, "XDG_DATA_HOME"), strings.TrimPrefix(p.usual, ".local/share/"))
	case home == "":
		return ""
	}
	return filepath.Join(home, p.usual)
}

// read is the login of the person; nil where there is none, or none that can be read.
func (p clientCell) read(environ []string) map[string]any {
	folder := p.personFolder(environ)
	if folder == "" || p.login.file == "" {
		return nil
	}
	opened, err := artifact.Everywhere.Open("login", folder)
	if err != nil {
		return nil
	}
	defer opened.Close()
	data, err := opened.Read(p.login.file)
	if err != nil {
		return nil
	}
	var document map[string]any
	if json.Unmarshal(data, &document) != nil {
		return nil
	}
	return document
}

// ends is when a login ends, the earliest of its tokens; zero where it does not say.
func (p clientCell) ends(document map[string]any) time.Time {
	var earliest time.Time
	for _, path := range p.login.expiry {
		fields(document, path, func(in map[string]any, name string) {
			at := time.Time{}
			switch value := in[name].(type) {
			case float64:
				at = time.UnixMilli(int64(value))
			case string:
				at = expiryOf(value)
			}
			if !at.IsZero() && (earliest.IsZero() || at.Before(earliest)) {
				earliest = at
			}
		})
	}
	return earliest
}

// expiryOf is when a JWT ends; zero where the text is none. It is not verified: only
// the provider has to believe it.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(data, &claims) != nil || claims.Exp == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}

// lendLogin puts a copy of the person's login into the attempt's home, without what
// renews it, removes what an agent may have planted beside it, and returns the
// secrets that the agent now has.
func (p clientCell) lendLogin(f *sandbox.Folder, environ []string) (secrets []string, err error) {
	at := filepath.Join("home", p.usual)
	for _, name := range p.plants {
		if err := f.Root.RemoveAll(filepath.Join(at, name)); err != nil {
			return nil, err
		}
	}
	if err := f.Root.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	document := p.read(environ)
	if document == nil {
		return nil, nil
	}
	for _, path := range p.login.refresh {
		fields(document, path, func(in map[string]any, name string) {
			if secret, ok := in[name].(string); ok {
				secrets = append(secrets, secret)
			}
			if delete(in, name); p.login.blank {
				in[name] = ""
			}
		})
	}
	for _, path := range p.login.access {
		fields(document, path, func(in map[string]any, name string) {
			if secret, ok := in[name].(string); ok {
				secrets = append(secrets, secret)
			}
		})
	}
	return secrets, f.Write(filepath.Join(at, p.login.file), driver.Marshal(document))
}

// renewing keeps clients from renewing one login at the same time.
var renewing sync.Mutex

// renewPrompt makes a client ask its provider for something, which renews its login.
const renewPrompt = "Answer with the one word: ready"

// renew has the client renew the person's login where it ends before an attempt does:
// by itself, in the person's own folder, with a prompt of ours and no tools. What
// comes of it shows with the attempt.
func (d *headless) renew(ctx context.Context, limit time.Duration) {
	p := cells[d.name]
	renewing.Lock()
	defer renewing.Unlock()
	if document := p.read(d.machine.Environ); document == nil || !p.renewable(document) {
		return
	} else if ends := p.ends(document); ends.IsZero() || ends.After(d.machine.Now().Add(limit)) {
		return
	}
	machine := d.machine
	machine.Unconfined = true
	free := &headless{client: d.client, settings: d.settings, machine: machine}
	free.run(ctx, driver.Task{Turn: 2, Prompt: renewPrompt, Limits: driver.Limits{Deadline: sandbox.ProbeLimit}}, "", "", func(driver.Event) {})
}

// renewable reports whether a login has what renews it.
func (p clientCell) renewable(document map[string]any) bool {
	there := false
	for _, path := range p.login.refresh {
		fields(document, path, func(in map[string]any, name string) {
			if token, ok := in[name].(string); ok && token != "" {
				there = true
			}
		})
	}
	return there
}
