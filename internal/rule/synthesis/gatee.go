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
)

// The warnings of gate E. SCAFFOLD_SYNTHESIS fails it: a text that was made by
// rule from the summaries says nothing that was not there.
const (
	lowUtilization = "LOW_CITATION_UTILIZATION"
	highDuplicates = "HIGH_DUPLICATE_CITATION_RATE"
	scaffold       = "SCAFFOLD_SYNTHESIS"
	scaffoldPack   = "SCAFFOLD_SUMMARY_PACK"
)

// SynthesisFacts are what gate E needs to know besides the judgement.
type SynthesisFacts struct {
	RunID string
	Draft []byte
	// Generated and PackGenerated say that the synthesis, or the summary pack, was
	// made by rule rather than written.
	Generated, PackGenerated bool
}

// GateE turns the judgement of the final synthesis into the gate.
func GateE(facts SynthesisFacts, r Result) Gate {
	g := Gate{ID: "E", Faults: r.codes(facts), Notes: r.notes(facts)}
	for _, code := range r.warnings(facts) {
		if !slices.Contains(g.Faults, code) {
			g.Warnings = append(g.Warnings, code)
		}
	}
	g.Metrics = tidegate.D("uncited_numeric_claims", len(r.Uncited), "report_sections_present", r.sectionsPresent(),
		"citation_utilization_rate", r.Utilization, "duplicate_citation_rate", r.Duplicates,
		"unknown_cids", r.count(tidegate.UnknownCID), "raw_urls", r.count(tidegate.RawURLNotAllowed),
		"quotations", r.Grounding.Quotations, "quotations_missing", r.Grounding.QuotationsMissing,
		"numbers", r.Grounding.Numbers, "numbers_missing", r.Grounding.NumbersMissing, "claims_unchecked", r.Grounding.Unchecked,
		"unchanged_directives", r.count(tidegate.Unchanged))
	if r.unsourced {
		g.Metrics = append(g.Metrics, tidegate.Detail{Key: "unsourced", Value: 1})
	}
	g.InputsDigest = codec.Digest(tidegate.D("schema", "gate_e_evaluate.inputs.v1", "run_id", facts.RunID,
		"markdown_hash", MarkdownHash(facts.Draft), "validated_cids_count", len(r.validated)))
	return g
}

func (r Result) sectionsPresent() int { return 100 * (len(Sections) - len(r.Missing)) / len(Sections) }

// codes are those of the faults, in byte order, each once.
func (r Result) codes(facts SynthesisFacts) []string {
	var out []string
	if facts.Generated {
		out = append(out, scaffold)
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
		tidegate.LinkNotAllowed, tidegate.HTMLNotAllowed, tidegate.InvisibleText, tidegate.UncitedNumber, tidegate.UncitedQuotation,
		tidegate.QuotationNotFound, tidegate.NumberNotFound, tidegate.ClaimNotChecked, tidegate.Unchanged} {
		if n := r.count(code); n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, code))
		}
	}
	return tidegate.Cut(strings.Join(parts, ", "))
}

// MarkdownHash is the SHA-256 of a text as the earlier system reads it: what is
// not UTF-8 is U+FFFD.
func MarkdownHash(text []byte) string {
	sum := sha256.Sum256(bytes.ToValidUTF8(text, []byte("\ufffd")))
	return hex.EncodeToString(sum[:])
}

// ReportFile is one of the four reports of gate E.
type ReportFile struct {
	Name string // without a folder
	Data []byte
}

// ReportPaths are where the reports and what they are about lie in the run.
type ReportPaths struct{ Synthesis, Citations, Reports string }

