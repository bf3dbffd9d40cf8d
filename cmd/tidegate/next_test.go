package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// person is a person at a shell who pastes what tidegate prints.
type person struct {
	t     *testing.T
	dir   string
	allow string // what may be fetched beyond the public web
}

// site starts a web site on loopback, allows it, and returns its URL.
func (p *person) site() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>The moon and the tide</title><p>The tide is moved by the moon. It turns twice a day, and it is highest when moon and sun pull together.</p>")
	}))
	p.t.Cleanup(server.Close)
	p.allow = strings.TrimPrefix(server.URL, "http://")
	return server.URL
}

func newPerson(t *testing.T) *person {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to paste commands into")
	}
	// A path that a shell would take apart.
	dir := filepath.Join(t.TempDir(), "the person's $HOME")
	must.Do(t, os.Mkdir(dir, 0o700))
	return &person{t: t, dir: dir}
}

// paste types a command and returns what it prints. A shell takes every command
// apart; with -full it also starts tidegate, which otherwise runs inside the test.
func (p *person) paste(command string) (string, error) {
	variables := map[string]string{"TIDEGATE_HOME": filepath.Join(p.dir, "home"), "TIDEGATE_FETCH_ALLOW": p.allow, "XDG_CONFIG_HOME": filepath.Join(p.dir, "config")}
	inside := strings.HasPrefix(command, "tidegate ") && !full.Asked()
	if inside {
		command = `tidegate() { printf '%s\0' "$@"; }; ` + command
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = p.dir, os.Environ()
	for name, value := range variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil || !inside {
		return string(out), err
	}
	var printed strings.Builder
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	here := surroundings{dir: p.dir, getenv: func(name string) string { return variables[name] }, stdout: &printed, stderr: io.Discard}
	if status := here.run(p.t.Context(), words...); status != 0 {
		err = fmt.Errorf("exit status %d", status)
	}
	return printed.String(), err
}

func (p *person) must(command string) string {
	p.t.Helper()
	out, err := p.paste(command)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return out
}

func (p *person) put(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	must.Write(p.t, path, content)
}

func (p *person) read(name string) string {
	p.t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(p.dir, name)))(p.t)
	return string(data)
}

type blocker struct {
	Code, Message string
	Meet          []struct {
		Text, Tool, Command string
		Arguments           map[string]any
	}
}

type runStatus struct {
	Stage       string
	NextCommand *string   `json:"next_command"`
	WaitingFor  []blocker `json:"waiting_for"`
}

// call calls a tool in this process, as the command line does.
func (p *person) call(name string, args map[string]any) tool.Result {
	p.t.Helper()
	raw := must.Get(json.Marshal(args))(p.t)
	tools := catalog.Tools(&catalog.Env{Now: time.Now, Dir: p.dir, Project: p.dir, Home: filepath.Join(p.dir, "home", "runs")})
	at := slices.IndexFunc(tools, func(t *tool.Tool) bool { return t.Name == name })
	return tools[at].Call(tidegate.WithActor(p.t.Context(), tidegate.Actor{Kind: tidegate.Person}), raw, tool.Caller{})
}

// status is what `tidegate run status r --format json` prints.
func (p *person) status() runStatus {
	p.t.Helper()
	return p.statusOf("r")
}

func (p *person) statusOf(id string) runStatus {
	p.t.Helper()
	result := p.call("deep_research_run_status", map[string]any{"manifest_path": filepath.Join(p.dir, "home", "runs", id, "manifest.json")})
	var s runStatus
	if err := json.Unmarshal(result.Envelope, &s); err != nil || result.Err != nil {
		p.t.Fatalf("%v: %s", err, result.Envelope)
	}
	return s
}

const nextPerspectives = `{"schema_version":"perspectives.v1","run_id":"r","created_at":"2026-01-01","perspectives":[{"id":"p1","title":"T","track":"standard","agent_type":"a",
	"prompt_contract":{"max_words":100,"max_sources":5,"tool_budget":{},"must_include_sections":["Findings","Sources","Gaps"]}}]}`

