package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/fakeforge"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// actionFiles are the actions.
var actionFiles = []string{"action.yml", "actions/review/action.yml", "actions/publish/action.yml"}

// action is one of them.
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
		Steps []actionStep
	}
}

type actionStep struct {
	ID, Name, If, Uses, Run, Shell string
	Dir                            string `yaml:"working-directory"`
	Env, With                      map[string]string
}

// runner runs the steps of an action as GitHub's runner does, as far as ours
// need it: the test says what a step of another action does.
type runner struct {
	t         *testing.T
	workspace string
	temp      string
	values    map[string]string // of expressions: inputs.only, steps.choose.outputs.version
	uses      map[string]func(with map[string]string) (outputs map[string]string)
	path      string   // goes before PATH
	env       []string // beside that of the test
	did       []string // the names of the steps that ran
	log       bytes.Buffer
	summary   string
}

func newRunner(t *testing.T, workspace string, inputs map[string]string) *runner {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	r := &runner{t: t, workspace: workspace, temp: t.TempDir(), values: map[string]string{
		"github.action_path": root, "github.action_ref": "main", "runner.os": "Linux", "runner.arch": "X64", "runner.temp": "",
		"github.token": fakeforge.Token, "github.event_name": "push",
	}}
	r.values["runner.temp"] = r.temp
	r.uses = map[string]func(map[string]string) map[string]string{}
	for name, value := range inputs {
		r.values["inputs."+name] = value
	}
	return r
}

// run runs the action and returns its outputs and the exit status of the step that
// failed, 0 where none did.
func (r *runner) run(a action) (outputs map[string]string, status int) {
	r.t.Helper()
	for name, input := range a.Inputs {
		if _, given := r.values["inputs."+name]; !given && input.Default != nil {
			r.values["inputs."+name] = r.fill(*input.Default)
		}
	}
	for _, step := range a.Runs.Steps {
		if step.If != "" && !r.holds(step.If) {
			continue
		}
		r.did = append(r.did, step.Name)
		var made map[string]string
		if step.Uses != "" {
			name, _, _ := strings.Cut(step.Uses, "@")
			do, known := r.uses[name]
			if !known {
				r.t.Fatalf("the step %q uses %s, which this runner does not have", step.Name, step.Uses)
			}
			made = do(r.filled(step.With))
		} else if made, status = r.shell(step); status != 0 {
			break
		}
		for name, value := range made {
			r.values["steps."+step.ID+".outputs."+name] = value
		}
	}
	outputs = map[string]string{}
	for name, output := range a.Outputs {
		outputs[name] = r.fill(output.Value)
	}
	return outputs, status
}

// shell runs a step's script.
func (r *runner) shell(step actionStep) (outputs map[string]string, status int) {
	r.t.Helper()
	output, summary := filepath.Join(r.t.TempDir(), "output"), filepath.Join(r.t.TempDir(), "summary")
	command := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
	command.Dir = r.workspace
	if step.Dir != "" {
		command.Dir = r.fill(step.Dir)
	}
	command.Stdout, command.Stderr = &r.log, &r.log
	command.Env = append(append(os.Environ(), r.env...), "RUNNER_TEMP="+r.temp, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary, "PATH="+r.path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, value := range r.filled(step.Env) {
		command.Env = append(command.Env, name+"="+value)
	}
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	if text, err := os.ReadFile(summary); err == nil {
		r.summary += string(text)
	}
	outputs = map[string]string{}
	text, err := os.ReadFile(output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		outputs[name] = value
	}
	return outputs, command.ProcessState.ExitCode()
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z_.-]+) *\}\}`)

func (r *runner) fill(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		return r.value(expression.FindStringSubmatch(found)[1])
	})
}

func (r *runner) filled(texts map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		out[name] = r.fill(text)
	}
	return out
}

// value is what an expression stands for. An output that a step did not set is
// empty.
func (r *runner) value(name string) string {
	value, known := r.values[name]
	if !known && !strings.HasPrefix(name, "steps.") {
		r.t.Errorf("%s is not known here", name)
	}
	return value
}

var comparison = regexp.MustCompile(`^([a-z_.-]+) (==|!=) '([^']*)'$`)

// holds reports whether a condition holds: comparisons with a text, joined by &&.
func (r *runner) holds(condition string) bool {
	for part := range strings.SplitSeq(condition, " && ") {
		m := comparison.FindStringSubmatch(part)
		if m == nil {
			r.t.Fatalf("the condition %q is not one that this runner understands", condition)
		}
		if (r.value(m[1]) == m[3]) != (m[2] == "==") {
			return false
		}
	}
	return true
}

