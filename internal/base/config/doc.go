// Package config reads tidegate.toml: the project's, found upwards from the
// working folder, and the user's own, in the folder where the system keeps
// configuration.
//
//	home = "research"                 # holds the folder of runs
//	roots = ["docs"]                  # folders that callers of `tidegate mcp` may touch
//	signers = "allowed_signers"       # whose signatures count
//
//	[formats]                         # how a command prints, by its name
//	"wave review" = "markdown"
//
//	[agents.default]                  # and planner, researcher, summarizer, writer, reviewer,
//	                                  # verifier (default: the reviewer), implementer, code_reviewer (likewise)
//	driver = "claude"                 # or codex, opencode, gemini, api:SERVICE, model:URL, acp:COMMAND, exec:COMMAND, recorded:FOLDER
//	model = "…"
//	parallel = 4
//	price = { input = 3, output = 15 } # USD per million tokens
//	url = "https://gateway.example/v1" # where the service of an api: driver is
//	key_env = "MODEL_KEY"             # the environment variable with the key of an api: or model: driver
//	env = ["QWEN_*"]                  # further environment variables that the agent gets
//
//	[fetch]
//	allow = ["wiki.internal", "10.0.0.0/8", "localhost:8080"]
//	proxy = true
//
//	[search]
//	service = "searxng"               # asked first; docs/search.md has all names
//	url = "https://search.example/"
//	key_env = "SEARCH_KEY"
//
//	[search.brave]                    # another that may be asked
//	key_env = "BRAVE_API_KEY"
//
//	[review]
//	test = "go test ./..."
//
// Configuration is code: a project's file comes with the project, whoever wrote
// it. By itself it decides formats, named drivers, models, and roots that lie in
// the folder that holds it. Everything else in it counts only after a person has
// trusted the file as it is, by [Trust]; [Source.Waiting] names it until then.
//
// A file with an unknown key, or a value of the wrong type, is refused as a whole:
// a misspelt limit must not be taken for no limit.
package config
