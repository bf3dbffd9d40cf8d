package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

	"github.com/spf13/cobra"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// played are the documents whose shell blocks are run, in order, each document
// in a home of its own. In all others every command line must be one that the
// program accepts.
var played = []string{"README.md", "docs/guide.md", "docs/setup.md", "docs/ci.md", "docs/go.md", "docs/rules.md"}

// shown are the languages of blocks that contain nothing to run.
var shown = map[string]string{
	"":         "a layout or a diagram",
	"text":     "a layout or an output",
	"markdown": "a text that an agent would write",
	"mermaid":  "a diagram",
}

// block is a fenced code block of a document. A comment <!-- not run: reason -->
// on the line before it excuses it.
type block struct {
	language string
	line     int // 1-based, of its first line of code
	lines    []string
	excuse   string
}

var excuse = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

func blocksOf(text string) []block {
	var all []block
	var open *block
	before := ""
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{language: language, line: i + 2}
			if m := excuse.FindStringSubmatch(before); m != nil {
				open.excuse = m[1]
			}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
		before = line
	}
	return all
}

// taught are the lines of the block of the guide that a test runs with what a reader
// brings: an agent, or the web. The block's comment names the test.
func taught(t *testing.T) []string {
	t.Helper()
	for _, b := range blocksOf(documents(t)["docs/guide.md"]) {
		if strings.Contains(b.excuse, t.Name()) {
			return b.lines
		}
	}
	t.Fatalf("no block of the guide names %s", t.Name())
	return nil
}

var wordForm = regexp.MustCompile(`"([^"]*)"|\S+`)

// typedWords are the words of a line of a document, behind the program's name.
func typedWords(line string) []string {
	var words []string
	for _, m := range wordForm.FindAllStringSubmatch(line, -1)[1:] {
		words = append(words, cmp.Or(m[1], m[0]))
	}
	return words
}

func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files := must.Get(filepath.Glob(filepath.Join("..", "..", pattern)))(t)
		for _, file := range files {
			data := must.Get(os.ReadFile(file))(t)
			name := must.Get(filepath.Rel(filepath.Join("..", ".."), file))(t)
			texts[filepath.ToSlash(name)] = string(data)
		}
	}
	for _, name := range played {
		if texts[name] == "" {
			t.Fatalf("%s is missing", name)
		}
	}
	return texts
}

// TestEveryBlockInTheDocumentsIsExercised runs what can be run and compares the
// rest with the file that it shows.
func TestEveryBlockInTheDocumentsIsExercised(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash to run the documents with")
	}
	examples := readLines(t, "example_test.go", "catalog/example_test.go", "pivot/example_test.go", "internal/base/report/example_test.go")
	workflows := readLines(t, "docs/examples/review-wave.yaml", "docs/examples/review-change.yaml", "docs/examples/review-pull-request.yaml", "docs/examples/review-change.gitlab-ci.yml", "docs/examples/audit-documents.yaml")
	for name, text := range documents(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(played, name) && name != "README.md" && !*update {
				full.Story(t)
			}
			home := newHome(t)
			for i, b := range blocksOf(text) {
				where := name + ":" + strconv.Itoa(b.line)
				switch {
				case b.excuse != "" || shown[b.language] != "":
				case cannot(b) != "":
					t.Logf("%s was not run: %s", where, cannot(b))
				case b.language == "sh" && slices.Contains(played, name):
					if out, status := home.run(t, strings.Join(b.lines, "\n"), true); status != 0 {
						t.Fatalf("%s: exit status %d\n%s", where, status, out)
					}
				case b.language == "console" && slices.Contains(played, name):
					text = home.session(t, where, text, i, b)
				case b.language == "sh" || b.language == "console":
				case b.language == "go" && !contains(examples, b.lines):
					t.Errorf("%s: no compiled example has these lines", where)
				case b.language == "yaml" && !contains(workflows, b.lines):
					t.Errorf("%s: no example workflow has these lines", where)
				case b.language == "json":
					home.document(t, where, strings.Join(b.lines, "\n"))
				case b.language != "go" && b.language != "yaml":
					t.Errorf("%s: nobody decided what to do with a block of %q", where, b.language)
				}
			}
			if *update {
				must.Do(t, os.WriteFile(filepath.Join("..", "..", filepath.FromSlash(name)), []byte(text), 0o644))
			}
		})
	}
}

