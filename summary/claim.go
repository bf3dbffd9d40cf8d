package summary

import (
	"bytes"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
)

// maxClaims is how many claims of one summary a pack lists.
const maxClaims = 20

// The confidence in a claim by what it cites.
const (
	confidenceValid     = 100
	confidencePaywalled = 60
)

// Claim is a list item or paragraph of a summary that cites something.
type Claim struct {
	Text       string   `json:"claim"`
	CIDs       []string `json:"citation_cids"`
	Confidence int      `json:"confidence"`
}

// claimFinder finds the claims of one summary after the other.
type claimFinder struct {
	pool    *Pool
	scanner markdown.Scanner
	seen    map[string]bool // the cids of the present claim
}

func newClaimFinder(pool *Pool) *claimFinder {
	return &claimFinder{pool: pool, seen: map[string]bool{}}
}

// find lists the first claims of a summary in document order, and says how many
// there are. A list item or paragraph that is nothing but citations claims
// nothing.
func (f *claimFinder) find(text []byte) (claims []Claim, total int) {
	// A bytes.Reader does not fail.
	_, _ = f.scanner.Scan(bytes.NewReader(text), markdown.Events{Passage: func(p markdown.Passage) {
		claim, ok := f.claim(p.Text)
		if !ok {
			return
		}
		total++
		if len(claims) < maxClaims {
			claims = append(claims, claim)
		}
	}})
	return claims, total
}

func (f *claimFinder) claim(text []byte) (Claim, bool) {
	c := Claim{Confidence: confidenceValid}
	clear(f.seen)
	var plain []byte
	at := 0
	for {
		found, ok := nextCitation(text, at)
		if !ok {
			break
		}
		plain = bytes.TrimRightFunc(append(plain, text[at:found.start]...), unicode.IsSpace)
		if cid := string(found.cid(text)); !f.seen[cid] {
			f.seen[cid] = true
			c.CIDs = append(c.CIDs, cid)
			if f.pool.paywalled(found.cid(text)) {
				c.Confidence = confidencePaywalled
			}
		}
		at = found.end
	}
	plain = bytes.TrimSpace(append(plain, text[at:]...))
	c.Text = tidegate.Cut(string(bytes.ReplaceAll(plain, []byte("\n"), []byte(" "))))
	return c, len(c.CIDs) > 0 && c.Text != ""
}
