package mcp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
)

var requestSeeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"x","times":3}}}`,
	`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"a","word":"b"},"_meta":{"progressToken":1}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"toy://many/bytes"}}`,
	`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"greet","arguments":{"who":"you"}}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
	`{"jsonrpc":"2.0","id":"x","method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"y"}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen"}`,
	`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	`[{"jsonrpc":"2.0","id":8,"method":"ping"}]`,
	"\xff\x00{}\n\n{\"id\":null}",
}

// FuzzStdio sends any lines. Every line that comes back is a message, and the
// request after them is answered.
func FuzzStdio(f *testing.F) {
	for _, seed := range requestSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		if bytes.Contains(sent, []byte("toy_hold")) || bytes.Contains(sent, []byte("\"last\"")) {
			t.Skip("a call that waits to be cancelled, or the id of the last request")
		}
		var out bytes.Buffer
		o := options(nil)
		o.Log = slog.New(slog.DiscardHandler)
		stdin := hello + string(sent) + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n"
		must.Do(t, mcp.ServeStdio(t.Context(), toys(newHeld()), strings.NewReader(stdin), &out, o))
		answered := false
		for line := range bytes.Lines(out.Bytes()) {
			var message struct {
				Version string `json:"jsonrpc"`
				ID      any    `json:"id"`
			}
			if err := json.Unmarshal(line, &message); err != nil || message.Version != "2.0" {
				t.Fatalf("not protocol: %q", line)
			}
			answered = answered || message.ID == "last"
		}
		if !answered {
			t.Fatalf("the next request is not answered:\n%s", out.Bytes())
		}
	})
}

// FuzzHTTP sends any body to the HTTP face, which answers everything, never with an
// internal error.
func FuzzHTTP(f *testing.F) {
	for _, seed := range requestSeeds {
		f.Add([]byte(seed), "2025-11-25")
		f.Add([]byte(seed), "2026-07-28")
	}
	o := options(nil)
	o.Log = slog.New(slog.DiscardHandler)
	handler := mcp.Handler(toys(newHeld()), "", o)
	f.Fuzz(func(t *testing.T, body []byte, version string) {
		if bytes.Contains(body, []byte("toy_hold")) || bytes.Contains(body, []byte("subscriptions")) {
			t.Skip("a request that is open until its caller leaves")
		}
		if strings.ContainsAny(version, "\r\n") {
			t.Skip("no header")
		}
		request := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Mcp-Protocol-Version", version)
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		if response.Code >= 500 {
			t.Fatalf("answered %d: %s", response.Code, response.Body)
		}
	})
}
