package catalog

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/tool"
)

func TestEveryTextBelongsToATool(t *testing.T) {
	t.Parallel()
	tools := Tools(&Env{})
	for name := range texts() {
		if !slices.ContainsFunc(tools, func(each *tool.Tool) bool { return each.Name == name }) {
			t.Errorf("the text of %s belongs to no tool", name)
		}
	}
}
