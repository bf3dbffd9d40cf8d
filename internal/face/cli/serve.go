package cli

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
)

// What a caller may take for the part of a request before its body, and how long a
// connection may rest.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
)

// Listen listens on what a person wrote after --http: HOST:PORT, :PORT, PORT or unix:PATH.
// Without a host it is the loopback address, and port 0 is any free port. Exposed is
// the error for an address that other machines can reach, nil where they may. It
// returns INVALID_ARGS for an address that is not valid or cannot be listened on.
func Listen(given string, exposed error) (net.Listener, error) {
	if path, ok := strings.CutPrefix(given, "unix:"); ok {
		return listenUnix(path)
	}
	address := given
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || number != nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", tidegate.Cut(given)),
			"--http must be HOST:PORT, such as 127.0.0.1:8642, got %q", tidegate.Cut(given))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); exposed != nil && (ip == nil || !ip.IsLoopback()) {
		return nil, exposed
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", given), "cannot listen on %s: %w", net.JoinHostPort(host, port), err)
	}
	return listener, nil
}

// listenUnix listens on a socket that only this user can reach.
func listenUnix(path string) (net.Listener, error) {
	listener, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("http", tidegate.Cut(path)), "cannot listen on %s: %w; remove it if a server that was killed left it", tidegate.Cut(path), err)
	}
	return listener, nil
}

// Serve answers requests until ctx ends. Those that are under way then have the grace
// time to end; their context ends after it or, where they are streams that only their
// readers end, before it.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, grace time.Duration, streams bool) error {
	requests, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
	hangUp(server)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return tidegate.Errorf(tidegate.Internal, tidegate.Pairs("http", listener.Addr().String()), "the server ended: %w", err)
	case <-ctx.Done():
	}
	slog.Info("shutting down")
	if streams {
		stop()
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(ending) != nil {
		stop()
		server.Close()
	}
	return nil
}

// hangUp has the server, when it shuts down, close the connections on which nothing
// was ever sent. Browsers and other clients open some in advance, and net/http waits
// five seconds for what may come.
func hangUp(server *http.Server) {
	var mu sync.Mutex
	unused := map[net.Conn]bool{}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			unused[conn] = true
		} else {
			delete(unused, conn)
		}
	}
	server.RegisterOnShutdown(func() {
		mu.Lock()
		defer mu.Unlock()
		for conn := range unused {
			conn.Close()
		}
	})
}
