package proof_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// The memory bounds: what every process may use, and what it may use on top of that
// for each validated citation, for each sentence of a report that is audited, and for each
// perspective and each move in a history beyond the first many.
const (
	baseMemory     = 64 << 20
	memoryCitation = 256
	memoryEntry    = 4 << 10
	memorySentence = 16 << 10 // of a report that is audited, with a fifth of a page
	many           = 10_000
)

// load is something large that a tool is given.
type load struct {
	name string
	unit string
	n    [2]int // how much in the short and in the long form, which tries a tenth too
	free int    // this many cost nothing beyond the base
	each int64  // memory that each of the others may cost
	// lay writes n of it to an empty folder and returns the arguments.
	lay  func(t *testing.T, work string, n int) string
	tool string // or a command line
	want string // a part of the answer; $N stands for n
}

func loads() []load {
	return []load{
		{"review of a wave", "perspectives", [2]int{1_000, 100_000}, many, memoryEntry, layWave, "deep_research_wave_review", `"validated": $N,`},
		{"check of perspectives", "perspectives", [2]int{1_000, 100_000}, many, memoryEntry, layDocument, "deep_research_perspectives_check", `"perspectives": $N,`},
		{"one output", "MiB", [2]int{10, 1024}, 0, 0, layOutput, "deep_research_wave_output_validate", `"ok": true`},
		{"one line", "MiB", [2]int{10, 100}, 0, 0, layLine, "deep_research_wave_output_validate", `"ok": true`},
		{"citations of given summaries", "citations", [2]int{10_000, 1_000_000}, 0, memoryCitation, layPool("fixture"), "deep_research_summary_pack_build", `"summary_count": 1`},
		{"citations of made summaries", "citations", [2]int{10_000, 1_000_000}, 0, memoryCitation, layPool("generate"), "deep_research_summary_pack_build", `"summary_count": 1`},
		{"move in a long manifest", "moves", [2]int{1_000, 100_000}, many, memoryEntry, layMove, "deep_research_stage_advance", `"to": "wave1"`},
		{"audit of a report", "sentences", [2]int{100, 5_000}, 0, memorySentence, layReport, "audit $WORK/report.md --pages $WORK/pages --format json", `"outcome": "no_error_by_rule"`},
		{"status of a long manifest", "moves", [2]int{1_000, 100_000}, many, memoryEntry, layStatus, "deep_research_run_status", `"ok": true`},
	}
}

// TestLargeInputsCostNoMoreThanTheirBounds gives the tools large inputs, each in a
// process of its own. Memory must stay within the bounds; the times are printed. The
// long form gives them a tenth of the size too, so that the reader sees how the times
// grow with it.
func TestLargeInputsCostNoMoreThanTheirBounds(t *testing.T) {
	for _, l := range loads() {
		t.Run(l.name, func(t *testing.T) {
			sizes := []int{l.n[0]}
			if full.Asked() {
				sizes = []int{l.n[1] / 10, l.n[1]}
			}
			for _, n := range sizes {
				work := scratch.Short(t)
				must.Do(t, os.MkdirAll(work, 0o700))
				args := strings.ReplaceAll(l.lay(t, work, n), "$WORK", work)
				spent := l.run(t, work, args, n)
				must.Do(t, os.RemoveAll(work))
				bound := baseMemory + l.each*int64(max(n-l.free, 0))
				t.Logf("%10d %-12s %8.3f s, of processors %8.3f s, %9.0f ns each; %5d MiB of at most %d", n, l.unit, spent.Took.Seconds(),
					spent.Processors.Seconds(), float64(spent.Processors.Nanoseconds())/float64(n), spent.Memory>>20, bound>>20)
				if spent.Memory > bound {
					t.Errorf("%d %s took %d MiB, at most %d are allowed", n, l.unit, spent.Memory>>20, bound>>20)
				}
			}
		})
	}
}

// run makes the call in a process of its own.
func (l load) run(t *testing.T, work, args string, n int) cost {
	t.Helper()
	answer := must.Get(os.Create(filepath.Join(filepath.Dir(work), "answer")))(t)
	defer answer.Close()
	command := exec.Command(binary, commandLine(work, l.tool)...)
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+work)
	command.Dir = work
	command.Stdin = strings.NewReader(args)
	command.Stdout = answer
	spent, err := measured(command)
	head := make([]byte, 4096)
	size, readErr := answer.ReadAt(head, 0)
	want := strings.ReplaceAll(l.want, "$N", fmt.Sprint(n))
	if err != nil || readErr != nil && readErr != io.EOF || !strings.Contains(string(head[:size]), want) {
		t.Fatalf("%v, without %s:\n%s", err, want, head[:size])
	}
	return spent
}

// stream writes a large file.
func stream(t *testing.T, path string, write func(w *bufio.Writer)) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f := must.Get(os.Create(path))(t)
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	must.Do(t, w.Flush())
	must.Do(t, f.Close())
}

const scaleContract = `"prompt_contract":{"max_words":1000000000000,"max_sources":1000000000000,"tool_budget":{"search":5},"must_include_sections":["Findings","Gaps","Sources"]}`

func layPerspectives(t *testing.T, work string, n int) {
	t.Helper()
	stream(t, filepath.Join(work, "perspectives.json"), func(w *bufio.Writer) {
		fmt.Fprint(w, `{"schema_version":"perspectives.v1","run_id":"tides","created_at":"2026-03-04T00:00:00Z","perspectives":[`)
		for i := range n {
			if i > 0 {
				w.WriteByte(',')
			}
			fmt.Fprintf(w, "\n"+`{"id":"perspective-%06d","title":"How the tide turns at place %d","track":"standard","agent_type":"researcher",%s}`, i, i, scaleContract)
		}
		fmt.Fprint(w, "]}\n")
	})
}

