package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	gotypes "go/types"
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
		group string // the type of the constants, or a word of a list without a type
		least int
	}{
		{"internal/rule/evidence", "Form", 6},
		{"internal/rule/evidence", "by rule", 7},
		{"internal/rule/evidence", "partly", 4},
		{"internal/rule/foreign", "evidence.Form", 2},
		{"internal/rule/foreign", "Outcome", 3},
		{"internal/rule/claim", "Standing", 4},
		{"internal/rule/drift", "State", 6},
		{"internal/rule/source", "Status", 5},
		{"internal/document/paper", "State", 7},
	} {
		words := constants(t, list.room, list.group)
		if len(words) < list.least {
			t.Errorf("only %d words of the list %q are found in %s: %q", len(words), list.group, list.room, words)
		}
		for _, word := range words {
			if _, ok := explainWord(word); !ok && word != "pass" && word != "fail" {
				t.Errorf("%s has the word %q, which `tidegate explain` does not know: add a chapter to cmd/tidegate/words.md", list.room, word)
			}
		}
	}
}

// constants are the texts of the constants of a type in a room, or of those that are declared
// together with one of that text.
func constants(t *testing.T, room, group string) (words []string) {
	t.Helper()
	for _, file := range must.Get(filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(room), "*.go")))(t) {
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		for _, d := range parsed.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			var untyped []string
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				for _, value := range spec.Values {
					literal, ok := value.(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING {
						continue
					}
					word := must.Get(strconv.Unquote(literal.Value))(t)
					switch {
					case spec.Type == nil:
						untyped = append(untyped, word)
					case gotypes.ExprString(spec.Type) == group:
						words = append(words, word)
					}
				}
			}
			if slices.Contains(untyped, group) {
				words = append(words, untyped...)
			}
		}
	}
	return words
}
