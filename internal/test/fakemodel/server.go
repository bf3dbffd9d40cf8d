// Package fakemodel is a model server on loopback for tests. It speaks Anthropic
// Messages, OpenAI Responses and Chat Completions, and Gemini, and streams on
// request. It says what a script tells it to say, and fails in the ways in which
// model servers fail.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Server answers requests to models until it is closed.
type Server struct {
	URL string // http://127.0.0.1:PORT

	service  *Service // nil: no keys, one model, and no questions asked
	script   Script
	http     *httptest.Server
	closing  chan struct{}
	mu       sync.Mutex
	requests []Request
}

// Script says what the model answers. It is called from several goroutines when
// clients ask at the same time.
type Script func(Request) Reply

// Request is what a client asked.
type Request struct {
	Number   int // counted from 1
	Protocol string
	Path     string
	Header   http.Header
	Body     string
	Model    string
	Prompt   string   // the text of the last message of the user
	Results  []string // what tools answered, oldest first
	Tools    []string // the names that the model may call; one in a namespace is namespace/name
}

// Reply is what the model does: it thinks, then calls tools or says a text, or
// it fails.
type Reply struct {
	Thinking   string
	Text       string
	Calls      []Call
	Fault      Fault
	RetryAfter time.Duration // for RateLimited
}

// Call is a call to a tool. Args are sent as they are, JSON or not.
type Call struct {
	Name string
	Args string
}

// Fault is a way to fail.
type Fault int

// The faults.
const (
	None         Fault = iota
	Unauthorized       // 401
	RateLimited        // 429, with Retry-After
	ServerError        // 500
	Hang               // nothing, until the client is gone
	HangInStream       // half of the text, then nothing
	CutStream          // half of the text, then the connection is closed
	Flood              // 50 MB of text that does not repeat itself
	NoText             // a whole answer without a word in it
	NoEvents           // status 200, and then nothing
	Refusal            // the model will not do it
	Garbage            // bytes that follow no protocol
	TooLong            // 400: the messages do not fit into the model's context
)

// More faults, of services with keys.
const (
	Forbidden  Fault = iota + 100 // 403
	NoQuota                       // the money is used up: 400, 402 or 429, as the service has it
	Overloaded                    // 529, or 503
	NoTools                       // 400: the model cannot call tools
)

// The tokens that every reply reports.
const (
	InputTokens  = 1234
	CachedTokens = 22 // of the input
	OutputTokens = 56
)

// Say is the script of a model that always says the same thing.
func Say(text string) Script {
	return func(Request) Reply { return Reply{Text: text} }
}

// InTurn is the script of a model that gives one reply after the other, and then
// repeats the last one.
func InTurn(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.Number, len(replies))-1] }
}

// Start starts a server. Close must be called.
func Start(script Script) *Server { return start(nil, script) }

func start(service *Service, script Script) *Server {
	s := &Server{service: service, script: script, closing: make(chan struct{})}
	mux := http.NewServeMux()
	for path, p := range map[string]protocol{
		"/v1/messages":                    anthropic{},
		"/v1/responses":                   responses{},
		"/v1/chat/completions":            chat{},
		"/api/v1/chat/completions":        chat{of: openRouter},
		"/v1beta/openai/chat/completions": chat{of: google},
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, p) })
	}
	mux.HandleFunc("POST /v1beta/models/", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, gemini{}) })
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, map[string]any{"input_tokens": InputTokens})
	})
	for _, path := range []string{"/v1", "/api/v1", "/v1beta/openai"} {
		mux.HandleFunc("GET "+path+"/models", s.list)
		mux.HandleFunc("GET "+path+"/models/{model...}", s.retrieve)
	}
	mux.HandleFunc("GET /api/v1/key", s.ownKey)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every request in progress.
func (s *Server) Close() {
	close(s.closing)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests lists what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Forget forgets what was asked so far, and returns how much that was.
func (s *Server) Forget() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.requests)
	s.requests = nil
	return n
}

// protocol is one way to ask a model.
type protocol interface {
	name() string
	// read fills in what body asks, and reports whether the answer should be
	// streamed.
	read(r *http.Request, body []byte, into *Request) (streamed bool)
	// stream sends a reply as server-sent events, and whole sends it at once.
	stream(send func(event string, data any), r Request, reply Reply)
	whole(r Request, reply Reply) any
	// failure is the body of an answer with the given status.
	failure(status int, message string) any
}

