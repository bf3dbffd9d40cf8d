package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/full"
)

// waysIn is why the block with the ways to a model is not run as it stands.
const waysIn = "TestEveryWayToAModel runs each line against stand-ins"

// TestEveryWayToAModel runs every line of the documents that names a model, with nothing
// but the variables in it, against stand-ins of the services, to the finished report. The
// key is in no file afterwards.
func TestEveryWayToAModel(t *testing.T) {
	t.Parallel()
	story := plannedStory(t)
	var lines []string
	for _, name := range []string{"README.md", "docs/agents.md"} {
		ways := 0
		for _, b := range blocksOf(documents(t)[name]) {
			if b.excuse != waysIn {
				continue
			}
			for _, line := range b.lines {
				ways++
				if !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
		if ways < 7 {
			t.Errorf("%s has %d ways to a model", name, ways)
		}
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			script := func(r fakemodel.Request) fakemodel.Reply {
				text, _ := story.answer(r)
				return fakemodel.Reply{Thinking: "I must not say that I think.", Text: text}
			}
			cloud := fakemodel.StartService(hosted, script)
			defer cloud.Close()
			local := fakemodel.StartService(fakemodel.Service{Models: []string{"qwen3:32b", "openai/gpt-oss-20b", "llama-4"}}, script)
			defer local.Close()
			dir := t.TempDir()
			variables := map[string]string{
				"PATH": dir, "HOME": dir, "XDG_CONFIG_HOME": dir, "TIDEGATE_HOME": filepath.Join(dir, "home"),
				"ANTHROPIC_BASE_URL": cloud.URL, "OPENAI_BASE_URL": cloud.URL + "/v1", "OPENROUTER_BASE_URL": cloud.URL + "/api/v1", "GEMINI_BASE_URL": cloud.URL + "/v1beta/openai",
				"OLLAMA_HOST": local.URL, "LMSTUDIO_BASE_URL": local.URL,
			}
			line, _, _ = strings.Cut(line, " #")
			command, flags, _ := strings.Cut(line, `"Which heat pump fits an old house?"`)
			words := strings.Fields(command)
			for strings.Contains(words[0], "=") {
				name, value, _ := strings.Cut(words[0], "=")
				variables[name] = strings.Replace(value, "YOUR_KEY", rightKey, 1)
				words = words[1:]
			}
			if len(words) != 2 || words[0] != "tidegate" || words[1] != "research" {
				t.Fatalf("%q is not a question", line)
			}
			flags = strings.Replace(flags, "http://127.0.0.1:8000", local.URL, 1)
			var out strings.Builder
			status := inHarbourOf(dir, variables, &out).run(context.Background(), append([]string{"research", question, "--yes"}, strings.Fields(flags)...)...)
			if status != 0 || !strings.Contains(out.String(), "completed: every gate passed by its judge") {
				t.Fatalf("exit status %d:\n%s", status, out.String())
			}
			if len(cloud.Requests())+len(local.Requests()) == 0 {
				t.Error("no model was asked")
			}
			if strings.Contains(out.String(), rightKey) {
				t.Error("the key is shown")
			}
			files := 0
			err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				files++
				data, err := os.ReadFile(path)
				if strings.Contains(string(data), rightKey) {
					t.Errorf("the key is in %s", path)
				}
				return err
			})
			if err != nil || files < 20 {
				t.Errorf("%d files were looked at: %v", files, err)
			}
		})
	}
}

// inHarbourOf is a world that has only the demo's pages.
func inHarbourOf(dir string, variables map[string]string, out *strings.Builder) surroundings {
	return surroundings{dir: dir, getenv: func(name string) string { return variables[name] }, stdout: out, stderr: out, fetch: demo.Pages{Now: time.Now}.Fetch}
}

// plannedStory is the story of the demo or, in the short form, one of five jobs: a
// planner names a single perspective.
func plannedStory(t *testing.T) *story {
	t.Helper()
	if full.Asked() {
		return wholeStory(t)
	}
	dir := t.TempDir()
	for name, text := range shortAnswers {
		if name == "perspectives.json" {
			name = "jobs/perspectives/001/answer-1.json"
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	variables := map[string]string{"XDG_CONFIG_HOME": dir, "TIDEGATE_HOME": filepath.Join(dir, "home")}
	run := filepath.Join(dir, "home", "runs", "harbour")
	readTwice(t, dir, run, func() (string, int) {
		var out strings.Builder
		status := inHarbourOf(dir, variables, &out).run(context.Background(), "research", question, "--yes", "--agent", "recorded:"+dir)
		return out.String(), status
	})
	return readStory(t, run, "synthesis")
}
