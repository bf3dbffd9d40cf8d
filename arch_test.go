package tidegate_test

import (
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
	"testing"
)

const module = "github.com/tidegate/tidegate"

// arrows lists, for every package, the packages of this module that it may
// import. A package that nobody drew here fails the test.
var arrows = map[string]string{
	".":                  "",
	"codec":              ".",
	"artifact":           ". codec",
	"markdown":           "",
	"report":             ". codec",
	"perspective":        ". codec artifact report",
	"run":                ". codec artifact perspective report",
	"wave":               ". codec artifact markdown perspective run report internal/parallel",
	"pivot":              ". codec artifact markdown perspective run wave report internal/parallel",
	"summary":            ". codec artifact markdown perspective run report internal/parallel",
	"stage":              ". codec artifact perspective run wave pivot report",
	"review":             ". codec report internal/spelling",
	"change":             ". codec artifact review report",
	"driver":             ". codec artifact markdown",
	"tool":               ". codec artifact report internal/spelling",
	"catalog":            ". codec artifact perspective run wave pivot summary stage review change report tool",
	"internal/full":      "",
	"internal/parallel":  "",
	"internal/spelling":  "",
	"internal/cli":       ". codec report tool internal/spelling",
	"internal/mcpserver": ". codec report tool internal/spelling",
	"internal/clients":   ".",
	"internal/demo":      ". codec report tool internal/spelling",
	"internal/corpus":    "",
	"internal/docs":      ". codec tool",
	"internal/fakemodel": "",
	"cmd/tidegate":       "*",
	"bench":              "*",
}

// outside lists the packages from other modules, and from the parts of the
// standard library that reach the world, with those who may import them.
var outside = map[string]string{
	"github.com/spf13/pflag":                 "internal/cli",
	"github.com/spf13/cobra":                 "internal/cli",
	"github.com/modelcontextprotocol/go-sdk": "internal/mcpserver bench",
	"github.com/google/jsonschema-go":        "tool",
	"github.com/go-json-experiment/json":     "codec",
	"go.yaml.in/yaml":                        "change",
	"golang.org/x/sys":                       "artifact driver",
	"golang.org/x/term":                      "cmd/tidegate",
	"os/exec":                                "bench driver",
	"net":                                    "internal/mcpserver bench",
	"net/http":                               "driver internal/fakemodel internal/mcpserver bench",
	"math/rand":                              "bench",
	"math/rand/v2":                           "artifact bench",
	"crypto/rand":                            "artifact run",
	"github.com/santhosh-tekuri/jsonschema":  "",
	"github.com/google/go-cmp":               "",
	"github.com/rogpeppe/go-internal":        "internal/corpus",
	"github.com/yuin/goldmark":               "",
}

func TestArrows(t *testing.T) {
	files := 0
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
			checkImport(t, file, room, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d files were read", files)
	}
}

// owner is the drawn package that dir is, or is part of.
func owner(dir string) string {
	if strings.HasPrefix(dir, "bench") {
		return "bench"
	}
	return dir
}

func checkImport(t *testing.T, file, room, name string) {
	if inner, ok := strings.CutPrefix(name, module); ok {
		target := strings.TrimPrefix(inner, "/")
		if target == "" {
			target = "."
		}
		if allowed := strings.Fields(arrows[room]); !slices.Contains(allowed, target) && !slices.Contains(allowed, "*") {
			t.Errorf("%s: %s may not import %s", file, room, target)
		}
		return
	}
	for prefix, allowed := range outside {
		if (name == prefix || strings.HasPrefix(name, prefix+"/") && strings.Contains(prefix, ".")) && !slices.Contains(strings.Fields(allowed), room) {
			t.Errorf("%s: %s may not import %s", file, room, name)
		}
	}
	if strings.Contains(strings.SplitN(name, "/", 2)[0], ".") && !slices.ContainsFunc(mapKeys(outside), func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		t.Errorf("%s: nobody decided on the dependency %s; add it to outside and to docs/decisions.md", file, name)
	}
}

func mapKeys(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// TestNoToolStartsAProgramOrOpensAConnection looks at everything that the tools
// are built from, other people's packages included.
func TestNoToolStartsAProgramOrOpensAConnection(t *testing.T) {
	list := exec.Command("go", "list", "-deps", module+"/catalog")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Skipf("the packages cannot be listed here: %v", err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, module+"/artifact") {
		t.Fatalf("the list is not that of the tools: %v", packages)
	}
	for _, name := range packages {
		switch name {
		case "os/exec", "net", "net/http", "net/rpc", "crypto/tls", "plugin", "os/user", "C":
			t.Errorf("the tools are built from %s", name)
		}
	}
}

// TestOnlyArtifactOpensFiles keeps access by path in one place: what a caller may
// touch is decided there, and a package that opened files itself would go around
// it.
func TestOnlyArtifactOpensFiles(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|OpenRoot|ReadFile|ReadDir|WriteFile|Create|CreateTemp|Mkdir|MkdirAll|MkdirTemp|Stat|Lstat|Readlink|Remove|RemoveAll|Rename|Symlink|Link|Truncate|Chmod|DirFS|CopyFS)\(|filepath\.(Walk|WalkDir|Glob)\(|ioutil\.`)
	read := 0
	for room := range arrows {
		if room == "artifact" || room == "bench" || strings.HasPrefix(room, "internal/") || strings.HasPrefix(room, "cmd/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// An attempt's folder lies among the temporary files, outside every run.
			if filepath.ToSlash(file) == "driver/folder.go" {
				continue
			}
			if found := opens.Find(text); found != nil && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s calls %s…), which is for package artifact", file, found)
			}
			read++
		}
	}
	if read < 50 {
		t.Fatalf("only %d files were read", read)
	}
}

// TestLayoutDocumentDrawsEveryPackage keeps docs/layout.md true.
func TestLayoutDocumentDrawsEveryPackage(t *testing.T) {
	layout, err := os.ReadFile("docs/layout.md")
	if err != nil {
		t.Fatal(err)
	}
	for room := range arrows {
		if _, err := os.Stat(room); err != nil || room == "." {
			continue
		}
		if !strings.Contains(string(layout), room+"/") {
			t.Errorf("docs/layout.md does not mention %s/", room)
		}
	}
}
