package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestServersTakeTheConfiguration gives the same file to a server as the project's,
// which nobody trusts, and as the user's own.
func TestServersTakeTheConfiguration(t *testing.T) {
	all := folders(t, "project/work", "project/docs", "elsewhere", "config/tidegate", "home")
	work, docs, elsewhere, user, home := all[0], all[1], all[2], all[3], all[4]
	write := func(dir string) {
		t.Helper()
		text := "roots = [" + `"` + docs + `", "` + elsewhere + `"]` + "\n[review]\ntest = \"make check\"\n"
		must.Do(t, os.WriteFile(filepath.Join(dir, "tidegate.toml"), []byte(text), 0o600))
	}
	env := []string{"XDG_CONFIG_HOME=" + filepath.Dir(user), "HOME=" + home, "TIDEGATE_HOME=" + home}
	// reaches reports whether a server looks for a file in a folder.
	reaches := func(session *mcp.ClientSession, dir string) bool {
		t.Helper()
		return code(t, session, "deep_research_wave_review", map[string]any{"perspectives_path": filepath.Join(dir, "absent.json"), "outputs_dir": dir}) != tidegate.PathNotAllowed
	}
	prompt := func(session *mcp.ClientSession) string {
		t.Helper()
		got := must.Get(session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "submit_code_review", Arguments: map[string]string{"change_id": "x"}}))(t)
		return got.Messages[0].Content.(*mcp.TextContent).Text
	}
	write(filepath.Dir(work))
	session := connectIn(t, work, env)
	if !reaches(session, docs) || reaches(session, elsewhere) || !reaches(session, work) {
		t.Error("a project's file opens what lies outside its folder, or does not open what lies inside")
	}
	if strings.Contains(prompt(session), "make check") {
		t.Error("a reviewer is told to run a command that nobody trusts")
	}
	if session := connectIn(t, work, env, "--root", work); reaches(session, docs) {
		t.Error("--root does not go before the file")
	}
	must.Do(t, os.Remove(filepath.Join(filepath.Dir(work), "tidegate.toml")))
	write(user)
	session = connectIn(t, work, env)
	if !reaches(session, docs) || !reaches(session, elsewhere) || reaches(session, filepath.Dir(elsewhere)) {
		t.Error("the user's own roots do not count")
	}
	if !strings.Contains(prompt(session), `"make check"`) {
		t.Errorf("the reviewer is not told how to test:\n%s", prompt(session))
	}
	if session := connectIn(t, work, env, "--root", work, "--alone"); reaches(session, elsewhere) {
		t.Error("--alone is not alone")
	}
}
