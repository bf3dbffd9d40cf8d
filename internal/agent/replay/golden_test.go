package replay_test

import (
	"archive/zip"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

var update = flag.Bool("update", false, "make the golden runs again")

// kind is a kind of run that is kept in testdata/golden: who answers its jobs, and how
// it ends.
type kind struct {
	name   string
	agent  func(task driver.Task) string
	budget map[string]float64
	limits *run.Limits
	policy policy.Policy
	ends   run.Status
	has    []string // patterns of files that show that it is of its kind
}

var kinds = []kind{
	{name: "no-second-wave", agent: writer(nil), ends: run.Completed, has: []string{"wave-1/figures.md"}},
	{name: "second-wave", agent: writer(map[string]string{"wave1.figures gaps": "- (P0) What the tugs cost."}), ends: run.Completed, has: []string{"wave-2/gap_figures_1.md"}},
	{name: "review-rounds", ends: run.Completed, has: []string{"jobs/synthesis.2/001/answer-2.*", "jobs/review.2/001/answer-1.json"}, agent: writer(map[string]string{
		"review":      `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say which tugs."},{"line":null,"action":"Say less."}]}`,
		"synthesis.2": `{"replace":[]}`, // the same draft again, which is refused
	})},
	{name: "failed-citations", ends: run.Completed, has: []string{"citations/blocked-urls.queue.md", "jobs/wave1.doubts/001/answer-2.md"}, agent: writer(map[string]string{
		"wave1.figures sources": strings.Repeat("- Port statistics https://example.org/port-%d\n", 9) + "- The tug makers https://example.org/walled",
		"wave1.doubts sources":  "- A page that is gone https://example.org/gone",
	})},
	{name: "needs-a-person", budget: map[string]float64{"tries": 1}, ends: run.Failed, has: []string{"jobs/synthesis/001/answer-2.md"}, agent: writer(map[string]string{
		"synthesis": "There are 12 tugs.\n", "synthesis again": "There are 12 tugs.\n",
	})},
	{name: "sent-back", ends: run.Completed, has: []string{"review/rounds/2/claims.json", "jobs/verify.2.1/001/reading.json", "jobs/synthesis.3/001/answer-1.json"}, agent: lying},
	{name: "disputed", limits: &run.Limits{MaxVerifyRounds: new(int64)}, ends: run.Failed, has: []string{"review/review-bundle.json"}, agent: lying},
	{name: "unfit-reader", ends: run.Completed, has: []string{"jobs/verify.1/003/reading.json"}, agent: func(task driver.Task) string {
		if task.Kind == "verify" && task.Role == "verifier" {
			return reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
				return reader.Honest(c, strings.Join(strings.Fields(c.Sentence), " "))
			})
		}
		return writer(nil)(task)
	}},
}

var (
	headings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listed   = regexp.MustCompile(`(?m)^- (s[0-9]+): .*, https://example\.org/port-?([0-9]*) \(valid\)`)
)

// citable are the ids of the sources that a prompt lists, and the numbers of their pages.
func citable(prompt string) (ids []string, pages []int) {
	for _, m := range listed.FindAllStringSubmatch(prompt, -1) {
		page, _ := strconv.Atoi(m[2])
		ids, pages = append(ids, m[1]), append(pages, page)
	}
	return ids, pages
}

// writer is an agent that does what the prompt of a task says, except for what says
// lists: a whole answer, or the text of a section of a job's first answer.
func writer(says map[string]string) func(task driver.Task) string {
	return func(task driver.Task) string {
		said, section := says[task.Job], func(name string) string { return says[task.Job+" "+name] }
		if task.Turn > 1 {
			said, section = says[task.Job+" again"], func(string) string { return "" }
		}
		ids, pages := citable(task.Prompt)
		var b strings.Builder
		switch {
		case said != "":
			return said
		case task.Kind == "perspectives", task.Kind == "review":
			_, example, _ := strings.Cut(task.Prompt, "## Example")
			_, example, _ = strings.Cut(example, "```\n")
			example, _, _ = strings.Cut(example, "```\n")
			b.WriteString("```json\n" + strings.ReplaceAll(example, `"max_sources": 8`, `"max_sources": 12`) + "```\n")
		case task.Kind == "summary":
			fmt.Fprintf(&b, "- %s [@%s]\n", reader.Sentence(pages[0], 0), ids[0])
		case task.Kind == "synthesis" && task.Job != "synthesis":
			return reader.Rewrite(task.Prompt, ids[0], pages[0], 12)
		case task.Kind == "synthesis":
			var sections []string
			for _, m := range headings.FindAllStringSubmatch(task.Prompt, -1) {
				sections = append(sections, m[1])
			}
			return reader.Report(sections, ids, pages, 4)
		case task.Kind == "verify":
			return reader.Faithful(task.Prompt)
		default:
			sources := orElse(section("sources"), "- Port statistics https://example.org/port")
			page, url := 0, "https://example.org/port"
			for i := range 9 {
				if strings.Contains(sources, "%d") {
					page, url = 1, url[:len("https://example.org/port")]+"-1"
				}
				sources = strings.Replace(sources, "%d", fmt.Sprint(i+1), 1)
			}
			for _, m := range headings.FindAllStringSubmatch(task.Prompt, -1) {
				b.WriteString(m[1] + "\n\n")
				switch m[1] {
				case "## Gaps":
					b.WriteString(orElse(section("gaps"), "Nothing is open.") + "\n\n")
				case "## Sources":
					b.WriteString(sources + "\n\n")
				default:
					fmt.Fprintf(&b, "The port says \"%s\" (%s).\n\n", reader.Sentence(page, 0), url)
				}
			}
		}
		return b.String()
	}
}

