package sourcing

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
)

// AttachInput are the arguments of [Attach].
type AttachInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	CID          string `json:"cid" jsonschema:"the source that the file is the evidence of; its first eight hexadecimal digits are enough"`
	FilePath     string `json:"file_path" path:"absolute" jsonschema:"absolute path of the file: the page as a person saved it, or a document in its place"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
	Over         bool   `json:"over,omitzero" jsonschema:"take the file in the place of a page that was fetched and can be used; needs a reason"`
}

// SourceDecision is the result of [Attach] and [Replace].
type SourceDecision struct {
	OK         codec.True `json:"ok"`
	RunID      string     `json:"run_id"`
	CID        string     `json:"cid"`
	Attached   string     `json:"attached,omitzero" jsonschema:"the name of the file that is the evidence from now on"`
	ReplacedBy string     `json:"replaced_by,omitzero" jsonschema:"the URL whose page is the evidence from now on"`
	Fetched    bool       `json:"fetched" jsonschema:"the page was fetched in this call, whatever became of it"`
	Status     string     `json:"status" jsonschema:"what the source is worth by that evidence"`
	Notes      string     `json:"notes"`
}

// Attach puts a file into the archive as the evidence of a source that cannot be
// fetched. It is a person's decision. The source is judged by the file, and its
// record says that it is attached.
//
// It returns the errors of [run.Open] and [run.Run.Decide], NOT_FOUND for a source
// that no output cites and for the file, READ_FAILED, INVALID_STATE for a source whose
// fetched page can be used, without Over, and INVALID_ARGS for Over without a reason and
// for a file that is too large.
func Attach(ctx context.Context, desk run.Desk, in AttachInput) (SourceDecision, error) {
	if err := overWithReason(in.Over, in.Reason); err != nil {
		return SourceDecision{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *SourceDecision) error {
		source, err := sourceMeant(r, in.CID)
		if err != nil {
			return err
		}
		over, err := over(ctx, r, source, in.Over)
		if err != nil {
			return err
		}
		body, err := desk.Reach.ReadFile("file_path", in.FilePath)
		if err != nil {
			return err
		}
		name := filepath.Base(in.FilePath)
		file, err := archive.Pack(archive.Attachment(attachedURL(source.CID), name, contentTypes[strings.ToLower(filepath.Ext(name))], body, desk.Now()))
		if err != nil {
			return err
		}
		fields := append(tidegate.Pairs("cid", source.CID, "name", name, "file", codec.DigestBytes(body), "reason", run.Note(in.Reason)), over...)
		*out = SourceDecision{RunID: r.ID(), CID: source.CID, Attached: name}
		return out.decide(ctx, r, source, run.Decision{What: run.AttachEvidence, Fields: fields}, func(e *archived, u *run.Update) ([]archive.Ref, error) {
			e.attach(source.CID)
			return e.keep(ctx, u, run.EventAttached, "citations_attach", fields, file)
		})
	})
}

// contentTypes say how to read a file whose bytes do not show it.
var contentTypes = map[string]string{
	".html": "text/html", ".htm": "text/html", ".txt": "text/plain", ".md": page.MarkdownType, ".markdown": page.MarkdownType, ".json": "application/json", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".pdf": "application/pdf", ".eml": "message/rfc822",
}

// ReplaceInput are the arguments of [Replace].
type ReplaceInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	CID          string `json:"cid" jsonschema:"the source whose page is replaced; its first eight hexadecimal digits are enough"`
	URL          string `json:"url" jsonschema:"the URL whose page is its evidence from now on"`
	Reason       string `json:"reason,omitzero" jsonschema:"why, for the audit log"`
	Over         bool   `json:"over,omitzero" jsonschema:"take the page in the place of one that was fetched and can be used; needs a reason"`
}

// Replace makes the page of another URL the evidence of a source, and fetches it
// unless the archive has it. It is a person's decision. The record keeps its cid
// and the URL that was cited, and names the URL that replaced it.
//
// It returns the errors of [run.Open] and [run.Run.Decide], NOT_FOUND for a source
// that no output cites, INVALID_ARGS for a URL that cannot be fetched and for Over without
// a reason, INVALID_STATE for a run of sensitivity no_web and, without Over, for a source
// whose fetched page can be used, and CANCELLED.
func Replace(ctx context.Context, desk run.Desk, fetch Fetch, in ReplaceInput) (SourceDecision, error) {
	if _, err := link.Normalize(in.URL); err != nil || link.HasCredentials(in.URL) || link.Mask(in.URL) != in.URL {
		return SourceDecision{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("url", tidegate.Cut(link.Mask(in.URL))),
			"url must be an http or https URL without credentials")
	}
	if err := overWithReason(in.Over, in.Reason); err != nil {
		return SourceDecision{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *SourceDecision) error {
		if r.Manifest().Sensitivity() == noWeb {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID(), "sensitivity", noWeb),
				"the sensitivity of run %q is no_web, so nothing is fetched for it; `tidegate citations attach` gives it evidence", r.ID())
		}
		source, err := sourceMeant(r, in.CID)
		if err != nil {
			return err
		}
		over, err := over(ctx, r, source, in.Over)
		if err != nil {
			return err
		}
		fields := append(tidegate.Pairs("cid", source.CID, "url", in.URL, "reason", run.Note(in.Reason)), over...)
		*out = SourceDecision{RunID: r.ID(), CID: source.CID, ReplacedBy: in.URL}
		err = out.decide(ctx, r, source, run.Decision{What: run.ReplaceSource, Fields: fields}, func(e *archived, u *run.Update) ([]archive.Ref, error) {
			e.replace(source.CID, in.URL)
			u.Log(run.EventReplaced, "citations_replace", fields)
			return nil, nil
		})
		if err != nil {
			return err
		}
		e, err := openArchived(ctx, r)
		if err != nil {
			return err
		}
		if _, found := e.archive.Find(in.URL); !found {
			if err := e.fetch(ctx, fetch, []string{in.URL}, nil, func(batch []*archive.Packed) { out.Fetched = len(batch) > 0 }); err != nil {
				return err
			}
		}
		return out.judge(ctx, e, source)
	})
}

// overWithReason returns INVALID_ARGS where a person takes other evidence in the place of
// a good page and does not say why.
func overWithReason(over bool, reason string) error {
	if !over {
		return nil
	}
	return run.CheckText("reason", reason)
}

// over are the fields of a decision that takes the place of the source's own page, where
// that was fetched and can be used, whatever a person decided about it since: signature
// and every view have them. It returns INVALID_STATE where a person has not said so.
func over(ctx context.Context, r *run.Run, cited *source.Source, said bool) (tidegate.Details, error) {
	if url, ok := cited.FetchURL(); !ok || strings.HasPrefix(url, OwnDocuments) {
		return nil, nil
	}
	e, err := openArchived(ctx, r)
	if err != nil {
		return nil, err
	}
	e.attached, e.replaced = map[string]bool{}, map[string]string{}
	records, err := e.judge(ctx, []source.Source{*cited})
	if err != nil || !records[0].Usable() {
		return nil, err
	}
	if said {
		return tidegate.Pairs("over", true), nil
	}
	return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("cid", cited.CID, "status", records[0].Status, "fetched_at", records[0].CheckedAt),
		"the page of %s was fetched and is %s: --over with --reason takes other evidence in its place", cited.CID, records[0].Status)
}

// sourceMeant is the source of a run whose cid begins as a person typed it.
func sourceMeant(r *run.Run, cid string) (*source.Source, error) {
	c, err := citedInRun(r)
	if err != nil {
		return nil, err
	}
	return c.meant(cid)
}

// decide carries out a person's decision about a source that the outputs cite, and
// judges the source by its evidence from then on. A run that failed on gate C goes
// on.
func (s *SourceDecision) decide(ctx context.Context, r *run.Run, source *source.Source, decision run.Decision, write func(*archived, *run.Update) ([]archive.Ref, error)) error {
	e, err := openArchived(ctx, r)
	if err != nil {
		return err
	}
	var records []archive.Ref
	_, err = r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
		if records, err = write(e, u); err != nil {
			return err
		}
		return u.AcceptGateFailures("C", "a person gave a source other evidence", decision.What+" "+source.CID)
	}))
	if err != nil {
		return err
	}
	e.kept(records)
	return s.judge(ctx, e, source)
}

// judge judges the one source by the evidence.
func (s *SourceDecision) judge(ctx context.Context, e *archived, cited *source.Source) error {
	records, err := e.judge(ctx, []source.Source{*cited})
	if err != nil {
		return err
	}
	s.Status, s.Notes = string(records[0].Status), records[0].Notes
	return nil
}

// Report shows what the source is worth from now on.
func (s SourceDecision) Report() report.Report {
	usable := s.Status == string(source.Valid) || s.Status == string(source.Paywalled)
	r := report.Report{Name: "citations_decision", Title: "Source " + s.CID, Status: passOrWarn(usable), Summary: "by the evidence that it has from now on the source is " + s.Status + ": " + s.Notes}
	evidence := report.Field{Name: "attached", Value: s.Attached}
	if s.ReplacedBy != "" {
		evidence = report.Field{Name: "replaced by", Value: s.ReplacedBy}
	}
	r.Add(report.Fields{evidence, {Name: "next", Value: "tidegate citations check " + report.ShellWord(s.RunID)}})
	return r
}
