package chart

import (
	"math"
	"strconv"
	"time"
)

// Tick is a place on the axis of a picture, in hundredths of it.
type Tick struct {
	At     float64
	Label  string
	Anchor string // where its label is held: start, middle or end
}

// mostTicks is how many parts an axis has at most.
const mostTicks = 5

// timeSteps are the distances at which people expect the ticks of a time.
var timeSteps = []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 24 * time.Hour}

// TimeAxis are the ticks of a time that begins at nothing.
func TimeAxis(whole time.Duration) []Tick {
	if whole <= 0 {
		return nil
	}
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if whole <= mostTicks*s {
			step = s
			break
		}
	}
	for whole > mostTicks*step {
		step *= 2
	}
	var out []Tick
	for at := time.Duration(0); at <= whole; at += step {
		out = append(out, newTick(float64(at)/float64(whole)*100, span(at, step)))
	}
	return out
}

// span is a time in the unit of the steps of its axis.
func span(at, step time.Duration) string {
	in := func(unit time.Duration, name string) string {
		return strconv.FormatFloat(float64(at)/float64(unit), 'f', -1, 64) + " " + name
	}
	switch {
	case at == 0:
		return "0"
	case step < 100*time.Millisecond:
		return in(time.Millisecond, "ms")
	case step < time.Minute:
		return in(time.Second, "s")
	case step < time.Hour:
		return in(time.Minute, "min")
	}
	return in(time.Hour, "h")
}

// AmountAxis are the ticks of an amount, and the round amount at which the axis ends.
func AmountAxis(most float64, text func(float64) string) (ticks []Tick, top float64) {
	if most <= 0 || math.IsInf(most, 0) {
		return nil, 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step <= 1.5:
		step /= 2
	case most/step > mostTicks:
		step *= 2
	}
	top = math.Ceil(most/step) * step
	for at := 0.0; at <= top+step/2; at += step {
		ticks = append(ticks, Tick{At: hundredth(100 - at/top*100), Label: text(at)})
	}
	return ticks, top
}

func newTick(at float64, label string) Tick {
	t := Tick{At: hundredth(at), Label: label, Anchor: "middle"}
	switch {
	case at < 2:
		t.Anchor = "start"
	case at > 98:
		t.Anchor = "end"
	}
	return t
}

func hundredth(at float64) float64 { return math.Round(at*100) / 100 }
