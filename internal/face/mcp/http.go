package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/hangup"
	"github.com/tidegate/tidegate/tool"
)

// The limits of one HTTP request. A call may take long; sending it may not.
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	callTime   = 15 * time.Minute
	idleTime   = 2 * time.Minute
	graceTime  = 10 * time.Second // for requests that are under way at shutdown
	maxHeader  = 64 << 10
)

// HTTP says where and to whom a server speaks HTTP.
type HTTP struct {
	// Address is HOST:PORT, :PORT or PORT. Without a host it is the loopback
	// address, and port 0 is any free port.
	Address string
	// Token is what callers have to send as bearer token; "" requires none, which
	// is allowed only on a loopback address.
	Token string
}

// ServeHTTP serves any number of clients until ctx ends, then lets the requests
// that are under way end. MCP is at /mcp, and at / for clients that are given no
// path; /healthz answers 200 as long as the server runs. The address, once it is
// known, and every request are logged.
//
// It returns INVALID_ARGS for an address that is not valid, that others can reach
// without a token, or that cannot be listened on.
func ServeHTTP(ctx context.Context, tools []*tool.Tool, settings HTTP, options Options) error {
	address, loopback, err := parseAddress(settings.Address)
	if err != nil {
		return err
	}
	if !loopback && settings.Token == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("http", settings.Address),
			"%s can be reached from other machines: give a token with --token-file or TIDEGATE_MCP_TOKEN, or listen on 127.0.0.1", settings.Address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("http", settings.Address), "cannot listen on %s: %w", address, err)
	}
	// Calls outlive ctx by the grace time of shutting down.
	calls, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	server := newHTTPServer(calls, Handler(tools, settings.Token, options), options.Log)
	options.Log.Info("serving MCP", "address", listener.Addr().String(), "url", "http://"+listener.Addr().String()+"/mcp",
		"tools", len(tools), "token", settings.Token != "")
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return tidegate.Errorf(tidegate.Internal, tidegate.D("http", settings.Address), "the server ended: %w", err)
	case <-ctx.Done():
	}
	options.Log.Info("shutting down")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if server.Shutdown(grace) != nil {
		stop()
		server.Close()
	}
	return nil
}

// newHTTPServer is a server whose callers have only so much time and room for what
// comes before the body of a request.
func newHTTPServer(calls context.Context, handler http.Handler, log *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return calls },
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	hangup.Unused(server)
	return server
}

// parseAddress makes an address from what an operator wrote, and reports whether
// only this machine can reach it.
func parseAddress(given string) (address string, loopback bool, err error) {
	if _, err := strconv.ParseUint(given, 10, 16); err == nil {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || number != nil {
		return "", false, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("http", tidegate.Cut(given)),
			"--http must be HOST:PORT, such as 127.0.0.1:8642, got %q", tidegate.Cut(given))
	}
	switch host {
	case "", "localhost":
		return net.JoinHostPort("127.0.0.1", port), true, nil
	}
	ip := net.ParseIP(host)
	return net.JoinHostPort(host, port), ip != nil && ip.IsLoopback(), nil
}

// Handler is the whole HTTP face. Requests pass, in this order: the log, the
// check that no web page of another origin sent them, the token, the limits.
// The SDK then refuses a request that comes by a loopback address with a Host that
// is not this machine's.
func Handler(tools []*tool.Tool, token string, options Options) http.Handler {
	server := New(tools, options)
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		Logger:                       warnings(options.Log),
		MaxRequestBodyBytes:          maxMessage,
		PropagateRequestCancellation: true,
	})
	endpoint := http.NewCrossOriginProtection().Handler(withToken(token, limited(protocol)))
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle("/{$}", endpoint)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
	return logged(options.Log, mux)
}

// limited bounds the size of a request and the time that sending it and
// answering it may take. It reads the body, because a deadline for reading that
// lasts longer than the body would end the call.
func limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "a request may have at most "+strconv.Itoa(maxMessage)+" bytes", http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			http.Error(w, "the request was not sent to its end", http.StatusBadRequest)
			return
		}
		_ = control.SetReadDeadline(time.Time{})
		_ = control.SetWriteDeadline(time.Now().Add(callTime + graceTime))
		ctx, cancel := context.WithTimeout(r.Context(), callTime+graceTime)
		defer cancel()
		call, end := context.WithTimeout(ctx, callTime) // so that there is time to answer with CANCELLED
		defer end()
		r = r.WithContext(withCarrier(ctx, call))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// logged writes one line per request. It names what a request asked for, not what
// it carried. A client that is refused on the way gets no more time than others to
// send the rest.
func logged(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		_ = http.NewResponseController(w).SetReadDeadline(start.Add(bodyTime))
		n := &note{}
		counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			attributes := []slog.Attr{
				slog.String("method", r.Method), slog.String("path", tidegate.Cut(r.URL.Path)), slog.String("remote", r.RemoteAddr),
				slog.Int("status", counted.status), slog.Int64("bytes", counted.bytes), slog.Duration("took", time.Since(start).Round(time.Microsecond)),
			}
			log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "request", append(attributes, n.attributes()...)...)
		}()
		next.ServeHTTP(counted, r.WithContext(context.WithValue(r.Context(), noteKey{}, n)))
	})
}

// countingWriter records what was answered.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Flush sends what was written: progress must not wait for the result.
func (w *countingWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