// TestActionsAreWhole also holds that one reads what an action does in minutes, that all of
// them install the program by the same step, and that what they use is pinned by commit.
func TestActionsAreWhole(t *testing.T) {
	install := ""
	for _, file := range actionFiles {
		var a action
		text := parseYAML(t, file, &a)
		if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
			t.Errorf("%s lacks its name, description or steps: %+v", file, a)
		}
		if lines := bytes.Count(text, []byte("\n")); lines > 210 || len(text) > 13_000 {
			t.Errorf("%s has %d lines and %d bytes: nobody reads that in five minutes", file, lines, len(text))
		}
		for _, m := range regexp.MustCompile(`inputs\.([a-z_-]+)`).FindAllStringSubmatch(string(text), -1) {
			if _, ok := a.Inputs[m[1]]; !ok {
				t.Errorf("%s: the input %s is used and not declared", file, m[1])
			}
		}
		for name, input := range a.Inputs {
			if input.Description == "" || !input.Required && input.Default == nil {
				t.Errorf("%s: the input %s has no description, or is optional without a default", file, name)
			}
		}
		for _, step := range a.Runs.Steps {
			switch {
			case step.Run != "" && step.Shell == "":
				t.Errorf("%s: the step %q has no shell", file, step.Name)
			case strings.Contains(step.Run, "${{"):
				t.Errorf("%s: the step %q pastes an expression into its script, where an input could run commands", file, step.Name)
			case step.Uses != "" && !regexp.MustCompile(`^[a-z-]+/[a-z/-]+@[0-9a-f]{40}$`).MatchString(step.Uses):
				t.Errorf("%s: %s is not pinned by commit", file, step.Uses)
			case step.Name == "Install tidegate" && install == "":
				install = step.Run
			case step.Name == "Install tidegate" && install != step.Run:
				t.Errorf("%s installs the program in another way", file)
			}
		}
	}
}

// demoData is the folder with the demo's drafts.
func demoData(t *testing.T) string {
	t.Helper()
	data := must.Get(filepath.Abs(filepath.Join("..", "..", "internal", "face", "demo", "data")))(t)
	return data
}

// builds lets the runner build a program, with a stand-in for go.
func (r *runner) builds(program string) {
	if r.path == "" {
		r.path = r.t.TempDir()
	}
	fake := "#!/bin/bash\n[ \"$*\" = \"build -trimpath -o $RUNNER_TEMP/tidegate/ ./cmd/tidegate\" ] && ln -s '" + program + "' \"$RUNNER_TEMP/tidegate/tidegate\"\n"
	must.Do(r.t, os.WriteFile(filepath.Join(r.path, "go"), []byte(fake), 0o700))
}

// buildsOurs lets the runner build the program under test.
func (r *runner) buildsOurs() { r.builds(must.Get(exec.LookPath("tidegate"))(r.t)) }

