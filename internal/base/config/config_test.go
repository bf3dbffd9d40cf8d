package config_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/test/must"
)

const everything = `
home = "/var/runs"
roots = ["docs", "../elsewhere", "/srv/texts"]
signers = "allowed_signers"
changes = "tools/reviews"

[formats]
report = "html"

[agents.default]
driver = "claude"
model = "opus-5"
parallel = 4
idle_minutes = 7.5
price = { input = 3, output = 15.5 }

[agents.writer]
driver = "model:http://localhost:11434/v1"
model = "llama"
key_env = "LLAMA_KEY"
env = ["LLAMA_*", "REGION"]

[agents.reviewer]
driver = "codex"

[agents.researcher]
model = "sonnet:5"

[fetch]
allow = ["wiki.internal", "10.0.0.0/8"]
proxy = true

[archive]
share = true
fresh = "12h"

[search]
service = "searxng"
url = "https://search.example/"
key_env = "SEARCH_KEY"

[search.brave]
key_env = "BRAVE_KEY"

[review]
test = "go test ./..."
`

// place is a working folder below a project, and a user's folder.
func place(t *testing.T, project, user string) config.Places {
	t.Helper()
	dir := t.TempDir()
	p := config.Places{Dir: filepath.Join(dir, "project", "a", "b"), User: filepath.Join(dir, "user")}
	for _, folder := range []string{p.Dir, p.User, filepath.Join(dir, "project", "docs"), filepath.Join(dir, "elsewhere")} {
		must.Do(t, os.MkdirAll(folder, 0o700))
	}
	for path, text := range map[string]string{filepath.Join(dir, "project"): project, p.User: user} {
		if text != "" {
			must.Do(t, os.WriteFile(filepath.Join(path, config.FileName), []byte(text), 0o600))
		}
	}
	return p
}

func load(t *testing.T, p config.Places) config.Config {
	t.Helper()
	c := must.Get(config.Load(context.Background(), p))(t)
	return c
}

