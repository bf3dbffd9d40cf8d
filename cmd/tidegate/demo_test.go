package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	digest  = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	process = regexp.MustCompile(`process [0-9]+`)
	tokens  = regexp.MustCompile(`[0-9,]+ tokens`)
)

// playDemo plays the demo and returns what it says, without what depends on the
// folder, the process and the words of prompts: names, digests of documents that
// hold paths, and tokens.
func playDemo(t *testing.T, stdin string, flags ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "harbour")
	command := exec.Command("tidegate", append([]string{"demo", "--keep", folder}, flags...)...)
	command.Env = append(os.Environ(), "TIDEGATE_NOW=2026-03-02T09:00:00Z", "NO_COLOR=1")
	command.Stdin = strings.NewReader(stdin)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := strings.ReplaceAll(string(out), folder, "/home/you/harbour")
	text = tokens.ReplaceAllString(text, "… tokens")
	return process.ReplaceAllString(digest.ReplaceAllString(text, "sha256:…"), "process …")
}

func TestDemoTellsItsStory(t *testing.T) {
	const golden = "testdata/demo.txt"
	got := playDemo(t, "")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the demo differs (-want +got); to rewrite it: go test ./cmd/tidegate -run Demo -update\n%s", diff)
	}
}

func TestDemoStepByStepTellsTheSameStory(t *testing.T) {
	if diff := cmp.Diff(playDemo(t, ""), playDemo(t, "\n\n\n", "--step")); diff != "" {
		t.Error(diff)
	}
}
