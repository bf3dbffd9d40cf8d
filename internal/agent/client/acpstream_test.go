package client

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

const (
	acpHello = `
> {"id":1,"jsonrpc":"2.0","method":"initialize","params":{"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"tidegate","version":"1"},"protocolVersion":1}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"x","version":"4.5.6"}}}
`
	acpNew = `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}
> {"id":3,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"Say hello.","type":"text"}],"sessionId":"s1"}}
`
	acpSays = `
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hel"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lo"}}}}
`
	acpEnds = `
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
`
)

// Conversations: lines that begin with > are the driver's, with < the agent's.
func TestACP(t *testing.T) {
	hello := driver.Answer{Text: "hello", Version: "4.5.6", Session: "s1"}
	with := func(change func(*driver.Answer)) driver.Answer { a := hello; change(&a); return a }
	cost := 0.25
	for _, test := range []struct {
		name   string
		task   driver.Task
		resume string
		script string
		want   driver.Answer
		kind   driver.Kind
		gone   bool
	}{
		{name: "an answer", script: acpHello + acpNew + acpSays + acpEnds, want: hello},
		{
			name: "usage and cost", want: with(func(a *driver.Answer) { a.Usage = &driver.Usage{Input: 33, Output: 5}; a.CostUSD = &cost }),
			script: acpHello + acpNew + acpSays + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"usage_update","used":5,"cost":{"amount":0.25,"currency":"USD"}}}}
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":30,"cachedReadTokens":2,"cachedWriteTokens":1,"outputTokens":5}}}`,
		},
		{
			name: "usage elsewhere", want: with(func(a *driver.Answer) { a.Usage = &driver.Usage{Input: 30, Output: 5} }),
			script: acpHello + acpNew + acpSays + `
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":30,"output_tokens":5}}}}}`,
		},
		{
			name: "what was said before a tool was called", want: with(func(a *driver.Answer) {
				a.ToolCalls = map[string]int{driver.SearchCalls: 2, driver.FetchCalls: 1, "execute": 1}
			}),
			script: acpHello + acpNew + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me look."}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Web search: tides","kind":"search","status":"pending"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Web search: tides","kind":"search"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c2","title":"Searching \"x\"","kind":"fetch"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c3","title":"https://example.org","kind":"fetch"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c4","title":"ls","kind":"execute"}}}
` + acpSays + acpEnds,
		},
		{
			name: "thoughts, and a message that was begun again", want: hello,
			script: acpHello + acpNew + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"hel"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"hello"}}}}
` + acpEnds,
		},
		{
			name: "what nobody offered", want: hello,
			script: acpHello + acpNew + `
< {"jsonrpc":"2.0","id":"q1","method":"fs/write_text_file","params":{"path":"/x","content":"y"}}
> {"error":{"code":-32601,"message":"not offered"},"id":"q1","jsonrpc":"2.0"}
< {"jsonrpc":"2.0","id":7,"method":"terminal/create","params":{"command":"sh"}}
> {"error":{"code":-32601,"message":"not offered"},"id":7,"jsonrpc":"2.0"}
` + acpSays + acpEnds,
		},
		{
			name: "permissions without web", want: hello,
			script: acpHello + acpNew + `
< {"jsonrpc":"2.0","id":10,"method":"session/request_permission","params":{"toolCall":{"title":"touch x","kind":"execute"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
> {"id":10,"jsonrpc":"2.0","result":{"outcome":{"optionId":"n","outcome":"selected"}}}
< {"jsonrpc":"2.0","id":11,"method":"session/request_permission","params":{"toolCall":{"title":"https://example.org","kind":"fetch"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
> {"id":11,"jsonrpc":"2.0","result":{"outcome":{"optionId":"n","outcome":"selected"}}}
< {"jsonrpc":"2.0","id":12,"method":"session/request_permission","params":{"toolCall":{"title":"x","kind":"think"},"options":[{"optionId":"y","kind":"allow_always"}]}}
> {"id":12,"jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}
` + acpSays + acpEnds,
		},
		{
			name: "permissions with a tool that is taken away", want: hello,
			task: driver.Task{Tools: driver.Tools{Web: true, Forbidden: []string{"fetch_calls"}}},
			script: acpHello + acpNew + acpSays + `
< {"jsonrpc":"2.0","id":10,"method":"session/request_permission","params":{"toolCall":{"title":"https://example.org","kind":"fetch"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
> {"id":10,"jsonrpc":"2.0","result":{"outcome":{"optionId":"n","outcome":"selected"}}}
< {"jsonrpc":"2.0","id":11,"method":"session/request_permission","params":{"toolCall":{"title":"web search","kind":"search"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
> {"id":11,"jsonrpc":"2.0","result":{"outcome":{"optionId":"y","outcome":"selected"}}}
` + acpEnds,
		},
		{
			name: "permissions with web and a server", want: hello,
			task: driver.Task{Tools: driver.Tools{Web: true, MCP: []driver.Server{{Name: "tidegate", Command: "/bin/tidegate", Args: []string{"mcp"}}}}},
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[{"args":["mcp"],"command":"/bin/tidegate","env":[],"name":"tidegate"}]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}
> {"id":3,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"Say hello.","type":"text"}],"sessionId":"s1"}}
< {"jsonrpc":"2.0","id":10,"method":"session/request_permission","params":{"toolCall":{"title":"https://example.org","kind":"fetch"},"options":[{"optionId":"a","kind":"allow_always"},{"optionId":"y","kind":"allow_once"}]}}
> {"id":10,"jsonrpc":"2.0","result":{"outcome":{"optionId":"y","outcome":"selected"}}}
< {"jsonrpc":"2.0","id":11,"method":"session/request_permission","params":{"toolCall":{"title":"mcp__tidegate__check","kind":"other"},"options":[{"optionId":"y","kind":"allow_once"}]}}
> {"id":11,"jsonrpc":"2.0","result":{"outcome":{"optionId":"y","outcome":"selected"}}}
< {"jsonrpc":"2.0","id":12,"method":"session/request_permission","params":{"toolCall":{"title":"rm -rf mcp__tidegate__x","kind":"execute"},"options":[{"optionId":"y","kind":"allow_once"}]}}
> {"id":12,"jsonrpc":"2.0","result":{"outcome":{"outcome":"cancelled"}}}
` + acpSays + acpEnds,
		},
		{
			name: "a mode in which it asks, and a model", task: driver.Task{Model: "m/9"}, want: hello,
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1","modes":{"currentModeId":"agent","availableModes":[{"id":"agent"},{"id":"default"},{"id":"read-only"}]},"configOptions":[{"id":"mode","category":"mode"},{"id":"llm","category":"model"}]}}
> {"id":3,"jsonrpc":"2.0","method":"session/set_mode","params":{"modeId":"read-only","sessionId":"s1"}}
< {"jsonrpc":"2.0","id":3,"result":{}}
> {"id":4,"jsonrpc":"2.0","method":"session/set_config_option","params":{"configId":"llm","sessionId":"s1","value":"m/9"}}
< {"jsonrpc":"2.0","id":4,"result":{}}
> {"id":5,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"Say hello.","type":"text"}],"sessionId":"s1"}}
` + acpSays + `
< {"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}`,
		},
		{
			name: "a mode in which it writes", task: driver.Task{Tools: driver.Tools{Write: true}}, want: hello,
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1","modes":{"currentModeId":"agent","availableModes":[{"id":"agent"},{"id":"read-only"}]}}}
> {"id":3,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"Say hello.","type":"text"}],"sessionId":"s1"}}
< {"jsonrpc":"2.0","id":10,"method":"session/request_permission","params":{"toolCall":{"title":"touch x","kind":"execute"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
> {"id":10,"jsonrpc":"2.0","result":{"outcome":{"optionId":"y","outcome":"selected"}}}
` + acpSays + acpEnds,
		},
		{
			name: "a model that cannot be chosen", task: driver.Task{Model: "m/9"}, kind: driver.Unavailable,
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}`,
		},
		{
			name: "a session that goes on", resume: "s1", want: hello,
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/load","params":{"cwd":"/work","mcpServers":[],"sessionId":"s1"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"an old answer"}}}}
< {"jsonrpc":"2.0","id":2,"result":{"modes":{"currentModeId":"default","availableModes":[{"id":"default"}]}}}
> {"id":3,"jsonrpc":"2.0","method":"session/set_mode","params":{"modeId":"default","sessionId":"s1"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"another old answer"}}}}
< {"jsonrpc":"2.0","id":3,"result":null}
> {"id":4,"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":[{"text":"Say hello.","type":"text"}],"sessionId":"s1"}}
` + acpSays + `
< {"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}`,
		},
		{
			name: "a session that is gone", resume: "s9", kind: driver.Unavailable, gone: true,
			script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/load","params":{"cwd":"/work","mcpServers":[],"sessionId":"s9"}}
< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error","data":{"details":"No previous sessions found"}}}`,
		},
		{
			name: "no sessions at all", resume: "s9", kind: driver.Unavailable, gone: true,
			script: `
> {"id":1,"jsonrpc":"2.0","method":"initialize","params":{"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"tidegate","version":"1"},"protocolVersion":1}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
		},
		{name: "a refusal", kind: driver.Refused, script: acpHello + acpNew + `
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}`},
		{name: "too many requests of its own", kind: driver.Deadline, script: acpHello + acpNew + acpSays + `
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_turn_requests"}}`},
		{name: "an answer that was cut", kind: driver.Died, script: acpHello + acpNew + acpSays + `
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}`},
		{name: "no login", kind: driver.Auth, script: acpHello + `
> {"id":2,"jsonrpc":"2.0","method":"session/new","params":{"cwd":"/work","mcpServers":[]}}
< {"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`},
		{name: "a failure as the answer", kind: driver.Unavailable, script: acpHello + acpNew + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"API Error: status 500, try later"}}}}
