package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
)

// honestAgent is an agent for `tidegate ask`: it answers with the sentence of the passages
// that has most of the words of the question, and reads claims as a reader that knows the
// truth.
func honestAgent() {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	prompt := string(data)
	if os.Getenv("TIDEGATE_KIND") == "verify" {
		fmt.Print(reader.Faithful(prompt))
		return
	}
	fmt.Print(bestSentence(prompt))
}

// bestSentence is the sentence of the passages of a prompt that has most of the words of
// its question, cited.
func bestSentence(prompt string) string {
	question, passages, _ := strings.Cut(prompt, "\n## Passages\n")
	passages, _, _ = strings.Cut(passages, "\n## Rules\n")
	question = strings.Split(question, "```")[1]
	best, most, id := "", 0, ""
	for line := range strings.Lines(passages) {
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), ":"); ok && strings.HasPrefix(name, "s") {
			id = name
		}
		for sentence := range strings.SplitSeq(strings.TrimSpace(line), ". ") {
			n := 0
			for _, word := range strings.Fields(strings.Trim(question, "?\n ")) {
				if len(word) > 3 && strings.Contains(strings.ToLower(sentence), strings.ToLower(strings.Trim(word, "?,"))) {
					n++
				}
			}
			if n > most && len(strings.Fields(sentence)) > 5 {
				best, most = strings.TrimSuffix(sentence, ".")+" [@"+id+"].", n
			}
		}
	}
	return best
}

// TestAskCommand asks about the run of the demo: something that its pages say, of an agent
// in a process of its own, and something that they do not, of none.
func TestAskCommand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	var out strings.Builder
	ask := func(args ...string) int {
		out.Reset()
		s.stdout, s.stderr = &out, &out
		return s.run(t.Context(), append([]string{"ask", "harbour"}, args...)...)
	}
	before := snapshot(t, filepath.Join(home, "runs"))
	if status := ask("Who painted the Mona Lisa?", "--format", "json"); status != 1 || !strings.Contains(out.String(), `"answer":"The archived pages do not answer this question."`) || !strings.Contains(out.String(), `"next":"tidegate research 'Who painted the Mona Lisa?'"`) {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:honest-agent", "--unconfined"); status != 0 || !strings.Contains(out.String(), "bollard pull") || !strings.Contains(out.String(), "tested with 1 pair") {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:false", "--unconfined"); status != 4 || !strings.Contains(out.String(), "goes on when it is asked again") || !strings.Contains(out.String(), "the last attempt at ask.1 ended with: ") {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:honest-agent", "--unconfined"); status != 0 {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask(); status != 2 || !strings.Contains(out.String(), "QUESTION is missing") {
		t.Errorf("%d: %s", status, out.String())
	}
	after := snapshot(t, filepath.Join(home, "runs"))
	for name, data := range before {
		if after[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
	found, err := filepath.Glob(filepath.Join(home, "answers", "2026-*"))
	if err != nil || len(found) != 3 {
		t.Errorf("the answers are %v, %v", found, err)
	}
	for _, answer := range found {
		out.Reset()
		if status := s.run(t.Context(), "verify", answer); status != 0 {
			t.Errorf("%s does not verify: %d\n%s", answer, status, out.String())
		}
	}
}

// TestAgentAsksAFinishedRun answers a question about the run of the demo by the prompt
// that the tool hands out. What the answer lacks comes back, nothing is kept, and what the
// pages do not say gets the fixed sentence.
func TestAgentAsksAFinishedRun(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	before := snapshot(t, home)
	consult := func(question, answer string) (out struct {
		Pass     bool
		PromptMD string `json:"prompt_md"`
		Answer   string
		Trust    string
		Faults   []struct {
			Code       string
			ChangeNote string `json:"change_note"`
		}
		Sources []struct{ ID, URL string }
	}) {
		t.Helper()
		given := map[string]any{"of": []string{"harbour"}, "question": question}
		if answer != "" {
			given["answer"] = answer
		}
		args := must.Get(json.Marshal(given))(t)
		var stdout, stderr strings.Builder
		s.stdout, s.stderr = &stdout, &stderr
		s.run(t.Context(), "call", "ask", "--args", string(args))
		if err := json.Unmarshal([]byte(stdout.String()), &out); err != nil || !strings.Contains(stdout.String(), `"ok": true`) {
			t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
		}
		return out
	}
	const question = "How much bollard pull does the electric tug have?"
	first := consult(question, "")
	if first.Pass || !strings.Contains(first.PromptMD, "## Passages") || len(first.Sources) == 0 {
		t.Fatalf("%+v", first)
	}
	id := first.Sources[0].ID
	if wrong := consult(question, "The electric tug has a bollard pull of 9,876 tonnes [@"+id+"]."); wrong.Pass || len(wrong.Faults) == 0 || wrong.Answer != "" {
		t.Errorf("a number that no page has: %+v", wrong)
	}
	if uncited := consult(question, "The electric tug has much bollard pull."); uncited.Pass || len(uncited.Faults) == 0 || uncited.Faults[0].ChangeNote == "" {
		t.Errorf("an answer that cites nothing: %+v", uncited)
	}
	good := consult(question, bestSentence(first.PromptMD))
	if !good.Pass || !strings.Contains(good.Trust, "no second reader") || len(good.Sources) != 1 {
		t.Errorf("%q: %+v", bestSentence(first.PromptMD), good)
	}
	if other := consult("Who painted the Mona Lisa?", ""); other.PromptMD != "" || other.Answer != "The archived pages do not answer this question." {
		t.Errorf("%+v", other)
	}
	for name, data := range snapshot(t, home) {
		if before[name] != data {
			t.Errorf("%s was written", name)
		}
	}
}

// TestResearchAgain asks the question of the demo's run again, with its settings, and says
// how the reports differ; the short form ends at the plan.
func TestResearchAgain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := demoRun(t, home)
	var out strings.Builder
	again := func(args ...string) int {
		out.Reset()
		s.stdout, s.stderr = &out, &out
		return s.run(t.Context(), append([]string{"research", "--again", "harbour"}, args...)...)
	}
	before := snapshot(t, filepath.Join(home, "runs", "harbour"))
	args, says := []string{"--agent", "recorded:demo", "--parallel", "1", "--yes"}, []string{"Since harbour", "0 sources differ"}
	if !full.Asked() {
		args, says = append(args, "--plan-only"), []string{"Plan: " + question, "the plan waits for your yes"}
	}
	status := again(args...)
	for _, want := range says {
		if status != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%d, without %q: %s", status, want, out.String())
		}
	}
	for name, data := range snapshot(t, filepath.Join(home, "runs", "harbour")) {
		if before[name] != data {
			t.Errorf("%s was changed", name)
		}
	}
	if status := again("Another question?", "--yes"); status != 2 || !strings.Contains(out.String(), "give a question or --again") {
		t.Errorf("%d: %s", status, out.String())
	}
	out.Reset()
	if status := s.run(t.Context(), "research", "--again", "nowhere", "--yes"); status != 3 {
		t.Errorf("%d: %s", status, out.String())
	}
}
