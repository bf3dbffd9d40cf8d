package driver

import (
	"slices"
	"strings"
)

// toolCalls counts the calls of tools by name. Clients show one call in several
// events, with the same id.
type toolCalls struct {
	counts map[string]int
	seen   map[string]bool
}

// relayedSearch is the search that a home lends its agents.
const relayedSearch = "deep_research_search"

// count counts the call with that id, unless it was counted before, and returns
// the name. Every call without an id counts.
func (c *toolCalls) count(id, name string) string {
	id, name = brief(id), brief(name)
	if strings.HasSuffix(name, relayedSearch) { // clients put the server's name before it
		name = SearchCalls
	}
	if c.counts[name] == 0 && len(c.counts) >= maxTools {
		name = "other"
	}
	if id != "" && c.seen[id] {
		return name
	}
	if c.counts == nil {
		c.counts, c.seen = map[string]int{}, map[string]bool{}
	}
	c.seen[id] = id != ""
	c.counts[name]++
	return name
}

// Bounds, because a client may say anything about itself and its tools.
const (
	maxTools = 100 // different names that are counted
	maxName  = 200 // bytes of a name, a version or the id of a session
)

// brief is a name from a client as it is kept.
func brief(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}

// gets reports whether nothing takes a tool away from a task: the tool that its
// client calls own and that is counted as counted.
func (t Task) gets(counted, own string) bool {
	if left, bounded := t.Limits.ToolCalls[counted]; bounded && left <= 0 {
		return false
	}
	return !slices.ContainsFunc(t.Tools.Forbidden, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == strings.ToLower(own) || name == counted || otherNames[name] == counted
	})
}

// MaySearch reports whether the agent may search, by whatever tool.
func (t Task) MaySearch() bool { return (t.Tools.Web || t.Tools.Frozen) && t.gets(SearchCalls, "") }

// otherNames are other names that people use for the tools of the web.
var otherNames = map[string]string{
	"search": SearchCalls, "web_search": SearchCalls, "websearch": SearchCalls, "web search": SearchCalls,
	"fetch": FetchCalls, "open": FetchCalls, "web_fetch": FetchCalls, "webfetch": FetchCalls, "web fetch": FetchCalls,
}

// left are the tools of a client, by its own names, that nothing takes away from a
// task.
func left(task Task, counted func(own string) string, tools ...string) []string {
	return slices.DeleteFunc(tools, func(own string) bool { return !task.gets(counted(own), own) })
}

// mcpServers is the file in which several clients look for MCP servers.
func mcpServers(servers []Server) []byte {
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	all := map[string]entry{}
	for _, server := range servers {
		all[server.Name] = entry{server.Command, server.Args}
	}
	return marshal(map[string]any{"mcpServers": all})
}
