// Package played makes runs of several kinds, each driven to its end with agents that a
// function plays: the same bytes each time.
package played

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Kind is a kind of run: who answers its jobs, and how it ends.
type Kind struct {
	Name   string
	Agent  func(task driver.Task) string
	Budget map[string]float64
	Limits *run.Limits
	Policy policy.Policy
	Ends   run.Status
	Has    []string // patterns of files that show that it is of its kind
}

// Kinds are the kinds that tests lay out by name.
var Kinds = []Kind{
	{Name: "no-second-wave", Agent: Writer(nil), Ends: run.Completed, Has: []string{"wave-1/figures.md"}},
	{Name: "second-wave", Agent: Writer(map[string]string{"wave1.figures gaps": "- (P0) What the tugs cost."}), Ends: run.Completed, Has: []string{"wave-2/gap_figures_1.md"}},
	{Name: "review-rounds", Ends: run.Completed, Has: []string{"jobs/synthesis.2/001/answer-2.*", "jobs/review.2/001/answer-1.json"}, Agent: Writer(map[string]string{
		"review":      `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say which tugs."},{"line":null,"action":"Say less."}]}`,
		"synthesis.2": `{"replace":[]}`, // the same draft again, which is refused
	})},
	{Name: "failed-citations", Ends: run.Completed, Has: []string{"citations/blocked-urls.queue.md", "jobs/wave1.doubts/001/answer-2.md"}, Agent: Writer(map[string]string{
		"wave1.figures sources": strings.Repeat("- Port statistics https://example.org/port-%d\n", 9) + "- The tug makers https://example.org/walled",
		"wave1.doubts sources":  "- A page that is gone https://example.org/gone",
	})},
	{Name: "needs-a-person", Budget: map[string]float64{"tries": 1}, Ends: run.Failed, Has: []string{"jobs/synthesis/001/answer-2.md"}, Agent: Writer(map[string]string{
		"synthesis": "There are 12 tugs.\n", "synthesis again": "There are 12 tugs.\n",
	})},
	{Name: "sent-back", Ends: run.Completed, Has: []string{"review/rounds/2/claims.json", "jobs/verify.2.1/001/reading.json", "jobs/synthesis.3/001/answer-1.json"}, Agent: Liar},
	{Name: "disputed", Limits: &run.Limits{MaxVerifyRounds: new(int64)}, Ends: run.Failed, Has: []string{"review/review-bundle.json"}, Agent: Liar},
	{Name: "unfit-reader", Ends: run.Completed, Has: []string{"jobs/verify.1/003/reading.json"}, Agent: func(task driver.Task) string {
		if task.Kind == "verify" && task.Role == "verifier" {
			return reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
				return reader.Honest(c, strings.Join(strings.Fields(c.Sentence), " "))
			})
		}
		return Writer(nil)(task)
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

// Writer is an agent that does what the prompt of a task says, except for what says
// lists: a whole answer, or the text of a section of a job's first answer.
func Writer(says map[string]string) func(task driver.Task) string {
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

// Liar is an agent whose report has a lie that no rule can find. When it is sent back,
// it writes another in its place, and drops that only when it must.
func Liar(task driver.Task) string {
	const lie, other = "In 1958 the harbour office of Portem hid a grave accident from its owner.", "In 1958 the harbour office of Portem was proud of a grave accident."
	text := Writer(nil)(task)
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

// Web has a page of known sentences for every address except two, and the registries of
// papers.
func Web(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
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

// Pool is a pool whose agents are a function, which is shown the whole task again
// when an answer is to be repaired.
type Pool struct {
	agent func(task driver.Task) string
	mu    sync.Mutex
	asked map[string]string // by job
}

func (p *Pool) Do(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if task.Turn == 1 {
		p.asked[task.Job] = task.Prompt
	}
	task.Prompt = p.asked[task.Job]
	return driver.Answer{Text: p.agent(task), Session: "s"}, nil
}

func (*Pool) Cancel(context.Context, string) error { return nil }

// Options drive a run with such a pool: one agent writes, another reads, and a third reviews.
func Options(desk run.Desk, agent func(task driver.Task) string) engine.Options {
	return engine.Options{
		Desk: desk, Pool: &Pool{agent: agent, asked: map[string]string{}}, Fetch: Web, Wait: func(context.Context, time.Duration) {},
		Agents: map[string]engine.Agent{"": {Driver: "writer"}, "verifier": {Driver: "reader"}, "reviewer": {Driver: "reviewer"}},
	}
}

// Drive makes a run of a kind below dir and returns its root. Its jobs are done one after
// the other, under a clock of its own, so that it has the same bytes each time.
func Drive(t *testing.T, dir string, k Kind) string {
	t.Helper()
	at := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	desk := run.Desk{Pinned: true, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Millisecond)
		return at
	}}
	made := must.Get(run.Create(t.Context(), desk, dir, run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: k.Name, Limits: k.Limits, Policy: k.Policy}))(t)
	r := runs.OpenAt(t, desk, made.ManifestPath)
	for name, value := range k.Budget {
		must.Get(r.Update(t.Context(), func(u *run.Update) error { return u.SetBudget(name, value, "test") }))(t)
	}
	options := Options(desk, k.Agent)
	options.Parallel = 1
	out, err := engine.Drive(t.Context(), r.ManifestPath(), options)
	if err != nil || out.Status != k.Ends {
		t.Fatalf("%s ends %s, not %s: %s %v", k.Name, out.Status, k.Ends, out.Reason, err)
	}
	return made.Root
}

// driven are the runs that a program of tests has made, by their kinds.
var driven sync.Map

// Lay lays out a run of a kind below dir, under the name of its kind, and returns its root.
func Lay(t *testing.T, dir, name string) string {
	t.Helper()
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("no run is played as %s", name)
	}
	files, ok := driven.Load(name)
	if !ok {
		made := fstest.MapFS{}
		root := Drive(t, t.TempDir(), Kinds[i])
		for _, file := range Files(t, root) {
			made[file] = &fstest.MapFile{Data: must.Get(os.ReadFile(filepath.Join(root, file)))(t), Mode: 0o600}
		}
		files, _ = driven.LoadOrStore(name, made)
	}
	root := filepath.Join(dir, name)
	must.Do(t, os.CopyFS(root, files.(fs.FS)))
	return root
}

