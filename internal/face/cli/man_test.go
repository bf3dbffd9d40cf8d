//go:build man

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

func TestManualPagesAreTheSameBytesEachTime(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	var pages [2]string
	for i := range pages {
		dir := t.TempDir()
		program := cli.Program{Tools: []*tool.Tool{weigh()}, Version: "v1.2.3"}
		must.Do(t, program.WriteManual(dir))
		for _, name := range []string{"tidegate.1", "tidegate-boat-weigh.1"} {
			data := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
			pages[i] += string(data)
		}
	}
	if pages[0] != pages[1] {
		t.Error("the pages differ")
	}
	for _, part := range []string{`"Jan 2026"`, "the boat to weigh", "--limit", "the heaviest", "130  interrupted"} {
		if !strings.Contains(pages[0], part) {
			t.Errorf("the pages lack %q:\n%s", part, pages[0])
		}
	}
}
