package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

// connectHTTP starts the real server process over HTTP and a client of it.
func connectHTTP(t *testing.T, dir string, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	url, _ := startHTTP(t, dir, env, args...)
	session := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil))(t)
	t.Cleanup(func() { session.Close() })
	return session
}

// code is the code of the error that a call ends with, "" for a result.
func code(t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any) tidegate.Code {
	t.Helper()
	result := must.Get(session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments}))(t)
	var envelope struct{ Error struct{ Code tidegate.Code } }
	must.Do(t, json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &envelope))
	return envelope.Error.Code
}

func folders(t *testing.T, names ...string) []string {
	t.Helper()
	parent := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	var paths []string
	for _, name := range names {
		path := filepath.Join(parent, name)
		must.Do(t, os.MkdirAll(path, 0o755))
		paths = append(paths, path)
	}
	return paths
}

// TestWhereTheServerMayReach asks for a missing file in every kind of folder:
// NOT_FOUND shows that the server looked for it.
func TestWhereTheServerMayReach(t *testing.T) {
	all := folders(t, "work", "root", "home", "elsewhere", "tide/runs", "project", "tide/audits")
	work, root, home, elsewhere, runs, project, audits := all[0], all[1], all[2], all[3], all[4], all[5], all[6]
	env := []string{"HOME=" + home, "TIDEGATE_HOME=" + filepath.Dir(runs)}
	type connector func(t *testing.T, dir string, env []string, args ...string) *mcp.ClientSession
	for _, tt := range []struct {
		name    string
		connect connector
		dir     string
		args    []string
		allowed []string
	}{
		{"stdio as it is", connectIn, work, nil, all},
		{"stdio with a root", connectIn, work, []string{"--root", root}, []string{root, work, runs, audits}},
		{"stdio with two roots", connectIn, work, []string{"--root", root, "--root", "../elsewhere"}, []string{root, elsewhere, work, runs, audits}},
		{"stdio in the user's home", connectIn, home, []string{"--root", root}, []string{root, runs, audits}},
		{"stdio at the root of everything", connectIn, "/", []string{"--root", root}, []string{root, runs, audits}},
		{"stdio with a project", connectIn, work, []string{"--root", root, "--project", project}, []string{root, work, runs, audits, project}},
		{"HTTP as it is", connectHTTP, work, nil, []string{work, runs, audits}},
		{"HTTP with a root", connectHTTP, work, []string{"--root", root}, []string{root, work, runs, audits}},
		{"HTTP in the user's home", connectHTTP, home, nil, []string{runs, audits}},
		{"HTTP in the user's home, which is named", connectHTTP, home, []string{"--root", home}, []string{home, runs, audits}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := tt.connect(t, tt.dir, env, tt.args...)
			for _, folder := range all {
				want := tidegate.PathNotAllowed
				if slices.Contains(tt.allowed, folder) {
					want = tidegate.FileNotFound
				}
				got := code(t, session, "deep_research_perspectives_check", map[string]any{"perspectives_path": filepath.Join(folder, "absent.json")})
				if got != want {
					t.Errorf("%s: got %s, want %s", filepath.Base(folder), got, want)
				}
			}
		})
	}
}

// TestAConfinedServerAudits: what `mcp config` and a bundle set up is confined, and still
// keeps runs and audits.
func TestAConfinedServerAudits(t *testing.T) {
	all := folders(t, "work", "tide", "elsewhere")
	for _, folder := range all {
		must.Do(t, os.WriteFile(filepath.Join(folder, "report.md"), []byte("Costs fell [1].\n\n[1]: https://costs.example/a\n"), 0o600))
	}
	sessions := map[string]*mcp.ClientSession{
		"as mcp config has it": connectIn(t, all[0], []string{"HOME=" + all[1], "TIDEGATE_HOME=" + all[1]}, "--root", ".", "--project", "."),
		"as a bundle has it":   connectIn(t, all[2], []string{"HOME=" + all[1], "TIDEGATE_HOME=" + all[0] + "/.tidegate"}, "--alone", "--root", all[0], "--project", all[0]),
	}
	for name, session := range sessions {
		for folder, want := range map[string]tidegate.Code{all[0]: "", all[1]: tidegate.PathNotAllowed, all[2]: tidegate.PathNotAllowed} {
			got := code(t, session, "report_audit", map[string]any{"report_path": filepath.Join(folder, "report.md"), "no_fetch": true})
			if got != want {
				t.Errorf("%s, a report in %s: got %q, want %q", name, filepath.Base(folder), got, want)
			}
		}
		if got := code(t, session, "deep_research_run_init", map[string]any{"query": "Do tides slow the earth?"}); got != "" {
			t.Errorf("%s, a run: %s", name, got)
		}
	}
}

