package sentences

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
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
	Pass         bool                   `json:"pass" jsonschema:"something is claimed, every sentence has a form and a page that can be read, and no rule misses anything there; in a run of an earlier version: every quotation was found, and of the numbers at most one in twenty was not"`
	Claims       []claim.Claim          `json:"claims"`
	Metrics      claim.GroundingMetrics `json:"metrics"`
	// Sentences are those of claims.v1.
	Sentences []evidence.Claim `json:"sentences" jsonschema:"every sentence as claims.v1 has it: form, standing, findings, windows of its pages and, where a second reader gave one for this sentence, the verdict"`

	faults []evidence.Fault // what the rules for sentences refuse
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
		texts, err := sourcing.OpenTexts(ctx, r)
		if err != nil {
			return err
		}
		found, err := texts.Ground(markdown.Read(evidence.Citing(document)))
		if err != nil {
			return err
		}
		*out = GroundResult{RunID: r.ID(), DocumentPath: path, Pass: found.Pass && len(found.Claims) > 0, Claims: found.Claims, Metrics: found.Metrics, Sentences: []evidence.Claim{}}
		links := texts.Links(found)
		for i := range out.Claims {
			for _, matches := range [][]claim.Match{out.Claims[i].Quotations, out.Claims[i].Numbers} {
				for k := range matches {
					matches[k].Link = links[matches[k]]
				}
			}
		}
		facts, records, err := ReportFacts(r, document)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			return nil // no source has been judged: nothing can be held against it
		}
		if err != nil {
			return err
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
		out.bySentence(checked)
		return nil
	})
}

// verdicts are the words of the older result for how sentences stand.
var verdicts = map[claim.Standing]claim.Verdict{claim.Found: claim.Grounded, claim.Weak: claim.Partly, claim.Missing: claim.Ungrounded, claim.NoText: claim.Unchecked}

// bySentence puts the sentences in the place of the paragraphs, each with the quotations
// and numbers that it has of them.
func (g *GroundResult) bySentence(checked *checkedSentences) {
	passages := g.Claims
	m := &g.Metrics
	g.Claims = []claim.Claim{}
	m.Claims, m.Grounded, m.Partly, m.Ungrounded, m.Unchecked = 0, 0, 0, 0, 0
	last := map[int]int{} // by passage: its last sentence
	for i := range checked.claims.Sentences {
		s := &checked.claims.Sentences[i]
		if s.Form == evidence.Frame {
			m.Frames++
			continue
		}
		c := claim.Claim{Line: s.Line, Text: tidegate.Cut(s.Text), CIDs: s.CIDs, Verdict: verdicts[s.Standing], Quotations: []claim.Match{}, Numbers: []claim.Match{}}
		if c.Verdict == "" {
			c.Verdict = claim.Ungrounded // nothing says where it comes from
		}
		if k := passageOf(passages, s.Line); k >= 0 {
			p := &passages[k]
			c.Quotations, p.Quotations = in(s.Text, p.Quotations)
			c.Numbers, p.Numbers = in(s.Text, p.Numbers)
			last[k] = len(g.Claims)
		}
		m.Claims++
		*map[claim.Verdict]*int{claim.Grounded: &m.Grounded, claim.Partly: &m.Partly, claim.Ungrounded: &m.Ungrounded, claim.Unchecked: &m.Unchecked}[c.Verdict]++
		g.Claims = append(g.Claims, c)
	}
	for k, i := range last { // what goes over several sentences belongs to the last
		c := &g.Claims[i]
		c.Quotations, c.Numbers = append(c.Quotations, passages[k].Quotations...), append(c.Numbers, passages[k].Numbers...)
	}
	g.Sentences, g.faults = checked.claims.Sentences, checked.report.Faults
	g.Pass = len(g.faults) == 0 && m.Claims > 0 && m.Unchecked == 0
}

// passageOf is the last passage that begins on a line or above, -1 for none.
func passageOf(passages []claim.Claim, line int) int {
	k := -1
	for i := range passages {
		if passages[i].Line <= line {
			k = i
		}
	}
	return k
}

// in are the matches that a sentence has, and those that are left.
func in(sentence string, matches []claim.Match) (has, left []claim.Match) {
	has = []claim.Match{}
	for _, m := range matches {
		if strings.Contains(sentence, m.Text) {
			has = append(has, m)
		} else {
			left = append(left, m)
		}
	}
	return has, left
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
		c := report.Case{Name: "line " + strconv.Itoa(made.Line), Status: report.PassIf(made.Verdict != claim.Ungrounded && made.Verdict != claim.Partly), Note: made.Text}
		parts := append(append([]claim.Match{}, made.Quotations...), made.Numbers...)
		if len(parts) == 0 {
			table.Row(report.None, made.Line, string(made.Verdict), made.Text, "", "")
		}
		for _, part := range parts {
			if part.Found {
				table.Row(report.Pass, made.Line, string(made.Verdict), part.Text, "yes", part.Link)
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
	if len(g.faults) > 0 {
		refused := report.Case{Name: "what would be refused", Status: report.Fail}
		for _, f := range g.faults {
			refused.Findings = append(refused.Findings, report.Finding{Rule: string(f.Code), Message: f.Message, File: g.DocumentPath, Line: f.Line})
		}
		r.AddCase(refused)
	}
	return r
}
