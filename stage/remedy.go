package stage

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/run"
)

// Remedy is something that would meet a precondition: a tool with its
// arguments, a command, or what a person or agent has to do. An argument in
// angle brackets, or a word of a command in capitals, is for the caller to fill
// in.
type Remedy struct {
	Text      string           `json:"text"`
	Tool      string           `json:"tool,omitzero"`
	Arguments tidegate.Details `json:"arguments,omitzero"`
	Command   string           `json:"command,omitzero"`
}

const whyBlank = "<why>"

func remedyPerspectives(s *situation) []Remedy {
	return []Remedy{{
		Text: "write the perspectives", Tool: "deep_research_perspectives_write",
		Arguments: tidegate.D("perspectives_path", s.run.Path(s.run.Layout().Perspectives), "value", "<perspectives.v1 document>", "reason", whyBlank),
		Command:   command("perspectives write", s, "FILE"),
	}}
}

func remedyOutputs(s *situation, wave string) []Remedy {
	var remedies []Remedy
	if wave == "wave1" && !s.has(s.run.Layout().Wave1Plan()) {
		remedies = append(remedies, Remedy{
			Text: "plan the wave, which gives a prompt for each agent", Tool: "deep_research_wave1_plan",
			Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "reason", whyBlank),
			Command:   command("wave plan", s),
		})
	}
	return append(remedies, Remedy{
		Text: "take in the outputs that the agents wrote", Tool: "deep_research_wave_output_ingest",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "perspectives_path", s.run.Path(s.run.PerspectivesOf(wave)),
			"wave", wave, "outputs", "<outputs>"),
		Command: command("wave ingest", s, "FOLDER", "--wave", wave),
	})
}

// has reports whether the run has a file of that name; one that cannot be looked
// at counts as missing.
func (s *situation) has(name string) bool {
	there, err := s.run.Folder().Exists(name)
	return err == nil && there
}

func remedyWaveReview(s *situation) []Remedy {
	l := s.run.Layout()
	return []Remedy{{
		Text: "review the wave", Tool: "deep_research_wave_review",
		Arguments: tidegate.D("perspectives_path", s.run.Path(l.Perspectives), "outputs_dir", s.run.Path(l.Wave1Dir),
			"report_path", s.run.Path(l.WaveReview)),
		Command: "tidegate wave review " + run.ShellWord(s.run.Path(l.Perspectives)) + " " + run.ShellWord(s.run.Path(l.Wave1Dir)) +
			" --report " + run.ShellWord(s.run.Path(l.WaveReview)),
	}}
}

func remedyGate(s *situation, id string) []Remedy {
	l := s.run.Layout()
	record := Remedy{
		Text: "judge gate " + id + " and record the result, naming the files that were judged", Tool: "deep_research_gates_write",
		Arguments: tidegate.D("gates_path", s.run.Path(l.Gates), "update", tidegate.D(id, tidegate.D("status", "<pass or fail>",
			"checked_at", "<time>", "artifacts", gateArtifacts(l, id))), "inputs_digest", "<sha256:…>", "reason", whyBlank),
	}
	if id != "B" {
		return []Remedy{record}
	}
	record.Text = "record what was derived"
	record.Arguments = tidegate.D("gates_path", s.run.Path(l.Gates), "update", "<update>", "inputs_digest", "<inputs_digest>", "reason", whyBlank)
	remedies := []Remedy{{
		Text: "derive gate B from the review; the command records it too", Tool: "deep_research_gate_b_derive",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "reason", whyBlank),
		Command:   command("wave gate", s),
	}, record}
	// Deriving judges the outputs again. So a review is needed first only where
	// there is none, or where the gate has failed on the one that is there.
	if state, err := s.gate(id); err == nil && state.Counts() != run.GateFail && s.has(l.WaveReview) {
		return remedies
	}
	return append(remedyWaveReview(s), remedies...)
}

// gateArtifacts are the files that a gate is about.
func gateArtifacts(l run.Layout, id string) []string {
	switch id {
	case "A":
		return []string{run.ScopeFile, l.Perspectives, l.Wave1Plan()}
	case "C":
		return []string{l.Citations, l.CitationsDir + "/extracted-urls.txt"}
	case "D":
		return []string{l.SummaryPack, l.SummariesDir}
	case "E":
		return []string{l.Synthesis(), l.Citations}
	}
	return []string{run.ManifestFile}
}

func remedyPivot(s *situation) []Remedy {
	return []Remedy{{
		Text: "decide by the rubric", Tool: "deep_research_pivot_decide",
		Arguments: tidegate.D("wave1_outputs", "<outputs>", "wave1_validation_reports", "<reports>", "manifest_path", s.run.ManifestPath()),
		Command:   command("pivot decide", s),
	}}
}

func remedyCitations(s *situation) []Remedy {
	return []Remedy{{Text: "validate the citations and write them to " + s.run.Path(s.run.Layout().Citations)}}
}

func remedySummaryPack(s *situation) []Remedy {
	return []Remedy{{
		Text: "build the summary pack", Tool: "deep_research_summary_pack_build",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "mode", "generate", "reason", whyBlank),
		Command:   command("summary build", s),
	}}
}

func remedySynthesis(s *situation) []Remedy {
	return []Remedy{{Text: "write the synthesis to " + s.run.Path(s.run.Layout().Synthesis())}}
}

func remedyReview(s *situation) []Remedy {
	return []Remedy{{Text: "review the synthesis and write the bundle, with decision PASS or CHANGES_REQUIRED, to " +
		s.run.Path(s.run.Layout().ReviewBundle)}}
}

func remedyAdvance(s *situation, to run.Stage) []Remedy {
	return []Remedy{{
		Text: "request " + string(to) + " instead", Tool: "deep_research_stage_advance",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "gates_path", s.run.Path(s.run.Layout().Gates),
			"requested_next", to, "reason", whyBlank),
		Command: command("run advance", s, "--to", string(to)),
	}}
}

func remedyLimit(s *situation) []Remedy {
	return []Remedy{{
		Text: "set the limit", Tool: "deep_research_manifest_write",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(),
			"patch", tidegate.D("limits", tidegate.D("max_review_iterations", 0)), "reason", whyBlank),
	}}
}

func remedySwitch(manifestPath string) []Remedy {
	return []Remedy{{
		Text: "switch the run on", Tool: "deep_research_manifest_write",
		Arguments: tidegate.D("manifest_path", manifestPath, "reason", whyBlank,
			"patch", tidegate.D("query", tidegate.D("constraints", tidegate.D("deep_research_cli", tidegate.D("enabled", true))))),
	}}
}

func remedyResume(s *situation) []Remedy {
	return []Remedy{{
		Text: "resume the run", Tool: "deep_research_manifest_write",
		Arguments: tidegate.D("manifest_path", s.run.ManifestPath(), "patch", tidegate.D("status", run.Running), "reason", whyBlank),
		Command:   command("run resume", s),
	}}
}

func remedyAccept(s *situation) []Remedy {
	return []Remedy{{Text: "a person decides to go on", Command: command("run resume", s, "--accept")},
		{Text: "or to end the run", Command: command("run cancel", s)}}
}

// command is a command on this run, named by its folder, which works wherever
// the run lies.
func command(name string, s *situation, more ...string) string {
	words := append([]string{"tidegate", name, run.ShellWord(s.run.Root())}, more...)
	return strings.Join(words, " ")
}
