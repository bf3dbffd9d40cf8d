package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestEveryStateIsExplained: each word by which an output says how a sentence or a source
// stands is one that explain knows. The words are those of the lists in the code.
func TestEveryStateIsExplained(t *testing.T) {
	for _, list := range []struct {
		room  string
		types []string // of the constants; "" for those without one, of stated files
		file  string
		least int
	}{
		{"internal/rule/evidence", []string{"Form"}, "sentence.go", 6},
		{"internal/rule/evidence", []string{""}, "stand.go", 7},
		{"internal/rule/evidence", []string{""}, "document.go", 4},
		{"internal/rule/foreign", []string{"evidence.Form", "Outcome"}, "*.go", 5},
		{"internal/rule/claim", []string{"Standing"}, "*.go", 4},
		{"internal/rule/drift", []string{"State"}, "*.go", 6},
		{"internal/rule/source", []string{"Status"}, "*.go", 5},
		{"internal/document/paper", []string{"State"}, "*.go", 7},
	} {
		words := constants(t, list.room, list.file, list.types)
		if len(words) < list.least {
			t.Errorf("only %d words are found in %s/%s: %q", len(words), list.room, list.file, words)
		}
		for _, word := range words {
			if _, ok := explainWord(word); !ok && word != "pass" && word != "fail" {
				t.Errorf("%s/%s has the word %q, which `tidegate explain` does not know: add a chapter to cmd/tidegate/words.md", list.room, list.file, word)
			}
		}
	}
}

// constants are the texts of the constants of some types in the files of a room.
func constants(t *testing.T, room, pattern string, types []string) (words []string) {
	t.Helper()
	for _, file := range must.Get(filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(room), pattern)))(t) {
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		for _, d := range parsed.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST || !decl.Lparen.IsValid() {
				continue
			}
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				name := ""
				switch of := spec.Type.(type) {
				case *ast.Ident:
					name = of.Name
				case *ast.SelectorExpr:
					name = of.X.(*ast.Ident).Name + "." + of.Sel.Name
				}
				for _, value := range spec.Values {
					if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING && slices.Contains(types, name) {
						words = append(words, must.Get(strconv.Unquote(literal.Value))(t))
					}
				}
			}
		}
	}
	return words
}
