package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/test/must"
)

// pipes is a listener whose callers are in this process.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "test", Net: "unix"} }

func (p pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours
}

// TestAnUnusedConnectionIsNotWaitedFor, while a request that is under way is
// answered.
func TestAnUnusedConnectionIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 100 * time.Millisecond
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(takes)
			fmt.Fprint(w, "done ", r.Context().Err())
		})
		listener := make(pipes)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- cli.Serve(ctx, listener, handler, time.Minute, false) }()
		silent, asking := listener.dial(), listener.dial()
		fmt.Fprintf(asking, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		answered := make(chan string, 1)
		go func() {
			response, err := http.ReadResponse(bufio.NewReader(asking), nil)
			if err != nil {
				answered <- err.Error()
				return
			}
			body, err := io.ReadAll(response.Body)
			answered <- fmt.Sprint(string(body), err)
		}()
		synctest.Wait()
		start := time.Now()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("shutting down takes %v", took)
		}
		if got := <-answered; got != "done <nil><nil>" {
			t.Errorf("the request under way is answered with %s", got)
		}
		if n, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the silent connection reads %d bytes, %v", n, err)
		}
	})
}

// TestStreamsEndWithTheServer, and other requests when their grace time is over.
func TestStreamsEndWithTheServer(t *testing.T) {
	for name, tt := range map[string]struct {
		streams bool
		after   time.Duration
	}{"streams": {true, 0}, "calls": {false, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
				listener := make(pipes)
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- cli.Serve(ctx, listener, handler, time.Minute, tt.streams) }()
				reader := listener.dial()
				fmt.Fprintf(reader, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
				go io.Copy(io.Discard, reader)
				synctest.Wait()
				start := time.Now()
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
				if took := time.Since(start).Round(time.Second); took != tt.after {
					t.Errorf("it ends after %v, want %v", took, tt.after)
				}
			})
		})
	}
}

func TestAddresses(t *testing.T) {
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	exposed := errors.New("can be reached from other machines")
	for address, want := range map[string]string{
		"0.0.0.0:0":             "can be reached from other machines",
		"[::]:0":                "can be reached from other machines",
		"10.1.2.3:0":            "can be reached from other machines",
		"example.org:0":         "can be reached from other machines",
		"127.0.0.1":             "HOST:PORT",
		"127.0.0.1:http":        "HOST:PORT",
		"127.0.0.1:70000":       "HOST:PORT",
		"":                      "HOST:PORT",
		taken.Addr().String():   "cannot listen",
		"http://127.0.0.1:8080": "HOST:PORT",
	} {
		_, err := cli.Listen(address, exposed)
		if err == nil || err != exposed && tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
	}
	for address, want := range map[string]string{"0": "127.0.0.1:", ":0": "127.0.0.1:", "localhost:0": "127.0.0.1:", "127.0.0.2:0": "127.0.0.2:"} {
		listener, err := cli.Listen(address, exposed)
		if err != nil || !strings.HasPrefix(listener.Addr().String(), want) {
			t.Fatalf("%q: %v %v, want %s", address, listener, err, want)
		}
		listener.Close()
	}
	listener := must.Get(cli.Listen("0.0.0.0:0", nil))(t)
	listener.Close()
}
