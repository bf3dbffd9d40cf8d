package client

import (
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// codex is Codex, `codex exec`. Its shell works in a sandbox that can read every
// file, so a task that may not write gets no shell at all. The person's
// configuration, rules, plugins and MCP servers do not count; the login does.
var codex = client{
	name:      "codex",
	oldest:    "0.160.0",
	tested:    "0.166.0",
	get:       "npm install -g @openai/codex",
	login:     "codex login",
	variables: []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_HOME", "CODEX_CA_CERTIFICATE"},
	prepare:   prepareCodex,
	stream:    func() sandbox.Stream { return &codexStream{} },
	loggedIn:  codexLoggedIn,
}

// codexLoggedIn asks codex only where no key in the environment stands in for a
// login: codex says nothing about keys.
func codexLoggedIn(env []string) []string {
	if driver.Variable(env, "CODEX_API_KEY") != "" || driver.Variable(env, "OPENAI_API_KEY") != "" {
		return nil
	}
	return []string{"login", "status"}
}

func prepareCodex(task driver.Task, resume string, f *sandbox.Folder, env []string) (args, variables []string, err error) {
	sandbox, search := "read-only", "disabled"
	reads := task.Tree != "" && f.Confined // its own sandbox would read every file of the person's
	switch {
	case !task.Tools.Write && !reads:
	case f.Confined:
		sandbox = "danger-full-access" // its own sandbox cannot be made inside a cell, which holds it already
	default:
		sandbox = "workspace-write"
	}
	if task.Tools.Web && task.MayUse(driver.SearchCalls, "web_search") { // which opens pages, too
		search = "live"
	}
	args = []string{"exec", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules", "--sandbox", sandbox}
	set := func(key string, value any) { args = append(args, "-c", key+"="+toml(value)) }
	set("web_search", search)
	set("check_for_update_on_startup", false)
	set("analytics.enabled", false)
	if sandbox == "workspace-write" { // and not among the temporary files of others
		set("sandbox_workspace_write.exclude_slash_tmp", true)
		set("sandbox_workspace_write.exclude_tmpdir_env_var", true)
	}
	off := []string{"plugins", "apps", "hooks", "multi_agent", "goals", "unbounded_connection_retries"}
	if !task.Tools.Write && !reads {
		off = append(off, "shell_tool", "unified_exec", "view_image")
	}
	for _, feature := range off {
		set("features."+feature, false)
	}
	for _, server := range task.Tools.MCP {
		at := "mcp_servers." + server.Name
		set(at+".command", server.Command)
		set(at+".args", server.Args)
		set(at+".default_tools_approval_mode", "approve")
	}
	key := "OPENAI_API_KEY"
	if driver.Variable(env, "CODEX_API_KEY") != "" {
		key = "CODEX_API_KEY"
	} else if driver.Variable(env, key) != "" {
		variables = []string{"CODEX_API_KEY=" + driver.Variable(env, key)} // the one that exec looks at
	}
	if url := driver.Variable(env, "OPENAI_BASE_URL"); url != "" {
		set("model_provider", "endpoint")
		set("model_providers.endpoint.name", "endpoint")
		set("model_providers.endpoint.base_url", url)
		set("model_providers.endpoint.env_key", key)
		set("model_providers.endpoint.wire_api", "responses")
		set("model_providers.endpoint.request_max_retries", 2)
		set("model_providers.endpoint.stream_max_retries", 2)
	}
	if task.Model != "" {
		args = append(args, "--model", task.Model)
	}
	if resume != "" {
		args = append(args, "resume", resume)
	}
	return append(args, "-"), variables, nil
}

// toml writes a value as TOML. For strings, lists of them, numbers and booleans,
// JSON is valid TOML.
func toml(v any) string {
	if text := string(driver.Marshal(v)); text != "null" {
		return text
	}
	return "[]"
}

// codexStream reads the events of `codex exec --json`.
type codexStream struct {
	lines
	answer driver.Answer
	tools  driver.ToolCalls
	ended  bool   // turn.completed or turn.failed
	failed string // the message of turn.failed
}

type codexEvent struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Item   struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Text   string `json:"text"`
		Server string `json:"server"`
		Tool   string `json:"tool"`
		Action struct {
			Type string `json:"type"`
		} `json:"action"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage *driver.Usage `json:"usage"`
}

func (s *codexStream) Take(chunk []byte, event func(driver.Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *codexStream) read(e *codexEvent) driver.Event {
	switch e.Type {
	case "thread.started":
		s.answer.Session = e.Thread
		return driver.Event{Kind: driver.Started}
	case "item.completed":
		switch e.Item.Type {
		case "agent_message":
			s.answer.Text = e.Item.Text // the last one is the answer
			return driver.Event{Kind: driver.Message, Text: driver.Shown(e.Item.Text)}
		case "web_search":
			tool := driver.SearchCalls
			if e.Item.Action.Type == "open_page" {
				tool = driver.FetchCalls
			}
			return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(e.Item.ID, tool)}
		case "mcp_tool_call":
			return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(e.Item.ID, e.Item.Server+"."+e.Item.Tool)}
		case "command_execution", "file_change":
			return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(e.Item.ID, e.Item.Type)}
		}
	case "turn.completed":
		s.ended = true
		s.answer.Usage = e.Usage
	case "turn.failed":
		s.ended = true
		s.failed = e.Error.Message
		if s.failed == "" {
			s.failed = "the turn failed"
		}
	}
	return driver.Event{Kind: driver.Other}
}

func (s *codexStream) Done() bool { return s.ended }

func (s *codexStream) Result(stderr string) (driver.Answer, *driver.Error) {
	s.answer.ToolCalls = s.tools.Counts
	switch {
	case strings.Contains(stderr, "no rollout found"), strings.Contains(stderr, "thread/resume failed"):
		return s.answer, &driver.Error{Kind: driver.Unavailable, Message: "codex" + driver.LastLine(stderr), SessionGone: true}
	case s.failed != "":
		return s.answer, driver.FailureIn("codex", s.failed)
	}
	return s.answer, nil
}
