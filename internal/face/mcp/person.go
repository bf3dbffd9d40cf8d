package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// askedTwice is the revision from which on a server cannot call its client: it answers
// that it needs an input, and the client calls again with it.
const askedTwice = "2026-07-28"

// nothing is the form that a person is shown: whoever fills in forms may be the agent, so
// there is nothing to fill in.
var nothing = json.RawMessage(`{"type":"object","properties":{}}`)

// carry shows the person at the client what only a person can do, where the client can show
// it. What comes back decides nothing: the tool is called again, and goes on where the
// record has the decision. Again is what to answer, so that the client calls again; told is
// that the person was shown it, so that the tool is to be called again now.
func carry(ctx context.Context, request *sdk.CallToolRequest, result tool.Result) (again *sdk.CallToolResult, told bool) {
	pending, ok := result.Value().(tool.Pending)
	if !ok || request.Params.InputResponses != nil {
		return nil, false
	}
	message := pending.ForPerson()
	able := request.ClientCapabilities()
	if message == "" || able == nil || able.Elicitation == nil || able.Elicitation.Form == nil && able.Elicitation.URL != nil {
		return nil, false
	}
	form := &sdk.ElicitParams{Mode: "form", Message: report.Visible(message), RequestedSchema: nothing}
	if request.ProtocolVersion() >= askedTwice {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"person": form}}, false
	}
	_, err := request.Session.Elicit(ctx, form)
	return nil, err == nil
}

// Link is a document that a result leaves, by the URI of a [Resource] or of one of a
// [Template].
type Link struct{ URI, Name, Description, MIMEType string }

// links are the documents that a result leaves, as content beside its text.
func (o Options) links(result tool.Result) (content []sdk.Content) {
	if o.Links == nil {
		return nil
	}
	for _, l := range o.Links(result.Value()) {
		content = append(content, &sdk.ResourceLink{URI: l.URI, Name: l.Name, Description: l.Description, MIMEType: l.MIMEType})
	}
	return content
}