// TestActionReviewsAWave runs the steps of the action with the program in the
// cache, as in every run but the first.
func TestActionReviewsAWave(t *testing.T) {
	t.Parallel()
	data := demoData(t)
	var a action
	parseYAML(t, "action.yml", &a)
	partly := t.TempDir()
	text, err := os.ReadFile(filepath.Join(data, "mended", "grid.md"))
	if err == nil {
		err = os.WriteFile(filepath.Join(partly, "grid.md"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	waves := []struct {
		name       string
		inputs     map[string]string
		status     int
		annotation string
		summary    string // a part of it
		uploads    bool
	}{
		{"faults", map[string]string{"outputs": "drafts"}, 1, "::error file=drafts/grid.md,line=20,", "such as '- Title `https://example.org/page`', or remove it", false},
		{"uploaded", map[string]string{"outputs": "drafts", "sarif": "true"}, 1, "::error file=drafts/grid.md,line=20,", "**✗ fail** 4 of 6 outputs failed", true},
		{"only", map[string]string{"outputs": "drafts", "only": "economics,skeptic"}, 0, "", "**✓ pass**", false},
		{"passed", map[string]string{"outputs": "mended", "sarif": "true"}, 0, "", "**✓ pass**", true},
		{"missing outputs", map[string]string{"outputs": partly, "sarif": "true"}, 3, "/emissions.md,title=OUTPUT_NOT_FOUND::the file is not there", "| emissions | missing |", true},
		{"no folder", map[string]string{"outputs": "nowhere", "sarif": "true"}, 3, "NOT_FOUND", "", false},
		{"an input that is a command", map[string]string{"outputs": "$(touch " + partly + "/owned)", "only": "`touch " + partly + "/owned`"}, 3, "NOT_FOUND", "", false},
	}
	for i := 0; i < len(waves); i += full.Stride(len(waves), 3) {
		test := waves[i]
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t, data, test.inputs)
			r.values["inputs.perspectives"] = "perspectives.json"
			r.buildsOurs()
			uploaded := ""
			r.uses["github/codeql-action/upload-sarif"] = func(with map[string]string) map[string]string {
				text, err := os.ReadFile(with["sarif_file"])
				if err != nil {
					t.Error(err)
				}
				uploaded = string(text)
				return nil
			}
			start := time.Now()
			outputs, status := r.run(a)
			t.Logf("the steps took %v", time.Since(start).Round(time.Millisecond))
			if status != test.status || outputs["status"] != strconv.Itoa(test.status) {
				t.Fatalf("exit status %d, output %v, want %d\n%s", status, outputs, test.status, r.log.String())
			}
			if !strings.Contains(r.log.String(), test.annotation) {
				t.Errorf("no annotation %q in:\n%s", test.annotation, r.log.String())
			}
			if !strings.Contains(r.summary, test.summary) || (r.summary == "") != (test.summary == "") {
				t.Errorf("the summary lacks %q:\n%s", test.summary, r.summary)
			}
			if strings.Contains(uploaded, `"version": "2.1.0"`) != test.uploads || (outputs["sarif"] == "") != (test.summary == "") {
				t.Errorf("uploaded %.200q, the file is %q", uploaded, outputs["sarif"])
			}
			if _, err := os.Stat(filepath.Join(partly, "owned")); err == nil {
				t.Error("an input was run")
			}
		})
	}
}

// TestActionAuditsDocuments: each document that cites something is held against its
// sources, without a token; what its name says is not run.
func TestActionAuditsDocuments(t *testing.T) {
	t.Parallel()
	var a action
	parseYAML(t, "action.yml", &a)
	work := t.TempDir()
	for name, text := range map[string]string{
		"docs/a b.md":                 "The ferry carries 120 cars [1].\n\n# References\n\n[1] https://a.example/a\n",
		"docs/deep/bad.md":            "The ferry carries 990 cars [1].\n\n# References\n\n[1] https://a.example/a\n",
		"docs/none.md":                "Nothing is cited here.\n",
		"docs/$(touch owned).md":      "The ferry carries 120 cars [1].\n\n# References\n\n[1] https://a.example/a\n",
		"pages/index.json":            `{"https://a.example/a": "a.html"}`,
		"pages/a.html":                "<!doctype html><title>A</title><p>The ferry Ampere carries 120 cars and 360 passengers.",
		"empty/only-this-and-that.md": "Nothing is cited here.\n",
	} {
		path := filepath.Join(work, name)
		must.Write(t, path, text)
	}
	audits := []struct {
		documents, failOn string
		status            int
		log, summary      string
	}{
		{"docs/**/*.md", "missing,dead", 1, "::error file=docs/deep/bad.md,line=1,", "Audit of bad.md"},
		{"docs/*.md", "missing,dead", 0, "", "Audit of a b.md"},
		{"empty/*.md nowhere/*.md", "missing", 2, "nothing was audited", ""},
		{"docs/**/*.md", "uncited", 0, "", "Audit of bad.md"},
	}
	for i := 0; i < len(audits); i += full.Stride(len(audits), 2) {
		test := audits[i]
		r := newRunner(t, work, map[string]string{"mode": "audit", "documents": test.documents, "fail-on": test.failOn, "pages": "pages"})
		r.buildsOurs()
		outputs, status := r.run(a)
		if status != test.status || outputs["status"] != strconv.Itoa(test.status) || !strings.Contains(r.log.String(), test.log) || !strings.Contains(r.summary, test.summary) {
			t.Errorf("%s: status %d, %v\n%s\n%s", test.documents, status, outputs, r.log.String(), r.summary)
		}
	}
	if _, err := os.Stat(filepath.Join(work, "owned")); err == nil {
		t.Error("the name of a document was run")
	}
}

