package driver_test

import (
	"sync"
	"time"
)

// clock stands still, or goes as the real one does, until it hurries: then twenty
// seconds pass at every look.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	real   bool
	flying bool
}

func (c *clock) Now() time.Time {
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

func (c *clock) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying = true
}
