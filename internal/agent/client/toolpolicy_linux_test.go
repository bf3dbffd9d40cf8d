package client_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestToolsThatAreTakenAway looks at the switches that each client is started
// with: it does not get a tool that the perspective forbids, or of which no call is
// left.
func TestToolsThatAreTakenAway(t *testing.T) {
	for client, has := range map[string]func(switches, tool string) bool{
		"claude": func(switches, tool string) bool {
			_, list, _ := strings.Cut(switches, "--tools ")
			list, _, _ = strings.Cut(list, " ")
			return slices.Contains(strings.Split(list, ","), map[string]string{"search": "WebSearch", "fetch": "WebFetch"}[tool])
		},
		"codex":    func(switches, _ string) bool { return strings.Contains(switches, `web_search="live"`) }, // it does both
		"opencode": func(switches, tool string) bool { return strings.Contains(switches, `"web`+tool+`":"allow"`) },
		"gemini": func(switches, tool string) bool {
			return strings.Contains(switches, map[string]string{"search": `"google_web_search"`, "fetch": `"web_fetch"`}[tool])
		},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			stage := newStage(t, client, scene{name: "switches"})
			for _, tt := range []struct {
				name          string
				change        func(*driver.Task)
				search, fetch bool
			}{
				{"nothing", func(*driver.Task) {}, true, true},
				{"search", func(t *driver.Task) { t.Tools.Forbidden = []string{"search_calls"} }, false, true},
				{"search by its usual name", func(t *driver.Task) { t.Tools.Forbidden = []string{" Web_Search "} }, false, true},
				{"pages", func(t *driver.Task) { t.Tools.Forbidden = []string{"fetch_calls"} }, true, false},
				{"words", func(t *driver.Task) { t.Tools.Forbidden = []string{"Do not search for gossip."} }, true, true},
				{"no call is left", func(t *driver.Task) { t.Limits.ToolCalls = map[string]int{driver.SearchCalls: 0, driver.FetchCalls: 3} }, false, true},
			} {
				asked := task()
				asked.Tools.Web = true
				tt.change(&asked)
				answer := must.Get(stage.run(t.Context(), asked))(t)
				fetch := tt.fetch
				if client == "codex" {
					fetch = tt.search
				}
				if got := has(answer.Text, "search"); got != tt.search {
					t.Errorf("without %s it can search: %v, want %v: %s", tt.name, got, tt.search, answer.Text)
				}
				if got := has(answer.Text, "fetch"); got != fetch {
					t.Errorf("without %s it can open pages: %v, want %v: %s", tt.name, got, fetch, answer.Text)
				}
			}
			stage.checkNothingLeft(t)
		})
	}
}

// TestClientsLookAtNothingOfThePersons looks at the switches that keep the settings,
// hooks, plugins, skills, rules and servers of the person from each client.
func TestClientsLookAtNothingOfThePersons(t *testing.T) {
	for client, switches := range map[string][]string{
		"claude":   {"--setting-sources  --", "--strict-mcp-config", "--disable-slash-commands"},
		"codex":    {"--ignore-user-config", "--ignore-rules", "features.plugins=false", "features.hooks=false"},
		"opencode": {"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_CLAUDE_CODE=1"},
		"gemini":   {`"hooksConfig":{"enabled":false}`, `"fileName":"TIDEGATE-NONE.md"`, "--extensions none"},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			said := ""
			for _, name := range []string{"switches", "environment"} {
				answer := must.Get(newStage(t, client, scene{name: name}).run(t.Context(), task()))(t)
				said += answer.Text + "\n"
			}
			if client == "opencode" && !regexp.MustCompile(`(?m)^XDG_CONFIG_HOME=.*/tidegate-[0-9]+/config$`).MatchString(said) {
				t.Error("it looks for its configuration where its agent can write")
			}
			for _, each := range switches {
				if !strings.Contains(said, each) {
					t.Errorf("it is started without %q:\n%s", each, said)
				}
			}
		})
	}
}
