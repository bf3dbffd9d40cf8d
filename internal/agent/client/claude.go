package client

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// claude is Claude Code, `claude -p`. One list (--tools) says which tools the model
// has at all, another (--allowedTools) what it may do with them without a person,
// and nobody is asked (dontAsk). The person's settings, hooks, plugins, skills and
// MCP servers do not count.
var claude = client{
	name:      "claude",
	oldest:    "2.1.0",
	tested:    "2.1.325",
	get:       "npm install -g @anthropic-ai/claude-code",
	login:     "claude auth login",
	variables: []string{"ANTHROPIC_*", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*"},
	further: map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK": {"AWS_*"},
		"CLAUDE_CODE_USE_VERTEX":  {"CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"},
		"CLAUDE_CODE_USE_FOUNDRY": {"AZURE_*"},
	},
	prepare:  prepareClaude,
	stream:   func() sandbox.Stream { return &claudeStream{} },
	loggedIn: func([]string) []string { return []string{"auth", "status"} },
}

func prepareClaude(task driver.Task, resume string, f *sandbox.Folder, _ []string) (args, variables []string, err error) {
	args = []string{
		"-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--setting-sources", "",
		"--disable-slash-commands", "--permission-mode", "dontAsk",
	}
	var tools, allowed []string
	if task.Tools.Web {
		tools = append(tools, left(task, claudeTool, "WebSearch", "WebFetch")...)
	}
	if task.Tools.Write {
		tools = append(tools, left(task, claudeTool, "Bash", "Read", "Edit", "Write", "Glob", "Grep")...)
	}
	allowed = slices.Clone(tools)
	if task.Tree != "" && !task.Tools.Write {
		args = append(args, "--add-dir", task.Tree)
		for _, tool := range left(task, claudeTool, "Read", "Glob", "Grep") {
			tools = append(tools, tool)
			allowed = append(allowed, tool+"(/"+task.Tree+"/**)") // a second slash begins a path of the system
		}
	}
	if len(task.Tools.MCP) > 0 {
		if err := f.Write("mcp.json", mcpServers(task.Tools.MCP)); err != nil {
			return nil, nil, err
		}
		args = append(args, "--mcp-config", f.In("mcp.json"))
		for _, server := range task.Tools.MCP {
			allowed = append(allowed, "mcp__"+server.Name)
		}
	}
	args = append(args, "--tools", strings.Join(tools, ","))
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	if task.Model != "" {
		args = append(args, "--model", task.Model)
	}
	if resume != "" {
		args = append(args, "--resume", resume)
	}
	return args, []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_RETRIES=2", // the default goes on for minutes
	}, nil
}

// claudeStream reads the events of `--output-format stream-json`.
type claudeStream struct {
	lines
	answer driver.Answer
	tools  driver.ToolCalls
	last   *claudeEvent  // of type result
	wait   time.Duration // before the client asks its model again
}

type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Version string `json:"claude_code_version"`
	Message struct {
		Content []struct {
			Type string `json:"type"`
			ID   string `json:"id"`
			Name string `json:"name"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`

	// system/api_retry
	RetryStatus int     `json:"error_status"`
	RetryDelay  float64 `json:"retry_delay_ms"`

	// result
	IsError    bool     `json:"is_error"`
	Status     int      `json:"api_error_status"`
	StopReason string   `json:"stop_reason"`
	Result     string   `json:"result"`
	Cost       *float64 `json:"total_cost_usd"`
	Usage      *struct {
		Input   int64 `json:"input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Cached  int64 `json:"cache_read_input_tokens"`
		Output  int64 `json:"output_tokens"`
	} `json:"usage"`
}

func (s *claudeStream) Take(chunk []byte, event func(driver.Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *claudeStream) read(e *claudeEvent) driver.Event {
	if e.Session != "" {
		s.answer.Session = e.Session
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		s.answer.Version = e.Version
		return driver.Event{Kind: driver.Started}
	case e.Type == "system" && e.Subtype == "api_retry":
		s.wait = time.Duration(min(max(e.RetryDelay, 0)*float64(time.Millisecond), float64(driver.LongestWait)))
		return driver.Event{Kind: driver.Other, Text: "asks its model again"}
	case e.Type == "assistant":
		said := driver.Event{Kind: driver.Other}
		for _, part := range e.Message.Content {
			switch part.Type {
			case "tool_use", "server_tool_use":
				said = driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(part.ID, claudeTool(part.Name))}
			case "text":
				said = driver.Event{Kind: driver.Message, Text: driver.Shown(part.Text)}
			}
		}
		return said
	case e.Type == "result":
		s.last = e
		s.answer.Text = e.Result
		s.answer.CostUSD = e.Cost
		if e.Usage != nil {
			s.answer.Usage = &driver.Usage{Input: e.Usage.Input + e.Usage.Created + e.Usage.Cached, Output: e.Usage.Output}
		}
	}
	return driver.Event{Kind: driver.Other}
}

func claudeTool(name string) string {
	switch name {
	case "WebSearch", "web_search":
		return driver.SearchCalls
	case "WebFetch", "web_fetch":
		return driver.FetchCalls
	}
	return name
}

func (s *claudeStream) Done() bool { return s.last != nil }

func (s *claudeStream) Result(stderr string) (driver.Answer, *driver.Error) {
	s.answer.ToolCalls = s.tools.Counts
	switch {
	case strings.Contains(stderr, "No conversation found"):
		return s.answer, &driver.Error{Kind: driver.Unavailable, Message: "claude" + driver.LastLine(stderr), SessionGone: true}
	case s.last == nil:
		return s.answer, nil
	case s.last.StopReason == "refusal":
		return s.answer, driver.Failf(driver.Refused, "the model refused: %s", driver.Shown(s.last.Result))
	case !s.last.IsError && s.last.Subtype == "success":
		return s.answer, nil
	case s.last.Status != 0:
		failure := driver.Failf(driver.KindOf(s.last.Status), "claude: %s", driver.Shown(s.last.Result))
		if failure.Kind == driver.Rate {
			failure.Wait = s.wait
		}
		return s.answer, failure
	}
	return s.answer, driver.FailureIn("claude", cmp.Or(s.last.Result, s.last.Subtype))
}
