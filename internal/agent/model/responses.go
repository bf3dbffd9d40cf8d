package model

import (
	"cmp"
	"encoding/json"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// responsesProtocol is OpenAI's Responses. Nothing is kept at the provider: every
// request has the whole conversation, with the model's reasoning encrypted.
var responsesProtocol = protocol{
	name: "Responses", ask: "/responses", list: "/models",
	sign: signBearer, body: responsesBody, take: takeResponses, kept: (*hearing).keptResponses,
}

func responsesBody(q question) map[string]any {
	input := []any{}
	for _, m := range q.messages {
		switch m.role {
		case "user":
			input = append(input, map[string]any{"role": "user", "content": m.text})
		case "tool":
			input = append(input, map[string]any{"type": "function_call_output", "call_id": m.call, "output": m.text})
		default:
			var items []json.RawMessage
			_ = json.Unmarshal(m.kept, &items) // keptResponses wrote it
			for _, item := range items {
				input = append(input, item)
			}
		}
	}
	body := map[string]any{"model": q.model, "instructions": q.system, "input": input, "stream": true, "store": false}
	if !q.plain {
		body["include"] = []string{"reasoning.encrypted_content"}
	}
	if len(q.tools) > 0 {
		var tools []any
		for _, t := range q.tools {
			tools = append(tools, map[string]any{"type": "function", "name": t.Name, "description": t.About,
				"parameters": schema(t), "strict": true})
		}
		body["tools"] = tools
		if !q.mayCall {
			body["tool_choice"] = "none"
		}
	}
	return body
}

type responsesEvent struct {
	Type     string          `json:"type"`
	Object   string          `json:"object"`
	Item     json.RawMessage `json:"item"`
	Response *response       `json:"response"`
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Error    *spoken         `json:"error"`
}

type response struct {
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      *spoken           `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details struct {
			Cached  int64 `json:"cached_tokens"`
			Written int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

func takeResponses(h *hearing, data []byte) error {
	var e responsesEvent
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	if e.Type == "" && e.Object == "response" { // not streamed
		e.Type, e.Response = "response.completed", &response{}
		if json.Unmarshal(data, e.Response) != nil {
			return nil
		}
	}
	if e.Type == "" && e.Error == nil {
		return nil
	}
	h.events++
	switch e.Type {
	case "response.output_item.done":
		h.items = append(h.items, e.Item)
	case "response.completed", "response.incomplete", "response.failed":
		if e.Response != nil {
			return h.responded(*e.Response)
		}
	case "error", "":
		if e.Error == nil {
			e.Error = &spoken{Code: e.Code, Message: e.Message}
		}
		return e.Error.failure()
	}
	return nil
}

// responded takes the last event, which has the whole response.
func (h *hearing) responded(r response) error {
	if h.end != brokeOff { // a reply has one end
		return nil
	}
	if u := r.Usage; u != nil {
		h.usage = &tokens{input: u.Input, cached: u.Details.Cached, written: u.Details.Written, output: u.Output}
	}
	if len(h.items) == 0 {
		h.items = r.Output
	}
	for _, item := range h.items {
		h.item(item)
	}
	switch {
	case r.Error != nil:
		return r.Error.failure()
	case r.Incomplete != nil && r.Incomplete.Reason == "content_filter":
		h.end = declined
	case r.Incomplete != nil || r.Status == "incomplete":
		h.end = cutOff
	default:
		h.end = finished
	}
	return nil
}

func (h *hearing) item(data json.RawMessage) {
	var item struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Content   []struct {
			Type    string `json:"type"`
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		} `json:"content"`
	}
	if json.Unmarshal(data, &item) != nil {
		return
	}
	switch item.Type {
	case "message":
		for _, part := range item.Content {
			h.text.WriteString(part.Text)
			h.refusal.WriteString(part.Refusal)
		}
	case "function_call":
		if call := h.call(len(h.calls)); call != nil {
			call.id = cmp.Or(item.CallID, call.id)
			call.name.WriteString(item.Name)
			call.arguments.WriteString(item.Arguments)
		}
	}
}

// keptResponses are the items as they go back. Reasoning that is not encrypted would be
// looked for at the provider, which keeps none.
func (h *hearing) keptResponses() json.RawMessage {
	list := []json.RawMessage{}
	calls := 0
	for _, data := range h.items {
		var item struct {
			Type      string `json:"type"`
			Encrypted string `json:"encrypted_content"`
		}
		if json.Unmarshal(data, &item) != nil || item.Type == "reasoning" && item.Encrypted == "" {
			continue
		}
		if item.Type == "function_call" {
			if calls++; calls > mostCalls {
				continue
			}
		}
		list = append(list, data)
	}
	return driver.Marshal(list)
}