func readLines(t *testing.T, names ...string) []string {
	t.Helper()
	var all []string
	for _, name := range names {
		data := must.Get(os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name))))(t)
		all = append(all, trimmed(strings.Split(string(data), "\n"))...)
	}
	return all
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSpace(line)
	}
	return out
}

// contains reports whether all lines are in text one after the other, apart from
// indentation.
func contains(text, lines []string) bool {
	lines = trimmed(lines)
	for i := 0; i+len(lines) <= len(text); i++ {
		if slices.Equal(text[i:i+len(lines)], lines) {
			return true
		}
	}
	return false
}

// home is where a reader follows a document: a folder, and a shell whose
// working folder, variables and last exit status last from block to block.
type home struct {
	root   string
	env    []string
	demo   string // the folder that the demo left, for those who would play it; "" to play it again
	status int
}

// newHome prepares a home in which the public address of the repository leads
// to this checkout, and Go finds what it has downloaded already.
func newHome(t *testing.T) *home {
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	h := &home{root: root, env: []string{
		"HOME=" + root, "XDG_DATA_HOME=", "CODEX_HOME=", "TIDEGATE_HOME=", "TIDEGATE_NOW=2026-03-02T09:00:00Z", "NO_COLOR=1",
		"GOBIN=" + filepath.Join(root, "go", "bin"), "GOFLAGS=-trimpath -buildvcs=false",
	}}
	repository := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	h.env = append(h.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/tidegate/tidegate")
	goEnv := must.Get(settingsOfGo())(t)
	h.env = append(h.env, goEnv...)
	if !full.Asked() {
		demo := must.Get(theDemo())(t)
		h.demo = demo.folder
	}
	return h
}

// settingsOfGo are the settings without which another home would download and build
// everything again.
var settingsOfGo = sync.OnceValues(func() ([]string, error) {
	names := []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOPROXY"}
	values, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, err
	}
	settings := strings.Split(strings.TrimSuffix(string(values), "\n"), "\n")
	for i, name := range names {
		settings[i] = name + "=" + settings[i]
	}
	return settings, nil
})

// cannot says why this machine or mode cannot run a block, "" when it can.
func cannot(b block) string {
	begins := func(with string) bool {
		return slices.ContainsFunc(b.lines, func(line string) bool { return strings.HasPrefix(line, with) })
	}
	switch {
	case full.Asked():
	case begins("tidegate canary "):
		return "the canary plants everything; -full does it"
	case slices.ContainsFunc(b.lines, func(line string) bool { return strings.Contains(line, "tidegate run replay ") }):
		return "a replay takes as long as the run; -full does it"
	case slices.ContainsFunc(b.lines, func(line string) bool {
		return strings.HasPrefix(line, "$ tidegate research ") && !strings.Contains(line, "--plan-only")
	}):
		return "the research that is planned first is enough; -full does the others"
	}
	if !begins("git clone ") {
		return ""
	}
	if !full.Asked() {
		return "building a clone takes long; -full does it"
	}
	if _, err := os.Stat(filepath.Join("..", "..", ".git")); err != nil {
		return "this is no checkout"
	}
	return ""
}

const shell = `
state=$HOME/.state; set -o allexport; [ -f "$state" ] && . "$state" && cd "$WHERE"; set +o allexport
`

const keep = `
last=$?; { declare -p ${!TIDEGATE_*} NO_COLOR; printf 'WHERE=%q\n' "$PWD"; } >"$state"; exit $last
`