` + acpEnds},
		{name: "another failure as the answer", kind: driver.Auth, script: acpHello + acpNew + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"unexpected status 401 Unauthorized\n"}}}}
` + acpEnds},
		{name: "errors as a subject", want: with(func(a *driver.Answer) { a.Text = "Error rates fell.\n\nThey did." }), script: acpHello + acpNew + `
< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error rates fell.\n\nThey did."}}}}
` + acpEnds},
	} {
		t.Run(test.name, func(t *testing.T) {
			input, output := must.Both(os.Pipe())(t)
			defer input.Close()
			test.task.Prompt, test.task.Folder = "Say hello.", "/work"
			s := &acpStream{name: "x", task: test.task, resume: test.resume, input: newMailbox(output)}
			defer s.input.close()
			s.greet()
			sent := bufio.NewReader(input)
			for line := range strings.SplitSeq(test.script, "\n") {
				if heard, ok := strings.CutPrefix(line, "< "); ok {
					s.Take([]byte(heard+"\n"), func(driver.Event) {})
				}
				if want, ok := strings.CutPrefix(line, "> "); ok {
					got := must.Get(sent.ReadString('\n'))(t)
					if !sameJSON(t, got, want) {
						t.Fatalf("said %swant %s", got, want)
					}
				}
			}
			if !s.Done() {
				t.Fatal("it goes on")
			}
			answer, failure := s.Result("")
			if kind, _ := kindOf(failure); kind != test.kind || failure != nil && failure.SessionGone != test.gone {
				t.Fatalf("got %v, want %q", failure, test.kind)
			}
			if test.kind == "" {
				if diff := cmp.Diff(test.want, answer); diff != "" {
					t.Error(diff)
				}
			}
			if rest, _ := sent.ReadString('\n'); rest != "" {
				t.Errorf("also said %s", rest)
			}
		})
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	var x, y any
	must.Do(t, json.Unmarshal([]byte(a), &x))
	must.Do(t, json.Unmarshal([]byte(b), &y))
	return cmp.Equal(x, y)
}

// TestAnAgentsAnswerInPiecesCostsInProportion hands over an answer in very small pieces.
func TestAnAgentsAnswerInPiecesCostsInProportion(t *testing.T) {
	params := json.RawMessage(`{"update":{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"text":"0123456789"}}}`)
	allocated := func(pieces int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := &acpStream{asked: true}
		for range pieces {
			s.update(params)
		}
		answer, _ := s.Result("")
		runtime.ReadMemStats(&after)
		if len(answer.Text) != 10*pieces {
			t.Fatalf("the answer has %d bytes of %d", len(answer.Text), 10*pieces)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(1000), allocated(16_000); many > 32*few {
		t.Errorf("%d bytes for 1,000 pieces, %d for sixteen times as many", few, many)
	}
}
