package client_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// dialect is how one client writes, after streams of the real ones.
type dialect struct {
	version string
	prompt  func() string     // what it is asked
	begin   func()            // what it writes first
	say     func(text string) // a part of its answer
	finish  func(text string) // its last word; text is the whole answer
	fail    func(status int)  // its last word when the model answers with that status
}

var dialects = map[string]dialect{
	"program": {
		prompt: standardInput,
		begin:  func() {},
		say:    func(text string) { fmt.Print(text) },
		finish: func(string) {},
	},
	"claude": {
		version: "2.1.325 (Claude Code)",
		prompt:  standardInput,
		begin: func() {
			write(`{"type":"system","subtype":"init","session_id":"s1","tools":[],"claude_code_version":"2.1.325"}`)
		},
		say: func(text string) {
			write(`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":%s}]},"session_id":"s1"}`, text)
		},
		finish: func(text string) {
			write(`{"type":"result","subtype":"success","is_error":false,"result":%s,"session_id":"s1","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":5}}`, text)
		},
		fail: func(status int) {
			write(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":7000,"error_status":` + fmt.Sprint(status) + `}`)
			write(`{"type":"result","subtype":"success","is_error":true,"api_error_status":` + fmt.Sprint(status) + `,"result":"API Error","session_id":"s1"}`)
			os.Exit(1)
		},
	},
	"codex": {
		version: "codex-cli 0.166.0",
		prompt:  standardInput,
		begin: func() {
			write(`{"type":"thread.started","thread_id":"t1"}`)
			write(`{"type":"item.completed","item":{"id":"i0","type":"error","message":"a mere warning"}}`)
			write(`{"type":"turn.started"}`)
		},
		// The last message is the answer, so the parts before it are other messages.
		say: func(text string) {
			write(`{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":%s}}`, text)
		},
		finish: func(text string) {
			write(`{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":%s}}`, text)
			write(`{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":5}}`)
		},
		fail: func(status int) {
			write(`{"type":"turn.failed","error":{"message":"unexpected status ` + fmt.Sprint(status) + `: no. Please try again in 7s."}}`)
			os.Exit(1)
		},
	},
	"opencode": {
		version: "1.18.33",
		prompt:  standardInput,
		begin: func() {
			write(`{"type":"step_start","sessionID":"ses_1","part":{"messageID":"m1","type":"step-start"}}`)
		},
		say: func(text string) {
			write(`{"type":"text","sessionID":"ses_1","part":{"messageID":"m1","type":"text","text":%s}}`, text)
		},
		finish: func(string) {
			write(`{"type":"step_finish","sessionID":"ses_1","part":{"messageID":"m1","reason":"stop","tokens":{"input":8,"output":4,"reasoning":1,"cache":{"read":2}},"cost":0.01}}`)
		},
		fail: func(status int) {
			write(`{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"no","statusCode":` + fmt.Sprint(status) + `,"responseHeaders":{"retry-after":"7"}}}}`)
			os.Exit(1)
		},
	},
	"gemini": {
		version: "0.61.0",
		prompt:  standardInput,
		begin: func() {
			write(`{"type":"init","session_id":"s1","model":"gemini-2.5-pro"}`)
			write(`{"type":"message","role":"user","content":"Say hello."}`)
		},
		say: func(text string) { write(`{"type":"message","role":"assistant","content":%s,"delta":true}`, text) },
		finish: func(string) {
			write(`{"type":"result","status":"success","stats":{"input_tokens":10,"output_tokens":5}}`)
		},
		fail: func(status int) {
			write(`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":` + fmt.Sprint(status) + `,\"message\":\"no\",\"details\":[{\"retryDelay\":\"7s\"}]}}]"},"stats":{}}`)
			os.Exit(status % 256)
		},
	},
	"agent": {
		prompt: func() string {
			expect("initialize", `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"agent","version":"1.2.3"}}`)
			write(`{"jsonrpc":"2.0","method":"_agent/notice","params":{}}`)
			expect("session/new", `{"sessionId":"s1","modes":{"currentModeId":"auto","availableModes":[{"id":"auto"},{"id":"default"}]}}`)
			expect("session/set_mode", `{}`)
			return expect("session/prompt", "")
		},
		begin: func() {
			write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}}}`)
		},
		say: func(text string) {
			write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`, text)
		},
		finish: func(string) {
			write(`{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn","usage":{"inputTokens":8,"cachedReadTokens":2,"outputTokens":5}}}`)
			io.Copy(io.Discard, input)
		},
		fail: func(status int) {
			if status == 401 {
				write(`{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"Authentication required"}}`)
			} else {
				write(`{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"Internal error","data":{"details":"status ` + fmt.Sprint(status) + `, try again in 7s"}}}`)
			}
			io.Copy(io.Discard, input)
		},
	},
}

// oddLines are lines that no version of any client writes.
var oddLines = []string{
	`{"type":"novelty","item":7,"part":"x","message":[1,2],"method":{"a":1}}`,
	`{"type":["list"]}`, `[1,2,3]`, `"text"`, `null`, `17`, `{}`, `{"type":null}`, "", "plain words\tof a notice",
	`{"jsonrpc":"2.0","method":"novelty/ask","id":"q1","params":[]}`, `{"jsonrpc":"2.0","id":99,"result":{}}`,
}

func write(format string, text ...string) {
	line := format
	if len(text) > 0 {
		quoted, err := json.Marshal(text[0])
		if err != nil {
			panic(err)
		}
		line = strings.Replace(format, "%s", string(quoted), 1)
	}
	fmt.Println(line)
}

func standardInput() string {
	prompt, _ := io.ReadAll(os.Stdin)
	return string(prompt)
}

var input = bufio.NewReader(os.Stdin)

// expect waits for a request of the driver and answers it, unless result is "".
// It returns the text of a prompt.
func expect(method, result string) string {
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			os.Exit(3)
		}
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Prompt []struct{ Text string }
			}
		}
		if json.Unmarshal(line, &request) != nil || request.Method != method {
			continue
		}
		if result != "" {
			write(`{"jsonrpc":"2.0","id":` + string(request.ID) + `,"result":` + result + `}`)
		}
		for _, part := range request.Params.Prompt {
			return part.Text
		}
		return ""
	}
}

// inquiry handles the calls of a client that are not tasks.
func (d dialect) inquiry(scene string) bool {
	args := os.Args[1:]
	switch {
	case slices.Equal(args, []string{"--version"}) && scene == "wrong version":
		fmt.Println("0.0.1")
	case slices.Equal(args, []string{"--version"}) && scene == "no version":
		fmt.Println("hello")
	case slices.Equal(args, []string{"--version"}):
		fmt.Println(d.version)
	case slices.Equal(args, []string{"auth", "status"}), slices.Equal(args, []string{"login", "status"}):
		if scene == "login missing" {
			fmt.Println("Not logged in")
			os.Exit(1)
		}
	default:
		return false
	}
	return true
}
