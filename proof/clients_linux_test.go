package proof_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// clientWord makes the test binary a hostile client: an agent that a driver starts, and
// that says of itself, its session, its tools and what it cost whatever it likes.
const clientWord = "hostile-client"

func init() {
	if len(os.Args) < 4 || os.Args[1] != clientWord {
		return
	}
	if err := (&hostileClient{os.Args[2], os.Args[3], os.Args[4:]}).work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// hostileClient is one start of a hostile client. In its folder are the poison, what
// it was started with, and what it and the test wait for.
type hostileClient struct {
	name, folder string
	args         []string
}

func (c *hostileClient) path(name string) string { return filepath.Join(c.folder, name) }

func (c *hostileClient) work() error {
	poison, err := os.ReadFile(c.path("poison"))
	if err != nil {
		return err
	}
	if slices.Contains(c.args, "--version") {
		fmt.Printf("9.9.9 %s\n", poison)
		return nil
	}
	if slices.Contains(c.args, "status") {
		return nil // it is logged in
	}
	if c.name == "acp" {
		return c.converse(string(poison))
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	c.say(c.events(string(poison)))
	answer, err := c.answer(string(prompt))
	if err != nil {
		return err
	}
	if answer == "" {
		c.say(c.failure(string(poison)))
		fmt.Fprintf(os.Stderr, "%s\n", poison)
		os.Exit(1)
	}
	tokens, cost := c.took()
	c.say(c.end(string(poison), answer, tokens, cost))
	return nil
}

func (c *hostileClient) say(lines []any) {
	for _, line := range lines {
		if text, ok := line.(string); ok {
			fmt.Println(text)
			continue
		}
		text, _ := json.Marshal(line)
		fmt.Println(string(text))
	}
}

// answer notes the start, lets the test look while the first one works, and then
// answers: badly the first time, not at all the second time, with figures that cannot
// be the third time, and with the example of the prompt from then on.
func (c *hostileClient) answer(prompt string) (string, error) {
	started, err := os.OpenFile(c.path("started"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(started, asJSON(c.args))
	started.Close()
	if !soon(func() bool { _, err := os.Stat(c.path("looked")); return err == nil }) {
		return "", fmt.Errorf("nobody looks")
	}
	for _, time := range []struct{ name, answer string }{{"first", "{}"}, {"second", ""}, {"third", "{}"}} {
		if err := os.Mkdir(c.path(time.name), 0o700); err == nil {
			return time.answer, nil
		}
	}
	if err := os.MkdirAll(c.path("last"), 0o700); err != nil {
		return "", err
	}
	if example := exampleBlock.FindStringSubmatch(prompt); example != nil {
		return example[1], nil
	}
	return "{}", nil
}

// took are the tokens and the cost that it reports: less than nothing the third time.
func (c *hostileClient) took() (tokens int64, cost float64) {
	_, third := os.Stat(c.path("third"))
	if _, last := os.Stat(c.path("last")); third == nil && last != nil {
		return math.MinInt64, -math.MaxFloat64
	}
	return 7, 0.25
}

type object = map[string]any

// events are what it says before its answer.
func (c *hostileClient) events(p string) []any {
	switch c.name {
	case "claude":
		return []any{p, object{"type": "system", "subtype": "init", "session_id": p, "claude_code_version": p, "model": p, "cwd": p},
			object{"type": "assistant", "session_id": p, "message": object{"content": []any{object{"type": "tool_use", "id": p, "name": p, "input": object{"file_path": p}}}}},
			object{"type": "assistant", "message": object{"content": []any{object{"type": "text", "text": p}}}}}
	case "codex":
		return []any{p, object{"type": "thread.started", "thread_id": p},
			object{"type": "item.completed", "item": object{"id": p, "type": "mcp_tool_call", "server": p, "tool": p}},
			object{"type": "item.completed", "item": object{"id": p, "type": "agent_message", "text": p}}}
	case "opencode":
		return []any{p, object{"type": "step_start", "sessionID": p, "part": object{"id": p, "messageID": p, "sessionID": p, "type": "step-start"}},
			object{"type": "tool_use", "sessionID": p, "part": object{"type": "tool", "tool": p, "callID": p, "state": object{"status": "completed", "title": p, "output": p}}}}
	}
	return []any{p, object{"type": "init", "session_id": p, "model": p},
		object{"type": "tool_use", "tool_name": p, "tool_id": p, "parameters": object{"file_path": p}}}
}

// end is its answer, with what it took.
func (c *hostileClient) end(p, answer string, tokens int64, cost float64) []any {
	switch c.name {
	case "claude":
		return []any{object{"type": "result", "subtype": "success", "result": answer, "session_id": p, "total_cost_usd": cost,
			"usage": object{"input_tokens": tokens, "output_tokens": tokens}}}
	case "codex":
		return []any{object{"type": "item.completed", "item": object{"id": "a", "type": "agent_message", "text": answer}},
			object{"type": "turn.completed", "usage": object{"input_tokens": tokens, "output_tokens": tokens}}}
	case "opencode":
		return []any{object{"type": "text", "sessionID": p, "part": object{"id": p, "messageID": "a", "sessionID": p, "type": "text", "text": answer}},
			object{"type": "step_finish", "sessionID": p, "part": object{"reason": "stop", "messageID": "a", "type": "step-finish", "cost": cost,
				"tokens": object{"input": tokens, "output": tokens}}}}
	}
	return []any{object{"type": "message", "role": "assistant", "content": answer, "delta": true},
		object{"type": "result", "status": "success", "stats": object{"input_tokens": tokens, "output_tokens": tokens}}}
}

// failure is why it has no answer.
func (c *hostileClient) failure(p string) []any {
	switch c.name {
	case "claude":
		return []any{object{"type": "result", "subtype": p, "is_error": true, "result": p, "session_id": p}}
	case "codex":
		return []any{object{"type": "turn.failed", "error": object{"message": p}}}
	case "opencode":
		return []any{object{"type": "error", "sessionID": p, "error": object{"name": p, "data": object{"message": p}}}}
	}
	return []any{object{"type": "result", "status": "error", "error": object{"type": p, "message": p}}}
}

// converse speaks the Agent Client Protocol.
func (c *hostileClient) converse(p string) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	update := func(what object) object {
		return object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": p, "update": what}}
	}
	for lines.Scan() {
		var asked struct {
			ID     int
			Method string
			Params struct{ Prompt []struct{ Text string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		result := object{}
		switch asked.Method {
		case "":
			continue // the answer to a question of its own
		case "initialize":
			result = object{"protocolVersion": 1, "agentInfo": object{"name": p, "version": p}, "agentCapabilities": object{"loadSession": true}}
		case "session/new", "session/load":
			result = object{"sessionId": p}
		case "session/prompt":
			c.say([]any{p,
				update(object{"sessionUpdate": "tool_call", "toolCallId": p, "title": p, "kind": p, "rawInput": object{"command": p}}),
				object{"jsonrpc": "2.0", "id": 900, "method": "terminal/create", "params": object{"sessionId": p, "command": "touch", "args": []string{pwned}}},
				object{"jsonrpc": "2.0", "id": 901, "method": "fs/write_text_file", "params": object{"sessionId": p, "path": c.path(pwned), "content": p}},
				object{"jsonrpc": "2.0", "id": 902, "method": "session/request_permission", "params": object{"sessionId": p, "toolCall": object{"toolCallId": p, "title": p},
					"options": []any{object{"optionId": p, "name": p, "kind": "allow_always"}}}}})
			prompt := ""
			for _, part := range asked.Params.Prompt {
				prompt += part.Text
			}
			answer, err := c.answer(prompt)
			if err != nil {
				return err
			}
			if answer == "" {
				c.say([]any{object{"jsonrpc": "2.0", "id": asked.ID, "error": object{"code": -32603, "message": p, "data": p}}})
				continue
			}
			tokens, cost := c.took()
			c.say([]any{
				update(object{"sessionUpdate": "usage_update", "used": tokens, "cost": object{"amount": cost, "currency": p}}),
				update(object{"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": object{"type": "text", "text": answer}})})
			result = object{"stopReason": "end_turn", "usage": object{"inputTokens": tokens, "outputTokens": tokens}}
		}
		c.say([]any{object{"jsonrpc": "2.0", "id": asked.ID, "result": result}})
	}
	return lines.Err()
}

// TestNothingThatAClientSaysBecomesMore has each driver start a client whose session,
// version, tools, events and figures are poison. It looks at the pages while the client
// works and after it, at what every later client is started with, at what the program
// prints, and at the files: nothing of it is an argument, a path, markup or a control,
// and no figure gives budget back. The short form has all of the poison at once and three
// clients, and types another command for each.
func TestNothingThatAClientSaysBecomesMore(t *testing.T) {
	t.Parallel()
	all := ""
	for _, p := range poison {
		all += p.text + " "
	}
	planted := append(slices.Clone(poison), struct{ name, text string }{"flag", "--dangerously-skip-permissions=" + pwned})
	if !full.Asked() {
		planted = nil
	}
	for _, p := range append(planted, struct{ name, text string }{"all", all}) {
		clients := []string{"claude", "codex", "opencode", "gemini", "acp"}
		for i := 0; i < len(clients); i += full.Stride(len(clients), 3) {
			name := clients[i]
			t.Run(name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				c := &hostileClient{name: name, folder: t.TempDir()}
				o.besetBy(t, c, p.text, i)
			})
		}
	}
}

// besetBy drives the first job of a run with the client. Shift chooses which commands
// show it, where not all of them are typed.
func (o *office) besetBy(t *testing.T, c *hostileClient, text string, shift int) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	program := c.path(c.name)
	for path, data := range map[string]string{c.path("poison"): text, program: fmt.Sprintf("#!/bin/sh\nexec '%s' %s %s '%s' \"$@\"\n", self, clientWord, c.name, c.folder)} {
		must.Do(t, os.WriteFile(path, []byte(data), 0o700))
	}
	agent := c.name
	if agent == "acp" {
		agent = "acp:" + program
	}
	work := filepath.Join(o.dir, "somewhere")
	must.Do(t, os.Mkdir(work, 0o700))
	// The person lets it note what becomes of it.
	person := t.TempDir()
	settings := filepath.Join(person, ".config", "tidegate", "tidegate.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(settings), 0o700))
	must.Do(t, os.WriteFile(settings, fmt.Appendf(nil, "[agents.default]\nread = [%q]\nwrite = [%q]\n", self, c.folder), 0o600))
	env := append(os.Environ(), "TIDEGATE_HOME="+o.dir, "HOME="+person, "XDG_CONFIG_HOME=", "COLUMNS=100", "PATH="+c.folder+":"+os.Getenv("PATH"), "OPENAI_API_KEY=k", "GEMINI_API_KEY=k")
	typed := func(words ...string) string {
		t.Helper()
		command := exec.Command(binary, words...)
		command.Dir, command.Env = work, env
		out, err := command.CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatalf("tidegate %q: %v", words, err)
		}
		checkPlain(t, strings.Join(words, " "), string(out))
		return string(out)
	}
	shownBy := func(commands ...string) (shown string) {
		t.Helper()
		stride := full.Stride(len(commands), 1)
		for i := shift % stride; i < len(commands); i += stride {
			shown += typed(strings.Fields(commands[i])...)
		}
		return shown
	}
	pages := o.serves(t, "serve")
	jar := must.Get(cookiejar.New(nil))(t)
	base, token, _ := strings.Cut(pages.url, "?")
	browser := &http.Client{Jar: jar, Timeout: time.Minute}
	show := func(path string) string {
		t.Helper()
		answer := must.Get(browser.Get(base + path))(t)
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %v", path, answer.Status, err)
		}
		checkPage(t, path, string(page))
		return string(page)
	}
	views := []string{"?" + token, "runs/tides", "runs/tides/jobs", "runs/tides/jobs/perspectives", "runs/tides/log", "runs/tides/outputs", "runs/tides/gates"}

	research := exec.Command(binary, "research", "Tides: "+question, "--agent", agent, "--plan-only", "--yes")
	research.Dir, research.Env = work, env
	said := make(chan string, 1)
	go func() {
		out, _ := research.CombinedOutput()
		said <- string(out)
	}()
	if !soon(func() bool { _, err := os.Stat(c.path("started")); return err == nil || len(said) > 0 }) || len(said) > 0 {
		t.Fatalf("the client is not started:\n%s", <-said)
	}
	for _, view := range views {
		show(view)
	}
	stream := must.Get(browser.Get(base + "runs/tides/events?after=0"))(t)
	for lines := bufio.NewScanner(stream.Body); lines.Scan() && lines.Text() != "event: line"; {
		if !regexp.MustCompile(`^((retry|id): \d+)?$`).MatchString(lines.Text()) {
			t.Errorf("the stream says %q", lines.Text())
		}
	}
	stream.Body.Close()
	shownBy("run status tides", "job list tides", "run log tides")
	must.Do(t, os.Mkdir(c.path("looked"), 0o700))
	out := <-said
	checkPlain(t, "research", out)
	if !strings.Contains(out, "the plan waits for your yes") {
		t.Errorf("research does not end with its plan:\n%s", out)
	}
	shown := out + shownBy("run status tides", "job list tides", "job show tides perspectives", "run log tides", "run verify tides")
	for _, view := range views[1:] {
		shown += show(view)
	}
	if !strings.Contains(shown, pwned) {
		t.Errorf("nothing of the poison is seen, so that this shows nothing:\n%s", out)
	}
	c.checkStarts(t)
	c.checkAttempts(t, o.run("tides"))
	poisoner{folder: o.run("tides")}.checkFiles(t)
	for _, place := range []string{c.folder, work} {
		if _, err := os.Stat(filepath.Join(place, pwned)); err == nil {
			t.Errorf("%s has a file of the client's", place)
		}
	}
}

// checkStarts demands that nothing of what a client said is among what it was started
// with later.
func (c *hostileClient) checkStarts(t *testing.T) {
	t.Helper()
	data := must.Get(os.ReadFile(c.path("started")))(t)
	starts := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(starts) < 4 {
		t.Errorf("the client was started %d times; the answer was to be repaired, that was to fail, and the next was to lie", len(starts))
	}
	for _, start := range starts {
		if strings.Contains(start, pwned) {
			t.Errorf("the client is started with %s", start)
		}
	}
}

// checkAttempts demands that what is kept of the attempts can be read, and that no
// figure is below nothing.
func (c *hostileClient) checkAttempts(t *testing.T, f folder) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(f.path("jobs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" && filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			if filepath.Ext(path) == ".json" {
				line = string(data)
			}
			value, err := codec.Parse([]byte(line))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			read++
			for _, each := range value.Get("submissions").Elems() {
				for _, m := range each.Get("usage").Members() {
					if n, _ := m.Value.Float(); n < 0 {
						t.Errorf("%s: %s is %v", path, m.Key, n)
					}
				}
			}
			if filepath.Ext(path) == ".json" {
				break
			}
		}
		return nil
	})
	if err != nil || read < 3 {
		t.Errorf("%d documents, %v", read, err)
	}
}
