package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
)

// Readers say who read a report, for its trust line.
type Readers struct {
	Unsourced bool // no source was checked
	Off       bool // a person asked for warnings alone
	None      bool // a person asked for no second reader
	OneAgent  bool // the writer's own agent read it
	Undriven  bool // agents that tidegate did not start
	Service   bool // a service of a model read it, which sees every prompt
	Recorded  bool // the reader was a recording
	Person    bool // a person read some of it, and was not tested
	Adapted   bool // a person let recorded agents answer what they were not asked
	Unfit     int  // readers that missed too many pairs, and read no more
}

// TrustLine says how the sentences of a report were checked, in the words that every
// view uses. Claims is nil where the run has none.
func TrustLine(c *Claims, by Readers) string {
	return by.checked(c) + by.also("")
}

// TrustLineIn is the trust line in a language.
func TrustLineIn(language string, c *Claims, by Readers) string {
	if language == "" || language == "en" {
		return TrustLine(c, by)
	}
	if by.Unsourced || c == nil {
		return Say(language, by.checked(c)) + by.also(language)
	}
	counts := c.counts(!by.None)
	first := "%d stand by rule and second reader"
	if by.None {
		first = "%d stand by rule"
	}
	parts := []string{Say(language, first, counts[byRule])}
	for _, kind := range []string{byReader, inferred, marked, notConfirmed, accepted, frames, calculations} {
		switch n := counts[kind]; {
		case n == 0:
		case kind == accepted:
			parts = append(parts, Say(language, "%d accepted by %s", n, c.acceptedBy()))
		default:
			parts = append(parts, Say(language, "%d "+kind, n))
		}
	}
	line := Say(language, "Sentences: %d", len(c.Sentences)) + " · " + strings.Join(parts, " · ") + ". "
	return line + strings.Join(by.tested(language, c), " ") + by.also(language)
}

// also is what else a reader must know of how sentences were checked.
func (by Readers) also(language string) (line string) {
	if by.Adapted {
		line += " " + Say(language, "Recorded agents were allowed to answer another question than theirs.")
	}
	return line
}

// checked says how the sentences were checked.
func (by Readers) checked(c *Claims) string {
	switch {
	case by.Unsourced:
		return "No source was checked."
	case c == nil:
		return "No sentence of it was checked."
	}
	counts := c.counts(!by.None)
	stands := "stand by rule and second reader"
	if by.None {
		stands = "stand by rule"
	}
	parts := []string{fmt.Sprintf("%d %s", counts[byRule], stands)}
	for _, kind := range []string{byReader, inferred, marked, notConfirmed, accepted, frames} {
		n := counts[kind]
		switch {
		case n == 0:
		case kind == frames:
			parts = append(parts, report.Counted(n, "frame"))
		case kind == accepted:
			parts = append(parts, fmt.Sprintf("%d accepted by %s", n, c.acceptedBy()))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	line := fmt.Sprintf("%s: %s", report.Counted(len(c.Sentences), "sentence"), strings.Join(parts, ", "))
	if n := counts[calculations]; n > 0 {
		line += "; " + report.Counted(n, "calculation")
	}
	return line + ". " + strings.Join(by.tested("", c), " ")
}

// counts puts every sentence under one heading, and counts the calculations.
func (c *Claims) counts(secondReader bool) map[string]int {
	counts := map[string]int{}
	for i, stand := range c.Stands(secondReader) {
		counts[stand.heading]++
		if c.Sentences[i].Calculation != nil {
			counts[calculations]++
		}
	}
	return counts
}

// acceptedBy are the people who accepted sentences.
func (c *Claims) acceptedBy() string {
	var names []string
	for i := range c.Sentences {
		if a := c.Sentences[i].Accepted; a != nil && !slices.Contains(names, a.By) {
			names = append(names, a.By)
		}
	}
	return strings.Join(names, ", ")
}

// String says how many pairs there were, and how many of them were missed.
func (p Pairs) String() string {
	missed := "missed none"
	switch {
	case p.Missed == 1:
		missed = "missed 1, in an answer that was refused"
	case p.Missed > 1:
		missed = fmt.Sprintf("missed %d, in answers that were refused", p.Missed)
	}
	return fmt.Sprintf("%s, %d of them with every word on the page, and %s", report.Counted(p.Asked, "pair"), p.Hard, missed)
}

// tested says how the readers were tested.
func (by Readers) tested(language string, c *Claims) []string {
	read := slices.ContainsFunc(c.Sentences, func(s Claim) bool { return s.Verdict != nil })
	var said []string
	switch {
	case by.Off:
		said = append(said, Say(language, "Grounding was off: what is not on the cited pages is marked, and there was no second reader."))
	case by.None:
		said = append(said, Say(language, "There was no second reader: weak sentences and frames are marked."))
	case by.Undriven:
		said = append(said, Say(language, "It was read by agents that tidegate did not start, who could compare their prompts."))
	case !read:
		said = append(said, Say(language, "No second reader has read it."))
	case c.Pairs.Asked > 0 && language != "" && language != "en":
		said = append(said, Say(language, "Readers were tested with pairs: %d; with every word on the page: %d; missed, in answers that were refused: %d.", c.Pairs.Asked, c.Pairs.Hard, c.Pairs.Missed))
	case c.Pairs.Asked > 0:
		said = append(said, "Readers were tested with "+c.Pairs.String()+".")
	case !by.Person:
		said = append(said, Say(language, "It was read, not tested."))
	}
	for _, also := range []struct {
		so   bool
		text string
	}{
		{by.Unfit == 1, "A reader missed too many of them, and another read in its place."},
		{by.Unfit > 1, Say(language, "%d readers missed too many of them, and others read in their place.", by.Unfit)},
		{by.Person, "A person read some of it, and was not tested."},
		{by.Service && !by.Undriven && !by.None && !by.Off, "It was read by a service that could compare its prompts."},
		{by.OneAgent && read && !by.None && !by.Off, "It was read by the writer's own agent."},
		{by.Recorded, "The second reader was a recording."},
	} {
		if also.so {
			said = append(said, Say(language, also.text))
		}
	}
	return said
}

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
