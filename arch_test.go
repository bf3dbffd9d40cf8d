package tidegate_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

const module = "github.com/tidegate/tidegate"

// floors is the house from the ground up. A room imports the rooms that stand before
// it in this list, on its own floor and on the floors below, and no others. Rooms of
// a floor lie in internal/<floor>/; those that other modules may import lie beside
// internal/ and are written with a slash in front. docs/layout.md shows the same list.
var floors = []struct{ name, rooms string }{
	{"ground", "/."},
	{"text", "markdown style office page draft sentence link quotation figure chart"},
	{"base", "parallel codec artifact archive fetch config seal user report /tool"},
	{"rule", "search claim evidence reading policy scholar source drift foreign /wave /pivot /review synthesis asking"},
	{"document", "paper"},
	{"work", "store run brief step sourcing sentences gates reporting stage audit library git change reviews forge"},
	{"agent", "limit cell driver model sandbox client job engine dispatch replay"},
	{"face", "/catalog /skills cli mcp screen codereview research guard web demo"},
	{"program", "/cmd/tidegate"},
}

// exceptions are the imports that the floors do not allow, each with its reason.
var exceptions = map[string]string{}

// beside are the folders that are no part of the house: programs of their own, and
// what only tests and measurements use.
var beside = []string{"bench", "proof", "temporal", "internal/release", "internal/test"}

// narrow are rooms that may import less than what stands before them, with why.
var narrow = []struct{ room, only, why string }{
	{"internal/face/cli", "ground text base", "a face that offers tools knows no domain: toy tools can test it"},
	{"internal/face/mcp", "ground text base", "a face that offers tools knows no domain: toy tools can test it"},
}

// outside lists the packages from other modules, and from the parts of the
// standard library that reach the world, with the packages that import them.
// A package that only tests may import has no importers here.
var outside = map[string]string{
	"github.com/spf13/pflag":                 "internal/face/cli",
	"github.com/spf13/cobra":                 "internal/face/cli",
	"github.com/modelcontextprotocol/go-sdk": "internal/face/mcp",
	"github.com/go-json-experiment/json":     "internal/base/codec",
	"go.yaml.in/yaml":                        "internal/work/change",
	"code.dny.dev/ssrf":                      "internal/base/fetch",
	"github.com/pelletier/go-toml":           "internal/base/config internal/face/mcp",
	"golang.org/x/sys":                       "internal/base/artifact internal/agent/cell internal/agent/sandbox",
	"golang.org/x/crypto":                    "internal/base/seal",
	"golang.org/x/net":                       "internal/text/page internal/base/fetch",
	"golang.org/x/text":                      "internal/text/page internal/text/quotation internal/text/figure wave internal/base/report internal/base/config internal/rule/synthesis internal/rule/evidence internal/rule/reading",
	"github.com/nlnwa/whatwg-url":            "internal/text/link",
	"golang.org/x/term":                      "cmd/tidegate internal/face/cli",
	"os/exec":                                "internal/work/git internal/agent/sandbox internal/face/cli cmd/tidegate",
	"net":                                    "internal/agent/sandbox internal/base/fetch internal/base/seal internal/face/cli internal/face/research internal/face/guard internal/face/web",
	"net/http":                               "internal/agent/model internal/agent/sandbox internal/base/fetch internal/face/cli internal/face/mcp internal/face/guard internal/face/web",
	"net/rpc":                                "",
	"crypto/tls":                             "internal/base/fetch",
	"plugin":                                 "",
	"os/user":                                "",
	"C":                                      "",
	"math/rand":                              "",
	"math/rand/v2":                           "internal/base/artifact internal/base/fetch",
	"crypto/rand":                            "internal/base/artifact internal/base/user internal/agent/sandbox internal/agent/job internal/work/run internal/agent/dispatch internal/face/research internal/face/guard",
	"github.com/santhosh-tekuri/jsonschema":  "",
	"github.com/google/go-cmp":               "",
	"github.com/rogpeppe/go-internal":        "",
	"github.com/anishathalye/porcupine":      "",
	"github.com/yuin/goldmark":               "",
	"github.com/chromedp":                    "",
	"github.com/secure-systems-lab":          "",
}

// source is one file of the program that is not a test.
type source struct {
	room, file, text string
	imports          []string
}

