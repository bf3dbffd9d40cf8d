package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/work/audit"
	answers "github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// scripted is a pool whose agents are functions.
type scripted struct {
	writer, reader func(task driver.Task) string
	fails          func(task driver.Task) error
	asked          []driver.Task
	mu             sync.Mutex
}

func (p *scripted) Do(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, task)
	if p.fails != nil {
		if err := p.fails(task); err != nil {
			return driver.Answer{}, err
		}
	}
	if task.Role == job.AskWriter {
		return driver.Answer{Text: p.writer(task)}, nil
	}
	return driver.Answer{Text: p.reader(task)}, nil
}

func (p *scripted) Cancel(context.Context, string) error { return nil }

func truthful(task driver.Task) string { return reader.Faithful(task.Prompt) }

// asking is a home with a finished audit over two known pages.
type asking struct {
	t    *testing.T
	runs string
	id   string
}

func newAsking(t *testing.T) asking {
	t.Helper()
	a := asking{t: t, runs: filepath.Join(t.TempDir(), "runs")}
	var body, list strings.Builder
	for i := range 2 {
		fmt.Fprintf(&body, "%s [%d].\n\n", strings.TrimSuffix(reader.Sentence(i, 0), "."), i+1)
		fmt.Fprintf(&list, "[%d] Port statistics %d: https://ports.example/statistics/%d\n", i+1, i, i)
	}
	fetch := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for i, url := range urls {
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: a.desk().Now(), Hops: []archive.Hop{
				{URL: url, Time: a.desk().Now(), Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: []byte(reader.Page(i))}}})
			if err == nil {
				err = keep([]*archive.Packed{packed})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	made := must.Get(audit.Make(t.Context(), a.desk(), fetch, audit.Input{Report: body.String() + "## Sources\n\n" + list.String(), Home: store.Audits.Home(a.runs), Dir: a.runs}))(t)
	a.id = made.AuditID
	return a
}

func (a asking) desk() run.Desk {
	return run.Desk{Now: func() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }, Pinned: true, Reach: artifact.Everywhere}
}

func (a asking) ask(pool engine.Pool, question string) (answers.Answered, error) {
	a.t.Helper()
	item := must.Get(answers.Open(a.t.Context(), a.desk(), a.runs, a.runs, a.id))(a.t)
	defer item.Close()
	asked := must.Get(answers.AskOf(a.t.Context(), question, item))(a.t)
	answered, _, err := engine.Answer(a.t.Context(), a.runs, asked, run.DefaultBudget(nil), false, engine.Options{Desk: a.desk(), Pool: pool, Wait: func(context.Context, time.Duration) {},
		Agents: map[string]engine.Agent{job.AskWriter: {Driver: "claude"}, engine.AskReader: {Driver: "codex"}}})
	return answered, err
}