// TestActionInstallsARelease has curl answer from a folder: with the archive that
// matches its checksum, with another archive under the same name, and with none.
func TestActionInstallsARelease(t *testing.T) {
	t.Parallel()
	program := must.Get(exec.LookPath("tidegate"))(t)
	data := demoData(t)
	var a action
	parseYAML(t, "action.yml", &a)
	served := t.TempDir()
	archive := archiveOf(t, program)
	bin := t.TempDir()
	curl := "#!/bin/bash\nfor last; do :; done\necho \"$last\" >> " + served + "/asked\nwhile [ $# -gt 1 ]; do if [ \"$1\" = --output ]; then out=$2; fi; shift; done\ncp \"" + served + "/$(basename \"$last\")\" \"$out\"\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "curl"), []byte(curl), 0o700))
	name := "tidegate_1.2.3_linux_amd64.tar.gz"
	sums := fmt.Sprintf("%x  other.zip\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(archive), name)
	releases := []struct {
		name, ref, version string
		archive            []byte
		status             int
	}{
		{"the version that is asked for", "main", "v1.2.3", archive, 0},
		{"the version that the action is pinned to", "v1.2.3", "", archive, 0},
		{"another archive", "main", "v1.2.3", append([]byte("x"), archive...), 1},
		{"a version that is none", "main", "v1.2.3; touch x", archive, 2},
		{"a version that leads elsewhere", "main", "v1.2.3/../../evil", archive, 2},
	}
	for i := 0; i < len(releases); i += full.Stride(len(releases), 3) {
		test := releases[i]
		t.Run(test.name, func(t *testing.T) {
			for file, text := range map[string][]byte{name: test.archive, "checksums.txt": []byte(sums), "asked": nil} {
				must.Do(t, os.WriteFile(filepath.Join(served, file), text, 0o600))
			}
			r := newRunner(t, data, map[string]string{"perspectives": "perspectives.json", "outputs": "mended", "version": test.version})
			r.values["github.action_ref"], r.path = test.ref, bin
			_, status := r.run(a)
			if status != test.status {
				t.Fatalf("exit status %d, want %d\n%s", status, test.status, r.log.String())
			}
			asked := must.Get(os.ReadFile(filepath.Join(served, "asked")))(t)
			want := "https://github.com/tidegate/tidegate/releases/download/v1.2.3/" + name + "\nhttps://github.com/tidegate/tidegate/releases/download/v1.2.3/checksums.txt\n"
			if test.status == 2 {
				want = ""
			}
			if string(asked) != want {
				t.Errorf("asked for %s", asked)
			}
			if did := strings.Join(r.did, ";"); strings.Contains(did, "Review") != (test.status == 0) {
				t.Errorf("the steps are %s", did)
			}
		})
	}
}

// archiveOf is a release archive in whose place of the program stands a script that
// starts it.
func archiveOf(t *testing.T, program string) []byte {
	t.Helper()
	text := []byte("#!/bin/bash\nexec '" + program + "' \"$@\"\n")
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	files := tar.NewWriter(packed)
	err := files.WriteHeader(&tar.Header{Name: "tidegate", Mode: 0o755, Size: int64(len(text))})
	if err == nil {
		_, err = files.Write(text)
	}
	must.Do(t, errors.Join(err, files.Close(), packed.Close()))
	return out.Bytes()
}

func TestExampleWorkflowUsesWhatTheActionOffers(t *testing.T) {
	actions := actionsOfReviews(t)
	var a action
	parseYAML(t, "action.yml", &a)
	actions["tidegate/tidegate@v1.2.3"] = a
	for file, uses := range map[string]map[string][]string{
		"docs/examples/review-wave.yaml":     {"tidegate/tidegate@v1.2.3": {"perspectives", "outputs"}},
		"docs/examples/audit-documents.yaml": {"tidegate/tidegate@v1.2.3": {"documents"}},
		"docs/examples/review-change.yaml": {"tidegate/tidegate/actions/review@v1.2.3": {"reviewer", "test"},
			"tidegate/tidegate/actions/publish@v1.2.3": {"state"}},
	} {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
		}
		parseYAML(t, file, &workflow)
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				needs, used := uses[step.Uses]
				if !used {
					continue
				}
				delete(uses, step.Uses)
				for _, name := range needs {
					if step.With[name] == "" {
						t.Errorf("%s: the input %s is missing", file, name)
					}
				}
				for name := range step.With {
					if _, ok := actions[step.Uses].Inputs[name]; !ok {
						t.Errorf("%s: %s has no input %s", file, step.Uses, name)
					}
				}
				if step.With["sarif"] == "true" && workflow.Permissions["security-events"] != "write" {
					t.Errorf("%s: the workflow may not upload findings", file)
				}
				if strings.Contains(step.Uses, "publish") && (workflow.Permissions["pull-requests"] != "write" || workflow.Permissions["checks"] != "write") {
					t.Errorf("%s: the workflow may not write a comment", file)
				}
			}
		}
		for action := range uses {
			t.Errorf("%s: %s is not used", file, action)
		}
	}
}
