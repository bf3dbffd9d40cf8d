package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/mcp"
)

// TestThePageOfEachClient compares it with what `tidegate mcp config` prints, and keeps it
// short enough to be read.
func TestThePageOfEachClient(t *testing.T) {
	all := documents(t)
	for _, c := range mcp.Clients {
		name := "docs/clients/" + c.Name + ".md"
		folder := c.Folder("/home/ann/project", "/home/ann/project")
		server := mcp.Entry{Name: "tidegate", Command: "tidegate", Args: []string{"mcp", "--root", folder, "--project", folder}}
		if text := all[name]; !strings.Contains(text, "```text\n"+c.Block(server)+"```\n") || !strings.HasPrefix(text, "# "+c.Title) {
			t.Errorf("%s does not show the block of %s:\n%s", name, c.Title, c.Block(server))
		}
		for _, document := range []string{name, "docs/mcp.md"} {
			if !strings.Contains(all[document], "tidegate mcp config --client "+c.Name+" --write\n") {
				t.Errorf("%s does not show how to set %s up", document, c.Title)
			}
		}
		if !slices.Contains(played, name) {
			t.Errorf("nobody runs what %s shows", name)
		}
	}
	for name, text := range all {
		if lines := strings.Count(text, "\n"); strings.HasPrefix(name, "docs/clients/") && lines > 40 {
			t.Errorf("%s has %d lines, more than 40", name, lines)
		}
	}
}
