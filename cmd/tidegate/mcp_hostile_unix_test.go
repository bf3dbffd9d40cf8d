//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

const canary = "CANARY-THAT-MUST-STAY-OUTSIDE"

// siege is a folder that a server may touch, beside one that it may not.
type siege struct {
	root, outside string
	faults        []fault
}

// fault is something that a hostile or confused caller puts in place of an
// argument.
type fault struct {
	name    string
	value   string // JSON
	outside bool   // as a path it lies outside the root
}

func besiege(t *testing.T) *siege {
	t.Helper()
	parent := must.Get(os.MkdirTemp("", "tg"))(t)
	t.Cleanup(func() { os.RemoveAll(parent) })
	s := &siege{root: filepath.Join(parent, "root"), outside: filepath.Join(parent, "outside")}
	for path, text := range map[string]string{
		"outside/secret.md":         "# " + canary + "\n",
		"outside/perspectives.json": `{"schema_version":"perspectives.v1","perspectives":[{"id":"` + canary + `"}]}`,
		"outside/manifest.json":     `{"schema_version":"manifest.v1","run_id":"` + canary + `"}`,
		"root/run/manifest.json":    `{"schema_version":"manifest.v1","run_id":"r1","artifacts":{"root":` + quote(filepath.Join(parent, "outside")) + `}}`,
		"root/file":                 "text\n",
	} {
		file := filepath.Join(parent, path)
		must.Write(t, file, text)
	}
	for link, target := range map[string]string{
		"link.md": filepath.Join(s.outside, "secret.md"), "link.json": "../outside/perspectives.json", "linked": s.outside, "loop": "loop", "self": ".",
	} {
		if err := os.Symlink(target, filepath.Join(s.root, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(s.root, "fifo"), 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	plain := func(name, value string) { s.faults = append(s.faults, fault{name, value, false}) }
	path := func(name, value string, outside bool) {
		s.faults = append(s.faults, fault{name, quote(value), outside})
	}
	for name, value := range map[string]string{
		"null": "null", "true": "true", "zero": "0", "negative": "-1", "fraction": "1.5", "huge": "1e308", "beyond": "1e999", "above 2^53": "9007199254740993",
		"empty text": `""`, "blank": `" \t"`, "list": "[]", "list in a list": "[[]]", "object": "{}", "list of nulls": "[null]", "list of objects": "[{}]",
		"NUL": `"/a\u0000b"`, "controls": `"\u0001\u001b[2J\r\n"`, "lone surrogate": `"\ud800"`, "markup": `"<script>[x](javascript:1)"`,
		"command": `"$(touch /tmp/x); rm -rf ~ | cat"`, "format": `"%s%n%v{{.}}"`, "template id": `"..%2f..%2foutside"`,
		"long": quote(strings.Repeat("x", 1<<17)), "long path": quote("/" + strings.Repeat("x/", 5000)), "deep": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"relative": `"./rel"`, "upward": `"../../outside/secret.md"`, "Windows": `"C:\\Windows\\win.ini"`, "URL": `"file:///etc/passwd"`, "URL to fetch": `"http://127.0.0.1:1/"`,
	} {
		plain(name, value)
	}
	path("the root", s.root, false)
	path("a FIFO", filepath.Join(s.root, "fifo"), false)
	path("a loop", filepath.Join(s.root, "loop"), false)
	path("absent", filepath.Join(s.root, "absent"), false)
	path("a run that says it lives outside", filepath.Join(s.root, "run", "manifest.json"), false)
	path("through itself", filepath.Join(s.root, "self", "self", "file"), false)
	path("the folder outside", s.outside, true)
	path("a file outside", filepath.Join(s.outside, "secret.md"), true)
	path("absent outside", filepath.Join(s.outside, "absent"), true)
	path("dots out", s.root+"/../outside/secret.md", true)
	path("a link out", filepath.Join(s.root, "link.md"), true)
	path("a relative link out", filepath.Join(s.root, "link.json"), true)
	path("a linked folder", filepath.Join(s.root, "linked"), true)
	path("a file in a linked folder", filepath.Join(s.root, "linked", "secret.md"), true)
	path("a document in a linked folder", filepath.Join(s.root, "linked", "manifest.json"), true)
	path("new in a linked folder", filepath.Join(s.root, "linked", "new"), true)
	path("/etc/passwd", "/etc/passwd", true)
	path("a device", "/dev/zero", true)
	path("the process", "/proc/self/environ", true)
	path("everything", "/", true)
	slices.SortFunc(s.faults, func(a, b fault) int { return strings.Compare(a.name, b.name) })
	return s
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// caller calls a tool with arguments that are sent as they are, and returns the
// code of the error, or "" for a result, and the whole answer.
type caller func(name, arguments string) (code tidegate.Code, answer string)

// TestHostileArguments crosses every argument of every tool with every fault.
// Every call is answered, none with a panic; nothing outside the root is read or
// written; and a path argument that leads out is refused as such.
//
// The transports hand the same bytes to the same code. So in the short form they
// get some of the faults, and the tools in this process all of them.
func TestHostileArguments(t *testing.T) {
	full.Story(t)
	for _, transport := range []struct {
		name    string
		connect func(t *testing.T, s *siege) caller
		stride  int
	}{
		{"in process", inProcess, 1},
		{"stdio", overStdio, full.Stride(100, 5)},
		{"HTTP", overHTTP, full.Stride(100, 5)},
	} {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			s := besiege(t)
			before := snapshot(t, s.outside)
			call, stride := transport.connect(t, s), transport.stride
			crossed, calls := s.play(t, call, stride)
			for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
				if !crossed[each.Name] {
					calls += s.cross(t, call, each, "{}", stride)
				}
			}
			if after := snapshot(t, s.outside); !maps.Equal(before, after) {
				t.Errorf("something outside the root changed: %q is %q", before, after)
			}
			if code, answer := call("deep_research_pivot_rules", "{}"); code != "" {
				t.Errorf("after %d calls the server is not itself: %s", calls, answer)
			}
			t.Logf("%d hostile calls", calls)
		})
	}
}

// play makes the calls of the catalogue's corpus inside the root, and crosses each
// tool at its first call with good arguments. What crossing left behind may spoil
// later calls, which does not matter here.
func (s *siege) play(t *testing.T, call caller, stride int) (crossed map[string]bool, calls int) {
	scripts, err := filepath.Glob("../../catalog/testdata/calls/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	tools := map[string]*tool.Tool{}
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		tools[each.Name] = each
	}
	crossed = map[string]bool{}
	for _, script := range scripts {
		work := filepath.Join(s.root, strings.TrimSuffix(filepath.Base(script), ".txtar"))
		goods, _ := layOut(t, script, work)
		for _, good := range goods {
			call(good.Name, string(good.Arguments))
			if of := tools[good.Name]; of != nil && good.ok && !crossed[good.Name] {
				crossed[good.Name] = true
				calls += s.cross(t, call, of, string(good.Arguments), stride)
			}
		}
	}
	return crossed, calls
}

// cross puts every fault in the place of every argument, and of every field of
// the objects in it.
func (s *siege) cross(t *testing.T, call caller, of *tool.Tool, good string, stride int) (calls int) {
	for i, f := range s.faults {
		for j, place := range places(of, good) {
			if (i+j)%stride != 0 {
				continue
			}
			calls++
			code, answer := call(of.Name, place.with(f.value))
			where := fmt.Sprintf("%s, %s: %s", of.Name, place.name, f.name)
			switch {
			case strings.Contains(answer, canary):
				t.Errorf("%s: the answer has what lies outside: %.300s", where, answer)
			case code == tidegate.Internal:
				t.Errorf("%s: %.300s", where, answer)
			case f.outside && place.path && code != tidegate.PathNotAllowed && good != "{}":
				t.Errorf("%s: got %q: %.300s", where, code, answer)
			}
		}
	}
	return calls
}

// place is where in some arguments a fault goes.
type place struct {
	name string
	path bool // a path is expected there
	with func(value string) string
}

// places lists the places: each argument that the schema has or the arguments give,
// one that is unknown, one that is given twice, the one item of a list and, in a list of
// objects, each field of the first.
func places(of *tool.Tool, good string) []place {
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal([]byte(good), &arguments); err != nil {
		panic(err)
	}
	paths := map[string]bool{}
	for _, a := range of.Arguments() {
		paths[a.Name] = a.Path
	}
	var names []string
	for _, p := range of.InputSchema().Get("properties").Members() {
		names = append(names, p.Key)
	}
	for name := range arguments {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []place
	for _, name := range append(names, "an_argument_that_is_none") {
		others := maps.Clone(arguments)
		if name == "manifest_path" {
			delete(others, "run") // it is another name of the run
		}
		_, isList := strings.CutPrefix(string(arguments[name]), "[")
		list = append(list, place{name, paths[name] && !isList, func(value string) string { return object(others, name, value) }})
		if isList {
			list = append(list, place{name + "[0]", paths[name], func(value string) string { return object(others, name, "["+value+"]") }})
		}
		var inner []map[string]json.RawMessage
		if json.Unmarshal(arguments[name], &inner) != nil || len(inner) == 0 {
			continue
		}
		for field := range inner[0] {
			list = append(list, place{name + "[0]." + field, false, func(value string) string {
				return object(arguments, name, "["+object(inner[0], field, value)+"]")
			}})
		}
	}
	return append(list, place{"twice", false, func(value string) string {
		whole := object(arguments, "twice", value)
		return strings.TrimSuffix(whole, "}") + `,"twice":` + value + "}"
	}})
}

// object is a JSON object with one member replaced.
func object(members map[string]json.RawMessage, name, value string) string {
	var out strings.Builder
	for key, each := range members {
		if key != name {
			fmt.Fprintf(&out, "%s:%s,", quote(key), each)
		}
	}
	return "{" + out.String() + quote(name) + ":" + value + "}"
}

func (s *siege) env() []string { return []string{"TIDEGATE_HOME=" + filepath.Join(s.root, "home")} }

// inProcess calls the tools of this process as a server with that root does.
func inProcess(t *testing.T, s *siege) caller {
	env := &catalog.Env{Now: time.Now, Dir: s.root, Project: s.root, Home: filepath.Join(s.root, "home", "runs")}
	tools := map[string]*tool.Tool{}
	for _, each := range tool.ForAgents(catalog.Tools(env)) {
		tools[each.Name] = each
	}
	return func(name, arguments string) (tidegate.Code, string) {
		result := tools[name].Call(t.Context(), []byte(arguments), tool.Caller{Reach: artifact.Within(s.root)})
		if result.Err != nil {
			return result.Err.Code, string(result.Envelope)
		}
		return "", string(result.Envelope)
	}
}

func overStdio(t *testing.T, s *siege) caller {
	session := connectIn(t, s.root, s.env(), "--root", s.root, "--toolsets", "all")
	return func(name, arguments string) (tidegate.Code, string) {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			// Numbers that no double holds are refused by the client's own encoder.
			return tidegate.InvalidArgs, ""
		}
		text := result.Content[0].(*mcp.TextContent).Text
		return codeIn(t, text), text
	}
}

func overHTTP(t *testing.T, s *siege) caller {
	url, _ := startHTTP(t, s.root, s.env(), "--toolsets", "all")
	return func(name, arguments string) (tidegate.Code, string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments)
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body)))(t)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		response := must.Get(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		data := must.Get(io.ReadAll(response.Body))(t)
		if response.StatusCode != http.StatusOK {
			return tidegate.InvalidArgs, "" // not even a message
		}
		_, message, _ := bytes.Cut(data, []byte("data: "))
		var answer struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(message, &answer); err != nil || len(answer.Result.Content) == 0 {
			t.Fatalf("not an answer: %v %.300s", err, data)
		}
		return codeIn(t, answer.Result.Content[0].Text), string(data)
	}
}

// codeIn is the code in an envelope.
func codeIn(t *testing.T, text string) tidegate.Code {
	t.Helper()
	var envelope struct {
		OK    bool
		Error struct{ Code tidegate.Code }
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		if strings.Contains(text, "structuredContent") {
			return "" // a result that is too large for a text block
		}
		t.Fatalf("not an envelope: %.300s", text)
	}
	return envelope.Error.Code
}
