package temporal

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// network is the way to a server, which a test can cut.
type network struct {
	Address string

	listener  net.Listener
	server    string
	mu        sync.Mutex
	down      bool
	flows     *sync.Cond // what is on its way waits while its direction is silent
	silent    map[direction]bool
	open      map[net.Conn]bool
	forgotten map[net.Conn]bool
	refused   chan struct{} // has something once a connection was tried while the network was cut
	held      chan struct{} // has something once anything was held back
	opened    chan struct{} // has something once a connection was tried while something was held back
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	n := &network{Address: listener.Addr().String(), listener: listener, server: server, silent: map[direction]bool{}, open: map[net.Conn]bool{}, refused: make(chan struct{}, 1), held: make(chan struct{}, 1), opened: make(chan struct{}, 1)}
	n.flows = sync.NewCond(&n.mu)
	t.Cleanup(func() {
		listener.Close()
		n.cut()
		n.speak()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go n.carry(conn)
		}
	}()
	return n
}

// carry carries a connection, unless the network is cut.
func (n *network) carry(conn net.Conn) {
	defer conn.Close()
	far, err := net.Dial("tcp", n.server)
	if err != nil {
		return
	}
	defer far.Close()
	n.mu.Lock()
	if n.down {
		n.mu.Unlock()
		happened(n.refused)
		return
	}
	if len(n.silent) > 0 {
		happened(n.opened)
	}
	n.open[conn] = true
	n.mu.Unlock()
	go func() {
		io.Copy(slow{far, n, conn, out}, conn)
		far.Close()
	}()
	io.Copy(slow{conn, n, conn, in}, far)
	n.mu.Lock()
	delete(n.open, conn)
	n.mu.Unlock()
}

// happened lets those know who wait for something.
func happened(something chan struct{}) {
	select {
	case something <- struct{}{}:
	default:
	}
}

// direction is that of packets, as the machine sees it whose network it is.
type direction int

const (
	out direction = iota
	in
)

// slow is one direction of a connection. What is written while the network is silent
// arrives afterwards, as packets do that were dropped and sent again.
type slow struct {
	net.Conn
	n    *network
	near net.Conn
	way  direction
}

func (s slow) Write(p []byte) (int, error) {
	s.n.mu.Lock()
	for s.n.silent[s.way] {
		happened(s.n.held)
		s.n.flows.Wait()
	}
	forgotten := s.n.forgotten[s.near]
	s.n.mu.Unlock()
	if forgotten {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// silence drops all packets of these directions, and says nothing: every connection stays
// open.
func (n *network) silence(ways ...direction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, way := range ways {
		n.silent[way] = true
	}
}

func (n *network) speak() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.silent)
	n.flows.Broadcast()
}

// cut ends all connections and lets none begin.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for conn := range n.open {
		conn.Close()
	}
}

func (n *network) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

// fault is what happens to the network of a machine.
type fault int

const (
	none  fault = iota
	cut         // every connection ends, and none begins
	quiet       // no packet arrives
	mute        // packets of the machine do not arrive; those of the server do
	deaf        // packets of the server do not arrive; those of the machine do
)

// strike lets a fault happen.
func (n *network) strike(f fault) {
	switch f {
	case cut:
		n.cut()
	case quiet:
		n.silence(out, in)
	case mute:
		n.silence(out)
	case deaf:
		n.silence(in)
	}
}

// long is how long the network of a machine is struck.
type long int

const (
	briefly   long = iota // until the agent has answered, at once
	awhile                // the same, and the agent works until heartbeats and looks of the home have failed
	reconnect             // the same, after another connection was tried
	elsewhere             // until another worker has begun the task
)

