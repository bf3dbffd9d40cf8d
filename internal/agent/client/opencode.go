package client

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// opencode is opencode, `opencode run`. It takes what its permissions deny out of
// the model's list of tools. It looks for the person's configuration in a folder of
// the attempt's own, so that none counts; the login lies elsewhere.
var opencode = client{
	name:   "opencode",
	oldest: "1.18.0",
	tested: "1.18.33",
	get:    "npm install -g opencode-ai",
	login:  "opencode auth login",
	variables: []string{
		"OPENCODE_API_KEY", "OPENCODE_ENABLE_EXA", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL",
		"OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY",
	},
	prepare:  prepareOpencode,
	stream:   func() sandbox.Stream { return &opencodeStream{} },
	loggedIn: func([]string) []string { return nil }, // its list of logins knows nothing of keys and local models
}

func prepareOpencode(task driver.Task, resume string, f *sandbox.Folder, _ []string) (args, variables []string, err error) {
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	permission := map[string]any{"*": "deny"}
	allow := func(tools ...string) {
		for _, tool := range left(task, opencodeTool, tools...) {
			permission[tool] = "allow"
		}
	}
	if task.Tools.Web {
		allow("webfetch", "websearch")
	}
	if task.Tools.Write {
		allow("read", "edit", "glob", "grep", "list", "bash")
	}
	if task.Tree != "" {
		allow("read", "glob", "grep", "list")
		permission["external_directory"] = map[string]string{"*": "deny", task.Tree + "/**": "allow"}
	}
	servers := map[string]local{}
	for _, server := range task.Tools.MCP {
		servers[server.Name] = local{"local", append([]string{server.Command}, server.Args...), true}
		allow(server.Name + "_*")
	}
	config, err := json.Marshal(map[string]any{"permission": permission, "mcp": servers, "share": "disabled", "autoupdate": false})
	if err != nil {
		return nil, nil, err
	}
	args = []string{"run", "--format", "json", "--title=" + task.Job} // without a title it asks a model for one; in one word, it is never a flag
	if task.Model != "" {
		args = append(args, "--model", task.Model)
	}
	if resume != "" {
		args = append(args, "--session", resume)
	}
	if err := f.Root.MkdirAll("config/opencode", 0o700); err != nil {
		return nil, nil, err
	}
	variables = []string{"OPENCODE_CONFIG_CONTENT=" + string(config), "XDG_CONFIG_HOME=" + f.In("config")}
	// Otherwise it fetches a package for plugins into each folder of a configuration.
	variables = append(variables, "npm_config_offline=true")
	for _, what := range []string{"MODELS_FETCH", "AUTOUPDATE", "PROJECT_CONFIG", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "CLAUDE_CODE"} {
		variables = append(variables, "OPENCODE_DISABLE_"+what+"=1")
	}
	return args, variables, nil
}

// opencodeStream reads the events of `opencode run --format json`.
type opencodeStream struct {
	lines
	answer  driver.Answer
	tools   driver.ToolCalls
	message string // the id of the message that is the answer so far
	ended   bool
	failed  *opencodeFailure
}

type opencodeFailure struct {
	Name string `json:"name"`
	Data struct {
		Message string            `json:"message"`
		Status  int               `json:"statusCode"`
		Headers map[string]string `json:"responseHeaders"`
	} `json:"data"`
}

type opencodeEvent struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Message string `json:"messageID"`
		Text    string `json:"text"`
		Call    string `json:"callID"`
		Tool    string `json:"tool"`
		Reason  string `json:"reason"`
		Cost    *float64
		Tokens  struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error *opencodeFailure `json:"error"`
}

func (s *opencodeStream) Take(chunk []byte, event func(driver.Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *opencodeStream) read(e *opencodeEvent) driver.Event {
	if e.Session != "" {
		s.answer.Session = e.Session
	}
	switch e.Type {
	case "step_start":
		s.ended = false
		return driver.Event{Kind: driver.Started}
	case "text":
		if e.Part.Message != s.message {
			s.message, s.answer.Text = e.Part.Message, ""
		}
		s.answer.Text += e.Part.Text
		return driver.Event{Kind: driver.Message, Text: driver.Shown(e.Part.Text)}
	case "tool_use":
		return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(e.Part.Call, opencodeTool(e.Part.Tool))}
	case "step_finish":
		tokens := e.Part.Tokens
		if s.answer.Usage == nil {
			s.answer.Usage = &driver.Usage{}
		}
		s.answer.Usage.Input += tokens.Input + tokens.Cache.Read + tokens.Cache.Write
		s.answer.Usage.Output += tokens.Output + tokens.Reasoning
		if e.Part.Cost != nil {
			sum := *e.Part.Cost
			if s.answer.CostUSD != nil {
				sum += *s.answer.CostUSD
			}
			s.answer.CostUSD = &sum
		}
		s.ended = e.Part.Reason != "tool-calls"
		if s.ended && e.Part.Message != s.message {
			s.answer.Text = "" // what an earlier step said is not the answer
		}
		if e.Part.Reason == "content-filter" {
			s.failed = &opencodeFailure{Name: "content-filter"}
			s.failed.Data.Message = "the model refused"
		}
	case "error":
		s.ended = true
		s.failed = e.Error
	}
	return driver.Event{Kind: driver.Other}
}

func opencodeTool(name string) string {
	switch name {
	case "websearch":
		return driver.SearchCalls
	case "webfetch":
		return driver.FetchCalls
	}
	return name
}

func (s *opencodeStream) Done() bool { return s.ended }

func (s *opencodeStream) Result(stderr string) (driver.Answer, *driver.Error) {
	s.answer.ToolCalls = s.tools.Counts
	if strings.Contains(stderr, "Session not found") {
		return s.answer, &driver.Error{Kind: driver.Unavailable, Message: "opencode" + driver.LastLine(stderr), SessionGone: true}
	}
	if s.failed == nil {
		return s.answer, nil
	}
	data := s.failed.Data
	failure := driver.FailureIn("opencode", data.Message)
	switch {
	case s.failed.Name == "ProviderAuthError":
		failure.Kind = driver.Auth
	case data.Status != 0:
		failure.Kind = driver.KindOf(data.Status)
	}
	if seconds, err := strconv.Atoi(data.Headers["retry-after"]); err == nil && failure.Kind == driver.Rate {
		failure.Wait = time.Duration(min(max(seconds, 0), int(driver.LongestWait/time.Second))) * time.Second
	}
	return s.answer, failure
}
