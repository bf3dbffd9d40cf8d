package stage

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// Remedy is something that would meet a precondition: a tool with its
// arguments, a command, or what a person or agent has to do. The caller fills in
// arguments in angle brackets and words of a command in capitals.
type Remedy struct {
	Text      string           `json:"text"`
	Tool      string           `json:"tool,omitzero"`
	Arguments tidegate.Details `json:"arguments,omitzero"`
	Command   string           `json:"command,omitzero"`
}

const whyBlank = "<why>"

// Action is something that a remedy asks for: a tool, a command, or both.
type Action struct {
	Tool    string
	Command string
}

// The actions. The catalogue checks that each of their tools and commands is
// there.
var (
	writePerspectives = Action{"deep_research_perspectives_write", "perspectives write"}
	planWave          = Action{"deep_research_wave1_plan", "wave plan"}
	ingestOutputs     = Action{"deep_research_wave_output_ingest", "wave ingest"}
	reviewWave        = Action{"deep_research_wave_review", "wave review"}
	validateCitations = Action{"deep_research_citations_validate", "citations check"}
	fetchCitations    = Action{"deep_research_citations_fetch", "citations fetch"}
	attachCitation    = Action{"", "citations attach"}
	replaceCitation   = Action{"", "citations replace"}
	decidePivot       = Action{"deep_research_pivot_decide", "pivot decide"}
	buildPack         = Action{"deep_research_summary_pack_build", "summary build"}
	advanceRun        = Action{"deep_research_stage_advance", "run advance"}
	resumeRun         = Action{"", "run resume"}
	continueRun       = Action{"", "run continue"}
	watchRun          = Action{"", "run watch"}
	cancelRun         = Action{"", "run cancel"}
	limitRun          = Action{"", "run limit"}
	verifyRun         = Action{"deep_research_run_verify", "run verify"}
	acceptRecord      = Action{"", "run accept"}
	statusOfRun       = Action{"deep_research_run_status", "run status"}
)

// judgeGate asks for a gate to be judged and recorded, which advancing does, too.
func judgeGate(s *situation, id string) Remedy {
	return Remedy{
		Text: "judge gate " + id + ", and go on where it passes", Tool: advanceRun.Tool,
		Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath(), "gates_path", s.run.Path(s.run.Layout().Gates), "reason", whyBlank),
		Command:   gateCommand(id).on(s),
	}
}

func gateCommand(id string) Action { return Action{Command: "gate " + strings.ToLower(id)} }

func remedyPerspectives(s *situation) []Remedy {
	return []Remedy{{
		Text: "write the perspectives", Tool: writePerspectives.Tool,
		Arguments: tidegate.Pairs("perspectives_path", s.run.Path(s.run.Layout().Perspectives), "value", "<perspectives.v1 document>", "reason", whyBlank),
		Command:   writePerspectives.on(s, "FILE"),
	}}
}

func remedyOutputs(s *situation, wave run.Stage) []Remedy {
	var remedies []Remedy
	if wave == run.Wave1 && !s.has(s.run.Layout().Wave1Plan()) {
		remedies = append(remedies, remedyPlan(s))
	}
	return append(remedies, Remedy{
		Text: "take in the outputs that the agents wrote", Tool: ingestOutputs.Tool,
		Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath(), "perspectives_path", s.run.Path(s.run.ContractsOf(wave)),
			"wave", wave, "outputs", "<outputs>"),
		Command: ingestOutputs.on(s, "FOLDER", "--wave", string(wave)),
	})
}

func remedyPlan(s *situation) Remedy {
	return planWave.remedy(s, "plan the wave, which gives a prompt for each agent")
}

// has reports whether the run has a file of that name; one that cannot be examined
// counts as missing.
func (s *situation) has(name string) bool {
	there, err := s.run.Folder().Exists(name)
	return err == nil && there
}

func remedyWaveReview(s *situation) []Remedy {
	l := s.run.Layout()
	return []Remedy{{
		Text: "review the wave", Tool: reviewWave.Tool,
		Arguments: tidegate.Pairs("perspectives_path", s.run.Path(l.Perspectives), "outputs_dir", s.run.Path(l.Wave1Dir),
			"report_path", s.run.Path(l.WaveReview)),
		Command: "tidegate " + reviewWave.Command + " " + report.ShellWord(s.run.Path(l.Perspectives)) + " " + report.ShellWord(s.run.Path(l.Wave1Dir)) +
			" --report " + report.ShellWord(s.run.Path(l.WaveReview)),
	}}
}

func remedyGate(s *situation, id string) []Remedy {
	if id == "A" {
		return []Remedy{remedyPlan(s)}
	}
	judge := []Remedy{judgeGate(s, id)}
	switch id {
	case "C":
		return append(remedyCitations(s), judge...)
	case "B":
		// The judge looks at the outputs again. So a review is needed first only
		// where there is none, or where the gate has failed on the present one.
		if state, err := s.gate(id); err != nil || state.Counts() == run.GateFail || !s.has(s.run.Layout().WaveReview) {
			return append(remedyWaveReview(s), judge...)
		}
	}
	return judge
}

