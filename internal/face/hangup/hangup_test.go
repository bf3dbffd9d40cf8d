package hangup_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/face/hangup"
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
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(takes)
			io.WriteString(w, "done")
		})}
		hangup.Unused(server)
		listener := make(pipes)
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
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
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("shutting down takes %v", took)
		}
		if got := <-answered; got != "done<nil>" {
			t.Errorf("the request under way is answered with %s", got)
		}
		if n, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the silent connection reads %d bytes, %v", n, err)
		}
		<-served
	})
}