// lying is an agent whose report has a lie that no rule can find. When it is sent back,
// it writes another in its place, and drops that only when it must.
func lying(task driver.Task) string {
	const lie, other = "In 1958 the harbour office of Portem hid a grave accident from its owner.", "In 1958 the harbour office of Portem was proud of a grave accident."
	text := writer(nil)(task)
	if task.Kind != "synthesis" {
		return text
	}
	if task.Job == "synthesis" {
		ids, _ := citable(task.Prompt)
		return strings.Replace(text, "## Evidence\n\n", "## Evidence\n\n"+lie+" [@"+ids[0]+"]\n\n", 1)
	}
	refused := regexp.MustCompile(`entence (c[0-9]+) d`).FindStringSubmatch(task.Prompt)[1]
	if strings.Contains(task.Prompt, "DROP_REQUIRED") {
		return fmt.Sprintf(`{"replace":[{"sentence":%q,"with":""}]}`, refused)
	}
	ids, _ := citable(task.Prompt)
	return fmt.Sprintf(`{"replace":[{"sentence":%q,"with":"%s [@%s]"}]}`, refused, other, ids[0])
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// web has a page of known sentences for every address except two, and the registries of
// papers.
func web(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	for _, url := range urls {
		name := url[strings.LastIndex(url, "/")+1:]
		page, _ := strconv.Atoi(strings.TrimPrefix(name, "port-"))
		status, body := 200, reader.Page(page)
		switch name {
		case "gone":
			status, body = 404, "gone"
		case "walled":
			status, body = 403, "no"
		}
		if answered, _, said, ok := planted.Registry(url); ok {
			status, body = answered, string(said)
		}
		packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: status,
			Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: []byte(body)}}})
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

// crew is a pool whose agents are a function, which is shown the whole task again
// when an answer is to be repaired.
type crew struct {
	agent func(task driver.Task) string
	mu    sync.Mutex
	asked map[string]string // by job
}

func (c *crew) Do(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if task.Turn == 1 {
		c.asked[task.Job] = task.Prompt
	}
	task.Prompt = c.asked[task.Job]
	return driver.Answer{Text: c.agent(task), Session: "s"}, nil
}

func (*crew) Cancel(context.Context, string) error { return nil }

// agents are those of a run: one writes, another reads, and a third reviews.
var agents = map[string]engine.Agent{"": {Driver: "writer"}, "verifier": {Driver: "reader"}, "reviewer": {Driver: "reviewer"}}

// drive makes a run of a kind below dir and returns its root.
func drive(t *testing.T, dir string, k kind) string {
	t.Helper()
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	desk := run.Desk{Pinned: true, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Millisecond)
		return at
	}}
	made := must.Get(run.Create(t.Context(), desk, dir, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: k.name, Limits: k.limits, Policy: k.policy}))(t)
	r := runs.OpenAt(t, desk, made.ManifestPath)
	for name, value := range k.budget {
		must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.SetBudget(name, value, "test") }))(t)
	}
	out, err := engine.Drive(t.Context(), r.ManifestPath(), engine.Options{Desk: desk, Pool: &crew{agent: k.agent, asked: map[string]string{}}, Fetch: web, Wait: func(context.Context, time.Duration) {}, Agents: agents})
	if err != nil || out.Status != k.ends {
		t.Fatalf("%s ends %s, not %s: %s %v", k.name, out.Status, k.ends, out.Reason, err)
	}
	return made.Root
}

func open(t *testing.T, root string) *run.Run {
	t.Helper()
	r := must.Get(run.Open(t.Context(), pinned, filepath.Join(root, run.ManifestFile)))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

func goldenFile(name string) string { return filepath.Join("testdata", "golden", name+".zip") }

// golden lays out the golden run of a kind in dir.
func golden(t *testing.T, dir, name string) string {
	t.Helper()
	return unpacked(t, goldenFile(name), dir, name)
}

// unpacked lays out a packed run in dir, under a name.
func unpacked(t *testing.T, from, dir, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(from))(t)
	files := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	for _, f := range files.File {
		in := must.Get(f.Open())(t)
		content := must.Get(io.ReadAll(in))(t)
		path := filepath.Join(dir, name, filepath.FromSlash(f.Name))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, content, 0o600))
	}
	return filepath.Join(dir, name)
}

