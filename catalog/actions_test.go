package catalog_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestWhatTheStageMachineNamesExists reads which tools and commands the remedies of package
// stage name, and looks for each of them.
func TestWhatTheStageMachineNamesExists(t *testing.T) {
	t.Parallel()
	source := must.Get(os.ReadFile("../internal/work/stage/remedy.go"))(t)
	names, commands := map[string]bool{"": true}, map[string]bool{"": true, "run continue": true, "run watch": true} // these drive agents, and are no tools
	for _, each := range catalog.Tools(&catalog.Env{}) {
		names[each.Name] = !each.Person
		if each.Command != nil {
			commands[each.Command.Path] = true
			first, _, _ := strings.Cut(each.Command.Path, " ")
			commands[first] = true
		}
	}
	actions := regexp.MustCompile(`\{"(deep_research_\w+|)", "([^"]*)"\}`).FindAllStringSubmatch(string(source), -1)
	if len(actions) < 15 {
		t.Errorf("only %d actions are found", len(actions))
	}
	for _, action := range actions {
		if !names[action[1]] || !commands[action[2]] {
			t.Errorf("there is no tool %q or no command %q", action[1], action[2])
		}
	}
}
