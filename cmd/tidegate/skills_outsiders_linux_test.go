package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
)

// skilled is a model that does what a skill says, call by call: it takes the demo's
// question to its report, or audits a file.
type skilled struct {
	story  *story
	report string // the path of the file to audit; "" for research
	taught bool   // it has read the skill
	job    struct{ id, token, prompt string }
	tries  int
	run    string
}

// next is what the model says to a request. It acts on the result of its last call.
func (s *skilled) next(r fakemodel.Request) fakemodel.Reply {
	tool := func(name string, args map[string]any) fakemodel.Reply {
		at := slices.IndexFunc(r.Tools, func(offered string) bool { return strings.HasSuffix(offered, name) })
		if at < 0 {
			return fakemodel.Reply{Text: "There is no tool " + name + " among " + strings.Join(r.Tools, " ")}
		}
		data, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		return fakemodel.Reply{Calls: []fakemodel.Call{{Name: r.Tools[at], Args: string(data)}}}
	}
	if len(r.Tools) == 0 {
		return fakemodel.Reply{Text: "A title"}
	}
	skill, heading := "tidegate-research", "# Research a question"
	if s.report != "" {
		skill, heading = "tidegate-audit", "# Audit a report"
	}
	if len(r.Results) == 0 {
		return tool("Skill", map[string]any{"skill": "tidegate:" + skill})
	}
	s.taught = s.taught || strings.Contains(r.Body, heading)
	var last struct {
		RunID      string `json:"run_id"`
		WaitingFor string `json:"waiting_for"`
		Reason     string
		Accepted   *bool
		State      string
		AuditID    string `json:"audit_id"`
		Pass       bool
		Summary    struct{ Missing, Found int }
		Job        *struct {
			JobID    string `json:"job_id"`
			Token    string
			PromptMD string `json:"prompt_md"`
		}
		Error *struct{ Code, Message string }
	}
	result := r.Results[len(r.Results)-1]
	// The client shows links to report and archive before the result.
	err := json.Unmarshal([]byte(result[max(0, strings.Index(result, "{")):]), &last)
	submit := func() fakemodel.Reply {
		answer := shortAnswers["perspectives.json"]
		switch first, good := s.story.answersTo(s.job.id); {
		case strings.HasPrefix(s.job.id, "verify."):
			answer = reader.Answer(s.job.prompt, s.story.reads)
		case good != "" && s.tries == 0:
			answer = first
		case good != "":
			answer = good
		}
		s.tries++
		return tool("deep_research_job_submit", map[string]any{"run": s.run, "token": s.job.token, "answer": answer})
	}
	switch {
	case len(r.Results) == 1 && s.report != "":
		return tool("report_audit", map[string]any{"report_path": s.report})
	case len(r.Results) == 1:
		return tool("deep_research_run_init", map[string]any{"query": question, "run_id": "harbour"})
	case err != nil || last.Error != nil:
		return fakemodel.Reply{Text: "Stopped: " + result}
	case last.AuditID != "":
		return fakemodel.Reply{Text: "Audited " + last.AuditID + ": " + result}
	case last.Job != nil:
		s.job.id, s.job.token, s.job.prompt, s.tries = last.Job.JobID, last.Job.Token, last.Job.PromptMD, 0
		return submit()
	case last.Accepted != nil && !*last.Accepted && last.State == "leased" && s.tries < 3:
		return submit()
	case last.WaitingFor == "agents":
		return tool("deep_research_job_lease", map[string]any{"run": s.run, "holder": "claude"})
	case last.WaitingFor == "nothing", last.WaitingFor == "person":
		return fakemodel.Reply{Text: "The run waits for " + last.WaitingFor + ": " + last.Reason}
	case last.RunID != "":
		s.run = last.RunID
	}
	return tool("deep_research_run_step", map[string]any{"run": s.run})
}