var (
	playing = regexp.MustCompile(`tidegate demo --keep (\w+)`)
	going   = regexp.MustCompile(`tidegate run continue harbour --parallel 1\b`)
)

var (
	oneCommand = regexp.MustCompile(`^tidegate [\w ./:?,"-]+$`)
	kept       = regexp.MustCompile(`(?m)^(?:declare -x )?(\w+)="?([^"\n]*)"?$`)
)

// variables are those of the reader's shell, with its working folder as WHERE; nil
// where only a shell can read them.
func (h *home) variables(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{"WHERE": h.root}
	for _, each := range h.env {
		name, value, _ := strings.Cut(each, "=")
		values[name] = value
	}
	state, err := os.ReadFile(filepath.Join(h.root, ".state"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if bytes.ContainsAny(state, `\'`) {
		return nil
	}
	for _, m := range kept.FindAllStringSubmatch(string(state), -1) {
		values[m[1]] = m[2]
	}
	return values
}

// run runs a script as a reader would, and returns what it prints. A single command of
// tidegate that needs no process runs inside the test, and a run that agents did before for
// another test is taken from there; with -full a shell runs all.
func (h *home) run(t *testing.T, script string, strict bool) (string, int) {
	t.Helper()
	words := strings.TrimPrefix(script, "tidegate ")
	inside := oneCommand.MatchString(script) && !startsMore.MatchString(words) && !looksAround.MatchString(words) && !full.Asked()
	if variables := h.variables(t); inside && variables != nil {
		var out string
		out, h.status = typedIn(t.Context(), variables["WHERE"], variables, commandWords(script)...)
		return h.masked(out), h.status
	}
	options := "set +e"
	if strict {
		options = "set -e; trap 'echo failed >&2' ERR"
	}
	if h.demo != "" {
		script = playing.ReplaceAllString(script, `{ cp -R "`+h.demo+`" $1; cat "`+h.demo+`.txt"; }`)
	}
	if going.MatchString(script) && !full.Asked() {
		done := must.Get(theResearch())(t)
		script = going.ReplaceAllString(script, `{ rm -r "$$TIDEGATE_HOME/runs/harbour"; cp -R "`+done.folder+`/runs/harbour" "$$TIDEGATE_HOME/runs"; cat "`+done.folder+`.txt"; }`)
	}
	text := shell + "fail() { return $1; }; fail " + strconv.Itoa(h.status) + "\n"
	if strict {
		text += options + "\n" + script + "\nset +e; trap - ERR; true\n" + keep
	} else {
		text += script + keep
	}
	command := exec.Command("bash", "-c", text)
	command.Dir = h.root
	command.Env = append(os.Environ(), h.env...)
	out, err := command.CombinedOutput()
	h.status = 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		h.status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return h.masked(string(out)), h.status
}

// masked is what was printed, without what differs from home to home.
func (h *home) masked(out string) string {
	return digest.ReplaceAllString(strings.ReplaceAll(out, h.root, "/home/you"), "sha256:…")
}

// session runs the commands of a console block and compares what they print. A
// line "…" stands for any lines. It returns the document with what was printed
// in place of what did not match.
func (h *home) session(t *testing.T, where, document string, index int, b block) string {
	t.Helper()
	var now []string
	for i := 0; i < len(b.lines); {
		command, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			t.Fatalf("%s: a console block begins with a command", where)
		}
		now = append(now, b.lines[i])
		i++
		var want []string
		for ; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); i++ {
			if more, ok := strings.CutPrefix(b.lines[i], "> "); ok && len(want) == 0 {
				command, now = command+"\n"+more, append(now, b.lines[i])
				continue
			}
			want = append(want, b.lines[i])
		}
		out, _ := h.run(t, command, false)
		got := []string{}
		if out != "" {
			got = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		}
		if matches(want, got) {
			now = append(now, want...)
			continue
		}
		now = append(now, got...)
		if !*update {
			t.Errorf("%s: %s (-document +program):\n%s", where, command, difference(strings.Join(want, "\n"), strings.Join(got, "\n")))
		}
	}
	lines := strings.Split(document, "\n")
	first := blocksOf(document)[index].line - 1
	return strings.Join(slices.Concat(lines[:first], now, lines[first+len(b.lines):]), "\n")
}

