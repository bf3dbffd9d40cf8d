package gates

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// judgeD is the judge of gate D: every perspective of every wave has one summary
// in the pack, the files are within the caps as they lie on the disk, and what
// they cite is in the run's own pool.
func judgeD(ctx context.Context, r *run.Run) (run.Judgement, error) {
	waves, err := r.Waves()
	if err != nil {
		return run.Judgement{}, err
	}
	pack, err := step.ReadDocument(r, "summary_pack_path", r.Layout().SummaryPack)
	if err != nil {
		return run.Judgement{}, err
	}
	entries := pack.Get("summaries")
	if entries.Kind() != codec.Array {
		return run.Judgement{}, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$.summaries", "summary_pack_path", r.Path(r.Layout().SummaryPack)),
			"$.summaries of the summary pack must be a list")
	}
	names := []string{run.ManifestFile, r.Layout().SummaryPack, r.Layout().Citations}
	for _, wave := range waves {
		names = append(names, r.ContractsOf(wave))
	}
	for _, e := range entries.Elems() {
		if name := r.Folder().NameOf(e.Get("summary_md").Str()); name != "" {
			names = append(names, name)
		}
	}
	bound, err := run.Bind(r.Folder(), names)
	if err != nil {
		return run.Judgement{}, err
	}
	pool, err := sourcing.ReadPool(ctx, r)
	if err != nil {
		return run.Judgement{}, err
	}
	facts := synthesis.PackFacts{RunID: r.ID(), PackPath: r.Layout().SummaryPack, Entries: entries}
	facts.MaxSummaryKB, _ = r.Manifest().Limit("max_summary_kb")
	facts.MaxTotalKB, _ = r.Manifest().Limit("max_total_summary_kb")
	for _, wave := range waves {
		contracts, err := step.ReadDocument(r, "perspectives_path", r.ContractsOf(wave))
		if err != nil {
			return run.Judgement{}, err
		}
		for _, p := range contracts.Get("perspectives").Elems() {
			facts.Perspectives = append(facts.Perspectives, p.Get("id").Str())
		}
	}
	for _, e := range entries.Elems() {
		s, err := summaryFacts(r, pool, e)
		if err != nil {
			return run.Judgement{}, err
		}
		facts.Summaries = append(facts.Summaries, s)
	}
	return judgementOf(synthesis.GateD(facts), bound), nil
}

// summaryFacts looks at the file that an entry of the pack names. One outside the
// run counts as missing, like one that does not exist.
func summaryFacts(r *run.Run, pool *source.Pool, entry *codec.Value) (synthesis.SummaryFacts, error) {
	s := synthesis.SummaryFacts{PerspectiveID: entry.Get("perspective_id").Str()}
	name := r.Folder().NameOf(entry.Get("summary_md").Str())
	if name == "" {
		s.Missing = true
		return s, nil
	}
	text, err := r.Folder().Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		s.Missing = true
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Bytes = len(text)
	found := claim.Inspect(text)
	s.Faults = len(found.URLs) + len(markdown.HiddenLines(text))
	for _, m := range found.Mentions {
		s.Faults += codec.Flag(!pool.Has(m.CID))
	}
	return s, nil
}

// judgementOf is what a gate's rules say of its files.
func judgementOf(g synthesis.Gate, bound run.Binding) run.Judgement {
	return run.Judgement{Gate: g.ID, Metrics: g.Metrics, Warnings: g.Faults, Remarks: g.Warnings, Notes: g.Notes, InputsDigest: g.InputsDigest, Bound: bound}
}
