package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

func TestLargeResultsAreSummarisedInTheTextOnly(t *testing.T) {
	s := session(t, toys(nil), options(nil), nil)
	for _, times := range []int{10, 200_000} {
		result := must.Get(s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": "x", "times": times}}))(t)
		text := result.Content[0].(*sdk.TextContent).Text
		said := result.StructuredContent.(map[string]any)["said"].(string)
		if len(said) != times {
			t.Errorf("structured content has %d of %d bytes", len(said), times)
		}
		if large := times > 1000; large != strings.Contains(text, "only a summary; all of it is in structuredContent") || len(text) > 1000 {
			t.Errorf("%d times: %.200s", times, text)
		} else if large && !strings.HasPrefix(text, "200000 bytes were said. ") {
			t.Errorf("the summary does not say what came out: %s", text)
		}
	}
}

func TestErrorsAreOneTextBlockWithTheEnvelope(t *testing.T) {
	log := new(journal)
	s := session(t, toys(nil), options(log), nil)
	for word, code := range map[string]tidegate.Code{"fail": tidegate.FileNotFound, "panic": tidegate.Internal, "": tidegate.InvalidArgs} {
		result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": word}})
		if err != nil {
			t.Fatal(err)
		}
		var envelope struct {
			OK    bool
			Error struct{ Code tidegate.Code }
		}
		must.Do(t, json.Unmarshal([]byte(result.Content[0].(*sdk.TextContent).Text), &envelope))
		if !result.IsError || result.StructuredContent != nil || len(result.Content) != 1 || envelope.OK || envelope.Error.Code != code {
			t.Errorf("%q: got %+v", word, envelope)
		}
	}
	if !strings.Contains(log.String(), "a tool panicked") {
		t.Error("the panic is not in the log")
	}
}

// TestResultsAndErrorsFollowTheSchema checks both against the output schema: some
// clients check the text of an error, and keep it from the model where it does not fit.
func TestResultsAndErrorsFollowTheSchema(t *testing.T) {
	s := session(t, toys(nil), options(nil), nil)
	list := must.Get(s.ListTools(t.Context(), nil))(t)
	at := slices.IndexFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == "toy_say" })
	text := must.Get(json.Marshal(list.Tools[at].OutputSchema))(t)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil || parsed.(map[string]any)["type"] != "object" {
		t.Fatalf("%v: %s", err, text)
	}
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("output.json", parsed))
	schema := must.Get(compiler.Compile("output.json"))(t)
	for _, word := range []string{"hello", "fail"} {
		result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": word}})
		if err != nil {
			t.Fatal(err)
		}
		var said any
		must.Do(t, json.Unmarshal([]byte(result.Content[0].(*sdk.TextContent).Text), &said))
		if err := schema.Validate(said); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	if schema.Validate(map[string]any{"ok": true}) == nil {
		t.Error("anything follows the schema")
	}
}

func TestUnknownToolNamesTheNearest(t *testing.T) {
	s := session(t, toys(nil), options(nil), nil)
	_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_sya"})
	if err == nil || !strings.Contains(err.Error(), "did you mean toy_say?") {
		t.Errorf("got %v", err)
	}
}

func TestProgressGrowsAndIsSentOnlyOnRequest(t *testing.T) {
	var heard []float64
	done := make(chan struct{})
	s := session(t, toys(nil), options(nil), &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, request *sdk.ProgressNotificationClientRequest) {
			heard = append(heard, request.Params.Progress)
			if request.Params.Progress == request.Params.Total {
				close(done)
			}
		},
	})
	must.Get(s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": "x", "times": 9}}))(t)
	params := &sdk.CallToolParams{Name: "toy_say", Arguments: map[string]any{"word": "x", "times": 5000}}
	params.SetProgressToken("t1")
	must.Get(s.CallTool(t.Context(), params))(t)
	<-done
	if len(heard) < 2 || heard[0] != 1 || heard[len(heard)-1] != 5000 || !slices.IsSorted(heard) {
		t.Errorf("heard %v", heard)
	}
	if len(heard) > 500 {
		t.Errorf("%d notifications for one call", len(heard))
	}
}

