package web

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/chart"
	"github.com/tidegate/tidegate/internal/work/run"
)

// spending is what the run took: in all, over time, and for each part of the work.
type spending struct {
	Figures []meter
	Curves  []curve
	Parts   []spentPart
}

// curve is a sum over time with its axes, in hundredths of the picture.
type curve struct {
	Name, About string
	Points      string  // of the line
	Area        string  // below it
	Limit       float64 // from the top, 0 where there is none
	Times       []chart.Tick
	Amounts     []chart.Tick
}

// spentPart is what the attempts of one perspective took, or of a part of the work that
// belongs to none.
type spentPart struct {
	Job, Title string // Job is where a perspective was researched, "" for other parts
	All        string // tokens of all answers
	Accepted   string // tokens of the accepted answer, "" where there is none
	Cost       string

	key string
}

// unreported is the cost of an agent that does not say it.
const unreported = "not reported by this agent"

// charged is a sum of what attempts took.
type charged struct {
	all, accepted float64 // tokens
	usd           float64
	priced, not   int // attempts that report what they cost, and those that do not
}

func (c *charged) add(o charged) {
	c.all, c.accepted, c.usd, c.priced, c.not = c.all+o.all, c.accepted+o.accepted, c.usd+o.usd, c.priced+o.priced, c.not+o.not
}

// cost says what is known of the cost.
func (c charged) cost() string {
	switch {
	case c.priced == 0 && c.not == 0:
		return dollars(0)
	case c.priced == 0:
		return unreported
	case c.not > 0:
		return dollars(c.usd) + ", and " + report.Counted(c.not, "attempt") + " whose agent does not report it"
	}
	return dollars(c.usd)
}

// charge is what an attempt took.
func (l *visit) charge(a *job.Attempt) charged {
	c := charged{all: float64(a.Usage.InputTokens + a.Usage.OutputTokens)}
	if a.Usage.CostUSD != nil {
		c.usd, c.priced = *a.Usage.CostUSD, 1
	} else if c.all > 0 {
		c.not = 1
	}
	if n := len(a.Submissions); a.Outcome == job.OutcomeAccepted && n > 0 {
		last := a.Submissions[n-1]
		if last.Usage != nil {
			c.accepted = float64(last.Usage.InputTokens + last.Usage.OutputTokens)
		} else {
			// As a report counts it: a quarter of the bytes of prompt and answer.
			for _, name := range []string{"prompt.md", last.Answer} {
				if info, err := fs.Stat(l.run.Folder().FS(), run.AttemptDir(a.JobID, a.Number)+"/"+name); err == nil {
					c.accepted += float64((info.Size() + 3) / 4)
				}
			}
		}
	}
	return c
}

func (l *visit) spending(policy run.Policy) spending {
	var out spending
	var attempts []*job.Attempt
	budget := policy.Budget
	each := map[*job.Attempt]charged{}
	var sum charged
	parts := map[string]*charged{}
	for _, j := range l.board.Jobs() {
		shown, err := l.board.Show(j.ID)
		if err != nil || len(shown.Attempts) == 0 {
			continue
		}
		key, row := l.partOf(j)
		if parts[key] == nil {
			parts[key] = &charged{}
			row.key = key
			out.Parts = append(out.Parts, row)
		}
		for _, a := range shown.Attempts {
			each[a] = l.charge(a)
			parts[key].add(each[a])
			sum.add(each[a])
		}
		attempts = append(attempts, shown.Attempts...)
	}
	for i := range out.Parts {
		row := &out.Parts[i]
		part := parts[row.key]
		row.All, row.Cost = number(part.all), part.cost()
		if part.accepted > 0 {
			row.Accepted = number(part.accepted)
		}
	}
	out.Figures = figures(l.board.Spent(), policy, sum)
	if len(attempts) == 0 {
		return out
	}
	ended := func(a *job.Attempt) string { return cmp.Or(a.EndedAt, a.StartedAt) }
	slices.SortStableFunc(attempts, func(a, b *job.Attempt) int {
		return cmp.Or(strings.Compare(ended(a), ended(b)), strings.Compare(a.JobID, b.JobID), cmp.Compare(a.Number, b.Number))
	})
	first, last := attempts[0].StartedAt, ended(attempts[len(attempts)-1])
	for _, a := range attempts {
		first = min(first, a.StartedAt)
	}
	whole := between(first, last)
	times := chart.TimeAxis(whole)
	var at, tokens, costs []float64
	var so charged
	for i, a := range attempts {
		so.add(each[a])
		x := float64(i+1) / float64(len(attempts)) * 100 // by order, where the clock stands still
		if whole > 0 {
			x = float64(between(first, ended(a))) / float64(whole) * 100
		}
		at, tokens, costs = append(at, x), append(tokens, so.all), append(costs, so.usd)
	}
	if so.usd > 0 {
		out.Curves = append(out.Curves, newCurve("Cost", at, costs, budget.MaxCostUSD, times, dollars))
	}
	if so.all > 0 {
		out.Curves = append(out.Curves, newCurve("Tokens of all answers", at, tokens, budget.MaxTokens, times, func(f float64) string { return number(f) }))
	}
	return out
}