// guards are the promises that the code as it is written can break. Each says what
// is wrong with a file, and has a breach that it must find.
var guards = []struct {
	name   string
	breach source
	faults func(source) []string
}{
	{"a room imports only what stands before it",
		source{room: "internal/base/codec", imports: []string{module + "/internal/base/artifact"}}, runsUp},
	{"a room on a list imports only what the list has",
		source{room: "internal/face/cli", imports: []string{module + "/internal/work/run"}}, tooWide},
	{"the house knows nothing that stands beside it",
		source{room: "internal/agent/engine", imports: []string{module + "/temporal"}}, knowsBeside},
	{"each outside package has its users",
		source{room: "internal/work/run", imports: []string{"net/http"}}, reachesOut},
	{"every dependency was decided on",
		source{room: "internal/work/run", imports: []string{"example.com/logging"}}, undecided},
	{"only artifact opens files",
		source{room: "internal/work/run", file: "internal/work/run/run.go", text: "data, err := os.ReadFile(name)"}, opensFiles},
	{"texts and rules know no files",
		source{room: "wave", imports: []string{module + "/internal/base/artifact"}}, knowsFiles},
	{"texts and rules are not told of files by the system",
		source{room: "internal/text/page", imports: []string{"os"}}, knowsFiles},
	{"programs are started where it is said",
		source{room: "internal/work/git", file: "internal/work/git/git.go", text: `exec.CommandContext(ctx, "sh", "-c", line)`}, startsPrograms},
	{"no pattern is compiled at the start",
		source{room: "internal/work/run", text: "var id = regexp.MustCompile(`a`)"}, compilesAtStart},
	{"stage alone moves a run",
		source{room: "internal/work/step", text: "u.MoveTo(next)"}, movesRuns},
	{"a context carries cancellation and the actor",
		source{room: "internal/work/run", text: "ctx = context.WithValue(ctx, signKey{}, sign)"}, hidesInContext},
	{"runs and changes are reached from a desk",
		source{room: "internal/work/step", text: `artifact.Everywhere.ReadFile("path", path)`}, reachesEverywhere},
}

// TestGuards holds every file of the program to every guard, and every guard to its
// own breach.
func TestGuards(t *testing.T) {
	files := house(t)
	for _, guard := range guards {
		t.Run(guard.name, func(t *testing.T) {
			if len(guard.faults(guard.breach)) == 0 {
				t.Error("it does not find its own breach")
			}
			for _, file := range files {
				for _, fault := range guard.faults(file) {
					t.Errorf("%s: %s", file.file, fault)
				}
			}
		})
	}
}

// mostLines is how many lines a room may have without empty lines and comments. One that
// grows beyond it is more than one thought.
const mostLines = 5_500

func TestNoRoomIsTooLarge(t *testing.T) {
	if got := tooLarge([]source{{room: "internal/work/run", text: strings.Repeat("x()\n", mostLines+1)}}); len(got) != 1 {
		t.Error("it does not find its own breach")
	}
	for _, fault := range tooLarge(house(t)) {
		t.Error(fault)
	}
}

func tooLarge(files []source) (faults []string) {
	lines := map[string]int{}
	for _, file := range files {
		for line := range strings.Lines(file.text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[file.room]++
			}
		}
	}
	for room, n := range lines {
		if n > mostLines {
			faults = append(faults, fmt.Sprintf("%s has %d lines; a room has at most %d", room, n, mostLines))
		}
	}
	return faults
}

// rooms lists every room of the house in the order of floors.
func rooms() []string {
	var all []string
	for _, floor := range floors {
		for room := range strings.FieldsSeq(floor.rooms) {
			all = append(all, placed(floor.name, room))
		}
	}
	return all
}

// placed is the folder of a room.
func placed(floor, room string) string {
	if public, ok := strings.CutPrefix(room, "/"); ok {
		return public
	}
	return "internal/" + floor + "/" + room
}

// ours is the folder of an imported package of this module.
func ours(name string) (room string, ok bool) {
	if name == module {
		return ".", true
	}
	return strings.CutPrefix(name, module+"/")
}

func runsUp(s source) (faults []string) {
	all := rooms()
	at := slices.Index(all, s.room)
	if at < 0 {
		return []string{"nobody gave " + s.room + " a place; add it to floors"}
	}
	for _, name := range s.imports {
		room, ok := ours(name)
		if _, excepted := exceptions[s.room+" -> "+room]; !ok || excepted || isBeside(room) {
			continue
		}
		if to := slices.Index(all, room); to < 0 || to >= at {
			faults = append(faults, s.room+" may not import "+room)
		}
	}
	return faults
}

