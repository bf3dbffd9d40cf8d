package synthesis

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// summaryFault is the first rule that the text of a summary breaks, or nil:
// RAW_URL_NOT_ALLOWED, then UNKNOWN_CID for what the pool does not have.
func summaryFault(id string, text claim.Inspection, pool *source.Pool) error {
	if len(text.URLs) > 0 {
		url := text.URLs[0]
		return tidegate.Errorf(tidegate.RawURLNotAllowed,
			tidegate.Pairs("perspective_id", id, "line_number", url.Line, "text", tidegate.Cut(url.Text)),
			"summary %s.md has a raw URL in line %d: %s", id, url.Line, url.Text)
	}
	for _, m := range text.Mentions {
		if !pool.Has(m.CID) {
			return tidegate.Errorf(tidegate.UnknownCID, tidegate.Pairs("perspective_id", id, "cid", m.CID, "line_number", m.Line),
				"summary %s.md cites %q in line %d, which is not among the validated citations", id, m.CID, m.Line)
		}
	}
	return nil
}

// citedCount is how many different citations a text has.
func citedCount(text claim.Inspection) int {
	cids := map[string]bool{}
	for _, m := range text.Mentions {
		cids[m.CID] = true
	}
	return len(cids)
}
