package synthesis

import (
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// pack is a summary_pack.v1 document.
type pack struct {
	SchemaVersion        string        `json:"schema_version"`
	RunID                string        `json:"run_id"`
	GeneratedAt          string        `json:"generated_at"`
	InputsDigest         string        `json:"inputs_digest"`
	Limits               SummaryLimits `json:"limits"`
	Summaries            []Summary     `json:"summaries"`
	TotalEstimatedTokens int           `json:"total_estimated_tokens"`
}

// Summary is one summary as a pack lists it.
type Summary struct {
	PerspectiveID  string     `json:"perspective_id"`
	SourceArtifact string     `json:"source_artifact"`
	SummaryMD      string     `json:"summary_md"`
	SummaryDigest  string     `json:"summary_digest"`
	KeyClaims      []KeyClaim `json:"key_claims"`
}

// check checks an entry by the rules of [PackShape] that its types leave open. A
// test keeps the two in step: to print and parse thousands of entries only to
// check them would take longer than to write them.
func (s Summary) check(path string) error {
	for _, field := range []struct{ name, text string }{
		{"perspective_id", s.PerspectiveID}, {"source_artifact", s.SourceArtifact}, {"summary_md", s.SummaryMD}, {"summary_digest", s.SummaryDigest},
	} {
		if strings.TrimSpace(field.text) == "" {
			return violation("must not be blank", path, ".", field.name)
		}
	}
	for i, c := range s.KeyClaims {
		if fault, at := c.fault(); fault != "" {
			return violation(fault, path, ".key_claims[", strconv.Itoa(i), "].", at)
		}
	}
	return nil
}

// fault is what is wrong with a claim, and with which field of it.
func (c KeyClaim) fault() (fault, at string) {
	if strings.TrimSpace(c.Text) == "" {
		return "must not be blank", "claim"
	}
	if len(c.CIDs) == 0 {
		return "must have at least 1 entries", "citation_cids"
	}
	for i, cid := range c.CIDs {
		if strings.TrimSpace(cid) == "" {
			return "must not be blank", "citation_cids[" + strconv.Itoa(i) + "]"
		}
	}
	if c.Confidence < 0 {
		return "must be an integer of at least 0", "confidence"
	}
	return "", ""
}

func violation(fault string, path ...string) error {
	at := strings.Join(path, "")
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", at), "%s %s", at, fault)
}

// maxClaims is how many claims of one summary a pack lists.
const maxClaims = 20

// The confidence in a claim by what it cites.
const (
	confidenceValid     = 100
	confidencePaywalled = 60
)

// KeyClaim is a list item or paragraph of a summary that cites something.
type KeyClaim struct {
	Text       string   `json:"claim"`
	CIDs       []string `json:"citation_cids"`
	Confidence int      `json:"confidence"`
}

// claimsOf lists the first claims of a summary in document order, and says how
// many there are. A list item or paragraph that is nothing but citations claims
// nothing. The text is data that programs and models will read, so that nothing
// in it is hidden.
func claimsOf(text claim.Inspection, pool *source.Pool) (claims []KeyClaim, total int) {
	for _, p := range text.Passages {
		claim := tidegate.Cut(markdown.Show(p.Text))
		if strings.TrimSpace(claim) == "" {
			continue
		}
		if total++; total > maxClaims {
			continue
		}
		confidence := confidenceValid
		for _, cid := range p.CIDs {
			if pool.Paywalled(cid) {
				confidence = confidencePaywalled
			}
		}
		claims = append(claims, KeyClaim{claim, p.CIDs, confidence})
	}
	return claims, total
}
