package step

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
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
	OK           codec.True             `json:"ok"`
	RunID        string                 `json:"run_id"`
	DocumentPath string                 `json:"document_path"`
	Pass         bool                   `json:"pass" jsonschema:"every quotation was found, and of the numbers at most one in twenty was not, those that were found counted once each; false where something is claimed and no cited page has a text"`
	Claims       []claim.Claim          `json:"claims"`
	Metrics      claim.GroundingMetrics `json:"metrics"`

	links map[claim.Match]string // where a reader sees a match
}

// Passed reports whether the document passed.
func (g GroundResult) Passed() bool { return g.Pass }

// Ground is the tool deep_research_grounding_check: it checks the claims of a
// document against the text of the sources that they cite, as the archive of the
// run has them. It says what is on a page, not what is true. It writes nothing.
//
// It returns the errors of [run.Open], NOT_FOUND and READ_FAILED for the document,
// and PATH_NOT_ALLOWED for an agent's document outside the run and the working
// folder.
func Ground(ctx context.Context, desk run.Desk, in GroundInput) (GroundResult, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *GroundResult) error {
		document, path, err := readClaims(ctx, r, in)
		if err != nil {
			return err
		}
		texts, err := openTexts(ctx, r)
		if err != nil {
			return err
		}
		found, err := texts.ground(document)
		if err != nil {
			return err
		}
		*out = GroundResult{RunID: r.ID(), DocumentPath: path, Pass: found.Pass, Claims: found.Claims, Metrics: found.Metrics, links: texts.links(found)}
		return nil
	})
}

// readClaims reads the document to check. A document that an agent names must lie
// in the run, in the working folder, or where the roots of the program allow it.
func readClaims(ctx context.Context, r *run.Run, in GroundInput) (document []byte, path string, err error) {
	path = in.DocumentPath
	if path == "" {
		path = r.Path(r.Layout().Synthesis())
	}
	if name, err := r.Name("document_path", path); err == nil {
		document, err = r.Folder().Read(name)
		return document, path, tidegate.WithDetails(err, tidegate.Pairs("document_path", path))
	}
	if tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		if rest, err := filepath.Rel(in.Dir, path); in.Dir == "" || err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return nil, path, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("document_path", path, "run_root", r.Root()),
				"an agent can have a document checked that lies in the run or in the working folder")
		}
	}
	document, err = r.Desk().Reach.ReadFile("document_path", path)
	return document, path, err
}

// pageTexts reads the texts of sources from the archive, each once.
type pageTexts struct {
	ctx      context.Context
	cited    cited
	evidence *evidence
	read     map[string]string
	err      error
}

func openTexts(ctx context.Context, r *run.Run) (*pageTexts, error) {
	c, err := citedInRun(r)
	if err != nil {
		return nil, err
	}
	e, err := openEvidence(ctx, r)
	return &pageTexts{ctx: ctx, cited: c, evidence: e, read: map[string]string{}}, err
}

// ground checks the claims of a document against the texts of its sources.
func (t *pageTexts) ground(document []byte) (claim.Grounding, error) {
	found := claim.Ground(document, t.of)
	return found, t.err
}

// links lead a reader to each match on its page.
func (t *pageTexts) links(found claim.Grounding) map[claim.Match]string {
	on := map[string][]claim.Match{}
	for _, claim := range found.Claims {
		for _, match := range slices.Concat(claim.Quotations, claim.Numbers) {
			on[match.CID] = append(on[match.CID], match)
		}
	}
	links := map[claim.Match]string{}
	for cid, matches := range on {
		for _, match := range claim.Confirm(t.read[cid], matches) {
			links[match] = link.TextLink(t.url(cid), t.read[cid], match.Start, match.End)
		}
	}
	return links
}

// claims are the claims of a document that have something to look for, with links
// to what was found.
func (t *pageTexts) claims(document []byte) ([]claim.Claim, error) {
	found, err := t.ground(document)
	if err != nil {
		return nil, err
	}
	links := t.links(found)
	var claims []claim.Claim
	for _, c := range found.Claims {
		if len(c.Quotations)+len(c.Numbers) == 0 {
			continue
		}
		for _, list := range [][]claim.Match{c.Quotations, c.Numbers} {
			for i := range list {
				list[i].Link = links[list[i]]
			}
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// of is the text of a source that is valid or paywalled; it is false for other
// sources, and for those without a text.
func (t *pageTexts) of(cid string) (string, bool) {
	cited, err := t.cited.source(cid)
	if err != nil || t.err != nil {
		return "", false
	}
	records, err := t.evidence.judge(t.ctx, []source.Source{*cited})
	if err != nil || !records[0].Usable() {
		t.err = err
		return "", false
	}
	entry, found := t.evidence.entry(cited)
	if !found {
		return "", false
	}
	page, err := t.evidence.page(t.ctx, entry.URL)
	if err != nil || page == nil {
		t.err = err
		return "", false
	}
	t.read[cid] = page.Content().Text
	return t.read[cid], t.read[cid] != ""
}

// url is where a reader finds a source.
func (t *pageTexts) url(cid string) string {
	source, err := t.cited.source(cid)
	if err != nil {
		return ""
	}
	if url, ok := t.evidence.wanted(source); ok {
		return url
	}
	return source.Normalized
}

// Report shows every claim with what was found and where.
func (g GroundResult) Report() report.Report {
	m := g.Metrics
	r := report.Report{Name: "ground", Title: "Grounding of " + filepath.Base(g.DocumentPath), Status: report.PassIf(g.Pass),
		Summary: strconv.Itoa(m.Grounded) + " of " + report.Counted(m.Claims, "claim") + " are on the pages they cite, " + strconv.Itoa(m.Partly) + " in part, " +
			strconv.Itoa(m.Ungrounded) + " not, " + strconv.Itoa(m.Unchecked) + " could not be checked"}
	table := report.NewTable(">Line", "Verdict", "What", "Found", "Where")
	for _, made := range g.Claims {
		c := report.Case{Name: "line " + strconv.Itoa(made.Line), Status: report.PassIf(made.Verdict != claim.Ungrounded && made.Verdict != claim.Partly), Note: made.Text}
		parts := append(append([]claim.Match{}, made.Quotations...), made.Numbers...)
		if len(parts) == 0 {
			table.Row(report.None, made.Line, string(made.Verdict), made.Text, "", "")
		}
		for _, part := range parts {
			if part.Found {
				table.Row(report.Pass, made.Line, string(made.Verdict), part.Text, "yes", g.links[part])
				continue
			}
			table.Row(report.PassIf(made.Verdict == claim.Unchecked), made.Line, string(made.Verdict), part.Text, "no", "")
			if made.Verdict != claim.Unchecked {
				c.Findings = append(c.Findings, report.Finding{Rule: "UNGROUNDED", Message: "not on a cited page: " + part.Text, File: g.DocumentPath, Line: made.Line})
			}
		}
		r.AddCase(c)
	}
	r.Add(table)
	return r
}
