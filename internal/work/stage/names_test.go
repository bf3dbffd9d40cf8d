package stage_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// TestWhatTheStageMachineNamesExists checks that the remedies of package stage name
// tools and commands that exist.
func TestWhatTheStageMachineNamesExists(t *testing.T) {
	t.Parallel()
	names, commands := map[string]bool{"": true}, map[string]bool{"": true}
	for _, each := range catalog.Tools(&catalog.Env{}) {
		names[each.Name] = !each.Person
		if each.Command != nil {
			commands[each.Command.Path] = true
			first, _, _ := strings.Cut(each.Command.Path, " ")
			commands[first] = true
		}
	}
	for _, action := range stage.Actions() {
		if !names[action.Tool] || !commands[action.Command] {
			t.Errorf("there is no tool %q or no command %q", action.Tool, action.Command)
		}
	}
}
