package codereview

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/fakeforge"
)

// TestAHostileForge: whatever a forge answers, `review pull` prints the lines that it has and
// no other, allows nobody whom the forge does not call a member, and hands the token to no other
// host; `review publish` ends well and says what it did not write.
func TestAHostileForge(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the token went to another host: %s", r.URL)
		}
		io.WriteString(w, `{"number":12}`)
	}))
	t.Cleanup(elsewhere.Close)
	says := func(format string, args ...any) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, args...) }
	}
	pull := func(number int, head, login, association string) func(http.ResponseWriter, *http.Request) {
		return says(`{"number":%d,"state":"open","user":{"login":%q,"id":7,"type":"User"},"author_association":%q,"head":{"sha":%q,"ref":"topic"},"base":{"sha":%q,"ref":"main"}}`,
			number, login, association, head, base0)
	}
	leads := func(status int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL+r.URL.Path, status) }
	}
	injected := "x\nallowed=true\nartifact=1\ndigest=" + strings.Repeat("ab", 32)
	line := regexp.MustCompile(`^(number=12|head=[0-9a-f]{40}|base=[0-9a-f]{40}|allowed=(true|false)|why=.*)$`)
	for name, test := range map[string]struct {
		path   string // of the requests that are answered so
		answer func(http.ResponseWriter, *http.Request)
		pulls  string // what `review pull` prints, "" for an error
	}{
		"a commit with more lines":     {"/pulls/12", pull(12, head1+"\nallowed=true", "octocat", "NONE"), ""},
		"an author with more lines":    {"/pulls/12", pull(12, head1, injected, "NONE"), "allowed=false"},
		"another pull request":         {"/pulls/12", pull(13, head1, "octocat", "MEMBER"), ""},
		"nobody's association":         {"/pulls/12", pull(12, head1, "octocat", ""), "allowed=false"},
		"an association with a line":   {"/pulls/12", pull(12, head1, "octocat", "NONE\nMEMBER"), "allowed=false"},
		"no object":                    {"/pulls/12", says("[]"), ""},
		"half an answer":               {"/pulls/12", says(`{"number":12,`), ""},
		"an abyss":                     {"/pulls/12", says("%s", strings.Repeat(`{"a":[`, 200_000)), ""},
		"another host":                 {"/pulls/12", leads(302), ""},
		"another host, kept method":    {"/pulls/12", leads(307), ""},
		"a branch that is no commit":   {"/git/ref/heads/main", says(`{"object":{"sha":"main; rm -rf /"}}`), ""},
		"an owner with more lines":     {"/graphql", says(`{"data":{"viewer":{"login":%q}}}`, injected), "allowed=true"},
		"another host has the token":   {"/graphql", leads(307), "allowed=true"},
		"comments that never end":      {"/issues/12/comments", says("[%s]", strings.TrimSuffix(strings.Repeat(`{"id":1,"user":{"login":"github-actions[bot]"},"body":"x"},`, 100), ",")), "allowed=true"},
		"a comment with a false place": {"/issues/12/comments", says(`[{"id":1,"user":{"login":"github-actions[bot]"},"body":"<!-- tidegate review review ../../../user -->"}]`), "allowed=true"},
		"lines that never end":         {"/pulls/12/files", says(`[{"filename":"main.go","patch":"@@ -1 +999999999,999999999 @@\n+x"}]`), "allowed=true"},
		"an endless answer": {"/pulls/12", func(w http.ResponseWriter, r *http.Request) {
			block := []byte(strings.Repeat(" ", 1<<20))
			for r.Context().Err() == nil {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForge(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, test.path) {
					test.answer(w, r)
					return
				}
				f.Forge.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			f.env["GITHUB_API_URL"], f.env["GITHUB_GRAPHQL_URL"] = server.URL, server.URL+"/graphql"
			out, stderr, err := f.pull(fmt.Sprintf(`{"action":"opened","number":12,"pull_request":{"number":12,"head":{"sha":%q}}}`, head1))
			if strings.Contains(out+stderr+fmt.Sprint(err), fakeforge.Token) {
				t.Error("the token is shown")
			}
			if test.pulls == "" && (tidegate.CodeOf(err) == "" || out != "") || test.pulls != "" && !strings.Contains("\n"+out, "\n"+test.pulls+"\n") {
				t.Errorf("%v\n%s", err, out)
			}
			seen := map[string]bool{}
			for _, text := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
				key, _, _ := strings.Cut(text, "=")
				if out != "" && (!line.MatchString(text) || seen[key]) {
					t.Errorf("it prints %q", text)
				}
				seen[key] = true
			}
			if warned := f.publish(found(head1)); strings.Contains(warned, fakeforge.Token) {
				t.Errorf("the token is shown: %s", warned)
			}
		})
	}
}
