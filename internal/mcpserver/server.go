// Package mcpserver serves tools over the Model Context Protocol. It is the
// only user of the MCP SDK, and knows no domain.
//
// Results carry the complete JSON as structuredContent and the same bytes as
// text. Errors are one text block with the error envelope and no structured
// content, because some clients validate that against the output schema even
// when the call failed.
package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/tool"
)

// maxText is the size of a text block up to which it repeats the whole result.
const maxText = 100 << 10

// Options configure a server.
type Options struct {
	Version string
	Log     *slog.Logger
}

const instructions = `tidegate judges what AI agents wrote, by contract, deterministically and offline. ` +
	`Use it before you trust, merge or pass on an agent's output. A judgement that goes against an output is a ` +
	`result (pass:false) that says what to mend; an error says what to correct in the call. All paths are absolute.`

// New is an MCP server that offers the tools, in their order.
func New(tools []*tool.Tool, options Options) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "tidegate", Title: "tidegate", Version: options.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       options.Log,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	for _, t := range tool.ForAgents(tools) {
		server.AddTool(describe(t), handler(t, options))
	}
	return server
}

// ServeStdio serves until stdin ends or the context is cancelled.
func ServeStdio(ctx context.Context, tools []*tool.Tool, options Options) error {
	return New(tools, options).Run(ctx, &mcp.StdioTransport{})
}

func describe(t *tool.Tool) *mcp.Tool {
	no := false
	destructive := t.Destroys
	return &mcp.Tool{
		Name:         t.Name,
		Description:  t.Summary,
		InputSchema:  raw(t.InputSchema()),
		OutputSchema: raw(t.OutputSchema()),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    t.Effect == tool.Reads,
			DestructiveHint: &destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &no,
		},
	}
}

func raw(v *codec.Value) json.RawMessage {
	data, err := codec.MarshalLine(v)
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return data
}

func handler(t *tool.Tool, options Options) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caller := tool.Caller{
			Panicked: func(value any, stack []byte) {
				options.Log.Error("a tool panicked", "tool", t.Name, "value", fmt.Sprint(value), "stack", string(stack))
			},
		}
		result := t.Call(ctx, request.Params.Arguments, caller)
		if result.Err != nil {
			return &mcp.CallToolResult{IsError: true, Content: text(string(result.Envelope))}, nil
		}
		content := text(string(result.Envelope))
		if len(result.Envelope) > maxText {
			content = text(fmt.Sprintf("The result of %s has %d bytes, too many for this text block; all of it is in structuredContent.", t.Name, len(result.Envelope)))
		}
		return &mcp.CallToolResult{Content: content, StructuredContent: json.RawMessage(result.Envelope)}, nil
	}
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }
