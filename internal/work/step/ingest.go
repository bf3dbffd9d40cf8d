package step

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/wave"
)

// IngestInput are the arguments of [Ingest].
type IngestInput struct {
	ManifestPath     string       `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	PerspectivesPath string       `json:"perspectives_path" path:"absolute" jsonschema:"absolute path of the run's contracts; a run judges by its own, whatever this names"`
	Wave             string       `json:"wave" jsonschema:"the wave that the outputs belong to" enum:"wave1,wave2"`
	Outputs          []Submission `json:"outputs" jsonschema:"what the agents wrote" minitems:"1" extra:"ignore"`
}

// Submission is one output that an agent handed in. The face that accepts a
// MarkdownPath reads the file: [Ingest] takes texts.
type Submission struct {
	PerspectiveID string       `json:"perspective_id" jsonschema:"the perspective that the output was written for"`
	Markdown      string       `json:"markdown,omitzero" jsonschema:"the whole output"`
	MarkdownPath  string       `json:"markdown_path,omitzero" path:"absolute" jsonschema:"absolute path of a file with the whole output, instead of markdown"`
	ToolUsage     *codec.Value `json:"tool_usage,omitzero" holds:"object" jsonschema:"how often the agent called each tool: an object of numbers"`
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

// Ingest is the tool deep_research_wave_output_ingest: it takes outputs into a
// run in the stage of their wave. Each is judged first, by the run's own
// contract, by [Refusals] and by its tool budget. Either all are written, in one
// transaction, or none. The run keeps a copy of what it took. An output that is
// refused is an error of class [tidegate.NotMet] with perspective_id and
// markdown_path before the judge's own details.
//
// It also returns INVALID_ARGS, PATH_TRAVERSAL, DUPLICATE_PERSPECTIVE_ID,
// NOT_FOUND, READ_FAILED, INVALID_JSON, SCHEMA_VALIDATION_FAILED, INVALID_STATE,
// STAGE_MISMATCH, INVALID_WAVE_DIR, WAVE_DIR_SYMLINK, PERSPECTIVE_NOT_FOUND,
// JOB_NOT_OPEN (an agent holds the job of an output, or did it),
// INVALID_TOOL_BUDGET, INVALID_TOOL_USAGE, TAMPERED, LOCK_HELD and WRITE_FAILED.
func Ingest(ctx context.Context, desk run.Desk, in IngestInput) (IngestResult, error) {
	if err := checkSubmissions(in.Outputs); err != nil {
		return IngestResult{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, result *IngestResult) error {
		stage := run.Stage(in.Wave)
		if err := InStage(r.Manifest(), stage); err != nil {
			return err
		}
		if err := checkWaveDir(r, in.Wave, r.WaveDir(stage)); err != nil {
			return err
		}
		contracts, digest, err := contractsForIngest(r, stage)
		if err != nil {
			return err
		}
		if err := judgeSubmissions(r, stage, contracts, in.Outputs); err != nil {
			return err
		}
		*result = IngestResult{ManifestPath: in.ManifestPath, PerspectivesPath: in.PerspectivesPath, Wave: in.Wave, RunRoot: r.Root()}
		_, err = r.Update(ctx, run.Unfinished(func(u *run.Update) error {
			if err := InStage(u.Manifest(), stage); err != nil {
				return err
			}
			if _, now, err := contractsForIngest(r, stage); err != nil || now != digest {
				return cmp.Or(err, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("perspectives_path", r.Path(r.ContractsOf(stage))),
					"the contracts changed while the outputs were judged; hand them in again"))
			}
			for _, output := range in.Outputs {
				if err := jobIsFree(r, desk.Now(), run.WaveJob(stage, output.PerspectiveID)); err != nil {
					return err
				}
				name := r.Output(stage, output.PerspectiveID)
				if err := take(u, output, name); err != nil {
					return err
				}
				result.Outputs = append(result.Outputs, Ingested{output.PerspectiveID, r.Path(name)})
			}
			result.WrittenCount, result.ValidatedCount = len(result.Outputs), len(result.Outputs)
			ids := make([]string, len(result.Outputs))
			for i, o := range result.Outputs {
				ids[i] = o.PerspectiveID
			}
			for part := range slices.Chunk(ids, idsPerLine) {
				u.Log(run.EventIngested, "wave_output_ingest", tidegate.Pairs("wave", in.Wave, "perspective_ids", part))
			}
			return nil
		}))
		return err
	})
}

// jobIsFree returns JOB_NOT_OPEN for a job that an agent holds, or whose answer
// was accepted: then the output has an owner.
func jobIsFree(r *run.Run, now time.Time, jobID string) error {
	lease, err := r.Jobs().Lease(jobID)
	if err != nil {
		return err
	}
	if lease.Lives(now) {
		return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", jobID, "holder", lease.Holder, "expires_at", lease.ExpiresAt),
			"the job %s is leased to %s until %s", jobID, tidegate.Cut(lease.Holder), lease.ExpiresAt)
	}
	accepted, err := r.Jobs().Accepted(jobID)
	if err != nil || !accepted {
		return err
	}
	return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", jobID, "state", "accepted"),
		"the job %s has an accepted answer, which is the output", jobID)
}

// TakeOutput stages one output that was judged, as [Ingest] does: in the stage of
// its wave, with a copy of what was taken. It returns INVALID_STATE and
// STAGE_MISMATCH.
func TakeOutput(u *run.Update, wave run.Stage, output Submission) error {
	if err := TakesIn(u, wave); err != nil {
		return err
	}
	u.Log(run.EventIngested, "wave_output_ingest", tidegate.Pairs("wave", wave, "perspective_ids", []string{output.PerspectiveID}))
	return take(u, output, u.Run().Output(wave, output.PerspectiveID))
}

// checkSubmissions looks at the arguments alone, before anything is read.
func checkSubmissions(outputs []Submission) error {
	seen := map[string]bool{}
	for i, output := range outputs {
		id := output.PerspectiveID
		switch {
		case strings.ContainsAny(id, `/\`) || id == "." || id == "..":
			return tidegate.Errorf(tidegate.PathTraversal, tidegate.Pairs("index", i, "perspective_id", tidegate.Cut(id)), "the perspective id of output %d would leave the folder of the wave", i)
		case strings.TrimSpace(output.Markdown) == "":
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("index", i, "perspective_id", tidegate.Cut(id)), "the markdown of output %d must not be blank", i)
		case seen[id]:
			return tidegate.Errorf(tidegate.DuplicatePerspectiveID, tidegate.Pairs("perspective_id", id), "there are two outputs for perspective %q", tidegate.Cut(id))
		}
		seen[id] = true
	}
	return nil
}

// contractsForIngest reads the run's own contracts of a wave, and the digest of
// what they say.
func contractsForIngest(r *run.Run, stage run.Stage) (WaveContracts, string, error) {
	contracts, err := ReadContracts(r, stage)
	if err != nil {
		return contracts, "", err
	}
	if err := sameRun(r.ID(), "perspectives_run_id", contracts.Doc.RunID); err != nil {
		return contracts, "", err
	}
	data, err := r.Folder().Read(contracts.Name)
	return contracts, codec.DigestBytes(data), err
}

// judgeSubmissions judges every output before the lock is taken, and returns
// the first refusal.
func judgeSubmissions(r *run.Run, stage run.Stage, contracts WaveContracts, outputs []Submission) error {
	judge := new(wave.Judge)
	for _, output := range outputs {
		p, ok := contracts.Doc.Find(output.PerspectiveID)
		if !ok {
			return tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.Pairs("perspective_id", output.PerspectiveID),
				"the perspectives list no %q", tidegate.Cut(output.PerspectiveID))
		}
		faults, err := faultsOf(judge, p, output)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			err := faults[0].Error
			path := r.Path(r.Output(stage, p.ID))
			return tidegate.WithDetails(err, append(tidegate.Pairs("perspective_id", p.ID, "markdown_path", path), err.Details...))
		}
	}
	return nil
}

// faultsOf is everything for which an output is refused, beginning with the fault
// that [Ingest] returns.
func faultsOf(judge *wave.Judge, p *wave.Perspective, output Submission) ([]wave.Fault, error) {
	verdict, err := judge.Judge(p.Contract, strings.NewReader(output.Markdown))
	if err != nil {
		return nil, err
	}
	faults := Refusals(*p, verdict, []byte(output.Markdown))
	if err := wave.CheckToolUsage(p.ToolBudget, output.ToolUsage); err != nil {
		faults = append(faults, wave.Fault{Error: tidegate.AsError(err)})
	}
	return faults, nil
}

// RefusedOutputs shows every fault of outputs that [Ingest] refuses, at the places
// where they were read. It returns the errors of reading the run's contracts.
func RefusedOutputs(ctx context.Context, desk run.Desk, in IngestInput) (report.Report, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *report.Report) error {
		contracts, _, err := contractsForIngest(r, run.Stage(in.Wave))
		if err != nil {
			return err
		}
		refused, judge := 0, new(wave.Judge)
		table := report.NewTable("Perspective", "What is wrong", "Where")
		var notes report.Bullets
		for _, output := range in.Outputs {
			p, ok := contracts.Doc.Find(output.PerspectiveID)
			if !ok {
				continue
			}
			faults, err := faultsOf(judge, p, output)
			if err != nil {
				return err
			}
			if len(faults) == 0 {
				table.Row(report.Pass, p.ID, "", report.Place{File: output.MarkdownPath})
				continue
			}
			refused++
			for i, f := range faults {
				name, status := p.ID, report.Fail
				if i > 0 {
					name, status = "", report.None
				}
				table.Row(status, name, f.Message(), report.Place{File: output.MarkdownPath, Line: f.Line})
				if f.ChangeNote != "" {
					notes = append(notes, p.ID+": "+f.ChangeNote)
				}
			}
		}
		*out = report.Report{Name: "wave_output_ingest", Title: "Outputs for run " + r.ID(), Status: report.Fail,
			Summary: strconv.Itoa(refused) + " of " + report.Counted(len(in.Outputs), "output") + " refused; none was taken."}
		out.Add(table, report.Heading("What to change"), notes)
		return nil
	})
}

// take stages one output with its sidecar, and the copy that says what was
// taken. The sidecar of an earlier attempt never counts: it is replaced, or
// removed when this attempt brought none.
func take(u *run.Update, output Submission, name string) error {
	for _, target := range []string{name, run.Accepted(name)} {
		u.Write(target, []byte(output.Markdown))
	}
	if output.ToolUsage == nil {
		return u.Remove(run.Sidecar(name))
	}
	return u.WriteJSON(run.Sidecar(name), tidegate.Pairs("schema_version", wave.SidecarVersion, "ingested_at", u.Now(), "tool_usage", output.ToolUsage))
}

// checkWaveDir demands a plain relative folder inside the run that is not a link.
func checkWaveDir(r *run.Run, wave, dir string) error {
	details := tidegate.Pairs("wave", wave, "wave_dir", dir)
	for _, segment := range strings.Split(dir, "/") {
		if strings.TrimSpace(segment) == "" || segment == "." || strings.Contains(segment, "..") {
			return tidegate.Errorf(tidegate.InvalidWaveDir, details, "the manifest's folder for %s, %q, is not a plain relative path", wave, tidegate.Cut(dir))
		}
	}
	linked, err := r.Folder().IsLink(dir)
	switch {
	case err != nil:
		return err
	case linked:
		return tidegate.Errorf(tidegate.WaveDirSymlink, details, "the folder of %s, %q, is a symbolic link", wave, tidegate.Cut(dir))
	}
	return nil
}

// RestoreInput are the arguments of [Restore].
type RestoreInput struct {
	ManifestPath  string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	PerspectiveID string `json:"perspective_id" jsonschema:"the perspective whose output is put back"`
	Reason        string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
}

// RestoreResult is the result of [Restore].
type RestoreResult struct {
	OK            codec.True `json:"ok"`
	RunID         string     `json:"run_id"`
	PerspectiveID string     `json:"perspective_id"`
	Wave          run.Stage  `json:"wave"`
	MarkdownPath  string     `json:"markdown_path"`
}

// Restore puts back the output of a perspective as the run took it. It is a
// person's decision. It returns the errors of [run.Open] and [run.Run.Update],
// NOT_FOUND when the run took no output of that perspective, and TAMPERED when
// its copy was changed.
func Restore(ctx context.Context, desk run.Desk, in RestoreInput) (RestoreResult, error) {
	if fault := wave.IDFault(in.PerspectiveID); fault != "" {
		return RestoreResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("perspective_id", tidegate.Cut(in.PerspectiveID)), "perspective_id %s", fault)
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *RestoreResult) error {
		*out = RestoreResult{RunID: r.ID(), PerspectiveID: in.PerspectiveID}
		decision := run.Decision{What: "restore output", Fields: tidegate.Pairs("perspective_id", in.PerspectiveID, "reason", run.Note(in.Reason))}
		_, err := r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
			recorded, err := r.Recorded()
			if err != nil {
				return err
			}
			for _, stage := range []run.Stage{run.Wave2, run.Wave1} {
				name := r.Output(stage, in.PerspectiveID)
				data, err := r.Folder().Read(run.Accepted(name))
				if tidegate.CodeOf(err) == tidegate.FileNotFound {
					continue
				}
				if err != nil {
					return err
				}
				if recorded[run.Accepted(name)] != codec.DigestBytes(data) {
					return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("changed", []string{run.Accepted(name)}),
						"the copy of what the run took was changed: %s; see `tidegate run verify`", run.Accepted(name))
				}
				out.Wave, out.MarkdownPath = stage, r.Path(name)
				u.Log(run.EventRestored, "wave_output_restore", tidegate.Pairs("wave", stage, "perspective_id", in.PerspectiveID, "reason", run.Note(in.Reason)))
				return u.Write(name, data)
			}
			return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("perspective_id", in.PerspectiveID),
				"the run has taken no output of perspective %q", in.PerspectiveID)
		}))
		return err
	})
}

// Report lists what was taken in.
func (i IngestResult) Report() report.Report {
	r := report.Report{Name: "wave_output_ingest", Title: "Outputs taken into " + i.Wave, Status: report.Pass, Summary: report.Counted(i.WrittenCount, "output") + " met the contract and went into the run"}
	table := report.NewTable("Perspective", "File")
	for _, o := range i.Outputs {
		table.Row(report.Pass, o.PerspectiveID, report.Place{File: o.MarkdownPath})
	}
	r.Add(table)
	return r
}

// Report shows what was put back.
func (r RestoreResult) Report() report.Report {
	out := report.Report{Name: "wave_restore", Title: "run " + r.RunID, Status: report.Pass, Summary: "the output of " + r.PerspectiveID + " is as the run took it"}
	out.Add(report.Fields{{Name: "file", Value: r.MarkdownPath}})
	return out
}

// TakeSummary stages the summary of a perspective that was judged. It returns
// INVALID_STATE and STAGE_MISMATCH.
func TakeSummary(u *run.Update, perspectiveID string, text []byte) error {
	if err := TakesIn(u, run.Summaries); err != nil {
		return err
	}
	return u.Write(u.Run().Summary(perspectiveID), text)
}

// Refusals is everything that keeps a run from taking an output, apart from its use
// of tools: the faults of its verdict, what a reader cannot see, and gaps that
// cannot be read. They are in the order of judgement.
func Refusals(p wave.Perspective, verdict wave.Verdict, output []byte) []wave.Fault {
	return append(wave.Refusals(verdict, p.Contract, output), pivot.CheckGaps(output)...)
}

// OwnFile returns PATH_NOT_ALLOWED for a given path that is not that of the run's
// own file of that name.
func OwnFile(r *run.Run, arg, path, name string) error {
	if path == "" {
		return nil
	}
	if given, err := r.Name(arg, path); err != nil || given == name {
		return err
	}
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path, "run_root", r.Root()), "the run keeps this in %s and nowhere else", r.Path(name))
}

// NameOr is the name of a given path in the run, and that of the run's own file where
// none is given. It returns PATH_NOT_ALLOWED for a path outside the run.
func NameOr(r *run.Run, arg, path, own string) (string, error) {
	if path == "" {
		return own, nil
	}
	return r.Name(arg, path)
}

// ReadDocument reads a JSON document of the run. It returns NOT_FOUND,
// READ_FAILED and INVALID_JSON with its path under arg.
func ReadDocument(r *run.Run, arg, name string) (*codec.Value, error) {
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs(arg, r.Path(name)))
	}
	return codec.ParseFile(arg, r.Path(name), data)
}

// Existing are those of some files that the run has: a gate cannot be bound to a file
// that may be missing.
func Existing(r *run.Run, names ...string) (there []string, err error) {
	for _, name := range names {
		exists, err := r.Folder().Exists(name)
		if err != nil {
			return nil, err
		}
		if exists {
			there = append(there, name)
		}
	}
	return there, nil
}

// WaveContracts are the contracts of one wave.
type WaveContracts struct {
	Wave run.Stage
	Name string // of the document
	Doc  *wave.Perspectives
}

// ReadContracts reads the contracts of a wave, where the run keeps them and
// nowhere else. It returns NOT_FOUND, READ_FAILED, INVALID_JSON and
// SCHEMA_VALIDATION_FAILED.
func ReadContracts(r *run.Run, of run.Stage) (WaveContracts, error) {
	c := WaveContracts{Wave: of, Name: r.ContractsOf(of)}
	data, err := r.Folder().Read(c.Name)
	if err != nil {
		return c, tidegate.WithDetails(err, tidegate.Pairs("perspectives_path", r.Path(c.Name)))
	}
	c.Doc, err = wave.ParsePerspectives(data, wave.Contracts)
	var syntax *codec.SyntaxError
	if errors.As(err, &syntax) {
		err = codec.NotJSON(tidegate.Pairs("perspectives_path", r.Path(c.Name)), c.Name, syntax)
	}
	return c, err
}

// Contracts reads the run's own contracts of a wave, and the digest of their
// file. It returns the errors of reading them, and INVALID_STATE for those of
// another run.
func Contracts(r *run.Run, of run.Stage) (*wave.Perspectives, string, error) {
	contracts, digest, err := contractsForIngest(r, of)
	return contracts.Doc, digest, err
}

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
