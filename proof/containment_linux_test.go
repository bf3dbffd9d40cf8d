package proof_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// closing are the tools after which the run accepts less than before.
var closing = []string{
	"deep_research_perspectives_write", "deep_research_stage_advance", "deep_research_run_pause", "deep_research_run_cancel",
	deleteRun,
}

// tools are the tools of a world, called in this process; those that close
// something come last.
func (w *world) tools() []*tool.Tool {
	tools := catalog.Tools(envOf(w.work))
	slices.SortStableFunc(tools, func(a, b *tool.Tool) int { return slices.Index(closing, a.Name) - slices.Index(closing, b.Name) })
	return tools
}

// confined calls a tool for a caller that may touch only the root.
func (w *world) confined(t *testing.T, each *tool.Tool, args []byte) tool.Result {
	return each.Call(t.Context(), args, tool.Caller{Reach: artifact.Within(w.work)})
}

// place is the position of a string in the arguments of a tool: keys, and "[]" for
// the first entry of a list.
type place []string

func (p place) String() string { return strings.Join(p, ".") }

// set puts text there, and creates what is missing on the way.
func (p place) set(t *testing.T, in *codec.Value, text string) {
	t.Helper()
	for i, key := range p[:len(p)-1] {
		if key == "[]" {
			in = in.Elems()[0]
			continue
		}
		inner := in.Get(key)
		if inner == nil {
			switch {
			case p[i+1] != "[]":
				inner = codec.NewObject()
			case i+2 < len(p):
				inner = codec.Of([]*codec.Value{codec.NewObject()})
			default:
				inner = codec.Of([]string{})
			}
			in.Set(key, inner)
		}
		in = inner
	}
	last := p[len(p)-1]
	if last == "[]" {
		*in = *codec.Of([]string{text})
		return
	}
	in.Set(last, codec.Of(text))
}

var (
	pathRule = regexp.MustCompile(`(^|_)(path|dir|root|override|file|signers)$`)
	idRule   = regexp.MustCompile(`(^|_)ids?$`)
)

// placesIn lists the strings in a schema whose names match the rule. The list is
// derived, so that a path argument added to a tool is tried too.
func placesIn(schema *codec.Value, rule *regexp.Regexp) []place {
	var found []place
	var walk func(at place, name string, v *codec.Value)
	walk = func(at place, name string, v *codec.Value) {
		if rule.MatchString(name) && v.Get("type").Str() == "string" {
			found = append(found, slices.Clone(at))
		}
		for _, m := range v.Get("properties").Members() {
			walk(append(slices.Clone(at), m.Key), m.Key, m.Value)
		}
		if items := v.Get("items"); items != nil {
			walk(append(slices.Clone(at), "[]"), name, items)
		}
	}
	walk(nil, "", schema)
	return found
}

// outPaths are spellings of a path outside the root that corresponds to the given
// one inside it.
func (w *world) outPaths(inside string) map[string]string {
	name := strings.TrimPrefix(inside, w.work)
	return map[string]string{
		"absolute":              w.secret + name,
		"traversal":             w.work + "/../other" + name,
		"traversal by way of":   w.work + "/runs/tides/../../../other" + name,
		"doubled slashes":       "//" + w.secret + "//" + name,
		"link":                  w.work + "/out" + name,
		"absolute link":         w.work + "/out-absolute" + name,
		"chain of links":        w.work + "/out-chain" + name,
		"link through proc":     w.work + "/out-proc" + name,
		"root of the process":   "/proc/self/root" + w.secret + name,
		"folder of the process": "/proc/self/cwd/../other" + name,
		"garbage":               w.secret + "/garbage.json",
		"environment":           "/proc/self/environ",
		"passwords":             "/etc/passwd",
		"device":                "/dev/zero",
		"standard input":        "/dev/stdin",
		"memory":                "/proc/self/mem",
	}
}

