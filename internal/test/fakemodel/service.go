package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Service is a server with keys and models of its own, which holds requests to the
// published rules of its protocols.
type Service struct {
	Keys   map[string]Fault // what happens to requests with these keys; every other key is wrong. nil: no key is needed
	Models []string         // that it offers
	NoList bool             // it has no list of models
}

// StartService starts a server for a service. Close must be called.
func StartService(service Service, script Script) *Server { return start(&service, script) }

// keyOf is the key of a request, in whatever header.
func keyOf(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// protocolOf is the protocol of a request that asks no model.
func protocolOf(r *http.Request) protocol {
	switch {
	case r.Header.Get("Anthropic-Version") != "":
		return anthropic{}
	case strings.HasPrefix(r.URL.Path, "/api/"):
		return chat{of: openRouter}
	case strings.HasPrefix(r.URL.Path, "/v1beta/"):
		return chat{of: google}
	}
	return chat{}
}

// admits reports whether a key is a right one, and answers where it is not. Faults of
// models are met when one is asked.
func (s *Server) admits(w http.ResponseWriter, r *http.Request, p protocol) bool {
	if s.service == nil || s.service.Keys == nil {
		return true
	}
	key := keyOf(r)
	fault, known := s.service.Keys[key]
	switch {
	case !known:
		s.fail(w, p, Unauthorized, key)
		return false
	case fault == Forbidden:
		s.fail(w, p, fault)
		return false
	}
	return true
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	p := protocolOf(r)
	if (chat{of: openRouter}) != p && !s.admits(w, r, p) { // everybody may read OpenRouter's
		return
	}
	names := []string{"fake-1"}
	if s.service != nil {
		if s.service.NoList {
			http.NotFound(w, r)
			return
		}
		names = s.service.Models
	}
	data := []any{}
	for _, name := range names {
		data = append(data, entry(p, name))
	}
	answer := object{"object": "list", "data": data}
	if p == (anthropic{}) {
		answer = object{"data": data, "has_more": false, "first_id": nil, "last_id": nil}
	}
	writeJSON(w, answer)
}

func entry(p protocol, name string) object {
	switch p {
	case anthropic{}:
		return object{"type": "model", "id": name, "display_name": name, "created_at": "2026-09-22T00:00:00Z", "max_input_tokens": 1000000, "max_tokens": 128000}
	case chat{of: google}:
		name = "models/" + name
	}
	return object{"id": name, "object": "model", "created": 1, "owned_by": "fake"}
}

func (s *Server) retrieve(w http.ResponseWriter, r *http.Request) {
	p := protocolOf(r)
	switch name := r.PathValue("model"); {
	case !s.admits(w, r, p):
	case s.offers(name):
		writeJSON(w, entry(p, name))
	default:
		s.unknown(w, p, name)
	}
}

func (s *Server) offers(name string) bool {
	return s.service == nil || slices.Contains(s.service.Models, name)
}

// ownKey is what OpenRouter says about a key.
func (s *Server) ownKey(w http.ResponseWriter, r *http.Request) {
	if p := protocolOf(r); s.admits(w, r, p) {
		writeJSON(w, object{"data": object{"label": "sk-or-v1-…", "limit": nil, "usage": 0, "is_free_tier": false}})
	}
}

// refuses reports whether a request is refused before any model sees it: because of
// its key, its model or its form.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request, p protocol, asked Request) bool {
	if s.service == nil {
		return false
	}
	if !s.admits(w, r, p) {
		return true
	}
	if fault := s.service.Keys[keyOf(r)]; fault != None {
		s.fail(w, p, fault)
		return true
	}
	if asked.Model == "" {
		s.answer(w, p, http.StatusBadRequest, "you must provide a model parameter", "")
		return true
	}
	if !s.offers(asked.Model) {
		s.unknown(w, p, asked.Model)
		return true
	}
	if fault := malformed(p, r, decode([]byte(asked.Body))); fault != "" {
		s.answer(w, p, http.StatusBadRequest, fault, "")
		return true
	}
	return false
}

// malformed is what a service says about a request that breaks a rule of its protocol,
// "" for one that does not.
func malformed(p protocol, r *http.Request, body object) string {
	switch p := p.(type) {
	case anthropic:
		return malformedMessages(r, body)
	case responses:
		return malformedResponses(body)
	case chat:
		return p.malformed(body)
	}
	return ""
}

func malformedMessages(r *http.Request, body object) string {
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return "anthropic-version: header is required"
	case body["max_tokens"] == nil:
		return "max_tokens: Field required"
	}
	open := map[string]bool{} // calls that want an answer
	before := ""
	for i, m := range list(body["messages"]) {
		message := m.(object)
		role := str(message["role"])
		if role == before {
			return fmt.Sprintf("messages.%d: roles must alternate", i)
		}
		before = role
		thought := false
		for j, b := range list(message["content"]) {
			block := b.(object)
			switch block["type"] {
			case "thinking":
				thought = str(block["signature"]) == "c2lnbmVk"
			case "text":
				if str(block["text"]) == "" {
					return fmt.Sprintf("messages.%d.content.%d: text content blocks must be non-empty", i, j)
				}
			case "tool_use":
				if !thought {
					return fmt.Sprintf("messages.%d.content.%d: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", i, j)
				}
				open[str(block["id"])] = true
			case "tool_result":
				if !open[str(block["tool_use_id"])] {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks", i, j)
				}
				delete(open, str(block["tool_use_id"]))
			}
		}
		if role == "user" && len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", i)
		}
	}
	return ""
}

