package source

import (
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
)

// Origin is where a URL comes from.
type Origin struct {
	Kind   OriginKind `json:"kind"`
	Search string     `json:"search,omitzero"` // the id of the search that found it
	Rank   int        `json:"rank,omitzero"`   // of the result, from 1
	Page   string     `json:"page,omitzero"`   // the archived page that links to it, credentials masked
}

// OriginKind is a kind of origin.
type OriginKind string

// The kinds.
const (
	FromSearch  OriginKind = "search"  // a result of a search that the run keeps
	FromLink    OriginKind = "link"    // a link on an archived page whose own origin is known
	FromPerson  OriginKind = "person"  // the person named it
	FromClient  OriginKind = "client"  // the agent's client found it, as its events say
	FromNowhere OriginKind = "unknown" // nothing shows where it comes from
)

// OriginKinds are all kinds.
var OriginKinds = []OriginKind{FromSearch, FromLink, FromPerson, FromClient, FromNowhere}

// String says it to a person, "" where it is not known whether there is an origin.
func (o *Origin) String() string { return o.In("") }

// In is [Origin.String] in a language.
func (o *Origin) In(language string) string {
	if o == nil {
		return ""
	}
	switch o.Kind {
	case FromSearch:
		return evidence.Say(language, "result %d of search %s", o.Rank, o.Search)
	case FromLink:
		return evidence.Say(language, "a link on %s", o.Page)
	case FromPerson:
		return evidence.Say(language, "named by the person")
	case FromClient:
		return evidence.Say(language, "found by the agent's own search")
	}
	return evidence.Say(language, "not known")
}

// originOf reads an origin, nil where there is none.
func originOf(v *codec.Value) *Origin {
	if v.Kind() != codec.Object {
		return nil
	}
	rank, _ := v.Get("rank").Int()
	return &Origin{Kind: OriginKind(v.Get("kind").Str()), Search: v.Get("search").Str(), Rank: int(rank), Page: v.Get("page").Str()}
}

var originShape = codec.Table(
	codec.Field{Name: "kind", Shape: codec.OneOf(string(FromSearch), string(FromLink), string(FromPerson), string(FromClient), string(FromNowhere))},
	codec.Field{Name: "search", Shape: codec.Text(), Optional: true, About: "the search that found it"},
	codec.Field{Name: "rank", Shape: codec.IntegerFrom(1), Optional: true, About: "of the result"},
	codec.Field{Name: "page", Shape: codec.Text(), Optional: true, About: "the archived page that links to it"},
)

// ClientCalled hands over the texts of an event that the agent itself wrote as the input of
// its tools.
func ClientCalled(event *codec.Value, each func(text string)) { called(event, false, 0, each) }

func called(v *codec.Value, input bool, depth int, each func(text string)) {
	switch {
	case depth > 32:
	case v.Kind() == codec.String && input:
		each(v.Str())
	case v.Kind() == codec.Array:
		for _, e := range v.Elems() {
			called(e, input, depth+1, each)
		}
	case v.Kind() == codec.Object:
		for _, m := range v.Members() {
			called(m.Value, input || ownWords[m.Key], depth+1, each)
		}
	}
}

// ownWords are the keys under which clients show what an agent wrote as the input of a
// tool.
var ownWords = map[string]bool{"input": true, "rawInput": true, "arguments": true, "query": true, "title": true}

// ClientFound hands over the texts of an event in which a client shows what its tools
// returned to its agent. What the agent itself wrote, calls included, is no such text.
func ClientFound(event *codec.Value, each func(text string)) { found(event, false, 0, each) }

func found(v *codec.Value, result bool, depth int, each func(text string)) {
	switch {
	case depth > 32:
	case v.Kind() == codec.String && result:
		each(v.Str())
	case v.Kind() == codec.Array:
		for _, e := range v.Elems() {
			found(e, result, depth+1, each)
		}
	case v.Kind() == codec.Object:
		switch v.Get("type").Str() {
		case "tool_result", "web_search_tool_result", "mcp_tool_call", "web_search":
			result = true
		case "tool": // opencode's; ours has no state
			result = v.Get("state") != nil
		}
		result = result || v.Get("sessionUpdate").Str() == "tool_call_update"
		for _, m := range v.Members() {
			if !ownWords[m.Key] {
				found(m.Value, result, depth+1, each)
			}
		}
	}
}

// URLsIn are the URLs in a text, in their normal form.
func URLsIn(text string) []string {
	var urls []string
	all := link.FindURLs([]byte(text))
	for at := 0; ; {
		span, ok := all.Next(at)
		if !ok {
			return urls
		}
		at = span.End
		if url, err := link.Normalize(string(link.TrimURL([]byte(text), span).Of([]byte(text)))); err == nil {
			urls = append(urls, url)
		}
	}
}
