package dispatch

import (
	"os"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
)

// Relay is the MCP server by which agents reach the tools of their home, and that
// program, an absolute path, starts. A command is never taken from a run's folder, nor
// from a task that comes from another machine.
func Relay(program string) driver.Server {
	return driver.Server{Name: "tidegate", Command: program, Args: []string{"mcp", "--relay", sandbox.RelayArg}}
}

// ownRelay is the one that this program starts; nil where its path is not known.
func ownRelay() *driver.Server {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	server := Relay(program)
	return &server
}
