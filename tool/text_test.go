package tool

import "testing"

func TestTexts(t *testing.T) {
	t.Parallel()
	got := Texts("# sail\n\nUse this\nnow.\n\n## Sail away\n\nSail.\n\nA list:\n  one\n\n    tidegate sail\n    tidegate sail --far\n\n# rest\n\nOnly this.\n", "# row\n\n## Row\n\n    tidegate row\n")
	want := map[string]Text{
		"sail": {"Use this now.", "Sail away", "Sail.\n\nA list:\n  one", "tidegate sail\ntidegate sail --far"},
		"rest": {Summary: "Only this."}, "row": {Short: "Row", Example: "tidegate row"},
	}
	if len(got) != len(want) {
		t.Errorf("got %d chapters, want %d", len(got), len(want))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: got %+v\nwant %+v", name, got[name], text)
		}
	}
}