// complaints are what providers say with a status. Some clients show nothing else
// about a failure.
var complaints = map[string]map[int]string{
	"anthropic": {401: "invalid x-api-key", 429: "This request would exceed your account's rate limit. Please try again later.", 500: "Internal server error"},
	"responses": openAIComplaints,
	"chat":      openAIComplaints,
	"gemini": {401: "API key not valid. Please pass a valid API key.", 429: "Resource has been exhausted (e.g. check quota).",
		500: "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"},
}

var openAIComplaints = map[int]string{
	401: "Incorrect API key provided: k. You can find your API key at https://platform.openai.com/account/api-keys.",
	429: "Rate limit reached for requests. Please try again in 1s.",
	500: "The server had an error while processing your request. Sorry about that!",
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, p protocol) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	asked := Request{Protocol: p.name(), Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	streamed := p.read(r, body, &asked)
	if s.refuses(w, r, p, asked) {
		return
	}
	s.mu.Lock()
	asked.Number = len(s.requests) + 1
	s.requests = append(s.requests, asked)
	s.mu.Unlock()

	reply := s.script(asked)
	status := 0
	switch reply.Fault {
	case Unauthorized:
		status = http.StatusUnauthorized
	case RateLimited:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(reply.RetryAfter/time.Second)))
	case ServerError:
		status = http.StatusInternalServerError
	case TooLong:
		status = http.StatusBadRequest
	case Forbidden, NoQuota, Overloaded, NoTools:
		s.fail(w, p, reply.Fault)
		return
	case Hang:
		s.hang(r)
		return
	case Garbage:
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"x\": \xff\x00 nonsense\n\nevent: ?\ndata: [\n\n")
		return
	case Flood:
		reply.Text = flood()
	case NoText, Refusal:
		reply.Text = ""
	}
	if status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		message := complaints[p.name()][status]
		if reply.Fault == TooLong {
			message = "This model's maximum context length is 8192 tokens."
		}
		json.NewEncoder(w).Encode(p.failure(status, message))
		return
	}
	if !streamed {
		switch reply.Fault {
		case HangInStream:
			s.hang(r)
			return
		case CutStream:
			panic(http.ErrAbortHandler)
		case NoEvents:
			return
		}
		writeJSON(w, p.whole(asked, reply))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	flush()
	if reply.Fault == NoEvents {
		return
	}
	p.stream(func(event string, data any) {
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		text, ok := data.(string)
		if !ok {
			line, err := json.Marshal(data)
			if err != nil {
				panic(err)
			}
			text = string(line)
		}
		if text == halfway {
			flush()
			if reply.Fault == HangInStream {
				s.hang(r)
			}
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
		flush()
	}, asked, reply)
}

// hang waits until the client or the server is gone.
func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closing:
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// halfway is what a protocol sends in place of the second half of a text that will
// not come.
const halfway = "\x00halfway"

// parts splits the text of a reply as a model streams it. A reply that fails on
// the way has half of them, and then halfway.
func parts(reply Reply) []string {
	size := 40
	if len(reply.Text) > 1<<20 {
		size = 1 << 16
	}
	var list []string
	for rest := reply.Text; rest != ""; {
		n := min(size, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		list = append(list, rest[:n])
		rest = rest[n:]
	}
	if reply.Fault == HangInStream || reply.Fault == CutStream {
		list = append(list[:(len(list)+1)/2], halfway)
	}
	return list
}

// flood is 50 MB of text that does not repeat, because clients detect texts that do.
var flood = sync.OnceValue(func() string {
	text := make([]byte, 0, 50<<20+64)
	for i := uint64(1); len(text) < 50<<20; i++ {
		text = strconv.AppendUint(text, i*0x9E3779B97F4A7C15, 16)
		text = append(text, ' ')
		if i%12 == 0 {
			text = append(text, '\n')
		}
	}
	return string(text)
})

// object is a JSON object that is being built.
type object = map[string]any

// texts joins the strings of a JSON value that may have several forms: a text, or a
// list of parts that have texts.
func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, part := range v {
			all = append(all, texts(part))
		}
		return strings.Join(all, "\n")
	case object:
		for _, key := range []string{"text", "content", "output"} {
			if inner, ok := v[key]; ok {
				return texts(inner)
			}
		}
		line, _ := json.Marshal(v)
		return string(line)
	}
	return ""
}

func decode(body []byte) object {
	var v object
	json.Unmarshal(body, &v)
	return v
}

func list(v any) []any { l, _ := v.([]any); return l }
func str(v any) string { s, _ := v.(string); return s }

// arguments is the arguments of a call, or an empty object where they are not JSON.
func arguments(call Call) any {
	var v any
	if json.Unmarshal([]byte(call.Args), &v) != nil {
		return object{}
	}
	return v
}
