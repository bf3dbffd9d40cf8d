package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// spending is what the attempts cost, one after the other.
type spending struct {
	Curves []curve
	Rows   []spentRow
	More   int // rows that are not shown
}

// curve is a sum over time, with its limit, in hundredths of the picture.
type curve struct {
	Name, About string
	Points      string  // of the line
	Area        string  // below it
	Limit       float64 // from the top, 0 where there is none
	Last, Most  string
}

// spentRow is what one attempt was charged, and the sums after it.
type spentRow struct {
	At, Job          string
	Tokens, Cost     string
	AllTokens, AllIn string
}

// maxSpent is how many rows the table of what was spent has: the last ones.
const maxSpent = 60

func (l *visit) spending(budget run.Budget) spending {
	var all []*job.Attempt
	for _, j := range l.board.Jobs() {
		if shown, err := l.board.Show(j.ID); err == nil {
			all = append(all, shown.Attempts...)
		}
	}
	ended := func(a *job.Attempt) string { return cmp.Or(a.EndedAt, a.StartedAt) }
	slices.SortStableFunc(all, func(a, b *job.Attempt) int {
		return cmp.Or(strings.Compare(ended(a), ended(b)), strings.Compare(a.JobID, b.JobID), cmp.Compare(a.Number, b.Number))
	})
	var out spending
	if len(all) == 0 {
		return out
	}
	first, last := all[0].StartedAt, ended(all[len(all)-1])
	for _, a := range all {
		first = min(first, a.StartedAt)
	}
	whole := between(first, last)
	var at, tokens, costs []float64
	var token, cost float64
	for i, a := range all {
		u := a.Usage
		token += float64(u.InputTokens + u.OutputTokens)
		one := 0.0
		if u.CostUSD != nil {
			one = *u.CostUSD
		}
		cost += one
		x := float64(i+1) / float64(len(all)) * 100 // by order, where the clock stands still
		if whole > 0 {
			x = float64(between(first, ended(a))) / float64(whole) * 100
		}
		at, tokens, costs = append(at, x), append(tokens, token), append(costs, cost)
		out.Rows = append(out.Rows, spentRow{At: moment(ended(a)), Job: a.JobID, Tokens: number(u.InputTokens + u.OutputTokens), Cost: dollars(one),
			AllTokens: number(token), AllIn: dollars(cost)})
	}
	if len(out.Rows) > maxSpent {
		out.More = len(out.Rows) - maxSpent
		out.Rows = out.Rows[out.More:]
	}
	out.Curves = append(out.Curves, newCurve("Tokens", at, tokens, budget.MaxTokens, func(f float64) string { return number(f) }))
	if cost > 0 || !math.IsInf(budget.MaxCostUSD, 1) {
		out.Curves = append(out.Curves, newCurve("Cost", at, costs, budget.MaxCostUSD, dollars))
	}
	return out
}

func dollars(f float64) string { return "$" + strconv.FormatFloat(f, 'f', 2, 64) }

// newCurve draws sums as steps: what was spent rises when an attempt ends.
func newCurve(name string, at, sums []float64, limit float64, text func(float64) string) curve {
	last := sums[len(sums)-1]
	c := curve{Name: name, Last: text(last)}
	top := last
	limited := !math.IsInf(limit, 1) && limit > 0
	if limited {
		c.Most = text(limit)
		top = max(top, limit)
	}
	if top == 0 {
		top = 1
	}
	y := func(v float64) float64 { return round(38 - v/top*36) }
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
	c.Area = "0,38 " + c.Points + " 100,38"
	c.About = name + " over time: " + c.Last + " after " + report.Counted(len(at), "attempt")
	if limited {
		c.About += ", of " + c.Most
	}
	return c
}
