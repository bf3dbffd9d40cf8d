package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

type pair struct {
	ID   string `json:"id" jsonschema:"the id"`
	Note string `json:"note,omitzero"`
}

type echoIn struct {
	Folder string       `json:"folder" path:"absolute" jsonschema:"the folder"`
	Mode   string       `json:"mode,omitzero" enum:"fast,slow" default:"fast"`
	Limit  int          `json:"limit,omitzero" min:"1" max:"500" default:"25"`
	Ratio  *float64     `json:"ratio,omitzero" min:"0"`
	Names  []string     `json:"names,omitzero" minitems:"1"`
	Pairs  []pair       `json:"pairs,omitzero" extra:"ignore"`
	Inner  *pair        `json:"inner,omitzero"`
	Loud   bool         `json:"loud,omitzero"`
	Free   *codec.Value `json:"free,omitzero"`
	Patch  *codec.Value `json:"patch,omitzero" holds:"object"`
	Save   string       `json:"save,omitzero" path:"absolute" writes:"true"`
}

type echoOut struct {
	OK     codec.True `json:"ok"`
	Limit  int        `json:"limit"`
	Mode   string     `json:"mode"`
	Names  []string   `json:"names"`
	Saved  *string    `json:"saved"`
	Last   *pair      `json:"last"`
	passed bool
}

func (o echoOut) Passed() bool { return o.passed }

func echo(run func(context.Context, tool.Caller, echoIn) (echoOut, error)) *tool.Tool {
	if run == nil {
		run = func(_ context.Context, _ tool.Caller, in echoIn) (echoOut, error) {
			return echoOut{Limit: in.Limit, Mode: in.Mode, Names: in.Names, passed: !in.Loud}, nil
		}
	}
	return tool.New(tool.Spec{Name: "echo", Set: "toy", Summary: "Say it back.", Effect: tool.WritesOnRequest}, run)
}

func TestCallReturnsFieldsInOrderWithDefaults(t *testing.T) {
	got := echo(nil).Call(t.Context(), []byte(`{"folder":"/x","limit":30.0,"names":null}`), tool.Caller{})
	want := "{\n  \"ok\": true,\n  \"limit\": 30,\n  \"mode\": \"fast\",\n  \"names\": [],\n  \"saved\": null,\n  \"last\": null\n}"
	if diff := cmp.Diff(want, string(got.Envelope)); diff != "" || !got.Passed || got.Err != nil {
		t.Errorf("got %v %v (-want +got):\n%s", got.Passed, got.Err, diff)
	}
}

func TestArgumentFaultsNameTheArgument(t *testing.T) {
	for _, tt := range []struct{ name, args, message, key string }{
		{"no object", `[]`, "the arguments must be an object", "arguments"},
		{"not JSON", `{`, "the arguments are not JSON: line 1", "arguments"},
		{"trailing data", `{"folder":"/x"} 1`, "the arguments are not JSON", "arguments"},
		{"duplicate", `{"folder":"/x","folder":"/y"}`, "folder is given twice", "folder"},
		{"duplicate further in", `{"pairs":[{"id":"a","id":"b"}]}`, "pairs.0.id is given twice", "pairs.0.id"},
		{"unknown", `{"colour":1}`, "colour is not an argument; known are folder", "colour"},
		{"misspelt", `{"foldre":"/x"}`, "foldre is not an argument; did you mean folder?", "foldre"},
		{"miscased", `{"Folder":"/x"}`, "did you mean folder?", "Folder"},
		{"unknown goes before missing", `{"limit":0,"nmes":[]}`, "did you mean names?", "nmes"},
		{"missing", `{}`, "folder is required: the folder", "folder"},
		{"blank input", " \n", "folder is required: the folder", "folder"},
		{"null for all of them", `null`, "folder is required: the folder", "folder"},
		{"null where required", `{"folder":null}`, "folder must be a string, got null", "folder"},
		{"blank", `{"folder":"\t "}`, "folder must not be blank", "folder"},
		{"relative", `{"folder":"./rel"}`, "folder must be absolute", "folder"},
		{"NUL", `{"folder":"/a\u0000b"}`, "folder must not contain a NUL", "folder"},
		{"wrong type is not coerced", `{"folder":"/x","limit":"3"}`, `limit must be an integer from 1 to 500, got the string "3"`, "limit"},
		{"fraction", `{"folder":"/x","limit":2.5}`, "limit must be an integer from 1 to 500, got the number 2.5", "limit"},
		{"out of range", `{"folder":"/x","limit":501}`, "limit must be an integer from 1 to 500, got the number 501", "limit"},
		{"below", `{"folder":"/x","ratio":-1}`, "ratio must be a finite number of at least 0, got the number -1", "ratio"},
		{"infinite", `{"folder":"/x","ratio":1e999}`, "ratio must be a finite number of at least 0, got the number 1e999", "ratio"},
		{"enumeration", `{"folder":"/x","mode":"warp"}`, `mode must be one of fast, slow, got "warp"`, "mode"},
		{"empty list", `{"folder":"/x","names":[]}`, "names must have 1 or more entries", "names"},
		{"element type", `{"folder":"/x","names":["a",3]}`, "names[1] must be a string", "names[1]"},
		{"element field", `{"folder":"/x","pairs":[{"id":"a","more":1},{"more":1}]}`, "pairs[1].id is required", "pairs[1].id"},
		{"closed object", `{"folder":"/x","inner":{"id":"a","nota":1}}`, "inner.nota is not an argument; did you mean note?", "inner.nota"},
		{"boolean", `{"folder":"/x","loud":"yes"}`, "loud must be true or false", "loud"},
		{"declaration order", `{"save":"rel","folder":"rel"}`, "folder must be absolute", "folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := echo(nil).Call(t.Context(), []byte(tt.args), tool.Caller{})
			if got.Err == nil || got.Err.Code != tidegate.InvalidArgs || got.Passed {
				t.Fatalf("got %s", got.Envelope)
			}
			if !strings.HasPrefix(got.Err.Message, tt.message) && !strings.Contains(got.Err.Message, tt.message) {
				t.Errorf("message %q lacks %q", got.Err.Message, tt.message)
			}
			if _, ok := got.Err.Details.Get(tt.key); !ok {
				t.Errorf("details %v lack %q", got.Err.Details, tt.key)
			}
		})
	}
}

