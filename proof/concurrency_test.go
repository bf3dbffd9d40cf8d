package proof_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// workers is 32 in the long form.
func workers() int {
	if full.Asked() {
		return 32
	}
	return 6
}

// callsPerWorker makes 20,480 calls in the long form.
func callsPerWorker() int {
	if full.Asked() {
		return 640
	}
	return 8
}

// TestManyProcessesLoseNothing hammers one run and one change with every writing
// tool from many processes of the program, each serving MCP, while others read.
func TestManyProcessesLoseNothing(t *testing.T) {
	work := scratch.Short(t)
	servers := make([]*mcp.ClientSession, workers()+1)
	for i := range servers {
		servers[i] = serve(t, work)
	}
	byName := toolsByName(&catalog.Env{})
	call := func(worker int, name, args string) ([]byte, error) {
		if isPersons(byName[name], args) {
			return typed(work, byName[name].Command, args)
		}
		return overMCP(t.Context(), servers[worker], name, args)
	}
	hammerAndCheck(t, work, call)
}

// TestManyGoroutinesLoseNothing does the same in one process, for the race
// detector.
func TestManyGoroutinesLoseNothing(t *testing.T) {
	work := scratch.Short(t)
	byName := toolsByName(&catalog.Env{Now: time.Now, Dir: work, Project: work, Home: filepath.Join(work, "runs")})
	hammerAndCheck(t, work, func(_ int, name, args string) ([]byte, error) {
		ctx := t.Context()
		if isPersons(byName[name], args) {
			ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person})
		}
		return byName[name].Call(ctx, []byte(args), tool.Caller{}).Envelope, nil
	})
}

// TestTheHammerStrikesWithEveryWritingTool fails for a tool that nobody put
// among the blows.
func TestTheHammerStrikesWithEveryWritingTool(t *testing.T) {
	t.Parallel()
	struck := map[string]bool{
		final.tool: true, deleteRun: true, // a deleted run cannot be compared
		"report_audit":         true, // each call makes a folder of its own
		"find":                 true, // writes an index that is never the truth; TestTheIndexIsNeverTheTruth takes it away
		"deep_research_search": true, // reaches a service; TestSearchesKeepToTheirBudget asks many at once
	}
	for _, b := range blows() {
		struck[b.tool] = true
	}
	for _, each := range catalog.Tools(&catalog.Env{}) {
		if each.Effect != tool.Reads && !struck[each.Name] {
			t.Errorf("%s writes and is not among the blows", each.Name)
		}
	}
}

func hammerAndCheck(t *testing.T, work string, call caller) {
	prepare(t, work, call)
	var watching sync.WaitGroup
	eyes := newWatcher(work)
	files, tools := make(chan struct{}, 1), make(chan struct{}, 1)
	watching.Go(func() { eyes.watch(t, files) })
	watching.Go(func() { lookAround(t, work, tools, call) })
	done := hammer(t, work, workers(), callsPerWorker(), call, files, tools)
	close(files)
	close(tools)
	watching.Wait()
	if t.Failed() {
		return
	}
	checkRun(t, work, done, eyes)
	checkChange(t, work, done, eyes)
	checkNothingElseIsLeft(t, work)
	checkOneCancels(t, work, call)
	for _, manifest := range []string{manifestArg, nightArg} {
		if out, err := call(workers(), "deep_research_run_verify", strings.ReplaceAll(`{`+manifest+`}`, "$WORK", work)); err != nil || !bytes.Contains(out, []byte(`"pass": true`)) {
			t.Errorf("the run does not verify: %v\n%s", err, out)
		}
	}
	checkAttempts(t, work)
	logStrikes(t, done, eyes)
}

// prepare has all workers ask for the run at once, which creates it once, and gives
// it an output.
func prepare(t *testing.T, work string, call caller) {
	t.Helper()
	layOut(t, work)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		made  int
	)
	for worker := range workers() {
		group.Go(func() {
			out, err := call(worker, initRun.tool, initRun.args)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil || !bytes.Contains(out, []byte(`"ok": true`)):
				t.Errorf("run init: %v\n%s", err, out)
			case bytes.Contains(out, []byte(`"created": true`)):
				made++
			}
		})
	}
	group.Wait()
	if made != 1 {
		t.Fatalf("%d callers made the run", made)
	}
	for _, c := range []command{initNight, perspectives, planWave, advance, ingest, reviewWave, startChange, firstReview} {
		out, err := call(0, c.tool, strings.ReplaceAll(c.args, "$WORK", work))
		if err != nil || !bytes.Contains(out, []byte(`"ok": true`)) {
			t.Fatalf("%s: %v\n%s", c.tool, err, out)
		}
	}
	if out, err := exec.Command(binary, "change", "start", "c1", "--max-rounds", "1000000", "--project", work).CombinedOutput(); err != nil {
		t.Fatalf("change start: %v\n%s", err, out)
	}
}

// checkOneCancels has every worker end the run at once; only one call may end it.
func checkOneCancels(t *testing.T, work string, call caller) {
	t.Helper()
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		changed int
	)
	args := strings.ReplaceAll(final.args("the end", 0), "$WORK", work)
	for worker := range workers() {
		group.Go(func() {
			out, err := call(worker, final.tool, args)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil || !bytes.Contains(out, []byte(`"ok": true`)):
				t.Errorf("cancel: %v\n%s", err, out)
			case bytes.Contains(out, []byte(`"changed": true`)):
				changed++
			}
		})
	}
	group.Wait()
	if changed != 1 {
		t.Errorf("the run was cancelled %d times", changed)
	}
}

