package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/cell"
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

// clientCell is what one client needs in its cell beyond what every agent finds there.
// Each client was tried in its cell against a model server on loopback, in the version
// that its driver names. claude starts with a login that has no refresh token, codex
// wants the field to be there and empty; the logins of gemini and opencode, and every
// host, are not tried: that takes an account.
type clientCell struct {
	login login
	// folder is the variable that tells the client where its own folder is, and the
	// folder in a home that it takes without; "" where it goes by HOME or XDG_*.
	folder, usual string
	// plants are files of that folder by which the client would configure itself. An
	// agent that wrote one finds it gone at its next turn.
	plants []string
	// hosts are those of its model and login, and further ones that it needs where a
	// variable says that it works through another provider.
	hosts   []string
	further map[string][]string
	// ignoresProxies says that the client connects by itself, so that no door can
	// hold it.
	ignoresProxies bool
}

// login is where a client keeps what tells its provider whom it works for.
type login struct {
	file string // in the client's folder, JSON; "" where it has none
	// The fields, as paths in the file with dots; * stands for every name. What access
	// and refresh name are secrets. An expiry is in milliseconds, or the JWT that says it.
	access, refresh, expiry []string
	// blank says that the client wants the field of the refresh token to be there: it
	// is left empty. Otherwise it is left out.
	blank    bool
	keychain string // where the client keeps it instead, on macOS
}

// The hosts of providers at which everybody can rent a machine or a place for files: of
// them, those of models and logins alone.
var (
	bedrock = []string{"bedrock.*.amazonaws.com", "bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com", "sts.amazonaws.com", "sts.*.amazonaws.com", "oidc.*.amazonaws.com", "portal.sso.*.amazonaws.com"}
	vertex  = []string{"aiplatform.googleapis.com", "*-aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com"}
	foundry = []string{"*.services.ai.azure.com", "*.openai.azure.com", "*.cognitiveservices.azure.com", "login.microsoftonline.com"}
)

// cells are the cells of the clients, by the name of their driver.
var cells = map[string]clientCell{
	"claude": {
		login: login{
			file: ".credentials.json", access: []string{"claudeAiOauth.accessToken"}, refresh: []string{"claudeAiOauth.refreshToken"},
			expiry: []string{"claudeAiOauth.expiresAt"}, keychain: "Claude Code-credentials",
		},
		folder: "CLAUDE_CONFIG_DIR", usual: ".claude",
		plants: []string{"settings.json", "settings.local.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "hooks"},
		hosts:  []string{"api.anthropic.com", "claude.ai", "platform.claude.com"},
		further: map[string][]string{
			"CLAUDE_CODE_USE_BEDROCK": bedrock, "CLAUDE_CODE_USE_VERTEX": vertex, "CLAUDE_CODE_USE_FOUNDRY": foundry,
		},
	},
	"codex": {
		login: login{
			file: "auth.json", access: []string{"tokens.access_token", "tokens.id_token", "OPENAI_API_KEY"}, refresh: []string{"tokens.refresh_token"},
			expiry: []string{"tokens.access_token"}, blank: true, keychain: "Codex Auth",
		},
		folder: "CODEX_HOME", usual: ".codex",
		plants: []string{"config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "hooks.json", "skills"},
		hosts:  []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
	},
	"opencode": {
		login: login{
			file: "auth.json", access: []string{"*.access", "*.key"}, refresh: []string{"*.refresh"}, expiry: []string{"*.expires"}, blank: true,
		},
		usual: ".local/share/opencode",
		hosts: []string{
			"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "chatgpt.com", "auth.openai.com", "openrouter.ai", "generativelanguage.googleapis.com",
			"api.groq.com", "api.mistral.ai", "api.x.ai", "api.deepseek.com", "api.githubcopilot.com", "mcp.exa.ai",
		},
	},
	"gemini": {
		login: login{
			file: "oauth_creds.json", access: []string{"access_token", "id_token"}, refresh: []string{"refresh_token"}, expiry: []string{"expiry_date"}, keychain: "gemini-cli-oauth",
		},
		folder: "GEMINI_CLI_HOME", usual: ".gemini",
		plants: []string{"settings.json", "GEMINI.md", "extensions", "commands", "policies", "hooks"},
		hosts:  []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
		further: map[string][]string{
			"GOOGLE_GENAI_USE_VERTEXAI": vertex,
		},
	},
}

// modelHosts are the hosts of the models of every client.
var modelHosts = sync.OnceValue(func() []string {
	var list []string
	for _, c := range clients {
		list = append(list, cells[c.name].hosts...)
	}
	return list
})

// hostsFor are the hosts of a client with these variables.
func (p clientCell) hostsFor(env []string) []string {
	list := slices.Clone(p.hosts)
	for name, more := range p.further {
		if driver.Variable(env, name) != "" {
			list = append(list, more...)
		}
	}
	slices.Sort(list)
	return list
}

// CellOf is what the cell of a driver's agents holds, for people.
type CellOf struct {
	Driver   string   `json:"driver"`
	Network  string   `json:"network"`          // without tools for the web
	Hosts    []string `json:"hosts"`            // through the door
	Login    string   `json:"login"`            // the file of which it gets a copy; empty: none
	Tokens   []string `json:"tokens"`           // the fields that are secrets
	Expiry   []string `json:"expiry"`           // the fields that say when it ends
	Refresh  string   `json:"refresh"`          // what becomes of the refresh token
	Keychain string   `json:"keychain"`         // where the login is instead, on macOS
	Proxies  bool     `json:"proxies_honoured"` // else its network is open
}

// CellsOfClients are the cells of the agent clients that have a name of their own,
// and of any other program.
func CellsOfClients(system cell.System) []CellOf {
	var list []CellOf
	for _, c := range clients {
		p := cells[c.name]
		network := cell.Model
		if p.ignoresProxies {
			network = cell.Open
		}
		refresh := "left out"
		if p.login.blank {
			refresh = "left empty"
		}
		list = append(list, CellOf{
			Driver: c.name, Network: system.Held(network), Hosts: p.hosts, Login: "~/" + p.usual + "/" + p.login.file,
			Tokens: slices.Concat(p.login.access, p.login.refresh), Expiry: p.login.expiry, Refresh: refresh, Keychain: p.login.keychain, Proxies: !p.ignoresProxies,
		})
	}
	for _, name := range []string{"exec", "acp"} {
		list = append(list, CellOf{Driver: name, Network: system.Held(cell.None), Hosts: []string{}, Tokens: []string{}, Expiry: []string{}, Proxies: true})
	}
	return list
}
