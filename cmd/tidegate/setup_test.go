package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestSetup has a person answer the three questions. Whatever is wrong, the file stays as
// it was, and a key is never written.
func TestSetup(t *testing.T) {
	t.Parallel()
	cloud := fakemodel.StartService(hosted, fakemodel.Say("ready"))
	local := fakemodel.StartService(fakemodel.Service{Models: []string{"qwen3:32b", "gemma4:31b"}}, fakemodel.Say("ready"))
	t.Cleanup(func() {
		if n := len(cloud.Requests()) + len(local.Requests()); n > 0 {
			t.Errorf("models were asked %d times", n)
		}
		cloud.Close()
		local.Close()
	})
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/search" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"results":[{"title":"t","url":"https://example.org","content":"c"}]}`)
	}))
	t.Cleanup(search.Close)
	for _, test := range []struct {
		name      string
		variables map[string]string
		before    string // the file
		typed     string
		status    int
		says      []string
		want      string // the file; as before where it is ""
	}{
		{
			name: "a key that is set is offered", variables: map[string]string{"OPENAI_API_KEY": rightKey}, typed: "\n\n\n",
			says: []string{"[api:openai]", "[OPENAI_API_KEY]", "api:openai can work with gpt-6.1-sol.", "[free]"}, want: "[agents.default]\ndriver = \"api:openai\"\n",
		},
		{
			name: "another variable, and a search", variables: map[string]string{"MY_KEY": rightKey}, typed: "api:anthropic\nMY_KEY\nsearxng " + search.URL + "\n",
			says: []string{"searxng can search."}, want: "[agents.default]\ndriver = \"api:anthropic\"\nkey_env = \"MY_KEY\"\n\n[search]\nservice = \"searxng\"\nurl = \"" + search.URL + "\"\n",
		},
		{
			name: "the model is asked for where it has to be named", variables: map[string]string{"OLLAMA_HOST": local.URL}, typed: "api:ollama\nelephant\ngemma4:31b\nfree\n",
			says: []string{"api:ollama needs no key", "It has these models: qwen3:32b, gemma4:31b", "It has no such model.", "can work with gemma4:31b"},
			want: "[agents.default]\ndriver = \"api:ollama\"\nmodel = \"gemma4:31b\"\n",
		},
		{
			name: "slips are asked about again", variables: map[string]string{"ANTHROPIC_API_KEY": rightKey}, typed: "api:antropic\napi:anthropic\n" + rightKey + "\n\nbing\nfree\n",
			says: []string{"did you mean api:anthropic?", "not the name of an environment variable", "Expected free, searxng URL"}, want: "[agents.default]\ndriver = \"api:anthropic\"\n",
		},
		{
			name: "what is there stays", before: "[formats]\n\"run list\" = \"json\"\n\n[search]\nservice = \"brave\"", variables: map[string]string{"OPENAI_API_KEY": rightKey}, typed: "\n\n",
			says: []string{"[search] stays as it is."}, want: "[formats]\n\"run list\" = \"json\"\n\n[search]\nservice = \"brave\"\n\n[agents.default]\ndriver = \"api:openai\"\n",
		},
		{name: "all is there", before: "[agents.default]\ndriver = \"claude\"\n[search]\nservice = \"brave\"\n", typed: "\n", status: 4, says: []string{"are set up already"}},
		{name: "a wrong key", variables: map[string]string{"OPENAI_API_KEY": "sk-wrong-0123456789abcdef"}, typed: "\n\n", status: 4, says: []string{"nothing was changed: OpenAI refuses the key", "export OPENAI_API_KEY=…"}},
		{name: "a variable that is not set", typed: "api:openai\nMY_KEY\n", status: 4, says: []string{"MY_KEY is not set", "export MY_KEY=…"}},
		{name: "a search without its key", variables: map[string]string{"OPENAI_API_KEY": rightKey}, typed: "\n\nbrave\n", status: 4, says: []string{"BRAVE_API_KEY is not set"}},
		{name: "a search that is not there", variables: map[string]string{"OPENAI_API_KEY": rightKey}, typed: "\n\nsearxng " + search.URL + "/wrong\n", status: 4, says: []string{"SearXNG answers with status 404: there is nothing at this address"}},
		{name: "a client that is not there", typed: "claude\n", status: 4, says: []string{"claude is not installed", "npm install -g @anthropic-ai/claude-code"}},
		{name: "no answer that can be used", typed: "x\ny\nz\n", status: 2, says: []string{"had no answer that can be used"}},
		{name: "a file that is wrong", before: "[agents.default]\ndriver = 7\n", typed: "\n", status: 2, says: []string{"line 2: agents.default.driver"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "tidegate", "tidegate.toml")
			if test.before != "" {
				must.Write(t, file, test.before)
			}
			variables := map[string]string{
				"PATH": dir, "XDG_CONFIG_HOME": dir, "TIDEGATE_HOME": dir, "ANTHROPIC_BASE_URL": cloud.URL, "OPENAI_BASE_URL": cloud.URL, "OLLAMA_HOST": "http://127.0.0.1:1", "LMSTUDIO_BASE_URL": "http://127.0.0.1:1",
			}
			for name, value := range test.variables {
				variables[name] = value
			}
			var out strings.Builder
			s := surroundings{dir: t.TempDir(), getenv: func(name string) string { return variables[name] }, stdout: &out, stderr: &out, typed: test.typed}
			if status := s.run(context.Background(), "setup"); status != test.status {
				t.Errorf("exit status %d, want %d", status, test.status)
			}
			for _, want := range test.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), rightKey) {
				t.Errorf("the key is shown:\n%s", out.String())
			}
			written, err := os.ReadFile(file)
			if want := test.want; err == nil && want == "" && string(written) != test.before || want != "" && string(written) != want {
				t.Errorf("the file is %q, want %q (%v)", written, want, err)
			}
			if test.want != "" {
				out.Reset()
				if s.run(context.Background(), "config"); !strings.Contains(out.String(), "agents.default.driver") {
					t.Errorf("the file is not read:\n%s", out.String())
				}
			}
		})
	}
}
