package synthesis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// The statuses of a gate that was judged.
const (
	GatePass = "pass"
	GateFail = "fail"
)

// Gate is what a judge says of a gate.
type Gate struct {
	ID           string
	Metrics      tidegate.Details
	Faults       []string // why it fails, as codes in byte order; none when it passes
	Warnings     []string // what else a person should know, likewise
	Notes        string   // what a person reads of the faults; at most 200 characters
	InputsDigest string
}

// PackFacts are what gate D judges: the summary pack against the run's own
// perspectives, of both waves.
type PackFacts struct {
	RunID        string
	Perspectives []string // their ids
	Summaries    []SummaryFacts
	MaxSummaryKB float64
	MaxTotalKB   float64
	PackPath     string       // in the run
	Entries      *codec.Value // the pack's list, as it stands there
}

// SummaryFacts is one entry of the pack, and the file that it names as it is.
type SummaryFacts struct {
	PerspectiveID string
	Missing       bool // there is no such file in the run
	Bytes         int
	Faults        int // of its raw URLs and citations, by the run's own pool
}

// GateD judges whether every perspective has one summary within the caps, which
// cites nothing but validated sources.
func GateD(facts PackFacts) Gate {
	expected, there := map[string]bool{}, map[string]SummaryFacts{}
	for _, id := range facts.Perspectives {
		expected[id] = true
	}
	var twice, foreign, missing, faulty, large []string
	for _, s := range facts.Summaries {
		_, seen := there[s.PerspectiveID]
		switch {
		case seen:
			twice = append(twice, s.PerspectiveID)
		case !expected[s.PerspectiveID]:
			foreign = append(foreign, s.PerspectiveID)
		default:
			there[s.PerspectiveID] = s
		}
	}
	count, largest, total := 0, 0, 0
	for _, id := range facts.Perspectives {
		s, listed := there[id]
		if !listed || s.Missing {
			missing = append(missing, id)
			continue
		}
		count++
		total += s.Bytes
		largest = max(largest, s.Bytes)
		if s.Faults > 0 {
			faulty = append(faulty, id)
		}
		if above(s.Bytes, facts.MaxSummaryKB) {
			large = append(large, id)
		}
	}
	g := Gate{ID: "D", Metrics: tidegate.Pairs("summary_count_ratio", Rate{count, len(facts.Perspectives)},
		"max_summary_kb", Rate{largest, 1024}, "total_summary_pack_kb", Rate{total, 1024}, "summary_count", count, "expected_count", len(facts.Perspectives))}
	var notes []string
	warn := func(code, what string, ids []string) {
		if len(ids) > 0 {
			g.Faults = append(g.Faults, fmt.Sprintf("%s:%d", code, len(ids)))
			notes = append(notes, what+": "+strings.Join(ids, ", "))
		}
	}
	warn("DUPLICATE_SUMMARIES", "listed twice", twice)
	warn("FAULTY_SUMMARIES", "raw URLs, unknown citations or hidden characters", faulty)
	warn("LARGE_SUMMARIES", "larger than max_summary_kb", large)
	warn("MISSING_SUMMARIES", "no summary", missing)
	warn("UNKNOWN_SUMMARIES", "of no perspective of the run", foreign)
	if above(total, facts.MaxTotalKB) {
		g.Faults = append(g.Faults, "TOTAL_TOO_LARGE")
		notes = append(notes, "all summaries together are larger than max_total_summary_kb")
	}
	if len(facts.Perspectives) == 0 {
		g.Faults = append(g.Faults, "NO_PERSPECTIVES")
		notes = append(notes, "there is no perspective, so nothing was judged")
	}
	slices.Sort(g.Faults)
	g.Notes = tidegate.Cut(strings.Join(notes, "; "))
	g.InputsDigest = codec.Digest(tidegate.Pairs("schema", "gate_d_evaluate.inputs.v1", "run_id", facts.RunID,
		"summary_pack_path", facts.PackPath, "entries", facts.Entries, "metrics", g.Metrics))
	return g
}

// above compares with a cap in units of 1,024 bytes; equal to it is within it.
func above(bytes int, kb float64) bool { return float64(bytes) > kb*1024 }

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

// The sensitivities of a run.
const (
	Normal     = "normal"
	Restricted = "restricted"
	NoWeb      = "no_web"
)

