package step

import (
	"context"

	"github.com/tidegate/tidegate/internal/rule/gate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Assessment is what gate E finds in the final synthesis of a run, in full.
type Assessment struct {
	Judgement gate.Judgement
	Result    synthesis.Result
	Reports   []synthesis.ReportFile // by their names below the folder of reports
}

// Assess judges the final synthesis of a run and makes the reports of gate E. It
// writes nothing. It returns NOT_FOUND for a run without a synthesis or records, and
// the errors of [Judge].
func Assess(ctx context.Context, r *run.Run) (Assessment, error) {
	judged, err := judgeSynthesis(ctx, r, r.Layout().Synthesis())
	if err != nil {
		return Assessment{}, err
	}
	out := Assessment{Judgement: judged.judgement, Result: judged.result}
	files, _ := synthesis.GateEReports(judged.facts, judged.result, synthesis.ReportPaths{Synthesis: judged.name, Citations: r.Layout().Citations, Reports: reportsDir})
	for _, f := range files {
		out.Reports = append(out.Reports, synthesis.ReportFile{Name: reportsDir + "/" + f.Name, Data: f.Data})
	}
	return out, nil
}
