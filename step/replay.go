package step

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/citation"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/gate"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/synthesis"
)

// Replayed is one thing of a run that was done by rule, and how it compares when
// it is done again.
type Replayed struct {
	What       string `json:"what" jsonschema:"a file of the run, or a gate"`
	Same       bool   `json:"same"`
	Difference string `json:"difference" jsonschema:"what is different, empty when nothing is"`
}

// ReplayResult is the result of [Replay].
type ReplayResult struct {
	OK    codec.True `json:"ok"`
	RunID string     `json:"run_id"`
	Pass  bool       `json:"pass" jsonschema:"nothing differs, and something was compared"`
	Steps []Replayed `json:"steps"`
}

// Passed reports whether nothing differs.
func (r ReplayResult) Passed() bool { return r.Pass }

// Replay does again what a run did by rule, from its own files, log and archive:
// the plan of the first wave, the pivot, everything about its sources, and every
// gate that was judged. Times are those of the record. It writes nothing.
//
// It returns what cannot be read of the run. What differs is a result.
func Replay(ctx context.Context, r *run.Run) (ReplayResult, error) {
	p := replayer{ctx: ctx, run: r, out: ReplayResult{RunID: r.ID(), Steps: []Replayed{}}}
	for _, again := range []func() error{p.plan, p.pivot, p.sources, p.reports, p.gates} {
		if err := again(); err != nil {
			return ReplayResult{}, err
		}
	}
	p.out.Pass = len(p.out.Steps) > 0
	for _, s := range p.out.Steps {
		p.out.Pass = p.out.Pass && s.Same
	}
	return p.out, nil
}

type replayer struct {
	ctx context.Context
	run *run.Run
	out ReplayResult
}

func (p *replayer) step(what, difference string) {
	p.out.Steps = append(p.out.Steps, Replayed{what, difference == "", difference})
}

// file compares a file of the run with what a rule makes in its place.
func (p *replayer) file(name string, again []byte, err error) error {
	if err != nil {
		return err
	}
	kept, err := p.run.Folder().Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		p.step(name, "it is not there")
		return nil
	}
	if err == nil {
		p.step(name, firstDifference(kept, again))
	}
	return err
}

// firstDifference says where two texts differ, "" where they do not.
func firstDifference(kept, again []byte) string {
	if bytes.Equal(kept, again) {
		return ""
	}
	at := 0
	for at < len(kept) && at < len(again) && kept[at] == again[at] {
		at++
	}
	line := bytes.Count(kept[:at], []byte("\n")) + 1
	return fmt.Sprintf("%d bytes are kept and %d are made again; they differ from byte %d on, in line %d", len(kept), len(again), at+1, line)
}

func (p *replayer) plan() error {
	name := p.run.Layout().Wave1Plan()
	there, err := thereOf(p.run, name)
	if err != nil || len(there) == 0 {
		return err
	}
	kept, err := readDocument(p.run, "wave1_plan_path", name)
	if err != nil {
		return err
	}
	planner := planner{run: p.run, manifest: p.run.Manifest()}
	if err := planner.read(); err != nil {
		return err
	}
	again, err := codec.MarshalFile(planner.document(kept.Get("generated_at").Str()))
	return p.file(name, again, err)
}

// pivot asks whether the decision that was recorded follows from the outputs.
func (p *replayer) pivot() error {
	name := p.run.Layout().Pivot
	there, err := thereOf(p.run, name)
	if err != nil || len(there) == 0 || p.run.Legacy() {
		return err
	}
	data, err := p.run.Folder().Read(name)
	if err != nil {
		return err
	}
	doc, err := codec.ParseFile("pivot_path", p.run.Path(name), data)
	if err != nil {
		return err
	}
	facts, err := ReadPivot(p.ctx, p.run)
	if err != nil {
		return err
	}
	decision, problem := pivot.ReadRecorded(doc)
	if problem == "" {
		problem, err = facts.Counts(p.run, decision, codec.DigestBytes(data))
	}
	p.step(name, problem)
	return err
}