// oddPaths are paths in the root that lead nowhere good.
func (w *world) oddPaths(inside string) map[string]string {
	return map[string]string{
		"FIFO":                    w.work + "/fifo",
		"link to a device":        w.work + "/device",
		"link to itself":          w.work + "/loop",
		"folder":                  w.work + "/runs",
		"through a file":          w.work + "/citations-in.jsonl/x",
		"long name":               w.work + "/" + strings.Repeat("n", 300),
		"long path":               w.work + strings.Repeat("/n", 3000),
		"zero byte":               inside + "\x00",
		"trailing dots":           inside + "...",
		"trailing slash":          inside + "/",
		"drive":                   `C:\other\x`,
		"share":                   `\\server\share\x`,
		"device elsewhere":        filepath.Dir(inside) + "/NUL",
		"stream elsewhere":        inside + ":stream",
		"line end":                inside + "\n",
		"relative":                "../other/runs/tides/manifest.json",
		"home":                    "~/x",
		"lock of the run":         w.work + "/runs/tides/.tidegate.lock",
		"transaction of the run":  w.work + "/runs/tides/.tidegate-tx/record",
		"escaped":                 w.work + "/%2e%2e/other/garbage.json",
		"replacement characters":  inside + "\ufffd\ufffe",
		"another spelling of dot": w.work + "/\u2024\u2024/other",
	}
}

// TestNoPathLeadsOut gives every path argument of every tool every path that leads
// out of the root. All are refused before anything is read, nothing outside
// changes, and no answer reveals what is there.
func TestNoPathLeadsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried, arguments := 0, 0
	for _, each := range w.tools() {
		for _, at := range placesIn(each.InputSchema(), pathRule) {
			if isNotOpened(each.Name, at) {
				continue
			}
			arguments++
			for what, hostile := range w.outPaths(w.present(t, each.Name, at)) {
				tried++
				result := w.confined(t, each, w.arguments(t, each.Name, at, hostile))
				what = fmt.Sprintf("%s with %s = %s (%s)", each.Name, at, hostile, what)
				w.checkEach(t, what, result.Envelope)
				if result.Err == nil || tidegate.ClassOf(result.Err.Code) != tidegate.Denied {
					t.Errorf("%s is not refused: %s", what, result.Envelope)
				}
			}
			w.check(t, fmt.Sprintf("%s with %s", each.Name, at), nil)
		}
	}
	t.Logf("%d paths for %d arguments", tried, arguments)
}

// TestWhatLiesOutsideWouldShow shows that the other tests can fail: without
// roots, the reading tools reveal what is in the very same files.
func TestWhatLiesOutsideWouldShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown := 0
	for _, each := range w.tools() {
		if each.Effect != tool.Reads {
			continue
		}
		for _, at := range placesIn(each.InputSchema(), pathRule) {
			args := w.arguments(t, each.Name, at, w.outPaths(w.present(t, each.Name, at))["absolute"])
			if strings.Contains(string(each.Call(t.Context(), args, tool.Caller{}).Envelope), marker) {
				shown++
			}
		}
	}
	if shown < 5 {
		t.Errorf("only %d arguments would show it", shown)
	}
}

// TestOddPathsAreRefusedOrHarmless gives the same arguments odd paths, inside the
// root or not paths at all. The short form tries some of them, different ones for
// each argument. No call waits, panics or touches anything outside.
func TestOddPathsAreRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := 0
	for _, each := range w.tools() {
		for _, at := range placesIn(each.InputSchema(), pathRule) {
			odd := w.oddPaths(w.present(t, each.Name, at))
			for i, what := range slices.Sorted(maps.Keys(odd)) {
				if (tried+i)%full.Stride(6, 1) > 0 {
					continue
				}
				hostile := odd[what]
				tried++
				result := w.confined(t, each, w.arguments(t, each.Name, at, hostile))
				what = fmt.Sprintf("%s with %s = %q (%s)", each.Name, at, tidegate.Cut(hostile), what)
				w.checkEach(t, what, result.Envelope)
				if result.Err != nil && result.Err.Code == tidegate.Internal {
					t.Errorf("%s: %v", what, result.Err)
				}
			}
			w.check(t, fmt.Sprintf("%s with %s", each.Name, at), nil)
			raw := strings.Replace(string(w.arguments(t, each.Name, at, "$RAW")), "$RAW", "/\xff\xfe", 1)
			if result := w.confined(t, each, []byte(raw)); result.Err == nil || result.Err.Code != tidegate.InvalidArgs {
				t.Errorf("%s takes a %s that is not UTF-8: %s", each.Name, at, result.Envelope)
			}
			tried++
		}
	}
	t.Logf("%d paths", tried)
}

