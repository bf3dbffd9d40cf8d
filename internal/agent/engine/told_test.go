package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestTheAuthorIsToldWhatIsWeak: beside what is refused, the prompt for the repair names
// sentences that are weak by rule, and the numbers that the second reader is asked about.
func TestTheAuthorIsToldWhatIsWeak(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	var first, repair string
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "synthesis" && task.Turn == 1 {
			first = task.Prompt
		} else if task.Job == "synthesis" {
			repair, task.Prompt = task.Prompt, first
		}
		answer, err := obedient(ctx, task)
		if task.Job == "synthesis" && task.Turn == 1 {
			answer.Text = strings.Replace(answer.Text, "## Evidence\n\n", "## Evidence\n\nNobody says where this comes from.\n\nVolcanoes erupt when magma rises through cracks of rock. [@s1]\n\n"+
				"The harbours had 987654 visitors under their owners. [@s1]\n\n", 1)
			answer.Session = "s"
		}
		return answer, err
	}}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	refused, weak, _ := strings.Cut(repair, "Nothing is refused for what follows.")
	if !strings.Contains(refused, "UNCITED_SENTENCE") || strings.Contains(refused, "WEAK_SENTENCE") || !strings.Contains(weak, "WEAK_SENTENCE") ||
		!strings.Contains(weak, "no passage of its pages holds more than a quarter of its words") || !strings.Contains(weak, "NUMBER_NOT_FOUND") {
		t.Errorf("the author is told:\n%s", repair)
	}
	found, err := boardOf(t, desk, manifest).Show("synthesis")
	if err != nil || !strings.Contains(shown(found.Attempts[0].Submissions[0].Warnings), "WEAK_SENTENCE") {
		t.Errorf("the warnings are not kept: %s, %v", shown(found), err)
	}
	verify(t, manifest)
}

// TestVerifiersGetNoTools: a second reader sees its prompt and nothing else.
func TestVerifiersGetNoTools(t *testing.T) {
	t.Parallel()
	manifest, desk := researched.newRun(t, nil)
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "verify" && (task.Tools.Web || task.Tools.Write || len(task.Tools.MCP) > 0 || task.Folder != "" || task.Contract != "" || strings.Contains(task.Prompt, "example.org")) {
			t.Errorf("a second reader is given %s", shown(task))
		}
		return obedient(ctx, task)
	}}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: agents, Relay: &driver.Server{Name: "relay"}, Searches: true})
	if err != nil || out.Status != run.Completed || pool.times("verify.1") == 0 {
		t.Fatal(shown(out), err)
	}
}

// TestSourcesWithoutTextAreMarked: prompts say of a source that can be cited and not be read
// that it carries nothing.
func TestSourcesWithoutTextAreMarked(t *testing.T) {
	t.Parallel()
	manifest, desk := newSmallRun(t, nil)
	const chart = "https://example.org/chart.png"
	marked := map[string]bool{}
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		for line := range strings.Lines(task.Prompt) {
			if strings.Contains(line, "no text can be read there, so it carries no sentence") {
				marked[task.Kind] = strings.Contains(line, chart)
			}
		}
		answer, err := obedient(ctx, task)
		if task.Kind == "wave1" {
			answer.Text = strings.Replace(answer.Text, "## Sources\n\n", "## Sources\n\n- A chart "+chart+"\n", 1)
		}
		return answer, err
	}}
	fetch := func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		var rest []string
		for _, url := range urls {
			if url != chart {
				rest = append(rest, url)
				continue
			}
			at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: 200,
				Header: []archive.Field{{Name: "Content-Type", Value: "image/png"}}, Body: []byte("\x89PNG\r\n\x1a\n")}}})
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return new(web).fetch(ctx, rest, keep)
	}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: fetch, Wait: noWait, Agents: agents})
	if err != nil || out.Status != run.Completed {
		t.Fatal(shown(out), err)
	}
	if !marked["synthesis"] || !marked["summary"] {
		t.Errorf("marked in the prompts of %v", marked)
	}
}
