package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Entry is a value that something gives a key: a file, the environment, or the
// program itself where nothing else does.
type Entry struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as in a file; in words for what the program does by itself
	From   string `json:"from"`  // "file:line", the name of a variable, or "default"
	Counts bool   `json:"counts"`
	Why    string `json:"why"` // why it does not count
}

// DefaultSource is the From of a key to which nothing gives a value.
const DefaultSource = "default"

// NotBeforeTrust begins the Why of what counts as soon as a person trusts the file;
// the reason follows.
const NotBeforeTrust = "not before `tidegate config trust`: "

// layer is one source of values for keys.
type layer struct {
	says   Settings
	counts Settings // the part of it that counts
	from   func(key string) string
	name   string // what it is called where it overrides another
}

// Entries are all keys with what gives them a value, the strongest first. Where
// nothing that counts gives one, the last is what the program does by itself.
func (c Config) Entries() []Entry {
	given := map[string][]Entry{} // by key
	joined := c.Settings.leaves()
	first := map[string]string{} // what gives a key its value
	for _, l := range c.layers {
		counts := l.counts.leaves()
		for name, value := range l.says.leaves() {
			e := Entry{Key: name, Value: value, From: l.from(name)}
			switch counted := counts[name]; {
			case first[name] != "":
				e.Why = first[name] + " goes first"
			case counted == value && joined[name] == "":
				e.Why = "it belongs to a driver that the project's file replaces"
			case counted == value:
				e.Counts = true
			default:
				if counted != "" { // a part of the roots
					given[name] = append(given[name], Entry{Key: name, Value: counted, From: e.From, Counts: true})
					e.Value = quoteAll(c.outside)
				}
				e.Why = NotBeforeTrust + keyOf(name).Waits
				if c.Project.open {
					e.Why = NotBeforeTrust + "everybody can write to the folder of this file"
				}
			}
			given[name] = append(given[name], e)
			if e.Counts && !addsUp(name, l) {
				first[name] = l.name
			}
		}
	}
	var all []Entry
	names := slices.Sorted(maps.Keys(given))
	for _, k := range Keys {
		counts := false
		for _, name := range names {
			if k.fits(name) {
				all = append(all, given[name]...)
				counts = counts || slices.ContainsFunc(given[name], func(e Entry) bool { return e.Counts })
			}
		}
		if !counts {
			all = append(all, Entry{Key: k.Name, Value: k.Default, From: DefaultSource, Counts: true})
		}
	}
	return all
}

// addsUp reports whether a list in one file is joined with that in the other.
func addsUp(name string, l layer) bool {
	return l.name != environment && (name == "roots" || name == "fetch.allow")
}

// Has reports whether a file has a key or a table; there may be no file.
func (s *Source) Has(key string) bool { return s != nil && s.lines[key] > 0 }

// at is where a file gives a key its value.
func (s *Source) at(key string) string {
	return s.Path + ":" + strconv.Itoa(lineOf(s.lines, key))
}

