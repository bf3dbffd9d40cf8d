package reading

// Attempt is one answer to a part, as far as the fitness of its reader goes.
type Attempt struct {
	Reader string // driver and model; by hand the holder
	Round  int
	Part   int
	Failed bool // by controls
}

// Unfit reports whether a reader may not read on: at least two of its attempts, and more
// than a third of all its attempts in the run, failed by controls. It counts once every
// one of the parts of the round had an attempt, or the reader failed twice at one part.
func Unfit(attempts []Attempt, reader string, round, parts int) bool {
	tried := map[int]bool{}
	failedAt := map[[2]int]int{}
	all, failed, twice := 0, 0, false
	for _, a := range attempts {
		if a.Round == round {
			tried[a.Part] = true
		}
		if a.Reader != reader {
			continue
		}
		all++
		if a.Failed {
			failed++
			at := [2]int{a.Round, a.Part}
			failedAt[at]++
			twice = twice || failedAt[at] > 1
		}
	}
	return (len(tried) >= parts || twice) && failed >= 2 && 3*failed > all
}
