package tidegate_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
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
)

var update = flag.Bool("update", false, "rewrite the list of arrows in docs/layout.md")

const module = "github.com/tidegate/tidegate"

// arrows lists, for every package, the packages of this module that it imports.
// A package that is missing here fails the test, and so does an arrow that no
// file uses. docs/layout.md shows the same table: go test . -update.
var arrows = map[string]string{
	".":                  "",
	"codec":              ".",
	"artifact":           ". codec",
	"archive":            ". codec artifact internal/secret",
	"fetch":              ". archive internal/secret",
	"config":             ". codec artifact internal/pattern internal/spelling",
	"markdown":           "",
	"report":             ". codec markdown internal/pattern",
	"perspective":        ". codec artifact report internal/spelling",
	"gate":               ". codec artifact internal/parallel",
	"run":                ". codec artifact perspective gate seal report internal/parallel",
	"wave":               ". codec artifact markdown citation perspective report internal/parallel internal/secret",
	"pivot":              ". codec artifact markdown perspective run wave report internal/parallel internal/pattern",
	"citation":           ". codec markdown internal/parallel internal/pattern internal/pdf internal/secret",
	"summary":            ". codec artifact markdown citation perspective run report internal/parallel",
	"synthesis":          ". codec markdown citation report internal/pattern",
	"step":               ". codec artifact archive markdown citation perspective gate run wave pivot synthesis report internal/parallel internal/pattern internal/secret",
	"telemetry":          ". codec run",
	"stage":              ". codec gate run pivot synthesis step report",
	"review":             ". codec markdown report internal/pattern internal/spelling",
	"diff":               "markdown internal/pattern",
	"change":             ". codec artifact diff review seal report internal/parallel internal/pattern",
	"seal":               ". codec artifact",
	"driver":             ". codec artifact markdown internal/pattern",
	"job":                ". codec artifact markdown citation perspective review run step synthesis wave report internal/parallel internal/pattern",
	"replay":             ". codec artifact archive gate job pivot report run seal stage step summary synthesis telemetry wave",
	"engine":             ". codec artifact change diff driver gate job pivot report review run stage step summary wave",
	"tool":               ". codec artifact report internal/spelling",
	"catalog":            ". codec artifact archive fetch config engine job perspective gate replay run wave pivot summary step telemetry stage seal report review change tool",
	"internal/full":      "",
	"internal/hangup":    "",
	"internal/parallel":  "",
	"internal/scratch":   "",
	"internal/spelling":  "",
	"internal/pattern":   "",
	"internal/pdf":       "",
	"internal/cli":       ". codec report tool internal/spelling",
	"internal/mcpserver": ". codec tool internal/hangup internal/spelling",
	"internal/web":       ". artifact change citation codec diff gate job pivot report review run stage step synthesis tool internal/hangup internal/parallel",
	"internal/screen":    "report",
	"internal/research":  ". codec artifact archive change citation config driver engine gate job report review run stage step tool catalog internal/cli internal/pattern internal/screen",
	"internal/host":      ". catalog internal/cli",
	"internal/clients":   "",
	"internal/demo":      ". codec archive report tool internal/planted internal/spelling",
	"internal/corpus":    "",
	"internal/planted":   "",
	"internal/secret":    "",
	"internal/docs":      ". codec config tool",
	"internal/release":   "codec seal",
	"internal/words":     "report",
	"internal/fakemodel": "",
	"cmd/tidegate":       "*",
	"bench":              "*",

	// A module of its own, which the main module does not know.
	"temporal":                     ". artifact driver engine markdown",
	"temporal/server":              ". artifact",
	"temporal/cmd/tidegate-worker": "*",
}

