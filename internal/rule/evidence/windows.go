package evidence

import (
	"slices"

	"github.com/tidegate/tidegate/internal/rule/claim"
)

// ownWindows gives the sentences of a document the windows that they are read with. One
// whose digest is known keeps those that it has: what a verdict was given for is what
// everybody sees. What supported a sentence before, when it stood otherwise, comes first
// where it is asked again, as far as its pages are the same; and for an inference what
// the sentences have that cite the same sources, one window for each source.
func (c *Claims) ownWindows(known map[string]*Claim, before *Claims) {
	type cited struct{ text, by string }
	once := map[cited]*Claim{} // supported, by its text and its pages
	key := func(c *Claims, s *Claim) cited {
		by := ""
		for _, cid := range s.CIDs {
			by += cid + " " + c.pageDigest(cid) + "\n"
		}
		return cited{plain(s.Text), by}
	}
	if before != nil && before.Rules == Rules {
		for i := range before.Sentences {
			if s := &before.Sentences[i]; s.Verdict != nil && s.Verdict.Verdict == Supported {
				once[key(before, s)] = s
			}
		}
	}
	for i := range c.Sentences {
		s := &c.Sentences[i]
		if old := known[s.Digest]; old != nil {
			s.Windows = notNil(old.Windows)
		} else if old := once[key(c, s)]; old != nil {
			s.Windows = first(old.Windows, s.Windows)
		}
	}
	for i := range c.Sentences {
		if s := &c.Sentences[i]; s.Form == Inferred && known[s.Digest] == nil {
			s.Windows = first(c.reasons(s), s.Windows)
		}
	}
}

// first are windows with others behind them, as many as there were.
func first(windows, others []claim.Window) []claim.Window {
	return slices.Concat(windows, claim.Beside(windows, others, len(others)-len(windows)))
}

// reasons are the windows of sentences that cite the same sources as an inference: for each
// source the one that is nearest to it, of those by which a reader confirmed them, where
// there are such.
func (c *Claims) reasons(inference *Claim) (windows []claim.Window) {
	for _, cid := range inference.CIDs {
		var of, unread []claim.Window
		for i := range c.Sentences {
			s := &c.Sentences[i]
			k := slices.IndexFunc(s.Windows, func(w claim.Window) bool { return w.CID == cid })
			switch {
			case k < 0 || s.Form != Cited && s.Form != Carried:
			case s.Verdict == nil:
				unread = append(unread, s.Windows[k])
			case s.Verdict.Verdict == Supported:
				of = append(of, s.Windows[k])
			}
		}
		if len(of) == 0 {
			of = unread
		}
		if k := (claim.Question{Text: inference.Text}).Nearest(of); k >= 0 {
			windows = append(windows, claim.Beside(windows, of[k:k+1], 1)...)
		}
	}
	return windows
}

func (c *Claims) pageDigest(cid string) string {
	for _, p := range c.Pages {
		if p.CID == cid {
			return p.Digest
		}
	}
	return ""
}
