package proof_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/archive"
)

// storm is everything that breaks in a run, by one seed. What an agent does follows
// from the seed, the job and the attempt, and not from the moment: so the run comes
// to the same end whatever strikes in between.
type storm struct {
	Seed    uint64
	Episode int
}

// calm reports whether the storm is over: the agents are as before, and nothing else
// breaks.
func (s storm) calm() bool { return s.Episode >= 8 }

// draw is a number below n for something that is drawn.
func (s storm) draw(n int, what ...any) int {
	h := fnv.New64a()
	fmt.Fprintln(h, append([]any{s.Seed}, what...)...)
	x := h.Sum64()
	x ^= x >> 33 // fnv leaves the low bits of short texts alike
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return int(x % uint64(n))
}

// cursed is the job that no agent of this storm ever does, "" in most storms. A run
// that a person cancels has none: which comes first would depend on what strikes.
func (s storm) cursed() string {
	if s.draw(12, "cursed") > 0 || s.cancels() > 0 {
		return ""
	}
	return []string{"perspectives", "wave1.doubts", "summary.records", "synthesis", "review"}[s.draw(5, "whom")]
}

// cancels is how many times agents are asked before a person cancels the run, 0 when
// nobody does.
func (s storm) cancels() int {
	if s.draw(12, "cancel") > 0 {
		return 0
	}
	return 1 + s.draw(6, "when")
}

// stingy reports whether the run begins with a budget that does not suffice, and
// generous whether the person then gives more.
func (s storm) stingy() bool   { return s.draw(6, "stingy") == 0 && s.cancels() == 0 }
func (s storm) generous() bool { return s.draw(3, "generous") > 0 }

// agents are a pool of agents in a storm.
type agents struct {
	storm  storm
	strike func(call int, wait <-chan struct{}) // what happens when agents are asked for the nth time; wait ends with the agent
	late   func()                               // lets time pass until a lease has run out

	mu    sync.Mutex
	calls int
	stops map[string]context.CancelFunc
}

func (a *agents) Cancel(_ context.Context, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if stop := a.stops[id]; stop != nil {
		stop()
	}
	return nil
}

var driverFailures = []driver.Kind{driver.Rate, driver.Unavailable, driver.Refused, driver.Idle, driver.Deadline, driver.Flood, driver.Died, driver.Empty}

func (a *agents) Do(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	own, stop := context.WithCancel(ctx)
	defer stop()
	a.mu.Lock()
	if a.stops == nil {
		a.stops = map[string]context.CancelFunc{}
	}
	a.stops[task.ID] = stop
	a.calls++
	call := a.calls
	a.mu.Unlock()
	if a.strike != nil {
		a.strike(call, own.Done())
	}
	text, err := a.act(own, task)
	if ctx.Err() != nil {
		return driver.Answer{}, context.Cause(ctx)
	}
	answer := driver.Answer{Text: text}
	if a.storm.draw(2, "session", task.Job, task.Attempt) == 0 {
		answer.Session = "s"
	}
	return answer, err
}

// act is what an agent does with a task.
func (a *agents) act(ctx context.Context, task driver.Task) (string, error) {
	good := a.storm.reply(task)
	if task.Job == a.storm.cursed() {
		good = "{}" // so that nothing made of it is accepted, either
	}
	drawn := func(n int, what string) int { return a.storm.draw(n, what, task.Job, task.Attempt, task.Turn) }
	if task.Job != a.storm.cursed() && drawn(10, "mood") < 6 {
		if drawn(6, "late") == 0 && !a.storm.calm() {
			a.late()
		}
		return good, nil
	}
	switch fate := drawn(18, "fate"); fate {
	default: // the driver says what is wrong
		return "", &driver.Error{Kind: driverFailures[fate%len(driverFailures)], Message: "stormy"}
	case 10:
		return "Here it is:\n\n```markdown\n" + good + "\n```\n\nShall I go on?\n", nil
	case 11:
		return strings.Repeat("word ", 8000), nil
	case 12:
		return "{}", nil
	case 13: // the answer to another job
		if task.Kind == "review" || task.Kind == "perspectives" {
			return "- It pulls [@s1].\n", nil
		}
		return `{"decision":"PASS","findings":[],"directives":[]}`, nil
	case 14: // a lie about what pages say
		return strings.ReplaceAll(strings.ReplaceAll(good, "[@s", "[@s9"), "example.org/wave", "example.org/nowhere?"), nil
	case 15:
		return "\x00\xff\x1b[2J", nil
	case 16:
		return "## Gaps\n\n- something\n", nil
	case 17: // it hangs until it is stopped, or its driver gives up
		timer := time.NewTimer(20 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		return "", &driver.Error{Kind: driver.Deadline, Message: "hangs"}
	}
}

// reply is what an obedient agent writes. One output has a gap, and in some storms
// the first review asks for a change.
func (s storm) reply(task driver.Task) string {
	if task.Job == "review" && s.draw(3, "review") == 0 {
		return `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say whose word it is."}]}`
	}
	text := answerTo(task.Job, task.Kind, task.Prompt, "https://example.org/"+url.PathEscape(task.Job))
	if task.Job == "wave1.figures" && s.draw(2, "gap") == 0 {
		text = strings.Replace(text, "## Gaps\n\n", "## Gaps\n\n- (P0) What it costs.\n\n", 1)
	}
	return text
}

// page is what a server answers in a storm. Some fail in the first episodes, and come
// back.
func (s storm) page(url string, at time.Time) archive.Capture {
	page := archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: 200,
		Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte(article(url))}}}
	fails := s.Episode < s.draw(5, "fails", url)-2
	switch {
	case strings.Contains(url, "nowhere"):
		page.Hops[0].Status = 404
	case fails && s.draw(3, "how", url) == 0:
		page.Kind, page.Hops = archive.Unreachable, nil
	case fails:
		page.Hops[0].Status = 503
	}
	return page
}

// stepping is a clock that is set forward and back.
type stepping struct {
	mu sync.Mutex
	at time.Time
}

func (c *stepping) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Millisecond)
	return c.at
}

func (c *stepping) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