func TestNoFiles(t *testing.T) {
	c := load(t, place(t, "", ""))
	if c.Project != nil || c.User != nil || c.Home != "" || len(c.Roots)+len(c.Agents)+len(c.Formats) != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestTheUsersFileCountsAsAWhole(t *testing.T) {
	p := place(t, "", everything)
	c := load(t, p)
	want := config.Settings{
		Home: "/var/runs", Roots: []string{filepath.Join(p.User, "docs"), filepath.Join(filepath.Dir(p.User), "elsewhere"), "/srv/texts"}, Signers: filepath.Join(p.User, "allowed_signers"), Changes: "tools/reviews",
		Formats: map[string]string{"report": "html"},
		Agents: map[string]config.Agent{
			"default":    {Driver: "claude", Model: "opus-5", Parallel: 4, IdleMinutes: 7.5, Price: &config.Price{Input: 3, Output: 15.5}},
			"writer":     {Driver: "model:http://localhost:11434/v1", Model: "llama", KeyEnv: "LLAMA_KEY", Env: []string{"LLAMA_*", "REGION"}},
			"reviewer":   {Driver: "codex"},
			"researcher": {Model: "sonnet:5"},
		},
		Fetch:   config.Fetch{Allow: []string{"wiki.internal", "10.0.0.0/8"}, Proxy: true},
		Archive: config.Archive{Share: true, Fresh: "12h"},
		Search:  config.Search{Service: "searxng", SearchPlace: config.SearchPlace{URL: "https://search.example/", KeyEnv: "SEARCH_KEY"}, Places: map[string]config.SearchPlace{"brave": {KeyEnv: "BRAVE_KEY"}}},
		Review:  config.Review{Test: "go test ./..."},
	}
	if diff := cmp.Diff(want, c.Settings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !c.User.Trusted || c.User.Waiting != nil || c.User.Path != filepath.Join(p.User, "tidegate.toml") {
		t.Errorf("the source is %+v", c.User)
	}
}

// TestWhatAProjectDecidesByItself is the table of what counts without trust.
func TestWhatAProjectDecidesByItself(t *testing.T) {
	p := place(t, everything, "")
	c := load(t, p)
	real := must.Get(filepath.EvalSymlinks(filepath.Join(p.Dir, "..", "..", "docs")))(t)
	want := config.Settings{
		Roots:   []string{real},
		Formats: map[string]string{"report": "html"},
		Agents:  map[string]config.Agent{"default": {Driver: "claude", Model: "opus-5"}, "reviewer": {Driver: "codex"}, "researcher": {Model: "sonnet:5"}},
		Search:  config.Search{Places: map[string]config.SearchPlace{}},
	}
	if diff := cmp.Diff(want, c.Settings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	waiting := []string{
		"agents.default.idle_minutes", "agents.default.parallel", "agents.default.price", "agents.writer.driver", "agents.writer.env", "agents.writer.key_env", "agents.writer.model",
		"archive.fresh", "archive.share", "changes", "fetch.allow", "fetch.proxy", "home", "review.test", "roots", "search.brave.key_env", "search.key_env", "search.service", "search.url", "signers",
	}
	if diff := cmp.Diff(waiting, c.Project.Waiting); diff != "" || c.Project.Trusted {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}

// TestEveryDriverThatStartsSomethingWaits: without trust, only a named driver counts.
func TestEveryDriverThatStartsSomethingWaits(t *testing.T) {
	for driver, counts := range map[string]bool{
		"claude": true, "codex": true, "opencode": true, "gemini": true,
		"exec:rm -rf /": false, "acp:qwen": false, "model:https://attacker.example": false, "recorded:answers": false, "api:anthropic": false, "api:ollama": false,
	} {
		c := load(t, place(t, "[agents.default]\ndriver = \""+driver+"\"\n", ""))
		if got := c.Agent("writer").Driver; (got == driver) != counts {
			t.Errorf("%s: the driver is %q", driver, got)
		}
	}
}

func TestRootsThatLeadOutWait(t *testing.T) {
	p := place(t, `roots = ["docs", "docs/../docs", "..", "../elsewhere", "out", "missing", "/", "docs/.."]`, "")
	project := filepath.Join(p.Dir, "..", "..")
	if err := os.Symlink(filepath.Join(project, "..", "elsewhere"), filepath.Join(project, "out")); err != nil {
		t.Skip(err)
	}
	c := load(t, p)
	real := must.Get(filepath.EvalSymlinks(project))(t)
	want := []string{filepath.Join(real, "docs"), filepath.Join(real, "docs"), real}
	if diff := cmp.Diff(want, c.Roots); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"roots"}, c.Project.Waiting); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}

func TestTrust(t *testing.T) {
	person := tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person})
	for _, user := range []string{"", "home = \"/mine\"\n"} {
		p := place(t, everything, user)
		if user == "" {
			if err := os.Remove(p.User); err != nil { // it is made when it is needed
				t.Fatal(err)
			}
		}
		source := *load(t, p).Project
		for _, actor := range []tidegate.ActorKind{tidegate.Agent, tidegate.Rule} {
			if err := p.Trust(tidegate.WithActor(context.Background(), tidegate.Actor{Kind: actor}), source); tidegate.CodeOf(err) != tidegate.InvalidState {
				t.Errorf("%s: %v", actor, err)
			}
		}
		if load(t, p).Project.Trusted {
			t.Error("an agent trusted the file")
		}
		for range 2 {
			must.Do(t, p.Trust(person, source))
		}
		c := load(t, p)
		if !c.Project.Trusted || c.Project.Waiting != nil || c.Home != "/var/runs" || c.Review.Test != "go test ./..." || len(c.Roots) != 3 {
			t.Errorf("after trust: %+v", c)
		}
		// Another file, or the same one elsewhere, is another thing.
		must.Do(t, os.WriteFile(source.Path, []byte(everything+"\n# more\n"), 0o600))
		if c := load(t, p); c.Project.Trusted || c.Review.Test != "" {
			t.Errorf("a changed file is trusted: %+v", c.Project)
		}
		inner := filepath.Join(p.Dir, config.FileName)
		must.Do(t, os.WriteFile(inner, []byte(everything), 0o600))
		if c := load(t, p); c.Project.Trusted || c.Project.Path != inner {
			t.Errorf("a copy is trusted: %+v", c.Project)
		}
	}
	if err := (config.Places{}).Trust(person, config.Source{}); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("without a folder of the user: %v", err)
	}
}

