package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	fmt.Print(best)
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
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:honest-agent", "--unconfined"); status != 0 || !strings.Contains(out.String(), "bollard pull") || !strings.Contains(out.String(), "planted error") {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:false", "--unconfined"); status != 4 || !strings.Contains(out.String(), "goes on when it is asked again") {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask("How much bollard pull does the electric tug have?", "--agent", "exec:honest-agent", "--unconfined"); status != 0 {
		t.Errorf("%d: %s", status, out.String())
	}
	if status := ask(); status != 2 || !strings.Contains(out.String(), "and then the question") {
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

// TestResearchAgain asks the question of the demo's run again, with its settings, and says
// how the reports differ.
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
	if status := again("--agent", "recorded:demo", "--parallel", "1", "--yes"); status != 0 || !strings.Contains(out.String(), "Since harbour") || !strings.Contains(out.String(), "0 sources differ") {
		t.Errorf("%d: %s", status, out.String())
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
