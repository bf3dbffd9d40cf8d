package sentences

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
)

// GroundInput are the arguments of [Ground].
type GroundInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	DocumentPath string `json:"document_path,omitzero" path:"absolute" jsonschema:"absolute path of the markdown document with [@cid] citations; the run's final synthesis when absent"`
	// Dir is the working folder, in which an agent may name a document.
	Dir string `json:"-"`
}

// GroundResult is the result of [Ground].
type GroundResult struct {
	OK           codec.True         `json:"ok"`
	RunID        string             `json:"run_id"`
	DocumentPath string             `json:"document_path"`
	Pass         bool               `json:"pass" jsonschema:"something is claimed, every sentence has a form and a page that can be read, and no rule misses anything there"`
	Claims       []Grounded         `json:"claims"`
	Metrics      evidence.Grounding `json:"metrics"`
	// Sentences are those of claims.v1.
	Sentences []evidence.Claim `json:"sentences" jsonschema:"every sentence as claims.v1 has it: form, standing, findings, windows of its pages and, where a second reader gave one for this sentence, the verdict"`

	faults []evidence.Fault // what the rules for sentences refuse
}

// Grounded is a sentence with what of it stands on the pages that it cites.
type Grounded struct {
	Line       int           `json:"line"`
	Text       string        `json:"text" jsonschema:"without its citations, cut at 200 characters"`
	CIDs       []string      `json:"cids"`
	Verdict    string        `json:"verdict" jsonschema:"grounded, partly (weak), ungrounded, or unchecked where none of its pages has text"`
	Quotations []claim.Match `json:"quotations" jsonschema:"those of four words or more"`
	Numbers    []claim.Match `json:"numbers" jsonschema:"those of two digits or more, percentages, years and amounts"`
}

// Passed reports whether the document passed.
func (g GroundResult) Passed() bool { return g.Pass }

// Ground is the tool deep_research_grounding_check: it checks the claims of a
// document against the text of the sources that they cite, as the archive of the
// run has them. It says what is on a page, not what is true. It writes nothing.
//
// It returns the errors of [run.Open], [run.Run.CheckLog], NOT_FOUND and READ_FAILED for the document,
// and PATH_NOT_ALLOWED for an agent's document outside the run and the working
// folder.
func Ground(ctx context.Context, desk run.Desk, in GroundInput) (GroundResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *GroundResult) error {
		document, path, err := readClaims(ctx, r, in)
		if err == nil {
			err = r.CheckLog() // what is archived counts by its lines
		}
		if err != nil {
			return err
		}
		*out = GroundResult{RunID: r.ID(), DocumentPath: path, Claims: []Grounded{}, Sentences: []evidence.Claim{}}
		facts, records, err := ReportFacts(r, document)
		if err != nil {
			return artifact.UnlessMissing(err) // no source has been judged: nothing can be held against it
		}
		facts.Whole, facts.SecondReader = false, false // it may be a part, and nobody reads it
		before, err := ReadClaims(r)                   // verdicts count for the sentences that they were given for
		if err != nil {
			return err
		}
		checked, err := holdSentences(ctx, r, markdown.Read(document), facts, records, before)
		if err != nil {
			return err
		}
		out.Sentences, out.faults, out.Metrics = checked.claims.Sentences, checked.report.Faults, checked.report.Count(checked.held)
		out.Pass = len(out.faults) == 0 && out.Metrics.Claims > 0 && out.Metrics.Unchecked == 0
		for i := range out.Sentences {
			if s := &out.Sentences[i]; s.Form != evidence.Frame {
				out.Claims = append(out.Claims, Grounded{s.Line, tidegate.Cut(s.Text), s.CIDs, verdict(s.Standing),
					checked.pages.linked(checked.held[i].Quotations), checked.pages.linked(checked.held[i].Numbers)})
			}
		}
		return nil
	})
}

