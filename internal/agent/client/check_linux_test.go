package client_test

import (
	"errors"
	"os"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		client, scene string
		version       string
		kind          driver.Kind
		help          string
	}{
		{client: "program", scene: "plain"},
		{client: "claude", scene: "plain", version: "2.1.325"},
		{client: "claude", scene: "login missing", version: "2.1.325", kind: driver.Auth, help: "claude auth login"},
		{client: "claude", scene: "wrong version", kind: driver.Unavailable, help: "npm install -g @anthropic-ai/claude-code"},
		{client: "codex", scene: "plain", version: "0.166.0"},
		{client: "codex", scene: "login missing", version: "0.166.0", kind: driver.Auth, help: "codex login"},
		{client: "codex", scene: "wrong version", kind: driver.Unavailable, help: "npm install -g @openai/codex"},
		{client: "opencode", scene: "plain", version: "1.18.33"},
		{client: "opencode", scene: "wrong version", kind: driver.Unavailable, help: "npm install -g opencode-ai"},
		{client: "gemini", scene: "plain", version: "0.61.0"},
		{client: "gemini", scene: "login missing", version: "0.61.0", kind: driver.Auth, help: "gemini, and choose how to log in"},
		{client: "gemini", scene: "no version", kind: driver.Unavailable, help: "npm install -g @google/gemini-cli"},
		{client: "agent", scene: "plain", version: "1.2.3"},
		{client: "agent", scene: "wrong version", kind: driver.Unavailable},
	} {
		t.Run(test.client+"/"+test.scene, func(t *testing.T) {
			t.Parallel()
			stage := newStage(t, test.client, scene{name: test.scene})
			version, err := driver.Check(t.Context(), stage.driver)
			var failure *driver.Error
			if errors.As(err, &failure) != (test.kind != "") || failure != nil && (failure.Kind != test.kind || failure.Help != test.help) {
				t.Errorf("got %+v, want %s that says %q", failure, test.kind, test.help)
			}
			if version != test.version {
				t.Errorf("got version %q, want %q", version, test.version)
			}
			stage.checkNothingLeft(t)
		})
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	host := driver.Host{Environ: []string{"PATH=" + t.TempDir()}, Temp: t.TempDir()}
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "exec:nothing", "acp:nothing", "recorded:" + os.DevNull} {
		d := must.Get(client.New(driver.Settings{Driver: name}, host))(t)
		var failure *driver.Error
		if _, err := driver.Check(t.Context(), d); !errors.As(err, &failure) || failure.Kind != driver.Unavailable {
			t.Errorf("%s: got %v, want unavailable", name, err)
		}
		if _, err := d.Run(t.Context(), task(), func(driver.Event) {}); !errors.As(err, &failure) || failure.Kind != driver.Unavailable {
			t.Errorf("%s: Run: got %v, want unavailable", name, err)
		}
	}
}