// outside lists the packages from other modules, and from the parts of the
// standard library that reach the world, with the packages that import them.
// A package that only tests may import has no importers here.
var outside = map[string]string{
	"github.com/spf13/pflag":                 "internal/cli",
	"github.com/spf13/cobra":                 "internal/cli",
	"github.com/modelcontextprotocol/go-sdk": "internal/mcpserver bench",
	"github.com/google/jsonschema-go":        "tool",
	"github.com/go-json-experiment/json":     "codec",
	"go.yaml.in/yaml":                        "change",
	"code.dny.dev/ssrf":                      "fetch",
	"github.com/pelletier/go-toml":           "config",
	"golang.org/x/sys":                       "artifact driver",
	"golang.org/x/crypto":                    "seal",
	"golang.org/x/net":                       "citation fetch",
	"golang.org/x/text":                      "citation perspective internal/pdf internal/planted report synthesis",
	"github.com/nlnwa/whatwg-url":            "citation",
	"golang.org/x/term":                      "cmd/tidegate internal/host",
	"go.temporal.io":                         "temporal temporal/server temporal/cmd/tidegate-worker",
	"google.golang.org/protobuf":             "temporal",
	"google.golang.org/grpc":                 "temporal",
	"github.com/aws/aws-sdk-go-v2":           "temporal",
	"github.com/uber-go/tally":               "temporal/cmd/tidegate-worker",
	"os/exec":                                "change driver internal/cli internal/release bench temporal/cmd/tidegate-worker",
	"net":                                    "fetch seal internal/hangup internal/mcpserver internal/planted internal/web bench temporal/server temporal/cmd/tidegate-worker",
	"net/http":                               "driver fetch internal/fakemodel internal/hangup internal/mcpserver internal/planted internal/web bench temporal/cmd/tidegate-worker",
	"math/rand":                              "",
	"math/rand/v2":                           "artifact fetch bench temporal/server",
	"crypto/rand":                            "artifact job run seal internal/planted internal/web temporal",
	"github.com/santhosh-tekuri/jsonschema":  "",
	"github.com/google/go-cmp":               "",
	"github.com/rogpeppe/go-internal":        "internal/corpus",
	"github.com/yuin/goldmark":               "synthesis",
	"github.com/chromedp":                    "",
	"github.com/secure-systems-lab":          "",
}

func TestArrows(t *testing.T) {
	files, used := 0, map[arrow]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && file != "." || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		files++
		room := owner(path.Dir(filepath.ToSlash(file)))
		if _, drawn := arrows[room]; !drawn {
			t.Errorf("%s: nobody drew the package %s; add it to arrows and to docs/layout.md", file, room)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, file, room, name, used)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d files were read", files)
	}
	for room, targets := range arrows {
		for _, target := range strings.Fields(targets) {
			if target != "*" && !used[arrow{room, target}] {
				t.Errorf("no file of %s imports %s; remove the arrow", room, target)
			}
		}
	}
	for target, rooms := range outside {
		for _, room := range strings.Fields(rooms) {
			if !used[arrow{room, target}] {
				t.Errorf("no file of %s imports %s; remove it from outside", room, target)
			}
		}
	}
}

// arrow is one import: of a package of this module, or of one that outside lists.
type arrow struct{ from, to string }

// owner is the listed package that dir is, or is part of.
func owner(dir string) string {
	if strings.HasPrefix(dir, "bench") {
		return "bench"
	}
	return dir
}

// checkImport fails for an import that arrows does not list, and notes the arrow in used.
func checkImport(t *testing.T, file, room, name string, used map[arrow]bool) {
	if inner, ok := strings.CutPrefix(name, module); ok {
		target := strings.TrimPrefix(inner, "/")
		if target == "" {
			target = "."
		}
		used[arrow{room, target}] = true
		if inTemporal(target) && !inTemporal(room) {
			t.Errorf("%s: %s may not import %s, which is another module", file, room, target)
		}
		if allowed := strings.Fields(arrows[room]); !slices.Contains(allowed, target) && !slices.Contains(allowed, "*") {
			t.Errorf("%s: %s may not import %s", file, room, target)
		}
		return
	}
	decided := false
	for prefix, allowed := range outside {
		if name != prefix && !(strings.Contains(prefix, ".") && strings.HasPrefix(name, prefix+"/")) {
			continue
		}
		decided = true
		used[arrow{room, prefix}] = true
		if !slices.Contains(strings.Fields(allowed), room) {
			t.Errorf("%s: %s may not import %s", file, room, name)
		}
	}
	if domain, _, _ := strings.Cut(name, "/"); strings.Contains(domain, ".") && !decided {
		t.Errorf("%s: nobody decided on the dependency %s; add it to outside and to docs/decisions.md", file, name)
	}
}

