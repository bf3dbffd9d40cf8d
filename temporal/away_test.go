package temporal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"go.temporal.io/api/serviceerror"
)

// TestServerThatComesLater is away when a worker connects, and comes while it waits.
func TestServerThatComesLater(t *testing.T) {
	n := newNetwork(t, servers["standalone"].Address)
	n.cut()
	o := Options{Address: n.Address, Namespace: namespace}
	if _, err := Connect(t.Context(), o); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("without patience: %v", err)
	}
	waited := 0
	o.Wait = time.Hour
	o.Waiting = func(err error) {
		waited++
		if !strings.Contains(err.Error(), n.Address) {
			t.Error(err)
		}
		n.restore()
	}
	c, err := Connect(t.Context(), o)
	if err != nil || waited != 1 {
		t.Fatalf("waited %d times: %v", waited, err)
	}
	c.Close()
}

// loop is one that ends its start in the same way however often it is asked.
type loop struct{ err error }

func (l loop) Start() error { return l.err }

// loops makes one loop for each error.
type loops []error

func (l *loops) next() loop {
	made := loop{(*l)[0]}
	*l = (*l)[1:]
	return made
}

// TestWorkerThatWasFrozenAtItsStart: the server's answer came too late for it.
func TestWorkerThatWasFrozenAtItsStart(t *testing.T) {
	for name, test := range map[string]struct {
		errs []error
		left int
		ok   bool
	}{
		"thawed":         {[]error{serviceerror.NewDeadlineExceeded("context deadline exceeded"), context.DeadlineExceeded, nil}, 0, true},
		"no such thing":  {[]error{serviceerror.NewNamespaceNotFound("x"), nil}, 1, false},
		"wrong identity": {[]error{serviceerror.NewUnavailable("authentication handshake failed: x509"), nil}, 1, false},
	} {
		l := loops(test.errs)
		if _, err := start(t.Context(), l.next); (err == nil) != test.ok || len(l) != test.left {
			t.Errorf("%s: %v, %d left", name, err, len(l))
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	if _, err := start(ctx, (&loops{context.DeadlineExceeded, nil}).next); err == nil {
		t.Error("an interrupted worker started")
	}
}
