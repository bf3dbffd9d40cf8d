package mcp

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/tool"
)

// Prompt is a job that a person starts from the client's menu: it becomes a
// message to the model that names the tools and the order of work.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
	Needs       []string // tools; without one of them the prompt is not offered
	// Text is the message. It returns INVALID_ARGS.
	Text func(args map[string]string) (string, error)
}

// PromptArgument is an argument of a [Prompt].
type PromptArgument struct {
	Name        string
	Description string
	Required    bool
}

func (p Prompt) usable(tools []*tool.Tool) bool {
	return !slices.ContainsFunc(p.Needs, func(name string) bool {
		return !slices.ContainsFunc(tools, func(t *tool.Tool) bool { return t.Name == name })
	})
}

func (p Prompt) describe() *sdk.Prompt {
	described := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		described.Arguments = append(described.Arguments, &sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
	}
	return described
}

func (p Prompt) handle(_ context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	for _, a := range p.Arguments {
		if a.Required && request.Params.Arguments[a.Name] == "" {
			return nil, protocolError(tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(a.Name, nil), "%s is required: %s", a.Name, a.Description))
		}
	}
	message, err := p.Text(request.Params.Arguments)
	if err != nil {
		return nil, protocolError(err)
	}
	return &sdk.GetPromptResult{
		Description: p.Description,
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: message}}},
	}, nil
}

// Resource is a document that a client can read.
type Resource struct {
	URI         string
	Name        string
	Description string
	MIMEType    string
	Read        func(ctx context.Context) ([]byte, error)
}

func (r Resource) describe() *sdk.Resource {
	return &sdk.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIMEType}
}

func (r Resource) handle(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	data, err := r.Read(ctx)
	return contents(request.Params.URI, r.MIMEType, data, err)
}

// Template is a family of documents whose URIs follow a template of RFC 6570.
type Template struct {
	URITemplate string
	Name        string
	Description string
	MIMEType    string // where all of them have the same one
	Read        func(ctx context.Context, uri string) (data []byte, mimeType string, err error)
}

func (t Template) describe() *sdk.ResourceTemplate {
	return &sdk.ResourceTemplate{URITemplate: t.URITemplate, Name: t.Name, Description: t.Description, MIMEType: t.MIMEType}
}

func (t Template) handle(ctx context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	data, mimeType, err := t.Read(ctx, request.Params.URI)
	return contents(request.Params.URI, mimeType, data, err)
}

func contents(uri, mimeType string, data []byte, err error) (*sdk.ReadResourceResult, error) {
	if err != nil {
		if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.NotFound {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return nil, protocolError(err)
	}
	content := &sdk.ResourceContents{URI: uri, MIMEType: mimeType}
	if utf8.Valid(data) {
		content.Text = string(data)
	} else {
		content.Blob = data
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}}, nil
}

// protocolError is an error for requests that have no envelope: the message
// goes to the client and the envelope is its data.
func protocolError(err error) error {
	code := int64(jsonrpc.CodeInvalidParams)
	if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.Failed {
		code = jsonrpc.CodeInternalError
	}
	failure := tool.Failure(err)
	return &jsonrpc.Error{Code: code, Message: string(failure.Err.Code) + ": " + failure.Err.Message, Data: failure.Envelope}
}
