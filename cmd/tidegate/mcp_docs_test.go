package main

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/mcp"
)

// TestTheBlockOfEachClient compares docs/setup.md with what `tidegate mcp config` prints.
func TestTheBlockOfEachClient(t *testing.T) {
	text := documents(t)["docs/setup.md"]
	for _, c := range mcp.Clients {
		folder := c.Folder("/home/ann/project", "/home/ann/project")
		server := mcp.Entry{Name: "tidegate", Command: "tidegate", Args: []string{"mcp", "--root", folder, "--project", folder}}
		if !strings.Contains(text, "```text\n"+c.Block(server)+"```\n") || !strings.Contains(text, "\n"+c.Title+", to `") {
			t.Errorf("docs/setup.md does not show the block of %s:\n%s", c.Title, c.Block(server))
		}
		if !strings.Contains(text, "tidegate mcp config --client "+c.Name+" --write\n") {
			t.Errorf("docs/setup.md does not show how to set %s up", c.Title)
		}
	}
}