func tooWide(s source) (faults []string) {
	for _, n := range narrow {
		if n.room != s.room {
			continue
		}
		for _, name := range s.imports {
			if room, ok := ours(name); ok && !slices.ContainsFunc(strings.Fields(n.only), func(allowed string) bool { return room == allowed || onFloor(room, allowed) }) {
				faults = append(faults, s.room+" may not import "+room+": "+n.why)
			}
		}
	}
	return faults
}

// onFloor reports whether a room stands on a floor.
func onFloor(room, name string) bool {
	for _, floor := range floors {
		for each := range strings.FieldsSeq(floor.rooms) {
			if floor.name == name && placed(name, each) == room {
				return true
			}
		}
	}
	return false
}

func knowsBeside(s source) (faults []string) {
	for _, name := range s.imports {
		room, ok := ours(name)
		if _, excepted := exceptions[s.room+" -> "+room]; ok && isBeside(room) && !excepted {
			faults = append(faults, s.room+" may not import "+room)
		}
	}
	return faults
}

func isBeside(room string) bool {
	return slices.ContainsFunc(beside, func(each string) bool { return room == each || strings.HasPrefix(room, each+"/") })
}

// decided is the entry of outside that an import falls under.
func decided(name string) (prefix string, ok bool) {
	for prefix := range outside {
		if name == prefix || strings.Contains(prefix, ".") && strings.HasPrefix(name, prefix+"/") {
			return prefix, true
		}
	}
	return "", false
}

func reachesOut(s source) (faults []string) {
	for _, name := range s.imports {
		if prefix, ok := decided(name); ok && !slices.Contains(strings.Fields(outside[prefix]), s.room) {
			faults = append(faults, s.room+" may not import "+name)
		}
	}
	return faults
}

func undecided(s source) (faults []string) {
	for _, name := range s.imports {
		_, known := decided(name)
		_, own := ours(name)
		if domain, _, _ := strings.Cut(name, "/"); strings.Contains(domain, ".") && !known && !own {
			faults = append(faults, "nobody decided on the dependency "+name+"; add it to outside and to docs/decisions.md")
		}
	}
	return faults
}

var opening = regexp.MustCompile(`\bos\.(Open|OpenFile|OpenRoot|ReadFile|ReadDir|WriteFile|Create|CreateTemp|Mkdir|MkdirAll|MkdirTemp|Stat|Lstat|Readlink|Remove|RemoveAll|Rename|Symlink|Link|Truncate|Chmod|DirFS|CopyFS)\(|filepath\.(Walk|WalkDir|Glob)\(|ioutil\.`)

// opensFiles keeps access by path in one place: package artifact decides what a caller
// may touch, and a package that opened files itself would go around it. A face opens
// what its person names. An attempt's folder lies among the temporary files, outside
// every run.
func opensFiles(s source) []string {
	if s.room == "internal/base/artifact" || strings.HasPrefix(s.room, "internal/face/") || s.room == "cmd/tidegate" || s.file == "internal/agent/sandbox/folder.go" {
		return nil
	}
	if found := opening.FindString(s.text); found != "" {
		return []string{"it calls " + found + "…), which is for package artifact"}
	}
	return nil
}

// fileless are the rooms of the base that open nothing.
const fileless = "internal/base/codec internal/base/parallel internal/base/report"

// knowsFiles keeps rules pure: they judge values and readers, and what they judge is
// opened in package step.
func knowsFiles(s source) (faults []string) {
	if !onFloor(s.room, "text") && !onFloor(s.room, "rule") && !onFloor(s.room, "document") {
		return nil
	}
	for _, name := range s.imports {
		room, ok := ours(name)
		if name == "os" || ok && onFloor(room, "base") && !slices.Contains(strings.Fields(fileless), room) {
			faults = append(faults, s.room+" may not import "+name+": it opens no files")
		}
	}
	return faults
}

var starting = regexp.MustCompile(`\b(exec\.Cmd\{|exec\.Command(Context)?\((ctx, )?(.*?)[,)]|os\.StartProcess|syscall\.(Exec|ForkExec|StartProcess))`)

// startsPrograms knows each program that something other than sandbox, and the cells that
// it puts programs into, starts.
func startsPrograms(s source) (faults []string) {
	known := map[string]string{
		"internal/work/git/git.go":              `exec.CommandContext(ctx, "git",`,
		"internal/face/cli/programs_unix.go":    `exec.CommandContext(ctx, "sh",`,
		"cmd/tidegate/pdf.go":                   `exec.CommandContext(ctx, browser,`,
		"internal/face/cli/programs_windows.go": `exec.CommandContext(ctx, "cmd",`,
	}
	if s.room == "internal/agent/sandbox" || s.room == "internal/agent/cell" {
		return nil
	}
	for _, found := range starting.FindAllString(s.text, -1) {
		if found != known[s.file] {
			faults = append(faults, "it starts a program: "+found)
		}
	}
	return faults
}

