package mcp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/tool"
)

// oneConnection is a listener with one caller.
type oneConnection struct{ calls chan net.Conn }

func (l oneConnection) Accept() (net.Conn, error) {
	if conn, ok := <-l.calls; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l oneConnection) Close() error { close(l.calls); return nil }

func (l oneConnection) Addr() net.Addr { return &net.UnixAddr{Name: "test", Net: "unix"} }

type slowOut struct {
	OK codec.True `json:"ok"`
}

func (slowOut) Report() report.Report { return report.Report{Name: "slow", Title: "slow"} }

// TestSlowRequestsEnd has callers that stop in the header and in the body, and a call
// that does not end by itself.
func TestSlowRequestsEnd(t *testing.T) {
	slow := tool.New(tool.Spec{Name: "toy_slow", Set: "run", Summary: "Use this in tests.", Effect: tool.Reads},
		func(ctx context.Context, _ tool.Caller, _ struct{}) (slowOut, error) {
			<-ctx.Done()
			return slowOut{}, ctx.Err()
		})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"toy_slow","arguments":{}}}`
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n"
	for _, tt := range []struct {
		name, sent, answer string
		after              time.Duration
	}{
		{"half a header", head, "", 10 * time.Second},
		{"half a body", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(call), call[:10]), "", 30 * time.Second},
		{"a call that does not end", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(call), call), "CANCELLED", 15 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := oneConnection{make(chan net.Conn, 1)}
				ours, theirs := net.Pipe()
				listener.calls <- theirs
				log := slog.New(slog.DiscardHandler)
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() {
					served <- cli.Serve(ctx, listener, mcp.Handler([]*tool.Tool{slow}, "", mcp.Options{Log: log}), mcp.GraceTime, false)
				}()
				start := time.Now()
				go func() { _, _ = io.WriteString(ours, tt.sent) }()
				answer, err := io.ReadAll(ours)
				if took := time.Since(start).Round(time.Second); err != nil || took != tt.after || !strings.Contains(string(answer), tt.answer) {
					t.Errorf("ends after %v, want %v: %s %v", took, tt.after, answer, err)
				}
				stop()
				<-served
			})
		})
	}
}
