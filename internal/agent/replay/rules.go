package replay

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// byEarlierRules reports whether a change rests on sentences, windows or controls that
// rules of an earlier version made. They cannot be made again: what the run keeps is held
// against the digests of the log, and taken.
func (w *walk) byEarlierRules(c change) (bool, error) {
	round := w.round
	if slices.ContainsFunc(c.lines, func(l line) bool {
		return l.event == run.EventMoved && l.get("to") == string(run.Synthesis) && l.get("from") == string(run.Review)
	}) {
		w.round++
	}
	claims, err := w.earlierClaims(round)
	if err != nil || claims == nil {
		return false, err
	}
	name := w.kept.Layout().Claims()
	present, err := w.stage.Read(name)
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return false, err
	}
	asThen := codec.DigestBytes(present) == w.recorded[name]
	if !slices.ContainsFunc(c.lines, func(l line) bool {
		return aboutSentences(l) || !asThen && (l.get("gate") == "E" || l.args().Get("gate").Str() == "E")
	}) {
		return false, nil
	}
	w.leave("the sentences of round %d, which were checked by the rules %s: what the run keeps of them is compared by its digests", round, claims.Rules)
	for _, name := range c.order {
		w.byDigest[name] = true
	}
	return true, nil
}

// aboutSentences reports whether a line records how a report was written or read.
func aboutSentences(l line) bool {
	kind, _, _ := strings.Cut(l.get("job_id"), ".")
	return kind == "verify" || kind == "synthesis" || kind == "section" || l.kind == "claims_read" || l.kind == "claim_accept" ||
		l.kind == "review_kept" && l.entry.Get("made_by").Get("actor").Str() == string(tidegate.Rule)
}

// earlierClaims are the claims of a round as the run keeps them, nil where no rules of an
// earlier version made them.
func (w *walk) earlierClaims(round int64) (*evidence.Claims, error) {
	name := w.claimsFile(round)
	if claims, known := w.claims[name]; known {
		return claims, nil
	}
	claims, err := step.ReadClaimsAt(w.kept, name)
	switch {
	case tidegate.CodeOf(err) == tidegate.SchemaValidationFailed:
		claims = nil // what a damaged one rests on is made again, and differs
	case err != nil:
		return nil, err
	case claims != nil && !claims.Earlier():
		claims = nil
	}
	w.claims[name] = claims
	return claims, nil
}

// adoptEarlier puts a file of the round into the copy that was written by earlier rules, as
// the round keeps it. Of the states of its claims that is the last.
func (w *walk) adoptEarlier(name, digest string) (done bool, err error) {
	if claims, err := w.earlierClaims(w.round); err != nil || claims == nil {
		return false, err
	}
	l := w.kept.Layout()
	draft, bundle := l.Round(w.round)
	from := map[string]string{l.Synthesis(): draft, l.Draft(): draft, l.ReviewBundle: bundle, l.Claims(): w.claimsFile(w.round)}[name]
	if from == "" {
		return false, nil
	}
	kept, err := w.kept.Folder().Read(from)
	if tidegate.CodeOf(err) == tidegate.FileNotFound || err == nil && name != l.Claims() && codec.DigestBytes(kept) != digest {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, w.stage.Write(name, kept)
}

// claimsFile is where the run keeps the claims of a round.
func (w *walk) claimsFile(round int64) string {
	if round <= w.kept.Manifest().ReviewRounds() {
		return w.kept.Layout().RoundClaims(round)
	}
	return w.kept.Layout().Claims()
}
