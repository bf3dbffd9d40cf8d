package config

import "strings"

// Key is one key of a file: what it decides, and what overrides it. The words
// COMMAND and ROLE in its name stand for any command and any role.
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
		About:   "what does the work of a role: " + strings.Join(namedDrivers, ", ") + ", `acp:COMMAND`, `exec:COMMAND`, `model:URL` or `recorded:FOLDER`",
		Default: "the first client that is installed and logged in", Waits: "it starts a program or asks an address of its own", Over: "`--agent`",
	},
	{
		Name: "agents.ROLE.model", Type: "text", Example: `"opus-5"`, About: "the model that the driver is asked for", Default: "the client's own choice", Over: "`--agent`",
		Waits: "it belongs to a driver that does not count",
	},
	{
		Name: "agents.ROLE.parallel", Type: "integer", Example: `4`, About: "how many agents of the role work at once", Default: "as many as the run's budget allows", Waits: "it decides what is spent", Over: "`--parallel`",
	},
	{
		Name: "agents.ROLE.price", Type: "table", Example: `{ input = 3, output = 15 }`, About: "what its tokens cost, in USD per million, where the client does not say",
		Default: "what the client reports", Waits: "it decides what the budget allows",
	},
	{
		Name: "agents.ROLE.key_env", Type: "text", Example: `"MODEL_KEY"`, About: "the environment variable that holds the key of a `model:` driver", Default: "none", Waits: "it hands out a secret",
	},
	{
		Name: "agents.ROLE.env", Type: "list of texts", Example: `["QWEN_*"]`, About: "further environment variables that the agent gets; a name that ends in `*` stands for all that begin with it",
		Default: "none", Waits: "it hands out secrets",
	},
	{
		Name: "fetch.allow", Type: "list of texts", Example: `["wiki.internal", "10.0.0.0/8"]`, About: "hosts, `host:port` and address ranges that sources may be fetched from although they are private",
		Default: "none", Waits: "it opens private addresses", Over: "`" + AllowVariable + "`",
	},
	{
		Name: "fetch.proxy", Type: "boolean", Example: `true`, About: "fetch through the proxies that the environment names", Default: "false", Waits: "it sends requests elsewhere",
	},
	{
		Name: "search.service", Type: "text", Example: `"searxng"`, About: "where agents of a `model:` driver search: searxng, brave or tavily", Default: "they have no search", Waits: "it sends questions elsewhere",
	},
	{
		Name: "search.url", Type: "text", Example: `"https://search.example/"`, About: "the address of that service", Default: "that of the service", Waits: "it sends questions elsewhere",
	},
	{
		Name: "search.key_env", Type: "text", Example: `"SEARCH_KEY"`, About: "the environment variable that holds the key of that service", Default: "none", Waits: "it hands out a secret",
	},
	{
		Name: "review.test", Type: "text", Example: `"go test ./..."`, About: "the command that tests the project: `review run` runs it, and the prompt `submit_code_review` asks the reviewer to run it",
		Default: "`review run` runs no tests", Waits: "it is a command to run", Over: "`--test`",
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
	}
	return k.Name == name
}

// last is the last part of a key.
func last(name string) string { return name[strings.LastIndexByte(name, '.'):] }

// Names are the keys as a person can name them, with every role in its place.
func Names() []string {
	var names []string
	for _, k := range Keys {
		if !strings.Contains(k.Name, "ROLE") {
			names = append(names, k.Name)
			continue
		}
		for _, role := range Roles {
			names = append(names, strings.Replace(k.Name, "ROLE", role, 1))
		}
	}
	return names
}
