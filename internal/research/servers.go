package research

import (
	"os"
	"strings"

	"github.com/tidegate/tidegate/driver"
)

// judging are the tools with which an agent judges its own output.
var judging = []string{"deep_research_wave_output_validate", "deep_research_wave_review"}

// servers are the MCP servers that a run's policy may name. There is one: this
// program, with access only to the folder of the attempt and only with the tools
// that judge. A command is never taken from a run's folder.
func servers() map[string]driver.Server {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return map[string]driver.Server{"tidegate": {
		Name: "tidegate", Command: program,
		Args: []string{"mcp", "--root", driver.FolderArg, "--alone", "--read-only", "--tools", strings.Join(judging, ",")},
	}}
}