func malformedResponses(body object) string {
	if body["store"] == false && str(body["model"]) == "plain-1" && len(list(body["include"])) > 0 {
		return "Encrypted content is not supported with this model."
	}
	open := map[string]bool{}
	for _, i := range list(body["input"]) {
		switch item := i.(object); item["type"] {
		case "reasoning":
			if str(item["encrypted_content"]) == "" {
				return "Item with id '" + str(item["id"]) + "' not found. Items are not persisted when `store` is set to false."
			}
		case "function_call":
			open[str(item["call_id"])] = true
		case "function_call_output":
			if !open[str(item["call_id"])] {
				return "No tool call found for function call output with call_id " + str(item["call_id"]) + "."
			}
			delete(open, str(item["call_id"]))
		}
	}
	for id := range open {
		return "No tool output found for function call " + id + "."
	}
	return ""
}

// malformed is what Google says about calls that come back without their signature,
// and what any service says about calls without an answer.
func (p chat) malformed(body object) string {
	open := map[string]bool{}
	for _, m := range list(body["messages"]) {
		message := m.(object)
		for _, c := range list(message["tool_calls"]) {
			call := c.(object)
			if p.of == google {
				extra, _ := json.Marshal(call["extra_content"])
				if string(extra) != `{"google":{"thought_signature":"c2lnbmVk"}}` {
					return "Function call is missing a thought_signature in functionCall parts."
				}
			}
			open[str(call["id"])] = true
		}
		if p.of == openRouter && len(list(message["tool_calls"])) > 0 && len(list(message["reasoning_details"])) != 2 {
			return "Provider returned error: the reasoning of the assistant is missing"
		}
		delete(open, str(message["tool_call_id"]))
	}
	for id := range open {
		return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': " + id
	}
	return ""
}

func (s *Server) unknown(w http.ResponseWriter, p protocol, name string) {
	switch p {
	case anthropic{}:
		s.answer(w, p, http.StatusNotFound, "model: "+name, "")
	case chat{of: openRouter}:
		s.answer(w, p, http.StatusBadRequest, name+" is not a valid model ID", "")
	case chat{of: google}:
		s.answer(w, p, http.StatusNotFound, "models/"+name+" is not found for API version v1main, or is not supported for generateContent.", "")
	default:
		s.answer(w, p, http.StatusNotFound, "The model `"+name+"` does not exist or you do not have access to it.", "model_not_found")
	}
}

// fail answers with a fault that has a status. Words are part of what the service says.
func (s *Server) fail(w http.ResponseWriter, p protocol, fault Fault, words ...string) {
	type said struct {
		status        int
		message, code string
	}
	openAI := p == responses{} || p == chat{}
	var all map[Fault]said
	switch {
	case p == anthropic{}:
		all = map[Fault]said{
			Unauthorized: {401, "invalid x-api-key", ""},
			Forbidden:    {403, "Your API key does not have permission to use the specified resource.", ""},
			NoQuota:      {400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", ""},
			Overloaded:   {529, "Overloaded", ""},
		}
	case openAI:
		all = map[Fault]said{
			// It repeats the key, though with most of it hidden; others repeat all of it.
			Unauthorized: {401, "Incorrect API key provided: " + strings.Join(words, " ") + ". You can find your API key at https://platform.openai.com/account/api-keys.", "invalid_api_key"},
			Forbidden:    {403, "Country, region, or territory not supported", "unsupported_country_region_territory"},
			NoQuota:      {429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"},
			Overloaded:   {503, "The engine is currently overloaded, please try again later", ""},
			NoTools:      {400, "registry.ollama.ai/library/gemma:2b does not support tools", ""},
		}
	case p == chat{of: openRouter}:
		all = map[Fault]said{
			Unauthorized: {401, "No auth credentials found", ""},
			Forbidden:    {403, "Key limit exceeded", ""},
			NoQuota:      {402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits", ""},
			Overloaded:   {503, "Provider returned error", ""},
			NoTools:      {404, "No endpoints found that support tool use.", ""},
		}
	default:
		all = map[Fault]said{
			Unauthorized: {400, "API key not valid. Please pass a valid API key.", ""},
			Forbidden:    {403, "Generative Language API has not been used in project 1 before or it is disabled.", ""},
			NoQuota:      {429, "You exceeded your current quota, please check your plan and billing details.", ""},
			Overloaded:   {503, "The model is overloaded. Please try again later.", ""},
		}
	}
	f := all[fault]
	s.answer(w, p, f.status, f.message, f.code)
}

func (s *Server) answer(w http.ResponseWriter, p protocol, status int, message, code string) {
	body := p.failure(status, message)
	if o, ok := body.(object); ok && code != "" {
		o["error"].(object)["code"] = code
		if code == "insufficient_quota" {
			o["error"].(object)["type"] = code
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
