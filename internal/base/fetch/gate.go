package fetch

import (
	"context"
	"sync"
	"time"
)

// gate lets few requests at once through to one host, and spaces them.
type gate struct {
	places  chan struct{}
	spacing time.Duration

	mu   sync.Mutex
	next time.Time // before which no request begins
}

func newGate(limits Limits) *gate {
	return &gate{places: make(chan struct{}, limits.PerHost), spacing: limits.Spacing}
}

// enter waits for a place among those of the host, and until a request may
// begin. It returns the error of ctx.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.mu.Lock()
	wait := time.Until(g.next)
	g.mu.Unlock()
	if err := pause(ctx, wait); err != nil {
		g.leave()
		return err
	}
	return nil
}

// begin is called right before a request, after enter: something else may have
// been waited for in between, and others may have begun. It returns the error
// of ctx.
func (g *gate) begin(ctx context.Context) error {
	g.mu.Lock()
	now := time.Now()
	wait := max(0, g.next.Sub(now))
	g.next = now.Add(wait + g.spacing)
	g.mu.Unlock()
	return pause(ctx, wait)
}

func (g *gate) leave() { <-g.places }

// hold keeps every request from beginning for a while, because the host asked
// for it.
func (g *gate) hold(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if next := time.Now().Add(wait); next.After(g.next) {
		g.next = next
	}
}

// longer are the pauses that hosts ask for whose rules say so, one request at a time. They
// hold for all clients of the process, searches and look-ups alike.
var longer = map[string]*gate{"export.arxiv.org": newGate(Limits{PerHost: 1, Spacing: 3 * time.Second})}

// gates are the gates of all hosts.
type gates struct {
	limits Limits
	mu     sync.Mutex
	byHost map[string]*gate
}

func (g *gates) of(host string) *gate {
	if own := longer[host]; own != nil && g.limits.Spacing > 0 { // without pauses there are none
		return own
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byHost[host] == nil {
		g.byHost[host] = newGate(g.limits)
	}
	return g.byHost[host]
}

// pause waits, and returns the error of ctx when it ends first.
func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