// TestARealClientWithThePluginResearchesAndAudits installs the plugin into Claude Code by
// its own commands. The client then takes a question to a report by the first skill, and
// audits a file by the second, with no other configuration.
func TestARealClientWithThePluginResearchesAndAudits(t *testing.T) {
	path := agentClients(t)
	model := &skilled{story: shortStory(t)}
	bin := t.TempDir()
	h := newHarbour(t, bin+":"+path, "", func(r fakemodel.Request) fakemodel.Reply { return model.next(r) })
	inHarbour := must.Get(exec.LookPath("tidegate-in-harbour"))(t)
	must.Do(t, os.WriteFile(filepath.Join(bin, "tidegate"), []byte("#!/bin/sh\nexec "+inHarbour+" \"$@\"\n"), 0o700))
	claude := func(args ...string) string {
		t.Helper()
		program := must.Get(lookIn(path, "claude"))(t)
		command := exec.CommandContext(t.Context(), program, args...)
		command.Dir = h.dir
		command.Env = append(slices.Clone(h.env), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_MAX_RETRIES=2")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("claude %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	claude("plugin", "marketplace", "add", published(t))
	claude("plugin", "install", "tidegate@tidegate")

	ask := []string{"--permission-mode", "dontAsk", "--allowedTools", "Skill,mcp__plugin_tidegate_tidegate", "-p"}
	said := claude(append(slices.Clone(ask), "Research this with tidegate: "+question)...)
	if !model.taught || !strings.Contains(said, "The run waits for nothing") {
		t.Fatalf("the skill was read: %v; %s", model.taught, said)
	}
	if got := h.file(t, "synthesis/final-synthesis.md"); got != model.story.report {
		t.Errorf("the report is another one:\n%s", got)
	}
	if said, status := h.types("run", "verify", h.run()); status != 0 {
		t.Errorf("run verify: exit status %d:\n%s", status, said)
	}

	file := filepath.Join(h.dir, "report.md")
	must.Do(t, os.WriteFile(file, []byte("An electric tug spends about 210,000 euro less on energy [1]. It uses invoices of ninety-seven ports [1].\n\n[1]: https://portcost.example/studies/harbour-craft-energy\n"), 0o600))
	model.report, model.taught = file, false
	said = claude(append(slices.Clone(ask), "Audit report.md")...)
	if !model.taught || !strings.Contains(said, "Audited ") || !strings.Contains(strings.ReplaceAll(said, " ", ""), `"found":1`) {
		t.Errorf("the skill was read: %v; %s", model.taught, said)
	}
	if kept, err := os.ReadDir(filepath.Join(h.dir, "home", "audits")); err != nil || len(kept) != 1 {
		t.Errorf("the audits are %v, %v", kept, err)
	}
}

// TestARealCodexHasSkillsAndTools looks at what Codex tells its model, once the plugin is
// installed, and once `mcp config` has written what the plugin has.
func TestARealCodexHasSkillsAndTools(t *testing.T) {
	path := agentClients(t)
	for name, install := range map[string]func(h *harbour, codex func(args ...string)){
		"plugin": func(_ *harbour, codex func(args ...string)) {
			codex("plugin", "marketplace", "add", published(t))
			codex("plugin", "add", "tidegate@tidegate")
		},
		"mcp config": func(h *harbour, _ func(args ...string)) {
			if said, status := h.types("mcp", "config", "--client", "codex", "--write"); status != 0 {
				t.Fatal(said)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarbour(t, path, "", func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: "Done."} })
			program := must.Get(lookIn(path, "codex"))(t)
			must.Do(t, os.Mkdir(filepath.Join(h.dir, ".codex"), 0o700))
			codex := func(args ...string) {
				t.Helper()
				command := exec.CommandContext(t.Context(), program, args...)
				command.Dir, command.Env = h.dir, h.env
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("codex %v: %v\n%s", args, err, out)
				}
			}
			install(h, codex)
			codex("exec", "--skip-git-repo-check", "-m", "fake-1", "-c", `model_provider="fake"`, "-c", `model_providers.fake={name="fake",base_url="`+h.model.URL+`/v1",wire_api="responses",env_key="OPENAI_API_KEY"}`, "Audit report.md")
			requests := h.model.Requests()
			if len(requests) == 0 {
				t.Fatal("the model was not asked")
			}
			for _, want := range []string{"tidegate-audit", "tidegate-research", "tidegate-review", "report_audit"} {
				if !strings.Contains(requests[0].Body, want) {
					t.Errorf("the model is not told of %s", want)
				}
			}
		})
	}
}

// lookIn finds a program in a list of folders.
func lookIn(path, name string) (string, error) {
	for _, folder := range filepath.SplitList(path) {
		if file := filepath.Join(folder, name); isProgram(file) {
			return file, nil
		}
	}
	return "", exec.ErrNotFound
}
