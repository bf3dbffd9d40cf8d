package config_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/base/config"
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
