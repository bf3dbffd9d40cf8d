package step

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
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
	for _, s := range p.summaries.Made {
		if err := ctx.Err(); err != nil {
			return err
		}
		u.Write(s.SummaryMD, s.Data)
	}
	data, err := pack()
	if err != nil {
		return err
	}
	u.Write(p.packName, data)
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

// packPlan is a build of which everything is checked and nothing written.
type packPlan struct {
	req PackInput
	run *run.Run

	perspectives []wave.Perspective
	foreignRun   string // the run that the perspectives say they belong to, when it is another one

	packPath, summariesPath string // absolute
	packName, summariesDir  string // in the run's folder

	summaries synthesis.Summaries
	digest    string
}

func newPackPlan(ctx context.Context, r *run.Run, manifest run.Manifest, req PackInput) (*packPlan, error) {
	p := &packPlan{req: req, run: r}
	limits := &p.summaries.Limits
	limits.MaxSummaryKB, _ = manifest.Limit("max_summary_kb")
	limits.MaxTotalSummaryKB, _ = manifest.Limit("max_total_summary_kb")
	if err := limits.Check(); err != nil {
		return nil, err
	}
	if err := p.placeTargets(); err != nil {
		return nil, err
	}
	perspectivesDigest, err := p.readPerspectives(manifest.ID())
	if err != nil {
		return nil, err
	}
	for _, each := range p.perspectives {
		p.summaries.Made = append(p.summaries.Made, synthesis.MadeSummary{Summary: synthesis.Summary{
			PerspectiveID: each.ID, SourceArtifact: each.SourceArtifact, SummaryMD: path.Join(p.summariesDir, each.ID+".md"),
		}})
	}
	if err := p.guardTargets(); err != nil {
		return nil, err
	}
	if err := p.readPool(ctx); err != nil {
		return nil, err
	}
	if req.Mode == PackGenerated {
		err = p.generate(ctx)
	} else {
		err = p.readGiven(ctx)
	}
	if err != nil {
		return nil, err
	}
	p.digest = p.summaries.Digest(req.Mode, codec.Digest(manifest.Doc()), perspectivesDigest)
	return p, nil
}

// placeTargets finds out where the pack and the summaries go. It returns
// PATH_NOT_ALLOWED for a place outside the run.
func (p *packPlan) placeTargets() error {
	layout := p.run.Layout()
	p.packPath = p.given(p.req.SummaryPackPath, layout.SummaryPack)
	p.summariesPath = p.given(p.req.SummariesDir, layout.SummariesDir)
	if trimmed := strings.TrimRight(p.summariesPath, string(filepath.Separator)); trimmed != "" {
		p.summariesPath = trimmed
	}
	var err error
	if p.packName, err = p.run.Name("summary_pack_path", p.packPath); err != nil {
		return err
	}
	p.summariesDir, err = p.run.Name("summaries_dir", p.summariesPath)
	return err
}

// given is the path that was given, or that of a name in the run.
func (p *packPlan) given(path, name string) string {
	if path != "" {
		return path
	}
	return p.run.Path(name)
}

// input is the path of a file to read: as given, or by default where the
// manifest says, which must be in the run.
func (p *packPlan) input(arg, path, name string) (string, error) {
	if path != "" {
		return path, nil
	}
	path = p.run.Path(name)
	_, err := p.run.Name(arg, path)
	return path, err
}

// readPerspectives reads the perspectives and returns the digest of the
// document.
func (p *packPlan) readPerspectives(runID string) (digest string, err error) {
	path, err := p.input("perspectives_path", p.req.PerspectivesPath, p.run.Layout().Perspectives)
	if err != nil {
		return "", err
	}
	data, err := p.run.Desk().Reach.ReadDocument("perspectives_path", path)
	if err != nil {
		return "", err
	}
	tree, doc, err := parsePerspectives(path, data)
	if err != nil {
		return "", err
	}
	if len(doc.List) == 0 {
		return "", tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$.perspectives"),
			"$.perspectives is empty; a pack needs at least one perspective")
	}
	p.perspectives = doc.List
	isRun, err := p.run.Folder().Exists(p.run.Layout().Gates)
	if err != nil {
		return "", err
	}
	for i := range p.perspectives {
		each := &p.perspectives[i]
		if each.SourceArtifact == "" || isRun { // a run knows where its outputs lie
			each.SourceArtifact = p.run.Output(run.Wave1, each.ID)
		}
	}
	if doc.RunID != runID {
		p.foreignRun = doc.RunID
	}
	if p.req.PerspectivesPath != "" || !isRun {
		return codec.Digest(tree), nil
	}
	return p.addSecondWave(tree)
}

