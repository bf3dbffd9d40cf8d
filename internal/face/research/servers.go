package research

import (
	"os"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// judging are the tools with which an agent judges its own output.
var judging = []string{"deep_research_wave_output_validate", "deep_research_wave_review"}

// Servers are the MCP servers that a run's policy may name, and that program, an
// absolute path, starts. There is one: tidegate, with access only to the folder of
// the attempt and only with the tools that judge. A command is never taken from a
// run's folder, nor from a task that comes from another machine.
func Servers(program string) map[string]driver.Server {
	return map[string]driver.Server{"tidegate": {
		Name: "tidegate", Command: program,
		Args: []string{"mcp", "--root", driver.FolderArg, "--alone", "--read-only", "--tools", strings.Join(judging, ",")},
	}}
}

// ownServers are those that this program starts.
func ownServers() map[string]driver.Server {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return Servers(program)
}
