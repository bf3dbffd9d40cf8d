package step

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Where summaries come from, as [PackInput] says it.
const (
	PackGiven     = "fixture"  // from files
	PackGenerated = "generate" // from the wave outputs, by rule
)

// PackInput says what [BuildPack] builds. Paths are absolute, and "" is the default,
// which the manifest gives.
type PackInput struct {
	ManifestPath        string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath    string `json:"perspectives_path,omitzero" path:"absolute" jsonschema:"absolute path of perspectives.json; default: where the manifest says"`
	CitationsPath       string `json:"citations_path,omitzero" path:"absolute" jsonschema:"absolute path of the citation pool, citations.jsonl; default: where the manifest says"`
	Mode                string `json:"mode,omitzero" jsonschema:"fixture takes the summaries from files, generate makes them from the wave outputs by rule" enum:"fixture,generate" default:"fixture"`
	FixtureSummariesDir string `json:"fixture_summaries_dir,omitzero" path:"absolute" jsonschema:"absolute path of the folder that holds <perspective_id>.md for every perspective, for mode fixture" requiredif:"mode=fixture"`
	SummaryPackPath     string `json:"summary_pack_path,omitzero" path:"absolute" jsonschema:"absolute path of the pack to write, inside the run; default: where the manifest says"`
	SummariesDir        string `json:"summaries_dir,omitzero" path:"absolute" jsonschema:"absolute path of the folder to write the summaries to, inside the run; default: where the manifest says"`
	Reason              string `json:"reason" jsonschema:"why, for the audit log"`
	DryRun              bool   `json:"dry_run,omitzero" jsonschema:"check everything and write nothing"`
	// ByRule takes the summaries that need no agent from the outputs, see [SummariesByRule].
	ByRule bool `json:"-"`
	// Progress gets how many summaries have been checked; it may be nil. It may be
	// called from several goroutines.
	Progress func(done, total int) `json:"-"`
}

// PackResult is the result of [BuildPack].
type PackResult struct {
	OK              codec.True `json:"ok"`
	SummaryPackPath string     `json:"summary_pack_path" jsonschema:"absolute path of the pack"`
	SummariesDir    string     `json:"summaries_dir" jsonschema:"absolute path of the folder of the summaries"`
	SummaryCount    int        `json:"summary_count" jsonschema:"how many summaries the pack has"`
	InputsDigest    string     `json:"inputs_digest" jsonschema:"over manifest, perspectives, validated citations and the bytes of the summaries"`
	DryRun          bool       `json:"dry_run,omitzero" jsonschema:"true when nothing was written, because dry_run asked for that"`

	plan *packPlan
}

// BuildPack is the tool deep_research_summary_pack_build. It checks everything before
// it takes the run's lock, and under the lock that nothing has changed since; what
// it writes lands together, the pack last. A refusal leaves the files of the last
// build as they were.
//
// What a summary or the pool does not meet is RAW_URL_NOT_ALLOWED, UNKNOWN_CID
// or SIZE_CAP_EXCEEDED. Beyond these it returns NOT_FOUND, READ_FAILED,
// INVALID_JSON, SCHEMA_VALIDATION_FAILED (also for a document without
// perspectives), PATH_NOT_ALLOWED for a target that is not its own, INVALID_ARGS
// for two targets that are one, LOCK_HELD, CANCELLED and WRITE_FAILED.
func BuildPack(ctx context.Context, desk run.Desk, req PackInput) (PackResult, error) {
	return run.With(ctx, desk, req.ManifestPath, func(r *run.Run, out *PackResult) error {
		if req.DryRun {
			p, err := newPackPlan(ctx, r, r.Manifest(), req)
			if err != nil {
				return err
			}
			*out = p.result()
			_, err = p.summaries.Pack(r.ID(), desk.Stamp(), p.digest)
			return err
		}
		if err := packsHere(ctx, r, r.Manifest(), req); err != nil {
			return err
		}
		before, err := judgedBy(ctx, r, r.Manifest(), req)
		if err != nil {
			return err
		}
		p, err := newPackPlan(ctx, r, r.Manifest(), req)
		if err != nil {
			return err
		}
		_, err = r.UpdateBeside(ctx, func(u *run.Update) error {
			manifest := u.Manifest()
			if err := packsHere(ctx, r, manifest, req); err != nil {
				return err
			}
			now, err := judgedBy(ctx, r, manifest, req)
			if err != nil {
				return err
			}
			if now != before { // what they were judged by has changed since: once more, under the lock
				if p, err = newPackPlan(ctx, r, manifest, req); err != nil {
					return err
				}
			}
			return p.write(ctx, u, manifest.ID())
		})
		*out = p.result()
		return err
	}, "limits.max_summary_kb", "limits.max_total_summary_kb")
}

