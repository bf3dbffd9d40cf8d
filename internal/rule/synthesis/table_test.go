package synthesis

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// randomTable is some lines of text, a header, one delimiter row and some rows.
func randomTable(random *rand.Rand) string {
	var b strings.Builder
	row := func(cells []string, count int) {
		bars := random.IntN(4)
		if bars&1 != 0 {
			b.WriteString("|")
		}
		for i := range count {
			if i > 0 {
				b.WriteString("|")
			}
			b.WriteString(cells[random.IntN(len(cells))])
		}
		if bars&2 != 0 {
			b.WriteString("| ")
		}
		b.WriteString("\n")
	}
	cells := []string{"a", " b ", "x y", "`c`", `d\|e`, "`f\\|g`", "*h*", "[@a]"}
	for range random.IntN(3) {
		b.WriteString("text\n")
	}
	columns := 1 + random.IntN(3)
	row(cells, columns)
	row([]string{"-", "--", ":-", "-: ", " :-:"}, columns)
	for range random.IntN(4) {
		row(cells, 1+random.IntN(5))
	}
	return b.String()
}

// aligned is a cell as it is compared: an empty one has no alignment.
func aligned(align string, text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return align + " " + string(text)
}

// TestTablesAreGitHubs compares with goldmark's extension, which follows the
// specification of GitHub's flavour.
func TestTablesAreGitHubs(t *testing.T) {
	referee := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	random := rand.New(rand.NewPCG(3, 4))
	tables := 0
	for range 5_000 {
		source := []byte(randomTable(random))
		var want, got []string
		_ = ast.Walk(referee.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if cell, ok := n.(*extensionast.TableCell); ok && entering {
				want = append(want, aligned(cell.Alignment.String(), cell.Lines().Value(source)))
			}
			return ast.WalkContinue, nil
		})
		root, _ := parse(source)
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if cell, ok := n.(*tableNode); ok && entering && cell.kind == kindCell {
				got = append(got, aligned(cmp.Or(cell.align, "none"), cell.Lines().Value(source)))
			}
			return ast.WalkContinue, nil
		})
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("%q: cells %q, GitHub's flavour has %q", source, got, want)
		}
		if len(want) > 0 {
			tables++
		}
	}
	if tables < 1000 {
		t.Errorf("only %d drafts had a table", tables)
	}
}

// TestNoTables are lines that GitHub's flavour reads as text.
func TestNoTables(t *testing.T) {
	for _, draft := range []string{"a | b\n--- |\n", "a\n--- | ---\n", "a | b\n", "--- | ---\n", "a | b\n\n--- | ---\n", "a | b\n-x- | ---\n", "a | b\n | \n", "| a |\n| : |\n"} {
		for _, b := range read([]byte(draft)).blocks {
			if b.kind == table {
				t.Errorf("%q is a table", draft)
			}
		}
	}
}
