package fakemodel

import (
	"fmt"
	"net/http"
)

// chat is OpenAI Chat Completions, with what other services add to it.
type chat struct{ of flavour }

type flavour int

const (
	openRouter flavour = iota + 1 // reports what a reply cost, and wants reasoning back
	google                        // signs calls, and wants the signatures back
)

// CostUSD is what OpenRouter says that every reply cost.
const CostUSD = 0.0125

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

func (p chat) usage() object {
	usage := object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens,
		"prompt_tokens_details": object{"cached_tokens": CachedTokens}}
	if p.of == openRouter {
		usage["cost"], usage["cost_details"] = CostUSD, object{"upstream_inference_cost": nil}
	}
	return usage
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

func (p chat) calls(r Request, reply Reply) []any {
	var calls []any
	for i, call := range reply.Calls {
		part := object{"index": i, "id": fmt.Sprintf("call_%d_%d", r.Number, i), "type": "function",
			"function": object{"name": call.Name, "arguments": call.Args}}
		if p.of == google {
			part["extra_content"] = object{"google": object{"thought_signature": "c2lnbmVk"}}
		}
		calls = append(calls, part)
	}
	return calls
}

func (p chat) stream(send func(string, any), r Request, reply Reply) {
	chunk := func(delta object, finish any) {
		send("", object{"id": fmt.Sprintf("chatcmpl_%d", r.Number), "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if reply.Thinking != "" && p.of == openRouter {
		for _, part := range []object{{"type": "reasoning.text", "index": 0, "text": reply.Thinking[:1]}, {"type": "reasoning.text", "index": 0, "text": reply.Thinking[1:], "signature": "c2lnbmVk"},
			{"type": "reasoning.encrypted", "index": 1, "data": "ZW5jcnlwdGVk"}} {
			chunk(object{"reasoning_details": []any{part}}, nil)
		}
	} else if reply.Thinking != "" {
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

func (p chat) failure(status int, message string) any {
	switch p.of {
	case openRouter:
		return object{"error": object{"code": status, "message": message}}
	case google:
		return []any{gemini{}.failure(status, message)}
	}
	return responses{}.failure(status, message)
}
