package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
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
	further:  map[string][]string{"GOOGLE_GENAI_USE_VERTEXAI": {"GOOGLE_APPLICATION_CREDENTIALS"}},
	prepare:  prepareGemini,
	stream:   func() stream { return &geminiStream{} },
	loggedIn: func([]string) []string { return nil }, // it has no command for it
	stranger: geminiStranger,
}

// geminiStranger reports whether neither a variable nor the person's settings say
// how to log in: without a person, the client then gives up.
func geminiStranger(ctx context.Context, env []string) bool {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI", "GEMINI_DEFAULT_AUTH_TYPE"} {
		if variable(env, name) != "" {
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
	home := cmp.Or(variable(env, "GEMINI_CLI_HOME"), variable(env, "HOME"), variable(env, "USERPROFILE"))
	settings, err := artifact.Everywhere.ReadJSON("settings", filepath.Join(home, ".gemini", "settings.json"))
	if err != nil {
		return "", tidegate.CodeOf(err) == tidegate.FileNotFound
	}
	return cmp.Or(settings.Get("security").Get("auth").Get("selectedType").Str(), settings.Get("selectedAuthType").Str()), true
}

// geminiModel is the model where nobody names one: without a name, the client first
// asks a router model.
const geminiModel = "gemini-2.5-pro"

func prepareGemini(task Task, resume string, f *folder, env []string) (args, variables []string, err error) {
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
	if variable(env, "GEMINI_API_KEY") != "" {
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
	if f.owns(task) {
		err = f.write("work/.gemini/settings.json", data)
	} else if f.confined {
		err = f.write("home/.gemini/settings.json", data)
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
		if err := f.write("policy.toml", []byte(policy)); err != nil {
			return nil, nil, err
		}
		args = append(args, "--policy", f.in("policy.toml"))
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
	answer Answer
	tools  toolCalls
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
	Stats *Usage `json:"stats"`
}

func (s *geminiStream) take(chunk []byte, event func(Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *geminiStream) read(e *geminiEvent) Event {
	switch {
	case e.Type == "init":
		s.answer.Session = e.Session
		return Event{Kind: Started}
	case e.Type == "message" && e.Role == "assistant":
		s.answer.Text += e.Content
		return Event{Kind: Message, Text: shown(e.Content)}
	case e.Type == "tool_use":
		s.answer.Text = "" // what it said before it called a tool is not its answer
		return Event{Kind: ToolCall, Tool: s.tools.count(e.Call, geminiTool(e.Tool))}
	case e.Type == "error":
		s.said = e.Message
		return Event{Kind: Other, Text: shown(e.Message)}
	case e.Type == "result":
		s.last = e
		s.answer.Usage = e.Stats
	}
	return Event{Kind: Other}
}

func geminiTool(name string) string {
	switch name {
	case "google_web_search":
		return SearchCalls
	case "web_fetch":
		return FetchCalls
	}
	return name
}

func (s *geminiStream) done() bool { return s.last != nil }

func (s *geminiStream) result(stderr string) (Answer, *Error) {
	s.answer.ToolCalls = s.tools.counts
	switch {
	case s.last == nil && strings.Contains(stderr, "Error resuming session"):
		return s.answer, &Error{Kind: Unavailable, Message: "gemini" + lastLine(stderr), SessionGone: true}
	case s.last == nil && strings.Contains(stderr, "auth method"):
		return s.answer, failf(Auth, "gemini%s", lastLine(stderr))
	case s.last == nil || s.last.Status == "success":
		return s.answer, nil
	case strings.Contains(s.said, "empty response"):
		return s.answer, failf(Empty, "gemini: %s", shown(s.said))
	case s.last.Error.Message != "":
		return s.answer, fromWords("gemini", s.last.Error.Message)
	}
	return s.answer, fromWords("gemini", s.said)
}
