// Package mcp serves tools, prompts and resources over the Model Context
// Protocol, on stdio and over streamable HTTP, and knows how agent clients are told of
// such a server. It is the only user of the MCP SDK, and knows no domain: what it
// serves is handed to it as plain values.
//
// Results carry the complete JSON as structuredContent and the same bytes as
// text. Errors are one text block with the error envelope. They have no structured
// content, because some clients validate it against the output schema even when
// the call failed.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/tool"
)

// maxText is the largest text block that repeats the whole result.
const maxText = 100 << 10

// Options say what a server offers beside tools, and to whom.
type Options struct {
	Version string
	// Instructions tell a model what the server is for. Clients cut them at 2 KB.
	Instructions string
	Log          *slog.Logger
	Prompts      []Prompt
	Resources    []Resource
	Templates    []Template
	// Links are the documents that a result leaves; nil where no result leaves any.
	Links func(result any) []Link
	// Reach is which files the tools may touch by their paths; by its zero value all
	// that the process may.
	Reach artifact.Reach
	// Users are let in over HTTP by tokens of their own; nobody by its zero value.
	Users user.List
}

// New is an MCP server that offers the tools. Clients see them in byte order of
// their names.
func New(tools []*tool.Tool, options Options) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "tidegate", Title: "tidegate", Version: options.Version},
		&sdk.ServerOptions{
			Instructions: options.Instructions,
			Logger:       warnings(options.Log),
			// The lists do not change while the server runs.
			Capabilities: &sdk.ServerCapabilities{
				Tools:     &sdk.ToolCapabilities{},
				Prompts:   &sdk.PromptCapabilities{},
				Resources: &sdk.ResourceCapabilities{},
			},
		})
	server.AddReceivingMiddleware(receive(tools, options), describing(tools))
	for _, t := range tools {
		server.AddTool(&sdk.Tool{Name: t.Name, InputSchema: anyObject}, handler(t, options))
	}
	for _, p := range options.Prompts {
		if p.usable(tools) {
			server.AddPrompt(p.describe(), p.handle)
		}
	}
	for _, r := range options.Resources {
		server.AddResource(r.describe(), r.handle)
	}
	for _, t := range options.Templates {
		server.AddResourceTemplate(t.describe(), t.handle)
	}
	return server
}

// anyObject stands for the schema of a tool until its clients ask for it.
var anyObject = json.RawMessage(`{"type":"object"}`)

// describing answers a request for the list of tools with their descriptions. They
// are made for the first such request: deriving the schemas takes several times as
// long as everything else at the start of a server, and a client that knows the
// tools does not ask.
func describing(tools []*tool.Tool) sdk.Middleware {
	described := sync.OnceValue(func() map[string]*sdk.Tool {
		byName := map[string]*sdk.Tool{}
		for _, t := range tools {
			byName[t.Name] = describe(t)
		}
		return byName
	})
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, request)
			if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
				for i, t := range list.Tools {
					list.Tools[i] = described()[t.Name]
				}
			}
			return result, err
		}
	}
}

func describe(t *tool.Tool) *sdk.Tool {
	destructive := t.Destroys
	return &sdk.Tool{
		Name:         t.Name,
		Description:  t.Summary,
		InputSchema:  json.RawMessage(compact(t.InputSchema())),
		OutputSchema: json.RawMessage(compact(orFailure(t.OutputSchema()))),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    t.Effect == tool.Reads,
			DestructiveHint: &destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &t.OpenWorld,
		},
	}
}

// orFailure is the schema of a result or an error envelope. We send an
// error only as text, but some clients turn the text into structured content,
// check that against the schema, and keep it from the model where it does not fit.
func orFailure(result *codec.Value) *codec.Value {
	failure := tidegate.Pairs("type", "object", "properties", tidegate.Pairs("ok", tidegate.Pairs("const", false), "error", tidegate.Pairs("type", "object")), "required", []string{"ok", "error"})
	return codec.Of(tidegate.Pairs("type", "object", "anyOf", []any{result, failure}))
}

func handler(t *tool.Tool, options Options) sdk.ToolHandler {
	return func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		caller := tool.Caller{
			Reach:    options.Reach,
			Progress: progress(ctx, request),
			Panicked: func(value any, stack []byte) {
				options.Log.Error("a tool panicked", "tool", t.Name, "value", fmt.Sprint(value), "stack", string(stack))
			},
		}
		result := t.Call(ctx, request.Params.Arguments, caller)
		again, told := carry(ctx, request, result)
		if again != nil {
			return again, nil
		}
		if told {
			result = t.Call(ctx, request.Params.Arguments, caller)
		}
		if result.Err != nil {
			noteOutcome(ctx, string(result.Err.Code))
			return &sdk.CallToolResult{IsError: true, Content: text(string(result.Envelope))}, nil
		}
		content := string(result.Envelope)
		if len(content) > maxText {
			content = summary(t, result)
		}
		return &sdk.CallToolResult{Content: append(text(content), options.links(result)...), StructuredContent: json.RawMessage(result.Envelope)}, nil
	}
}

// summary stands for a result that is too large for a text block.
func summary(t *tool.Tool, result tool.Result) string {
	short := ""
	if report, ok := result.Report(); ok && report.Summary != "" {
		short = report.Summary + ". "
	}
	return fmt.Sprintf("%sThe result of %s has %d bytes, too many for this text block, which is only a summary; all of it is in structuredContent.",
		short, t.Name, len(result.Envelope))
}

func text(s string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: s}} }
