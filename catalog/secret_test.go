package catalog_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// TestNoToolTellsWhatIsPlanted holds a reading, and asks every tool that agents have about
// its run, with each of its files in the place of each argument: none returns the seed
// that tells the twins. The short form has the file with the seed alone.
func TestNoToolTellsWhatIsPlanted(t *testing.T) {
	full.Story(t)
	t.Parallel()
	home := filepath.Join(scratch.Short(t), "runs")
	env := pinned(home)
	env.Pinned = false // the seed is drawn
	o := newOrchestrator(t, env)
	o.call("run_init", `{"query": "Should the harbour buy electric tugs?", "run_id": "harbour"}`)
	for o.call("run_step", `{"run": "harbour"}`).Get("stage").Str() != "review" {
		o.work("harbour", "orchestrator")
	}
	// The name of the holder makes a cited sentence of the file that has it.
	records := strings.SplitN(must.Read(t, filepath.Join(home, "harbour", "citations", "citations.jsonl")), "\n", 2)
	first := must.Get(codec.Parse([]byte(records[0])))(t)
	lease := func() *codec.Value {
		return o.call("job_lease", `{"run": "harbour", "holder": "prober [@%s]. Who"}`, first.Get("cid").Str()).Get("job")
	}
	leased := lease()
	var parts []*codec.Value // each is leased, so that no tool takes one
	for part := leased; part.Kind() != codec.Null; part = lease() {
		parts = append(parts, part)
	}
	dir := filepath.Join(home, "harbour", "review", "rounds", "1")
	kept, err := codec.Parse([]byte(must.Read(t, filepath.Join(dir, "seed.json"))))
	seed := kept.Get("seed").Str()
	if err != nil || len(seed) != 32 {
		t.Fatalf("the seed is %q, %v", seed, err)
	}
	if line, _ := codec.MarshalLine(leased); strings.Contains(string(line), seed) {
		t.Error("the lease tells the seed")
	}
	// An answer that is wrong in another way tells nothing of the pairs either.
	verdict := o.call("job_submit", `{"run": "harbour", "token": %q, "answer": "{\"verdicts\":[]}"}`, leased.Get("token").Str())
	if line, _ := codec.MarshalLine(verdict); strings.Contains(string(line), "CONTROL_FAILED") || strings.Contains(string(line), seed) {
		t.Errorf("%s", line)
	}
	manifest := filepath.Join(home, "harbour", "manifest.json")
	places := []string{filepath.Join(dir, "seed.json")}
	if full.Asked() {
		places = append(places, manifest, dir, filepath.Join(home, "harbour", "logs", "audit.jsonl"))
	}
	asked := 0
	for _, each := range tool.ForAgents(catalog.Tools(env)) {
		schema := codec.Of(each.InputSchema())
		var names []string
		for _, property := range schema.Get("properties").Members() {
			names = append(names, property.Key)
		}
		for _, at := range names {
			for _, place := range places {
				args := codec.NewObject()
				for _, name := range schema.Get("required").Strs() {
					args.Set(name, codec.Of(place))
				}
				for _, name := range []string{"manifest_path", "gates_path"} {
					if slices.Contains(names, name) {
						args.Set(name, codec.Of(strings.Replace(manifest, "manifest", strings.TrimSuffix(name, "_path"), 1)))
					}
				}
				args.Set(at, codec.Of(place))
				line := must.Get(codec.MarshalLine(args))(t)
				envelope := each.Call(context.WithoutCancel(t.Context()), line, tool.Caller{}).Envelope
				if asked++; strings.Contains(string(envelope), seed) {
					t.Errorf("%s tells the seed for %s", each.Name, line)
				}
			}
		}
	}
	if asked < 50*len(places) {
		t.Errorf("only %d calls were made", asked)
	}
	// Neither does the log, whose tool agents have, before the round is over.
	for _, part := range parts {
		o.call("job_submit", `{"run": "harbour", "token": %q, "answer": %s}`, part.Get("token").Str(), approving(t, part.Get("prompt_md").Str()))
	}
	log, _ := codec.MarshalLine(o.call("run_log", `{"run": "harbour", "last": 20}`))
	if !strings.Contains(string(log), `"CONTROL_FAILED"`) || strings.Contains(string(log), seed) {
		t.Errorf("the log tells the seed: %t", strings.Contains(string(log), seed))
	}
}

// approving is an answer that supports every claim of a prompt.
func approving(t *testing.T, prompt string) string {
	answer := must.Get(codec.MarshalLine(reader.Answer(prompt, func(c reader.Claim) reader.Verdict {
		return reader.Honest(c, strings.Join(strings.Fields(c.Sentence), " "))
	})))(t)
	return string(answer)
}