// TestNextCommandLeadsOn follows the command that status prints. It does something
// itself only where status says that no command does it.
func TestNextCommandLeadsOn(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	moon := p.site() + "/moon"
	p.put("perspectives.json", nextPerspectives)
	p.put("outputs/p1.md", "## Findings\n\nThe moon pulls. "+moon+"\n\n## Sources\n\n- The moon and the tide, "+moon+"\n\n## Gaps\n\n- (P3) the sun\n")
	p.must(`tidegate run init "Why do tides turn?" --id r`)
	var typed []string
	for range 20 {
		s := p.status()
		if s.NextCommand == nil {
			break
		}
		words := strings.Fields(*s.NextCommand)
		typed = append(typed, strings.Join(words[1:3], " "))
		p.must(strings.NewReplacer(" FILE", " perspectives.json", " FOLDER", " outputs").Replace(*s.NextCommand))
	}
	if got, want := strings.Join(typed, ", "), "perspectives write, run advance, wave plan, wave ingest, wave review, gate b, run advance, pivot decide, run advance, "+
		"citations fetch, citations check, gate c, run advance, summary build, gate d, run advance"; got != want {
		t.Errorf("typed %s\n want %s", got, want)
	}
	if s := p.status(); s.Stage != "synthesis" {
		t.Errorf("the run is in %s", s.Stage)
	}

	// What was judged changes: the gate is derived again, and a review is asked
	// for only once the gate has failed on the old one.
	p.put("home/runs/r/wave-1/p1.md", "nothing that was asked for")
	for _, want := range []string{"gate b", "wave review", "gate b"} {
		if got := *p.status().NextCommand; !strings.HasPrefix(got, "tidegate "+want+" ") {
			t.Errorf("the next command is %q, want %s", got, want)
		}
		p.paste(*p.status().NextCommand)
	}
}

// TestNextCommandAboutSourcesThatCannotBeFetched: where there is nothing to fetch,
// status does not suggest fetching, and once gate C has failed, it does not suggest
// judging the same again.
func TestNextCommandAboutSourcesThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ sources, sensitivity, want string }{
		"malformed":          {"- A table, http://[::1/table\n- Another, http://example.org:99999/\n", "normal", "citations check, gate c, citations replace"},
		"none":               {"", "normal", "citations check, gate c, gate c --accept"},
		"none, off the web":  {"", "no_web", "citations check, gate c, gate c --accept"},
		"one, off the web":   {"- A table, https://example.org/table\n", "no_web", "citations attach"},
		"malformed, off too": {"- A table, http://[::1/table\n", "no_web", "citations attach"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.put("perspectives.json", nextPerspectives)
			p.must(`tidegate run init "Why do tides turn?" --id r --sensitivity ` + row.sensitivity)
			p.put("outputs/p1.md", "## Findings\n\nThe moon pulls.\n\n## Sources\n\n"+row.sources+"\n## Gaps\n\n- (P3) the sun\n")
			for range 9 { // up to the stage of the sources
				p.must(strings.NewReplacer(" FILE", " perspectives.json", " FOLDER", " outputs").Replace(*p.status().NextCommand))
			}
			var typed []string
			for range 5 {
				command := *p.status().NextCommand
				words := strings.Fields(command)
				step := strings.Join(words[1:3], " ")
				if strings.Contains(command, "--accept") {
					step += " --accept"
				}
				typed = append(typed, step)
				if strings.Contains(command, " CID") || strings.Contains(command, "--accept") {
					break // a person's decision
				}
				p.paste(command)
			}
			if got := strings.Join(typed, ", "); got != row.want {
				t.Errorf("typed %s\n want %s", got, row.want)
			}
		})
	}
}

