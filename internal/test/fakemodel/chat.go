package fakemodel

import (
	"fmt"
	"net/http"
)

// chat is OpenAI Chat Completions.
type chat struct{}

func (chat) name() string { return "chat" }

func (chat) read(_ *http.Request, body []byte, into *Request) bool {
	v := decode(body)
	into.Model = str(v["model"])
	for _, t := range list(v["tools"]) {
		function, _ := t.(object)["function"].(object)
		into.Tools = append(into.Tools, str(function["name"]))
	}
	for _, m := range list(v["messages"]) {
		switch message := m.(object); message["role"] {
		case "user":
			into.Prompt = texts(message["content"])
		case "tool":
			into.Results = append(into.Results, texts(message["content"]))
		}
	}
	return v["stream"] == true
}

func (chat) usage() object {
	return object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens,
		"prompt_tokens_details": object{"cached_tokens": CachedTokens}}
}

func (chat) finish(reply Reply) string {
	switch {
	case reply.Fault == Refusal:
		return "content_filter"
	case len(reply.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (chat) calls(r Request, reply Reply) []any {
	var calls []any
	for i, call := range reply.Calls {
		calls = append(calls, object{"index": i, "id": fmt.Sprintf("call_%d_%d", r.Number, i), "type": "function",
			"function": object{"name": call.Name, "arguments": call.Args}})
	}
	return calls
}

func (p chat) stream(send func(string, any), r Request, reply Reply) {
	chunk := func(delta object, finish any) {
		send("", object{"id": fmt.Sprintf("chatcmpl_%d", r.Number), "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if reply.Thinking != "" {
		chunk(object{"reasoning_content": reply.Thinking}, nil)
	}
	for _, part := range parts(reply) {
		if part == halfway {
			send("", halfway)
		}
		chunk(object{"content": part}, nil)
	}
	if calls := p.calls(r, reply); calls != nil {
		chunk(object{"tool_calls": calls}, nil)
	}
	chunk(object{}, p.finish(reply))
	send("", object{"id": fmt.Sprintf("chatcmpl_%d", r.Number), "object": "chat.completion.chunk", "created": 1, "model": r.Model, "choices": []any{}, "usage": p.usage()})
	send("", "[DONE]")
}

func (p chat) whole(r Request, reply Reply) any {
	message := object{"role": "assistant", "content": reply.Text}
	if reply.Thinking != "" {
		message["reasoning_content"] = reply.Thinking
	}
	if calls := p.calls(r, reply); calls != nil {
		message["tool_calls"] = calls
	}
	if reply.Fault == Refusal {
		message["refusal"] = "the fake model will not do this"
	}
	return object{"id": fmt.Sprintf("chatcmpl_%d", r.Number), "object": "chat.completion", "created": 1, "model": r.Model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": p.finish(reply)}}, "usage": p.usage()}
}

func (chat) failure(status int, message string) any { return responses{}.failure(status, message) }
