package gates

import (
	"context"
	"fmt"
	"math"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// runConfig is where the earlier system keeps its settings.
const runConfig = "run-config.json"

// judgeF is the judge of gate F: every fetch honoured the sensitivity of the run,
// no source that could not be checked is cited, a person's decisions are signed
// where the run asks for it, and its agents kept to the budget.
func judgeF(ctx context.Context, r *run.Run) (run.Judgement, error) {
	name := r.Layout().Synthesis()
	optional, err := step.Existing(r, runConfig, sourcing.IndexFile, run.PolicyFile)
	if err != nil {
		return run.Judgement{}, err
	}
	bound, err := run.Bind(r.Folder(), append(optional, run.ManifestFile, name, r.Layout().Citations))
	if err != nil {
		return run.Judgement{}, err
	}
	facts := synthesis.RolloutFacts{RunID: r.ID(), Sensitivity: r.Manifest().Sensitivity()}
	if err := earlierSettings(r, &facts); err != nil {
		return run.Judgement{}, err
	}
	draft, err := r.Folder().Read(name)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return run.Judgement{}, err
	}
	if facts.FinalSynthesis = err == nil; facts.FinalSynthesis {
		sources, err := sentences.ReadSources(ctx, r)
		if err != nil {
			return run.Judgement{}, err
		}
		if facts.Unsourced, err = sentences.Unsourced(r, sources); err != nil {
			return run.Judgement{}, err
		}
		for _, m := range claim.Inspect(draft).Mentions {
			facts.Cited = append(facts.Cited, synthesis.CitedSource{CID: m.CID, Status: sources.Status[m.CID]})
		}
	}
	events, err := r.Events()
	if err != nil {
		return run.Judgement{}, err
	}
	for _, e := range events {
		if e.Event == run.EventFetched || e.Event == run.EventSearched {
			facts.Fetches = append(facts.Fetches, synthesis.Fetch{URL: fmt.Sprintf("line %d of the log", e.Number), Sensitivity: e.Entry.Get("sensitivity").Str()})
		}
	}
	if facts.Unsigned, err = r.UnsignedDecisions(); err != nil {
		return run.Judgement{}, err
	}
	if facts.Budget, err = SpentOf(r); err != nil {
		return run.Judgement{}, err
	}
	found := judgementOf(synthesis.GateF(facts), bound)
	for _, s := range facts.Budget {
		if s.Used > s.Limit {
			name := report.ShellWord(r.Root())
			found.Changes = append(found.Changes, fmt.Sprintf("raise the limit to what was spent with `tidegate run limit %s %s %v`, or let the gate pass with `tidegate gate f %s --accept --reason TEXT`",
				name, s.Name, math.Ceil(s.Used), name))
		}
	}
	return found, nil
}

// earlierSettings reads the settings of the earlier system. They are recorded and
// decide nothing. It returns INVALID_JSON.
func earlierSettings(r *run.Run, facts *synthesis.RolloutFacts) error {
	said := r.Manifest().Doc().Get("query").Get("sensitivity").Str()
	switch said {
	case synthesis.NoWeb:
		facts.CitationsMode = "offline"
	case synthesis.Restricted:
		facts.CitationsMode = "dry_run"
	default:
		facts.CitationsMode = "online"
	}
	data, err := r.Folder().Read(runConfig)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	doc, err := codec.ParseFile("run_config_path", r.Path(runConfig), data)
	if err != nil {
		return err
	}
	citations := doc.Get("effective").Get("citations")
	facts.RunConfig = true
	facts.BrightData = citations.Get("endpoints").Get("brightdata").Str() != ""
	facts.Apify = citations.Get("endpoints").Get("apify").Str() != ""
	if mode := citations.Get("mode").Str(); mode != "" && said == "" {
		facts.CitationsMode = mode
	}
	return nil
}
