package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/must"
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
		environ := append(test.further, person...)
		made := must.Get(New(driver.Settings{Driver: test.driver, Env: test.env}, driver.Host{Environ: environ, Temp: t.TempDir(), Cells: driver.Cells{Unconfined: true}}))(t)
		var got []string
		var temp string
		client := made.(*headless)
		must.Get(client.machine.InFolder("", driver.Task{}, func(f *sandbox.Folder, task driver.Task) (driver.Answer, error) {
			l, err := client.prepareCell(f, "/bin/claude", driver.Task{})
			got, temp = l.Env, f.In("tmp")
			return driver.Answer{}, err
		}))(t)
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
		if in := driver.Variable(got, "TMPDIR"); in != temp {
			t.Errorf("temporary files go to %s", in)
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
			must.Do(t, os.Mkdir(filepath.Join(home, ".gemini"), 0o700))
			must.Do(t, os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(settings), 0o600))
		}
		if got := geminiLoggedOut(t.Context(), []string{"HOME=/nowhere", "GEMINI_CLI_HOME=" + home}); got != want {
			t.Errorf("%s: got %v, want %v", settings, got, want)
		}
		if geminiLoggedOut(t.Context(), []string{"HOME=" + home, "GEMINI_API_KEY=k"}) {
			t.Errorf("%s: a key is a login", settings)
		}
	}
}

// TestARentedMachineIsNoModel: where a model is at a provider of machines and of places
// for files, those of others there are not let through.
func TestARentedMachineIsNoModel(t *testing.T) {
	t.Parallel()
	for variable, hosts := range map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK": {"bedrock-runtime.eu-west-1.amazonaws.com", "bucket.s3.amazonaws.com", "ec2-1-2-3-4.compute.amazonaws.com", "bedrock-runtime.evil.com.amazonaws.com"},
		"CLAUDE_CODE_USE_VERTEX":  {"europe-west1-aiplatform.googleapis.com", "storage.googleapis.com", "evil.storage.googleapis.com", "evil.com/-aiplatform.googleapis.com"},
		"CLAUDE_CODE_USE_FOUNDRY": {"mine.services.ai.azure.com", "evil.cloudapp.azure.com", "evil.westeurope.cloudapp.azure.com", "services.ai.azure.com"},
	} {
		known := cells["claude"].hostsFor([]string{variable + "=1"})
		for i, host := range hosts {
			if got := sandbox.Among(known, host+":443"); got != (i == 0) {
				t.Errorf("%s: allowed is %v", host, got)
			}
		}
		if sandbox.Among(known, hosts[0]+":80") || !sandbox.Among(known, "api.anthropic.com:443") || sandbox.Among(known, "api.anthropic.com.evil.com:443") {
			t.Errorf("%s: other ports, or hosts by a part of their name", variable)
		}
	}
}
