package fakemodel

import (
	"fmt"
	"net/http"
)

// anthropic is Anthropic Messages.
type anthropic struct{}

func (anthropic) name() string { return "anthropic" }

func (anthropic) read(_ *http.Request, body []byte, into *Request) bool {
	v := decode(body)
	into.Model = str(v["model"])
	for _, tool := range list(v["tools"]) {
		into.Tools = append(into.Tools, str(tool.(object)["name"]))
	}
	for _, m := range list(v["messages"]) {
		message := m.(object)
		if message["role"] != "user" {
			continue
		}
		blocks, ok := message["content"].([]any)
		if !ok {
			into.Prompt = texts(message["content"])
			continue
		}
		for _, b := range blocks {
			switch block := b.(object); block["type"] {
			case "tool_result":
				into.Results = append(into.Results, texts(block["content"]))
			case "text":
				into.Prompt = str(block["text"])
			}
		}
	}
	return v["stream"] == true
}

func stopReason(reply Reply) string {
	switch {
	case reply.Fault == Refusal:
		return "refusal"
	case len(reply.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) usage(output int) object {
	return object{"input_tokens": InputTokens - CachedTokens, "cache_read_input_tokens": CachedTokens, "cache_creation_input_tokens": 0, "output_tokens": output}
}

func (p anthropic) stream(send func(string, any), r Request, reply Reply) {
	event := func(kind string, more object) {
		more["type"] = kind
		send(kind, more)
	}
	event("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", r.Number), "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": p.usage(1),
	}})
	index := 0
	block := func(start object, deltas ...object) {
		event("content_block_start", object{"index": index, "content_block": start})
		for _, delta := range deltas {
			if delta["text"] == halfway {
				send("", halfway)
			}
			event("content_block_delta", object{"index": index, "delta": delta})
		}
		event("content_block_stop", object{"index": index})
		index++
	}
	if reply.Thinking != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking_delta", "thinking": reply.Thinking}, object{"type": "signature_delta", "signature": "c2lnbmVk"})
	}
	if reply.Text != "" {
		var deltas []object
		for _, part := range parts(reply) {
			deltas = append(deltas, object{"type": "text_delta", "text": part})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	for i, call := range reply.Calls {
		block(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", r.Number, i), "name": call.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": call.Args})
	}
	event("message_delta", object{"delta": object{"stop_reason": stopReason(reply), "stop_sequence": nil}, "usage": p.usage(OutputTokens)})
	event("message_stop", object{})
}

func (p anthropic) whole(r Request, reply Reply) any {
	content := []any{}
	if reply.Text != "" {
		content = append(content, object{"type": "text", "text": reply.Text})
	}
	for i, call := range reply.Calls {
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", r.Number, i), "name": call.Name, "input": arguments(call)})
	}
	return object{
		"id": fmt.Sprintf("msg_%d", r.Number), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": stopReason(reply), "stop_sequence": nil, "usage": p.usage(OutputTokens),
	}
}

func (anthropic) failure(status int, message string) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"}
}