func TestReviewsAreWrittenInTheProjectOnly(t *testing.T) {
	all := folders(t, "work", "home", "project")
	review := map[string]any{
		"change_id": "c1", "verdict": "APPROVED", "summary": "Fine.", "issues": []any{},
		"test_results": map[string]any{"passed": 1, "failed": 0, "total": 1},
	}
	env := []string{"HOME=" + all[1], "TIDEGATE_HOME=" + all[1] + "/tide"}
	for _, tt := range []struct {
		name, dir string
		args      []string
		want      tidegate.Code
	}{
		{"the working folder", all[0], nil, ""},
		{"the user's home, which nobody named", all[1], nil, tidegate.PathNotAllowed},
		{"a project that was named", all[1], []string{"--project", all[2]}, ""},
		{"strict, and no such change", all[0], []string{"--project", all[1], "--strict"}, tidegate.FileNotFound},
		{"read-only", all[0], []string{"--read-only"}, "unknown tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := connectHTTP(t, tt.dir, env, tt.args...)
			if tt.want == "unknown tool" {
				if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "create_review", Arguments: review}); err == nil {
					t.Error("a read-only server writes reviews")
				}
				return
			}
			if got := code(t, session, "create_review", review); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadOnlyAndNarrowedServers(t *testing.T) {
	for _, tt := range []struct {
		name     string
		args     []string
		has, not []string
		prompts  []string
		runs     bool
	}{
		{"everything", nil, []string{"create_review", "deep_research_run_init", "deep_research_wave_review"}, nil, []string{"decide_pivot", "review_wave", "submit_code_review"}, true},
		{
			"read-only", []string{"--read-only"}, []string{"deep_research_wave_review", "deep_research_run_status"},
			[]string{"create_review", "deep_research_run_init", "deep_research_manifest_write"}, nil, true,
		},
		{"a set", []string{"--toolsets", "wave"}, []string{"deep_research_wave_review"}, []string{"create_review", "deep_research_run_status"}, []string{"review_wave"}, false},
		{"one tool", []string{"--tools", "create_review"}, []string{"create_review"}, []string{"review_show"}, []string{"submit_code_review"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := connect(t, tt.args...)
			list := must.Get(session.ListTools(t.Context(), nil))(t)
			var names []string
			for _, each := range list.Tools {
				names = append(names, each.Name)
				if slices.Contains(tt.args, "--read-only") && !each.Annotations.ReadOnlyHint {
					t.Errorf("%s is not marked as read-only", each.Name)
				}
			}
			for _, name := range tt.has {
				if !slices.Contains(names, name) {
					t.Errorf("%s is missing", name)
				}
			}
			for _, name := range tt.not {
				if slices.Contains(names, name) {
					t.Errorf("%s is offered", name)
				}
			}
			intro := session.InitializeResult().Instructions
			if len(intro) > 2048 || strings.Contains(intro, "create_review") != slices.Contains(names, "create_review") {
				t.Errorf("the instructions (%d bytes) do not fit the tools: %s", len(intro), intro)
			}
			prompts := must.Get(session.ListPrompts(t.Context(), nil))(t)
			for _, name := range tt.prompts {
				if !slices.ContainsFunc(prompts.Prompts, func(p *mcp.Prompt) bool { return p.Name == name }) {
					t.Errorf("the prompt %s is missing", name)
				}
			}
			templates, err := session.ListResourceTemplates(t.Context(), nil)
			if err != nil || (len(templates.ResourceTemplates) > 0) != tt.runs {
				t.Errorf("templates %v %v", templates, err)
			}
		})
	}
}

// TestPromptsNameOnlyWhatIsThere keeps the prompts true to the catalogue.
func TestPromptsNameOnlyWhatIsThere(t *testing.T) {
	session := connect(t)
	list := must.Get(session.ListTools(t.Context(), nil))(t)
	known := map[string]bool{}
	for _, each := range list.Tools {
		known[each.Name] = true
		schema := must.Get(json.Marshal([]any{each.InputSchema, each.OutputSchema}))(t)
		for _, word := range strings.FieldsFunc(string(schema), notWord) {
			known[word] = true
		}
	}
	for _, s := range documentSchemas() {
		text := must.Get(codec.MarshalLine(s.print()))(t)
		for _, word := range strings.FieldsFunc(string(text), notWord) {
			known[word] = true
		}
	}
	for _, p := range prompts("") {
		args := map[string]string{}
		for _, a := range p.Arguments {
			args[a.Name] = "/x"
			known[a.Name] = true
		}
		text := must.Get(p.Text(args))(t)
		for _, word := range strings.FieldsFunc(text, notWord) {
			if strings.Contains(word, "_") && !known[word] && !strings.Contains("APPROVED NEEDS_FIX MAJOR_ISSUES INVALID_ARGS OUTPUT_NOT_FOUND", word) {
				t.Errorf("%s speaks of %s, which is nothing here", p.Name, word)
			}
		}
	}
}

func notWord(r rune) bool {
	return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

func TestArtifactsOfARunAreReadOnlyResources(t *testing.T) {
	all := folders(t, "work", "tide", "outside")
	work, tide, outside := all[0], all[1], all[2]
	must.Do(t, os.WriteFile(filepath.Join(outside, "secret.md"), []byte("secret"), 0o600))
	session := connectHTTP(t, work, []string{"TIDEGATE_HOME=" + tide})
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "deep_research_run_init", Arguments: map[string]any{"query": "why?", "run_id": "r 1", "mode": "standard", "sensitivity": "normal"}})
	if err != nil || result.IsError {
		t.Fatalf("%+v %v", result, err)
	}
	root := filepath.Join(tide, "runs", "r 1")
	for link, target := range map[string]string{"link.md": filepath.Join(outside, "secret.md"), "linked": outside} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	seed := filepath.Join(root, "review", "rounds", "1", "seed.json") // it tells the twins of sentences
	must.Write(t, seed, `{"seed":"secret"}`)
	read := func(uri string) (string, string) {
		got, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err.Error()
		}
		return got.Contents[0].Text, ""
	}
	if list, problem := read("tidegate://run/r%201"); !strings.Contains(list, `"tidegate://run/r%201/manifest.json"`) || strings.Contains(list, "secret") || problem != "" {
		t.Errorf("the list is %s %s", list, problem)
	}
	if manifest, problem := read("tidegate://run/r%201/manifest.json"); !strings.Contains(manifest, `"run_id": "r 1"`) {
		t.Errorf("the manifest is %s %s", manifest, problem)
	}
	for _, uri := range []string{
		"tidegate://run/r%201/absent.md", "tidegate://run/r2/manifest.json", "tidegate://run/r%201/link.md", "tidegate://run/r%201/linked/secret.md",
		"tidegate://run/r%201/../../../outside/secret.md", "tidegate://run/r%201/..%2f..%2f..%2foutside%2fsecret.md", "tidegate://run/..%2f..%2foutside/secret.md",
		"tidegate://run/../outside/secret.md", "tidegate://run/r%201//etc/passwd", "tidegate://run/r%201/.tidegate.lock", "tidegate://run/%zz/x", "tidegate://run/", "file:///etc/passwd",
		"tidegate://run/r%201/review/rounds/1/seed.json", "tidegate://run/r%201/review/rounds/1/./seed%2Ejson", "tidegate://run/r%201/review/x/../rounds/1/seed.json",
	} {
		if text, problem := read(uri); problem == "" || strings.Contains(text, "secret") {
			t.Errorf("%s: got %q", uri, text)
		}
	}
	// Nor is it an answer: the next prompt would quote it.
	result, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "deep_research_job_submit", Arguments: map[string]any{"run": "r 1", "token": "a/1/verify.1", "answer_path": seed}})
	if err != nil || !result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "PATH_NOT_ALLOWED") {
		t.Errorf("handed in as an answer: %+v %v", result, err)
	}
}