var compiling = regexp.MustCompile(`(?m)^(var [^(\n]*|\t\w+ += )regexp\.MustCompile\(`)

// compilesAtStart keeps regular expressions from being compiled by every call of the
// program.
func compilesAtStart(s source) []string {
	if found := compiling.FindString(s.text); found != "" {
		return []string{found + "…) is compiled at every start; use sync.OnceValue"}
	}
	return nil
}

var moving = regexp.MustCompile(`\.MoveTo\(`)

// movesRuns: run offers the move, and stage alone makes it. A replay moves the copy
// that it compares with the record and throws away.
func movesRuns(s source) []string {
	if s.room != "internal/work/stage" && s.room != "internal/agent/replay" && moving.MatchString(s.text) {
		return []string{"it moves a run, which is for package stage"}
	}
	return nil
}

// hidesInContext keeps what a function needs among its parameters, where a reader sees
// it. The root package adds the actor to a context, and mcp what its SDK needs.
func hidesInContext(s source) []string {
	if s.room != "." && s.room != "internal/face/mcp" && strings.Contains(s.text, "context.WithValue(") {
		return []string{"it puts a value into a context; pass it"}
	}
	return nil
}

// reachesEverywhere keeps callers where they are confined: only a desk says how far
// work on runs and changes reaches.
func reachesEverywhere(s source) []string {
	everywhere := slices.ContainsFunc([]string{"artifact.Everywhere", "artifact.Reach{", "run.Desk{"}, func(each string) bool { return strings.Contains(s.text, each) })
	if onFloor(s.room, "work") && everywhere {
		return []string{"it reaches further than its desk"}
	}
	return nil
}

// TestNothingIsListedForNobody keeps the lists above short: every room, exception and
// user of an outside package that they name is there.
func TestNothingIsListedForNobody(t *testing.T) {
	used, seen := map[string]bool{}, map[string]bool{}
	for _, s := range house(t) {
		seen[s.room] = true
		for _, name := range s.imports {
			if room, ok := ours(name); ok {
				used[s.room+" -> "+room] = true
			}
			if prefix, ok := decided(name); ok {
				used[s.room+" -> "+prefix] = true
			}
		}
	}
	for _, room := range rooms() {
		if !seen[room] {
			t.Errorf("floors of arch_test.go has %s, which has no files: take it out, there and in docs/layout.md", room)
		}
	}
	for exception := range exceptions {
		if !used[exception] {
			t.Errorf("no file needs the exception %s: take it out of exceptions in arch_test.go", exception)
		}
	}
	for name, importers := range outside {
		for room := range strings.FieldsSeq(importers) {
			if !used[room+" -> "+name] {
				t.Errorf("no file of %s imports %s: take it out of outside in arch_test.go", room, name)
			}
		}
	}
}

// house is every file of the program that is not a test.
func house(t *testing.T) []source {
	t.Helper()
	files := must.Get(readHouse())(t)
	if len(files) < 200 {
		t.Fatalf("only %d files were read", len(files))
	}
	return files
}

var readHouse = sync.OnceValues(func() (files []source, err error) {
	err = filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(file)
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && file != "." || entry.Name() == "testdata" || isBeside(slashed)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{room: path.Dir(slashed), file: slashed, text: string(text)}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		files = append(files, s)
		return nil
	})
	return files, err
})

// TestMainModuleDoesNotKnowTemporal keeps the pool on many machines out of the
// program: its dependencies, its size and its start stay those of one machine.
func TestMainModuleDoesNotKnowTemporal(t *testing.T) {
	for _, file := range []string{"go.mod", "go.sum"} {
		text := must.Get(os.ReadFile(file))(t)
		if strings.Contains(string(text), "temporal") {
			t.Errorf("%s names temporal", file)
		}
	}
	if text, err := os.ReadFile(filepath.Join("temporal", "go.mod")); err != nil || !strings.Contains(string(text), "go.temporal.io/sdk") {
		t.Errorf("temporal/ is not the module that has it: %v", err)
	}
	for name := range builtFrom(t, "cmd/tidegate") {
		if strings.HasPrefix(name, "go.temporal.io/") || strings.HasPrefix(name, module+"/temporal") {
			t.Errorf("tidegate is built from %s", name)
		}
	}
}