// judgedBy is a digest of what summaries are judged by: the manifest, the
// perspectives and the pool. What cannot be read is reported when they are judged.
func judgedBy(ctx context.Context, r *run.Run, m run.Manifest, req PackInput) (string, error) {
	digests := []string{codec.Digest(m.Doc())}
	for _, path := range []string{cmp.Or(req.PerspectivesPath, r.Path(r.Layout().Perspectives)), r.Path(r.Layout().Wave2Perspectives()), cmp.Or(req.CitationsPath, r.Path(r.Layout().Citations))} {
		file, err := r.Desk().Reach.OpenFile("path", path)
		if err != nil {
			digests = append(digests, "")
			continue
		}
		digest, err := codec.DigestReader(artifact.Until(ctx, file))
		file.Close()
		if err != nil {
			return "", ctx.Err()
		}
		digests = append(digests, digest)
	}
	return codec.Digest(codec.Of(digests)), nil
}

// packsHere returns WRITE_FAILED in a run that is final, is beyond stage summaries
// or is driven by jobs, which build the pack by rule; and PATH_NOT_ALLOWED for
// targets other than the run's own. With a bare manifest a pack is built whenever
// it is asked for.
func packsHere(ctx context.Context, r *run.Run, m run.Manifest, req PackInput) error {
	isRun, err := r.Folder().Exists(r.Layout().Gates)
	if err != nil || !isRun {
		return err
	}
	if m.Status().Final() {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("status", m.Status()), "the run is %s, which is final: it gets no other summary pack", m.Status())
	}
	if run.Summaries.Before(m.Stage()) {
		return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("stage", m.Stage()),
			"the run is in stage %s; its summary pack is built up to stage %s", m.Stage(), run.Summaries)
	}
	if tidegate.ActorOf(ctx).Kind != tidegate.Rule {
		byJobs, err := r.HasFolder(run.JobsDir)
		if err != nil {
			return err
		}
		if byJobs {
			return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("stage", m.Stage()),
				"jobs drive the run: its summary pack is built from their accepted summaries")
		}
	}
	for _, target := range []struct{ arg, path, own string }{
		{"summary_pack_path", req.SummaryPackPath, r.Layout().SummaryPack}, {"summaries_dir", req.SummariesDir, r.Layout().SummariesDir},
	} {
		if target.path == "" {
			continue
		}
		if name, err := r.Name(target.arg, target.path); err != nil || name != target.own {
			return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(target.arg, target.path, "run_root", r.Root()),
				"%s must be %s, where the run keeps it", target.arg, r.Path(target.own))
		}
	}
	return nil
}

// PackHandedIn reports whether somebody built the pack of the run, with its summaries, in
// stage summaries. A pack that was built before does not count. It returns READ_FAILED.
func PackHandedIn(r *run.Run) (bool, error) {
	lines, err := r.EventsOf(run.EventMoved, run.EventPacked)
	there, given := false, false
	for _, l := range lines {
		switch {
		case l.Event == run.EventMoved:
			there = l.Entry.Get("to").Str() == string(run.Summaries)
			given = given && !there
		case there:
			given = l.Entry.Get("actor").Str() != string(tidegate.Rule)
		}
	}
	return given, err
}

// write stages the summaries, and the pack after them. The pack, which can be
// larger than they are, is made and checked meanwhile; if it is refused, nothing
// that is staged is written.
func (p *packPlan) write(ctx context.Context, u *run.Update, runID string) error {
	pack := async(func() ([]byte, error) { return p.summaries.Pack(runID, u.Now(), p.digest) })
	if err := p.writeSummaries(ctx, u); err != nil {
		return err
	}
	data, err := pack()
	if err != nil {
		return err
	}
	if err := u.Write(p.packName, data); err != nil {
		return err
	}
	u.Log(run.EventPacked, "summary_pack_build", append(tidegate.Pairs("reason", run.Note(p.req.Reason), "mode", p.req.Mode, "by_rule", p.req.ByRule,
		"summary_count", len(p.summaries.Made), "inputs_digest", p.digest), p.args()...))
	return nil
}

