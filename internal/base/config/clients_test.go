package config_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// TestNamesThatConfigureClients: a reviewer finds none of them in a tree.
func TestNamesThatConfigureClients(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"CLAUDE.md": true, "sub/Agents.MD": true, ".claude/settings.json": true, "a/.codex/config.toml": true, ".github/copilot-instructions.md": true, "opencode.jsonc": true, "QWEN.md": true, "a/crush.md": true, ".agents/skills/x/SKILL.md": true,
		"README.md": false, ".github/workflows/ci.yml": false, "docs/claude.txt": false, ".gitattributes": false, "agents/main.go": false,
	} {
		if got := config.Configures(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNoIDBecomesInstructions: outputs lie in files named by ids that agents choose.
func TestNoIDBecomesInstructions(t *testing.T) {
	t.Parallel()
	found := 0
	for line := range strings.Lines(must.Read(t, "lists/configures.txt") + must.Read(t, "lists/obeyed.txt")) {
		id, is := strings.CutSuffix(strings.TrimSpace(line), ".md")
		if !is || strings.Contains(id, "/") {
			continue
		}
		if found++; wave.IDFault(id) == "" || wave.IDFault(strings.ToUpper(id)) == "" {
			t.Errorf("a perspective can be called %q", id)
		}
	}
	if found < 5 {
		t.Errorf("%d names are too few", found)
	}
}
