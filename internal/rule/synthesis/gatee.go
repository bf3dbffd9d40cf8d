package synthesis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// The warnings of gate E. SCAFFOLD_SYNTHESIS fails it: a text that was made by
// rule from the summaries says nothing that was not there.
const (
	lowUtilization = "LOW_CITATION_UTILIZATION"
	highDuplicates = "HIGH_DUPLICATE_CITATION_RATE"
	scaffold       = "SCAFFOLD_SYNTHESIS"
	scaffoldPack   = "SCAFFOLD_SUMMARY_PACK"
)

// Sentences that do not stand, and those that nobody has read, fail gate E.
const (
	notSupported = "SENTENCES_NOT_SUPPORTED"
	notRead      = "SENTENCES_NOT_READ"
)

// SynthesisFacts are what gate E needs to know besides the judgement.
type SynthesisFacts struct {
	RunID string
	Draft []byte
	// Generated and PackGenerated say that the synthesis, or the summary pack, was
	// made by rule rather than written.
	Generated, PackGenerated bool
	// Claims are the sentences of the draft, nil where nobody read them, and Outcome is
	// what follows from them.
	Claims  *evidence.Claims
	Outcome evidence.Outcome
}

// GateE turns the judgement of the final synthesis into the gate.
func GateE(facts SynthesisFacts, r Result) Gate {
	g := Gate{ID: "E", Faults: r.codes(facts), Notes: r.notes(facts)}
	for _, code := range r.warnings(facts) {
		if !slices.Contains(g.Faults, code) {
			g.Warnings = append(g.Warnings, code)
		}
	}
	g.Metrics = tidegate.Pairs("uncited_numeric_claims", len(r.Uncited), "report_sections_present", r.sectionsPresent(),
		"citation_utilization_rate", r.Utilization, "duplicate_citation_rate", r.Duplicates,
		"unknown_cids", r.count(tidegate.UnknownCID), "raw_urls", r.count(tidegate.RawURLNotAllowed),
		"quotations", r.Grounding.Quotations, "quotations_missing", r.Grounding.QuotationsMissing,
		"numbers", r.Grounding.Numbers, "numbers_missing", r.Grounding.NumbersMissing, "claims_unchecked", r.Grounding.Unchecked,
		"unchanged_directives", r.count(tidegate.Unchanged))
	if facts.Claims != nil {
		g.Metrics = append(g.Metrics, tidegate.Pairs("sentences", len(facts.Claims.Sentences), "sentences_not_supported", len(facts.Outcome.Refused),
			"sentences_not_read", len(facts.Outcome.Open), "sentences_marked", len(facts.Outcome.Marked))...)
	}
	if r.unsourced {
		g.Metrics = append(g.Metrics, tidegate.Detail{Key: "unsourced", Value: 1})
	}
	g.InputsDigest = codec.Digest(tidegate.Pairs("schema", "gate_e_evaluate.inputs.v1", "run_id", facts.RunID,
		"markdown_hash", MarkdownHash(facts.Draft), "validated_cids_count", len(r.validated)))
	return g
}

func (r Result) sectionsPresent() int {
	return 100 * (r.sections - len(r.Missing)) / max(1, r.sections)
}

// codes are those of the faults, in byte order, each once.
func (r Result) codes(facts SynthesisFacts) []string {
	var out []string
	if facts.Generated {
		out = append(out, scaffold)
	}
	if len(facts.Outcome.Refused) > 0 {
		out = append(out, notSupported)
	}
	if len(facts.Outcome.Open) > 0 {
		out = append(out, notRead)
	}
	for _, f := range r.Faults {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r Result) count(code tidegate.Code) (n int) {
	for _, f := range r.Faults {
		if f.Code == code {
			n++
		}
	}
	return n
}

// warnings are codes in byte order, each once.
func (r Result) warnings(facts SynthesisFacts) []string {
	var out []string
	warn := func(holds bool, code string) {
		if holds {
			out = append(out, code)
		}
	}
	warn(!r.unsourced && r.Utilization.Below(6, 10), lowUtilization)
	warn(!r.unsourced && r.Duplicates.Above(2, 10), highDuplicates)
	warn(facts.Generated, scaffold)
	warn(facts.PackGenerated, scaffoldPack)
	for _, f := range r.Warnings {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// notes counts the faults by their codes.
func (r Result) notes(facts SynthesisFacts) string {
	var parts []string
	if facts.Generated {
		parts = append(parts, "the synthesis was made by rule and not written")
	}
	for _, code := range []tidegate.Code{tidegate.MissingRequiredSection, tidegate.ReservedHeading, tidegate.UnknownCID, tidegate.RawURLNotAllowed,
		tidegate.LinkNotAllowed, tidegate.HTMLNotAllowed, tidegate.InvisibleText,
		tidegate.UncitedSentence, tidegate.FormMixed, tidegate.TooManyCitations, tidegate.TooLong, tidegate.HeadingClaims, tidegate.TooMuchInferred,
		tidegate.TooLittle, tidegate.OperandNotFound, tidegate.CalculationWrong, tidegate.DateNotFound, tidegate.NotWhatThePageSays,
		tidegate.QuotationNotFound, tidegate.NumberNotFound, tidegate.ClaimNotChecked, tidegate.Unchanged} {
		if n := r.count(code); n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, code))
		}
	}
	for _, f := range facts.Outcome.Refused {
		parts = append(parts, fmt.Sprintf("sentence %s in line %d: %s", f.ID, f.Line, f.Why))
	}
	return tidegate.Cut(strings.Join(parts, ", "))
}

// MarkdownHash is the SHA-256 of a text as the earlier system reads it: what is
// not UTF-8 is U+FFFD.
func MarkdownHash(text []byte) string {
	sum := sha256.Sum256(bytes.ToValidUTF8(text, []byte("\ufffd")))
	return hex.EncodeToString(sum[:])
}
