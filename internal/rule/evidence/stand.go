package evidence

import "github.com/tidegate/tidegate/internal/rule/claim"

// Stand is how a sentence stands, as people are told.
type Stand struct {
	// Words say it: "stands on the cited page", "confirmed by a second reader",
	// "inferred", "calculated", "not confirmed", "accepted by NAME", "frame".
	Words string
	// Why says what is held against it, "" for nothing.
	Why string
	// Doubted says that it is marked in the report itself as not confirmed.
	Doubted bool

	heading string // under which the trust line counts it
}

// The headings under which sentences are counted.
const (
	byRule       = "by rule"
	byReader     = "by second reader alone"
	inferred     = "inferred"
	marked       = "marked"
	notConfirmed = "not confirmed"
	accepted     = "accepted"
	frames       = "frames"
	calculations = "calculations" // of sentences that stand under another
)

// Stands says how each sentence stands, in the order of the report.
func (c *Claims) Stands(secondReader bool) []Stand {
	o := c.Judge(secondReader)
	doubts := map[string]Stand{}
	for _, r := range o.Marked {
		doubts[r.ID] = Stand{Why: r.Why, heading: marked}
	}
	for _, r := range o.Refused {
		doubts[r.ID] = Stand{Why: r.Why, heading: notConfirmed}
	}
	for _, s := range o.Open {
		doubts[s.ID] = Stand{Why: "not read", heading: notConfirmed}
	}
	stands := make([]Stand, len(c.Sentences))
	for i := range c.Sentences {
		stands[i] = c.Sentences[i].stand(doubts[c.Sentences[i].ID], secondReader)
	}
	return stands
}

// stand is how a sentence stands against which that is held.
func (s *Claim) stand(doubt Stand, secondReader bool) Stand {
	out := doubt
	switch {
	case s.Accepted != nil:
		return Stand{Words: "accepted by " + s.Accepted.By, Why: s.Accepted.Reason, heading: accepted}
	case s.Form == Frame && doubt.heading != notConfirmed:
		out.Words, out.heading, out.Doubted = "frame", frames, doubt.Why != ""
		if out.Doubted {
			out.Words = "frame, not read"
		}
		return out
	case doubt.heading != "":
		out.Words, out.Doubted = notConfirmed, true
		return out
	case s.Form == Absent && s.Standing == claim.Found:
		out.Words, out.heading = "not found on the archived pages", byRule
	case s.Form == Inferred:
		out.Words, out.heading = inferred, inferred
	case s.Standing == claim.Found:
		out.Words, out.heading = "stands on the cited page", byRule
	default:
		return Stand{Words: s.calculated("confirmed by a second reader"), heading: byReader}
	}
	if secondReader {
		out.Words += ", confirmed by a second reader"
	}
	out.Words = s.calculated(out.Words)
	return out
}

// calculated says that a number of the sentence is a result.
func (s *Claim) calculated(words string) string {
	if s.Calculation != nil {
		return "calculated, " + words
	}
	return words
}