// Files lists the files below a folder except its locks, in byte order.
func Files(t *testing.T, root string) []string {
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

// passing is what of a run's text is another each time, or with every line of another
// file, with the word that stands in its place.
var passing = map[*regexp.Regexp]string{
	regexp.MustCompile(`[0-9a-f]{64}`):                     "DIGEST",
	regexp.MustCompile(`[0-9-]{10}T[0-9:]{8}(\.[0-9]+)?Z`): "TIME",
	regexp.MustCompile(`process [0-9]+`):                   "process N",
	regexp.MustCompile(`"fetches": [0-9]+`):                `"fetches": N`, // some are begun before it is known that they are needed
}

// Text is what a run holds, to be read and compared line by line. It leaves out the log,
// where each line has a digest of all before it, the archive, whose pages
// Web has, and second copies.
func Text(t *testing.T, root string) []byte {
	t.Helper()
	var out txtar.Archive
	for _, name := range Files(t, root) {
		data := must.Get(os.ReadFile(filepath.Join(root, name)))(t)
		if strings.HasPrefix(name, "logs/") || strings.HasPrefix(name, "evidence/") || strings.Contains(name, "/.accepted/") {
			continue
		}
		data = bytes.ReplaceAll(data, []byte(filepath.Dir(root)), []byte("HOME"))
		for pattern, word := range passing {
			data = pattern.ReplaceAll(data, []byte(word))
		}
		out.Files = append(out.Files, txtar.File{Name: name, Data: data})
	}
	return txtar.Format(&out)
}