func TestATrustListThatIsDamagedIsAnError(t *testing.T) {
	for _, text := range []string{"{", `{"schema_version":"trusted.v2","files":[]}`, `{"schema_version":"trusted.v1"}`, `{"schema_version":"trusted.v1","files":[{"path":1,"digest":"x"}]}`} {
		p := place(t, everything, "")
		must.Do(t, os.WriteFile(filepath.Join(p.User, "trusted.json"), []byte(text), 0o600))
		if _, err := config.Load(context.Background(), p); tidegate.ClassOf(tidegate.CodeOf(err)) != tidegate.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTheNearerFileWins shows how the two files are merged.
func TestTheNearerFileWins(t *testing.T) {
	p := place(t, `
[formats]
report = "markdown"
[agents.default]
driver = "codex"
[agents.planner]
model = "mini"
`, everything)
	c := load(t, p)
	for role, want := range map[string]config.Agent{
		"summarizer": {Driver: "codex", Parallel: 4, IdleMinutes: 7.5},                                                                                                    // the user's model and price belong to the user's driver
		"planner":    {Driver: "codex", Model: "mini", Parallel: 4, IdleMinutes: 7.5},                                                                                     // the default's driver, another model
		"writer":     {Driver: "model:http://localhost:11434/v1", Model: "llama", KeyEnv: "LLAMA_KEY", Env: []string{"LLAMA_*", "REGION"}, Parallel: 4, IdleMinutes: 7.5}, // the user's
		"reviewer":   {Driver: "codex", Parallel: 4, IdleMinutes: 7.5},                                                                                                    //
		"researcher": {Driver: "codex", Model: "sonnet:5", Parallel: 4, IdleMinutes: 7.5},                                                                                 //
	} {
		if diff := cmp.Diff(want, c.Agent(role)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
	}
	if c.Formats["report"] != "markdown" || c.Home != "/var/runs" {
		t.Errorf("formats %v, home %q", c.Formats, c.Home)
	}
}

// TestListsOfBothFilesAreJoined is about roots, and about the addresses of a project
// that is trusted.
func TestListsOfBothFilesAreJoined(t *testing.T) {
	p := place(t, "roots = [\"docs\"]\n[fetch]\nallow = [\"wiki.project\"]\n", "roots = [\"/srv/texts\"]\n[fetch]\nallow = [\"wiki.internal\"]\n")
	must.Do(t, p.Trust(tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person}), *load(t, p).Project))
	c := load(t, p)
	if len(c.Roots) != 2 || c.Roots[0] != "/srv/texts" || filepath.Base(c.Roots[1]) != "docs" {
		t.Errorf("the roots are %q", c.Roots)
	}
	if !slices.Equal(c.Fetch.Allow, []string{"wiki.internal", "wiki.project"}) {
		t.Errorf("pages may be fetched from %q", c.Fetch.Allow)
	}
}

func TestTheEnvironmentGoesFirst(t *testing.T) {
	p := place(t, "", everything)
	p.Getenv = func(name string) string {
		return map[string]string{"TIDEGATE_FETCH_ALLOW": "localhost:1234,10.0.0.0/8", "TIDEGATE_HOME": "here"}[name]
	}
	c := load(t, p)
	if diff := cmp.Diff([]string{"localhost:1234", "10.0.0.0/8"}, c.Fetch.Allow); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, folder := range []string{"..", "/etc", ".git", ""} {
		p.Getenv = func(name string) string {
			return map[string]string{"TIDEGATE_CHANGES": folder, "TIDEGATE_HOME": "here"}[name]
		}
		got, err := config.Load(t.Context(), p)
		if (tidegate.CodeOf(err) == tidegate.InvalidArgs) != (folder != "") || got.Home != c.Home {
			t.Errorf("TIDEGATE_CHANGES=%s: %v, home %s", folder, err, got.Home)
		}
	}
	if want := filepath.Join(p.Dir, "here"); c.Home != want {
		t.Errorf("home is %s, want %s", c.Home, want)
	}
}

// TestFaults is what a file may not say. The message names the key and what was
// meant, and no part of the file counts.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"roots = [":                           "line 1 is not TOML",
		"home = 'a'\nhome = 'b'":              "line 2 is not TOML",
		"# mine\n\nhom = '/x'":                "line 3: hom is not known here; did you mean home?",
		"Home = '/x'":                         "Home is not known here; did you mean home?",
		"zzz = 1":                             "zzz is not known here: ",
		"home = 1":                            "home must be a text",
		"home = ''":                           "home must be a text that is not blank",
		"home = \"a\\u0000b\"":                "home must be a text",
		"changes = '../elsewhere'":            "changes must be a folder inside the project",
		"changes = '/etc'":                    "changes must be a folder inside the project",
		"changes = '.git/x'":                  "changes must be a folder inside the project",
		"changes = 'a/./b'":                   "changes must be a folder inside the project",
		"changes = 'a\\..\\..'":               "changes must be a folder inside the project",
		"roots = 'docs'":                      "roots must be a list of texts",
		"roots = [1]":                         "roots must be a list of texts",
		"fetch.proxy = true\nfetch.alow = []": "line 2: fetch.alow is not known here; did you mean allow?",
		"[agents]\ndefault.driver = 'codex'\nwriter = {driver = 'codex', modl = 'x'}": "line 3: agents.writer.modl is not known here; did you mean model?",
		"fetch = 1":                                         "line 1: fetch must be a table",
		"[fetch]\nproxy = true\nallowed = ['x']":            "line 3: fetch.allowed is not known here; did you mean allow?",
		"[fetch]\nproxy = 'yes'":                            "fetch.proxy must be true or false",
		"[archive]\nshare = 'yes'":                          "archive.share must be true or false",
		"[archive]\nfresh = '1d'":                           "archive.fresh must be a duration of a minute or more and of 720 hours at most",
		"[archive]\nfresh = '721h'":                         "archive.fresh must be a duration",
		"[archive]\nfresh = '-1h'":                          "archive.fresh must be a duration",
		"[[fetch]]\nproxy = true":                           "fetch must be a table",
		"[agents.reviwer]\ndriver = 'codex'":                "agents.reviwer is not known here; did you mean reviewer?",
		"[agents.default]\ndriver = 'cluade'":               "did you mean claude?",
		"[agents.default]\ndriver = 'exec'":                 "agents.default.driver must say what it starts or asks: exec:",
		"[agents.default]\ndriver = 'exec: '":               "agents.default.driver must say what",
		"[agents.default]\ndriver = 'exe:sh'":               "did you mean exec?",
		"[agents.default]\ndrivr = 'codex'":                 "agents.default.drivr is not known here; did you mean driver?",
		"[agents.default]\nmodel = '--dangerous'":           "agents.default.model must be the name of a model",
		"[agents.default]\nmodel = 'a b'":                   "agents.default.model must be the name of a model",
		"[agents.default]\nparallel = 0":                    "agents.default.parallel must be an integer of at least 1",
		"[agents.default]\nparallel = 1.5":                  "agents.default.parallel must be an integer",
		"[agents.default]\nidle_minutes = 0":                "agents.default.idle_minutes must be a number from 0.01 to 1440",
		"[agents.default]\nprice = 3":                       "agents.default.price must be a table",
		"[agents.default]\nprice = { input = 1 }":           "line 2: agents.default.price.output must be a number",
		"[agents.default]\nprice = { input = -1, output=1}": "agents.default.price.input must be a number of at least 0",
		"[agents.default]\nprice = {input=nan, output=inf}": "agents.default.price.input must be a number",
		"[agents.default]\nenv = ['A_*', 'A-B']":            "agents.default.env must have names of environment variables",
		"[agents.default]\nkey_env = 'A-B'":                 "agents.default.key_env must be the name of an environment variable",
		"[search]\nservice = 'google'":                      "search.service must be one of searxng, brave, tavily, wikipedia",
		"[formats]\nreport = 'no such format'":              "formats.report must be the name of a format",
		"[review]\ntest = ['go', 'test']":                   "review.test must be a text",
		strings.Repeat("#", 70_000):                         "must not have more than",
		"roots = " + strings.Repeat("[", 60_000):            "not TOML",
		"a" + strings.Repeat(".a", 30_000) + " = 1":         "",
	} {
		for _, p := range []config.Places{place(t, text, ""), place(t, "", text)} {
			c, err := config.Load(context.Background(), p)
			if tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), want) {
				t.Errorf("%.60q: %v, want %q", text, err, want)
			}
			if c.Project != nil || c.User != nil {
				t.Errorf("%.60q: something counts: %+v", text, c)
			}
		}
	}
}