func TestDetailsQuoteAFaultyValueAndCutALongOne(t *testing.T) {
	long := strings.Repeat("9", 300)
	for _, tt := range []struct{ name, args, details string }{
		{"a list", `{"folder":["/x",1]}`, `{"folder":["/x",1]}`},
		{"a long list", `{"folder":[` + long + `]}`, `{"folder":"[` + long[:199] + `"}`},
		{"a long number", `{"folder":"/x","limit":` + long + `}`, `{"limit":"` + long[:200] + `"}`},
		{"a long string", `{"folder":"` + long + `"}`, `{"folder":"` + long[:200] + `"}`},
		{"a long name", `{"` + long + `":1}`, `{"` + long[:200] + `":1}`},
		{"a long name twice", `{"` + long + `":1,"` + long + `":1}`, `{"` + long[:200] + `":"given twice"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := echo(nil).Call(t.Context(), []byte(tt.args), tool.Caller{})
			details, err := codec.MarshalLine(got.Err.Details)
			if diff := cmp.Diff(tt.details, string(details)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestErrorEnvelopeHasThreeKeys(t *testing.T) {
	got := echo(nil).Call(t.Context(), []byte(`{"folder":"./rel"}`), tool.Caller{})
	want := "{\n  \"ok\": false,\n  \"error\": {\n    \"code\": \"INVALID_ARGS\",\n    \"message\": \"folder must be absolute\",\n    \"details\": {\n      \"folder\": \"./rel\"\n    }\n  }\n}"
	if diff := cmp.Diff(want, string(got.Envelope)); diff != "" {
		t.Error(diff)
	}
	plain := tool.Failure(errors.New("boom"))
	if !strings.Contains(string(plain.Envelope), `"details": {}`) || plain.Err.Code != tidegate.Internal {
		t.Errorf("got %s", plain.Envelope)
	}
}

func TestPanicBecomesInternal(t *testing.T) {
	var heard any
	bad := echo(func(context.Context, tool.Caller, echoIn) (echoOut, error) { panic("kaboom") })
	got := bad.Call(t.Context(), []byte(`{"folder":"/x"}`), tool.Caller{Panicked: func(v any, _ []byte) { heard = v }})
	if got.Err == nil || got.Err.Code != tidegate.Internal || heard != "kaboom" {
		t.Errorf("got %s, heard %v", got.Envelope, heard)
	}
}

func TestCancelledContextNeverRuns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := echo(nil).Call(ctx, []byte(`{"folder":"/x"}`), tool.Caller{}); got.Err == nil || got.Err.Code != tidegate.Cancelled {
		t.Errorf("got %s", got.Envelope)
	}
}

func TestPathsOutsideTheRootsAreRefused(t *testing.T) {
	root := t.TempDir()
	type file struct {
		Path string `json:"path" path:"run"`
	}
	type in struct {
		Folder string   `json:"folder" path:"absolute"`
		Text   string   `json:"text,omitzero"`
		Files  []file   `json:"files,omitzero"`
		More   []string `json:"more,omitzero" path:"absolute"`
		Inner  *struct {
			Path string `json:"path,omitzero" path:"absolute"`
		} `json:"inner,omitzero"`
		Progress func(done, total int) `json:"-"`
	}
	ran := 0
	read := tool.New(tool.Spec{Name: "read", Set: "run", Summary: "Read.", Effect: tool.Reads},
		func(context.Context, tool.Caller, in) (struct{}, error) { ran++; return struct{}{}, nil })
	for _, tt := range []struct {
		name, args string
		code       tidegate.Code
		key        string
	}{
		{"inside", `{"folder":"$ROOT/a"}`, "", ""},
		{"the root itself", `{"folder":"$ROOT"}`, "", ""},
		{"outside", `{"folder":"/x"}`, tidegate.PathNotAllowed, "folder"},
		{"up and out", `{"folder":"$ROOT/../x"}`, tidegate.PathNotAllowed, "folder"},
		{"a sibling with the same beginning", `{"folder":"$ROOT2"}`, tidegate.PathNotAllowed, "folder"},
		{"in a list", `{"folder":"$ROOT","files":[{"path":"wave-1/a.md"},{"path":"/x/b.md"}]}`, tidegate.PathNotAllowed, "files[1].path"},
		{"in a list of paths", `{"folder":"$ROOT","more":["$ROOT/a","/x"]}`, tidegate.PathNotAllowed, "more[1]"},
		{"relative in a list of paths", `{"folder":"$ROOT","more":["a"]}`, tidegate.InvalidArgs, "more[0]"},
		{"a text that is not a path", `{"folder":"$ROOT","text":"/x"}`, "", ""},
		{"in an object", `{"folder":"$ROOT","inner":{"path":"/x"}}`, tidegate.PathNotAllowed, "inner.path"},
		{"relative to a run", `{"folder":"$ROOT","files":[{"path":"wave-1/a.md"}]}`, "", ""},
		{"wrong arguments go first", `{"folder":"/x","files":3}`, tidegate.InvalidArgs, "files"},
		{"a NUL character", `{"folder":"/x","files":[{"path":"a\u0000b"}]}`, tidegate.InvalidArgs, "files[0].path"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran = 0
			args := strings.ReplaceAll(tt.args, "$ROOT", root)
			got := read.Call(t.Context(), []byte(args), tool.Caller{Reach: artifact.Within(root)})
			if tt.code == "" {
				if got.Err != nil || ran != 1 {
					t.Fatalf("got %s", got.Envelope)
				}
				return
			}
			if got.Err == nil || got.Err.Code != tt.code || ran != 0 {
				t.Fatalf("got %s, ran %d times", got.Envelope, ran)
			}
			if _, ok := got.Err.Details.Get(tt.key); !ok {
				t.Errorf("details %v lack %q", got.Err.Details, tt.key)
			}
		})
	}
}

func TestReadOnlyViewDropsTheArgumentsThatWrite(t *testing.T) {
	view, ok := echo(nil).ReadOnly()
	if !ok || view.Effect != tool.Reads {
		t.Fatalf("got %v %v", view, ok)
	}
	if view.InputSchema().Get("properties").Get("save") != nil || echo(nil).InputSchema().Get("properties").Get("save") == nil {
		t.Error("the schemas do not differ in save alone")
	}
	got := view.Call(t.Context(), []byte(`{"folder":"/x","save":"/y"}`), tool.Caller{})
	if got.Err == nil || got.Err.Code != tidegate.InvalidArgs {
		t.Errorf("got %s", got.Envelope)
	}
}

func TestAgentsAreNotOfferedWhatIsForPeople(t *testing.T) {
	own := tool.New(tool.Spec{Name: "own", Set: "toy", Summary: "Decide.", Effect: tool.Writes, Person: true},
		func(context.Context, tool.Caller, pair) (echoOut, error) { return echoOut{}, nil })
	shared := tool.New(tool.Spec{Name: "shared", Set: "toy", Summary: "Say it back.", Effect: tool.WritesOnRequest, PersonArgs: []string{"limit"}},
		func(_ context.Context, _ tool.Caller, in echoIn) (echoOut, error) {
			return echoOut{Limit: in.Limit}, nil
		})
	offered := tool.ForAgents([]*tool.Tool{own, shared, echo(nil)})
	if len(offered) != 2 || offered[0].Name != "shared" || offered[1].Name != "echo" {
		t.Fatalf("offered are %v", offered)
	}
	readOnly, _ := offered[0].ReadOnly()
	for _, view := range []*tool.Tool{offered[0], readOnly} {
		if view.InputSchema().Get("properties").Get("limit") != nil || shared.InputSchema().Get("properties").Get("limit") == nil {
			t.Error("the schemas do not differ in limit")
		}
		if got := view.Call(t.Context(), []byte(`{"folder":"/x","limit":9}`), tool.Caller{}); got.Err == nil || got.Err.Code != tidegate.InvalidArgs {
			t.Errorf("got %s", got.Envelope)
		}
	}
	if got := shared.Call(t.Context(), []byte(`{"folder":"/x","limit":9}`), tool.Caller{}); got.Err != nil {
		t.Errorf("a person got %s", got.Envelope)
	}
}

func TestSchemasSayWhatTheDecoderDemands(t *testing.T) {
	data := must.Get(codec.MarshalLine(echo(nil).InputSchema()))(t)
	for _, want := range []string{
		`"additionalProperties":false`, `"required":["folder"]`, `"enum":["fast","slow"]`, `"minimum":1,"maximum":500`, `"default":25`, `"default":"fast"`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("input schema lacks %s:\n%s", want, data)
		}
	}
	if strings.Contains(string(data), "null") {
		t.Errorf("input schema allows null:\n%s", data)
	}
	if !strings.Contains(string(data), `"free":{}`) || !strings.Contains(string(data), `"patch":{"type":"object"}`) {
		t.Errorf("what the decoder hands over is not described as it is tagged:\n%s", data)
	}
	out := must.Get(codec.MarshalLine(echo(nil).OutputSchema()))(t)
	if want := `"saved":{"anyOf":[{"type":"null"},{"type":"string"}]}`; !strings.Contains(string(out), want) {
		t.Errorf("output schema lacks %s:\n%s", want, out)
	}
	if strings.Contains(string(out), "additionalProperties") {
		t.Errorf("a result that gets one more field would break a client that validates:\n%s", out)
	}
}

func TestWrongDeclarationsPanic(t *testing.T) {
	declared := func(spec tool.Spec) (accepted bool) {
		defer func() { recover() }()
		tool.New(spec, func(context.Context, tool.Caller, struct{}) (struct{}, error) { return struct{}{}, nil })
		return true
	}
	whole := tool.Spec{Name: "x", Set: "toy", Summary: "s", Effect: tool.Reads}
	without := whole
	without.Effect = 0
	if declared(without) {
		t.Error("New accepted a tool without an effect")
	}
	long := strings.Repeat("a", 64)
	for name, want := range map[string]bool{
		"x": true, "a_b_2": true, long: true,
		"": false, "_a": false, "2a": false, "A": false, "a-b": false, "a b": false, "aé": false, long + "a": false,
	} {
		named := whole
		named.Name = name
		if got := declared(named); got != want {
			t.Errorf("New accepted a tool with the name %q: %v, want %v", name, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"folder":"/x","limit":3}`, `{"folder":"/x","pairs":[{"id":"a"}]}`, `{"Folder":1}`, `null`, `{"a":{"a":1,"a":2}}`} {
		f.Add([]byte(seed))
	}
	seen := echo(func(_ context.Context, _ tool.Caller, in echoIn) (echoOut, error) {
		if in.Limit < 1 || in.Limit > 500 || !strings.HasPrefix(string(in.Folder), "/") {
			panic("arguments outside their schema were let in")
		}
		return echoOut{}, nil
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		got := seen.Call(t.Context(), data, tool.Caller{})
		if got.Err != nil && got.Err.Code != tidegate.InvalidArgs {
			t.Fatalf("%s gave %v", data, got.Err)
		}
		if _, err := codec.Parse(got.Envelope); err != nil {
			t.Fatalf("envelope is not strict JSON: %v", err)
		}
	})
}

func TestArgumentThatAnotherMakesRequired(t *testing.T) {
	type in struct {
		Mode string `json:"mode,omitzero" enum:"file,none" default:"file"`
		File string `json:"file,omitzero" path:"absolute" jsonschema:"what to read" requiredif:"mode=file"`
		Why  string `json:"why"`
	}
	read := tool.New(tool.Spec{Name: "read", Set: "toy", Summary: "Read it.", Effect: tool.Reads},
		func(context.Context, tool.Caller, in) (echoOut, error) { return echoOut{passed: true}, nil })
	for _, tt := range []struct{ name, args, message string }{
		{"by default, and before what follows", `{}`, "file is required: what to read"},
		{"by value", `{"mode":"file","file":null,"why":"x"}`, "file is required: what to read"},
		{"not otherwise", `{"mode":"none"}`, "why is required"},
		{"given", `{"file":"/x","why":"x"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, message := read.Call(t.Context(), []byte(tt.args), tool.Caller{}), ""
			if got.Err != nil {
				message = got.Err.Message
			}
			if message != tt.message {
				t.Errorf("got %q, want %q", message, tt.message)
			}
		})
	}
}
