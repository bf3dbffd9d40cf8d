package dispatch

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Wrong is what was wrong in answers to a job for the same reason.
type Wrong struct {
	Code, Text, Why string // Text is the line of the answer, "" where it is about none
	Tries           int    // in how many answers
}

// mostWrong is how many kinds of faults are told, and stand in a note.
const mostWrong = 8

// WhatIsWrong groups the faults of all answers to a job, the most frequent first. Note tells
// the next agent what to change, as the rules said it; cost is what a try cost so far, 0 where
// nobody knows.
func WhatIsWrong(board *job.Board, id string) (groups []Wrong, note string, cost float64) {
	shown, err := board.Show(id)
	if err != nil {
		return nil, "", 0
	}
	var notes []string
	priced := 0
	count := func(w Wrong) (first bool) {
		at := slices.IndexFunc(groups, func(o Wrong) bool { return o.Code == w.Code && o.Text == w.Text && (w.Code != "" || o.Why == w.Why) })
		if first = at < 0; first {
			at = len(groups)
			groups = append(groups, w)
		}
		groups[at].Tries++
		return first
	}
	for _, a := range shown.Attempts {
		if usd := a.Usage.CostUSD; usd != nil && *usd > 0 {
			cost, priced = cost+*usd, priced+1
		}
		if len(a.Submissions) == 0 && a.Reason != "" {
			count(Wrong{Why: a.Reason})
		}
		for _, s := range a.Submissions {
			text, _ := board.Run().Folder().Read(run.AttemptDir(a.JobID, a.Number) + "/" + s.Answer) // without it only the reasons are told
			lines := strings.Split(job.AsJudged(a.Kind, text), "\n")
			told := map[string]bool{}
			for _, f := range s.Faults {
				w := Wrong{Code: f.Code, Why: f.Message}
				if f.Line != nil && *f.Line >= 1 && *f.Line <= len(lines) {
					w.Text = lines[*f.Line-1]
				}
				if key := w.Code + w.Text; !told[key] {
					told[key] = true
					if count(w) && f.ChangeNote != "" && !slices.Contains(notes, f.ChangeNote) && len(notes) < mostWrong {
						notes = append(notes, f.ChangeNote)
					}
				}
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b Wrong) int { return b.Tries - a.Tries })
	return groups[:min(len(groups), mostWrong)], strings.Join(notes, " "), cost / float64(max(priced, 1))
}
