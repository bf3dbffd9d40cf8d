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

func TestReadText(t *testing.T) {
	t.Parallel()
	got := readText("\nUse this\nnow.\n\n## Sail away\n\nSail.\n\nA list:\n  one\n\n    tidegate sail\n    tidegate sail --far\n")
	want := text{"Use this now.", "Sail away", "Sail.\n\nA list:\n  one", "tidegate sail\ntidegate sail --far"}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := readText("\nOnly this.\n"); got != (text{summary: "Only this."}) {
		t.Errorf("got %+v", got)
	}
}