// checkAttempts demands that the job of the other run never had two holders at once:
// its attempts are numbered without a gap, and all but the last have ended.
func checkAttempts(t *testing.T, work string) {
	t.Helper()
	found := must.Get(filepath.Glob(filepath.Join(work, "runs/night/jobs/perspectives/*/attempt.json")))(t)
	for i, path := range found {
		data := must.Get(os.ReadFile(path))(t)
		attempt := parsed(t, data)
		if number, _ := attempt.Get("attempt").Int(); int(number) != i+1 || i+1 < len(found) && attempt.Get("outcome").Str() == "" {
			t.Errorf("attempt %d of %d is %s", i+1, len(found), data)
		}
	}
}

// checkNothingElseIsLeft demands that no temporary file or transaction is left.
func checkNothingElseIsLeft(t *testing.T, work string) {
	t.Helper()
	for _, pattern := range []string{".tidegate-*", "*/.tidegate-*", "*/*/.tidegate-*", "*/*/*/.tidegate-*", "*/*/*/*/.tidegate-*"} {
		left, err := filepath.Glob(filepath.Join(work, pattern))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
}

func logStrikes(t *testing.T, done [][]strike, eyes *watcher) {
	accepted, refused := map[string]int{}, map[string]int{}
	calls, tired := 0, 0
	for _, s := range slices.Concat(done...) {
		calls++
		if s.code == "" {
			accepted[s.tool]++
		} else {
			refused[s.tool]++
		}
		if s.code == tidegate.LockHeld {
			tired++
		}
	}
	for _, b := range blows() {
		if full.Asked() && accepted[b.tool] == 0 && b.never == "" {
			t.Errorf("%s was never accepted, so that nothing is shown of it", b.tool)
		}
	}
	for name := range watched {
		if full.Asked() && len(eyes.seen[name]) == 0 {
			t.Errorf("%s was never there to look at", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(accepted)) {
		t.Logf("%6d accepted, %6d refused: %s", accepted[name], refused[name], name)
	}
	t.Logf("%d calls by %d workers, of which %d did not get the lock in 30 s; %d looks at files under way", calls, workers(), tired, eyes.looks)
}

// serve starts the program as an MCP server that lives as long as the test.
func serve(t *testing.T, work string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command(binary, "mcp", "--toolsets", "all", "--project", work, "--root", work)
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+work, "GOMAXPROCS=2")
	must.Do(t, os.MkdirAll(work, 0o700))
	command.Dir = work
	session := must.Get(mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil))(t)
	t.Cleanup(func() { session.Close() })
	return session
}

func overMCP(ctx context.Context, session *mcp.ClientSession, name, args string) ([]byte, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return nil, err
	}
	if result.StructuredContent != nil {
		return json.MarshalIndent(result.StructuredContent, "", "  ") // a long one is only summed up as text
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return nil, fmt.Errorf("the answer is not text but %T", result.Content[0])
	}
	return []byte(text.Text), nil
}

func toolsByName(env *catalog.Env) map[string]*tool.Tool {
	tools := map[string]*tool.Tool{}
	for _, each := range catalog.Tools(env) {
		tools[each.Name] = each
	}
	return tools
}

// isPersons reports whether no agent may make the call.
func isPersons(each *tool.Tool, args string) bool {
	return each.Person || slices.ContainsFunc(each.PersonArgs, func(arg string) bool { return strings.Contains(args, `"`+arg+`":`) })
}

// operands are what a person types for an operand that is not an argument of the
// tool, or has another name there.
var operands = map[string]string{"RUN": "tides", "CHANGE": "c1", "PERSPECTIVES": "perspectives-in.json"}

// typed runs a person's command in a process of its own, with the arguments
// that the tool would be given.
func typed(work string, command *tool.Command, args string) ([]byte, error) {
	var given map[string]any
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		return nil, err
	}
	words := strings.Fields(command.Path)
	for _, operand := range command.Operands {
		word := operands[operand.Name]
		if operand.Name == "RUN" && strings.Contains(args, "/runs/night/") {
			word = "night"
		}
		if word == "" && operand.Optional {
			continue
		}
		if word == "" {
			word = fmt.Sprint(given[operand.Field])
		}
		words = append(words, word)
	}
	words = append(words, "--format", "json")
	for _, flag := range []string{"reason", "note", "agent"} {
		if value, ok := given[flag]; ok {
			words = append(words, "--"+flag, fmt.Sprint(value))
		}
	}
	for _, flag := range []string{"accept", "replan"} {
		if given[flag] == true {
			words = append(words, "--"+flag)
		}
	}
	process := exec.Command(binary, words...)
	process.Env = append(os.Environ(), "TIDEGATE_HOME="+work)
	process.Dir = work
	if answer, ok := given["answer"].(string); ok {
		process.Stdin = strings.NewReader(answer)
	}
	out, err := process.Output()
	if len(out) == 0 {
		return nil, fmt.Errorf("%q: %w", words, err)
	}
	return out, nil
}
