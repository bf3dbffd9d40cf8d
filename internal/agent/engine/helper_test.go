package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// crew is a pool whose agents are a function. It also says whether a task was
// asked for again after its answer was accepted.
type crew struct {
	agent func(ctx context.Context, task driver.Task) (driver.Answer, error)

	mu    sync.Mutex
	asked map[string]int // by job
	stops map[string]context.CancelFunc
}

func (c *crew) Do(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	own, stop := context.WithCancel(ctx)
	defer stop()
	c.mu.Lock()
	if c.asked == nil {
		c.asked, c.stops = map[string]int{}, map[string]context.CancelFunc{}
	}
	c.asked[task.Job]++
	c.stops[task.ID] = stop
	c.mu.Unlock()
	answer, err := c.agent(own, task)
	if err != nil && ctx.Err() != nil {
		return driver.Answer{}, context.Cause(ctx)
	}
	return answer, err
}

func (c *crew) Cancel(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.stops[id]; stop != nil {
		stop()
	}
	return nil
}

func (c *crew) times(job string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[job]
}

var (
	headings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listed   = regexp.MustCompile(`(?m)^- (s[0-9]+): `)
)

// obedient does what the prompt of a task says, and reads nothing else.
func obedient(_ context.Context, task driver.Task) (driver.Answer, error) {
	cite := ""
	if id := listed.FindStringSubmatch(task.Prompt); id != nil {
		cite = " [@" + id[1] + "]"
	}
	var b strings.Builder
	switch task.Kind {
	case "perspectives", "review":
		_, example, _ := strings.Cut(task.Prompt, "## Example")
		_, example, _ = strings.Cut(example, "```\n")
		example, _, _ = strings.Cut(example, "```\n")
		b.WriteString(example)
	case "wave1", "wave2":
		for _, m := range headings.FindAllStringSubmatch(task.Prompt, -1) {
			b.WriteString(m[1] + "\n\n")
			switch m[1] {
			case "## Gaps":
				if task.Kind == "wave1" && strings.HasSuffix(task.Job, "figures") {
					b.WriteString("- (P0) What it costs.\n\n")
				} else {
					b.WriteString("Nothing is open.\n\n")
				}
			case "## Sources":
				b.WriteString("- Port statistics https://example.org/port\n\n")
			}
		}
	case "summary":
		b.WriteString("- " + reader.Sentence(0, 0) + cite + "\n")
	case "synthesis":
		id := strings.Trim(cite, " [@]")
		if n := roundOf(task.Job); n > 1 {
			b.WriteString(reader.Rewrite(task.Prompt, id, 0, 4*n))
			break
		}
		b.WriteString(reader.Report(sections(task.Prompt), []string{id}, []int{0}, 4))
	case "verify":
		b.WriteString(reader.Faithful(task.Prompt))
	default:
		return driver.Answer{}, &driver.Error{Kind: driver.Refused, Message: "no idea what a " + task.Kind + " is"}
	}
	return driver.Answer{Text: b.String()}, nil
}

// sections are the headings that a prompt asks for.
func sections(prompt string) (titles []string) {
	for _, m := range headings.FindAllStringSubmatch(prompt, -1) {
		titles = append(titles, m[1])
	}
	return titles
}

// roundOf is the round of a synthesis.
func roundOf(job string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(job, "synthesis."))
	return max(n, 1)
}

// web answers every address with a page about the port, and counts how often.
type web struct {
	mu    sync.Mutex
	asked map[string]int
}

func (w *web) fetch(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		w.mu.Lock()
		if w.asked == nil {
			w.asked = map[string]int{}
		}
		w.asked[url]++
		w.mu.Unlock()
		if err := keepPage(keep, url, 200, reader.Page(0)); err != nil {
			return err
		}
	}
	return nil
}

// keepPage keeps a page as one that was fetched.
func keepPage(keep func([]*archive.Packed) error, url string, status int, body string) error {
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: status,
		Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: []byte(body)}}})
	if err != nil {
		return err
	}
	return keep([]*archive.Packed{packed})
}

func newRun(t *testing.T, budget map[string]float64) (string, run.Desk) {
	t.Helper()
	return newRunOf(t, budget, nil)
}

// newSmallRun is newRun with one agent in its first wave, for tests of what each job or the
// whole run does: a wave of three takes longer and shows no more of it.
func newSmallRun(t *testing.T, budget map[string]float64) (string, run.Desk) {
	t.Helper()
	one := int64(1)
	return newRunOf(t, budget, &run.Limits{MaxWave1Agents: &one})
}

func newRunOf(t *testing.T, budget map[string]float64, limits *run.Limits) (string, run.Desk) {
	t.Helper()
	desk := run.Desk{Now: time.Now}
	made := runs.CreateAt(t, desk, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour", Limits: limits})
	manifest := filepath.Join(made.Root, run.ManifestFile)
	setBudget(t, desk, manifest, budget)
	return manifest, desk
}

func setBudget(t *testing.T, desk run.Desk, manifest string, budget map[string]float64) {
	t.Helper()
	r := runs.OpenAt(t, desk, manifest)
	for name, value := range budget {
		must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.SetBudget(name, value, "test") }))(t)
	}
}

// agents are those of a run: one writes, and another reads and reviews.
var agents = map[string]engine.Agent{"": {Driver: "writer"}, "reviewer": {Driver: "reader"}}

func noWait(context.Context, time.Duration) {}

func drive(t *testing.T, manifest string, desk run.Desk, pool engine.Pool) engine.Outcome {
	t.Helper()
	out := must.Get(engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch, Wait: noWait, Agents: agents}))(t)
	return out
}

func shown(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
