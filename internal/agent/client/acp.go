package client

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// acp is the driver of any agent that speaks the Agent Client Protocol, version
// 1, on its standard streams. The agent writes to a file, as every other client
// does, so it never has to wait and nothing is dropped. Of what it writes, only
// what it was asked for is kept.
type acp struct {
	settings driver.Settings
	machine  sandbox.Machine
	argv     []string
}

func newACP(settings driver.Settings, machine sandbox.Machine, command string) (driver.Driver, error) {
	argv, ok := words(command)
	if !ok {
		return nil, driver.Invalid(settings, "%q names no program; expected acp:COMMAND, with quotes that are closed", settings.Driver)
	}
	return &acp{settings, machine, argv}, nil
}

func (d *acp) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	key, resume, err := session(task)
	if err != nil {
		return driver.Answer{}, err
	}
	return d.converse(ctx, task, key, &acpStream{name: d.argv[0], resume: resume}, event)
}

// acpVariables are for agents that need more than the protocol says; others do not
// know them. Those for Claude Code keep it from hiding the tools of MCP servers
// behind a tool that searches for tools, and from trying for minutes.
var acpVariables = []string{"ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_MAX_RETRIES=2"}

// Check shakes hands with the agent and returns its version. Whether it is
// logged in shows with the first task.
func (d *acp) Check(ctx context.Context) (string, error) {
	task := driver.Task{Limits: driver.Limits{Deadline: sandbox.ProbeLimit}}
	answer, err := d.converse(ctx, task, "", &acpStream{name: d.argv[0], greeting: true}, func(driver.Event) {})
	return answer.Version, err
}

func (d *acp) converse(ctx context.Context, task driver.Task, key string, s *acpStream, event func(driver.Event)) (driver.Answer, error) {
	path, err := sandbox.Find(d.machine.Environ, d.argv[0])
	if err != nil {
		return driver.Answer{}, driver.CannotStart(d.argv[0], err)
	}
	return d.machine.InFolder(key, task, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
		input, output, err := os.Pipe()
		if err != nil {
			return driver.Answer{}, driver.Failf(driver.Unavailable, "%s cannot be started: %v", d.argv[0], err)
		}
		s.task = task
		s.input = newMailbox(output)
		defer s.input.close()
		s.greet()
		a := &sandbox.Attempt{Name: d.argv[0], Task: task, Stream: s, Output: sandbox.MaxOutput, Served: true, Now: d.machine.Now, Event: event}
		l, err := d.machine.Prepare(f, programOf(d.settings, path, d.argv[1:], task), d.settings.Env)
		if err != nil {
			input.Close()
			return driver.Answer{}, err
		}
		defer l.Close()
		l.Env = append(l.Env, acpVariables...)
		c := l.Command(path, d.argv[1:], task.Folder)
		c.Stdin = input
		answer, err := a.RunIn(ctx, l, c, f)
		if answer.Session != "" {
			answer.Session = f.Key + "/" + answer.Session
		}
		if failure, ok := err.(*driver.Error); ok && failure.Kind == driver.Auth {
			failure.Help = d.argv[0] + ", and log in, or name its key in env of tidegate.toml"
		}
		return answer, err
	})
}

// mailbox writes to an agent that reads when it likes.
type mailbox struct {
	mu    sync.Mutex
	more  *sync.Cond
	queue [][]byte
	ended bool
	to    *os.File
}

func newMailbox(to *os.File) *mailbox {
	m := &mailbox{to: to}
	m.more = sync.NewCond(&m.mu)
	go func() {
		for {
			m.mu.Lock()
			for len(m.queue) == 0 && !m.ended {
				m.more.Wait()
			}
			queue := m.queue
			m.queue = nil
			m.mu.Unlock()
			if queue == nil {
				m.to.Close()
				return
			}
			for _, line := range queue {
				if _, err := m.to.Write(line); err != nil {
					break
				}
			}
		}
	}()
	return m
}

func (m *mailbox) put(line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, line)
	m.more.Signal()
}

// finish closes the agent's input once all is written, which asks it to exit.
func (m *mailbox) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.more.Signal()
}

// close closes the agent's input at once.
func (m *mailbox) close() {
	m.finish()
	m.to.Close()
}

