package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAgentsGetTheirOwnVariablesAlone(t *testing.T) {
	person := []string{
		"PATH=/bin", "HOME=/home/p", "LC_ALL=C", "TMPDIR=/tmp/p", "https_proxy=http://proxy", "GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x",
		"ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x", "GEMINI_API_KEY=x", "MY_KEY=x", "SSH_AUTH_SOCK=/s", "SSH_ASKPASS=/a", "TIDEGATE_SIGN_KEY=/k", "=odd", "odd",
	}
	base := []string{"PATH", "HOME", "LC_ALL", "https_proxy", "TMPDIR", "TMP", "TEMP"}
	for _, test := range []struct {
		driver  string
		further []string // of the person
		env     []string
		want    []string // beside base
	}{
		{driver: "claude", want: []string{"ANTHROPIC_API_KEY"}},
		{driver: "claude", further: []string{"CLAUDE_CODE_USE_BEDROCK=1"}, want: []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY"}},
		{driver: "codex", want: []string{"OPENAI_API_KEY"}},
		{driver: "gemini", want: []string{"GEMINI_API_KEY"}},
		{driver: "opencode", want: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"}},
		{driver: "claude", env: []string{"MY_*", "SSH_*", "TIDEGATE_SIGN_KEY", "*"}, want: []string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MY_KEY", "odd"}},
		{driver: "claude", env: []string{"SSH_AUTH_SOCK", "SSH_ASKPASS", "TIDEGATE_SIGN_KEY"}, want: []string{"ANTHROPIC_API_KEY"}},
	} {
		f, err := makeFolder(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.remove()
		environ := append(test.further, person...)
		made, err := New(Settings{Driver: test.driver, Env: test.env}, Host{Environ: environ, Cells: Cells{Unconfined: true}})
		if err != nil {
			t.Fatal(err)
		}
		lodged, err := made.(*headless).lodge(f, "/bin/claude", Task{})
		if err != nil {
			t.Fatal(err)
		}
		got := lodged.env
		var names []string
		for _, variable := range got {
			name, _, _ := strings.Cut(variable, "=")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		want := slices.Concat(base, test.want)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s with %q: got %q, want %q", test.driver, test.env, names, want)
		}
		if temp := variable(got, "TMPDIR"); temp != f.in("tmp") {
			t.Errorf("temporary files go to %s", temp)
		}
	}
}

// gemini has no command that says whether it is logged in.
func TestGeminiStranger(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{
		"":   true,
		"{}": true,
		`{"security":{"auth":{"selectedType":"oauth-personal"}}}`: false,
		`{"selectedAuthType":"oauth-personal"}`:                   false,
		`{"security":{"auth":{}}}`:                                true,
		"{ // a comment\n}":                                       false,
	} {
		home := t.TempDir()
		if settings != "" {
			if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := geminiStranger(t.Context(), []string{"HOME=/nowhere", "GEMINI_CLI_HOME=" + home}); got != want {
			t.Errorf("%s: got %v, want %v", settings, got, want)
		}
		if geminiStranger(t.Context(), []string{"HOME=" + home, "GEMINI_API_KEY=k"}) {
			t.Errorf("%s: a key is a login", settings)
		}
	}
}

// Some clients show nothing but the words of the provider.
func TestWordsOfProviders(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]Kind{
		`Internal error: invalid x-api-key {"service":"session","errorName":"APIError"}`:                            Auth,
		"Incorrect API key provided: k. You can find your API key at https://platform.openai.com/account/api-keys.": Auth,
		"API key not valid. Please pass a valid API key.":                                                           Auth,
		"Internal error: This request would exceed your account's rate limit. Please try again later.":              Rate,
		"Resource has been exhausted (e.g. check quota).":                                                           Rate,
		"Internal error: Internal server error":                                                                     Unavailable,
		"The server had an error while processing your request. Sorry about that!":                                  Unavailable,
		"Internal error: Overloaded":                                                                                Unavailable,
		"Internal error":                                                                                            Died,
	} {
		if got := fromWords("x", words).Kind; got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// A provider, or an agent in its name, cannot make a run wait for years.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"status 429, try again in 7s":                     7 * time.Second,
		"status 429, try again in 90 h":                   LongestWait,
		"rate limit, retry after 99999999999999999999999": LongestWait,
		"status 429": 0,
	} {
		if got := fromWords("x", words).Wait; got != want {
			t.Errorf("%s: waits %v, want %v", words, got, want)
		}
	}
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "9999999": LongestWait, "-1": 0, "soon": 0, "Fri, 31 Dec 9999 23:59:59 GMT": LongestWait} {
		if got := retryAfter(value, time.Unix(1e9, 0)); got != want {
			t.Errorf("%s: waits %v, want %v", value, got, want)
		}
	}
}
