package summary

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/perspective"
)

// plan is a build of which everything is checked and nothing written.
type plan struct {
	req    Input
	run    *run.Run
	limits Limits
	pool   *source.Pool

	perspectives []perspective.Perspective
	foreignRun   string // the run that the perspectives say they belong to, when it is another one

	packPath, summariesPath string // absolute
	packName, summariesDir  string // in the run's folder

	made   []made
	total  int // bytes of all summaries
	digest string
}

// made is one summary that has passed its checks.
type made struct {
	entry      Summary
	data       []byte
	size       int
	claimCount int // all that there are
	cited      int // different citations
	left       leftOut
}

func newPlan(ctx context.Context, r *run.Run, manifest run.Manifest, req Input) (*plan, error) {
	p := &plan{req: req, run: r}
	var err error
	if p.limits, err = limitsOf(manifest); err != nil {
		return nil, err
	}
	if err := p.placeTargets(); err != nil {
		return nil, err
	}
	in := inputs{mode: req.Mode, manifestDigest: codec.Digest(manifest.Doc())}
	if in.perspectivesDigest, err = p.readPerspectives(ctx, manifest.ID()); err != nil {
		return nil, err
	}
	if err := p.guardTargets(); err != nil {
		return nil, err
	}
	if err := p.readPool(ctx); err != nil {
		return nil, err
	}
	if req.Mode == Generate {
		err = p.generate(ctx)
	} else {
		err = p.readFixtures(ctx)
	}
	if err != nil {
		return nil, err
	}
	in.cids, in.summaries = p.pool.CIDs(), p.made
	p.digest = in.digest()
	return p, nil
}

// placeTargets finds out where the pack and the summaries go. It returns
// PATH_NOT_ALLOWED for a place outside the run.
func (p *plan) placeTargets() error {
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
func (p *plan) given(path, name string) string {
	if path != "" {
		return path
	}
	return p.run.Path(name)
}

// input is the path of a file to read: as given, or by default where the
// manifest says, which must be in the run.
func (p *plan) input(arg, path, name string) (string, error) {
	if path != "" {
		return path, nil
	}
	path = p.run.Path(name)
	_, err := p.run.Name(arg, path)
	return path, err
}

// readPerspectives reads the perspectives and returns the digest of the
// document.
func (p *plan) readPerspectives(ctx context.Context, runID string) (digest string, err error) {
	path, err := p.input("perspectives_path", p.req.PerspectivesPath, p.run.Layout().Perspectives)
	if err != nil {
		return "", err
	}
	data, err := artifact.ReadDocument(ctx, "perspectives_path", path)
	if err != nil {
		return "", err
	}
	tree, doc, err := parsePerspectives(path, data)
	if err != nil {
		return "", err
	}
	if len(doc.Perspectives) == 0 {
		return "", tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.D("path", "$.perspectives"),
			"$.perspectives is empty; a pack needs at least one perspective")
	}
	p.perspectives = doc.Perspectives
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

func parsePerspectives(path string, data []byte) (*codec.Value, *perspective.Document, error) {
	tree, err := codec.ParseFile("perspectives_path", path, data)
	if err != nil {
		return nil, nil, err
	}
	doc, err := perspective.Of(tree, perspective.Artifacts)
	return tree, doc, err
}

// addSecondWave adds the perspectives of the second wave of a run that had one,
// and returns the digest of both documents.
func (p *plan) addSecondWave(first *codec.Value) (digest string, err error) {
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
	for _, each := range doc.Perspectives {
		each.SourceArtifact = p.run.Output(run.Wave2, each.ID)
		p.perspectives = append(p.perspectives, each)
	}
	slices.SortFunc(p.perspectives, func(a, b perspective.Perspective) int { return strings.Compare(a.ID, b.ID) })
	return codec.Digest(codec.Of([]*codec.Value{first, tree})), nil
}

// guardTargets refuses targets that would replace what the run consists of, or
// each other.
func (p *plan) guardTargets() error {
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
	for _, each := range p.perspectives {
		name := p.summaryName(each.ID)
		switch {
		case own[name]:
			return p.notAllowed("summaries_dir", p.summariesPath, name)
		case name == p.packName:
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("summary_pack_path", p.packPath),
				"summary_pack_path is also where the summary of %s goes", each.ID)
		}
	}
	return nil
}

func (p *plan) notAllowed(arg, path, name string) error {
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D(arg, path, "run_root", p.run.Root()),
		"%s would replace %s, which belongs to the run", arg, name)
}

func (p *plan) readPool(ctx context.Context) error {
	path, err := p.input("citations_path", p.req.CitationsPath, p.run.Layout().Citations)
	if err != nil {
		return err
	}
	file, err := artifact.OpenFile(ctx, "citations_path", path)
	if err != nil {
		return err
	}
	defer file.Close()
	var wanted func(string) bool
	if p.req.Mode == Generate {
		if wanted, err = p.namedURLs(ctx); err != nil {
			return err
		}
	}
	p.pool, err = source.ReadPool(ctx, file, path, wanted)
	return err
}

// sum adds up the sizes and checks them against the cap of the whole.
func (p *plan) sum() error {
	p.total = 0
	for _, s := range p.made {
		p.total += s.size
	}
	if p.total > p.limits.totalBytes() {
		return p.limits.totalTooLarge(p.total)
	}
	return nil
}

// sizes are the sizes of the summaries, sorted.
func (p *plan) sizes() []int {
	sizes := make([]int, len(p.made))
	for i, s := range p.made {
		sizes[i] = s.size
	}
	slices.Sort(sizes)
	return sizes
}
