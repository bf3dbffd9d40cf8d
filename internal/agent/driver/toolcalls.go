package driver

import (
	"slices"
	"strings"
)

// ToolCalls counts the calls of tools by name. Clients show one call in several
// events, with the same id.
type ToolCalls struct {
	Counts map[string]int
	seen   map[string]bool
}

// relayedSearch is the search that a home lends its agents.
const relayedSearch = "deep_research_search"

// Count counts the call with that id, unless it was counted before, and returns
// the name. Every call without an id counts.
func (c *ToolCalls) Count(id, name string) string {
	id, name = Brief(id), Brief(name)
	if strings.HasSuffix(name, relayedSearch) { // clients put the server's name before it
		name = SearchCalls
	}
	if c.Counts[name] == 0 && len(c.Counts) >= maxTools {
		name = "other"
	}
	if id != "" && c.seen[id] {
		return name
	}
	if c.Counts == nil {
		c.Counts, c.seen = map[string]int{}, map[string]bool{}
	}
	c.seen[id] = id != ""
	c.Counts[name]++
	return name
}

// Bounds, because a client may say anything about itself and its tools.
const (
	maxTools = 100 // different names that are counted
	MaxName  = 200 // bytes of a name, a version or the id of a session
)

// Brief is a name from a client as it is kept.
func Brief(name string) string {
	if len(name) <= MaxName {
		return name
	}
	return strings.ToValidUTF8(name[:MaxName], "")
}

// MayUse reports whether nothing takes a tool away from a task: the tool that its
// client calls own and that is counted as counted.
func (t Task) MayUse(counted, own string) bool {
	if left, bounded := t.Limits.ToolCalls[counted]; bounded && left <= 0 {
		return false
	}
	return !slices.ContainsFunc(t.Tools.Forbidden, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == strings.ToLower(own) || name == counted || otherNames[name] == counted
	})
}

// MaySearch reports whether the agent may search, by whatever tool.
func (t Task) MaySearch() bool { return (t.Tools.Web || t.Tools.Frozen) && t.MayUse(SearchCalls, "") }

// otherNames are other names that people use for the tools of the web.
var otherNames = map[string]string{
	"search": SearchCalls, "web_search": SearchCalls, "websearch": SearchCalls, "web search": SearchCalls,
	"fetch": FetchCalls, "open": FetchCalls, "web_fetch": FetchCalls, "webfetch": FetchCalls, "web fetch": FetchCalls,
}