func TestCancelNotificationStopsTheWork(t *testing.T) {
	h := newHeld()
	s := session(t, toys(h), options(nil), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-h.began
		cancel()
	}()
	if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "toy_hold"}); err == nil {
		t.Fatal("the call was not cancelled")
	}
	<-h.ended
	if err := s.Ping(t.Context(), nil); err != nil {
		t.Errorf("the server is gone: %v", err)
	}
}

func TestPromptsAreOfferedWithTheirTools(t *testing.T) {
	readOnly := must.Get(mcp.Narrow(toys(nil), mcp.Narrowing{ReadOnly: true}))(t)
	s := session(t, readOnly, options(nil), nil)
	list, err := s.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "greet" {
		t.Fatalf("got %+v %v", list, err)
	}
	got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Ann"}})
	if err != nil || got.Messages[0].Content.(*sdk.TextContent).Text != "Say hello to Ann" {
		t.Errorf("got %+v %v", got, err)
	}
	for who, want := range map[string]string{"": "who is required: whom to greet", "panic": "did not expect"} {
		if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": who}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", who, err)
		}
	}
}

func TestResources(t *testing.T) {
	s := session(t, toys(nil), options(nil), nil)
	for uri, want := range map[string]string{
		"toy://one": "one", "toy://many/a": "a", "toy://many/bytes": "\xff\x00",
		"toy://many/absent": "error: Resource not found", "toy://many/outside": "error: PATH_NOT_ALLOWED: outside", "toy://other": "error: Resource not found",
	} {
		got := ""
		if result, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
			_, after, _ := strings.Cut(err.Error(), `"resources/read": `)
			got = "error: " + after
		} else {
			got = result.Contents[0].Text + string(result.Contents[0].Blob)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
}

func TestToolsHaveTheReachOfTheServer(t *testing.T) {
	o := options(nil)
	o.Reach = artifact.Within(t.TempDir())
	confined := false
	asked := tool.New(tool.Spec{Name: "toy_reach", Set: "run", Summary: "Use this in tests.", Effect: tool.Reads},
		func(_ context.Context, call tool.Caller, _ struct{}) (struct{}, error) {
			confined = call.Reach.Confined()
			return struct{}{}, nil
		})
	if _, err := session(t, []*tool.Tool{asked}, o, nil).CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_reach"}); err != nil || !confined {
		t.Errorf("confined %v, %v", confined, err)
	}
}

func TestNarrow(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   mcp.Narrowing
		want []string
		hint string
	}{
		{"not at all", mcp.Narrowing{}, []string{"toy_say", "toy_write"}, ""},
		{"to every set", mcp.Narrowing{Sets: []string{"all"}}, []string{"toy_say", "toy_hold", "toy_write"}, ""},
		{"read-only", mcp.Narrowing{ReadOnly: true}, []string{"toy_say"}, ""},
		{"read-only, every set", mcp.Narrowing{ReadOnly: true, Sets: []string{"all"}}, []string{"toy_say", "toy_hold"}, ""},
		{"by name", mcp.Narrowing{Names: []string{"toy_write", "toy_say"}}, []string{"toy_say", "toy_write"}, ""},
		{"by set", mcp.Narrowing{Sets: []string{"run"}}, []string{"toy_hold", "toy_write"}, ""},
		{"by both", mcp.Narrowing{Sets: []string{"run"}, Names: []string{"toy_say", "toy_hold"}}, []string{"toy_hold"}, ""},
		{"all three", mcp.Narrowing{Sets: []string{"run"}, Names: []string{"toy_write"}, ReadOnly: true}, nil, "leave no tool"},
		{"misspelt name", mcp.Narrowing{Names: []string{"toy_sy"}}, nil, "did you mean toy_say?"},
		{"misspelt set", mcp.Narrowing{Sets: []string{"zebra"}}, nil, "known are all, wave, run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left, err := mcp.Narrow(toys(nil), tt.by)
			var names []string
			for _, each := range left {
				names = append(names, each.Name)
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (tt.hint != "") || err != nil && (tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), tt.hint)) {
				t.Errorf("got %v", err)
			}
		})
	}
	left, _ := mcp.Narrow(toys(nil), mcp.Narrowing{ReadOnly: true})
	if left[0].InputSchema().Get("properties").Get("save") != nil {
		t.Error("a read-only tool has an argument that writes")
	}
}

