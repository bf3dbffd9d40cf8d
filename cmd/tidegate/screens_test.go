package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/full"
)

// screens are the commands that print tables, in the folder of the demo.
var screens = []string{
	"run list", "report harbour --format text", "run status", "run log harbour", "run stages", "run verify harbour", "gate list harbour",
	"job list harbour", "job show harbour wave1.grid", "citations list harbour", "citations rules", "ground harbour",
	"wave review perspectives.json drafts", "wave validate perspectives.json grid drafts/grid.md",
	"change list", "change status charge-planner", "review list charge-planner", "review show charge-planner", "review diff charge-planner",
	"pivot rules", "tools", "explain", "schema", "agents", "run advance harbour", "run status nothing",
}

// checkScreens demands of every screen, at every width or in the short form at two, that only a single word is
// wider than the terminal, and that all words that a pipe gets are there in one
// piece: ids, times, paths and the rest.
func checkScreens(t *testing.T, folder string) {
	show := func(line string, width int) string {
		env := &catalog.Env{
			Now: time.Now, Dir: folder, Project: folder, Home: folder + "/runs", ConfigDir: folder + "/config",
			Getenv: func(string) string { return "" },
		}
		var out bytes.Buffer
		program := assemble(env)
		program.Stdin, program.Stdout, program.Stderr = strings.NewReader(""), &out, &out
		program.Terminal = cli.Terminal{Width: width, ErrWidth: width}
		program.Run(t.Context(), strings.Fields(line))
		return out.String()
	}
	if onTerminal, piped := show("report harbour", 60), show("report harbour", 0); onTerminal != show("report harbour --format text", 60) || !strings.HasPrefix(piped, "# Harbour") {
		t.Errorf("a report is not text on a terminal and Markdown elsewhere:\n%s\n%s", onTerminal, piped)
	}
	for _, line := range []string{"report harbour --format html", "audit --demo --format html"} {
		if shown := show(line, 60); !strings.Contains(shown, "INVALID_ARGS") || strings.Contains(shown, "<html") {
			t.Errorf("%s fills a terminal with a page:\n%s", line, shown)
		}
	}
	widths := []int{60, 80, 100, 140}
	if !full.Asked() {
		widths = []int{60, 100}
	}
	for _, line := range screens {
		piped := longWords(show(line, 0))
		for _, width := range widths {
			shown := show(line, width)
			for row := range strings.Lines(shown) {
				row = strings.TrimSuffix(row, "\n")
				const before = 20 // an indent, a mark, a name
				if n := report.Columns(row); n > width && n > widest(row)+before {
					t.Errorf("%s: %d columns on a terminal of %d: %s", line, n, width, row)
				}
			}
			whole := longWords(shown)
			for _, word := range slices.Sorted(maps.Keys(piped)) {
				if !whole[word] {
					t.Errorf("%s: %q is broken at %d columns:\n%s", line, word, width, shown)
				}
			}
		}
	}
}

// longWords are the words of a text that are too long to be a name or a rule of a table.
func longWords(text string) map[string]bool {
	found := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		if len(word) >= 12 && strings.Trim(word, "-") != "" {
			found[word] = true
		}
	}
	return found
}

func widest(row string) int {
	widest := 0
	for word := range strings.FieldsSeq(row) {
		widest = max(widest, report.Columns(word))
	}
	return widest
}
