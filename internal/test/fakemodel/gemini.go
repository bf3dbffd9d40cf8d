package fakemodel

import (
	"net/http"
	"strings"
)

// gemini is Google's generateContent.
type gemini struct{}

func (gemini) name() string { return "gemini" }

func (gemini) read(r *http.Request, body []byte, into *Request) bool {
	v := decode(body)
	model, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	into.Model = model
	for _, t := range list(v["tools"]) {
		tool := t.(object)
		for _, d := range list(tool["functionDeclarations"]) {
			into.Tools = append(into.Tools, str(d.(object)["name"]))
		}
		for _, name := range []string{"googleSearch", "urlContext"} {
			if tool[name] != nil {
				into.Tools = append(into.Tools, name)
			}
		}
	}
	for _, c := range list(v["contents"]) {
		content := c.(object)
		if content["role"] != "user" && content["role"] != nil {
			continue
		}
		for _, p := range list(content["parts"]) {
			part := p.(object)
			if answer, ok := part["functionResponse"].(object); ok {
				into.Results = append(into.Results, texts(answer["response"]))
			} else if text := str(part["text"]); text != "" {
				into.Prompt = text
			}
		}
	}
	return method == "streamGenerateContent"
}

func (gemini) response(r Request, parts []any, finish any) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != nil {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []any{candidate}, "modelVersion": "fake-1",
		"usageMetadata": object{"promptTokenCount": InputTokens, "cachedContentTokenCount": CachedTokens, "candidatesTokenCount": OutputTokens, "totalTokenCount": InputTokens + OutputTokens}}
}

func (gemini) finish(reply Reply) string {
	if reply.Fault == Refusal {
		return "SAFETY"
	}
	return "STOP"
}

func (gemini) calls(reply Reply) []any {
	calls := []any{}
	for _, call := range reply.Calls {
		calls = append(calls, object{"functionCall": object{"name": call.Name, "args": arguments(call)}})
	}
	return calls
}

func (p gemini) stream(send func(string, any), r Request, reply Reply) {
	if reply.Thinking != "" {
		send("", p.response(r, []any{object{"text": reply.Thinking, "thought": true}}, nil))
	}
	for _, part := range parts(reply) {
		if part == halfway {
			send("", halfway)
		}
		send("", p.response(r, []any{object{"text": part}}, nil))
	}
	send("", p.response(r, p.calls(reply), p.finish(reply)))
}

func (p gemini) whole(r Request, reply Reply) any {
	if strings.HasSuffix(r.Path, ":countTokens") {
		return object{"totalTokens": InputTokens}
	}
	all := p.calls(reply)
	if reply.Text != "" {
		all = append([]any{object{"text": reply.Text}}, all...)
	}
	return p.response(r, all, p.finish(reply))
}

func (gemini) failure(status int, message string) any {
	return object{"error": object{"code": status, "message": message,
		"status": map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 503: "UNAVAILABLE", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}[status]}}
}
