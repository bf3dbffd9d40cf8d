package model

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// messagesProtocol is Anthropic's Messages. What does not change from one request of a
// conversation to the next is read from the cache: marks stand at the end of the
// system's text, which comes after the tools, and at the end of the last message.
var messagesProtocol = protocol{
	name: "Messages", ask: "/v1/messages", list: "/v1/models?limit=1000",
	sign: func(header http.Header, key string) {
		header.Set("X-Api-Key", key)
		header.Set("Anthropic-Version", "2023-06-01")
	},
	body: messagesBody, take: takeMessages, kept: (*hearing).joinedBlocks,
}

// usualOutput is how many tokens an answer may have where the endpoint does not say
// what the model can do. Every model since Claude 4 can do this.
const usualOutput = 32_000

var cacheMark = map[string]any{"type": "ephemeral"}

func messagesBody(q question) map[string]any {
	type turn struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	var turns []turn
	var said []map[string]any // of the user, since the model spoke
	flush := func() {
		if len(said) > 0 {
			turns = append(turns, turn{"user", said})
			said = nil
		}
	}
	for _, m := range q.messages {
		switch m.role {
		case "user":
			said = append(said, map[string]any{"type": "text", "text": m.text})
		case "tool":
			said = append(said, map[string]any{"type": "tool_result", "tool_use_id": m.call, "content": m.text})
		default:
			flush()
			turns = append(turns, turn{"assistant", m.kept})
		}
	}
	if len(said) > 0 {
		said[len(said)-1]["cache_control"] = cacheMark
	}
	flush()
	body := map[string]any{
		"model": q.model, "max_tokens": cmp.Or(q.most, usualOutput), "stream": true, "messages": turns,
		"system": []any{map[string]any{"type": "text", "text": q.system, "cache_control": cacheMark}},
	}
	if len(q.tools) > 0 {
		var tools []any
		for _, t := range q.tools {
			tools = append(tools, map[string]any{"name": t.Name, "description": t.About, "input_schema": schema(t)})
		}
		body["tools"] = tools
		if !q.mayCall {
			body["tool_choice"] = map[string]any{"type": "none"}
		}
	}
	return body
}

// block is a part of a reply that goes back as it came, with the text that came in
// pieces.
type block struct {
	fields    map[string]any
	key       string // of the field that has the text
	text      strings.Builder
	signature strings.Builder
}

type messagesEvent struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Block   map[string]any `json:"content_block"`
	Message *struct {
		Usage *messagesUsage `json:"usage"`
	} `json:"message"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage *messagesUsage `json:"usage"`
	Error *spoken        `json:"error"`

	// of a response that is not streamed
	Content []map[string]any `json:"content"`
	Stop    string           `json:"stop_reason"`
}

type messagesUsage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func takeMessages(h *hearing, data []byte) error {
	var e messagesEvent
	if json.Unmarshal(data, &e) != nil || e.Type == "" {
		return nil
	}
	h.events++
	switch e.Type {
	case "error":
		if e.Error != nil {
			return e.Error.failure()
		}
	case "message_start":
		if e.Message != nil {
			h.used(e.Message.Usage)
		}
	case "content_block_start":
		h.begin(e.Index, e.Block)
	case "content_block_delta":
		if e.Index >= 0 && e.Index < len(h.blocks) {
			b := h.blocks[e.Index]
			b.text.WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.JSON)
			b.signature.WriteString(e.Delta.Signature)
		}
	case "message_delta":
		h.used(e.Usage)
		h.stopped(e.Delta.Stop)
	case "message":
		for i, content := range e.Content {
			h.begin(i, content)
		}
		h.used(e.Usage)
		h.stopped(e.Stop)
	}
	return nil
}

// begin begins a block. Blocks come one after the other.
func (h *hearing) begin(index int, fields map[string]any) {
	if index != len(h.blocks) || fields == nil || index >= 4*mostCalls {
		return
	}
	b := &block{fields: fields}
	switch fields["type"] {
	case "text", "thinking":
		b.key = fields["type"].(string)
		text, _ := fields[b.key].(string)
		b.text.WriteString(text)
	case "tool_use":
		b.key = "input"
		if input, ok := fields["input"].(map[string]any); ok && len(input) > 0 {
			b.text.Write(driver.Marshal(input))
		}
	}
	h.blocks = append(h.blocks, b)
}

// used takes what an event says about tokens; later events have later numbers.
func (h *hearing) used(u *messagesUsage) {
	if u == nil {
		return
	}
	if h.usage == nil {
		h.usage = &tokens{}
	}
	if u.Input+u.Cached+u.Written > 0 {
		h.usage.input, h.usage.cached, h.usage.written = u.Input+u.Cached+u.Written, u.Cached, u.Written
	}
	h.usage.output = max(h.usage.output, u.Output)
}

func (h *hearing) stopped(reason string) {
	if reason == "" || h.end != brokeOff { // a reply has one end
		return
	}
	switch reason {
	case "refusal":
		h.end = declined
	case "max_tokens":
		h.end = cutOff
	case "model_context_window_exceeded":
		h.end = overflowed
	default:
		h.end = finished
	}
	for i, b := range h.blocks {
		switch b.fields["type"] {
		case "text":
			h.text.WriteString(b.text.String())
		case "tool_use":
			if call := h.call(len(h.calls)); call != nil {
				id, _ := b.fields["id"].(string)
				name, _ := b.fields["name"].(string)
				call.id = cmp.Or(id, call.id)
				call.name.WriteString(name)
				call.arguments.WriteString(h.blocks[i].text.String())
			}
		}
	}
}

// joinedBlocks are the blocks as they go back, without texts that are empty, which no
// request may have.
func (h *hearing) joinedBlocks() json.RawMessage {
	list := []map[string]any{}
	calls := 0
	for _, b := range h.blocks {
		if b.key == "input" {
			if calls++; calls > mostCalls {
				continue
			}
		}
		switch {
		case b.key == "text" && b.fields["type"] == "text" && b.text.Len() == 0:
			continue
		case b.key == "input":
			input := map[string]any{}
			_ = json.Unmarshal([]byte(b.text.String()), &input) // what is not JSON is answered with an error
			b.fields["input"] = input
		case b.key != "":
			b.fields[b.key] = b.text.String()
		}
		if b.signature.Len() > 0 {
			b.fields["signature"] = b.signature.String()
		}
		list = append(list, b.fields)
	}
	return driver.Marshal(list)
}
