package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// reviewWith lets an agent review a change in a harbour of its own. Its first
// answer names a line that does not exist, and goes back to it with the fault.
func reviewWith(t *testing.T, path, agents string) {
	t.Helper()
	const (
		wrong = `{"change_id":"berth","verdict":"NEEDS_FIX","summary":"The berth is taken twice.","issues":[{"title":"Berth taken twice","severity":"High","category":"Bug","file":"berth.go","line":99,"description":"Nothing marks a berth as taken."}]}`
		fault = "line 99 is outside berth.go"
	)
	h := newHarbour(t, path, agents, func(r fakemodel.Request) fakemodel.Reply {
		if !strings.Contains(r.Body, "Review a change to a program") {
			return fakemodel.Reply{Text: "ready"} // a client asks for the title of its session, too
		}
		if strings.Contains(r.Body, fault) {
			return fakemodel.Reply{Text: strings.Replace(wrong, `"line":99`, `"line":3`, 1)}
		}
		return fakemodel.Reply{Text: wrong}
	})
	git := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		command.Dir = h.dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600))
	}
	put(".gitignore", "*\n!berth.go\n")
	put("berth.go", "package berth\n")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	git("checkout", "-q", "-b", "berth")
	put("berth.go", "package berth\n\nfunc Take(n int) int { return n }\n")
	said, status := h.types("review", "run", "--output", filepath.Join(h.dir, "REVIEW.md"))
	if status != 1 || !strings.Contains(said, "refused, LINE_NOT_FOUND") || !strings.Contains(said, "berth.go:3") {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "REVIEW.md")); err != nil || !strings.Contains(string(text), "Berth taken twice") {
		t.Errorf("REVIEW.md: %v\n%s", err, text)
	}
}

// TestModelReviewsAChange needs no client.
func TestModelReviewsAChange(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	reviewWith(t, os.Getenv("PATH"), agentTables["model"])
}

// TestRealClientsReviewAChange lets every client do one review, with its repair.
func TestRealClientsReviewAChange(t *testing.T) {
	path := agentClients(t)
	for _, client := range []string{"claude", "codex", "gemini", "opencode", "acp"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			if client == "acp" && !full.Asked() {
				t.Skip("it is opencode once more; -full has it")
			}
			reviewWith(t, path, agentTables[client])
		})
	}
}
