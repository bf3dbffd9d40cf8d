package figure

import (
	"strings"
	"sync"
)

// unit is what a number counts: % for percentages, an ISO code for a currency, a
// symbol for a physical unit, "" where nothing is said.
type unit string

const (
	noUnit  unit = ""
	percent unit = "%"
	points  unit = "pp"     // percentage points
	clock   unit = "time"   // of day
	decade  unit = "decade" // the 1990s
	dollars unit = "$"      // of whatever country
	pounds  unit = "pound"
	version unit = "version" // of a program: no number that counts
)

// share reports whether two units may stand for the same thing.
func (u unit) share(other unit) bool {
	switch {
	case u == other:
		return true
	case u == dollars:
		return strings.HasSuffix(string(other), "D") && len(other) == 3
	case other == dollars:
		return other.share(u) || strings.HasSuffix(string(u), "D") && len(u) == 3
	case u == pounds:
		return other == "GBP" || other == "lb"
	case other == pounds:
		return u == "GBP" || u == "lb"
	}
	return false
}

// The units that stand beside a number: signs and codes of currencies as they are
// written, before or after it, and words after it in lower case.
var (
	signs = sync.OnceValue(func() map[string]unit {
		signs := map[string]unit{}
		eachWordOf("signs", func(_, currency, sign string) { signs[sign] = unit(currency) })
		return signs
	})
	unitWords = lexiconOf("units", func(name string) unit { return unit(name) })
)

// magnitudes are words that multiply a number, as powers of ten.
var magnitudes = lexiconOf("magnitudes", func(power string) int { return mustNumber("magnitudes", power) })

// shortMagnitudes stand directly after a number, as they are written. For the
// small m and b, which may be units, see [numberReader.attached].
var shortMagnitudes = map[string]int{"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "bn": 9, "mn": 6, "tn": 12, "Bn": 9, "Mn": 6, "BN": 9, "MN": 6, "mln": 6, "mio": 6, "mrd": 9, "m": 6, "b": 9}