func parsePerspectives(path string, data []byte) (*codec.Value, *wave.Perspectives, error) {
	tree, err := codec.ParseFile("perspectives_path", path, data)
	if err != nil {
		return nil, nil, err
	}
	doc, err := wave.PerspectivesOf(tree, wave.Artifacts)
	return tree, doc, err
}

// addSecondWave adds the perspectives of the second wave of a run that had one,
// and returns the digest of both documents.
func (p *packPlan) addSecondWave(first *codec.Value) (digest string, err error) {
	waves, err := p.run.Waves()
	if err != nil || len(waves) < 2 {
		return codec.Digest(first), err
	}
	path := p.run.Path(p.run.ContractsOf(run.Wave2))
	data, err := p.run.Folder().Read(p.run.ContractsOf(run.Wave2))
	if err != nil {
		return "", err
	}
	tree, doc, err := parsePerspectives(path, data)
	if err != nil {
		return "", err
	}
	for _, each := range doc.List {
		each.SourceArtifact = p.run.Output(run.Wave2, each.ID)
		p.perspectives = append(p.perspectives, each)
	}
	slices.SortFunc(p.perspectives, func(a, b wave.Perspective) int { return strings.Compare(a.ID, b.ID) })
	return codec.Digest(codec.Of([]*codec.Value{first, tree})), nil
}

// guardTargets refuses targets that would replace what the run consists of, or
// each other.
func (p *packPlan) guardTargets() error {
	own := map[string]bool{}
	for _, name := range p.run.DocumentsBeside("summary_pack_file") {
		own[name] = true
	}
	for arg, path := range map[string]string{
		"perspectives_path": p.req.PerspectivesPath, "citations_path": p.req.CitationsPath,
	} {
		if name, err := p.run.Name(arg, path); path != "" && err == nil {
			own[name] = true
		}
	}
	for _, each := range p.perspectives {
		own[filepath.ToSlash(filepath.Clean(each.SourceArtifact))] = true
	}
	if own[p.packName] {
		return p.notAllowed("summary_pack_path", p.packPath, p.packName)
	}
	for _, m := range p.summaries.Made {
		switch {
		case own[m.SummaryMD]:
			return p.notAllowed("summaries_dir", p.summariesPath, m.SummaryMD)
		case m.SummaryMD == p.packName:
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("summary_pack_path", p.packPath),
				"summary_pack_path is also where the summary of %s goes", m.PerspectiveID)
		}
	}
	return nil
}

func (p *packPlan) notAllowed(arg, path, name string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path, "run_root", p.run.Root()),
		"%s would replace %s, which belongs to the run", arg, name)
}

func (p *packPlan) readPool(ctx context.Context) error {
	path, err := p.input("citations_path", p.req.CitationsPath, p.run.Layout().Citations)
	if err != nil {
		return err
	}
	file, err := p.run.Desk().Reach.OpenFile("citations_path", path)
	if err != nil {
		return err
	}
	defer file.Close()
	var wanted func(string) bool
	if p.req.Mode == PackGenerated {
		if wanted, err = p.namedURLs(ctx); err != nil {
			return err
		}
	}
	p.summaries.Pool, err = source.ReadPool(ctx, file, path, wanted)
	return err
}

// namedURLs says, by their keys, which URLs the wave outputs name. An output that
// cannot be read names none here, and is refused when its summary is made.
func (p *packPlan) namedURLs(ctx context.Context) (func(key string) bool, error) {
	var lock sync.Mutex
	named := map[string]bool{}
	err := parallel.Each(ctx, len(p.perspectives), nil, func() func(int) error {
		var scanner markdown.Scanner
		return func(i int) error {
			if file, err := p.run.Folder().Open(p.perspectives[i].SourceArtifact); err == nil {
				defer file.Close()
				keys := map[string]bool{}
				_ = synthesis.AddNamedURLs(keys, &scanner, artifact.Until(ctx, file))
				lock.Lock()
				defer lock.Unlock()
				maps.Copy(named, keys)
			}
			return nil
		}
	})
	return func(key string) bool { return named[key] }, err
}

