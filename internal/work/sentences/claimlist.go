package sentences

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ClaimList is the result of [ListClaims] and [ShowClaim].
type ClaimList struct {
	OK        codec.True   `json:"ok"`
	RunID     string       `json:"run_id"`
	Root      string       `json:"root"`
	Trust     string       `json:"trust" jsonschema:"how the sentences were checked"`
	Sentences []ShownClaim `json:"sentences"`

	windows bool // the passages are shown, too
}

// ShownClaim is a sentence with how it stands.
type ShownClaim struct {
	evidence.Claim
	Stands string `json:"stands" jsonschema:"how it stands, in words"`
	Why    string `json:"why" jsonschema:"what is held against it, or why a person accepted it"`
	Reader string `json:"reader" jsonschema:"who gave the verdict, empty where nobody did"`

	doubted bool
}

// ListClaims lists every sentence of the run's report with how it stands. It writes
// nothing. It returns the errors of [run.Open], and INVALID_STATE for a run whose report
// has no checked sentences.
func ListClaims(ctx context.Context, desk run.Desk, manifestPath string) (ClaimList, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *ClaimList) (err error) {
		*out, err = ReadClaimList(r)
		return err
	})
}

// ClaimInput are the arguments of [ShowClaim].
type ClaimInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	ID           string `json:"id,omitzero" jsonschema:"the sentence, such as c12; those that are not confirmed when absent"`
}

// ShowClaim shows a sentence of the run's report with the passages that it was held
// against; without an id, all that are not confirmed. It writes nothing. It returns the
// errors of [ListClaims], and NOT_FOUND for a sentence that the report does not have.
func ShowClaim(ctx context.Context, desk run.Desk, in ClaimInput) (ClaimList, error) {
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *ClaimList) error {
		all, err := ReadClaimList(r)
		if err != nil {
			return err
		}
		*out = all.Doubted()
		if in.ID == "" {
			return nil
		}
		out.Sentences = slices.DeleteFunc(slices.Clone(all.Sentences), func(s ShownClaim) bool { return s.ID != in.ID })
		if len(out.Sentences) == 0 {
			return noSentence(in.ID)
		}
		return nil
	})
}

func noSentence(id string) error {
	return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("id", tidegate.Cut(id)), "the report has no sentence %q; `tidegate claim list` shows them", tidegate.Cut(id))
}

// ReadClaimList reads every sentence of the run's report with how it stands. It returns
// INVALID_STATE and READ_FAILED.
func ReadClaimList(r *run.Run) (ClaimList, error) {
	trust, err := ReadTrust(r)
	if err != nil {
		return ClaimList{}, err
	}
	if trust.Claims == nil {
		return ClaimList{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the run has no report whose sentences were checked: %s",
			strings.TrimSuffix(strings.ToLower(trust.Line[:min(1, len(trust.Line))])+trust.Line[min(1, len(trust.Line)):], "."))
	}
	out := ClaimList{RunID: r.ID(), Root: r.Root(), Trust: trust.Line, Sentences: make([]ShownClaim, len(trust.Claims.Sentences))}
	for i, stand := range trust.Claims.Stands(trust.Reader) {
		s := ShownClaim{Claim: trust.Claims.Sentences[i], Stands: stand.Words, Why: stand.Why, doubted: stand.Doubted}
		if s.Verdict != nil {
			if s.Reader, err = ReaderOf(r, s.Verdict); err != nil {
				return ClaimList{}, err
			}
		}
		out.Sentences[i] = s
	}
	return out, nil
}

// Doubted are the sentences that are not confirmed, to be shown with their passages.
func (l ClaimList) Doubted() ClaimList {
	l.windows = true
	l.Sentences = slices.DeleteFunc(slices.Clone(l.Sentences), func(s ShownClaim) bool { return !s.doubted })
	return l
}

// Disputed are the sentences that a rule or reader speaks against, to be shown with their
// passages. What nobody has read is not among them.
func (l ClaimList) Disputed() ClaimList {
	l = l.Doubted()
	l.Sentences = slices.DeleteFunc(l.Sentences, func(s ShownClaim) bool { return s.Verdict == nil && len(s.Findings) == 0 })
	return l
}

// Report shows the sentences as a table, or one by one with their passages.
func (l ClaimList) Report() report.Report {
	r := report.Report{Name: "claims", Title: "Sentences of run " + l.RunID, Summary: l.Trust}
	if l.windows {
		for _, s := range l.Sentences {
			r.Add(s.blocks()...)
		}
		if len(l.Sentences) == 0 {
			r.Add(report.Paragraph("Every sentence is confirmed."))
		}
		return r
	}
	table := report.NewTable("Id", ">Line", "Form", "Stands", "Sentence")
	for _, s := range l.Sentences {
		table.Row(s.shade(), s.ID, s.Line, string(s.Form), s.Stands, s.Text)
	}
	r.Add(table)
	return r
}

func (s ShownClaim) shade() report.Status {
	switch {
	case s.doubted:
		return report.Fail
	case s.Accepted != nil:
		return report.Warn
	case s.Form == evidence.Frame:
		return report.None
	}
	return report.Pass
}

// blocks show a sentence with what it was held against.
func (s ShownClaim) blocks() []report.Block {
	fields := report.Fields{{Name: "sentence", Value: s.Text}, {Name: "line", Value: fmt.Sprint(s.Line)}, {Name: "form", Value: string(s.Form)}}
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, report.Field{Name: name, Value: value})
		}
	}
	add("why", s.Why)
	if v := s.Verdict; v != nil {
		add("verdict", v.Verdict)
		add("by", s.Reader)
		add("words", v.Words)
		add("because", v.Because)
	}
	for _, f := range s.Findings {
		add("rule", f.Rule+", "+string(f.Level)+": "+f.Text)
	}
	if s.Calculation != nil {
		add("calculated", s.Calculation.Text)
	}
	for _, w := range s.Windows {
		add("passage of "+w.CID[:min(len(w.CID), 12)], markdown.OneLine(w.Text))
	}
	return []report.Block{report.Heading(s.ID + ": " + s.Stands), fields}
}
