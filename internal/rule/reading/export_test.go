package reading

import (
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Said is the answer to a part of a reader that copies fitting words.
func Said(a Asked, supported func(Item) bool) Judged {
	var j Judged
	for _, item := range a.Items {
		verdict := evidence.Unsupported
		if supported(item) {
			verdict = evidence.Supported
		}
		j.Given = append(j.Given, Given{ID: item.ID, Verdict: verdict})
	}
	return a.weigh(j)
}

// ItemOn is a statement on a page.
func ItemOn(cid, text string, windows ...claim.Window) Item {
	return Item{ID: "c1", Form: Statement, Text: text, Windows: windows, cids: []string{cid}}
}
