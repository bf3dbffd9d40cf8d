package wave

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/perspective"
	"github.com/tidegate/tidegate/run"
)

// IngestRequest are the arguments of [Ingest].
type IngestRequest struct {
	ManifestPath     string
	PerspectivesPath string
	Wave             string // wave1 or wave2
	Outputs          []Submission
}

// Submission is one output that an agent handed in.
type Submission struct {
	PerspectiveID string
	Markdown      string
	ToolUsage     *codec.Value // calls by tool, nil when the agent reported none
}

// IngestResult is the result of [Ingest].
type IngestResult struct {
	OK               codec.True `json:"ok"`
	ManifestPath     string     `json:"manifest_path" jsonschema:"echo of the argument"`
	PerspectivesPath string     `json:"perspectives_path" jsonschema:"echo of the argument"`
	Wave             string     `json:"wave" jsonschema:"echo of the argument"`
	RunRoot          string     `json:"run_root"`
	WrittenCount     int        `json:"written_count"`
	ValidatedCount   int        `json:"validated_count"`
	Outputs          []Ingested `json:"outputs" jsonschema:"what was written, in the order of the argument"`
}

// Ingested is one output that was taken in.
type Ingested struct {
	PerspectiveID string `json:"perspective_id"`
	MarkdownPath  string `json:"markdown_path"`
}

// idsPerLine keeps the lines of a large wave short enough for the audit log.
const idsPerLine = 1000

// Ingest takes outputs into a run: each is judged by its contract and its tool
// budget first, and either all are written, in one transaction, or none. An
// output that is refused is an error of class [tidegate.NotMet] with
// perspective_id and markdown_path before the judge's own details.
//
// It also returns INVALID_ARGS, NOT_FOUND, READ_FAILED, INVALID_JSON,
// SCHEMA_VALIDATION_FAILED, INVALID_STATE (another run's perspectives, or a run that is final),
// INVALID_WAVE_DIR, WAVE_DIR_SYMLINK, PATH_TRAVERSAL, DUPLICATE_PERSPECTIVE_ID,
// PERSPECTIVE_NOT_FOUND, INVALID_TOOL_BUDGET, INVALID_TOOL_USAGE, LOCK_HELD and WRITE_FAILED.
func Ingest(ctx context.Context, clock run.Clock, req IngestRequest) (IngestResult, error) {
	opened, err := run.Open(ctx, req.ManifestPath)
	if err != nil {
		return IngestResult{}, err
	}
	defer opened.Close()
	doc, err := perspective.Read(ctx, "perspectives_path", req.PerspectivesPath, perspective.Contracts)
	if err != nil {
		return IngestResult{}, err
	}
	if err := sameRun(opened.ID(), "perspectives_run_id", doc.RunID); err != nil {
		return IngestResult{}, err
	}
	dir := opened.Layout().Wave1Dir
	if req.Wave == "wave2" {
		dir = opened.Layout().Wave2Dir
	}
	if err := checkWaveDir(opened, req.Wave, dir); err != nil {
		return IngestResult{}, err
	}
	result := IngestResult{ManifestPath: req.ManifestPath, PerspectivesPath: req.PerspectivesPath, Wave: req.Wave, RunRoot: opened.Root()}
	_, err = opened.Update(ctx, clock, func(u *run.Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		judge, seen := new(Judge), map[string]bool{}
		for i, output := range req.Outputs {
			p, err := submitted(doc, output, i, seen)
			if err != nil {
				return err
			}
			name := path.Join(dir, output.PerspectiveID+".md")
			if err := take(ctx, u, judge, p, output, name, opened.Path(name)); err != nil {
				return err
			}
			result.Outputs = append(result.Outputs, Ingested{output.PerspectiveID, opened.Path(name)})
		}
		result.WrittenCount, result.ValidatedCount = len(result.Outputs), len(result.Outputs)
		ids := make([]string, len(result.Outputs))
		for i, o := range result.Outputs {
			ids[i] = o.PerspectiveID
		}
		for part := range slices.Chunk(ids, idsPerLine) {
			u.Audit("wave_output_ingest", tidegate.D("wave", req.Wave, "perspective_ids", part))
		}
		return u.Progress("wave_output_ingest", req.Wave+"_outputs_ingested:"+strconv.Itoa(len(ids)))
	})
	return result, err
}

// submitted finds the perspective that an output was written for.
func submitted(doc *perspective.Document, output Submission, i int, seen map[string]bool) (*perspective.Perspective, error) {
	id := output.PerspectiveID
	switch {
	case strings.TrimSpace(output.Markdown) == "":
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("index", i, "perspective_id", tidegate.Cut(id)), "the markdown of output %d must not be blank", i)
	case strings.ContainsAny(id, `/\`) || id == "." || id == "..":
		return nil, tidegate.Errorf(tidegate.PathTraversal, tidegate.D("index", i, "perspective_id", tidegate.Cut(id)), "the perspective id of output %d would leave the folder of the wave", i)
	case seen[id]:
		return nil, tidegate.Errorf(tidegate.DuplicatePerspectiveID, tidegate.D("perspective_id", id), "there are two outputs for perspective %q", tidegate.Cut(id))
	}
	seen[id] = true
	p, ok := doc.Find(id)
	if !ok {
		return nil, tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.D("perspective_id", id), "the perspectives list no %q", tidegate.Cut(id))
	}
	return p, nil
}

// take judges one output and stages it with its sidecar. The sidecar of an
// earlier attempt never counts: it is replaced, or removed when this attempt
// brought none.
func take(ctx context.Context, u *run.Update, judge *Judge, p *perspective.Perspective, output Submission, name, markdownPath string) error {
	refused := func(err error) error {
		return tidegate.WithDetails(err, append(tidegate.D("perspective_id", p.ID, "markdown_path", markdownPath), tidegate.AsError(err).Details...))
	}
	verdict, err := judge.Judge(ctx, p.Contract, strings.NewReader(output.Markdown))
	if err != nil {
		return err
	}
	if faults := Refusals(verdict, p.Contract, []byte(output.Markdown)); len(faults) > 0 {
		return refused(faults[0].Error)
	}
	if err := checkToolUsage(p.ToolBudget, output.ToolUsage); err != nil {
		return refused(err)
	}
	if err := u.Write(name, []byte(output.Markdown)); err != nil {
		return err
	}
	sidecar := sidecarOf(name)
	if output.ToolUsage == nil {
		return u.Remove(sidecar)
	}
	return u.WriteJSON(sidecar, tidegate.D("schema_version", SidecarVersion, "ingested_at", u.Now(), "tool_usage", output.ToolUsage))
}

// checkWaveDir demands a plain relative folder inside the run that is no link.
func checkWaveDir(opened *run.Run, wave, dir string) error {
	details := tidegate.D("wave", wave, "wave_dir", dir)
	for _, segment := range strings.Split(dir, "/") {
		if strings.TrimSpace(segment) == "" || segment == "." || strings.Contains(segment, "..") {
			return tidegate.Errorf(tidegate.InvalidWaveDir, details, "the manifest's folder for %s, %q, is not a plain relative path", wave, tidegate.Cut(dir))
		}
	}
	linked, err := opened.Folder().IsLink(dir)
	switch {
	case err != nil:
		return err
	case linked:
		return tidegate.Errorf(tidegate.WaveDirSymlink, details, "the folder of %s, %q, is a symbolic link", wave, tidegate.Cut(dir))
	}
	return nil
}