func (a asking) files(dir string) map[string]string {
	a.t.Helper()
	all := map[string]string{}
	must.Do(a.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// sourceOf is the id of the page that a prompt shows a sentence of.
func sourceOf(prompt, sentence string) string {
	before, _, _ := strings.Cut(prompt, sentence)
	for _, line := range strings.Split(before, "\n") {
		if id, ok := strings.CutSuffix(line, ":"); ok && strings.HasPrefix(id, "s") && len(id) < 4 {
			before = id
		}
	}
	return before
}

// TestAskAnswersFromTheArchive asks for what a page says: the answer is judged, mended, read
// and kept, and the audit is as it was.
func TestAskAnswersFromTheArchive(t *testing.T) {
	a := newAsking(t)
	sentence := reader.Sentence(1, 3)
	question := "What did " + strings.Fields(sentence)[3] + " " + strings.Join(strings.Fields(sentence)[2:7], " ") + " do under its owner in " + strings.Fields(sentence)[1] + "?"
	before := a.files(store.Audits.Home(a.runs))
	pool := &scripted{reader: truthful}
	pool.writer = func(task driver.Task) string {
		if !strings.Contains(task.Prompt, sentence) {
			t.Fatalf("the prompt does not show the passage:\n%s", task.Prompt)
		}
		id := sourceOf(task.Prompt, sentence)
		if task.Job == job.AskID(1) {
			return strings.Replace(strings.TrimSuffix(sentence, "."), " to ", " to 987,654 and to ", 1) + " [@" + id + "]."
		}
		if !strings.Contains(task.Prompt, "is not confirmed") {
			t.Errorf("the second prompt does not say what was wrong:\n%s", task.Prompt)
		}
		return strings.TrimSuffix(sentence, ".") + " [@" + id + "]."
	}
	got := must.Get(a.ask(pool, question))(t)
	if !got.Pass || !strings.HasPrefix(got.Answer, strings.TrimSuffix(sentence, ".")) || len(got.Sources) != 1 || len(got.Sentences) != 1 || got.Sentences[0].Verdict == nil || got.Sentences[0].Verdict.Verdict != "supported" || got.Next != "" {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(got.Trust, "1 sentence") || !strings.Contains(got.Trust, "tested with 1 pair") {
		t.Errorf("the trust line is %q", got.Trust)
	}
	if !maps.Equal(before, a.files(store.Audits.Home(a.runs))) {
		t.Error("the audit was changed")
	}
	kept := a.files(filepath.Join(store.Answers.Home(a.runs), got.AnswerID))
	for _, name := range []string{"about.json", "result.json", "jobs/ask.1/001/prompt.md", "jobs/ask.2/001/prompt.md", "jobs/verify.2.1/001/reading.json", "logs/audit.jsonl"} {
		if kept[filepath.Join(store.Answers.Home(a.runs), got.AnswerID, name)] == "" {
			t.Errorf("the answer does not keep %s", name)
		}
	}
	if about := kept[filepath.Join(store.Answers.Home(a.runs), got.AnswerID, "about.json")]; !strings.Contains(about, got.Of[0].Head) || got.Of[0].Head == "" || !strings.Contains(about, a.id) {
		t.Errorf("the answer is not bound to the audit: %s", about)
	}
}

// unanswered are questions that the pages do not answer: some about something else, some about
// what they are about.
func unanswered() []string {
	all := []string{
		"Who painted the Mona Lisa?", "What is the capital of Mongolia?", "How tall is Mount Everest?", "Which enzyme splits lactose?", "When did the Beatles break up?",
		"Why is the sky blue?", "How many moons does Saturn have?", "Who wrote Don Quixote?", "What does a hedgehog eat?", "Is glass a liquid?",
		"Wie heißt die Hauptstadt der Mongolei?", "Qui a peint la Joconde et quand est-il mort ?", "¿Quién escribió la novela del hidalgo de la Mancha?", "Chi ha dipinto la Gioconda?", "Wie is de koning van België?",
		"Who was the mayor of Karholm during the flood?", "What did Galatea pay its engineers in gold?", "Why did Orion sue the government of Denmark?", "Which colour had the lighthouse of Velstad?", "How many whales died near Thoby?",
	}
	for i, what := range []string{"weight", "temperature", "motto", "postcode", "telephone number", "colour", "insurance", "founder", "patron saint", "anthem"} {
		for page := range 2 {
			// Most of its words stand on a page.
			words := strings.Fields(reader.Sentence(page, i))
			about := strings.Split(strings.Join(words[3:], " "), " of ")
			all = append(all, fmt.Sprintf("What was the %s of the %s of %s under the owner %s", what, about[0], strings.Fields(about[1])[0], strings.Replace(words[len(words)-1], ".", "?", 1)))
		}
	}
	return all
}

// TestAskRefusesWhatIsNotInTheArchive asks forty questions that the pages do not answer, of
// agents that say so, that invent, and that evade with something true. Each is answered with
// the one fixed sentence of its language, and offered as new research. The short form asks
// each agent four of them.
func TestAskRefusesWhatIsNotInTheArchive(t *testing.T) {
	questions := unanswered()
	if len(questions) != 40 {
		t.Fatalf("%d questions are planted", len(questions))
	}
	a := newAsking(t)
	fixed := map[string]bool{"The archived pages do not answer this question.": true, "Die archivierten Seiten beantworten diese Frage nicht.": true, "Les pages archivées ne répondent pas à cette question.": true,
		"Las páginas archivadas no responden a esta pregunta.": true, "Le pagine archiviate non rispondono a questa domanda.": true, "De gearchiveerde pagina's beantwoorden deze vraag niet.": true}
	refusal := func(prompt string) string {
		for sentence := range fixed {
			if strings.Contains(prompt, "       "+sentence+"\n") {
				return sentence
			}
		}
		t.Fatalf("the prompt has no fixed sentence:\n%s", prompt)
		return ""
	}
	idIn := func(prompt string) string {
		return prompt[strings.Index(prompt, "[@")+2 : strings.Index(prompt, "[@")+4]
	}
	asked, unasked := 0, 0
	for n, writer := range []struct {
		name  string
		write func(task driver.Task) string
	}{
		{"one that says so", func(task driver.Task) string { return refusal(task.Prompt) }},
		{"one that invents a number", func(task driver.Task) string { return "It was 98,765 in all [@" + idIn(task.Prompt) + "]." }},
		{"one that invents a fact", func(task driver.Task) string {
			return "The records of the port say that it was Bartholomew [@" + idIn(task.Prompt) + "]."
		}},
		{"one that evades", func(task driver.Task) string {
			id := idIn(task.Prompt)
			page := 0
			if !strings.Contains(strings.Split(task.Prompt, id+":\n")[1], reader.Sentence(0, 0)[:20]) {
				page = 1
			}
			return strings.TrimSuffix(reader.Sentence(page, 20), ".") + " [@" + id + "]."
		}},
		{"one that says so and more", func(task driver.Task) string { return refusal(task.Prompt) + " But ask me again." }},
	} {
		stride := full.Stride(len(questions), 2)
		for i := n % stride; i < len(questions); i += stride {
			asked++
			q := questions[i]
			pool := &scripted{writer: writer.write, reader: truthful}
			got, err := a.ask(pool, q)
			if err != nil {
				t.Errorf("%s, %s: %v", writer.name, q, err)
				continue
			}
			if failed := strings.HasPrefix(got.Why, "no answer of the agent followed the rules: "); got.Pass || failed == fixed[got.Answer] || failed == (got.Answer != "") || got.Why == "" || !strings.HasPrefix(got.Next, "tidegate research ") || len(got.Sentences) > 0 {
				t.Errorf("%s, %s: answered %q", writer.name, q, got.Answer)
			}
			if len(pool.asked) == 0 {
				unasked++
			}
			if writer.name == "one that says so" && len(pool.asked) > 1 {
				t.Errorf("%s: a reader was asked about a refusal", q)
			}
		}
	}
	t.Logf("of %d questions %d needed no agent", asked, unasked)
}

// TestAskNeedsAReaderThatSees has a reader that confirms everything: its verdicts count for
// nothing, and there is no answer.
func TestAskNeedsAReaderThatSees(t *testing.T) {
	a := newAsking(t)
	sentence := reader.Sentence(1, 3)
	pool := &scripted{
		writer: func(task driver.Task) string {
			return strings.TrimSuffix(sentence, ".") + " [@" + sourceOf(task.Prompt, sentence) + "]."
		},
		reader: func(task driver.Task) string {
			return reader.Answer(task.Prompt, func(c reader.Claim) reader.Verdict {
				passage, words := reader.Words(c.Sentence, c.Passages)
				return reader.Verdict{Verdict: "supported", Passage: passage, Words: words}
			})
		},
	}
	_, err := a.ask(pool, "What did the "+strings.Join(strings.Fields(sentence)[3:7], " ")+" do?")
	if tidegate.CodeOf(err) != tidegate.InvalidState || !strings.Contains(err.Error(), "missed too much") {
		t.Errorf("a reader that confirms everything counts: %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(store.Answers.Home(a.runs), "*", "result.json")); len(found) > 0 {
		t.Errorf("a result is kept: %v", found)
	}
}

// TestAskGoesOn: a question whose agents cannot answer is not answered, and what was accepted
// is not paid for again when it is asked again. A service that asks to wait is waited for.
func TestAskGoesOn(t *testing.T) {
	a := newAsking(t)
	sentence := reader.Sentence(1, 3)
	question := "What did the " + strings.Join(strings.Fields(sentence)[3:7], " ") + " do?"
	pool := &scripted{reader: truthful, writer: func(task driver.Task) string {
		return strings.TrimSuffix(sentence, ".") + " [@" + sourceOf(task.Prompt, sentence) + "]."
	}}
	rated := false
	pool.fails = func(task driver.Task) error {
		switch {
		case task.Role != job.AskWriter:
			return &driver.Error{Kind: driver.Auth, Message: "not logged in", Help: "log in"}
		case !rated:
			rated = true
			return &driver.Error{Kind: driver.Rate, Message: "too many requests"}
		}
		return nil
	}
	if _, err := a.ask(pool, question); tidegate.CodeOf(err) != tidegate.InvalidState || !strings.Contains(err.Error(), "not logged in") {
		t.Fatalf("an agent that cannot work: %v", err)
	}
	pool.fails = func(task driver.Task) error {
		if task.Role == job.AskWriter {
			t.Error("the answer is written again")
		}
		return nil
	}
	got, err := a.ask(pool, question)
	if err != nil || !got.Pass {
		t.Fatalf("%+v %v", got, err)
	}
	found, err := filepath.Glob(filepath.Join(store.Answers.Home(a.runs), "2026-*"))
	if err != nil || len(found) != 1 {
		t.Errorf("the answers are %v, %v", found, err)
	}
	if v, err := answers.Verify(t.Context(), a.desk(), a.runs, got.AnswerPath); err != nil || len(v.Wrong) > 0 {
		t.Errorf("%+v %v", v, err)
	}
	readings, err := filepath.Glob(filepath.Join(got.AnswerPath, "jobs", "verify.1", "*", "reading.json"))
	if err != nil || len(readings) != 1 {
		t.Fatalf("%v %v", readings, err)
	}
	must.Do(t, os.WriteFile(readings[0], []byte("{}"), 0o600))
	if v, err := answers.Verify(t.Context(), a.desk(), a.runs, got.AnswerPath); err != nil || len(v.Wrong) == 0 {
		t.Errorf("a changed reading is not found: %+v %v", v, err)
	}
}
