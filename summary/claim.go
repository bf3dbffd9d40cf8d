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
	pool    *citationPool
	scanner markdown.Scanner
	plain   []byte
	seen    map[idRef]bool   // the cids of the present claim
	cids    map[idRef]string // those of all claims so far, one string for each
}

func newClaimFinder(pool *citationPool) *claimFinder {
	return &claimFinder{pool: pool, seen: map[idRef]bool{}, cids: map[idRef]string{}}
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
	found, ok := nextCitation(text, 0)
	if !ok {
		return Claim{}, false
	}
	c := Claim{Confidence: confidenceValid}
	clear(f.seen)
	f.plain = f.plain[:0]
	at := 0
	for ; ok; found, ok = nextCitation(text, at) {
		f.plain = bytes.TrimRightFunc(append(f.plain, text[at:found.start]...), unicode.IsSpace)
		at = found.end
		ref := f.pool.ids.find(found.cid(text))
		if f.seen[ref] {
			continue
		}
		f.seen[ref] = true
		c.CIDs = append(c.CIDs, f.cid(ref))
		if f.pool.ids.status(ref) == statusPaywalled {
			c.Confidence = confidencePaywalled
		}
	}
	f.plain = append(f.plain, text[at:]...)
	for i, b := range f.plain {
		if b == '\n' {
			f.plain[i] = ' '
		}
	}
	c.Text = tidegate.Cut(string(bytes.TrimSpace(f.plain)))
	return c, c.Text != ""
}

// cid is the text of an id that the pool has.
func (f *claimFinder) cid(ref idRef) string {
	cid, known := f.cids[ref]
	if !known {
		cid = string(f.pool.ids.text(ref))
		f.cids[ref] = cid
	}
	return cid
}