// readGiven reads the summaries that are given as files.
func (p *packPlan) readGiven(ctx context.Context) error {
	byRule := map[string][]byte{}
	if p.req.ByRule {
		var err error
		if byRule, err = SummariesByRule(ctx, p.run); err != nil {
			return err
		}
	}
	if len(byRule) < len(p.perspectives) {
		folder, err := p.run.Desk().Reach.Open("fixture_summaries_dir", p.req.FixtureSummariesDir)
		if err != nil {
			return err
		}
		folder.Close()
	}
	err := parallel.Each(ctx, len(p.perspectives), p.req.Progress, func() func(int) error {
		return func(i int) error {
			data, err := byRule[p.perspectives[i].ID], error(nil)
			if data == nil {
				data, err = p.readSummary(ctx, p.perspectives[i].ID)
			}
			if err != nil {
				return err
			}
			return p.summaries.Take(i, data)
		}
	})
	if err != nil {
		return err
	}
	return p.summaries.Fit()
}

// mostOfASummary is how much of a file is looked at, whatever the cap: what is
// longer is refused without a look at the rest.
const mostOfASummary = 4 << 20

func (p *packPlan) readSummary(ctx context.Context, id string) ([]byte, error) {
	path := filepath.Join(p.req.FixtureSummariesDir, id+".md")
	details := tidegate.Pairs("perspective_id", id, "fixture_file", path)
	file, err := p.run.Desk().Reach.OpenFile("fixture_file", path)
	if err != nil {
		return nil, tidegate.WithDetails(err, details)
	}
	defer file.Close()
	most := max(p.summaries.Limits.SummaryBytes(), mostOfASummary)
	data, err := io.ReadAll(io.LimitReader(artifact.Until(ctx, file), int64(most)+1))
	if err != nil {
		return nil, wave.Unreadable(details, path, err)
	}
	return data, nil
}

// generate makes the summaries from the wave outputs.
func (p *packPlan) generate(ctx context.Context) error {
	drafts := make([]*synthesis.SummaryDraft, len(p.perspectives))
	err := parallel.Each(ctx, len(drafts), nil, func() func(int) error {
		w := synthesis.SummaryWriter{Pool: p.summaries.Pool}
		return func(i int) (err error) {
			drafts[i], err = p.readSource(ctx, &w, p.perspectives[i])
			return err
		}
	})
	if err != nil {
		return err
	}
	return p.summaries.Generate(ctx, drafts, p.req.Progress)
}

// SummariesByRule are the summaries of a run that need no agent, by the ids of their
// perspectives: each finding of the output is in them, see [synthesis.SummaryDraft.Whole]. It
// returns the errors of [BuildPack]. An output that yields nothing has none.
func SummariesByRule(ctx context.Context, r *run.Run) (map[string][]byte, error) {
	p := &packPlan{req: PackInput{Mode: PackGenerated}, run: r}
	limits := &p.summaries.Limits
	limits.MaxSummaryKB, _ = r.Manifest().Limit("max_summary_kb")
	limits.MaxTotalSummaryKB, _ = r.Manifest().Limit("max_total_summary_kb")
	if _, err := p.readPerspectives(r.ID()); err != nil {
		return nil, err
	}
	if err := p.readPool(ctx); err != nil {
		return nil, err
	}
	limit := min(limits.SummaryBytes(), limits.TotalBytes()/max(1, len(p.perspectives)))
	made, w := map[string][]byte{}, synthesis.SummaryWriter{Pool: p.summaries.Pool}
	for _, each := range p.perspectives {
		draft, err := p.readSource(ctx, &w, each)
		if tidegate.ClassOf(tidegate.CodeOf(err)) == tidegate.Invalid {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text := draft.Whole(limit); text != nil {
			made[each.ID] = text
		}
	}
	return made, nil
}

// readSource makes a draft of the output of one perspective. It returns NOT_FOUND,
// READ_FAILED, PATH_NOT_ALLOWED, and SCHEMA_VALIDATION_FAILED when there is no
// text to make a draft of.
func (p *packPlan) readSource(ctx context.Context, w *synthesis.SummaryWriter, of wave.Perspective) (*synthesis.SummaryDraft, error) {
	details := tidegate.Pairs("perspective_id", of.ID, "source_artifact", of.SourceArtifact)
	file, err := p.run.Folder().Open(of.SourceArtifact)
	if err != nil {
		return nil, tidegate.WithDetails(err, details)
	}
	defer file.Close()
	d, err := w.Read(artifact.Until(ctx, file), p.summaries.Limits.SummaryBytes())
	switch {
	case err != nil:
		return nil, wave.Unreadable(details, of.SourceArtifact, err)
	case d.Empty():
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, details,
			"%s has no list item or paragraph outside Sources and Gaps, and no source that the citation pool maps", of.SourceArtifact)
	}
	return d, nil
}