// leaves are the keys to which the settings give a value, each as in a file.
func (s Settings) leaves() map[string]string {
	leaves := map[string]string{}
	text := func(name, value string) {
		if value != "" {
			leaves[name] = quote(value)
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			leaves[name] = quoteAll(values)
		}
	}
	text("home", s.Home)
	list("roots", s.Roots)
	text("signers", s.Signers)
	text("changes", s.Changes)
	for command, format := range s.Formats {
		text("formats."+command, format)
	}
	for role, a := range s.Agents {
		prefix := "agents." + role + "."
		text(prefix+"driver", a.Driver)
		text(prefix+"model", a.Model)
		if a.Parallel > 0 {
			leaves[prefix+"parallel"] = strconv.Itoa(a.Parallel)
		}
		if a.IdleMinutes > 0 {
			leaves[prefix+"idle_minutes"] = number(a.IdleMinutes)
		}
		if a.Price != nil {
			leaves[prefix+"price"] = fmt.Sprintf("{ input = %s, output = %s }", number(a.Price.Input), number(a.Price.Output))
		}
		text(prefix+"url", a.URL)
		text(prefix+"key_env", a.KeyEnv)
		list(prefix+"env", a.Env)
		list(prefix+"read", a.Read)
		list(prefix+"write", a.Write)
		text(prefix+"network", a.Network)
	}
	if s.Unconfined {
		leaves["agents.confine"] = "false"
	}
	list("fetch.allow", s.Fetch.Allow)
	if s.Fetch.Proxy {
		leaves["fetch.proxy"] = "true"
	}
	if s.Archive.Share {
		leaves["archive.share"] = "true"
	}
	text("archive.fresh", s.Archive.Fresh)
	text("search.service", s.Search.Service)
	text("search.url", s.Search.URL)
	text("search.key_env", s.Search.KeyEnv)
	for name, place := range s.Search.Places {
		text("search."+name+".url", place.URL)
		text("search."+name+".key_env", place.KeyEnv)
	}
	text("review.test", s.Review.Test)
	list("review.ignore", s.Review.Ignore)
	list("review.guidelines", s.Review.Guidelines)
	text("change.author", s.Change.Author)
	text("change.message", s.Change.Message)
	return leaves
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// quote is a text as a file has it: the escapes of JSON are among those of TOML.
func quote(text string) string {
	line, err := codec.MarshalLine(text)
	if err != nil {
		return strconv.Quote(text) // it is not UTF-8, and so was not read from a file
	}
	return string(line)
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Key is one key of a file: what it decides, and what overrides it. The words
// COMMAND, ROLE and SERVICE in its name stand for any command, role and search service.
type Key struct {
	Name    string
	Type    string // in words
	Example string // as it stands in a file
	About   string
	Default string // in words
	Waits   string // why a project's file does not decide it by itself; "" where it does
	Over    string // the variable or flags that override it, in words; "" for none
}

// Keys are all keys, in the order in which they are shown.
var Keys = []Key{
	{
		Name: "home", Type: "folder", Example: `"/srv/research"`, About: "where tidegate keeps what it makes; runs lie in its folder `runs`",
		Default: "the folder that the system has for the data of programs", Waits: "it says where files are written", Over: "`TIDEGATE_HOME`",
	},
	{
		Name: "roots", Type: "list of folders", Example: `["docs", "texts"]`, About: "the folders that callers of `tidegate mcp` may touch, as its `--root`",
		Default: "none; `tidegate mcp` says what that means", Waits: "it lies outside the folder of this file", Over: "`--root`",
	},
	{
		Name: "signers", Type: "file", Example: `"allowed_signers"`, About: "an OpenSSH allowed_signers file that says whose signatures count for `run verify` and `verify`",
		Default: "the list that the run keeps", Waits: "it says whose signatures count", Over: "`--signers`",
	},
	{
		Name: "changes", Type: "folder in the project", Example: `"tools/reviews"`, About: "the folder of a project that holds its code changes, in `changes/<id>`",
		Default: "`agentd`, because Agentd reads it", Waits: "it says which reviews and signers count", Over: "`" + ChangesVariable + "`",
	},
	{
		Name: "formats.COMMAND", Type: "text", Example: `"markdown"`, About: "how a command prints, as its `--format`; `\"wave review\" = \"markdown\"` in the table `[formats]`",
		Default: "as the command's help says", Over: "`--format`",
	},
	{
		Name: "agents.ROLE.driver", Type: "text", Example: `"claude"`,
		About:   "what does the work of a role: " + strings.Join(namedDrivers, ", ") + ", `api:SERVICE` (" + strings.Join(Services, ", ") + "), `model:URL`, `acp:COMMAND`, `exec:COMMAND` or `recorded:FOLDER`",
		Default: "the first client that is installed and logged in, else the first service whose key is set, else a local one that answers", Waits: "it starts a program or asks an address of its own", Over: "`--agent`",
	},
	{
		Name: "agents.ROLE.model", Type: "text", Example: `"opus-5"`, About: "the model that the driver is asked for", Default: "the client's own choice, or what tidegate prefers of a service", Over: "`--model`, `--agent`",
		Waits: "it belongs to a driver that does not count",
	},
	{
		Name: "agents.ROLE.parallel", Type: "integer", Example: `4`, About: "how many agents of the role work at once", Default: "as many as the run's budget allows", Waits: "it decides what is spent", Over: "`--parallel`",
	},
	{
		Name: "agents.ROLE.idle_minutes", Type: "number", Example: `10`, About: "after how many silent minutes an agent of the role is stopped; of `exec:` it counts what the program writes to its output and its error stream",
		Default: "what the run's budget says (5); no limit for `exec:`, whose programs have no words", Waits: "it decides what is spent",
	},
	{
		Name: "agents.ROLE.price", Type: "table", Example: `{ input = 3, output = 15 }`, About: "what its tokens cost, in USD per million, where the client does not say",
		Default: "what the client reports; for a service the table of prices that comes with tidegate", Waits: "it decides what the budget allows",
	},
	{
		Name: "agents.ROLE.url", Type: "text", Example: `"https://gateway.example/v1"`, About: "where the service of an `api:` driver is",
		Default: "where its variable says (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENROUTER_BASE_URL, GEMINI_BASE_URL, OLLAMA_HOST, LMSTUDIO_BASE_URL), else its own address", Waits: "it sends questions and a key elsewhere",
	},
	{
		Name: "agents.ROLE.key_env", Type: "text", Example: `"MODEL_KEY"`, About: "the environment variable that holds the key of an `api:` or `model:` driver",
		Default: "that of the service; TIDEGATE_MODEL_KEY for `model:`, where it is set", Waits: "it hands out a secret",
	},
	{
		Name: "agents.ROLE.env", Type: "list of texts", Example: `["QWEN_*"]`, About: "further environment variables that the agent gets; a name that ends in `*` stands for all that begin with it",
		Default: "none", Waits: "it hands out secrets",
	},
	{
		Name: "agents.ROLE.read", Type: "list of folders", Example: `["/srv/data"]`, About: "further files and folders that agents of the role may read in their cell",
		Default: "none; `tidegate agents` shows what a cell holds", Waits: "it opens your files to agents", Over: "`--agent-read` adds to it",
	},
	{
		Name: "agents.ROLE.write", Type: "list of folders", Example: `["/srv/out"]`, About: "further folders that agents of the role may write in",
		Default: "none", Waits: "it opens your files to agents",
	},
	{
		Name: "agents.ROLE.network", Type: "text", Example: `"model"`, About: "what agents of the role may reach: none, model (the hosts of their model) or web (every public host)",
		Default: "none for `exec:` and `acp:`; model for clients, and web where a job may search the web", Waits: "it opens the network to agents", Over: "`--agent-network`",
	},
	{
		Name: "agents.confine", Type: "boolean", Example: `false`, About: "false lets agents work without a cell, with your rights, on your files; every plan and report says so",
		Default: "true", Waits: "it opens everything to agents", Over: "`--unconfined`",
	},
	{
		Name: "fetch.allow", Type: "list of texts", Example: `["wiki.internal", "10.0.0.0/8"]`, About: "hosts, `host:port` and address ranges that sources may be fetched from although they are private",
		Default: "none", Waits: "it opens private addresses", Over: "`" + AllowVariable + "`",
	},
	{
		Name: "fetch.proxy", Type: "boolean", Example: `true`, About: "fetch through the proxies that the environment names", Default: "false", Waits: "it sends requests elsewhere",
	},
	{
		Name: "archive.share", Type: "boolean", Example: `true`, About: "let the runs of the home share pages: one that another run fetched lately is used instead of fetching it again",
		Default: "false", Waits: "it decides which pages count",
	},
	{
		Name: "archive.fresh", Type: "text", Example: `"24h"`, About: "how long ago a shared page may have been fetched, at most 720h",
		Default: "24h", Waits: "it decides which pages count",
	},
	{
		Name: "search.service", Type: "text", Example: `"searxng"`, About: "the search service that is asked first: " + strings.Join(SearchServices, ", "),
		Default: "the services that have a table here, else wikipedia, crossref, arxiv, europepmc and pubmed", Waits: "it sends questions elsewhere", Over: "`--search`",
	},
	{
		Name: "search.url", Type: "text", Example: `"https://search.example/"`, About: "the address of that service", Default: "that of the service", Waits: "it sends questions elsewhere",
	},
	{
		Name: "search.key_env", Type: "text", Example: `"SEARCH_KEY"`, About: "the environment variable that holds the key of that service", Default: "none", Waits: "it hands out a secret",
	},
	{
		Name: "search.SERVICE.url", Type: "text", Example: `"https://search.example/"`, About: "the address of that search service, which may be private; only searches go there", Default: "that of the service", Waits: "it sends questions elsewhere",
	},
	{
		Name: "search.SERVICE.key_env", Type: "text", Example: `"BRAVE_API_KEY"`, About: "the environment variable that holds the key of that search service",
		Default: "the usual one of a service that needs a key, such as BRAVE_API_KEY, TAVILY_API_KEY, SERPER_API_KEY, EXA_API_KEY or OPENALEX_API_KEY", Waits: "it hands out a secret",
	},
	{
		Name: "review.test", Type: "text", Example: `"go test ./..."`, About: "the command that tests the project: `review run` runs it, and the prompt `submit_code_review` asks the reviewer to run it",
		Default: "`review run` runs no tests", Waits: "it is a command to run", Over: "`--test`",
	},
	{
		Name: "review.ignore", Type: "list of texts", Example: `["docs/api/**", "*.pb.go"]`, About: "files that `review run` shows no reviewer: globs of paths in the repository, or of names where they have no slash; `**` stands for any folders",
		Default: "none",
	},
	{
		Name: "review.guidelines", Type: "list of texts", Example: `["docs/style.md"]`, About: "files of the repository that say how its code is to be; reviewers are shown them as the base has them",
		Default: "`AGENTS.md`, `CLAUDE.md`, `REVIEW.md`, `.github/copilot-instructions.md` and `.github/REVIEW.md`, where they are there",
	},
	{
		Name: "change.author", Type: "text", Example: `"Harbour bot <bot@harbour.example>"`, About: "who is the author of what `change run` and `change merge` commit", Default: "`tidegate <tidegate@localhost>`",
		Waits: "it says in whose name is committed",
	},
	{
		Name: "change.message", Type: "text", Example: `"{change}: round {round}"`, About: "the message of what `change run` and `change merge` commit; `{change}` and `{round}` stand for the id of the change and the number of the round or review; `change merge` adds which review approved which commit",
		Default: "`{change}: round {round}`, and that an agent implemented it", Waits: "it says what stands in the history",
	},
}

// keyOf is the row of a key as a file writes it.
func keyOf(name string) Key {
	for _, k := range Keys {
		if k.fits(name) {
			return k
		}
	}
	return Key{}
}

// Find is the row of a key that a person names; nil where there is none.
func Find(name string) *Key {
	if k := keyOf(name); k.Name != "" {
		return &k
	}
	return nil
}

// fits reports whether a key of a file is this one.
func (k Key) fits(name string) bool {
	switch {
	case strings.HasPrefix(name, "formats."):
		return k.Name == "formats.COMMAND"
	case strings.HasPrefix(name, "agents."):
		return strings.HasPrefix(k.Name, "agents.") && last(name) == last(k.Name)
	case strings.HasPrefix(name, "search.") && strings.Count(name, ".") == 2:
		return strings.HasPrefix(k.Name, "search.SERVICE.") && last(name) == last(k.Name)
	}
	return k.Name == name
}

// last is the last part of a key.
func last(name string) string { return name[strings.LastIndexByte(name, '.'):] }

// Names are the keys as a person can name them, with every role and service in its place.
func Names() []string {
	var names []string
	for _, k := range Keys {
		word, places := "ROLE", Roles
		if strings.Contains(k.Name, "SERVICE") {
			word, places = "SERVICE", SearchServices
		}
		if !strings.Contains(k.Name, word) {
			names = append(names, k.Name)
			continue
		}
		for _, place := range places {
			names = append(names, strings.Replace(k.Name, word, place, 1))
		}
	}
	return names
}