// stage puts the run into a stage as no tool would.
func (p *person) stage(to string) {
	p.t.Helper()
	path := filepath.Join(p.dir, "home/runs/r/manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	var m map[string]any
	must.Do(p.t, json.Unmarshal(data, &m))
	m["stage"].(map[string]any)["current"] = to
	if data, err = json.Marshal(m); err != nil {
		p.t.Fatal(err)
	}
	must.Do(p.t, os.WriteFile(path, data, 0o600))
	for _, name := range []string{"audit.jsonl", "audit.head"} { // a run without a log is taken as found
		if err := os.Remove(filepath.Join(p.dir, "home/runs/r/logs", name)); err != nil && !os.IsNotExist(err) {
			p.t.Fatal(err)
		}
	}
}

// TestEverythingThatWouldMeetABlockerExists demands of every remedy that its
// command parses and that its tool takes its arguments.
func TestEverythingThatWouldMeetABlockerExists(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.must("tidegate run init q --id r")
	schemas := p.schemas()
	seen := map[string]bool{}
	check := func(blockers []blocker) {
		t.Helper()
		for _, b := range blockers {
			for _, m := range b.Meet {
				key := b.Code + m.Text + m.Command
				if seen[key] {
					continue
				}
				seen[key] = true
				if m.Command != "" {
					if out, err := p.paste(m.Command + " --help"); err != nil || strings.Contains(out, "Available Commands") {
						t.Errorf("%s: %q is no command: %v", b.Message, m.Command, err)
					}
				}
				if m.Tool == "" {
					continue
				}
				schema, ok := schemas[m.Tool]
				if !ok {
					t.Errorf("%s: there is no tool %s", b.Message, m.Tool)
				}
				for name := range m.Arguments {
					if _, ok := schema.Properties[name]; !ok {
						t.Errorf("%s: %s has no argument %s", b.Message, m.Tool, name)
					}
				}
				for _, name := range schema.Required {
					if _, ok := m.Arguments[name]; !ok {
						t.Errorf("%s: %s needs the argument %s", b.Message, m.Tool, name)
					}
				}
			}
		}
	}
	moves := map[string][]string{"init": {"", "wave1"}, "perspectives": {""}, "wave1": {""}, "pivot": {"", "wave2", "citations"}, "wave2": {""},
		"citations": {""}, "summaries": {""}, "synthesis": {""}, "review": {"", "synthesis", "finalize"}}
	for _, files := range []map[string]string{
		{},
		{"pivot.json": `{"decision":{"wave2_required":false,"wave2_gap_ids":[]}}`, "review/review-bundle.json": `{"decision":"PASS"}`, "wave-2/wave2-perspectives.json": "{}"},
		{"pivot.json": `{"decision":{"wave2_required":true,"wave2_gap_ids":[]}}`, "review/review-bundle.json": `{"decision":"CHANGES_REQUIRED"}`},
		{"pivot.json": `{"decision":{"wave2_required":true,"wave2_gap_ids":["a","b","c","d","e","f","g"]}}`, "wave-1/wave1-plan.json": "{}"},
	} {
		for name, content := range files {
			p.put("home/runs/r/"+name, content)
		}
		for from, requests := range moves {
			p.stage(from)
			check(p.status().WaitingFor)
			for _, to := range requests {
				check(p.refusal(to))
			}
		}
	}
	p.stage("review")
	p.must("tidegate run limit r max_review_iterations 0 --reason x")
	p.put("home/runs/r/review/review-bundle.json", `{"decision":"CHANGES_REQUIRED"}`)
	check(p.refusal("synthesis"))
	p.must("tidegate run pause r")
	check(p.status().WaitingFor)
	p.must("tidegate run resume r")
	p.paste(`TIDEGATE_NOW=2099-01-01T00:00:00Z tidegate call deep_research_watchdog_check --args '{"manifest_path":"` + p.manifest() + `","reason":"x"}'`)
	check(p.status().WaitingFor)
	p.must("tidegate run resume r --accept --reason x")
	p.must("tidegate run init q --id sound")
	p.put("home/runs/sound/manifest.json", strings.Replace(p.read("home/runs/sound/manifest.json"), `"max_summary_kb": 5`, `"max_summary_kb": 9`, 1))
	check(p.statusOf("sound").WaitingFor)
	if len(seen) < 25 {
		t.Errorf("only %d remedies were seen", len(seen))
	}
}

// manifest is the path of the manifest, quoted for JSON in single quotes.
func (p *person) manifest() string {
	return strings.ReplaceAll(filepath.Join(p.dir, "home/runs/r/manifest.json"), "'", `'\''`)
}

// refusal is what is missing for a move, as a dry run says.
func (p *person) refusal(to string) []blocker {
	p.t.Helper()
	run := filepath.Join(p.dir, "home", "runs", "r")
	result := p.call("deep_research_stage_advance", map[string]any{"manifest_path": filepath.Join(run, "manifest.json"), "gates_path": filepath.Join(run, "gates.json"),
		"requested_next": to, "dry_run": true, "reason": "x"})
	if result.Err == nil {
		return nil
	}
	var envelope struct {
		Error struct {
			Details struct{ Blockers []blocker }
		}
	}
	must.Do(p.t, json.Unmarshal(result.Envelope, &envelope))
	return envelope.Error.Details.Blockers
}

type inputSchema struct {
	Properties map[string]any
	Required   []string
}

func (p *person) schemas() map[string]inputSchema {
	p.t.Helper()
	var list struct {
		Tools []struct {
			Name   string
			Schema inputSchema `json:"input_schema"`
		}
	}
	must.Do(p.t, json.Unmarshal([]byte(p.must("tidegate tools --json")), &list))
	schemas := map[string]inputSchema{}
	for _, tool := range list.Tools {
		schemas[tool.Name] = tool.Schema
	}
	return schemas
}
