package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/must"
)

var (
	namedTool    = regexp.MustCompile(`\b(?:deep_research|format_review|review|change)_[a-z0-9_]+\b`)
	declared     = regexp.MustCompile(`(?m)^# .*$`) // the tool that a text is about
	namedCommand = regexp.MustCompile("`(tidegate [a-z][^`]*)`")
)

// TestEveryNameInTheTextsExists reads what the program can say: texts in its source,
// in the files beside it, and the explanations. Every tool that they name can be
// called, and every command can be typed, with its flags.
func TestEveryNameInTheTextsExists(t *testing.T) {
	t.Parallel()
	callable := map[string]bool{}
	tools := catalog.Tools(&catalog.Env{})
	for _, offered := range tools {
		callable[offered.Name] = !offered.Person
	}
	commandsSeen, toolsSeen := 0, 0
	check := func(t *testing.T, where, text string) {
		t.Helper()
		for _, name := range namedTool.FindAllString(text, -1) {
			if ok, known := callable[name]; known || strings.HasPrefix(name, "deep_research_") {
				toolsSeen++
				if !ok && name != "deep_research_cli" { // a key of the manifest
					t.Errorf("%s: names the tool %s, which nobody can call", where, name)
				}
			}
		}
		for _, m := range namedCommand.FindAllStringSubmatch(text, -1) {
			commandsSeen++
			problem := refuses(withoutVerbs(m[1]))
			if problem != "" && problem != "there is no command x" && !strings.Contains(problem, "needs an argument") {
				t.Errorf("%s: %s: %s", where, m[1], problem)
			}
		}
	}
	for where, text := range textsOfTheSource(t) {
		check(t, where, text)
	}
	for name, said := range words() {
		check(t, "explain "+name, "`"+said.Example+"`")
	}
	for _, r := range allRules(t) {
		var shown bytes.Buffer
		format, _ := report.Lookup("markdown")
		must.Do(t, format.Write(&shown, demo.Explain(r, func(tidegate.Class) int { return 1 }, personsCommand(tools)), report.Options{}))
		check(t, "explain "+r.ID, shown.String())
	}
	if toolsSeen < 100 || commandsSeen < 50 {
		t.Errorf("only %d tools and %d commands were found", toolsSeen, commandsSeen)
	}
}

// withoutVerbs puts a word in the place of what is filled in later.
func withoutVerbs(line string) string {
	return regexp.MustCompile(`%[a-z]|%\[[0-9]\][a-z]`).ReplaceAllString(line, "x")
}

// textsOfTheSource are the sentences in the source of the program and in the files
// that it embeds, by where they stand. A word by itself is a name, not a text.
func textsOfTheSource(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := filepath.Join("..", "..")
	must.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case e.IsDir() && (e.Name() == "testdata" || e.Name() == "proof" || e.Name() == "bench" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return filepath.SkipDir
		case strings.HasPrefix(filepath.ToSlash(name), "catalog/") && strings.HasSuffix(name, ".md"), e.Name() == "commands.md", strings.HasPrefix(filepath.ToSlash(name), "internal/agent/job/prompts/"):
			data, err := os.ReadFile(path)
			texts[name] = declared.ReplaceAllString(string(data), "")
			return err
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(text, " ") {
				texts[name+":"+strconv.Itoa(files.Position(lit.Pos()).Line)+":"+strconv.Itoa(files.Position(lit.Pos()).Column)] = text
			}
			return true
		})
		return nil
	}))
	return texts
}
