package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/full"
	"go.yaml.in/yaml/v3"
)

func parseYAML(t *testing.T, name string, into any) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data
}

type action struct {
	Name        string
	Description string
	Inputs      map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, Uses, Run, Shell string
			Env                        map[string]string
		}
	}
}

func TestActionIsWhole(t *testing.T) {
	var a action
	text := parseYAML(t, "action.yml", &a)
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Errorf("action.yml lacks its name, description or steps: %+v", a)
	}
	for _, m := range regexp.MustCompile(`inputs\.([a-z_-]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, ok := a.Inputs[m[1]]; !ok {
			t.Errorf("the input %s is used and not declared", m[1])
		}
	}
	for name, input := range a.Inputs {
		if input.Description == "" || !input.Required && input.Default == nil {
			t.Errorf("the input %s has no description, or is optional without a default", name)
		}
	}
	for _, step := range a.Runs.Steps {
		if step.Run != "" && step.Shell == "" {
			t.Errorf("the step %q has no shell", step.Name)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("the step %q pastes an expression into its script, where an input could run commands", step.Name)
		}
	}
}

// TestActionReviewsAWave runs the script of the action's own step.
func TestActionReviewsAWave(t *testing.T) {
	program, err := exec.LookPath("tidegate")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	var a action
	parseYAML(t, "action.yml", &a)
	script := ""
	for _, step := range a.Runs.Steps {
		if step.ID == "review" {
			script = step.Run
		}
	}
	data, err := filepath.Abs(filepath.Join("..", "..", "internal", "demo", "data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		outputs, only string
		status        int
		annotation    string
	}{
		{"drafts", "", 1, "::error file=drafts/grid.md,line=20,"},
		{"drafts", "economics,skeptic", 0, ""},
		{"mended", "", 0, ""},
		{"nowhere", "", 3, ""},
	} {
		t.Run(test.outputs+" "+test.only, func(t *testing.T) {
			temp := t.TempDir()
			if err := os.Symlink(program, filepath.Join(temp, "tidegate")); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
			command.Dir = data
			command.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+temp+"/summary", "GITHUB_OUTPUT="+temp+"/output",
				"PERSPECTIVES=perspectives.json", "OUTPUTS="+test.outputs, "ONLY="+test.only)
			out, err := command.Output()
			var exit *exec.ExitError
			if got := command.ProcessState.ExitCode(); got != test.status || err != nil && !errors.As(err, &exit) {
				t.Fatalf("exit status %d, want %d: %v\n%s", got, test.status, err, out)
			}
			if !strings.Contains(string(out), test.annotation) {
				t.Errorf("no annotation %q in:\n%s", test.annotation, out)
			}
			summary, err := os.ReadFile(temp + "/summary")
			if (err == nil && strings.Contains(string(summary), "Review of a wave")) != (test.status <= 1) {
				t.Errorf("the summary: %v\n%s", err, summary)
			}
			output, err := os.ReadFile(temp + "/output")
			if want := "status=" + string(rune('0'+test.status)) + "\n"; err != nil || string(output) != want {
				t.Errorf("the output is %q, want %q: %v", output, want, err)
			}
		})
	}
}

func TestExampleWorkflowUsesWhatTheActionOffers(t *testing.T) {
	var a action
	parseYAML(t, "action.yml", &a)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	parseYAML(t, "docs/examples/review-wave.yaml", &workflow)
	used := 0
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if !strings.HasPrefix(step.Uses, "tidegate/tidegate@") {
				continue
			}
			used++
			for name, input := range a.Inputs {
				if input.Required && step.With[name] == "" {
					t.Errorf("the required input %s is missing", name)
				}
			}
			for name := range step.With {
				if _, ok := a.Inputs[name]; !ok {
					t.Errorf("the action has no input %s", name)
				}
			}
		}
	}
	if used != 1 {
		t.Errorf("the action is used %d times", used)
	}
}

func TestReleaseIsConfigured(t *testing.T) {
	var release struct {
		Version int
		Before  struct{ Hooks []string }
		Builds  []struct {
			Main         string
			Env, Flags   []string
			Goos, Goarch []string
		}
		Archives []struct{ Files []any }
	}
	text := string(parseYAML(t, ".goreleaser.yaml", &release))
	if release.Version != 2 || len(release.Builds) != 1 || len(release.Archives) != 1 {
		t.Fatalf("%+v", release)
	}
	build := release.Builds[0]
	for _, system := range []string{"linux", "darwin", "windows"} {
		if !slices.Contains(build.Goos, system) {
			t.Errorf("nothing is built for %s", system)
		}
	}
	if build.Main != "./cmd/tidegate" || !slices.Contains(build.Flags, "-trimpath") || !slices.Contains(build.Env, "CGO_ENABLED=0") {
		t.Errorf("the build is not reproducible: %+v", build)
	}
	for _, part := range []string{"completions/*", "man/*", "LICENSE", "go run -tags man ./cmd/tidegate man"} {
		if !strings.Contains(text, part) {
			t.Errorf("the archives lack %s", part)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, err := exec.Command("tidegate", "completion", shell).Output(); err != nil || !strings.Contains(string(out), "tidegate") {
			t.Errorf("there is no completion for %s: %v", shell, err)
		}
	}
	if goreleaser, err := exec.LookPath("goreleaser"); err == nil {
		check := exec.Command(goreleaser, "check")
		check.Dir = filepath.Join("..", "..")
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("goreleaser check: %v\n%s", err, out)
		}
	}
}

func TestContainerHoldsNothingButTheProgram(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
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
	module, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
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
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
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
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
}
