package client_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestReviewersReadTheTree: an agent reads the tree of its task beside its folder, which
// is empty, and can write nothing there. A tree that is not on the machine is none.
func TestReviewersReadTheTree(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(tree, "caller.go"), []byte("package caller\n"), 0o666))
	script := filepath.Join(t.TempDir(), "agent.sh")
	must.Do(t, os.WriteFile(script, []byte(`cat >/dev/null
ls -A
cat ../tree/caller.go "$TIDEGATE_TREE/caller.go"
echo x >../tree/caller.go || echo refused
echo x >"$TIDEGATE_TREE/made" || echo refused
rm "$TIDEGATE_TREE/caller.go" || echo refused
echo "tree: $TIDEGATE_TREE"
`), 0o600))
	d := must.Get(client.New(driver.Settings{Driver: "exec:sh " + script}, driver.Host{Temp: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH")}}))(t)
	for path, want := range map[string]string{
		tree: "package caller\npackage caller\nrefused\nrefused\nrefused\ntree: " + tree + "\n", filepath.Join(tree, "elsewhere"): "refused\nrefused\nrefused\ntree: \n",
	} {
		asked := task()
		asked.Tree = path
		answer, err := d.Run(t.Context(), asked, func(driver.Event) {})
		if err != nil || answer.Text != want {
			t.Errorf("got %q, %v, want %q", answer.Text, err, want)
		}
	}
	left, err := os.ReadDir(tree)
	if err != nil || len(left) != 1 {
		t.Errorf("the tree has %v, %v", left, err)
	}
}

// TestClientsMayReadTheTree looks at the switches that let each client read the tree,
// and nothing that would let it write.
func TestClientsMayReadTheTree(t *testing.T) {
	tree := t.TempDir()
	for client, want := range map[string]struct{ has, lacks []string }{
		"claude":   {[]string{"--add-dir " + tree, "--tools Read,Glob,Grep ", "Read(/" + tree + "/**)"}, []string{"Bash", "Edit", "Write"}},
		"codex":    {[]string{"--sandbox danger-full-access"}, []string{"features.shell_tool=false"}},
		"opencode": {[]string{`"external_directory":{"*":"deny","` + tree + `/**":"allow"}`, `"read":"allow"`, `"*":"deny"`}, []string{`"edit":"allow"`, `"bash":"allow"`}},
		"gemini":   {[]string{"--include-directories " + tree, `"read_file"`, `"grep_search"`}, []string{`"write_file"`, `"run_shell_command"`, "yolo"}},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			asked := task()
			asked.Tree = tree
			answer := must.Get(newStage(t, client, scene{name: "switches"}).run(t.Context(), asked))(t)
			for _, each := range want.has {
				if !strings.Contains(answer.Text, each) {
					t.Errorf("it is started without %q:\n%s", each, answer.Text)
				}
			}
			for _, each := range want.lacks {
				if strings.Contains(answer.Text, each) {
					t.Errorf("it is started with %q:\n%s", each, answer.Text)
				}
			}
		})
	}
}

// TestAnUnconfinedCodexHasNoTree: its own sandbox would let it read every file of the
// person's.
func TestAnUnconfinedCodexHasNoTree(t *testing.T) {
	t.Parallel()
	asked := task()
	asked.Tree = t.TempDir()
	answer := must.Get(newStageWith(t, "codex", scene{name: "switches"}, driver.Cells{Unconfined: true}).run(t.Context(), asked))(t)
	for _, want := range []string{"--sandbox read-only", "features.shell_tool=false", "features.unified_exec=false"} {
		if !strings.Contains(answer.Text, want) {
			t.Errorf("it is started without %q: %s", want, answer.Text)
		}
	}
}