func remedyPivot(s *situation) []Remedy {
	return []Remedy{{
		Text: "decide by the rubric", Tool: decidePivot.Tool,
		Arguments: tidegate.Pairs("wave1_outputs", "<outputs>", "wave1_validation_reports", "<reports>", "manifest_path", s.run.ManifestPath()),
		Command:   decidePivot.on(s),
	}}
}

// remedyCitations says what the sources of the run still lack, by its log: pages,
// a judgement by them, or, where the gate has failed on that judgement, other
// pages. In a run that must not reach the web, a person supplies the evidence.
// Fetching is not proposed where no source can be fetched.
func remedyCitations(s *situation) []Remedy {
	judge := validateCitations.remedy(s, "judge the sources that the outputs cite")
	attach := Remedy{Text: "a person attaches the evidence of a source", Command: attachCitation.on(s, "CID", "FILE")}
	fetch := Remedy{
		Text: "fetch the sources that the outputs cite", Tool: fetchCitations.Tool,
		Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath()), Command: fetchCitations.on(s),
	}
	replace := Remedy{Text: "a person names another page for a source", Command: replaceCitation.on(s, "CID", "URL")}
	accept := Remedy{Text: "a person lets the gate pass all the same", Command: gateCommand("C").on(s, "--accept", "--reason", "TEXT")}
	offline := s.run.Manifest().Sensitivity() == "no_web"
	cited, fetchable, err := sourcing.CountCited(s.run)
	if err != nil {
		return []Remedy{judge} // which says what is wrong with the outputs
	}
	switch evidence, judged, failed := s.citationLines(); {
	case evidence > judged:
		return []Remedy{judge}
	case failed < judged:
		return nil
	case judged == 0 && (cited == 0 || fetchable == 0 && !offline):
		return []Remedy{judge}
	case cited == 0:
		return []Remedy{accept}
	case offline:
		return []Remedy{attach, judge}
	case judged == 0:
		return []Remedy{fetch, judge}
	case s.staleCitations():
		return []Remedy{judge, replace, attach}
	case s.has(s.run.Layout().BlockedQueue()):
		fetch.Text, fetch.Command = "fetch what is blocked again", fetch.Command+" --again"
		fetch.Arguments = append(fetch.Arguments, tidegate.Pairs("again", true)...)
		return []Remedy{fetch, judge, replace, attach}
	}
	return []Remedy{replace, attach, accept}
}

// staleCitations reports whether the sources would be judged differently from when
// gate C failed: what it looked at has changed, or it found that the records do not
// match the archive.
func (s *situation) staleCitations() bool {
	state, err := s.gate("C")
	return err != nil || len(state.Changed) > 0 || slices.Contains(s.gates.Gate("C").Get("warnings").Strs(), sourcing.StaleCitations)
}

// citationLines are the last lines of the log about evidence, about a judgement
// of the sources, and about a gate C that did not pass; 0 for none. A log that
// cannot be read has none.
func (s *situation) citationLines() (evidence, judged, failed int) {
	entries, err := s.run.Events()
	if err != nil {
		return 0, 0, 0
	}
	for i, e := range entries {
		switch {
		case e.Event == run.EventFetched || e.Event == run.EventAttached || e.Event == run.EventReplaced:
			evidence = i + 1
		case e.Event == run.EventSources && e.Entry.Get("kind").Str() == "citations_validate":
			judged = i + 1
		case e.Event == run.EventGates && e.Entry.Get("gates").Get("C").Str() == run.GateFail:
			failed = i + 1
		}
	}
	return evidence, judged, failed
}

func remedySummaryPack(s *situation) []Remedy {
	return []Remedy{{
		Text: "build the summary pack", Tool: buildPack.Tool,
		Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath(), "mode", "generate", "reason", whyBlank),
		Command:   buildPack.on(s),
	}}
}

func remedySynthesisReview(s *situation) []Remedy {
	return []Remedy{{Text: "review the synthesis and write the bundle, with decision PASS or CHANGES_REQUIRED, to " +
		s.run.Path(s.run.Layout().ReviewBundle)}}
}

func remedyAdvance(s *situation, to run.Stage) []Remedy {
	return []Remedy{{
		Text: "request " + string(to) + " instead", Tool: advanceRun.Tool,
		Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath(), "gates_path", s.run.Path(s.run.Layout().Gates),
			"requested_next", to, "reason", whyBlank),
		Command: advanceRun.on(s, "--to", string(to)),
	}}
}

func remedyAccept(s *situation) []Remedy {
	return []Remedy{{Text: "a person decides to resume", Command: resumeRun.on(s, "--accept", "--reason", "TEXT")},
		{Text: "or to end the run", Command: cancelRun.on(s)}}
}

// remedy asks for the action on this run as a whole.
func (a Action) remedy(s *situation, text string) Remedy {
	return Remedy{Text: text, Tool: a.Tool, Arguments: tidegate.Pairs("manifest_path", s.run.ManifestPath(), "reason", whyBlank), Command: a.on(s)}
}

// on is the command for this run, which it names by its folder, so that it works
// wherever the run lies.
func (a Action) on(s *situation, more ...string) string {
	return strings.Join(append([]string{"tidegate", a.Command, report.ShellWord(s.run.Root())}, more...), " ")
}
