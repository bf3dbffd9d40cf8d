package driver

// toolCalls counts the calls of tools by name. Clients show one call in several
// events, with the same id.
type toolCalls struct {
	counts map[string]int
	seen   map[string]bool
}

// count counts the call with that id, unless it was counted before, and returns
// the name. A call without an id is one of its own.
func (c *toolCalls) count(id, name string) string {
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