// Forget implements the interface that [Forget] looks for.
func (d *acp) Forget(session string) { d.machine.Forget(session) }

// acpStream is one conversation by the Agent Client Protocol: greeting, session,
// mode, model, prompt. Requests go one after the other; what the agent asks
// meanwhile is answered by the task's policy.
type acpStream struct {
	lines
	name     string // of the program, for messages
	task     driver.Task
	resume   string // the session to continue
	greeting bool   // nothing but the greeting is wanted
	input    *mailbox

	number  int                   // of the request that is under way
	then    func(json.RawMessage) // takes its result
	asked   bool                  // the agent has the prompt
	message string                // id of the message that is the answer so far
	said    strings.Builder       // the text of that message
	answer  driver.Answer
	tools   driver.ToolCalls
	failed  *driver.Error
	ended   bool
}

type object = map[string]any

func (s *acpStream) Done() bool { return s.ended }

func (s *acpStream) Result(string) (driver.Answer, *driver.Error) {
	s.answer.ToolCalls, s.answer.Text = s.tools.Counts, s.said.String()
	if s.greeting && s.failed == nil {
		s.answer.Text = s.answer.Version + "." // an answer that is not empty
	}
	if s.failed == nil && s.ended && !s.greeting {
		s.failed = failureAsAnswer(s.name, s.answer.Text)
	}
	return s.answer, s.failed
}

// failureAsAnswer is the failure that some agents hand over as their answer, with a
// stop reason that says that all went well: codex-acp, copilot and goose do. It
// is one line; an answer to a job never is.
func failureAsAnswer(name, text string) *driver.Error {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "\n") || !errorLine().MatchString(text) {
		return nil
	}
	return driver.FailureIn(name, text)
}

var errorLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*(?:api |internal |request |server |network )?(?:error|failed)\b|^unexpected status \d|^exceeded retry limit|^stream disconnected`)
})

func (s *acpStream) send(message object) {
	message["jsonrpc"] = "2.0"
	s.input.put(append(driver.Marshal(message), '\n'))
}

func (s *acpStream) ask(method string, params object, then func(json.RawMessage)) {
	s.number++
	s.then = then
	s.send(object{"id": s.number, "method": method, "params": params})
}

func (s *acpStream) end(failure *driver.Error) {
	s.failed = failure
	s.ended = true
	s.input.finish()
}

func (s *acpStream) greet() {
	s.ask("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"fs": object{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         object{"name": "tidegate", "version": "1"},
	}, s.greeted)
}

func (s *acpStream) greeted(result json.RawMessage) {
	var hello struct {
		Protocol int `json:"protocolVersion"`
		Agent    struct {
			Version string `json:"version"`
		} `json:"agentInfo"`
		Can struct {
			Load bool `json:"loadSession"`
		} `json:"agentCapabilities"`
	}
	json.Unmarshal(result, &hello)
	s.answer.Version = hello.Agent.Version
	servers := []object{}
	for _, server := range s.task.Tools.MCP {
		servers = append(servers, object{"name": server.Name, "command": server.Command, "args": append([]string{}, server.Args...), "env": []object{}})
	}
	params := object{"cwd": s.task.Folder, "mcpServers": servers}
	switch {
	case hello.Protocol != 1:
		s.end(driver.Failf(driver.Unavailable, "%s speaks version %d of the Agent Client Protocol; expected 1", s.name, hello.Protocol))
	case s.greeting:
		s.end(nil)
	case s.resume == "":
		s.ask("session/new", params, s.opened)
	case hello.Can.Load:
		params["sessionId"] = s.resume
		s.answer.Session = s.resume
		s.ask("session/load", params, s.opened)
	default:
		s.end(&driver.Error{Kind: driver.Unavailable, Message: s.name + " cannot continue a session", SessionGone: true})
	}
}

// acpSession is what an agent says of a session that it opened, as far as it is
// used. Agents differ in where they have modes and models.
type acpSession struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current   string    `json:"currentModeId"`
		Available []acpMode `json:"availableModes"`
	} `json:"modes"`
	Models  json.RawMessage `json:"models"`
	Options []struct {
		ID       string `json:"id"`
		Category string `json:"category"`
		Current  any    `json:"currentValue"`
	} `json:"configOptions"`
}

type acpMode struct {
	ID string `json:"id"`
}

// Modes, the best first. In the first group the agent asks before it writes, and
// is refused; some agents write without asking in the mode in which they start.
var (
	askingModes  = []string{"read-only", "default", "ask", "manual"}
	writingModes = []string{"acceptEdits", "auto-edit", "autoEdit", "agent", "build", "auto", "code"}
)

func (s *acpStream) opened(result json.RawMessage) {
	var session acpSession
	json.Unmarshal(result, &session)
	s.answer.Session = cmp.Or(session.ID, s.answer.Session)
	wanted := askingModes
	if s.task.Tools.Write {
		wanted = writingModes
	}
	for _, mode := range wanted {
		if !slices.ContainsFunc(session.Modes.Available, func(m acpMode) bool { return m.ID == mode }) {
			continue
		}
		// An agent that loaded a session may still be sending its history: setting
		// the mode that it has gives it time to finish.
		if mode != session.Modes.Current || s.resume != "" {
			s.ask("session/set_mode", object{"sessionId": s.answer.Session, "modeId": mode}, func(json.RawMessage) { s.choose(session) })
			return
		}
		break
	}
	s.choose(session)
}

// choose sets the model, where the task names one and the agent allows it.
func (s *acpStream) choose(session acpSession) {
	prompt := func(json.RawMessage) { s.prompt() }
	if s.task.Model != "" {
		for _, option := range session.Options {
			if option.Category == "model" || option.ID == "model" {
				s.ask("session/set_config_option", object{"sessionId": s.answer.Session, "configId": option.ID, "value": s.task.Model}, prompt)
				return
			}
		}
		if session.Models != nil {
			s.ask("session/set_model", object{"sessionId": s.answer.Session, "modelId": s.task.Model}, prompt)
			return
		}
		s.end(driver.Failf(driver.Unavailable, "%s takes no model by name; leave the model out", s.name))
		return
	}
	s.prompt()
}

func (s *acpStream) prompt() {
	s.asked = true
	s.ask("session/prompt", object{
		"sessionId": s.answer.Session, "prompt": []object{{"type": "text", "text": s.task.Prompt}},
	}, s.finished)
}

func (s *acpStream) finished(result json.RawMessage) {
	var end struct {
		Reason string    `json:"stopReason"`
		Usage  *acpUsage `json:"usage"`
		Meta   struct {
			Usage *acpUsage `json:"usage"`
			Quota struct {
				Count *driver.Usage `json:"token_count"`
			} `json:"quota"`
		} `json:"_meta"`
	}
	json.Unmarshal(result, &end)
	s.answer.Usage = end.Meta.Quota.Count
	if usage := cmp.Or(end.Usage, end.Meta.Usage); usage != nil {
		s.answer.Usage = &driver.Usage{Input: usage.Input + usage.Read + usage.Written, Output: usage.Output}
	}
	switch end.Reason {
	case "end_turn":
		s.end(nil)
	case "refusal":
		s.end(driver.Failf(driver.Refused, "%s refused", s.name))
	case "max_turn_requests":
		s.end(driver.Failf(driver.Deadline, "%s used up the requests that it allows itself", s.name))
	default:
		s.end(driver.Failf(driver.Died, "%s stopped: %s", s.name, driver.Shown(end.Reason)))
	}
}

type acpUsage struct {
	Input   int64 `json:"inputTokens"`
	Read    int64 `json:"cachedReadTokens"`
	Written int64 `json:"cachedWriteTokens"`
	Output  int64 `json:"outputTokens"`
}

type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *acpFailure     `json:"error"`
}

type acpFailure struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (s *acpStream) Take(chunk []byte, event func(driver.Event)) {
	readEvents(&s.lines, chunk, event, s.read)
}

func (s *acpStream) read(m *acpMessage) driver.Event {
	switch {
	case s.ended:
	case m.Method == "session/update":
		return s.update(m.Params)
	case m.Method != "" && m.ID != nil:
		s.reply(m)
	case m.Method == "" && m.ID != nil:
		var number int
		if json.Unmarshal(m.ID, &number) != nil || number != s.number {
			break // an answer to nothing that was asked
		}
		if m.Error != nil {
			s.end(s.refused(m.Error))
			break
		}
		s.then(m.Result)
		return driver.Event{Kind: driver.Started}
	}
	return driver.Event{Kind: driver.Other}
}

// refused is the failure for which an agent refused a request.
func (s *acpStream) refused(e *acpFailure) *driver.Error {
	failure := driver.FailureIn(s.name, strings.TrimSpace(e.Message+" "+string(e.Data)))
	if e.Code == -32000 { // authentication required
		failure.Kind = driver.Auth
	}
	if s.resume != "" && !s.asked && failure.Kind == driver.Died {
		failure.Kind, failure.SessionGone = driver.Unavailable, true
	}
	return failure
}

// update takes what the agent sends while it works. What it sends while it loads
// an old session is old.
func (s *acpStream) update(params json.RawMessage) driver.Event {
	var sent struct {
		Update struct {
			Kind    string `json:"sessionUpdate"`
			Message string `json:"messageId"`
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
			Call     string `json:"toolCallId"`
			Title    string `json:"title"`
			ToolKind string `json:"kind"`
			Cost     *struct {
				Amount   float64 `json:"amount"`
				Currency string  `json:"currency"`
			} `json:"cost"`
		} `json:"update"`
	}
	json.Unmarshal(params, &sent)
	u := sent.Update
	if !s.asked {
		return driver.Event{Kind: driver.Other}
	}
	switch u.Kind {
	case "agent_message_chunk":
		if u.Message != s.message {
			s.message = u.Message // another message
			s.said.Reset()
		}
		s.said.WriteString(u.Content.Text)
		return driver.Event{Kind: driver.Message, Text: driver.Shown(u.Content.Text)}
	case "tool_call":
		s.said.Reset() // what it said before it called a tool is not its answer
		return driver.Event{Kind: driver.ToolCall, Tool: s.tools.Count(u.Call, acpTool(u.ToolKind, u.Title))}
	case "usage_update":
		if u.Cost != nil && u.Cost.Currency == "USD" {
			s.answer.CostUSD = &u.Cost.Amount
		}
	}
	return driver.Event{Kind: driver.Other}
}

// acpTool is the name by which a call is counted. The protocol has kinds of
// tools, not names, and no kind for searching the web.
func acpTool(kind, title string) string {
	switch title = strings.ToLower(title); {
	case (kind == "search" || kind == "fetch") && strings.Contains(title, "web") && strings.Contains(title, "search"), kind == "fetch" && strings.Contains(title, "search"):
		return driver.SearchCalls
	case kind == "fetch":
		return driver.FetchCalls
	}
	return cmp.Or(kind, "other")
}

// reply answers a request of the agent: a permission by the task's policy, and
// everything else with a refusal, because nothing else was offered.
func (s *acpStream) reply(m *acpMessage) {
	if m.Method != "session/request_permission" {
		s.send(object{"id": m.ID, "error": object{"code": -32601, "message": "not offered"}})
		return
	}
	var request struct {
		Call struct {
			Title string `json:"title"`
			Kind  string `json:"kind"`
		} `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	json.Unmarshal(m.Params, &request)
	kind := "reject_once"
	if s.allows(request.Call.Kind, request.Call.Title) {
		kind = "allow_once"
	}
	outcome := object{"outcome": "cancelled"}
	for _, option := range request.Options {
		if option.Kind == kind {
			outcome = object{"outcome": "selected", "optionId": option.ID}
			break
		}
	}
	s.send(object{"id": m.ID, "result": object{"outcome": outcome}})
}

func (s *acpStream) allows(kind, title string) bool {
	tools, counted := s.task.Tools, acpTool(kind, title)
	if !s.task.MayUse(counted, title) {
		return false
	}
	switch counted {
	case driver.SearchCalls, driver.FetchCalls:
		return tools.Web
	case "read", "edit", "delete", "move", "search", "execute":
		return tools.Write
	}
	return slices.ContainsFunc(tools.MCP, func(server driver.Server) bool {
		return strings.HasPrefix(title, server.Name) || strings.HasPrefix(title, "mcp__"+server.Name+"__") || strings.HasPrefix(title, "mcp_"+server.Name+"_")
	})
}
