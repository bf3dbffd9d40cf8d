package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

// receive wraps every request: the request ends with the connection that carries it, ends only itself when it panics, and is
// logged without the contents of its arguments.
func receive(tools []*tool.Tool, options Options) sdk.Middleware {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (result sdk.Result, err error) {
			ctx, cancel := untilCarrierEnds(ctx)
			defer cancel()
			subject := subjectOf(request)
			ctx, note := withNote(ctx, method, subject)
			start := time.Now()
			defer func() {
				if value := recover(); value != nil {
					options.Log.Error("a request panicked", "method", method, "value", fmt.Sprint(value), "stack", string(debug.Stack()))
					result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server met a state that it did not expect"}
				}
				if err != nil {
					note.outcome(err)
				}
				if note.own {
					options.Log.LogAttrs(ctx, slog.LevelInfo, "request", append(note.attributes(), slog.Duration("took", time.Since(start).Round(time.Microsecond)))...)
				}
			}()
			if call, ok := request.(*sdk.CallToolRequest); ok && !slices.Contains(names, call.Params.Name) {
				hint := codec.DidYouMean(call.Params.Name, names, "tools/list names those that this server offers")
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q; %s", tidegate.Cut(call.Params.Name), hint)}
			}
			result, err = next(ctx, method, request)
			return result, sendable(err)
		}
	}
}

// sendable is err with data that can be sent. The SDK quotes the URI of a missing
// resource by the rules of Go, and an answer that is not JSON ends the connection.
func sendable(err error) error {
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || failure.Data == nil || json.Valid(failure.Data) {
		return err
	}
	return &jsonrpc.Error{Code: failure.Code, Message: failure.Message}
}

// subjectOf is what a request is about: a name, never the arguments.
func subjectOf(request sdk.Request) string {
	switch r := request.(type) {
	case *sdk.CallToolRequest:
		return r.Params.Name
	case *sdk.GetPromptRequest:
		return r.Params.Name
	case *sdk.ReadResourceRequest:
		return r.Params.URI
	}
	return ""
}

type carrierKey struct{}

// withCarrier adds the context with which requests end that ctx carries: that of the
// calls of an HTTP request, or of the process on whose stdin they come.
func withCarrier(ctx, carrier context.Context) context.Context {
	return context.WithValue(ctx, carrierKey{}, carrier)
}

// untilCarrierEnds ends a request with its carrier. The SDK does that only for HTTP
// with the latest revision of the protocol; a stateless server cannot deliver an
// answer later in any revision.
func untilCarrierEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	carrier, ok := ctx.Value(carrierKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(carrier, func() { cancel(context.Cause(carrier)) })
	return ctx, func() { stop(); cancel(nil) }
}

type noteKey struct{}

// note collects what the log says about a request. It may be written to while the
// HTTP request that it belongs to is already being logged.
type note struct {
	own bool // no line of an HTTP request has it

	mu              sync.Mutex
	method, subject string
	result          string
}

func withNote(ctx context.Context, method, subject string) (context.Context, *note) {
	n, ok := ctx.Value(noteKey{}).(*note)
	if !ok || !n.take(method, subject) { // the HTTP request has a batch: its line names another
		n = &note{own: true}
		n.take(method, subject)
		ctx = context.WithValue(ctx, noteKey{}, n)
	}
	return ctx, n
}

// take notes what is asked for, unless another request is noted already.
func (n *note) take(method, subject string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.method != "" {
		return false
	}
	n.method, n.subject, n.result = method, tidegate.Cut(subject), "ok"
	return true
}

// noteOutcome notes the code of a call that failed.
func noteOutcome(ctx context.Context, result string) {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.result = result
	}
}

func (n *note) outcome(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.result = tidegate.Cut(err.Error())
}

func (n *note) attributes() []slog.Attr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.method == "" {
		return nil
	}
	attributes := []slog.Attr{slog.String("rpc", n.method)}
	if n.subject != "" {
		attributes = append(attributes, slog.String("name", n.subject))
	}
	return append(attributes, slog.String("outcome", n.result))
}

// warnings is a log without what the SDK says below a warning: it reports every
// connection, which over HTTP is every request. A request to stop the server, which
// the SDK calls an error, is a normal end.
func warnings(log *slog.Logger) *slog.Logger { return slog.New(atLeastWarn{log.Handler()}) }

type atLeastWarn struct{ slog.Handler }

func (h atLeastWarn) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}
func (h atLeastWarn) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == "server run cancelled" {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}
func (h atLeastWarn) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeastWarn{h.Handler.WithAttrs(attrs)}
}
func (h atLeastWarn) WithGroup(name string) slog.Handler {
	return atLeastWarn{h.Handler.WithGroup(name)}
}
