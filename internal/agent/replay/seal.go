package replay

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// What a sealed run holds beside the files of the run, which lie below inRun.
const (
	inRun          = "run/"
	sealedHTML     = "report.html"
	sealedMarkdown = "report.md"
)

// Seal puts a completed run into one signed file: its report, its evidence and its
// record, with a statement over their digests. A run that does not agree with its
// own record is not sealed.
//
// It returns INVALID_STATE for a run that is not completed, TAMPERED, the errors of
// [step.ReadReport] and [seal.Write], and READ_FAILED.
func Seal(ctx context.Context, r *run.Run, key *seal.Key, program string) ([]byte, error) {
	if err := r.CheckRecord(); err != nil {
		return nil, err
	}
	reported, err := step.ReadReport(ctx, r, false, program)
	if err != nil {
		return nil, err
	}
	files, err := runFiles(r)
	if err != nil {
		return nil, err
	}
	files = append(files, seal.File{Name: sealedHTML, Data: reported.Report.HTML()}, seal.File{Name: sealedMarkdown, Data: reported.Report.Markdown()})
	var out bytes.Buffer
	err = seal.Write(ctx, &out, key, files, codec.Of(tidegate.Pairs("run_id", r.ID(), "question", r.Manifest().Query(),
		"created_at", r.Manifest().Doc().Get("created_at"), "program", program, "sealed_at", r.Desk().Stamp())))
	return out.Bytes(), err
}

// runFiles are all files of a run except its locks.
func runFiles(r *run.Run) ([]seal.File, error) {
	var files []seal.File
	err := fs.WalkDir(r.Folder().FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !entry.Type().IsRegular() || strings.HasPrefix(name, ".tidegate") || name == ".lock" {
			return err
		}
		data, err := r.Folder().Read(name)
		files = append(files, seal.File{Name: inRun + name, Data: data})
		return err
	})
	if err != nil && tidegate.CodeOf(err) == tidegate.Internal {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", r.Root()), "the run cannot be read: %w", err)
	}
	return files, err
}

// Unsealed is the result of [Unseal].
type Unsealed struct {
	OK          codec.True    `json:"ok"`
	RunID       string        `json:"run_id"`
	Question    string        `json:"question"`
	Pass        bool          `json:"pass" jsonschema:"the signature counts, the record agrees with itself, and replay finds no difference"`
	Signer      string        `json:"signer" jsonschema:"who signed, as the list of signers names them"`
	Fingerprint string        `json:"fingerprint" jsonschema:"of the key"`
	Program     string        `json:"program" jsonschema:"what sealed the run"`
	SealedAt    string        `json:"sealed_at" jsonschema:"by the signer's own word"`
	Files       int           `json:"files"`
	Findings    []run.Finding `json:"findings" jsonschema:"where the record does not agree with itself"`
	Replay      Result        `json:"replay" jsonschema:"what was done again by rule, the sealed reports among it"`
}

// UnsealInput is what [Unseal] needs beside the file.
type UnsealInput struct {
	Data    []byte
	Signers *seal.Signers
	At      time.Time
	Program string // the program that checks it
}

// Unseal checks a sealed run with nothing but the file and the list of signers:
// every byte is the one that was signed, the record of the run agrees with itself,
// and what was done by rule comes out the same when it is done again.
//
// It returns TAMPERED for a file that is not as it was sealed, and the errors of
// reading the run. What is wrong with the run itself is a result.
func Unseal(ctx context.Context, desk run.Desk, in UnsealInput) (Unsealed, error) {
	sealed, err := seal.Open(in.Data, in.Signers, in.At)
	if err != nil {
		return Unsealed{}, err
	}
	about := sealed.Predicate
	out := Unsealed{RunID: about.Get("run_id").Str(), Question: about.Get("question").Str(), Program: about.Get("program").Str(), SealedAt: about.Get("sealed_at").Str(),
		Signer: sealed.Signer.Principal, Fingerprint: sealed.Signer.Fingerprint, Files: len(sealed.Files)}
	laid, err := artifact.NewReplica()
	if err != nil {
		return Unsealed{}, err
	}
	defer laid.Close()
	reports := map[string][]byte{}
	for _, file := range sealed.Files {
		name, own := strings.CutPrefix(file.Name, inRun)
		if !own {
			reports[file.Name] = file.Data
			continue
		}
		if err := laid.Write(name, file.Data); err != nil {
			return Unsealed{}, err
		}
	}
	desk.Reach = laid.At(unsealedAt)
	manifest := filepath.Join(unsealedAt, run.ManifestFile)
	verified, err := run.Verify(ctx, desk, run.VerifyInput{ManifestPath: manifest, Follows: stage.Follows})
	if err != nil {
		return Unsealed{}, err
	}
	out.Findings = verified.Findings
	r, err := run.Open(ctx, desk, manifest)
	if err != nil {
		return Unsealed{}, err
	}
	defer r.Close()
	replayed, err := Run(ctx, r, in.Program)
	if err != nil {
		return Unsealed{}, err
	}
	reported, err := step.ReadReport(ctx, r, false, out.Program)
	if err != nil {
		return Unsealed{}, err
	}
	html, markdown := same(sealedHTML, reports[sealedHTML], reported.Report.HTML()), same(sealedMarkdown, reports[sealedMarkdown], reported.Report.Markdown())
	otherVersion := in.Program != "" && in.Program != out.Program
	out.Replay = replayed
	out.Replay.Steps = append(out.Replay.Steps, html, markdown)
	out.Replay.Pass = replayed.Pass && (otherVersion || html.Same && markdown.Same)
	out.Pass = verified.Pass && out.Replay.Pass
	return out, nil
}

// unsealedAt is the path of a sealed run while it is checked; it is not on the disk.
const unsealedAt = "/sealed"

func same(what string, kept, again []byte) Step {
	difference := firstDifference(kept, again)
	return Step{what, difference == "", difference}
}

// Report shows who sealed what, and what does not hold.
func (u Unsealed) Report() report.Report {
	again := u.Replay
	again.Pass = u.Pass
	out := again.Report()
	out.Name, out.Title = "verify", "Sealed run "+u.RunID
	out.Summary = "signed by " + u.Signer + "; " + report.Counted(u.Files, "file") + " as sealed; " + out.Summary
	facts := report.Fields{{Name: "question", Value: u.Question}, {Name: "key", Value: u.Fingerprint}, {Name: "program", Value: u.Program},
		{Name: "sealed", Value: u.SealedAt + ", by the signer's own word"}}
	out.Blocks = append([]report.Block{facts}, out.Blocks...)
	var findings []string
	for _, f := range u.Findings {
		findings = append(findings, f.Level+" "+f.Rule+": "+f.Message)
	}
	if len(findings) > 0 {
		out.Add(report.Heading("What the record says"), report.Bullets(findings))
	}
	return out
}

// SealReport says that a run was sealed, and where.
func SealReport(runID, path string, size int, fingerprint string) report.Report {
	out := report.Report{Name: "run_seal", Title: "Sealed run " + runID, Summary: "the run is sealed in one file"}
	out.Add(report.Fields{{Name: "file", Value: path}, {Name: "bytes", Value: strconv.Itoa(size)}, {Name: "key", Value: fingerprint}})
	return out
}
