package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/work/run"
)

// What two pages say of the same thing.
const (
	cheap = "The electric tugs of the port cost 12.4 million euros."
	dear  = "The electric tugs of the port cost 15.1 million euros in all."
)

// prices is a web in which two pages disagree; each perspective has a page of its own.
func prices(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		body := reader.Page(len(url))
		switch {
		case strings.HasSuffix(url, "/figures"):
			body = strings.Replace(body, "<p>", "<p>"+cheap+"</p><p>", 1)
		case strings.HasSuffix(url, "/records"):
			body = strings.Replace(body, "<p>", "<p>"+dear+"</p><p>", 1)
		}
		if err := keepPage(keep, url, 200, body); err != nil {
			return err
		}
	}
	return nil
}

// priced is an agent that writes about those pages. Costs are the sentences about costs
// that its report has, which names pages as @figures and @records.
func priced(costs string) func(ctx context.Context, task driver.Task) (driver.Answer, error) {
	return func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		ids := map[string]string{}
		for _, id := range shownURLs.FindAllStringSubmatch(task.Prompt, -1) {
			ids[id[2]] = id[1]
		}
		_, perspective, _ := strings.Cut(task.Job, ".")
		url := "https://example.org/" + perspective
		switch {
		case task.Kind == "wave1" || task.Kind == "wave2":
			answer, err := obedient(ctx, task)
			answer.Text = strings.Replace(strings.Replace(answer.Text, "- (P0) What it costs.", "Nothing is open.", 1), "https://example.org/port", url, 1)
			return answer, err
		case task.Kind == "summary":
			text := reader.Sentence(len(url), 0)
			switch perspective {
			case "figures":
				text = cheap
			case "records":
				text = dear
			}
			return driver.Answer{Text: "- " + text + " [@" + ids[perspective] + "]\n"}, nil
		case task.Job == "synthesis":
			var b strings.Builder
			for i, title := range sections(task.Prompt) {
				b.WriteString(title + "\n\n")
				for name, id := range ids {
					fmt.Fprintf(&b, "%s [@%s]\n\n", reader.Sentence(len("https://example.org/"+name), i), id)
				}
				if i == 2 {
					b.WriteString(strings.NewReplacer("@figures", "@"+ids["figures"], "@records", "@"+ids["records"]).Replace(costs) + "\n\n")
				}
			}
			return driver.Answer{Text: b.String()}, nil
		case task.Kind == "verify":
			return driver.Answer{Text: reader.Faithful(task.Prompt, "Together that is 27.5 million euros.")}, nil
		}
		return obedient(ctx, task)
	}
}

// TestAPlantedContradictionIsTreated: two pages give different prices for the same tugs. The
// writer is shown both; a report that gives one of them is shown to the reviewer with both
// passages, and passes when it says that they disagree.
func TestAPlantedContradictionIsTreated(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	write := priced(cheap + " [@figures]")
	prompts := map[string]string{}
	var mu sync.Mutex
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		mu.Lock()
		prompts[task.Job] = task.Prompt
		mu.Unlock()
		switch task.Job {
		case "review":
			return driver.Answer{Text: `{"decision":"CHANGES_REQUIRED","findings":[{"severity":"high","line":1,"message":"It hides that the sources disagree."}],"directives":[{"line":null,"action":"Say that the sources disagree."}]}`}, nil
		case "synthesis.2":
			id := shownURL(task.Prompt, "records")
			at := strings.LastIndex(task.Prompt, cheap)
			from := strings.LastIndex(task.Prompt[:at], "⟦") + len("⟦")
			sentence, _, _ := strings.Cut(task.Prompt[from:], "⟧")
			return driver.Answer{Text: fmt.Sprintf(`{"insert":[{"after":%q,"text":"%s [@%s]"}]}`, sentence, dear, id)}, nil
		}
		return write(ctx, task)
	}}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: prices, Wait: noWait, Agents: agents})
	if err != nil || out.Status != run.Completed {
		t.Fatal(shown(out), err)
	}
	for _, want := range []string{"## Where sources disagree", "- 12.4 million euros or 15.1 million euros?", "  - " + cheap, "  - " + dear} {
		if !strings.Contains(prompts["synthesis"], want) {
			t.Errorf("the writer is not told %q:\n%s", want, prompts["synthesis"])
		}
	}
	for _, want := range []string{"CONTRADICTION_IGNORED", "]: Port statistics " + cheap, "]: Port statistics " + dear, "## Contradictions that it ignores"} {
		if !strings.Contains(prompts["review"], want) {
			t.Errorf("the reviewer is not shown %q:\n%s", want, prompts["review"])
		}
	}
	if strings.Contains(prompts["review.2"], "CONTRADICTION_IGNORED") {
		t.Error("a report that says both is held to ignore it")
	}
	verify(t, manifest)
}

// TestAPlantedWrongTotalIsRefused: the total of two prices is computed again.
func TestAPlantedWrongTotalIsRefused(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	const right = cheap + " [@figures] " + dear + " [@records] Together that is 27.5 million euros. [@figures] [@records] [calculated: 12.4 million + 15.1 million = 27.5 million]"
	wrong := strings.NewReplacer("27.5 million euros", "28.5 million euros", "= 27.5 million", "= 28.5 million").Replace(right)
	repair := ""
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Kind == "synthesis" && task.Turn == 1 {
			answer, err := priced(wrong)(ctx, task)
			answer.Session = task.Prompt
			return answer, err
		}
		if task.Kind == "synthesis" {
			repair, task.Prompt = task.Prompt, task.Session
		}
		return priced(right)(ctx, task)
	}}
	out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: prices, Wait: noWait, Agents: agents})
	if err != nil || out.Status != run.Completed {
		t.Fatal(shown(out), err)
	}
	if !strings.Contains(repair, "CALCULATION_WRONG") || !strings.Contains(repair, "27.5 million") {
		t.Errorf("the writer is told: %s", repair)
	}
}

// TestTheWriterSeesThePagesOfStatements: each statement of a summary comes with the passage
// of its page, and with what is not on it; what only introduces a list is none.
func TestTheWriterSeesThePagesOfStatements(t *testing.T) {
	t.Parallel()
	manifest, desk := newRun(t, nil)
	prompt := ""
	pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
		if task.Job == "synthesis" {
			prompt = task.Prompt
		}
		answer, err := obedient(ctx, task)
		if task.Kind == "summary" {
			answer.Text += strings.Replace(answer.Text, reader.Sentence(0, 0), "In 1950 the dredging contract of Karholm had 7,777 berths.", 1) + strings.Replace(answer.Text, reader.Sentence(0, 0), "What happened in 1950:", 1)
		}
		return answer, err
	}}
	if out := drive(t, manifest, desk, pool); out.Status != run.Completed {
		t.Fatal(shown(out))
	}
	if strings.Contains(prompt, "\n- What happened in 1950:\n") {
		t.Error("what introduces a list is shown as a statement")
	}
	for _, want := range []string{"- " + reader.Sentence(0, 0) + "\n", "had 7,777 berths.\n  not on its page: ", "  passage 1, [@s1]: Port statistics " + reader.Sentence(0, 0) + " " + reader.Sentence(0, 1), "  passage 1\n"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, prompt)
		}
	}
}

// shownURL is the id of a page in a prompt.
func shownURL(prompt, name string) string {
	for _, m := range shownURLs.FindAllStringSubmatch(prompt, -1) {
		if m[2] == name {
			return m[1]
		}
	}
	return ""
}
