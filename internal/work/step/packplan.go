package step

import (
	"context"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

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
