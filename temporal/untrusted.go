package temporal

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// A worker is trusted as much as an agent. What one returns has the form that a
// driver of this machine would give it, before anything else sees it: names are
// short, words are visible, and a failure is of a kind that there is. What it says
// in its answer is judged by the engine.

// Bounds of what a worker says, those of drivers.
const (
	maxName  = 200 // bytes of a name or a version
	maxTools = 101 // different names of tools that a driver counts, and one for the others
)

// brief is a name from a worker as it is kept.
func brief(name string) string {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return markdown.Show(name)
}

// soundAnswer is an answer with names as drivers give them. A session that no worker
// of this program names is none.
func soundAnswer(a driver.Answer) driver.Answer {
	a.Version = brief(a.Version)
	if _, name, ok := cutSession(a.Session); !ok || len(name) > 2*maxName || markdown.Show(name) != name {
		a.Session = ""
	}
	if a.ToolCalls != nil {
		calls := map[string]int{}
		for name, n := range a.ToolCalls {
			if name = brief(name); len(calls) >= maxTools && calls[name] == 0 {
				name = "other"
			}
			calls[name] += n
		}
		a.ToolCalls = calls
	}
	if a.Kept != nil {
		kept := *a.Kept
		kept.System, kept.Network, kept.Elsewhere = brief(kept.System), brief(kept.Network), true
		a.Kept = &kept
	}
	return a
}

// soundEvent is an event with words as drivers give them.
func soundEvent(e driver.Event) driver.Event {
	switch e.Kind {
	case driver.Started, driver.Message, driver.ToolCall, driver.Warning:
	default:
		e.Kind = driver.Other
	}
	e.Text, e.Tool = shown(e.Text), brief(e.Tool)
	return e
}

// soundError is a failure as a driver gives it. What a person is told to type is
// never a worker's own words.
func soundError(e *driver.Error) *driver.Error {
	sound := *e
	if !e.Kind.Known() {
		sound.Kind = driver.Died
	}
	sound.Message = shown(e.Message)
	sound.Wait = min(e.Wait, driver.LongestWait)
	sound.Choices = nil // a worker's own words
	if e.Help != "" && !knownHelp(e.Help) {
		sound.Help = otherHelp
	}
	return &sound
}

// What helps, for failures that workers and homes find.
const (
	upgradeHelp = "install the newer tidegate-worker on the home and on every worker"
	queueHelp   = "give workers that differ in what they have queues of their own"
	otherHelp   = "look at the agent on the machine of the worker"
)

func knownHelp(help string) bool {
	return help == upgradeHelp || help == queueHelp || slices.ContainsFunc(client.Clients(), func(c client.Client) bool {
		return help == c.Get || help == c.Login
	})
}
