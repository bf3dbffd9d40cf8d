package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// orchestrator is an agent that knows four tools and reads what they answer.
type orchestrator struct {
	t     *testing.T
	tools map[string]*tool.Tool
	asked []string // jobs, in order
}

func (o *orchestrator) call(name, format string, args ...any) *codec.Value {
	o.t.Helper()
	result := o.tools["deep_research_"+name].Call(o.t.Context(), fmt.Appendf(nil, format, args...), tool.Caller{})
	answer, err := codec.Parse(result.Envelope)
	if err != nil || result.Err != nil {
		o.t.Fatalf("%s: %s", name, result.Envelope)
	}
	return answer
}

var (
	askedHeadings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listedSources = regexp.MustCompile(`(?m)^- (s[0-9]+): `)
	exampleBlock  = regexp.MustCompile("(?s)## Example\n.*?```\n(.*?)```\n")
)

// answer does what a prompt says and reads nothing else. The first draft has a
// fault at first, and its reviewer is not content.
func (o *orchestrator) answer(job, kind, prompt string, refused bool) string {
	cite := ""
	if id := listedSources.FindStringSubmatch(prompt); id != nil {
		cite = " [@" + id[1] + "]"
	}
	var b strings.Builder
	switch kind {
	case "perspectives":
		return "```json\n" + exampleBlock.FindStringSubmatch(prompt)[1] + "```\n"
	case "wave1", "wave2":
		for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
			b.WriteString(m[1] + "\n\n")
			switch {
			case m[1] == "## Gaps" && kind == "wave1":
				b.WriteString("- (P1) What tugs cost.\n\n")
			case m[1] == "## Sources":
				fmt.Fprintf(&b, "- Port statistics https://example.org/port/%s\n\n", job)
			default:
				b.WriteString("Nothing else.\n\n")
			}
		}
	case "summary":
		return "- Tugs are quiet, says " + job + "." + cite + "\n"
	case "synthesis":
		for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
			fmt.Fprintf(&b, "%s\n\nTugs are quiet, says %s.%s\n\n", m[1], job, cite)
		}
		if !refused && job == "synthesis" {
			b.WriteString("There were 4,200 calls.\n")
		}
	case "review":
		if job == "review" {
			return `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":3,"action":"Say which tugs."}]}`
		}
		return exampleBlock.FindStringSubmatch(prompt)[1]
	}
	return b.String()
}

// research takes a question to its report with run_init, run_step, job_lease and
// job_submit alone.
func (o *orchestrator) research() (last *codec.Value) {
	id := o.call("run_init", `{"query": "Should the harbour buy electric tugs?", "run_id": "harbour"}`).Get("run_id").Str()
	for range 100 {
		step := o.call("run_step", `{"run": %q}`, id)
		if waiting := step.Get("waiting_for").Str(); waiting != "agents" {
			return step
		}
		for {
			leased := o.call("job_lease", `{"run": %q, "holder": "orchestrator"}`, id).Get("job")
			if leased.Kind() == codec.Null {
				break
			}
			job, kind, prompt := leased.Get("job_id").Str(), leased.Get("kind").Str(), leased.Get("prompt_md").Str()
			o.asked = append(o.asked, job)
			for refused := false; ; refused = true {
				answer, err := codec.MarshalLine(o.answer(job, kind, prompt, refused))
				if err != nil {
					o.t.Fatal(err)
				}
				verdict := o.call("job_submit", `{"run": %q, "token": %q, "answer": %s}`, id, leased.Get("token").Str(), answer)
				if verdict.Get("accepted").Bool() {
					break
				}
				if refused {
					o.t.Fatalf("%s is refused twice: %v\n%s", job, verdict, prompt)
				}
			}
		}
	}
	o.t.Fatal("the run does not end")
	return nil
}

// onePage answers every address with a page about the port.
func onePage(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	text := strings.Repeat("The port handled some 4,200 calls in that year, and tugs were part of most of them. ", 30)
	for _, url := range urls {
		body := fmt.Sprintf("<html lang=en><title>Port statistics</title><article><h1>Port statistics</h1><p>%s</p><p>%s</p></article>", url, text)
		packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: at, Hops: []archive.Hop{{URL: url, Time: at, Status: 200,
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

// TestAnOrchestratingAgentDoesAWholeRun has a scripted agent research a question
// through the tools alone, with a second wave, a refused answer and a review
// round; done again, it leaves the same folder byte for byte.
func TestAnOrchestratingAgentDoesAWholeRun(t *testing.T) {
	t.Parallel()
	home := filepath.Join(scratch.Short(t), "runs")
	var first map[string]string
	for range 2 {
		o := &orchestrator{t: t, tools: map[string]*tool.Tool{}}
		env := &catalog.Env{Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }, Pinned: true, Dir: home, Home: home, Fetch: onePage}
		for _, each := range tool.ForAgents(catalog.Tools(env)) {
			o.tools[each.Name] = each
		}
		last := o.research()
		if last.Get("status").Str() != "completed" || last.Get("waiting_for").Str() != "nothing" {
			t.Fatalf("the run ended so: %v", last)
		}
		jobs := strings.Join(o.asked, " ")
		for _, want := range []string{"perspectives wave1.", "wave2.", "summary.", " synthesis review synthesis.2 review.2"} {
			if !strings.Contains(jobs, want) {
				t.Errorf("no %q among the jobs %s", want, jobs)
			}
		}
		files := filesIn(t, filepath.Join(home, "harbour"))
		if first == nil {
			first = files
			if err := os.RemoveAll(home); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(first, files); diff != "" {
			t.Errorf("the second run differs: %s", diff)
		}
		if v := o.call("run_verify", `{"run": "harbour"}`); !v.Get("pass").Bool() {
			t.Errorf("%v", v)
		}
		if v := o.call("run_replay", `{"run": "harbour"}`); !v.Get("pass").Bool() {
			line, _ := codec.MarshalLine(v)
			t.Errorf("the folder does not replay: %s", line)
		}
	}
}

// filesIn has the files of a folder, by name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