func layDocument(t *testing.T, work string, n int) string {
	t.Helper()
	layPerspectives(t, work, n)
	return `{"perspectives_path":"$WORK/perspectives.json"}`
}

func layWave(t *testing.T, work string, n int) string {
	t.Helper()
	layPerspectives(t, work, n)
	output := []byte("## Findings\n" + strings.Repeat("The moon pulls at the water here.\n", 10) + "\n## Gaps\n\n## Sources\n- https://example.org/moon\n")
	must.Do(t, os.Mkdir(filepath.Join(work, "wave"), 0o700))
	for i := range n {
		data := output
		if i%10 == 0 {
			data = output[:100] // and so has no Sources
		}
		must.Do(t, os.WriteFile(filepath.Join(work, "wave", fmt.Sprintf("perspective-%06d.md", i)), data, 0o600))
	}
	return `{"perspectives_path":"$WORK/perspectives.json","outputs_dir":"$WORK/wave"}`
}

func layOutput(t *testing.T, work string, mebibytes int) string {
	t.Helper()
	layPerspectives(t, work, 1)
	stream(t, filepath.Join(work, "output.md"), func(w *bufio.Writer) {
		const line = "- The moon pulls at the water, and so does the sun, as [somebody](https://example.org/moon) says.\n"
		fmt.Fprint(w, "# Findings\n\n# Gaps\n\n# Sources\n")
		for written := 0; written < mebibytes<<20; written += len(line) {
			w.WriteString(line)
		}
	})
	return `{"perspectives_path":"$WORK/perspectives.json","perspective_id":"perspective-000000","markdown_path":"$WORK/output.md"}`
}

func layLine(t *testing.T, work string, mebibytes int) string {
	t.Helper()
	args := layOutput(t, work, 0)
	stream(t, filepath.Join(work, "output.md"), func(w *bufio.Writer) {
		const words = "and so on and so forth, see https://example.org "
		fmt.Fprint(w, "# Findings\n\n# Gaps\n\n# Sources\n- ")
		for written := 0; written < mebibytes<<20; written += len(words) {
			w.WriteString(words)
		}
		w.WriteByte('\n')
	})
	return args
}

func layPool(mode string) func(t *testing.T, work string, n int) string {
	return func(t *testing.T, work string, n int) string {
		t.Helper()
		layOut(t, work)
		must.Do(t, os.WriteFile(filepath.Join(work, "summaries-in", "moon.md"), []byte("## Findings\n- The moon pulls [@cid_00000000]\n"), 0o600))
		stream(t, filepath.Join(work, "pool.jsonl"), func(w *bufio.Writer) {
			for i := range n {
				fmt.Fprintf(w, `{"cid":"cid_%08x","status":"valid","normalized_url":"https://example.org/%08x","url":"https://example.org/%08x?from=search","url_original":"http://example.org/%08x","checked_at":"2026-03-04T05:06:07Z","title":"%s"}`+"\n",
					i*2654435761, i, i, i, "What the tide does")
			}
		})
		return `{"manifest_path":"$WORK/bare/manifest.json","mode":"` + mode + `","fixture_summaries_dir":"$WORK/summaries-in","citations_path":"$WORK/pool.jsonl","reason":"r"}`
	}
}

// layReport lays down a report of n sentences, five for each of its sources, with a saved
// page of some eight kilobytes for each.
func layReport(t *testing.T, work string, n int) string {
	t.Helper()
	said := func(i int) string {
		return fmt.Sprintf("In %d the harbour of place %d moved %d barrels of cargo %d", 1900+i%120, i, 1000+7*i, i)
	}
	var report, index strings.Builder
	for i := range n {
		address := fmt.Sprintf("https://ports.example/page-%d", i/5)
		fmt.Fprintf(&report, "%s [source](%s).\n\n", said(i), address)
		if i%5 > 0 {
			continue
		}
		fmt.Fprintf(&index, ",\n%q: \"%d.html\"", address, i/5)
		stream(t, filepath.Join(work, "pages", fmt.Sprintf("%d.html", i/5)), func(w *bufio.Writer) {
			fmt.Fprintf(w, "<!doctype html><html lang=en><title>Port statistics %d</title>", i/5)
			for k := range 5 {
				fmt.Fprintf(w, "<p>%s. %s", said(i+k), strings.Repeat("The clerk of the port kept his books in ink and counted every barrel by hand. ", 20))
			}
		})
	}
	for name, text := range map[string]string{"report.md": report.String(), "pages/index.json": "{" + strings.TrimPrefix(index.String(), ",") + "}"} {
		must.Do(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
	}
	return ""
}

func layHistory(t *testing.T, work string, n int) {
	t.Helper()
	prepareHere(t, work, initRun)
	path := filepath.Join(work, "runs/tides/manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := must.Get(codec.Parse(data))(t)
	moves := codec.Of([]string{})
	for i := range n {
		move := must.Get(codec.Parse(fmt.Appendf(nil, `{"from":"synthesis","to":"review","ts":"2026-03-04T05:06:07.000Z","reason":"round %d of the review","inputs_digest":"sha256:%064x","gates_revision":%d}`, i, i, i+1)))(t)
		moves.Append(move)
	}
	v.Get("stage").Set("history", moves)
	if data, err = codec.MarshalFile(v); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(path, data, 0o600))
	prepareHere(t, work, command{"deep_research_run_accept", `{` + manifestArg + `,"reason":"r"}`})
}

func layMove(t *testing.T, work string, n int) string {
	t.Helper()
	layHistory(t, work, n)
	prepareHere(t, work, perspectives)
	return advance.args
}

func layStatus(t *testing.T, work string, n int) string {
	t.Helper()
	layHistory(t, work, n)
	return `{` + manifestArg + `}`
}
