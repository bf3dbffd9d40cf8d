package proof_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
	"golang.org/x/sys/unix"
)

// trap is a change to the root by somebody who may write there, and who wants the
// tools to read or write something outside for them.
type trap struct {
	name string
	set  func(t *testing.T, w *world)
	// chosen marks a trap that its author has a right to when there are no roots: a
	// path may lead to the run by a link, and a manifest may say that its run lies
	// elsewhere.
	chosen bool
}

// linked replaces a file or folder of the root by a link to its twin outside.
func linked(name string) trap {
	return trap{name: name + " is a link", set: func(t *testing.T, w *world) {
		t.Helper()
		path, twin := filepath.Join(w.work, name), filepath.Join(w.secret, name)
		must.Do(t, os.RemoveAll(path))
		must.Do(t, os.Symlink(twin, path))
	}}
}

// hardLinked replaces a file of the root by the very file outside. Its content is
// then in the root and may be shown, but must not be written through.
func hardLinked(name string) trap {
	return trap{name: name + " is a hard link", set: func(t *testing.T, w *world) {
		t.Helper()
		path, twin := filepath.Join(w.work, name), filepath.Join(w.secret, "hard-"+filepath.Base(name))
		data := must.Get(os.ReadFile(path))(t)
		must.Do(t, os.WriteFile(twin, data, 0o600))
		must.Do(t, os.Remove(path))
		must.Do(t, os.Link(twin, path))
		w.before = w.outside(t)
	}}
}

// said replaces a text in a file of the root.
func said(name, file, old, text string) trap {
	return trap{name: name, set: func(t *testing.T, w *world) {
		t.Helper()
		path := filepath.Join(w.work, file)
		data := must.Get(os.ReadFile(path))(t)
		is := strings.ReplaceAll(string(data), w.fill(old), strings.ReplaceAll(text, "$OTHER", w.secret))
		if is == string(data) {
			t.Fatalf("%s does not say %s:\n%s", file, w.fill(old), data)
		}
		must.Do(t, os.WriteFile(path, []byte(is), 0o600))
	}}
}

func traps() []trap {
	const run, change = "runs/tides/", "agentd/changes/c1/"
	var list []trap
	for _, name := range []string{
		"runs", "runs/tides", "runs/runs-ledger.jsonl", "runs/.tidegate.lock",
		run + "manifest.json", run + "gates.json", run + "perspectives.json", run + "pivot.json", run + "wave-review.json",
		run + "wave-1", run + "wave-1/.accepted", run + "wave-1/.accepted/moon.md", run + "wave-1/.replanned", run + "wave-1/moon.md", run + "wave-1/wave1-plan.json",
		"bare", "bare/manifest.json", "bare/perspectives.json", "bare/pivot.json", "bare/wave-1/moon.md", "bare/summaries", "bare/summaries/moon.md", "bare/summaries/summary-pack.json", "bare/logs",
		run + "logs", run + "logs/audit.jsonl", run + "logs/audit.head", run + "operator", run + "operator/scope.json", run + "run-config", run + "run-config/policy.json",
		run + ".tidegate.lock", run + ".tidegate-tx", run + ".lock", run + "retry", run + "citations",
		"summaries-in", "summaries-in/moon.md", "citations-in.jsonl",
		"agentd", "agentd/changes", "agentd/changes/c1",
		change + "REVIEW.md", change + "STATE.yaml", change + "reviews", change + "reviews/0001.md", change + "reviews/0001.json", change + "log.jsonl", change + ".tidegate.lock", change + ".tidegate-tx",
	} {
		trap := linked(name)
		trap.chosen = slices.Contains([]string{"runs", "runs/tides", run + "manifest.json", "bare", "bare/manifest.json"}, name)
		list = append(list, trap)
	}
	for _, name := range []string{
		run + "manifest.json", run + "gates.json", run + "perspectives.json", run + "wave-review.json", run + "wave-1/moon.md", run + "wave-1/.accepted/moon.md",
		run + "wave-1/wave1-plan.json", run + "logs/audit.jsonl", run + "logs/audit.head", "bare/pivot.json", "bare/summaries/moon.md", "bare/summaries/summary-pack.json",
		change + "REVIEW.md", change + "STATE.yaml", change + "reviews/0001.md", change + "reviews/0001.json", change + "log.jsonl",
	} {
		list = append(list, hardLinked(name))
	}
	root := said("the manifest's root lies elsewhere", run+"manifest.json", `"root": "$WORK/runs/tides"`, `"root": "$OTHER/runs/tides"`)
	root.chosen = true
	list = append(list, root)
	for _, key := range []string{
		"wave1_dir:wave-1", "summaries_dir:summaries", "logs_dir:logs", "gates_file:gates.json", "perspectives_file:perspectives.json",
		"citations_file:citations/citations.jsonl", "summary_pack_file:summaries/summary-pack.json", "pivot_file:pivot.json",
	} {
		key, name, _ := strings.Cut(key, ":")
		for _, to := range []string{"$OTHER/runs/tides/" + name, "../../../other/runs/tides/" + name, "../../out/runs/tides/" + name} {
			list = append(list, said("the manifest's "+key+" is "+to, run+"manifest.json", `"`+key+`": "`+name+`"`, `"`+key+`": "`+to+`"`))
			to = strings.ReplaceAll(to, "runs/tides", "bare")
			list = append(list, said("the bare manifest's "+key+" is "+to, "bare/manifest.json", `"run_id":"bare"`, `"run_id":"bare","artifacts":{"paths":{"`+key+`":"`+to+`"}}`))
		}
	}
	for _, to := range []string{"$OTHER/moon.md", "../../../other/moon.md", "../../out/moon.md", "/etc/passwd", "/dev/zero"} {
		list = append(list,
			said("a source artifact is "+to, "bare/perspectives.json", `"id":"moon"`, `"id":"moon","source_artifact":"`+to+`"`),
			said("a gate judged "+to, run+"gates.json", `"wave-1/moon.md"`, `"`+to+`"`))
	}
	for _, id := range []string{"../../../other/moon", "$OTHER/moon", "..", "out/moon"} {
		list = append(list,
			said("a perspective is called "+id, run+"perspectives.json", `"id": "moon"`, `"id": "`+id+`"`),
			said("a bare perspective is called "+id, "bare/perspectives.json", `"id":"moon"`, `"id":"`+id+`"`))
	}
	return list
}

