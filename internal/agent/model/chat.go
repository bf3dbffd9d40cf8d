package model

import (
	"cmp"
	"encoding/json"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// chatProtocol is OpenAI's Chat Completions, which most endpoints speak.
var chatProtocol = protocol{
	name: "Chat Completions", ask: "/chat/completions", list: "/models",
	sign: signBearer, body: chatBody, take: takeChat, kept: (*hearing).keptChat,
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   string          `json:"content"`
	Calls     []chatCall      `json:"tool_calls,omitempty"`
	CallID    string          `json:"tool_call_id,omitempty"`
	Reasoning json.RawMessage `json:"reasoning_details,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content,omitempty"`
}

// chatKept is what has to go back to the model: its reasoning, where OpenRouter has
// passed it on, and what came with each call, where Google has signed it.
type chatKept struct {
	Reasoning json.RawMessage   `json:"reasoning,omitempty"`
	Extra     []json.RawMessage `json:"extra,omitempty"`
}

func chatBody(q question) map[string]any {
	messages := []chatMessage{{Role: "system", Content: q.system}}
	for _, m := range q.messages {
		out := chatMessage{Role: m.role, Content: m.text, CallID: m.call}
		var kept chatKept
		if m.kept != nil && json.Unmarshal(m.kept, &kept) == nil {
			out.Reasoning = kept.Reasoning
		}
		for i, c := range m.calls {
			call := chatCall{ID: c.id, Type: "function"}
			call.Function.Name, call.Function.Arguments = c.name, c.arguments
			if i < len(kept.Extra) && string(kept.Extra[i]) != "null" {
				call.Extra = kept.Extra[i]
			}
			out.Calls = append(out.Calls, call)
		}
		messages = append(messages, out)
	}
	body := map[string]any{"messages": messages, "stream": true, "stream_options": map[string]any{"include_usage": true}}
	if q.model != "" {
		body["model"] = q.model
	}
	if q.mayCall && len(q.tools) > 0 {
		var tools []any
		for _, t := range q.tools {
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": t.Name,
				"description": t.About, "parameters": schema(t)}})
		}
		body["tools"] = tools
	}
	return body
}

// chatChunk is one event of a streamed response, or a whole one.
type chatChunk struct {
	Choices []struct {
		Delta   chatDelta `json:"delta"`
		Message chatDelta `json:"message"`
		Finish  string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input   int64    `json:"prompt_tokens"`
		Output  int64    `json:"completion_tokens"`
		Cost    *float64 `json:"cost"` // OpenRouter
		Details struct {
			Cached  int64 `json:"cached_tokens"`
			Written int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error *spoken `json:"error"`
}

type chatDelta struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
	Calls   []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
	Reasoning []map[string]any `json:"reasoning_details"`
}

// takeChat reads an event. Thinking in other fields than reasoning_details is not
// read.
func takeChat(h *hearing, data []byte) error {
	var chunk chatChunk
	if json.Unmarshal(data, &chunk) != nil {
		return nil // the end is judged by what was understood
	}
	h.events++
	if chunk.Error != nil {
		return chunk.Error.failure()
	}
	if u := chunk.Usage; u != nil { // of the whole response, even where every event has it
		h.usage, h.cost = &tokens{input: u.Input, cached: u.Details.Cached, written: u.Details.Written, output: u.Output}, u.Cost
	}
	if h.end != brokeOff { // what comes behind the end is no part of the reply
		return nil
	}
	for _, choice := range chunk.Choices {
		for _, delta := range []chatDelta{choice.Delta, choice.Message} {
			delta.join(h)
		}
		switch choice.Finish {
		case "":
		case "length":
			h.end = cutOff
		case "content_filter":
			h.end = declined
		default:
			h.end = finished
		}
	}
	return nil
}

func (d chatDelta) join(h *hearing) {
	h.text.WriteString(d.Content)
	h.refusal.WriteString(d.Refusal)
	for _, part := range d.Calls {
		if call := h.call(part.Index); call != nil {
			call.id = cmp.Or(part.ID, call.id)
			call.name.WriteString(part.Function.Name)
			call.arguments.WriteString(part.Function.Arguments)
			if part.Extra != nil {
				call.extra = part.Extra
			}
		}
	}
	for _, part := range d.Reasoning {
		h.reason(part)
	}
}

// reason joins a part of OpenRouter's reasoning with the one before, if it goes on
// with it.
func (h *hearing) reason(part map[string]any) {
	if len(h.blocks) > 0 {
		last := h.blocks[len(h.blocks)-1]
		if last.fields["type"] == part["type"] && last.fields["index"] == part["index"] && part["data"] == nil {
			for name, value := range part {
				text, isText := value.(string)
				if isText && (name == "text" || name == "summary") {
					last.text.WriteString(text)
				} else if value != nil {
					last.fields[name] = value
				}
			}
			return
		}
	}
	added := &block{fields: part}
	for _, name := range []string{"text", "summary"} {
		if text, ok := part[name].(string); ok {
			added.key = name
			added.text.WriteString(text)
		}
	}
	h.blocks = append(h.blocks, added)
}

// keptChat is what has to go back; nil where there is nothing.
func (h *hearing) keptChat() json.RawMessage {
	var kept chatKept
	signed := false
	for _, c := range h.calls {
		kept.Extra = append(kept.Extra, c.extra)
		signed = signed || c.extra != nil
	}
	if !signed {
		kept.Extra = nil
	}
	if len(h.blocks) > 0 {
		kept.Reasoning = h.joinedBlocks()
	}
	if kept.Extra == nil && kept.Reasoning == nil {
		return nil
	}
	return driver.Marshal(kept)
}