// TestTokens starts the server with a token from a file and from the
// environment.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "token"), []byte("from-file\n"), 0o600))
	for _, tt := range []struct {
		name, good, bad string
		args            []string
	}{
		{"from the environment", "from-environment", "from-file", nil},
		{"from a file, which goes first", "from-file", "from-environment", []string{"--token-file", "token"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := startHTTP(t, dir, []string{"TIDEGATE_MCP_TOKEN=from-environment"}, tt.args...)
			for token, want := range map[string]int{tt.good: http.StatusOK, tt.bad: http.StatusUnauthorized, "": http.StatusUnauthorized} {
				request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)))(t)
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept", "application/json, text/event-stream")
				request.Header.Set("Authorization", "Bearer "+token)
				response := must.Get(http.DefaultClient.Do(request))(t)
				response.Body.Close()
				if response.StatusCode != want {
					t.Errorf("%q: status %d, want %d", token, response.StatusCode, want)
				}
			}
		})
	}
}

// TestToolsNeedNoNetwork calls a tool and plays the demo where there is no network.
func TestToolsNeedNoNetwork(t *testing.T) {
	t.Parallel()
	if !networkCanBeTaken() {
		t.Skip("a process without network cannot be made here")
	}
	if out, err := withoutNetwork("tidegate", "call", "deep_research_pivot_rules", "--args", "{}").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := theDemo(); err != nil {
		t.Error(err)
	}
}

// TestAloneIsTheNamedFolderAlone shows how an agent that tidegate started is kept in
// the folder of its attempt.
func TestAloneIsTheNamedFolderAlone(t *testing.T) {
	t.Parallel()
	paths := folders(t, "attempt", "working", "home/runs")
	attempt, working, runs := paths[0], paths[1], paths[2]
	env := []string{"TIDEGATE_HOME=" + filepath.Dir(runs)}
	for _, alone := range []bool{true, false} {
		args := []string{"--root", attempt, "--tools", "deep_research_wave_output_validate"}
		if alone {
			args = append(args, "--alone")
		}
		session := connectHTTP(t, working, env, args...)
		for _, folder := range paths {
			want := tidegate.FileNotFound
			if alone && folder != attempt {
				want = tidegate.PathNotAllowed
			}
			if got := code(t, session, "deep_research_wave_output_validate", map[string]any{
				"perspectives_path": filepath.Join(folder, "perspectives.json"), "perspective_id": "p", "markdown_path": filepath.Join(folder, "p.md"),
			}); got != want {
				t.Errorf("alone %v, %s: got %s, want %s", alone, folder, got, want)
			}
		}
	}
}
