package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/docs"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/pivot"
)

func allRules(t *testing.T) []demo.Rule {
	t.Helper()
	rules := must.Get(demo.Rules())(t)
	return rules
}

// TestEveryRuleIsExplained compares the explanations with what the code can name.
func TestEveryRuleIsExplained(t *testing.T) {
	explained := map[string]bool{}
	for _, r := range allRules(t) {
		explained[r.ID] = true
	}
	var named []string
	for _, x := range tidegate.Explanations {
		named = append(named, string(x.Code))
	}
	for _, r := range pivot.Rules {
		named = append(named, r.ID)
	}
	named = append(named, literals(t, "wave/lint.go", `^[A-Z]+(_[A-Z]+)+$`, 5)...)
	named = append(named, literals(t, "internal/work/step/gatea.go", `^[A-Z]+[0-9]?(_[A-Z]+)+$`, 9)...)
	for _, what := range literals(t, "internal/work/step/gatea.go", `^(_[A-Z]+)+$`, 4) { // of a document
		named = append(named, "SCOPE"+what, "PERSPECTIVES"+what)
	}
	named = append(named, literals(t, "internal/work/gates/gateb.go", `^[A-Z]+[0-9]?(_[A-Z]+)+$`, 10)...)
	named = append(named, literals(t, "internal/work/sourcing/gatec.go", `^[A-Z]+(_[A-Z]+)+$`, 2)...)
	named = append(named, source.NoURLsExtracted)
	named = append(named, literals(t, "internal/rule/synthesis/gate.go", `^[A-Z]+(_[A-Z]+)+$`, 17)...)
	named = append(named, literals(t, "internal/work/gates/gatee.go", `^[A-Z]+(_[A-Z]+)+$`, 1)...)
	named = append(named, literals(t, "internal/work/run/verify.go", `^[a-z]+(-[a-z]+)+$`, 12)...)
	named = append(named, literals(t, "internal/work/run/record.go", `^[a-z]+(-[a-z]+)+$`, 6)...)
	named = append(named, literals(t, "internal/work/run/decision.go", `^[a-z]+(-[a-z]+)+$`, 1)...)
	named = append(named, literals(t, "review/report.go", `^(review-file|verdict-[a-z]+)$`, 2)...)
	named = append(named, literals(t, "internal/work/change/report.go", `^needs-person$`, 1)...)
	known := maps.Clone(explained)
	for _, each := range unlisted(t, known) {
		t.Errorf("%s names %s, which is no code of code.go and no rule that a list of this test names: add its file there, and an example in internal/face/demo/rules/gate/ as docs/layout.md says; or add it to noRules", each[0], each[1])
	}
	if planted := unlisted(t, map[string]bool{}); len(planted) < 60 {
		t.Errorf("only %d names of rules are found in the rooms that judge", len(planted))
	}
	slices.Sort(named)
	for _, id := range slices.Compact(named) {
		if !explained[id] {
			t.Errorf("internal/face/demo/rules explains no %s: add %[1]s.txtar to the folder of its kind there, with what breaks it and what passes, as archive.go beside it says; then go test ./cmd/tidegate -run Planted -update", id)
		}
		delete(explained, id)
	}
	for id := range explained {
		t.Errorf("internal/face/demo/rules explains %s, which nothing names", id)
	}
}

// noRules are names in the rooms that judge which are no rules.
var noRules = map[string]string{
	"NEEDS_FIX": "a verdict", "MAJOR_ISSUES": "a verdict", "NEEDS_CHANGES": "a verdict", "CHANGES_REQUIRED": "a verdict", "NOT_APPROVED": "a verdict",
	"NOT_BULLET": "a kind of MALFORMED_SOURCES", "MISSING_URL": "a kind of MALFORMED_SOURCES",
	"OUTSIDE_DIFF": "what a reviewer is told of an issue", "READER_UNFIT": "why an agent gets no more parts",
}

// unlisted are the names in the rooms that judge, each with its file, that are not known and
// no exceptions.
func unlisted(t *testing.T, known map[string]bool) (names [][2]string) {
	t.Helper()
	name := regexp.MustCompile(`"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"`)
	for _, room := range strings.Fields("wave pivot review internal/work/gates internal/work/step internal/work/sourcing internal/work/run internal/work/stage internal/work/change internal/work/sentences internal/rule/synthesis internal/rule/evidence internal/rule/claim internal/rule/source internal/rule/reading internal/agent/job") {
		for _, file := range must.Get(filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(room), "*.go")))(t) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range name.FindAllStringSubmatch(must.Read(t, file), -1) {
				if id := m[1]; !known[id] && noRules[id] == "" && !strings.HasPrefix(id, "PAI_DR_") {
					names = append(names, [2]string{filepath.ToSlash(file), id})
				}
			}
		}
	}
	return names
}

// literals are the string literals of a file that match, at least that many.
func literals(t *testing.T, file, pattern string, least int) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(file)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	match := regexp.MustCompile(pattern)
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && match.MatchString(text) {
				found = append(found, text)
			}
		}
		return true
	})
	if len(found) < least {
		t.Fatalf("only %d rules were found in %s", len(found), file)
	}
	return found
}

func TestEveryExplanationIsWhole(t *testing.T) {
	for _, r := range allRules(t) {
		t.Run(r.ID, func(t *testing.T) {
			for what, text := range map[string]string{"meaning": r.Meaning, "why": r.Why, "fix": r.Fix} {
				if !strings.HasSuffix(text, ".") {
					t.Errorf("%s is no sentence: %q", what, text)
				}
			}
			examples := 0
			for _, block := range demo.Explain(r, func(tidegate.Class) int { return 1 }, personsCommand(catalog.Tools(&catalog.Env{}))).Blocks {
				if pre, ok := block.(report.Preformatted); ok {
					if strings.TrimSpace(string(pre)) == "" {
						t.Error("an example is empty")
					}
					if strings.Contains(string(pre), "$DIR") {
						t.Errorf("a placeholder shows: %s", pre)
					}
					examples++
				}
			}
			if examples < 2 {
				t.Errorf("%d examples", examples)
			}
		})
	}
}

// TestWordsDocument compares the table of docs/words.md with the words that explain
// knows.
func TestWordsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("| word | meaning | to see it |\n|---|---|---|\n")
	for _, name := range slices.SortedFunc(maps.Keys(words()), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", name, words()[name].Short, words()[name].Example)
	}
	file := filepath.Join("..", "..", "docs", "words.md")
	text := must.Get(os.ReadFile(file))(t)
	filled := must.Get(docs.Fill(string(text), "words", b.String()))(t)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(filled), 0o644))
	} else if diff := difference(string(text), filled); diff != "" {
		t.Errorf("%s differs; run: go test ./cmd/tidegate -run WordsDocument -update (-document +program):\n%s", file, diff)
	}
}