// inTemporal reports whether a package belongs to the module in temporal/.
func inTemporal(room string) bool { return room == "temporal" || strings.HasPrefix(room, "temporal/") }

// TestMainModuleDoesNotKnowTemporal keeps the pool on many machines out of the
// program: its dependencies, its size and its start stay those of one machine.
func TestMainModuleDoesNotKnowTemporal(t *testing.T) {
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
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

// TestWhatReachesTheWorld looks at everything that the tools are built from,
// other people's packages included. Two packages start programs: change starts
// git, and driver starts agents. internal/cli, which no tool is built from, starts
// the person's editor and the command of --notify. Only fetch opens connections to
// other machines, and driver to those that a person named; seal knows the sockets
// of an ssh-agent.
func TestWhatReachesTheWorld(t *testing.T) {
	imports := builtFrom(t, "catalog")
	if !slices.Contains(imports[module+"/change"], "os/exec") || !slices.Contains(imports[module+"/fetch"], "net/http") {
		t.Fatalf("the list is not that of the tools: %v", imports)
	}
	allowed := map[string][]string{
		"os/exec":  {"change", "driver"},
		"net":      {"fetch", "seal"},
		"net/http": {"driver", "fetch"},
		"net/rpc":  nil, "crypto/tls": {"fetch"}, "plugin": nil, "os/user": nil, "C": nil,
	}
	for name, imported := range imports {
		room, ours := strings.CutPrefix(name, module+"/")
		for _, reach := range imported {
			if rooms, watched := allowed[reach]; watched && ours && !slices.Contains(rooms, room) {
				t.Errorf("%s imports %s", name, reach)
			}
		}
		if slices.Contains([]string{"net/rpc", "plugin", "os/user", "C"}, name) {
			t.Errorf("the tools are built from %s", name)
		}
	}
	starts := regexp.MustCompile(`\b(exec\.Cmd\{|exec\.Command(Context)?\((ctx, )?(.*?)[,)]|os\.StartProcess|syscall\.(Exec|ForkExec|StartProcess))`)
	var found []string
	for room := range arrows {
		if room == "bench" || room == "driver" || room == "internal/release" {
			continue
		}
		for file, text := range sources(t, room) {
			for _, start := range starts.FindAllString(text, -1) {
				found = append(found, file+": "+start)
			}
		}
	}
	slices.Sort(found)
	want := []string{`change/git.go: exec.CommandContext(ctx, "git",`, `internal/cli/programs_unix.go: exec.CommandContext(ctx, "sh",`, `internal/cli/programs_windows.go: exec.CommandContext(ctx, "cmd",`}
	if !slices.Equal(found, want) {
		t.Errorf("programs are started by %q, want %q", found, want)
	}
}

// TestJudgingOpensNoConnection is why fetching and judging are separate: what
// reads the archive and what judges sources are built from nothing that could
// open a connection.
func TestJudgingOpensNoConnection(t *testing.T) {
	for _, room := range []string{"archive", "citation", "summary", "stage", "job"} {
		for name := range builtFrom(t, room) {
			switch name {
			case "net/http", "net/rpc", "crypto/tls", "plugin", "os/user", "C", module + "/fetch", module + "/driver":
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
	if imports[module+"/"+room] == nil {
		t.Fatalf("the list is not that of %s: %v", room, imports)
	}
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

// sources are the files of a package that are not tests.
func sources(t *testing.T, room string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.ToSlash(file)] = string(text)
	}
	return texts
}

// TestOnlyArtifactOpensFiles keeps access by path in one place: package artifact
// decides what a caller may touch, and a package that opened files itself would
// go around it.
func TestOnlyArtifactOpensFiles(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|OpenRoot|ReadFile|ReadDir|WriteFile|Create|CreateTemp|Mkdir|MkdirAll|MkdirTemp|Stat|Lstat|Readlink|Remove|RemoveAll|Rename|Symlink|Link|Truncate|Chmod|DirFS|CopyFS)\(|filepath\.(Walk|WalkDir|Glob)\(|ioutil\.`)
	read := 0
	for room := range arrows {
		if room == "artifact" || room == "bench" || strings.HasPrefix(room, "internal/") || strings.HasPrefix(room, "cmd/") {
			continue
		}
		for file, text := range sources(t, room) {
			if file == "driver/folder.go" {
				continue // an attempt's folder lies among the temporary files, outside every run
			}
			if found := opens.FindString(text); found != "" {
				t.Errorf("%s calls %s…), which is for package artifact", file, found)
			}
			read++
		}
	}
	if read < 50 {
		t.Fatalf("only %d files were read", read)
	}
}

// TestNoPatternIsCompiledAtTheStart keeps regular expressions from being compiled
// by every call of the program: package pattern compiles them when they are used.
func TestNoPatternIsCompiledAtTheStart(t *testing.T) {
	compiles := regexp.MustCompile(`(?m)^(var .*|\t\w+ += )regexp\.MustCompile\(`)
	if !compiles.MatchString("var a = regexp.MustCompile(`a`)") || !compiles.MatchString("var (\n\ta = regexp.MustCompile(`a`)\n)") {
		t.Fatal("the rule does not see such a variable")
	}
	for room := range arrows {
		if room == "bench" || room == "internal/release" || room == "internal/corpus" {
			continue // not in the program
		}
		for file, text := range sources(t, room) {
			if found := compiles.FindString(text); found != "" {
				t.Errorf("%s: %s…) is compiled at every start; use pattern.New", file, found)
			}
		}
	}
}

// TestLayoutDocumentIsTheTable keeps docs/layout.md true: its tree names every
// package, and its list of arrows is that of this file.
func TestLayoutDocumentIsTheTable(t *testing.T) {
	const file, begin, end = "docs/layout.md", "<!-- arrows -->\n```\n", "```\n<!-- /arrows -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	listed, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the arrows", file)
	}
	tree, _, _ := strings.Cut(before, "## Arrows")
	for room := range arrows {
		if room != "." && !strings.Contains(tree, "─ "+room+"/") {
			t.Errorf("the tree in %s has no line for %s/", file, room)
		}
	}
	want := drawn()
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if listed != want {
		t.Errorf("the arrows of %s are not those of this file; run: go test . -update\n%s", file, want)
	}
}

// TestPublicPackagesAreListed keeps docs/go.md whole: it says of every package that
// other modules can import what it is for.
func TestPublicPackagesAreListed(t *testing.T) {
	text, err := os.ReadFile("docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for line := range strings.Lines(string(text)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			names, _, _ := strings.Cut(row, " | ")
			table.WriteString("`" + names)
		}
	}
	for room := range arrows {
		if room == "." {
			room = "tidegate"
		}
		public := room != "bench" && !strings.HasPrefix(room, "internal/") && !strings.HasPrefix(room, "cmd/") && !inTemporal(room)
		if listed := strings.Contains(table.String(), "`"+room+"`"); listed != public {
			t.Errorf("%s: listed in the table of docs/go.md is %v, and public %v", room, listed, public)
		}
	}
}

// drawn lists the arrows for a reader: a package stands above all that it
// imports.
func drawn() string {
	var height func(room string) int
	height = func(room string) int {
		if arrows[room] == "*" {
			return len(arrows)
		}
		most := 0
		for _, target := range strings.Fields(arrows[room]) {
			most = max(most, height(target)+1)
		}
		return most
	}
	rooms := slices.SortedFunc(maps.Keys(arrows), func(a, b string) int {
		return cmp.Or(height(b)-height(a), strings.Compare(a, b))
	})
	named := strings.NewReplacer("*", "any of them", ". ", "tidegate ")
	var b strings.Builder
	for _, room := range rooms {
		targets := named.Replace(arrows[room] + " ")
		if room == "." {
			room = "tidegate"
		}
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%-19s %s", room, strings.TrimSpace(targets))))
	}
	return b.String()
}
