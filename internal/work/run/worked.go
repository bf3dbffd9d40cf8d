package run

import (
	"slices"
	"time"

	"github.com/tidegate/tidegate"
)

// Times are spans of time, in order and apart, so that each moment counts once.
type Times []Span

// Span is the time from a moment to another.
type Span struct{ From, To time.Time }

// With is the times with one more span. The list that it is called on stays as it
// is.
func (t Times) With(s Span) Times {
	if !s.To.After(s.From) {
		return t
	}
	begins, _ := slices.BinarySearchFunc(t, s, func(each, s Span) int { return each.To.Compare(s.From) })
	ends := begins
	for ends < len(t) && !t[ends].From.After(s.To) {
		s.From, s.To = earlier(s.From, t[ends].From), later(s.To, t[ends].To)
		ends++
	}
	return slices.Concat(t[:begins], []Span{s}, t[ends:])
}

// Without is the times without those in a span. The list that it is called on stays as
// it is.
func (t Times) Without(s Span) Times {
	var left Times
	for _, each := range t {
		left = left.With(Span{each.From, earlier(each.To, s.From)}).With(Span{later(each.From, s.To), each.To})
	}
	return left
}

// ParseSpan is the span between two times as they stand in artifacts; empty where one of
// them is none.
func ParseSpan(from, to string) Span {
	begins, ok := tidegate.ParseTime(from)
	ends, also := tidegate.ParseTime(to)
	if !ok || !also {
		return Span{}
	}
	return Span{begins, ends}
}

// Total is how long all of them take.
func (t Times) Total() time.Duration {
	var sum time.Duration
	for _, each := range t {
		sum += each.To.Sub(each.From)
	}
	return sum
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fetchTime is the longest time between the start of fetching and the line about
// the fetched sources: pages are kept as they come.
const fetchTime = time.Minute

// RulesAtWork are the times in which rules were at work, by the log. Only fetching
// takes time: it counts from the event before each line about fetched sources to that
// line, but at most a minute, because nothing may have been at work before. It
// returns the errors of [Run.EventsOf].
func (r *Run) RulesAtWork() (Times, error) {
	events, err := r.EventsOf(EventMoved, EventAnswered, EventFetched)
	if err != nil {
		return nil, err
	}
	var times Times
	for i, e := range events {
		if e.Event == EventFetched && i > 0 {
			times = times.With(Span{later(events[i-1].Time, e.Time.Add(-fetchTime)), e.Time})
		}
	}
	return times, nil
}