// TestNoTrapLeadsOut sets each trap and calls every tool; the short form takes some
// traps, and for each of them some tools, always different ones. A person accepts the
// trap first, because otherwise writing tools would stop at the record. With roots,
// nothing outside is read, shown or written. Without roots, which the long form tries
// too, links are followed for reading and never for writing.
func TestNoTrapLeadsOut(t *testing.T) {
	full.Story(t)
	t.Parallel()
	w := newWorld(t)
	calls := 0
	pristine := filepath.Join(w.outer, "pristine")
	must.Do(t, os.Rename(w.work, pristine))
	list := traps()
	for i := 0; i < len(list); i += full.Stride(len(list), 45) {
		trap := list[i]
		for _, roots := range []bool{true, false} {
			if !roots && (trap.chosen || !full.Asked()) {
				continue
			}
			copyWorld(t, pristine, w.work)
			w.before = w.outside(t)
			trap.set(t, w)
			tools := w.tools()
			accept := slices.IndexFunc(tools, func(each *tool.Tool) bool { return each.Name == "deep_research_run_accept" })
			stride := full.Stride(len(tools), 4)
			chosen := []*tool.Tool{tools[accept]}
			for j := i % stride; j < len(tools); j += stride {
				chosen = append(chosen, tools[j])
			}
			for _, each := range chosen {
				what := fmt.Sprintf("%s, where %s (roots: %v)", each.Name, trap.name, roots)
				for _, args := range argumentsOf(each.Name) {
					calls++
					result := w.call(t, each, args, roots)
					if roots {
						w.checkShown(t, what, result.Envelope)
					}
					w.checkEach(t, what, nil)
					if result.Err != nil && result.Err.Code == tidegate.Internal {
						t.Errorf("%s: %v", what, result.Err)
					}
				}
			}
			w.check(t, "a tool, where "+trap.name, nil)
		}
	}
	t.Logf("%d traps, %d calls", len(list), calls)
}

func (w *world) call(t *testing.T, each *tool.Tool, args string, roots bool) tool.Result {
	if roots {
		return w.confined(t, each, []byte(w.fill(args)))
	}
	return each.Call(t.Context(), []byte(w.fill(args)), tool.Caller{})
}

// copyWorld makes a copy of a root, without the FIFO and the links.
func copyWorld(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, os.RemoveAll(to))
	must.Do(t, os.CopyFS(to, regularFiles(from)))
}

// TestLinkSwappedWhileToolsWrite keeps replacing a folder of the run with a link
// that leads out, and back, while the tools that write there are called; in the short
// form some of them, different ones for each folder.
func TestLinkSwappedWhileToolsWrite(t *testing.T) {
	t.Parallel()
	rounds := 1
	if full.Asked() {
		rounds = 200
	}
	w := newWorld(t)
	pristine := filepath.Join(w.outer, "pristine")
	must.Do(t, os.Rename(w.work, pristine))
	for i, folder := range []string{"runs/tides/wave-1", "bare/summaries", "runs/tides/logs", "runs/tides", "agentd/changes/c1/reviews", "agentd/changes/c1"} {
		t.Run(folder, func(t *testing.T) {
			copyWorld(t, pristine, w.work)
			w.before = w.outside(t)
			real, link := filepath.Join(w.work, folder), filepath.Join(w.work, "swap")
			must.Do(t, os.Symlink(filepath.Join(w.secret, folder), link))
			stop := make(chan struct{})
			var swapping sync.WaitGroup
			swaps := 0
			swapping.Go(func() {
				for {
					for range 2 {
						if err := unix.Renameat2(unix.AT_FDCWD, real, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE); err != nil {
							t.Errorf("swapping: %v", err)
							return
						}
						swaps++
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			refused := map[tidegate.Code]int{}
			calls := 0
			for round := range rounds {
				tools := w.tools()
				stride := full.Stride(len(tools), 30)
				for j := i % stride; j < len(tools); j += stride {
					each := tools[j]
					if each.Effect == tool.Reads && each.Set != "review" || each.Name == deleteRun || round < rounds-1 && slices.Contains(closing, each.Name) {
						continue
					}
					for _, args := range argumentsOf(each.Name) {
						calls++
						result := w.call(t, each, args, true)
						if strings.Contains(string(result.Envelope), marker) {
							t.Errorf("%s tells what lies outside:\n%s", each.Name, result.Envelope)
						}
						if result.Err != nil {
							refused[result.Err.Code]++
						}
					}
				}
			}
			close(stop)
			swapping.Wait()
			w.check(t, "swapping "+folder, nil)
			must.Do(t, os.Remove(link))
			t.Logf("%d calls, %d swaps, refused: %v", calls, swaps, slices.Sorted(maps.Keys(refused)))
		})
	}
}