func TestAFolderInThePlaceOfAFileIsAnError(t *testing.T) {
	p := place(t, "", "")
	must.Do(t, os.Mkdir(filepath.Join(p.Dir, config.FileName), 0o700))
	if _, err := config.Load(context.Background(), p); tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("got %v", err)
	}
}

// FuzzLoad looks for text that gives neither settings nor INVALID_ARGS, and for
// a project that decides what it may not.
func FuzzLoad(f *testing.F) {
	f.Add(everything)
	f.Add("[agents.default]\ndriver = 'exec:sh'\n")
	f.Add("roots = ['/']\n[fetch]\nallow = ['localhost']\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o600))
		c, err := config.Load(context.Background(), config.Places{Dir: dir})
		if err != nil {
			if tidegate.CodeOf(err) != tidegate.InvalidArgs {
				t.Fatal(err)
			}
			return
		}
		if c.Home+c.Signers+c.Changes+c.Review.Test+c.Search.URL != "" || len(c.Fetch.Allow) > 0 || c.Fetch.Proxy || c.Archive.Share {
			t.Errorf("it decides %+v", c.Settings)
		}
		for role, agent := range c.Agents {
			if strings.ContainsAny(agent.Driver, ": ") || agent.KeyEnv != "" || agent.Price != nil || strings.HasPrefix(agent.Model, "-") {
				t.Errorf("%s: %+v", role, agent)
			}
		}
	})
}

// TestAFileThatAnybodyCouldHaveWritten has a file in a folder like that of temporary
// files: nothing in it counts, unless a person has trusted it.
func TestAFileThatAnybodyCouldHaveWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no modes")
	}
	p := place(t, "roots = ['docs']\n[formats]\nreport = 'html'\n[agents.default]\ndriver = 'codex'\n", "")
	must.Do(t, os.Chmod(filepath.Join(p.Dir, "..", ".."), 0o1777))
	c := load(t, p)
	if len(c.Roots)+len(c.Formats)+len(c.Agents) != 0 || !slices.Equal(c.Project.Waiting, []string{"agents.default.driver", "formats.report", "roots"}) {
		t.Errorf("it decides %+v", c)
	}
	if i := slices.IndexFunc(c.Entries(), func(e config.Entry) bool {
		return strings.HasSuffix(e.Why, "everybody can write to the folder of this file")
	}); i < 0 {
		t.Error("nothing says why")
	}
	must.Do(t, p.Trust(tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person}), *c.Project))
	if c := load(t, p); c.Formats["report"] != "html" || len(c.Roots) != 1 {
		t.Errorf("trusted, it decides %+v", c.Settings)
	}
}
