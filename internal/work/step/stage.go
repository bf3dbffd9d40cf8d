package step

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// InStage returns STAGE_MISMATCH unless the run is in one of the stages.
func InStage(m run.Manifest, stages ...run.Stage) error {
	if slices.Contains(stages, m.Stage()) {
		return nil
	}
	return tidegate.Errorf(tidegate.StageMismatch, tidegate.Pairs("current_stage", m.Stage(), "allowed", stages),
		"the run is in stage %s; this is done in %s", m.Stage(), strings.Join(run.Texts(stages), ", "))
}

// TakesIn returns INVALID_STATE for a run that is final, and STAGE_MISMATCH for
// one that is not in that stage.
func TakesIn(u *run.Update, stage run.Stage) error {
	if err := u.NotFinal(); err != nil {
		return err
	}
	return InStage(u.Manifest(), stage)
}
