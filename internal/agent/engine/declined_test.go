package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
)

var issueID = regexp.MustCompile(`(?m)^- id ([0-9a-f]+), title Name`)

// namesIt finds fault with a name until it is content.
func namesIt(content func(prompt string) bool) func(driver.Task) string {
	return func(task driver.Task) string {
		m := issueID.FindStringSubmatch(task.Prompt)
		switch {
		case m == nil:
			return `{"change_id":"mend","verdict":"NEEDS_FIX","summary":"A name.","issues":[{"title":"Name is wrong","severity":"Medium","category":"Style","file":"parts/01.sh","line":1,"description":"Who reads it errs."}]}`
		case content(task.Prompt):
			return fmt.Sprintf(`{"change_id":"mend","verdict":"APPROVED","summary":"Right.","issues":[],"closed":[%q]}`, m[1])
		}
		return fmt.Sprintf(`{"change_id":"mend","verdict":"NEEDS_FIX","summary":"Still.","issues":[{"id":%q,"title":"Name is wrong","severity":"Medium","category":"Style","file":"parts/01.sh","line":1,"description":"Who reads it errs."}],"closed":[]}`, m[1])
	}
}

// TestAnImplementerDeclines: what it says of an issue goes to a reviewer once, and where the
// reviewer upholds the issue, to a person.
func TestAnImplementerDeclines(t *testing.T) {
	t.Parallel()
	declines := func(id string) implementer {
		return func(_ *testing.T, task driver.Task) string {
			if m := issueID.FindStringSubmatch(task.Prompt); m != nil && id == "" {
				return fmt.Sprintf("```json\n{\"declined\":[{\"id\":%q,\"reason\":\"the shell has no names\"}]}\n```", m[1])
			}
			return fmt.Sprintf(`{"declined":[{"id":%q,"reason":"no"}]}`, id)
		}
	}
	convinced := func(prompt string) bool { return strings.Contains(prompt, "the shell has no names") }
	for name, tt := range map[string]struct {
		content func(string) bool
		second  implementer
		waits   engine.Waiting
		reason  string
		rounds  int
	}{
		"convinced":        {convinced, declines(""), engine.ForNothing, "", 2},
		"upheld":           {func(string) bool { return false }, declines(""), engine.ForPerson, `the implementer declines what the reviewer upholds: "Name is wrong"`, 2},
		"another issue":    {convinced, declines("0123456789ab"), engine.ForPerson, "all tries are used up for implement.2", 1},
		"nothing declined": {convinced, func(*testing.T, driver.Task) string { return `{"declined":[]}` }, engine.ForPerson, "all tries are used up for implement.2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plant(t)
			out, _ := p.drive(namesIt(tt.content), mend(all()...), tt.second)
			if out.WaitingFor != tt.waits || !strings.Contains(out.Reason, tt.reason) || out.Rounds != tt.rounds {
				t.Errorf("waits for %s (%s) after %d reviews", out.WaitingFor, out.Reason, out.Rounds)
			}
			if n := strings.Count(p.git("log", "--format=%s", "main..tidegate/mend"), "mend"); n != 1 {
				t.Errorf("the branch has %d commits, want that of the first round", n)
			}
		})
	}
}

// TestACorrectedTestCommandTestsAgain: the commit that failed by a wrong command is tested
// by the right one, and nobody is asked to implement anything.
func TestACorrectedTestCommandTestsAgain(t *testing.T) {
	t.Parallel()
	p := plant(t)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	none := int64(0)
	must.Get(change.Start(person, reviewClock, p.dir, "mend", &none))(t)
	implemented := 0
	agents := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
		if task.Role == "implementer" {
			implemented++
			return driver.Answer{Text: mend(all()...)(t, task)}, nil
		}
		return driver.Answer{Text: namesIt(func(prompt string) bool { return !strings.Contains(prompt, "failed:") })(task)}, nil
	}}
	drive := func(command string) engine.ChangeOutcome {
		return must.Get(engine.DriveChange(t.Context(), engine.ChangeInput{Project: p.dir, Home: p.home, ID: "mend", Budget: run.DefaultBudget(nil),
			Tests: sandbox.Tests{Command: command, Limit: time.Minute}}, engine.Options{Desk: reviewClock, Pool: agents}))(t)
	}
	if out := drive("sh test.sh; exit 3"); out.WaitingFor != engine.ForPerson || out.Rounds != 1 {
		t.Fatalf("waits for %s (%s) after %d reviews", out.WaitingFor, out.Reason, out.Rounds)
	}
	must.Get(change.Resume(person, reviewClock, p.dir, "mend", true, "the command was wrong"))(t)
	head := p.git("rev-parse", "tidegate/mend")
	out := drive("sh test.sh")
	if out.WaitingFor != engine.ForNothing || out.Rounds != 2 || implemented != 1 || p.git("rev-parse", "tidegate/mend") != head {
		t.Errorf("waits for %s (%s) after %d reviews, %d implementations", out.WaitingFor, out.Reason, out.Rounds, implemented)
	}
}
