package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` +
	"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// converse serves stdin to its end and returns the answers by id; those without
// one are under "null".
func converse(t *testing.T, stdin string) map[string][]string {
	t.Helper()
	var out strings.Builder
	must.Do(t, mcp.ServeStdio(t.Context(), toys(nil), strings.NewReader(stdin), &out, options(nil)))
	answers := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		var message struct{ ID any }
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("not protocol: %q", line)
		}
		id := fmt.Sprint(message.ID)
		if message.ID == nil {
			id = "null"
		}
		answers[id] = append(answers[id], strings.TrimSpace(line))
	}
	return answers
}

// TestNoLineEndsTheServer sends every kind of line that is not a request, and then
// a request that must still be answered.
func TestNoLineEndsTheServer(t *testing.T) {
	for _, tt := range []struct{ name, line, id, answer string }{
		{"text", "hello?", "null", "-32700"},
		{"half a message", `{"jsonrpc":"2.0","id":7,"method":"tools/li`, "null", "-32700"},
		{"two messages on one line", `{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}`, "null", "-32700"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}", "7", "error"},
		{"NUL bytes", "\x00\x00", "null", "-32700"},
		{"a number", "17", "null", "-32600"},
		{"null", "null", "null", "-32600"},
		{"a batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "null", "batches are not supported"},
		{"an empty batch", `[]`, "null", "-32600"},
		{"an empty object", `{}`, "null", "-32600"},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", "-32600"},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "-32600"},
		{"a number as method", `{"jsonrpc":"2.0","id":7,"method":3}`, "7", "-32600"},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"tools/burn"}`, "7", "-32601"},
		{"an answer that nobody asked for", `{"jsonrpc":"2.0","id":7,"result":{}}`, "", ""},
		{"a notification that nobody knows", `{"jsonrpc":"2.0","method":"notifications/burn"}`, "", ""},
		{"a list as parameters", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, "7", "error"},
		{"no parameters", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, "7", "error"},
		{"a number as arguments", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"toy_say","arguments":7}}`, "7", "INVALID_ARGS"},
		{"duplicate arguments", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"a","word":"b"}}}`, "7", "given twice"},
		{"a tool that panics", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"panic"}}}`, "7", "INTERNAL"},
		{"deep nesting", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"toy_say","arguments":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`, "null", "-32700"},
		{"too long", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 17<<20) + `"}}`, "null", "at most 16777216 bytes"},
		{"blank lines", "\r\n  \n\t", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := converse(t, hello+tt.line+"\n"+`{"jsonrpc":"2.0","id":"last","method":"ping"}`+"\n")
			if len(answers["last"]) != 1 || !strings.Contains(answers["last"][0], `"result"`) {
				t.Fatalf("the next request is not answered: %v", answers)
			}
			delete(answers, "last")
			delete(answers, "hello")
			if tt.id == "" {
				if len(answers) != 0 {
					t.Errorf("answered %v", answers)
				}
				return
			}
			if got := answers[tt.id]; len(got) != 1 || !strings.Contains(got[0], tt.answer) {
				t.Errorf("answered %.300v, want %s", answers, tt.answer)
			}
		})
	}
}

func TestEverythingAskedIsAnsweredBeforeTheEnd(t *testing.T) {
	var stdin strings.Builder
	stdin.WriteString(hello)
	for i := range 200 {
		fmt.Fprintf(&stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"toy_say","arguments":{"word":"x","times":1000}}}`+"\n", i)
	}
	// The last line has no line end, as when a file is piped.
	answers := converse(t, strings.TrimSuffix(stdin.String(), "\n"))
	if len(answers) != 201 {
		t.Errorf("%d of 201 requests were answered", len(answers))
	}
}

func TestARequestWithAnIDInUseIsRefused(t *testing.T) {
	h := newHeld()
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	log := new(journal)
	go func() { done <- mcp.ServeStdio(ctx, toys(h), in, out, options(log)) }()
	lines := bufio.NewScanner(answers)
	send := func(line string) {
		must.Get(io.WriteString(feed, line+"\n"))(t)
	}
	send(strings.TrimSuffix(hello, "\n"))
	lines.Scan()
	hold := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_hold"}}`
	send(hold)
	<-h.began
	send(hold)
	if lines.Scan(); !strings.Contains(lines.Text(), "not answered yet") {
		t.Errorf("got %s", lines.Text())
	}
	// A request to stop ends the call that is under way, and is not a failure.
	go io.Copy(io.Discard, answers)
	stop(errors.New("asked to stop"))
	if err := <-h.ended; err == nil || err.Error() != "asked to stop" {
		t.Errorf("the call ended with %v", err)
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if text := log.String(); strings.Contains(text, "ERROR") {
		t.Errorf("the log calls it an error: %s", text)
	}
}

// TestSoManyRequestsAtOnce: whoever asks without reading answers is not read any further.
func TestSoManyRequestsAtOnce(t *testing.T) {
	const asked, most = 200, 64
	synctest.Test(t, func(t *testing.T) {
		h := &held{make(chan struct{}, asked), make(chan struct{}), make(chan error, asked)}
		in, feed := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- mcp.ServeStdio(t.Context(), toys(h), in, io.Discard, options(nil)) }()
		go func() {
			io.WriteString(feed, hello)
			for i := range asked {
				fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"toy_hold"}}`+"\n", i)
			}
			feed.Close()
		}()
		synctest.Wait()
		if n := len(h.began); n != most {
			t.Errorf("%d calls began, want %d", n, most)
		}
		close(h.release)
		if err := <-done; err != nil || len(h.began) != asked {
			t.Errorf("%d of %d were answered: %v", len(h.began), asked, err)
		}
	})
}