// args are the arguments by which a pack of a run is built again: the files that it
// was made from, where the caller named others than the run's own. One of files
// outside the run is not built again.
func (p *packPlan) args() tidegate.Details {
	var args []any
	for _, given := range []struct{ key, path string }{{"perspectives_path", p.req.PerspectivesPath}, {"citations_path", p.req.CitationsPath}} {
		if given.path == "" {
			continue
		}
		name := p.run.InRecord(given.path)
		if filepath.IsAbs(name) {
			return nil
		}
		args = append(args, given.key, name)
	}
	return run.Args(args...)
}

func (p *packPlan) writeSummaries(ctx context.Context, u *run.Update) error {
	for _, s := range p.summaries.Made {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := u.Write(s.SummaryMD, s.Data); err != nil {
			return err
		}
	}
	return nil
}

func (p *packPlan) result() PackResult {
	return PackResult{
		SummaryPackPath: p.packPath, SummariesDir: p.summariesPath, SummaryCount: len(p.summaries.Made), InputsDigest: p.digest,
		DryRun: p.req.DryRun, plan: p,
	}
}

// Report shows every summary with its size against the cap, what it cites and
// claims, and, where summaries were generated, what was left out and why.
func (r PackResult) Report() report.Report {
	p := r.plan
	out := report.Report{Name: "summary_pack_build", Title: "Summary pack of " + p.run.ID(), Status: report.Pass}
	out.Summary = fmt.Sprintf("%s, %d of %d bytes in all.", count(len(p.summaries.Made), "summary", "summaries"), p.summaries.Total(), p.summaries.Limits.TotalBytes())
	if r.DryRun {
		out.Summary += " Nothing was written: this was a dry run."
	}
	if p.foreignRun != "" {
		out.Status = report.Warn
		out.Add(report.Paragraph(fmt.Sprintf("The perspectives say that they belong to run %s, not to %s.", p.foreignRun, p.run.ID())))
	}
	out.Add(report.Fields{
		{Name: "pack", Value: r.SummaryPackPath},
		{Name: "summaries", Value: r.SummariesDir},
		{Name: "mode", Value: p.req.Mode},
		{Name: "inputs digest", Value: r.InputsDigest},
	})
	table := report.NewTable("Perspective", ">Bytes", ">Cap", ">Citations", ">Claims")
	for _, s := range p.summaries.Made {
		table.Row(report.None, s.PerspectiveID, s.Size, p.summaries.Limits.SummaryBytes(), s.Cited, s.ClaimCount)
		out.AddCase(report.Case{Name: s.PerspectiveID, File: p.run.Path(s.SummaryMD), Status: report.Pass})
	}
	out.Add(table)
	if p.req.Mode == PackGenerated {
		out.Add(report.Heading("Left out"))
		out.Add(p.leftOut()...)
	}
	return out
}

// leftOut says, for each summary that leaves out part of its output, what is
// missing and why.
func (p *packPlan) leftOut() []report.Block {
	table := report.NewTable("Perspective", ">Number", "What", "Why")
	for _, s := range p.summaries.Made {
		for _, row := range []struct {
			n         int
			what, why string
		}{
			{s.Left.Findings, "findings", "did not fit the cap"},
			{s.Left.Emptied, "findings", "nothing was left without their URLs and citations"},
			{s.Left.URLs, "URLs", "the citation pool maps them to no validated citation"},
			{s.Left.Citations, "citations", "not among the validated citations"},
			{s.Left.Unmapped, "sources", "the citation pool maps them to no validated citation"},
			{s.Left.Sources, "sources", "did not fit the cap"},
		} {
			if row.n > 0 {
				table.Row(report.None, s.PerspectiveID, row.n, row.what, row.why)
			}
		}
	}
	if len(table.Rows) == 0 {
		return []report.Block{report.Paragraph("Nothing.")}
	}
	return []report.Block{table}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// async calls f concurrently. The function that it returns gives the caller what f
// returns, or its panic.
func async[T any](f func() (T, error)) func() (T, error) {
	var (
		value    T
		err      error
		panicked any
		done     sync.WaitGroup
	)
	done.Go(func() {
		defer func() { panicked = recover() }()
		value, err = f()
	})
	return func() (T, error) {
		done.Wait()
		if panicked != nil {
			panic(panicked)
		}
		return value, err
	}
}
