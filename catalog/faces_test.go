package catalog_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/internal/cli"
	"github.com/tidegate/tidegate/internal/mcpserver"
	"github.com/tidegate/tidegate/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// face is one way to call a tool: it returns the envelope's bytes.
type face func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte

var faces = []struct {
	name string
	call face
}{
	{"library", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		for _, candidate := range tools {
			if candidate.Name == name {
				return candidate.Call(t.Context(), args, tool.Caller{}).Envelope
			}
		}
		t.Fatalf("there is no tool %s", name)
		return nil
	}},
	{"command", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		var out, errs bytes.Buffer
		program := cli.Program{Tools: tools, Stdin: bytes.NewReader(args), Stdout: &out, Stderr: &errs, Dir: t.TempDir()}
		program.Run(t.Context(), []string{"call", name})
		if errs.Len() > 0 {
			t.Fatalf("call wrote to stderr: %s", errs.String())
		}
		return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	}},
	{"MCP", func(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
		return callMCP(t, tools, name, args)
	}},
}

func callMCP(t *testing.T, tools []*tool.Tool, name string, args []byte) []byte {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	serverEnd, clientEnd := mcp.NewInMemoryTransports()
	server := mcpserver.New(tools, mcpserver.Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
	if _, err := server.Connect(ctx, serverEnd, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: rawArguments(args)})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		if result.StructuredContent != nil {
			t.Error("an error carries structured content")
		}
		return []byte(text)
	}
	checkStructured(t, text, result.StructuredContent)
	return []byte(text)
}

type rawArguments []byte

// MarshalJSON sends the arguments as they are.
func (r rawArguments) MarshalJSON() ([]byte, error) { return r, nil }

func checkStructured(t *testing.T, text string, structured any) {
	t.Helper()
	fromText, err := codec.Parse([]byte(text))
	if err != nil {
		t.Fatalf("the text block is not the envelope: %v", err)
	}
	if codec.Digest(fromText) != codec.Digest(structured) {
		t.Errorf("structured content differs from the text block")
	}
}

// TestEveryFaceGivesTheSameBytes runs the corpus in testdata/calls. A file
// holds input files, then calls: a section "call NAME" with the arguments and a
// section "want" with the envelope. $WORK stands for the folder of the files. The
// calls of one file run in order on the same folder. Where results hold digests
// over absolute paths, the file says so with the words "digests masked", and the
// faces are still compared byte for byte.
func TestEveryFaceGivesTheSameBytes(t *testing.T) {
	scripts, err := filepath.Glob("testdata/calls/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(script)
			if err != nil {
				t.Fatal(err)
			}
			work := shortFolder(t)
			first := ""
			for _, face := range faces {
				if err := os.RemoveAll(work); err != nil {
					t.Fatal(err)
				}
				got := runCalls(t, face.name, face.call, archive, work)
				if first == "" {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("%s differs from %s:\n%s", face.name, faces[0].name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(script, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var digest = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// runCalls returns all envelopes as they came.
func runCalls(t *testing.T, name string, call face, archive *txtar.Archive, work string) string {
	var all strings.Builder
	masked := strings.Contains(string(archive.Comment), "digests masked")
	at := time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	env := &catalog.Env{Now: func() time.Time { return at }, Pinned: true, Project: work, Home: filepath.Join(work, "runs")}
	tools := catalog.Tools(env)
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for i, section := range archive.Files {
		toolName, isCall := strings.CutPrefix(section.Name, "call ")
		switch {
		case isCall:
			calls++
			args := strings.ReplaceAll(strings.TrimSuffix(string(section.Data), "\n"), "$WORK", work)
			envelope := string(call(t, tools, toolName, []byte(args)))
			all.WriteString(envelope + "\n")
			got := strings.ReplaceAll(envelope, work, "$WORK") + "\n"
			if masked {
				got = digest.ReplaceAllString(got, "sha256:*")
			}
			if i+1 == len(archive.Files) || archive.Files[i+1].Name != "want" {
				t.Fatalf("call %s has no want section after it", toolName)
			}
			want := &archive.Files[i+1]
			if *update && name == "library" {
				want.Data = []byte(got)
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("%s: call %d, %s (-want +got):\n%s", name, calls, toolName, diff)
			}
		case section.Name != "want":
			path := filepath.Join(work, filepath.FromSlash(section.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			data := bytes.ReplaceAll(section.Data, []byte("$WORK"), []byte(work))
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if calls == 0 {
		t.Fatal("the file has no call")
	}
	return all.String()
}

// shortFolder is a folder whose path is short enough not to be cut in messages.
func shortFolder(t *testing.T) string {
	parent, err := os.MkdirTemp("", "tg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	return filepath.Join(parent, "work")
}