// sources judges what the outputs cite by the archive again.
func (p *replayer) sources() error {
	files := citationFilesOf(p.run)
	there, err := thereOf(p.run, files.records)
	if err != nil || len(there) == 0 || p.run.Legacy() {
		return err
	}
	c, err := citedInRun(p.run)
	if err != nil {
		return err
	}
	e, err := openEvidence(p.ctx, p.run)
	if err != nil {
		return err
	}
	records, err := e.judge(p.ctx, c.sources)
	if err != nil {
		return err
	}
	lines, err := citation.MarshalRecords(records)
	if err := p.file(files.records, lines, err); err != nil {
		return err
	}
	index, err := codec.MarshalFile(e.index(c.sources))
	if err := p.file(indexFile, index, err); err != nil {
		return err
	}
	return p.file(files.rendered, []byte(citation.Render(p.run.ID(), records)), nil)
}

// reports makes the reports of gate E again, where the run has them.
func (p *replayer) reports() error {
	there, err := thereOf(p.run, reportsDir+"/gate-e-status.json")
	if err != nil || len(there) == 0 {
		return err
	}
	judged, err := judgeSynthesis(p.ctx, p.run, p.run.Layout().Synthesis())
	if err != nil {
		return err
	}
	files, _ := synthesis.GateEReports(judged.facts, judged.result, synthesis.ReportPaths{Synthesis: judged.name, Citations: p.run.Layout().Citations, Reports: reportsDir})
	for _, file := range files {
		if err := p.file(reportsDir+"/"+file.Name, file.Data, nil); err != nil {
			return err
		}
	}
	return nil
}

// gates judges every gate that was judged again.
func (p *replayer) gates() error {
	gates, err := p.run.Gates()
	if err != nil {
		return err
	}
	for _, row := range gate.Table {
		state, err := p.run.GateState(gates, row.ID)
		if err != nil {
			return err
		}
		if state.Counts() != gate.Pass && state.Counts() != gate.Fail {
			continue
		}
		found, err := Judge(p.ctx, p.run, row.ID)
		if err != nil {
			p.step("gate "+row.ID, "it cannot be judged again: "+tidegate.AsError(err).Message)
			continue
		}
		p.step("gate "+row.ID, gateDifference(gates.Gate(row.ID), state, found))
	}
	return nil
}

func gateDifference(kept *codec.Value, state gate.State, found gate.Judgement) string {
	status := state.Status
	if state.Accepted != nil {
		status = kept.Get("metrics").Get("judge").Get("status").Str()
	}
	if found.Status() != status {
		return "its judge said " + status + " and says " + found.Status() + ": " + strings.Join(found.Said(), ", ")
	}
	again := codec.Of(found.Metrics)
	for _, m := range again.Members() {
		if was := kept.Get("metrics").Get(m.Key); was == nil || codec.Digest(was) != codec.Digest(m.Value) {
			return "the figure " + m.Key + " is another one"
		}
	}
	return ""
}

// Report lists what was done again.
func (r ReplayResult) Report() report.Report {
	out := report.Report{Name: "run_replay", Title: "Replay of run " + r.RunID, Status: report.PassIf(r.Pass)}
	table := report.NewTable("What", "Made again", "Difference")
	differ := 0
	for _, s := range r.Steps {
		same := "the same"
		if !s.Same {
			same, differ = "differs", differ+1
		}
		table.Row(report.PassIf(s.Same), s.What, same, s.Difference)
		c := report.Case{Name: s.What, Status: report.PassIf(s.Same)}
		if !s.Same {
			c.Findings = []report.Finding{{Rule: "REPLAY_DIFFERS", Message: s.Difference}}
		}
		out.AddCase(c)
	}
	out.Summary = report.Counted(len(r.Steps), "step") + " done again, " + report.Counted(differ, "difference")
	out.Add(table)
	return out
}
