package fakemodel

import (
	"fmt"
	"net/http"
	"strings"
)

// responses is OpenAI Responses.
type responses struct{}

func (responses) name() string { return "responses" }

func (responses) read(_ *http.Request, body []byte, into *Request) bool {
	v := decode(body)
	into.Model = str(v["model"])
	for _, t := range list(v["tools"]) {
		tool := t.(object)
		name := str(tool["name"])
		if name == "" {
			name = str(tool["type"])
		}
		if tool["type"] != "namespace" {
			into.Tools = append(into.Tools, name)
		}
		for _, inner := range list(tool["tools"]) {
			into.Tools = append(into.Tools, name+"/"+str(inner.(object)["name"]))
		}
	}
	if text, ok := v["input"].(string); ok {
		into.Prompt = text
	}
	for _, i := range list(v["input"]) {
		switch item := i.(object); {
		case item["role"] == "user":
			into.Prompt = texts(item["content"])
		case strings.HasSuffix(str(item["type"]), "_call_output"):
			into.Results = append(into.Results, texts(item["output"]))
		}
	}
	return v["stream"] == true
}

func (responses) usage() object {
	return object{
		"input_tokens": InputTokens, "input_tokens_details": object{"cached_tokens": CachedTokens},
		"output_tokens": OutputTokens, "output_tokens_details": object{"reasoning_tokens": 7}, "total_tokens": InputTokens + OutputTokens,
	}
}

// items are the parts of a whole reply.
func (responses) items(r Request, reply Reply) []any {
	items := []any{}
	if reply.Thinking != "" {
		items = append(items, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", r.Number), "summary": []any{object{"type": "summary_text", "text": reply.Thinking}}, "encrypted_content": "ZW5jcnlwdGVk"})
	}
	switch {
	case reply.Fault == Refusal:
		items = append(items, object{"type": "message", "id": fmt.Sprintf("msg_%d", r.Number), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "refusal", "refusal": "the fake model will not do this"}}})
	case reply.Text != "":
		items = append(items, object{"type": "message", "id": fmt.Sprintf("msg_%d", r.Number), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": reply.Text, "annotations": []any{}}}})
	}
	for i, call := range reply.Calls {
		if call.Name == "web_search" { // which the provider itself does
			items = append(items, object{"type": "web_search_call", "id": fmt.Sprintf("ws_%d_%d", r.Number, i), "status": "completed", "action": arguments(call)})
			continue
		}
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", r.Number, i), "call_id": fmt.Sprintf("call_%d_%d", r.Number, i),
			"status": "completed", "name": call.Name, "arguments": call.Args}
		if space, name, ok := strings.Cut(call.Name, "/"); ok {
			item["namespace"], item["name"] = space, name
		}
		items = append(items, item)
	}
	return items
}

func (p responses) stream(send func(string, any), r Request, reply Reply) {
	number := 0
	event := func(kind string, more object) {
		more["type"] = kind
		more["sequence_number"] = number
		number++
		send(kind, more)
	}
	id := fmt.Sprintf("resp_%d", r.Number)
	event("response.created", object{"response": object{"id": id, "object": "response", "status": "in_progress", "model": r.Model, "output": []any{}}})
	items := p.items(r, reply)
	for index, i := range items {
		item := i.(object)
		event("response.output_item.added", object{"output_index": index, "item": item})
		if item["type"] == "message" && reply.Fault != Refusal {
			for _, part := range parts(reply) {
				if part == halfway {
					send("", halfway)
				}
				event("response.output_text.delta", object{"item_id": item["id"], "output_index": index, "content_index": 0, "delta": part})
			}
			event("response.output_text.done", object{"item_id": item["id"], "output_index": index, "content_index": 0, "text": reply.Text})
		}
		event("response.output_item.done", object{"output_index": index, "item": item})
	}
	event("response.completed", object{"response": object{"id": id, "object": "response", "status": "completed", "model": r.Model, "output": items, "usage": p.usage()}})
}

func (p responses) whole(r Request, reply Reply) any {
	return object{"id": fmt.Sprintf("resp_%d", r.Number), "object": "response", "status": "completed", "model": r.Model, "output": p.items(r, reply), "usage": p.usage()}
}

func (responses) failure(status int, message string) any {
	return object{"error": object{"type": map[int]string{400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error", 500: "server_error"}[status], "code": nil, "message": message}}
}