// RolloutFacts are what gate F judges: whether the run kept what it was given.
type RolloutFacts struct {
	RunID       string
	Sensitivity string
	// FinalSynthesis says that there is one.
	FinalSynthesis bool
	// Fetches are those in the archive, without what a person attached.
	Fetches []Fetch
	// Cited are the statuses of the sources that the synthesis cites.
	Cited []CitedSource
	// Unsourced says that a person let the run go on without a single checked source.
	Unsourced bool
	// Unsigned names the decisions of a person that lack the signature that the
	// run's policy asks for.
	Unsigned []string
	// Budget is what the run was allowed and what it spent.
	Budget []Spent
	// The earlier system's settings, which are recorded but decide nothing.
	CitationsMode                string
	RunConfig, BrightData, Apify bool
}

// Fetch is one fetch of a source, with the sensitivity that its line of the log
// names.
type Fetch struct{ URL, Sensitivity string }

// CitedSource is a source that the synthesis cites.
type CitedSource struct{ CID, Status string }

// Spent is one limit of the budget. A limit of 0 allows everything.
type Spent struct {
	Name        string
	Used, Limit float64
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// GateF judges whether the run honoured its sensitivity in every fetch, cites no
// source that could not be looked at, has the signatures that it must have, and
// kept its budget. Without a final synthesis it fails.
func GateF(facts RolloutFacts) Gate {
	var fetched, blocked, over []string
	for _, f := range facts.Fetches {
		if f.Sensitivity == NoWeb || f.Sensitivity != facts.Sensitivity {
			fetched = append(fetched, f.URL)
		}
	}
	for _, c := range facts.Cited {
		if c.Status == "blocked" {
			blocked = append(blocked, c.CID)
		}
	}
	for _, s := range facts.Budget {
		if s.Limit > 0 && s.Used > s.Limit {
			over = append(over, fmt.Sprintf("%s %s of %s", s.Name, plain(s.Used), plain(s.Limit)))
		}
	}
	g := Gate{ID: "F"}
	var notes []string
	warn := func(code, what string, names []string) {
		if len(names) > 0 {
			g.Faults = append(g.Faults, fmt.Sprintf("%s:%d", code, len(names)))
			notes = append(notes, what+": "+strings.Join(names, ", "))
		}
	}
	if !facts.FinalSynthesis {
		g.Faults, notes = append(g.Faults, "NO_FINAL_SYNTHESIS"), append(notes, "there is no final synthesis")
	}
	if facts.FinalSynthesis && len(facts.Cited) == 0 && !facts.Unsourced {
		g.Faults, notes = append(g.Faults, "NOTHING_CITED"), append(notes, "the synthesis cites nothing, so that there is nothing to judge")
	}
	warn("BLOCKED_SOURCES_CITED", "cited, and could not be looked at", blocked)
	warn("BUDGET_EXCEEDED", "spent beyond the limit", over)
	warn("SENSITIVITY_NOT_HONOURED", "fetched against the sensitivity "+facts.Sensitivity, fetched)
	warn("UNSIGNED_DECISIONS", "without the signature that the policy asks for", facts.Unsigned)
	slices.Sort(g.Faults)
	g.Notes = tidegate.Cut(strings.Join(notes, "; "))
	g.Metrics = tidegate.Pairs("sensitivity_no_web", codec.Flag(facts.Sensitivity == NoWeb),
		"citations_mode", facts.CitationsMode, "citations_mode_online", codec.Flag(facts.CitationsMode == "online"),
		"run_config_present", codec.Flag(facts.RunConfig),
		"endpoint_configured", codec.Flag(facts.BrightData || facts.Apify),
		"brightdata_configured", codec.Flag(facts.BrightData), "apify_configured", codec.Flag(facts.Apify),
		"final_synthesis", codec.Flag(facts.FinalSynthesis), "fetches", len(facts.Fetches), "fetches_not_allowed", len(fetched),
		"blocked_cited", len(blocked), "unsigned_decisions", len(facts.Unsigned), "budget_exceeded", len(over))
	g.InputsDigest = codec.Digest(tidegate.Pairs("schema", "gate_f_evaluate.inputs.v1", "run_id", facts.RunID, "sensitivity", facts.Sensitivity,
		"citations_mode", facts.CitationsMode, "endpoint_configured", facts.BrightData || facts.Apify, "brightdata_configured", facts.BrightData,
		"apify_configured", facts.Apify, "run_config_present", facts.RunConfig))
	return g
}