// partOf is the part of the work that a job belongs to: its perspective, with the research
// and its summary, or else the part of the run.
func (l *visit) partOf(j job.Job) (key string, row spentPart) {
	for _, kind := range []string{"wave1.", "wave2.", "summary."} {
		if id, ok := strings.CutPrefix(j.ID, kind); ok {
			return "perspective " + id, spentPart{Job: j.ID, Title: j.Title}
		}
	}
	words := stageWords(kindStages[j.Kind])
	return words, spentPart{Title: words}
}

// figures are the sums, each against its limit where it has one.
func figures(s job.Spent, policy run.Policy, sum charged) []meter {
	b := policy.Budget
	cost := against("Cost", s.CostUSD, b.MaxCostUSD, dollars)
	cost.Amount = sum.cost()
	tokens := against("Tokens of all answers", s.Tokens, b.MaxTokens, func(f float64) string { return number(f) })
	accepted := meter{Name: "Tokens of accepted answers", Amount: number(sum.accepted)}
	time := against("Time", s.Minutes, b.MaxMinutes, minutes)
	if e := policy.Estimate; e != nil {
		tokens.Before, time.Before = number(e.Tokens), minutes(e.Minutes)
		if e.CostUSD != nil && *e.CostUSD > 0 {
			cost.Before = dollars(*e.CostUSD)
		}
	}
	all := []meter{cost, tokens, accepted, time, against("Folder", s.MB, b.MaxMB, megabytes)}
	used := []float64{s.CostUSD + float64(sum.not), s.Tokens, sum.accepted, s.Minutes, math.Floor(s.MB * 10)}
	var out []meter
	for i, m := range all {
		if used[i] > 0 || m.Before != "" {
			out = append(out, m)
		}
	}
	return out
}

func minutes(f float64) string {
	if f < 1 {
		return number(f*60) + " s"
	}
	return number(f) + " min"
}

func megabytes(f float64) string {
	if f < 10 {
		return strconv.FormatFloat(f, 'f', 1, 64) + " MB"
	}
	return number(f) + " MB"
}

func dollars(f float64) string { return "$" + strconv.FormatFloat(f, 'f', 2, 64) }

// newCurve draws sums as steps: what was spent rises when an attempt ends. A limit is drawn
// where it is near enough to tell something.
func newCurve(name string, at, sums []float64, limit float64, times []chart.Tick, text func(float64) string) curve {
	last := sums[len(sums)-1]
	c := curve{Name: name, Times: times}
	most := last
	limited := !math.IsInf(limit, 1) && limit > 0 && limit < 3*last
	if limited {
		most = max(last, limit)
	}
	amounts, top := chart.AmountAxis(most, text)
	c.Amounts = amounts
	y := func(v float64) float64 { return round(100 - v/top*100) }
	if limited {
		c.Limit = y(limit)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "0,%v", y(0))
	before := 0.0
	for i := range at {
		fmt.Fprintf(&b, " %v,%v %v,%v", round(at[i]), y(before), round(at[i]), y(sums[i]))
		before = sums[i]
	}
	fmt.Fprintf(&b, " 100,%v", y(before))
	c.Points = b.String()
	c.Area = "0,100 " + c.Points + " 100,100"
	c.About = name + " over time: " + text(last) + " after " + report.Counted(len(at), "attempt")
	if !math.IsInf(limit, 1) && limit > 0 {
		c.About += ", of " + text(limit)
	}
	return c
}
