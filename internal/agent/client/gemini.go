package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// gemini is Gemini CLI. Its settings lie in the folder that it works in, where
// they win over the person's; tools.core names all tools that the model has. A
// task that works in a folder of the person's gets no settings there, and the
// approval mode alone decides.
var gemini = client{
	name:   "gemini",
	oldest: "0.60.0",
	tested: "0.61.0",
	get:    "npm install -g @google/gemini-cli",
	login:  "gemini, and choose how to log in",
	variables: []string{
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI",
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GEMINI_DEFAULT_AUTH_TYPE", "GEMINI_CLI_HOME",
	},
	further:   map[string][]string{"GOOGLE_GENAI_USE_VERTEXAI": {"GOOGLE_APPLICATION_CREDENTIALS"}},
	prepare:   prepareGemini,
	stream:    func() sandbox.Stream { return &geminiStream{} },
	loggedIn:  func([]string) []string { return nil }, // it has no command for it
	loggedOut: geminiLoggedOut,
}

// geminiLoggedOut reports whether neither a variable nor the person's settings say
// how to log in: without a person, the client then gives up.
func geminiLoggedOut(ctx context.Context, env []string) bool {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI", "GEMINI_DEFAULT_AUTH_TYPE"} {
		if driver.Variable(env, name) != "" {
			return false
		}
	}
	kind, known := geminiAuthType(env)
	return known && kind == ""
}

// geminiAuthType is how the person's settings say that the client logs in; known is
// false for settings that cannot be read, perhaps because of comments, which may say
// anything.
func geminiAuthType(env []string) (kind string, known bool) {
	home := cmp.Or(driver.Variable(env, "GEMINI_CLI_HOME"), driver.Variable(env, "HOME"), driver.Variable(env, "USERPROFILE"))
	settings, err := artifact.Everywhere.ReadJSON("settings", filepath.Join(home, ".gemini", "settings.json"))
	if err != nil {
		return "", tidegate.CodeOf(err) == tidegate.FileNotFound
	}
	return cmp.Or(settings.Get("security").Get("auth").Get("selectedType").Str(), settings.Get("selectedAuthType").Str()), true
}

// geminiModel is the model where nobody names one: without a name, the client first
// asks a router model.
const geminiModel = "gemini-2.5-pro"

func prepareGemini(task driver.Task, resume string, f *sandbox.Folder, env []string) (args, variables []string, err error) {
	model, servers, approval := task.Model, "none", "default"
	if model == "" {
		model = geminiModel
	}
	tools := []string{}
	if task.Tools.Web {
		tools = append(tools, "google_web_search", "web_fetch")
	}
	if task.Tree != "" && !task.Tools.Write {
		tools = append(tools, "read_file", "list_directory", "glob", "grep_search", "search_file_content")
	}
	if task.Tools.Write {
		tools = append(tools, "read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content", "replace", "write_file", "run_shell_command")
		approval = "yolo"
	}
	tools = left(task, geminiTool, tools...)
	allowed := tools
	if len(tools) == 0 {
		tools = []string{"none"} // an empty list would not restrict anything
	}
	settings := map[string]any{
		"general":     map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 3},
		"privacy":     map[string]any{"usageStatisticsEnabled": false},
		"tools":       map[string]any{"core": tools},
		"hooksConfig": map[string]any{"enabled": false},
		"context":     map[string]any{"fileName": "TIDEGATE-NONE.md"}, // the person's GEMINI.md is for their own work
	}
	if driver.Variable(env, "GEMINI_API_KEY") != "" {
		settings["security"] = map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}
	}
	if len(task.Tools.MCP) > 0 {
		var named struct {
			Servers any `json:"mcpServers"`
		}
		if err := json.Unmarshal(mcpServers(task.Tools.MCP), &named); err != nil {
			return nil, nil, err
		}
		settings["mcpServers"] = named.Servers
		var names []string
		for _, server := range task.Tools.MCP {
			names = append(names, server.Name)
			allowed = append(allowed, "mcp_"+server.Name+"_*")
		}
		servers = strings.Join(names, ",")
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return nil, nil, err
	}
	if f.Owns(task) {
		err = f.Write("work/.gemini/settings.json", data)
	} else if f.Confined {
		err = f.Write("home/.gemini/settings.json", data)
	}
	if err != nil {
		return nil, nil, err
	}
	args = []string{
		"--model", model, "--output-format", "stream-json", "--approval-mode", approval,
		"--extensions", "none", "--allowed-mcp-server-names", servers,
	}
	if len(allowed) > 0 {
		// Without a person to ask, a tool that is not allowed is denied.
		policy := fmt.Sprintf("[[rule]]\ntoolName = %s\ndecision = \"allow\"\npriority = 900\n", toml(allowed))
		if err := f.Write("policy.toml", []byte(policy)); err != nil {
			return nil, nil, err
		}
		args = append(args, "--policy", f.In("policy.toml"))
	}
	if task.Tree != "" {
		args = append(args, "--include-directories", task.Tree)
	}
	if resume != "" {
		args = append(args, "--resume", resume)
	}
	return args, []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}, nil
}

// geminiStream reads the events of `--output-format stream-json`.
type geminiStream struct {
	lines
	answer driver.Answer
	tools  driver.ToolCalls
	last   *geminiEvent // of type result
	said   string       // the last error that it reported
}

type geminiEvent struct {
	Type    string `json:"type"`
	Session string `json:"session_id"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Tool    string `json:"tool_name"`
	Call    string `json:"tool_id"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats *driver.Usage `json:"stats"`
}

func (s *geminiStream) Take(chunk []byte, event func(driver.Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *geminiStream) read(e *geminiEvent) driver.Event {
	switch {
	case e.Type == "init":
		s.answer.Session = e.Session
		return driver.Event{Kind: driver.Started}
	case e.Type == "message" && e.Role == "assistant":
		s.answer.Text += e.Content
		return driver.Event{Kind: driver.Message, Text: driver.Shown(e.Content)}
	case e.Type == "tool_use":
		s.answer.Text = "" // what it said before it called a tool is not its answer
		return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(e.Call, geminiTool(e.Tool))}
	case e.Type == "error":
		s.said = e.Message
		return driver.Event{Kind: driver.Other, Text: driver.Shown(e.Message)}
	case e.Type == "result":
		s.last = e
		s.answer.Usage = e.Stats
	}
	return driver.Event{Kind: driver.Other}
}

func geminiTool(name string) string {
	switch name {
	case "google_web_search":
		return driver.SearchCalls
	case "web_fetch":
		return driver.FetchCalls
	}
	return name
}

func (s *geminiStream) Done() bool { return s.last != nil }

func (s *geminiStream) Result(stderr string) (driver.Answer, *driver.Error) {
	s.answer.ToolCalls = s.tools.Counts
	switch {
	case s.last == nil && strings.Contains(stderr, "Error resuming session"):
		return s.answer, &driver.Error{Kind: driver.Unavailable, Message: "gemini" + driver.LastLine(stderr), SessionGone: true}
	case s.last == nil && strings.Contains(stderr, "auth method"):
		return s.answer, driver.Failf(driver.Auth, "gemini%s", driver.LastLine(stderr))
	case s.last == nil || s.last.Status == "success":
		return s.answer, nil
	case strings.Contains(s.said, "empty response"):
		return s.answer, driver.Failf(driver.Empty, "gemini: %s", driver.Shown(s.said))
	case s.last.Error.Message != "":
		return s.answer, driver.FailureIn("gemini", s.last.Error.Message)
	}
	return s.answer, driver.FailureIn("gemini", s.said)
}
