package catalog_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// face is one way to call a tool: it returns the envelope's bytes.
type face func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte

var faces = []struct {
	name string
	call face
}{
	{"library", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		for _, candidate := range tools {
			if candidate.Name == name {
				return candidate.Call(t.Context(), args, tool.Caller{}).Envelope
			}
		}
		t.Fatalf("there is no tool %s", name)
		return nil
	}},
	{"command", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		var out, errs bytes.Buffer
		program := cli.Program{Tools: tools, Stdin: bytes.NewReader(args), Stdout: &out, Stderr: &errs, Dir: t.TempDir()}
		program.Run(t.Context(), []string{"call", name})
		if errs.Len() > 0 {
			t.Fatalf("call wrote to stderr: %s", errs.String())
		}
		return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	}},
	{"MCP", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		return callMCP(t, tools, name, args)
	}},
}

func callMCP(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// A server of one tool: to list them all takes longer than the call.
	tools = slices.DeleteFunc(slices.Clone(tools), func(each *tool.Tool) bool { return each.Name != name })
	serverEnd, clientEnd := sdk.NewInMemoryTransports()
	server := mcp.New(tools, mcp.Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
	must.Get(server.Connect(ctx, serverEnd, nil))(t)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result := must.Get(session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: rawArguments(args)}))(t)
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		if result.StructuredContent != nil {
			t.Error("an error carries structured content")
		}
		return []byte(text)
	}
	checkStructured(t, text, result.StructuredContent)
	return []byte(text)
}

type rawArguments []byte

// MarshalJSON sends the arguments as they are.
func (r rawArguments) MarshalJSON() ([]byte, error) { return r, nil }

func checkStructured(t *testing.T, text string, structured any) {
	t.Helper()
	fromText, err := codec.Parse([]byte(text))
	if err != nil {
		t.Fatalf("the text block is not the envelope: %v", err)
	}
	if codec.Digest(fromText) != codec.Digest(structured) {
		t.Errorf("structured content differs from the text block")
	}
}

// TestEveryFaceGivesTheSameBytes runs the corpus in testdata/calls through the
// library and another face in turn, and with -full through every face.
func TestEveryFaceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	scripts := must.Get(corpus.Load("testdata/calls"))(t)
	for i, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			t.Parallel()
			work := scratch.Short(t)
			var first []corpus.Outcome
			for number, face := range faces {
				if number > 0 && number != 1+i%(len(faces)-1) && !full.Asked() {
					continue
				}
				must.Do(t, os.RemoveAll(work))
				env := &catalog.Env{Now: func() time.Time { return corpus.Now }, Pinned: true, Dir: work, Project: work, Home: filepath.Join(work, "runs")}
				tools := tool.ForAgents(catalog.Tools(env))
				outcomes, err := script.Run(work, func(name string, args []byte) []byte { return face.call(t, tools, name, args) })
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = outcomes
				}
				for i, o := range outcomes {
					if diff := cmp.Diff(first[i].Raw, o.Raw); diff != "" {
						t.Errorf("call %d, %s: %s differs from %s:\n%s", i+1, o.Tool, face.name, faces[0].name, diff)
					}
				}
			}
			if *update {
				must.Do(t, script.Update(first))
				for _, o := range first {
					if o.Fails() {
						t.Errorf("%s: %s now records an error where there was a result, or nothing; if that is meant, run it again:\n%s", script.Name, o.Tool, o.Got)
					}
				}
				return
			}
			for i, o := range first {
				if diff := cmp.Diff(o.Want, o.Got); diff != "" {
					t.Errorf("call %d, %s (-want +got):\n%s", i+1, o.Tool, diff)
				}
			}
		})
	}
}
