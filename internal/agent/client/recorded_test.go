package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"wave1.grid/001/prompt.md":   "Say hello.",
		"wave1.grid/001/answer-1.md": "# First\n",
		"wave1.grid/001/answer-2.md": "# Repaired\n",
		"wave1.grid/001/attempt.json": `{"version":"9.9","tool_calls":{"search_calls":3},"outcome":"accepted",
			"submissions":[{"usage":{"input_tokens":7,"output_tokens":8,"cost_usd":0.25}},{"usage":null}]}`,
		"wave1.apart/001/answer-1.md":  "# First\n",
		"wave1.apart/001/answer-2.md":  "# Repaired\n",
		"wave1.apart/001/attempt.json": `{"tool_calls":{"search_calls":3},"submissions":[{"tool_usage":{"search_calls":2}},{"tool_usage":{"search_calls":1}}]}`,
		"wave1.grid/002/attempt.json":  `{"outcome":"rate"}`,
		"wave1.grid/004/answer-1.md":   " \n",
		"wave1.grid/005/attempt.json":  `{"outcome":`,
		"wave1.grid/006/answer-1.md/x": "in a folder of that name",
		"wave1.grid/007/answer-1.md":   "# First\n",
		"wave1.grid/007/prompt.md/x":   "in a folder of that name",
		"wave1.grid/008/answer-1.md":   "# First\n",
		"wave1.grid/008/answer-2.md/x": "in a folder of that name",
		"wave1.a%2Fb/001/answer-1.md":  "# Escaped\n",
		"review/001/answer-1.json":     `{"decision":"PASS"}`,
		"review/002/answer-1.json":     strings.Repeat("x", driver.DefaultAnswer+1),
	} {
		file := filepath.Join(folder, "jobs", filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	d := must.Get(client.New(driver.Settings{Driver: "recorded:" + folder}, driver.Host{}))(t)
	cost := 0.25
	for _, test := range []struct {
		name          string
		job           string
		attempt, turn int
		prompt        string
		want          driver.Answer
		kind          driver.Kind
		warned        bool
	}{
		{name: "the same prompt", job: "wave1.grid", attempt: 1, turn: 1, prompt: "Say hello.", want: driver.Answer{
			Text: "# First\n", Session: "recorded", Version: "9.9", ToolCalls: map[string]int{"search_calls": 3},
			Usage: &driver.Usage{Input: 7, Output: 8}, CostUSD: &cost}},
		{name: "another prompt", job: "wave1.grid", attempt: 1, turn: 1, prompt: "Say goodbye.", warned: true, want: driver.Answer{
			Text: "# First\n", Session: "recorded", Version: "9.9", ToolCalls: map[string]int{"search_calls": 3},
			Usage: &driver.Usage{Input: 7, Output: 8}, CostUSD: &cost}},
		{name: "the repair", job: "wave1.grid", attempt: 1, turn: 2, prompt: "Again.", want: driver.Answer{
			Text: "# Repaired\n", Version: "9.9"}}, // the calls of the attempt were counted before
		{name: "calls of the first turn", job: "wave1.apart", attempt: 1, turn: 1, want: driver.Answer{Text: "# First\n", Session: "recorded", ToolCalls: map[string]int{"search_calls": 2}}},
		{name: "calls of the second turn", job: "wave1.apart", attempt: 1, turn: 2, want: driver.Answer{Text: "# Repaired\n", ToolCalls: map[string]int{"search_calls": 1}}},
		{name: "a failure", job: "wave1.grid", attempt: 2, turn: 1, kind: driver.Rate},
		{name: "nothing", job: "wave1.grid", attempt: 3, turn: 1, kind: driver.Empty},
		{name: "an empty answer", job: "wave1.grid", attempt: 4, turn: 1, kind: driver.Empty},
		{name: "a broken record", job: "wave1.grid", attempt: 5, turn: 1, kind: driver.Unavailable},
		{name: "an answer that cannot be read", job: "wave1.grid", attempt: 6, turn: 1, kind: driver.Unavailable},
		{name: "a prompt that cannot be read", job: "wave1.grid", attempt: 7, turn: 1, kind: driver.Unavailable},
		{name: "a repair that cannot be read", job: "wave1.grid", attempt: 8, turn: 1, kind: driver.Unavailable},
		{name: "an id that is not a file name", job: "wave1.a/b", attempt: 1, turn: 1, want: driver.Answer{Text: "# Escaped\n"}},
		{name: "an id that leads out", job: "../wave1.grid", attempt: 1, turn: 1, kind: driver.Empty},
		{name: "JSON", job: "review", attempt: 1, turn: 1, want: driver.Answer{Text: `{"decision":"PASS"}`}},
		{name: "too long", job: "review", attempt: 2, turn: 1, kind: driver.Flood},
	} {
		t.Run(test.name, func(t *testing.T) {
			warned := false
			got, err := d.Run(t.Context(), driver.Task{Job: test.job, Attempt: test.attempt, Turn: test.turn, Prompt: test.prompt}, func(e driver.Event) {
				warned = warned || e.Kind == driver.Warning && strings.Contains(e.Text, "another prompt")
			})
			var failure *driver.Error
			if errors.As(err, &failure) != (test.kind != "") || failure != nil && failure.Kind != test.kind {
				t.Fatalf("got %v, want %q", err, test.kind)
			}
			// Tried again, it would use up an attempt whose answer is there.
			if test.kind == driver.Unavailable && !failure.NeedsPerson() {
				t.Errorf("%v does not last", failure)
			}
			if test.kind == "" {
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			}
			if warned != test.warned {
				t.Errorf("said that the prompt differs: %v, want %v", warned, test.warned)
			}
		})
	}
}

// TestRecordedAsksAgain: what the recorded agent looked up is looked up again, and an answer
// that is another one is said.
func TestRecordedAsksAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	call := func(path, answer string) string {
		raw := fmt.Sprintf(`{"type":"tool","name":"read_file","arguments":{"path":%q,"tree":"change"},"answer_digest":%q}`, path, codec.DigestBytes([]byte(answer)))
		return fmt.Sprintf(`{"kind":"tool","raw":%q}`, raw) + "\n"
	}
	files := filepath.Join(folder, "jobs/code_review.1/001")
	must.Do(t, os.MkdirAll(files, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(files, "answer-1.json"), []byte("{}"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(files, "events.jsonl"), []byte(`{"kind":"message","text":"hm"}`+"\nhalf a li\n"+call("a.go", "text of a.go")+call("b.go", "another text")), 0o600))
	d := must.Get(client.New(driver.Settings{Driver: "recorded:" + folder}, driver.Host{}))(t)
	var asked, warned []string
	home := &driver.Home{Answer: func(_ context.Context, tool string, arguments map[string]string) (string, error) {
		asked = append(asked, tool+" "+arguments["tree"]+" "+arguments["path"])
		return "text of " + arguments["path"], nil
	}}
	must.Get(d.Run(t.Context(), driver.Task{Job: "code_review.1", Attempt: 1, Turn: 1, Home: home}, func(e driver.Event) {
		if e.Kind == driver.Warning {
			warned = append(warned, e.Text)
		}
	}))(t)
	if strings.Join(asked, "; ") != "read_file change a.go; read_file change b.go" || len(warned) != 1 || !strings.Contains(warned[0], "b.go") {
		t.Errorf("asked %q, warned of %q", asked, warned)
	}
}

func TestNewRefusesWhatNoDriverIs(t *testing.T) {
	for _, name := range []string{"", "clode", "exec", "exec:", "exec:  ", `exec:say "hello`, `exec:''`, "recorded", "recorded:"} {
		if _, err := client.New(driver.Settings{Driver: name}, driver.Host{}); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%q: got %v, want INVALID_ARGS", name, err)
		}
	}
}
