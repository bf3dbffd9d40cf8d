package synthesis

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

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
