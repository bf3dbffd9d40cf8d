package client

import (
	"slices"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// left are the tools of a client, by its own names, that nothing takes away from a
// task.
func left(task driver.Task, counted func(own string) string, tools ...string) []string {
	return slices.DeleteFunc(tools, func(own string) bool { return !task.MayUse(counted(own), own) })
}

// mcpServers is the file in which several clients look for MCP servers.
func mcpServers(servers []driver.Server) []byte {
	type entry struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	all := map[string]entry{}
	for _, server := range servers {
		all[server.Name] = entry{server.Command, server.Args}
	}
	return driver.Marshal(map[string]any{"mcpServers": all})
}
