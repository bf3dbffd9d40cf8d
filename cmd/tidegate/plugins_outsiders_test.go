package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// published are the files of the repository from which clients install, in a folder of
// their own.
func published(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, ".git"), 0o755); err != nil { // by it claude knows the top of a repository
		t.Fatal(err)
	}
	for _, name := range []string{".claude-plugin", ".agents", "skills", "gemini-extension.json", "server.json", "README.md", "LICENSE"} {
		from, to := filepath.Join("..", "..", name), filepath.Join(folder, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			var data []byte
			if data, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestClientsInstallThePlugins has each client judge what is made for it by its own command,
// install it, and say what it has then.
func TestClientsInstallThePlugins(t *testing.T) {
	folder := outsiders(t)
	for name, commands := range map[string][]struct {
		line string
		want []string
	}{
		"claude": {
			{"claude plugin validate --strict $REPO", []string{"Validation passed"}},
			{"claude plugin validate --profile directory $REPO/skills", []string{"Validation passed"}},
			{"claude plugin marketplace add $REPO", []string{"Successfully added"}},
			{"claude plugin install tidegate@tidegate", []string{"Successfully installed"}},
			{"claude plugin details tidegate", []string{"tidegate-audit", "tidegate-research", "tidegate-review", "MCP servers (1)"}},
		},
		"codex": {
			{"codex plugin marketplace add $REPO", []string{"Added marketplace"}},
			{"codex plugin add tidegate@tidegate", []string{"Added plugin"}},
			{"codex plugin list", []string{"installed, enabled"}},
			{"codex mcp list", []string{"mcp --root . --project .", "enabled"}},
		},
		"gemini": {
			{"gemini extensions validate $REPO", []string{"successfully validated"}},
			{"gemini extensions install $REPO --consent", []string{"installed successfully"}},
			{"gemini extensions list", []string{"tidegate-audit", "tidegate-research", "tidegate-review", "MCP servers"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, dir := published(t), t.TempDir()
			must.Do(t, os.MkdirAll(filepath.Join(dir, "home", ".codex"), 0o755))
			for _, c := range commands {
				words := strings.Fields(strings.ReplaceAll(c.line, "$REPO", repo))
				command := outsider(t, folder, dir, words...)
				command.Env = append(command.Env, "GEMINI_CLI_TRUST_WORKSPACE=true", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
				command.Stdin = strings.NewReader("y\n") // gemini asks whether the folder can be trusted
				out, err := command.CombinedOutput()
				for _, want := range c.want {
					if err != nil || !strings.Contains(string(out), want) {
						t.Fatalf("%s: %v, without %q:\n%s", c.line, err, want, out)
					}
				}
			}
		})
	}
}

// TestClientsFindTheSkills asks clients for the skills that `mcp config --write` put into
// their folders.
func TestClientsFindTheSkills(t *testing.T) {
	folder := outsiders(t)
	for name, list := range map[string][]string{
		"gemini":   {"gemini", "skills", "list"},
		"opencode": {"opencode", "debug", "skill"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command := outsider(t, folder, dir, list...)
			command.Env = append(command.Env, "GEMINI_CLI_TRUST_WORKSPACE=true")
			config := exec.Command("tidegate", "mcp", "config", "--client", name, "--write")
			config.Dir, config.Env = dir, command.Env
			if out, err := config.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := command.CombinedOutput()
			for _, want := range []string{"tidegate-audit", "tidegate-research", "tidegate-review"} {
				if err != nil || !strings.Contains(string(out), want) {
					t.Fatalf("%v, without %s:\n%s", err, want, out)
				}
			}
		})
	}
}