// TestNoIDLeadsOut gives every id argument of every tool ids that name something
// else. The short form tries some of them, different ones for each argument.
func TestNoIDLeadsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{
		"..", ".", "../other", "../../other/runs/tides", "out", "out/runs/tides", w.secret, "/etc/passwd", `..\other`, `C:\x`, "a/b", "a\x00b", "a\nb",
		".tidegate.lock", ".tidegate-tx", ".hidden", strings.Repeat("n", 300), strings.Repeat("é", 100), "CON", "nul", "aux.txt", "com1", "a.", "a ", " a", "a:b", "*", "TIDES", "Moon",
		"%2e%2e", "\u202e", "\ufeff", "-rf", "~", "$HOME", "tides/../../../other", "manifest.json",
	}
	tried, arguments := 0, 0
	for _, each := range w.tools() {
		for _, at := range placesIn(each.InputSchema(), idRule) {
			arguments++
			stride := full.Stride(len(ids), 12)
			for i := arguments % stride; i < len(ids); i += stride {
				id := ids[i]
				tried++
				result := w.confined(t, each, w.arguments(t, each.Name, at, id))
				what := fmt.Sprintf("%s with %s = %q", each.Name, at, tidegate.Cut(id))
				w.checkEach(t, what, result.Envelope)
				if result.Err != nil && result.Err.Code == tidegate.Internal {
					t.Errorf("%s: %v", what, result.Err)
				}
			}
			w.check(t, fmt.Sprintf("%s with %s", each.Name, at), nil)
		}
	}
	t.Logf("%d ids for %d arguments", tried, arguments)
}

// TestNoResourceLeadsOut asks the server for artifacts of runs with hostile URIs.
func TestNoResourceLeadsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, to := range map[string]string{"runs/tides/leak.md": w.secret + "/moon.md", "runs/leak": w.secret + "/runs/tides"} {
		must.Do(t, os.Symlink(to, filepath.Join(w.work, name)))
	}
	session := serve(t, w.work)
	uris := []string{"tides/leak.md", "leak", "leak/manifest.json", "tides/../leak/manifest.json", "..", "../../other", "tides/../../../other/moon.md", "tides//etc/passwd", "/etc/passwd",
		"tides/.tidegate.lock", "tides/" + w.secret + "/moon.md", "tides/\x00", "tides/" + strings.Repeat("n/", 2000)}
	for _, each := range slices.Clone(uris) {
		uris = append(uris, url.PathEscape(each), strings.ReplaceAll(each, ".", "%2e"))
	}
	for _, each := range uris {
		result, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "tidegate://run/" + each})
		w.check(t, "reading "+each, fmt.Appendf(nil, "%+v %v", contents(result), err))
		if err == nil {
			t.Errorf("tidegate://run/%s was read: %v", each, contents(result))
		}
	}
	if result, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "tidegate://run/tides/wave-1/moon.md"}); err != nil || !strings.Contains(contents(result), "The moon pulls") {
		t.Errorf("an artifact cannot be read: %v", err)
	}
	t.Logf("%d resources", len(uris))
}

func contents(result *mcp.ReadResourceResult) string {
	if result == nil {
		return ""
	}
	var text strings.Builder
	for _, each := range result.Contents {
		text.WriteString(each.Text)
		text.Write(each.Blob)
	}
	return text.String()
}

// present is the path in the base arguments of a tool, or one that could stand
// there.
func (w *world) present(t *testing.T, name string, at place) string {
	t.Helper()
	v := w.base(t, name)
	for _, key := range at {
		if key == "[]" {
			if v.Len() == 0 {
				break
			}
			v = v.Elems()[0]
			continue
		}
		v = v.Get(key)
	}
	if path := v.Str(); strings.HasPrefix(path, w.work) {
		return path
	}
	return w.work + "/runs/tides/manifest.json"
}

func (w *world) base(t *testing.T, name string) *codec.Value {
	t.Helper()
	v, err := codec.Parse([]byte(w.fill(baseArguments[name])))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

func (w *world) arguments(t *testing.T, name string, at place, text string) []byte {
	t.Helper()
	v := w.base(t, name)
	at.set(t, v, text)
	args := must.Get(codec.MarshalLine(v))(t)
	return args
}

// isNotOpened reports whether a string is named like a path but only recorded: no
// tool ever opens it.
func isNotOpened(name string, at place) bool {
	switch at.String() {
	case "issues.[].file":
		return name == "create_review" || name == "format_review_markdown"
	case "wave1_validation_reports.[].markdown_path":
		return name == "deep_research_pivot_decide"
	}
	return false
}