// TestWhatReachesTheWorld looks at everything that the tools
// are built from, other people's packages included.
func TestWhatReachesTheWorld(t *testing.T) {
	imports := builtFrom(t, "catalog")
	if !slices.Contains(imports[module+"/internal/work/git"], "os/exec") || !slices.Contains(imports[module+"/internal/base/fetch"], "net/http") {
		t.Fatalf("the list is not that of the tools: %v", imports)
	}
	for _, name := range []string{"net/rpc", "plugin", "os/user", "C"} {
		if _, there := imports[name]; there {
			t.Errorf("the tools are built from %s", name)
		}
	}
}

// TestJudgingOpensNoConnection is why fetching and judging are separate: what
// reads the archive and what judges sources are built from nothing that could
// open a connection.
func TestJudgingOpensNoConnection(t *testing.T) {
	reach := []string{"net/http", "net/rpc", "crypto/tls", "plugin", "os/user", "C", module + "/internal/base/fetch", module + "/internal/agent/model", module + "/internal/agent/sandbox"}
	if fetch := builtFrom(t, "internal/base/fetch"); fetch["net/http"] == nil {
		t.Fatal("the list does not show what opens connections")
	}
	for _, room := range rooms() {
		pure := onFloor(room, "text") || onFloor(room, "rule") || onFloor(room, "document")
		if !pure && !slices.Contains([]string{"internal/base/archive", "internal/work/step", "internal/work/sourcing", "internal/work/stage", "internal/agent/job"}, room) {
			continue
		}
		for name := range builtFrom(t, room) {
			if slices.Contains(reach, name) || pure && name == module+"/internal/base/artifact" {
				t.Errorf("%s is built from %s", room, name)
			}
		}
	}
}

// builtFrom is every package that a package of the program is built from, with what
// each imports.
func builtFrom(t *testing.T, room string) map[string][]string {
	t.Helper()
	all, err := program()
	if err != nil {
		t.Skipf("the packages cannot be listed here: %v", err)
	}
	imports := map[string][]string{}
	var add func(name string)
	add = func(name string) {
		if _, known := all[name]; !known {
			name = "vendor/" + name // the standard library's copy
		}
		imported, known := all[name]
		if _, added := imports[name]; added || !known {
			return
		}
		imports[name] = imported
		for _, each := range imported {
			add(each)
		}
	}
	add(module + "/" + room)
	return imports
}

// program is every package that tidegate is built from, with what each imports.
var program = sync.OnceValues(func() (map[string][]string, error) {
	list := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/cmd/tidegate")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 0 {
			imports[words[0]] = words[1:]
		}
	}
	return imports, nil
})

// TestLayoutDocumentShowsTheFloors keeps docs/layout.md true: its list has every
// package, the highest first.
func TestLayoutDocumentShowsTheFloors(t *testing.T) {
	text := must.Get(os.ReadFile("docs/layout.md"))(t)
	var shown []string
	for _, line := range regexp.MustCompile(`(?m)^[├└]── (\S+?)/? `).FindAllStringSubmatch(string(text), -1) {
		if room := line[1]; !isBeside(room) {
			shown = append(shown, room)
		}
	}
	want := rooms()
	want[0] = "tidegate"
	slices.Reverse(want)
	if !slices.Equal(shown, want) {
		t.Errorf("docs/layout.md does not show the packages of floors in arch_test.go, the highest first: give each a line there. It shows\n%s\nwant\n%s", strings.Join(shown, "\n"), strings.Join(want, "\n"))
	}
}

// TestPublicPackagesAreListed keeps docs/go.md whole: it says of every package that
// other modules can import what it is for.
func TestPublicPackagesAreListed(t *testing.T) {
	text := must.Get(os.ReadFile("docs/go.md"))(t)
	var table strings.Builder
	for line := range strings.Lines(string(text)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			names, _, _ := strings.Cut(row, " | ")
			table.WriteString("`" + names)
		}
	}
	for _, room := range rooms() {
		public := !strings.HasPrefix(room, "internal/") && room != "cmd/tidegate"
		if room == "." {
			room = "tidegate"
		}
		if listed := strings.Contains(table.String(), "`"+room+"`"); listed != public {
			t.Errorf("%s: listed in the table of docs/go.md is %v, and public %v: the table has a row for each package that others can import", room, listed, public)
		}
	}
}