// The verdicts on sentences.
const (
	grounded   = "grounded"
	partly     = "partly"
	ungrounded = "ungrounded"
	unchecked  = "unchecked"
)

// verdict is how a sentence stands, which is ungrounded where nothing says where it comes
// from.
func verdict(standing claim.Standing) string {
	return cmp.Or(map[claim.Standing]string{claim.Found: grounded, claim.Weak: partly, claim.NoText: unchecked}[standing], ungrounded)
}

// linked are matches with what leads a reader to each on its page.
func (p *citedPages) linked(matches []claim.Match) []claim.Match {
	linked := slices.Concat([]claim.Match{}, matches)
	for i := range linked {
		if m := &linked[i]; m.Found {
			m.Link = link.TextLink(p.texts.URL(m.CID), p.text(m.CID), m.Start, m.End)
		}
	}
	return linked
}

// readClaims reads the document to check. A document that an agent names must lie
// in the run, in the working folder, or where the roots of the program allow it.
func readClaims(ctx context.Context, r *run.Run, in GroundInput) (document []byte, path string, err error) {
	path = in.DocumentPath
	if path == "" {
		path = r.Path(r.Layout().Synthesis())
	}
	if err := run.CheckGiven(ctx, "document_path", path); err != nil {
		return nil, path, err
	}
	if name, err := r.Name("document_path", path); err == nil {
		document, err = r.Folder().Read(name)
		return document, path, tidegate.WithDetails(err, tidegate.Pairs("document_path", path))
	}
	if tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		if _, inside := artifact.Inside(in.Dir, path); in.Dir == "" || !inside {
			return nil, path, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("document_path", path, "run_root", r.Root()),
				"an agent can have a document checked that lies in the run or in the working folder")
		}
	}
	document, err = r.Desk().Reach.ReadFile("document_path", path)
	return document, path, err
}

// Report shows every claim with what was found and where.
func (g GroundResult) Report() report.Report {
	m := g.Metrics
	r := report.Report{Name: "ground", Title: "Grounding of " + filepath.Base(g.DocumentPath), Status: report.PassIf(g.Pass),
		Summary: strconv.Itoa(m.Grounded) + " of " + report.Counted(m.Claims, "sentence") + " by rule stand on the cited page, " + strconv.Itoa(m.Partly) + " in part, " +
			strconv.Itoa(m.Ungrounded) + " not, " + strconv.Itoa(m.Unchecked) + " could not be checked; " + report.Counted(m.Frames, "frame")}
	table := report.NewTable(">Line", "Verdict", "What", "Found", "Where")
	for _, made := range g.Claims {
		c := report.Case{Name: "line " + strconv.Itoa(made.Line), Status: report.PassIf(made.Verdict != ungrounded && made.Verdict != partly), Note: made.Text}
		parts := slices.Concat(made.Quotations, made.Numbers)
		if len(parts) == 0 {
			table.Row(report.None, made.Line, made.Verdict, made.Text, "", "")
		}
		for _, part := range parts {
			if part.Found {
				table.Row(report.Pass, made.Line, made.Verdict, part.Text, "yes", part.Link)
				continue
			}
			table.Row(report.PassIf(made.Verdict == unchecked), made.Line, made.Verdict, part.Text, "no", "")
			if made.Verdict != unchecked {
				c.Findings = append(c.Findings, report.Finding{Rule: "UNGROUNDED", Message: "not on a cited page: " + part.Text, File: g.DocumentPath, Line: made.Line})
			}
		}
		r.AddCase(c)
	}
	r.Add(table)
	if len(g.faults) > 0 {
		refused := report.Case{Name: "what would be refused", Status: report.Fail}
		for _, f := range g.faults {
			refused.Findings = append(refused.Findings, report.Finding{Rule: string(f.Code), Message: f.Message, File: g.DocumentPath, Line: f.Line})
		}
		r.AddCase(refused)
	}
	return r
}
