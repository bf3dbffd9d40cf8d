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
)

// network is the way to a server, which a test can cut.
type network struct {
	Address string

	listener  net.Listener
	server    string
	mu        sync.Mutex
	down      bool
	flows     *sync.Cond // what is on its way waits while silent is true
	silent    bool
	open      map[net.Conn]bool
	forgotten map[net.Conn]bool
	refused   chan struct{} // has something once a connection was tried while the network was cut
	held      chan struct{} // has something once anything was held back
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{Address: listener.Addr().String(), listener: listener, server: server, open: map[net.Conn]bool{}, refused: make(chan struct{}, 1), held: make(chan struct{}, 1)}
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
		select {
		case n.refused <- struct{}{}:
		default:
		}
		return
	}
	n.open[conn] = true
	n.mu.Unlock()
	go func() {
		io.Copy(slow{far, n, conn}, conn)
		far.Close()
	}()
	io.Copy(slow{conn, n, conn}, far)
	n.mu.Lock()
	delete(n.open, conn)
	n.mu.Unlock()
}

// slow is one direction of a connection. What is written while the network is silent
// arrives afterwards, as packets do that were dropped and sent again.
type slow struct {
	net.Conn
	n    *network
	near net.Conn
}

func (s slow) Write(p []byte) (int, error) {
	s.n.mu.Lock()
	for s.n.silent {
		select {
		case s.n.held <- struct{}{}:
		default:
		}
		s.n.flows.Wait()
	}
	forgotten := s.n.forgotten[s.near]
	s.n.mu.Unlock()
	if forgotten {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// silence drops all packets, and says nothing: every connection stays open.
func (n *network) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = true
}

func (n *network) speak() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = false
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

// TestNetworkIsCut cuts the network in the middle of a task, or drops its packets without
// a word: that of the home, that of the worker, or both, until the agent has answered,
// or that of the worker until another one has begun the task. Once the network is back,
// the home has one answer, and a home that asks again gets the same one.
func TestNetworkIsCut(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		for _, test := range []struct {
			name         string
			worker, home bool // whose network is cut
			elsewhere    bool // until the task began elsewhere
			silent       bool // packets are dropped, and nothing is cut
		}{
			{"worker", true, false, false, false}, {"home", false, true, false, false}, {"both", true, true, false, false}, {"for long", true, false, true, false},
			{"worker, silently", true, false, false, true}, {"home, silently", false, true, false, true}, {"both, silently", true, true, false, true},
		} {
			t.Run(test.name, func(t *testing.T) {
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
				pool.LostAfter = 3 * time.Second
				var answer driver.Answer
				var err error
				done := make(chan struct{})
				go func() {
					answer, err = pool.Do(ctx, task, ignore)
					close(done)
				}()
				await("the task begins", begun)

				var down []*network
				if test.worker {
					down = append(down, ofWorker)
				}
				if test.home {
					down = append(down, ofHome)
				}
				for _, n := range down {
					if test.silent {
						n.silence()
					} else {
						n.cut()
					}
				}
				if test.elsewhere {
					beginWorker(t, Options{Address: address}, newWorker(), a)
					await("the task begins elsewhere", begun)
				} else {
					close(release)
					await("the agent answers", ended)
				}
				for _, n := range down {
					if test.silent {
						await("something is held back", n.held)
						n.speak()
					} else {
						await("a connection is tried in vain", n.refused)
						n.restore()
					}
				}
				if test.elsewhere {
					close(release)
				}
				await("the home has an answer", done)
				if err != nil {
					t.Fatal(err)
				}
				executed := a.began.Load()
				again, err := pool.Do(ctx, task, ignore)
				if err != nil || again.Text != answer.Text {
					t.Errorf("the task has two answers: %q and %q, %v", answer.Text, again.Text, err)
				}
				if n := a.began.Load(); n != executed {
					t.Errorf("a task with an answer was executed again: %d times, then %d", executed, n)
				}
				t.Logf("executed %d times", executed)
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
