// Package agents is what tests of agents share: an answer, a clock that can hurry, and a look
// at the kind of a failure.
package agents

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// Answer is what a model, or the stand-in of a client, answers when it answers
// well.
const Answer = "# Answer\n\n- first *point* [1]\n- second point – ünïcode ✓\n\n[1]: https://example.org/a\n"

// Clock stands still, or goes as the real one does, until it hurries: then twenty
// seconds pass at every look.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	real   bool
	flying bool
}

// Still is a clock that stands still.
func Still() *Clock { return &Clock{now: time.Unix(1e9, 0)} }

// Real is a clock that goes as the real one does.
func Real() *Clock { return &Clock{real: true} }

// Now is what the clock says.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.flying:
		c.now = c.now.Add(20 * time.Second)
	case c.real:
		c.now = time.Now()
	}
	return c.now
}

// Hurry has the clock hurry from now on.
func (c *Clock) Hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying = true
}

// CheckKind fails the test unless err is a failure of that kind, which it returns.
func CheckKind(t *testing.T, err error, want driver.Kind) *driver.Error {
	t.Helper()
	var failure *driver.Error
	if !errors.As(err, &failure) || failure.Kind != want {
		t.Errorf("got %v, want %s", err, want)
		return nil
	}
	return failure
}