// TestMakeGoldenRuns makes the golden runs with -update: each is driven with agents
// that a function plays, and packed.
func TestMakeGoldenRuns(t *testing.T) {
	if !*update {
		t.Skip("golden runs are made with -update")
	}
	must.Do(t, os.MkdirAll(filepath.Join("testdata", "golden"), 0o755))
	dir := filepath.Join(os.TempDir(), "golden") // the runs keep this path
	must.Do(t, os.Mkdir(dir, 0o700))
	defer os.RemoveAll(dir)
	for _, k := range kinds {
		root := drive(t, dir, k)
		must.Do(t, os.WriteFile(goldenFile(k.name), packed(t, root), 0o644))
	}
}

func packed(t *testing.T, root string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range filesOf(t, root) {
		data := must.Get(os.ReadFile(filepath.Join(root, name)))(t)
		f := must.Get(w.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Deflate}))(t)
		must.Get(f.Write(data))(t)
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// filesOf lists the files below a folder except its locks, in byte order.
func filesOf(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	must.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), ".tidegate") {
			name, _ := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	slices.Sort(names)
	return names
}

// TestGoldenRunsComeOutTheSame replays a run of each kind, on one core and on
// several. The short form has one kind; other tests replay golden runs before they forge
// them.
func TestGoldenRunsComeOutTheSame(t *testing.T) {
	const roundly = "review-rounds" // replayed on one core and on several, and shown alike
	dir := t.TempDir()
	var names []string
	for _, k := range kinds {
		if !full.Asked() && k.name != roundly {
			continue
		}
		root := golden(t, dir, k.name)
		names = append(names, k.name)
		if got := open(t, root).Manifest().Status(); got != k.ends {
			t.Errorf("%s is %s, not %s", k.name, got, k.ends)
		}
		for _, file := range k.has {
			if found, err := filepath.Glob(filepath.Join(root, file)); len(found) == 0 || err != nil {
				t.Errorf("%s is not of its kind: it lacks %s, %v", k.name, file, err)
			}
		}
	}
	before := filesOf(t, dir)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var shown []string
	for i, cores := range []int{1, max(2, runtime.NumCPU())} {
		runtime.GOMAXPROCS(cores)
		for j := range names {
			if names[j] == roundly || i > 0 && !full.Asked() {
				continue
			}
			out, err := replay.Run(t.Context(), open(t, filepath.Join(dir, names[j])), "")
			if err != nil || !out.Passed() || len(out.Left) > 0 {
				t.Errorf("%s on %d cores: %s %v %v", names[j], cores, differences(out), out.Left, err)
			}
		}
		result, err := replay.Run(t.Context(), open(t, filepath.Join(dir, roundly)), "")
		if err != nil || !result.Passed() || len(result.Left) > 0 {
			t.Errorf("%s on %d cores: %s %v %v", roundly, cores, differences(result), result.Left, err)
		}
		shown = append(shown, fmt.Sprintf("%+v", result))
	}
	if shown[0] != shown[1] {
		t.Error("what is said depends on the number of cores")
	}
	if after := filesOf(t, dir); !slices.Equal(before, after) {
		t.Error("replay writes into the run")
	}
}

// TestARunIsReplayedAsItComes drives a run of each kind and replays it at once: a
// golden run shows what was, this what is. The short form has one kind.
func TestARunIsReplayedAsItComes(t *testing.T) {
	stride := full.Stride(len(kinds), 1)
	for i := stride - 1; i < len(kinds); i += stride {
		k := kinds[i]
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			root := drive(t, t.TempDir(), k)
			result, err := replay.Run(t.Context(), open(t, root), "")
			if err != nil || !result.Pass || len(result.Left) > 0 {
				t.Errorf("%s %v", differences(result), err)
			}
			made := map[string]bool{}
			for _, s := range result.Steps {
				made[s.What] = true
			}
			for _, name := range filesOf(t, root) {
				if !made[name] && !givenFile(name) {
					t.Errorf("a rule made %s, and replay does not", name)
				}
			}
		})
	}
}

// givenFile reports whether a file is not made by a rule: what agents handed in, the archive and the log. Manifest and gates are compared
// line by line of the log.
func givenFile(name string) bool {
	switch name {
	case run.ManifestFile, "gates.json", run.LogFile, run.HeadFile, "evidence/archive.warc.gz":
		return true
	}
	base := filepath.Base(name)
	return strings.HasPrefix(name, "jobs/") && (strings.HasPrefix(base, "answer-") || base == "retry.json" || base == "lease.json" || base == "events.jsonl")
}

func differences(r replay.Result) string {
	var out []string
	for _, s := range r.Steps {
		if !s.Same {
			out = append(out, s.What+": "+s.Difference)
		}
	}
	return strings.Join(out, "\n")
}
