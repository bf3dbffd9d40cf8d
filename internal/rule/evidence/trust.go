package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Readers say who read a report, for its trust line.
type Readers struct {
	Unsourced bool // no source was checked
	Off       bool // a person asked for warnings alone
	None      bool // a person asked for no second reader
	OneAgent  bool // the writer's own agent read it
	Undriven  bool // agents that tidegate did not start
	Recorded  bool // the reader was a recording
	Person    bool // a person read some of it, and was not tested
	Adapted   bool // a person let recorded agents answer what they were not asked
	Unfit     int  // readers that missed too many planted errors, and read no more
}

// TrustLine says how the sentences of a report were checked, in the words that every
// view uses. Claims is nil where the run has none.
func TrustLine(c *Claims, by Readers) string {
	return by.checked(c) + by.also("", c)
}

// TrustLineIn is the trust line in a language.
func TrustLineIn(language string, c *Claims, by Readers) string {
	if language == "" || language == "en" {
		return TrustLine(c, by)
	}
	if by.Unsourced || c == nil {
		return Say(language, by.checked(c)) + by.also(language, c)
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
	return line + strings.Join(by.tested(language, c), " ") + by.also(language, c)
}

// also is what else a reader must know of how sentences were checked.
func (by Readers) also(language string, c *Claims) (line string) {
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

// tested says how the readers were tested.
func (by Readers) tested(language string, c *Claims) []string {
	controls, read := c.Controls, slices.ContainsFunc(c.Sentences, func(s Claim) bool { return s.Verdict != nil })
	var said []string
	switch {
	case by.Off:
		said = append(said, Say(language, "Grounding was off: what is not on the cited pages is marked, and there was no second reader."))
	case by.None:
		said = append(said, Say(language, "There was no second reader: weak sentences and frames are marked."))
	case by.Undriven:
		said = append(said, Say(language, "It was read by agents that tidegate did not start, who could see the controls."))
	case !read:
		said = append(said, Say(language, "No second reader has read it."))
	case controls.Planted > 0 && language != "" && language != "en":
		said = append(said, Say(language, "Readers were tested with planted errors: %d; with every word on the page: %d; caught: %d.", controls.Planted, controls.Hard, controls.Caught))
	case controls.Planted > 0:
		caught := "all"
		if controls.Caught < controls.Planted {
			caught = fmt.Sprintf("%d", controls.Caught)
		}
		said = append(said, fmt.Sprintf("Readers were tested with %s, %d of them with every word on the page, and caught %s.",
			report.Counted(controls.Planted, "planted error"), controls.Hard, caught))
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
		{by.OneAgent && read && !by.None && !by.Off, "It was read by the writer's own agent."},
		{by.Recorded, "The second reader was a recording."},
	} {
		if also.so {
			said = append(said, Say(language, also.text))
		}
	}
	return said
}
