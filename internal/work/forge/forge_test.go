package forge

import (
	"testing"

	"github.com/tidegate/tidegate"
)

// TestLines: a comment stands on lines of the later version that one hunk shows.
func TestLines(t *testing.T) {
	shown := func(patch string) map[int]int { lines, _ := shownLines(patch); return lines }
	lines := Lines{"a.go": shown("@@ -1,2 +1,3 @@ func f()\n a\n-b\n+c\n+d\n@@ -9 +4 @@\n+e\n\\ No newline at end of file"), "b.go": shown("Binary files differ\n+x"), "c.go": nil}
	for _, test := range []struct {
		file     string
		from, to int
		want     bool
	}{
		{"a.go", 1, 3, true}, {"a.go", 2, 2, true}, {"a.go", 4, 4, true}, {"a.go", 3, 4, false}, // two hunks
		{"a.go", 5, 5, false}, {"a.go", 0, 0, false}, {"a.go", 3, 2, false}, {"b.go", 1, 1, false}, {"c.go", 1, 1, false}, {"", 0, 0, false},
	} {
		if got := lines.Has(test.file, test.from, test.to); got != test.want {
			t.Errorf("%s, lines %d to %d: %t", test.file, test.from, test.to, got)
		}
	}
}

// TestATokenGoesWhereThePersonSays: an address that somebody wrote does not choose who gets
// a token; the environment does.
func TestATokenGoesWhereThePersonSays(t *testing.T) {
	const dotcom, mine = "https://github.com/o/n/pull/7", "https://git.example:8443/o/n/pull/7/files"
	for name, tt := range map[string]struct {
		address string
		env     map[string]string
		api     string // "" for INVALID_ARGS
		graphQL string
		token   string
	}{
		"github.com":               {dotcom, map[string]string{"GH_TOKEN": "t"}, "https://api.github.com", "https://api.github.com/graphql", "t"},
		"in other letters":         {"https://GitHub.com/o/n/pull/7", map[string]string{"GITHUB_TOKEN": "t", "GH_TOKEN": "u"}, "https://api.github.com", "https://api.github.com/graphql", "t"},
		"beside an own forge":      {dotcom, map[string]string{"GITHUB_TOKEN": "t", "GITHUB_SERVER_URL": "https://git.example", "GITHUB_API_URL": "https://git.example/api/v3"}, "https://api.github.com", "https://api.github.com/graphql", "t"},
		"with its own token":       {dotcom, map[string]string{"GH_ENTERPRISE_TOKEN": "e", "GH_TOKEN": "t"}, "https://api.github.com", "https://api.github.com/graphql", "t"},
		"another":                  {mine, map[string]string{"GITHUB_TOKEN": "t"}, "", "", ""},
		"another with a token":     {mine, map[string]string{"GH_ENTERPRISE_TOKEN": "e"}, "", "", ""},
		"another like it":          {"https://github.com.evil.example/o/n/pull/7", map[string]string{"GITHUB_TOKEN": "t"}, "", "", ""},
		"another port":             {"https://github.com:8443/o/n/pull/7", map[string]string{"GITHUB_TOKEN": "t"}, "", "", ""},
		"another than that named":  {"https://evil.example/o/n/pull/7", map[string]string{"GITHUB_TOKEN": "t", "GH_HOST": "git.example", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com"}, "", "", ""},
		"named for gh":             {mine, map[string]string{"GH_TOKEN": "t", "GITHUB_ENTERPRISE_TOKEN": "e", "GH_HOST": "git.example:8443"}, "https://git.example:8443/api/v3", "https://git.example:8443/api/graphql", "e"},
		"named by its server":      {mine, map[string]string{"GH_TOKEN": "t", "GITHUB_SERVER_URL": "https://git.example:8443"}, "https://git.example:8443/api/v3", "https://git.example:8443/api/graphql", "t"},
		"named by its API":         {"https://git.example/o/n/pull/7", map[string]string{"GH_TOKEN": "t", "GITHUB_API_URL": "https://api.git.example", "GITHUB_GRAPHQL_URL": "https://api.git.example/g"}, "https://api.git.example", "https://api.git.example/g", "t"},
		"github.com without token": {dotcom, map[string]string{"GH_ENTERPRISE_TOKEN": "e"}, "", "", ""},
	} {
		f, number, err := ParsePull(tt.address, func(name string) string { return tt.env[name] })
		switch {
		case tt.api == "":
			if tidegate.CodeOf(err) != tidegate.InvalidArgs {
				t.Errorf("%s: %+v, %v; want INVALID_ARGS", name, f, err)
			}
		case err != nil || number != 7 || f.API != tt.api || f.GraphQL != tt.graphQL || f.Token != tt.token || f.Repository != "o/n" || f.Pages != tt.env["GITHUB_SERVER_URL"]:
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
