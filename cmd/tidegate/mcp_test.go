package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// connect starts the real server process and a client that talks to it.
func connect(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	return connectIn(t, "", []string{"TIDEGATE_HOME=" + t.TempDir()}, args...)
}

// connectIn starts it in a folder, with additions to its environment.
func connectIn(t *testing.T, dir string, env []string, args ...string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command("tidegate", append([]string{"mcp"}, args...)...)
	command.Dir = dir
	command.Stderr = os.Stderr
	command.Env = append(os.Environ(), env...)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil))(t)
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	return session
}

// serveHTTP starts the real server process in dir, at a free port, and returns
// its URL.
func serveHTTP(t *testing.T, dir string, env ...string) string {
	t.Helper()
	url, _ := startHTTP(t, dir, env)
	return url
}

// startHTTP also takes arguments and returns the process. It ends with the test,
// and must end without an error.
func startHTTP(t *testing.T, dir string, env []string, args ...string) (url string, server *exec.Cmd) {
	t.Helper()
	server = exec.Command("tidegate", append([]string{"mcp", "--http", ":0"}, args...)...)
	server.Dir = dir
	server.Env = append(append(os.Environ(), "TIDEGATE_HOME="+filepath.Join(dir, "tide")), env...)
	stderr := must.Get(server.StderrPipe())(t)
	must.Do(t, server.Start())
	lines := bufio.NewScanner(stderr)
	for url == "" && lines.Scan() {
		if found := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			url = found[1]
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		// A client may have dialled once more than necessary, and shutting down
		// gives a connection that has not asked for anything five seconds.
		http.DefaultClient.CloseIdleConnections()
		server.Process.Signal(os.Interrupt)
		<-drained
		if err := server.Wait(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	if url == "" {
		t.Fatal("the server does not say where it is")
	}
	return url, server
}

func TestStdioServerListsTheCatalogueInOrder(t *testing.T) {
	list := must.Get(connect(t, "--toolsets", "all").ListTools(t.Context(), nil))(t)
	var want, got, world []string
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		want = append(want, each.Name)
	}
	slices.Sort(want)
	for _, each := range list.Tools {
		got = append(got, each.Name)
		a := each.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s lacks an annotation", each.Name)
		} else if *a.OpenWorldHint {
			world = append(world, each.Name)
		}
		if each.OutputSchema == nil || each.InputSchema == nil || len(each.Description) > 2048 {
			t.Errorf("%s lacks a schema or has too long a description", each.Name)
		}
	}
	if got, want := strings.Join(world, " "), "deep_research_citations_fetch deep_research_citations_validate deep_research_job_submit deep_research_run_step deep_research_search report_audit"; got != want {
		t.Errorf("what reaches beyond this machine: %s, want %s", got, want)
	}
	if diff := difference(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

// A person's decisions have commands but no tools: an agent that could make them
// would accept its own failed run.
func TestStdioServerKeepsAPersonsDecisionsFromAgents(t *testing.T) {
	session := connect(t)
	for _, name := range []string{"deep_research_run_resume", "deep_research_run_cancel", "deep_research_run_pause", "deep_research_gate_b_record"} {
		if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}}); err == nil {
			t.Errorf("an agent can call %s: %+v", name, result)
		}
	}
}

func TestStdioServerAnswersLikeCall(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"perspectives.json": `{"schema_version":"perspectives.v1","perspectives":[{"id":"p1","prompt_contract":{"max_words":9,"max_sources":1,"must_include_sections":["Sources"]}}]}`,
		"p1.md":             "# Sources\n- https://example.org/<b>&\n",
		"bad.md":            "nothing\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	session := connect(t)
	for _, file := range []string{"p1.md", "bad.md"} {
		args := map[string]any{"perspectives_path": filepath.Join(dir, "perspectives.json"), "perspective_id": "p1", "markdown_path": filepath.Join(dir, file)}
		result := must.Get(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "deep_research_wave_output_validate", Arguments: args}))(t)
		raw := must.Get(json.Marshal(args))(t)
		call := exec.Command("tidegate", "call", "deep_research_wave_output_validate", "--args", string(raw))
		// A refusal ends with status 1; its envelope is still on stdout.
		want, _ := call.Output()
		got := result.Content[0].(*mcp.TextContent).Text
		if diff := difference(strings.TrimSuffix(string(want), "\n"), got); diff != "" || result.IsError != (file == "bad.md") {
			t.Errorf("%s: isError %v (-call +mcp):\n%s", file, result.IsError, diff)
		}
	}
}

// TestResultsLinkToReportAndArchive reads what the results about a completed run, and of an
// audit, link to.
func TestResultsLinkToReportAndArchive(t *testing.T) {
	home := t.TempDir()
	demoRun(t, home)
	session := connectIn(t, home, []string{"HOME=" + home, "TIDEGATE_HOME=" + home}, "--root", home)
	for _, tt := range []struct {
		tool string
		args map[string]any
		want []string
	}{
		{"deep_research_run_step", map[string]any{"run": "harbour"}, []string{"tidegate://run/harbour/synthesis/final-synthesis.md", "tidegate://run/harbour/evidence/archive.warc.gz"}},
		{"deep_research_run_status", map[string]any{"run": "harbour"}, []string{"tidegate://run/harbour/synthesis/final-synthesis.md", "tidegate://run/harbour/evidence/archive.warc.gz"}},
		{"deep_research_run_list", map[string]any{}, nil},
		{"report_audit", map[string]any{"report": "Costs fell [1].\n\n[1]: https://costs.example/a\n", "no_fetch": true}, []string{"tidegate://audit/*/result.json"}},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
		if err != nil || result.IsError {
			t.Fatalf("%s: %v, %+v", tt.tool, err, result)
		}
		var links []string
		for _, content := range result.Content[1:] {
			link := content.(*mcp.ResourceLink)
			read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
			if err != nil || len(read.Contents) != 1 || len(read.Contents[0].Text)+len(read.Contents[0].Blob) == 0 {
				t.Errorf("%s cannot be read: %v", link.URI, err)
			}
			links = append(links, link.URI)
		}
		if !slices.EqualFunc(links, tt.want, func(got, want string) bool { ok, _ := path.Match(want, got); return ok }) {
			t.Errorf("%s links to %q, want %q", tt.tool, links, tt.want)
		}
	}
	for _, uri := range []string{"tidegate://audit/none/result.json", "tidegate://audit/..%2Fruns%2Fharbour/manifest.json", "tidegate://audit/../runs/harbour/manifest.json"} {
		if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read", uri)
		}
	}
}