// matches compares lines; "…" stands for any number of them.
func matches(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		for i := 0; i <= len(got); i++ {
			if matches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && matches(want[1:], got[1:])
}

// document checks a JSON document with the strictness of the program, and
// contracts with its own check.
func (h *home) document(t *testing.T, where, text string) {
	t.Helper()
	v, err := codec.Parse([]byte(text))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	if v.Get("schema_version").Str() != "perspectives.v1" {
		return
	}
	path := filepath.Join(t.TempDir(), "perspectives.json")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	if out, status := typedIn(t.Context(), filepath.Dir(path), nil, "perspectives", "check", path); status != 0 {
		t.Errorf("%s: exit status %d\n%s", where, status, out)
	}
}

var inline = regexp.MustCompile("`(tidegate [a-z][^`]*)`")

// TestEveryCommandInTheDocumentsExists reads all command lines, in blocks and in
// running text: the command must exist, and have the flags.
func TestEveryCommandInTheDocumentsExists(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, text := range documents(t) {
		var lines []string
		for _, b := range blocksOf(text) {
			for _, line := range b.lines {
				line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
				if strings.HasPrefix(line, "tidegate ") && (b.language == "sh" || b.language == "console") {
					lines = append(lines, line)
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			seen++
			if problem := refuses(line); problem != "" {
				t.Errorf("%s: %s: %s", name, line, problem)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d command lines were found", seen)
	}
}

var shellWord = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)

// refuses says why the program has no such command line, "" when it has one.
func refuses(line string) string {
	line, _, _ = strings.Cut(line, " #")
	line = endOfCommand.ReplaceAllString(line, "")
	tree := commandTree()
	tree.Lock()
	defer tree.Unlock()
	cmd, rest, err := tree.root.Find(commandWords(line))
	if err != nil {
		return err.Error()
	}
	if cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.Name() != "tidegate" && cmd.Name() != "mcp" && !strings.Contains(cmd.Use, " [") {
		return "there is no command " + rest[0]
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err.Error()
	}
	return ""
}

var endOfCommand = regexp.MustCompile(`\s*[|>&<;].*$|\\$`)

// lockedTree is all commands. Parsing flags changes a command, so one line is parsed
// at a time.
type lockedTree struct {
	sync.Mutex
	root *cobra.Command
}

var commandTree = sync.OnceValue(func() *lockedTree {
	env := &catalog.Env{}
	tools := catalog.Tools(env)
	program := &cli.Program{Tools: tools, Commands: commands(env, tools), Settings: settings(env), Stderr: new(bytes.Buffer), Dir: "/"}
	return &lockedTree{root: program.Root()}
})

var (
	linkMark = regexp.MustCompile(`\]\(([^)#\s]+)(?:#([^)]+))?\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unmarked = regexp.MustCompile(`[^\pL\pN _-]`)
)

// TestEveryLinkInTheDocumentsLeadsSomewhere follows the links to files and headings.
func TestEveryLinkInTheDocumentsLeadsSomewhere(t *testing.T) {
	followed, texts := 0, documents(t)
	for name, text := range texts {
		for _, m := range linkMark.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			followed++
			to := path.Join(path.Dir(name), m[1])
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
			}
			if m[2] != "" && !slices.ContainsFunc(heading.FindAllStringSubmatch(texts[to], -1), func(h []string) bool {
				return strings.ReplaceAll(unmarked.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == m[2]
			}) {
				t.Errorf("%s: %s has no heading #%s", name, to, m[2])
			}
		}
	}
	if followed < 20 {
		t.Errorf("only %d links were found", followed)
	}
}

// TestTenQuestionsAreFound looks for what a person asks by the words that a person has. That
// the links lead to a heading, [TestEveryLinkInTheDocumentsLeadsSomewhere] looks at.
func TestTenQuestionsAreFound(t *testing.T) {
	texts := documents(t)
	_, questions, _ := strings.Cut(texts["README.md"], "\n| you ask | |\n")
	questions, _, _ = strings.Cut(questions, "\n\n")
	for _, words := range []string{"cost", "private", "offline", "pdf", "language", "websites", "share", "proxy", "error", "up to date", "uninstall"} {
		if !regexp.MustCompile(`(?mi)^\| [^|]*\b` + words + `\b[^|]* \| \[.*#`).MatchString(questions) {
			t.Errorf("no question of the README has the words %q and a link:\n%s", words, questions)
		}
	}
	row := regexp.MustCompile(`(?m)^\| all of them \| ([\d]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`).FindStringSubmatch(texts["docs/evidence.md"])
	if row == nil {
		t.Fatal("docs/evidence.md has no row of all public claims")
	}
	f := make([]float64, len(row))
	for i := 2; i < len(row); i++ {
		f[i] = must.Get(strconv.ParseFloat(row[i], 64))(t)
	}
	figures := fmt.Sprintf("refuse %.0f %% of the unsupported ones and mark another %.0f %% as weak; of the supported ones they refuse %.0f %% and mark %.0f %%.", 100*f[2], 100*(f[3]-f[2]), 100*f[4], 100*(f[5]-f[4]))
	if count := strings.ReplaceAll(texts["README.md"], ",", ""); !strings.Contains(texts["README.md"], figures) || !strings.Contains(count, "Of "+row[1]+" claims that others labelled") {
		t.Errorf("the README does not say that of %s claims the rules %s", row[1], figures)
	}
	if begin, _, _ := strings.Cut(texts["README.md"], "\n## What is checked"); regexp.MustCompile(`(?i)\b(gate|wave|pivot|perspective)s?\b`).MatchString(strings.ReplaceAll(begin, "tidegate", "")) {
		t.Error("the README begins with words that nobody knows yet")
	}
}

// TestREADMEListsEveryExitStatus compares the table with the help.
func TestREADMEListsEveryExitStatus(t *testing.T) {
	out := must.Get(exec.Command("tidegate", "help", "exit-status").Output())(t)
	_, table, _ := strings.Cut(string(out), "Exit status:\n")
	readme := documents(t)["README.md"]
	rows := 0
	for line := range strings.Lines(table) {
		status, meaning, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if row := "| " + status + " | " + meaning + " |"; !strings.Contains(readme, row) {
			t.Errorf("README.md has no row %q", row)
		}
		rows++
	}
	if rows < 5 {
		t.Errorf("help shows %d exit statuses", rows)
	}
}

// TestTheDocumentedAuditIsAccepted: the report that docs/guide.md hands to the API is one that
// can be audited.
func TestTheDocumentedAuditIsAccepted(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`-d '(\{"report": .*\})' http://\S+/api/v1/audits`).FindStringSubmatch(must.Read(t, "../../docs/guide.md"))
	if found == nil {
		t.Fatal("docs/guide.md audits nothing over HTTP")
	}
	home := t.TempDir()
	var out bytes.Buffer
	s := surroundings{dir: home, getenv: func(name string) string { return map[string]string{"TIDEGATE_HOME": home, "HOME": home}[name] }, stdout: &out, stderr: &out}
	if status := s.run(t.Context(), "call", "report_audit", "--args", strings.Replace(found[1], "{", `{"no_fetch": true, `, 1)); status != 0 || !strings.Contains(out.String(), `"outcome"`) {
		t.Errorf("%d: %s", status, out.String())
	}
}