// TestNetworkIsCut cuts the network in the middle of a task, or drops its packets without
// a word, in both directions or in one: that of the home, that of the worker, or both.
// Once the network is back, the home has one answer, and a home that asks again gets the
// same one: that of the first worker, whose agent worked once, or, where the task had
// begun elsewhere, none of the first worker's.
func TestNetworkIsCut(t *testing.T) {
	type test struct {
		worker, home fault
		long         long
		lost         bool // what was held back never arrives: the connections end
	}
	tests := map[string]test{
		"worker": {worker: cut}, "home": {home: cut}, "both": {worker: cut, home: cut}, "for long": {worker: cut, long: elsewhere},
		"worker, silently": {worker: quiet}, "home, silently": {home: quiet}, "both, silently": {worker: quiet, home: quiet},
		"worker mute": {worker: mute}, "worker deaf": {worker: deaf}, "home mute": {home: mute}, "home deaf": {home: deaf},
		"both mute": {worker: mute, home: mute, long: awhile}, "both deaf": {worker: deaf, home: deaf, long: awhile},
		"worker mute for long": {worker: mute, long: elsewhere},
	}
	if full.Asked() {
		for name, machine := range map[string]test{
			"worker mute": {worker: mute}, "worker deaf": {worker: deaf}, "home mute": {home: mute}, "home deaf": {home: deaf}, "both mute": {worker: mute, home: mute},
			"both deaf": {worker: deaf, home: deaf}, "worker mute, home deaf": {worker: mute, home: deaf}, "worker deaf, home mute": {worker: deaf, home: mute},
		} {
			for _, machine.long = range []long{briefly, awhile, reconnect} {
				for _, machine.lost = range []bool{false, true} {
					tests[fmt.Sprintf("%s, %d, lost: %v", name, machine.long, machine.lost)] = machine
				}
			}
		}
		tests["worker mute for long, lost"] = test{worker: mute, long: elsewhere, lost: true}
	}
	onBoth(t, func(t *testing.T, address string) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx, end := context.WithTimeout(t.Context(), 4*time.Minute)
				defer end()
				await := func(what string, c <-chan struct{}) {
					t.Helper()
					select {
					case <-c:
					case <-ctx.Done():
						t.Fatal("never: ", what)
					}
				}
				queue, begun, release, ended := newQueue(), make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)
				a := &agent{}
				a.do = func(ctx context.Context, _ driver.Task, _ func(driver.Event)) (driver.Answer, error) {
					n := a.began.Load()
					begun <- struct{}{}
					select {
					case <-release:
					case <-ctx.Done():
						return driver.Answer{}, context.Cause(ctx)
					}
					if test.long == awhile {
						select {
						case <-time.After(2*pollInterval + beatInterval): // a task that takes a moment
						case <-ctx.Done():
							return driver.Answer{}, context.Cause(ctx)
						}
					}
					return driver.Answer{Text: fmt.Sprint("execution ", n)}, nil
				}
				newWorker := func() *Worker {
					return &Worker{Queue: queue, Notice: func(n Notice) {
						if n.Ended {
							ended <- struct{}{}
						}
					}}
				}
				ofWorker, ofHome := newNetwork(t, address), newNetwork(t, address)
				beginWorker(t, Options{Address: ofWorker.Address}, newWorker(), a)
				pool, task := poolOn(t, Options{Address: ofHome.Address}, queue), newTask("cut")
				if test.long == elsewhere {
					pool.LostAfter = 3 * time.Second
				}
				var answer driver.Answer
				var err error
				done := make(chan struct{})
				go func() {
					answer, err = pool.Do(ctx, task, ignore)
					close(done)
				}()
				await("the task begins", begun)

				struck := map[*network]fault{ofWorker: test.worker, ofHome: test.home}
				for n, fault := range struck {
					n.strike(fault)
				}
				for n, fault := range struck {
					if test.long == reconnect && fault != none {
						await("a connection is tried", n.opened)
					}
				}
				if test.long == elsewhere {
					beginWorker(t, Options{Address: address}, newWorker(), a)
					await("the task begins elsewhere", begun)
				} else {
					close(release)
					await("the agent answers", ended)
				}
				for n, fault := range struck {
					switch fault {
					case none:
						continue
					case cut:
						await("a connection is tried in vain", n.refused)
					default:
						await("something is held back", n.held)
					}
					if test.lost {
						n.forget()
						n.cut()
					}
					n.speak()
					n.restore()
				}
				if test.long == elsewhere {
					close(release)
				}
				await("the home has an answer", done)
				if err != nil {
					t.Fatal(err)
				}
				executed := a.began.Load()
				if first := answer.Text == "execution 1"; first == (test.long == elsewhere) || (executed > 1) == first {
					t.Errorf("the agent worked %d times, and the answer is %q", executed, answer.Text)
				}
				again, err := pool.Do(ctx, task, ignore)
				if err != nil || again.Text != answer.Text {
					t.Errorf("the task has two answers: %q and %q, %v", answer.Text, again.Text, err)
				}
				if n := a.began.Load(); n != executed {
					t.Errorf("a task with an answer was executed again: %d times, then %d", executed, n)
				}
			})
		}
	})
}

// TestConnectionsThatDied lets the connections of a home and its worker die without a
// word, as behind a router that forgot them. Others can be made: both find that out, and
// the answer that waited meanwhile is sent, and not paid for a second time.
func TestConnectionsThatDied(t *testing.T) {
	t.Parallel()
	address, queue := servers["standalone"].Address, newQueue()
	way := newNetwork(t, address)
	begun, release := make(chan struct{}, 9), make(chan struct{})
	beginWorker(t, Options{Address: way.Address}, &Worker{Queue: queue}, &agent{do: func(ctx context.Context, _ driver.Task, _ func(driver.Event)) (driver.Answer, error) {
		begun <- struct{}{}
		<-release
		<-time.After(beatInterval) // a task that takes a moment
		return driver.Answer{Text: "text"}, nil
	}})
	pool, task := poolOn(t, Options{Address: way.Address}, queue), newTask("died")
	done := make(chan error, 1)
	go func() {
		_, err := pool.Do(t.Context(), task, ignore)
		done <- err
	}()
	<-begun
	way.forget()
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := len(begun); n > 0 {
		t.Errorf("the task began %d times more", n)
	}
}

// forget lets the connections that there are die: what comes is never passed on.
func (n *network) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forgotten = maps.Clone(n.open)
}
