package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// protocol is how models of one kind are asked, and how what they say is read.
type protocol struct {
	name string
	ask  string // paths below the address of an endpoint
	list string
	sign func(header http.Header, key string)
	body func(q question) map[string]any
	// take takes the data of one event of a streamed response, or a whole response.
	take func(h *hearing, data []byte) error
	// kept is what was said in the form in which it goes back; nil where its text and
	// its calls are enough.
	kept func(h *hearing) json.RawMessage
}

func signBearer(header http.Header, key string) { header.Set("Authorization", "Bearer "+key) }

// question is one request to a model.
type question struct {
	model    string
	system   string
	messages []message
	tools    []driver.Offer
	mayCall  bool // false: the tools are there because earlier messages name them
	most     int  // tokens of the answer, where the protocol demands a number
	plain    bool // without what only some models understand
}

// message is one part of a conversation.
type message struct {
	role  string // "user", "assistant" or "tool"
	text  string
	calls []toolCall
	call  string // of a tool's answer: the id of the call
	// kept is what the model said in the form in which its protocol wants it back:
	// some refuse to go on without their thinking.
	kept json.RawMessage
}

// toolCall is a call that a model wants to be made.
type toolCall struct{ id, name, arguments string }

// schema is what a call of a tool may have, as JSON Schema.
func schema(o driver.Offer) map[string]any {
	properties, names := map[string]any{}, []string{} // all are required, because some services want that
	for _, a := range o.Arguments {
		properties[a[0]] = map[string]any{"type": "string", "description": a[1]}
		names = append(names, a[0])
	}
	return map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
}

// finish is why a model stopped.
type finish string

const (
	brokeOff   finish = ""
	finished   finish = "finished" // with an answer or with calls
	cutOff     finish = "cut off"  // its output is limited
	overflowed finish = "overflowed"
	declined   finish = "declined"
)

// hearing is what was heard of one reply. Parts are joined at its end: a reply in very
// many of them costs in proportion.
type hearing struct {
	events  int // that were understood
	text    strings.Builder
	refusal strings.Builder
	calls   []*callPieces
	blocks  []*block          // of Anthropic's messages
	items   []json.RawMessage // of OpenAI's responses, and reasoning of OpenRouter's
	usage   *tokens
	cost    *float64 // where the endpoint reports it
	end     finish
}

// tokens is what one reply took. Input includes what was cached and written to the
// cache.
type tokens struct{ input, cached, written, output int64 }

type callPieces struct {
	id              string
	name, arguments strings.Builder
	extra           json.RawMessage // what comes with the call and has to go back with it
}

// mostCalls is how many calls of one reply are made.
const mostCalls = 64

// call is the call with an index; nil for one too many.
func (h *hearing) call(index int) *callPieces {
	for len(h.calls) <= index && index < mostCalls {
		h.calls = append(h.calls, &callPieces{id: fmt.Sprintf("call_%d", len(h.calls))})
	}
	if index < 0 || index >= len(h.calls) {
		return nil
	}
	return h.calls[index]
}

// toolCalls are the calls that were heard.
func (h *hearing) toolCalls() []toolCall {
	var calls []toolCall
	for _, c := range h.calls {
		calls = append(calls, toolCall{c.id, c.name.String(), cmp.Or(c.arguments.String(), "{}")})
	}
	return calls
}

// spoken is an error that an endpoint reports, in the forms in which they do.
type spoken struct {
	Type    string
	Code    string
	Message string
}

func (s *spoken) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		s.Message = text
		return nil
	}
	var fields struct {
		Type    string `json:"type"`
		Status  string `json:"status"` // Google's name of the type
		Code    any    `json:"code"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	s.Type, s.Message = cmp.Or(fields.Type, fields.Status), fields.Message
	if fields.Code != nil {
		s.Code = fmt.Sprint(fields.Code)
	}
	return nil
}

func (s spoken) failure() *driver.Error {
	return driver.FailureIn("the model", strings.TrimSpace(strings.Join([]string{s.Message, s.Type, s.Code}, " ")))
}