// GateEReports are the four reports of gate E, and the digest that covers them.
func GateEReports(facts SynthesisFacts, r Result, paths ReportPaths) (files []ReportFile, inputsDigest string) {
	warnings := append([]string{}, r.warnings(facts)...)
	var present, missing, required []string
	for _, title := range Sections {
		line := "## " + title
		required = append(required, line)
		if slices.Contains(r.Missing, title) {
			missing = append(missing, line)
		} else {
			present = append(present, line)
		}
	}
	slices.Sort(present)
	slices.Sort(missing)
	file := func(name string, doc tidegate.Details) {
		files = append(files, ReportFile{name, canonicalFile(doc)})
	}
	file("gate-e-numeric-claims.json", tidegate.D("schema_version", "gate_e.numeric_claims_report.v1",
		"findings", append([]Uncited{}, r.Uncited...), "metrics", tidegate.D("uncited_numeric_claims", len(r.Uncited))))
	file("gate-e-sections-present.json", tidegate.D("schema_version", "gate_e.sections_present_report.v1",
		"required_headings", required, "present_headings", append([]string{}, present...), "missing_headings", append([]string{}, missing...),
		"metrics", tidegate.D("report_sections_present", r.sectionsPresent())))
	file("gate-e-citation-utilization.json", tidegate.D("schema_version", "gate_e.citation_utilization_report.v1",
		"cids", tidegate.D("used_cids", append([]string{}, r.Used...), "validated_cids", append([]string{}, r.validated...)),
		"metrics", tidegate.D("citation_utilization_rate", r.Utilization, "duplicate_citation_rate", r.Duplicates,
			"total_cid_mentions", r.Mentions, "used_cids_count", len(r.Used), "validated_cids_count", len(r.validated))))
	file("gate-e-status.json", tidegate.D("schema_version", "gate_e.status_report.v1", "status", passIf(r.Pass() && !facts.Generated), "warnings", warnings,
		"hard_metrics", r.hardMetrics(),
		"soft_metrics", tidegate.D("citation_utilization_rate", r.Utilization, "duplicate_citation_rate", r.Duplicates)))
	return files, codec.Digest(tidegate.D("schema", "gate_e_reports.inputs.v1", "run_id", facts.RunID,
		"synthesis_path", paths.Synthesis, "citations_path", paths.Citations, "reports_dir", paths.Reports,
		"markdown_hash", MarkdownHash(facts.Draft), "metrics", r.Summary(), "warnings", warnings))
}

// hardMetrics are the figures that the status follows from: the two of the earlier
// system, whose reports are compared byte by byte, and those of our own rules where
// they are not 0.
func (r Result) hardMetrics() tidegate.Details {
	out := tidegate.D("report_sections_present", r.sectionsPresent(), "uncited_numeric_claims", len(r.Uncited))
	for _, own := range []struct {
		figure string
		code   tidegate.Code
	}{
		{"unknown_cids", tidegate.UnknownCID}, {"raw_urls", tidegate.RawURLNotAllowed}, {"links", tidegate.LinkNotAllowed},
		{"html", tidegate.HTMLNotAllowed}, {"invisible_text", tidegate.InvisibleText}, {"quotations_not_found", tidegate.QuotationNotFound},
		{"numbers_not_found", tidegate.NumberNotFound}, {"claims_not_checked", tidegate.ClaimNotChecked}, {"uncited_quotations", tidegate.UncitedQuotation},
		{"reserved_headings", tidegate.ReservedHeading}, {"unchanged_directives", tidegate.Unchanged},
	} {
		if n := r.count(own.code); n > 0 {
			out = append(out, tidegate.Detail{Key: own.figure, Value: n})
		}
	}
	return out
}

// Summary are the seven figures by which the earlier system's reports are named.
func (r Result) Summary() tidegate.Details {
	return tidegate.D("uncited_numeric_claims", len(r.Uncited), "report_sections_present", r.sectionsPresent(),
		"citation_utilization_rate", r.Utilization, "duplicate_citation_rate", r.Duplicates,
		"total_cid_mentions", r.Mentions, "used_cids_count", len(r.Used), "validated_cids_count", len(r.validated))
}

// canonicalFile is a document with its keys in order, as the reports are
// compared byte by byte.
func canonicalFile(doc tidegate.Details) []byte {
	data, err := codec.Canonical(doc)
	if err == nil {
		var sorted *codec.Value
		if sorted, err = codec.Parse(data); err == nil {
			data, err = codec.MarshalFile(sorted)
		}
	}
	if err != nil {
		panic(err) // a document of strings and numbers that this package made
	}
	return data
}
