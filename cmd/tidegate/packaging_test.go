package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"go.yaml.in/yaml/v3"
)

func parseYAML(t *testing.T, name string, into any) []byte {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name))))(t)
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data
}

func TestContainerHoldsNothingButTheProgram(t *testing.T) {
	data := must.Get(os.ReadFile(filepath.Join("..", "..", "Containerfile")))(t)
	_, last, ok := strings.Cut(string(data), "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nFROM ") || strings.Contains(last, "\nRUN ") {
		t.Error("the last stage is not built from scratch")
	}
	for _, line := range []string{"COPY --from=build --chown=65532:65532 /out/ /", "USER 65532:65532", `ENTRYPOINT ["/tidegate"]`} {
		if !strings.Contains(last, line+"\n") {
			t.Errorf("the last stage has no %q", line)
		}
	}
	if !strings.Contains(string(data), "CGO_ENABLED=0 go build -trimpath") {
		t.Error("the program is not built static and reproducibly")
	}
	module := must.Get(os.ReadFile(filepath.Join("..", "..", "go.mod")))(t)
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))[1]
	if !strings.Contains(string(data), "golang:"+wanted+" AS build") {
		t.Errorf("the image does not build with Go %s", wanted)
	}
}

// TestTwoBuildsInDifferentFoldersGiveTheSameBytes builds copies of the sources.
func TestTwoBuildsInDifferentFoldersGiveTheSameBytes(t *testing.T) {
	if !full.Asked() {
		t.Skip("building twice takes long; -full does it")
	}
	var built [2][]byte
	for i, name := range []string{"here", "somewhere else"} {
		folder := filepath.Join(t.TempDir(), name)
		copySources(t, folder)
		program := filepath.Join(folder, "tidegate")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", program, "./cmd/tidegate")
		build.Dir = folder
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data := must.Get(os.ReadFile(program))(t)
		if bytes.Contains(data, []byte(folder)) {
			t.Error("the program knows where it was built")
		}
		built[i] = data
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Error("the two programs differ")
	}
}

func copySources(t *testing.T, folder string) {
	t.Helper()
	root := filepath.Join("..", "..")
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(folder, name), 0o755)
		}
		if !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), data, 0o644)
	}))
}
