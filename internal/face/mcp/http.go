package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/tool"
)

// The limits of one HTTP request. A call may take long; sending it may not.
const (
	bodyTime = 30 * time.Second
	callTime = 15 * time.Minute
)

// GraceTime is what a call has to answer that it was cancelled, and what calls that
// are under way have when the server ends.
const GraceTime = 10 * time.Second

// Handler is the whole HTTP face: MCP is at /mcp, and at / for clients that are given
// no path; /healthz answers 200 as long as the server runs. Callers have to send the
// token, or one of the users of options, as bearer token; without a token, from the moment on
// in which the first user is there. Every request is logged.
//
// Requests pass, in this order: the log, the
// check that no web page of another origin sent them, the token, the limits.
// The SDK then refuses a request that comes by a loopback address with a Host that
// is not this machine's.
func Handler(tools []*tool.Tool, token string, options Options) http.Handler {
	server := New(tools, options)
	readers := server
	if options.Users.Home != "" {
		var reading []*tool.Tool
		for _, t := range tools {
			if view, ok := t.ReadOnly(); ok {
				reading = append(reading, view)
			}
		}
		readers = New(reading, options)
	}
	protocol := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if onlyReads(r) {
			return readers
		}
		return server
	}, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		Logger:                       warnings(options.Log),
		MaxRequestBodyBytes:          maxMessage,
		PropagateRequestCancellation: true,
	})
	endpoint := http.NewCrossOriginProtection().Handler(withToken(token, options.Users, limited(protocol)))
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
		_ = control.SetWriteDeadline(time.Now().Add(callTime + GraceTime))
		ctx, cancel := context.WithTimeout(r.Context(), callTime+GraceTime)
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