// decided is a tool that waits for a person, until the record has the decision.
func decided(t *testing.T, record *atomic.Bool) []*tool.Tool {
	t.Helper()
	return []*tool.Tool{tool.New(tool.Spec{Name: "toy_decide", Set: "run", Core: true, Summary: "Use this in tests.", Effect: tool.Writes, Idempotent: true},
		func(context.Context, tool.Caller, struct{}) (waits, error) {
			return waits{Waiting: !record.Load()}, nil
		})}
}

type waits struct {
	OK      codec.True `json:"ok"`
	Waiting bool       `json:"waiting"`
}

func (w waits) ForPerson() string {
	if !w.Waiting {
		return ""
	}
	return "Type: tide \x1b[2Jdecide"
}

// TestAPersonIsShownWhatOnlyAPersonCanDo: what is answered in the form decides nothing, and
// what the record says does.
func TestAPersonIsShownWhatOnlyAPersonCanDo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		action string
		person bool // types the command before the form is answered
	}{
		{"accepted in the form alone", "accept", false},
		{"declined", "decline", false},
		{"typed and accepted", "accept", true},
		{"typed and declined", "decline", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var record atomic.Bool
			var shown []*sdk.ElicitParams
			s := session(t, decided(t, &record), options(nil), &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				shown = append(shown, r.Params)
				record.Store(tt.person)
				return &sdk.ElicitResult{Action: tt.action, Content: map[string]any{}}, nil
			}})
			result := must.Get(s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_decide", Arguments: map[string]any{}}))(t)
			if waiting := result.StructuredContent.(map[string]any)["waiting"]; waiting == tt.person {
				t.Errorf("it waits: %v", waiting)
			}
			if len(shown) != 1 || !strings.HasPrefix(shown[0].Message, "Type: tide ") || strings.Contains(shown[0].Message, "\x1b") {
				t.Errorf("the person was shown %+v", shown)
			}
			schema, err := json.Marshal(shown[0].RequestedSchema)
			if err != nil || strings.Contains(string(schema), "required") || !strings.Contains(string(schema), `"properties":{}`) {
				t.Errorf("there is something to fill in: %s, %v", schema, err)
			}
		})
	}
}

// TestAClientWithoutFormsGetsTheResult, and so does one of an older revision whose form fails.
func TestAClientWithoutFormsGetsTheResult(t *testing.T) {
	var record atomic.Bool
	s := session(t, decided(t, &record), options(nil), nil)
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "toy_decide", Arguments: map[string]any{}})
	if err != nil || result.StructuredContent.(map[string]any)["waiting"] != true {
		t.Fatalf("%v, %v", result, err)
	}
	said := speak(t, decided(t, &record), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"old","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"toy_decide","arguments":{}}}`)
	if !strings.Contains(said, `"elicitation/create"`) || !strings.Contains(said, `"waiting":true`) {
		t.Errorf("got %s", said)
	}
}

// speak sends lines to a server and refuses whatever it asks, until it has answered the last
// line; it returns all that the server said.
func speak(t *testing.T, tools []*tool.Tool, lines ...string) string {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	go func() { out.CloseWithError(mcp.ServeStdio(t.Context(), tools, in, out, options(nil))) }()
	go func() {
		for _, line := range lines {
			io.WriteString(write, line+"\n")
		}
	}()
	var said strings.Builder
	scanner := bufio.NewScanner(read)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		said.WriteString(scanner.Text() + "\n")
		var message struct {
			ID     json.RawMessage
			Method string
		}
		must.Do(t, json.Unmarshal(scanner.Bytes(), &message))
		if message.Method != "" && message.ID != nil {
			go io.WriteString(write, `{"jsonrpc":"2.0","id":`+string(message.ID)+`,"error":{"code":-32000,"message":"no forms today"}}`+"\n")
		}
		if message.Method == "" && string(message.ID) == "2" {
			write.Close()
		}
	}
	return said.String()
}
