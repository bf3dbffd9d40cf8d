package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

type sayIn struct {
	Word  string `json:"word" jsonschema:"the word"`
	Times int    `json:"times,omitzero" jsonschema:"how often" min:"1" max:"1000000" default:"1"`
	Save  string `json:"save,omitzero" path:"absolute" jsonschema:"where to" writes:"true"`
}

type sayOut struct {
	OK   codec.True `json:"ok"`
	Said string     `json:"said"`
}

func (o sayOut) Report() report.Report {
	return report.Report{Name: "say", Title: "say", Summary: fmt.Sprintf("%d bytes were said", len(o.Said))}
}

// held says when a call of toy_hold began, lets it go, and says why it ended.
type held struct {
	began, release chan struct{}
	ended          chan error
}

func newHeld() *held {
	return &held{make(chan struct{}, 9), make(chan struct{}), make(chan error, 9)}
}

// toys are tools that show what a server does with tools. toy_hold waits until
// it is released or its caller gives up.
func toys(h *held) []*tool.Tool {
	spec := func(name, set string, effect tool.Effect) tool.Spec {
		return tool.Spec{Name: name, Set: set, Core: name != "toy_hold", Summary: "Use this in tests.", Effect: effect}
	}
	return []*tool.Tool{
		tool.New(spec("toy_say", "wave", tool.WritesOnRequest), func(ctx context.Context, call tool.Caller, in sayIn) (sayOut, error) {
			if in.Word == "panic" {
				panic("as asked")
			}
			if in.Word == "fail" {
				return sayOut{}, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("word", in.Word), "no such word")
			}
			for i := range in.Times {
				if call.Progress != nil {
					call.Progress(i+1, in.Times)
				}
			}
			return sayOut{Said: strings.Repeat(in.Word, in.Times)}, nil
		}),
		tool.New(spec("toy_hold", "run", tool.Reads), func(ctx context.Context, _ tool.Caller, _ struct{}) (sayOut, error) {
			h.began <- struct{}{}
			select {
			case <-h.release:
				return sayOut{Said: "released"}, nil
			case <-ctx.Done():
				h.ended <- context.Cause(ctx)
				return sayOut{}, ctx.Err()
			}
		}),
		tool.New(spec("toy_write", "run", tool.Writes), func(context.Context, tool.Caller, struct{}) (sayOut, error) { return sayOut{}, nil }),
	}
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(data []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(data)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func options(log *journal) mcp.Options {
	if log == nil {
		log = new(journal)
	}
	return mcp.Options{
		Version: "test",
		Log:     newLog(log),
		Prompts: []mcp.Prompt{
			{
				Name: "greet", Title: "Greet", Description: "Say hello.", Needs: []string{"toy_say"},
				Arguments: []mcp.PromptArgument{{Name: "who", Description: "whom to greet", Required: true}},
				Text: func(args map[string]string) (string, error) {
					if args["who"] == "panic" {
						panic("as asked")
					}
					return "Say hello to " + args["who"], nil
				},
			},
			{Name: "write", Description: "Write.", Needs: []string{"toy_write"}, Text: func(map[string]string) (string, error) { return "Write.", nil }},
		},
		Resources: []mcp.Resource{{URI: "toy://one", Name: "one", MIMEType: "text/plain", Read: func(context.Context) ([]byte, error) { return []byte("one"), nil }}},
		Templates: []mcp.Template{{
			URITemplate: "toy://many/{name}", Name: "many",
			Read: func(_ context.Context, uri string) ([]byte, string, error) {
				switch name := strings.TrimPrefix(uri, "toy://many/"); name {
				case "absent":
					return nil, "", tidegate.Errorf(tidegate.FileNotFound, nil, "not there")
				case "outside":
					return nil, "", tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("path", name), "outside")
				case "bytes":
					return []byte{0xff, 0}, "application/octet-stream", nil
				default:
					return []byte(name), "text/plain", nil
				}
			},
		}},
	}
}

func newLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// session is a client of the toys in this process.
func session(t *testing.T, tools []*tool.Tool, o mcp.Options, client *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	serverEnd, clientEnd := sdk.NewInMemoryTransports()
	must.Get(mcp.New(tools, o).Connect(t.Context(), serverEnd, nil))(t)
	connected := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, client).Connect(t.Context(), clientEnd, nil))(t)
	t.Cleanup(func() { connected.Close() })
	return connected
}
