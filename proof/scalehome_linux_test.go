package proof_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestCommandsOfAPersonInALargeHome types every command that shows something, in a
// home with 10,000 runs, of which one has 1,000 jobs with 100 MB of answers and 10,000
// sources, and in one that has a tenth of it. The times are printed, so that the
// reader sees how they grow; memory is bounded. The short form types some of the
// commands, in one home with a few of each.
func TestCommandsOfAPersonInALargeHome(t *testing.T) {
	homes := []largeHome{{runs: 2, jobs: 2, sources: 2, answer: 10_000}}
	if full.Asked() {
		homes = []largeHome{{runs: 1_000, jobs: 100, sources: 10, answer: 100_000}, {runs: 10_000, jobs: 1_000, sources: 10, answer: 100_000}}
	}
	for _, home := range homes {
		spent := home.typeAll(t)
		t.Logf("%d runs, %d jobs:", home.runs, home.jobs)
		for _, c := range spent {
			name := strings.Join(c.words, " ")
			t.Logf("%-44s %8.3f s, %4d MiB", name, c.Processors.Seconds(), c.Memory>>20)
			if allowed := home.memory(c.words[0], c.words[1]); c.Memory > allowed {
				t.Errorf("%s took %d MiB, at most %d are allowed", name, c.Memory>>20, allowed>>20)
			}
		}
	}
}

// memory is what a command may use in the home. Those that show every answer hold
// them, character by character.
func (l largeHome) memory(noun, verb string) int64 {
	const most = 512 << 20
	if noun == "report" || verb == "export" {
		return most + 40*int64(l.jobs)*int64(l.answer)
	}
	return most
}

// personCommands are the commands that show a run or a home, or judge it.
var personCommands = [][]string{
	{"run", "list"}, {"run", "list", "--format", "json"}, {"run", "status", "large"}, {"run", "log", "large"}, {"run", "verify", "large"}, {"run", "replay", "large"},
	{"run", "step", "large"}, {"job", "list", "large"}, {"job", "show", "large", "wave1.p0001"}, {"job", "prompt", "large", "summary.p0001"},
	{"gate", "list", "large"}, {"gate", "b", "large"}, {"citations", "list", "large"}, {"citations", "check", "large"}, {"citations", "extract", "large"},
	{"report", "large", "--partial"}, {"report", "large", "--partial", "--format", "html"}, {"report", "large", "--partial", "--format", "bibtex"},
	{"run", "export", "large", "--html", "pages"},
}

// largeHome is how large a home is.
type largeHome struct{ runs, jobs, sources, answer int }

// typing is what a command took.
type typing struct {
	words []string
	cost
}

// typeAll makes the home and types the commands in it.
func (l largeHome) typeAll(t *testing.T) []typing {
	t.Helper()
	o := newOffice(t)
	desk := run.Desk{Now: time.Now}
	for i := range l.runs {
		must.Get(run.Create(t.Context(), desk, o.env.Home, run.InitInput{Query: fmt.Sprintf("What is the tide at place %d?", i), RunID: fmt.Sprintf("r%05d", i)}))(t)
	}
	f := o.run("large")
	l.drive(t, f)
	var spent []typing
	for i := 0; i < len(personCommands); i += full.Stride(len(personCommands), 4) {
		words := personCommands[i]
		command := exec.Command(binary, words...)
		command.Dir, command.Env, command.Stdout = o.dir, append(os.Environ(), "TIDEGATE_HOME="+o.dir), io.Discard
		took, err := measured(command)
		if err != nil {
			t.Fatalf("tidegate %q: %v", words, err)
		}
		spent = append(spent, typing{words, took})
	}
	return spent
}

// drive makes a run whose first wave is done: each job has an answer of so many
// bytes, with so many sources.
func (l largeHome) drive(t *testing.T, f folder) {
	t.Helper()
	f.call(t, "deep_research_run_init", tidegate.Pairs("query", question, "run_id", f.id))
	for name, value := range map[string]any{"max_wave1_agents": 1000, "max_mb": 100_000} {
		f.person(t, "deep_research_run_limit", tidegate.Pairs("manifest_path", f.manifest(), "name", name, "value", value, "reason", "r"))
	}
	list := []tidegate.Details{}
	for i := range l.jobs {
		list = append(list, tidegate.Pairs("id", fmt.Sprintf("p%04d", i), "title", fmt.Sprintf("Place %d", i), "track", "standard", "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", 1_000_000, "max_sources", l.sources, "tool_budget", tidegate.Pairs("search", 3), "must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	f.must(t, "deep_research_perspectives_write", tidegate.Pairs("perspectives_path", f.path("perspectives.json"), "reason", "r",
		"value", tidegate.Pairs("schema_version", "perspectives.v1", "run_id", f.id, "created_at", "2026-03-04T00:00:00Z", "perspectives", list)))
	fetch := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		var batch []*archive.Packed
		at := time.Now()
		for _, url := range urls {
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: 200,
				Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte(article(url))}}})
			if err != nil {
				return err
			}
			batch = append(batch, packed)
		}
		return keep(batch)
	}
	must.Get(engine.Drive(t.Context(), f.manifest(), engine.Options{Desk: run.Desk{Now: time.Now}, Pool: wordy(l), Fetch: fetch, Wait: func(context.Context, time.Duration) {}}))(t)
	if stage := f.stage(t); stage != "summaries" {
		t.Fatalf("the run is in stage %s", stage)
	}
}

// wordy is a pool of agents that write long outputs, and nothing else.
type wordy largeHome

func (wordy) Cancel(context.Context, string) error { return nil }

func (w wordy) Do(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	if task.Kind != "wave1" {
		return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "enough"}
	}
	var b strings.Builder
	b.WriteString("## Findings\n\n")
	for b.Len() < w.answer {
		b.WriteString("The moon pulls at the water here, and the water follows it twice a day around the earth.\n\n")
	}
	b.WriteString("## Gaps\n\nNothing is open.\n\n## Sources\n\n")
	for i := range w.sources {
		fmt.Fprintf(&b, "- https://example.org/%s-%d\n", task.Job, i)
	}
	return driver.Answer{Text: b.String()}, nil
}
