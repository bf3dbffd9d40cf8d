package proof_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// TestRepeatingACallDoesWhatItsDeclarationSays makes each writing call twice. A
// tool that is declared idempotent leaves the same files the second time, apart
// from the log lines about the call.
func TestRepeatingACallDoesWhatItsDeclarationSays(t *testing.T) {
	t.Parallel()
	idempotent := map[string]bool{}
	for _, each := range catalog.Tools(&catalog.Env{}) {
		idempotent[each.Name] = each.Idempotent
		if each.Command != nil {
			idempotent[each.Command.Path] = each.Idempotent
		}
	}
	tried := 0
	for _, w := range writers() {
		name := w.tool
		if words := strings.Fields(name); len(words) > 1 {
			name = strings.Join(words[:2], " ")
		}
		if !idempotent[name] {
			continue
		}
		tried++
		t.Run(w.name, func(t *testing.T) {
			work := scratch.Short(t)
			w.state(t, work)
			w.call(t, work)
			once := snapshot(t, work)
			w.call(t, work)
			twice := snapshot(t, work)
			for _, name := range slices.Sorted(maps.Keys(twice)) {
				if !isLog(name) && !bytes.Equal(once[name], twice[name]) {
					t.Errorf("the second call changed %s:\n%s", name, twice[name])
				}
			}
			if len(once) != len(twice) {
				t.Errorf("%d files after the first call, %d after the second", len(once), len(twice))
			}
		})
	}
	if tried == 0 {
		t.Error("no writing tool is declared idempotent")
	}
}
