package paper

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var (
	schemeForm = regexp.MustCompile(`:root\{([^}]*)\}`)
	colourForm = regexp.MustCompile(`--([a-z-]+):#([0-9a-f]{3,6})\b`)
	ruleForm   = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	markForm   = regexp.MustCompile(`text-decoration(?:-color)?:[^;]*var\(--([a-z-]+)\)`)
)

// TestMarksOfSentencesCanBeSeen: every line under or through words has at least three times
// the light of what it stands on, or a third, in both schemes.
func TestMarksOfSentencesCanBeSeen(t *testing.T) {
	t.Parallel()
	light := map[string]string{}
	for i, scheme := range schemeForm.FindAllStringSubmatch(Style, 2) {
		for _, c := range colourForm.FindAllStringSubmatch(scheme[1], -1) {
			light[c[1]] = c[2] // the dark scheme says only what differs
		}
		lines := 0
		for _, rule := range ruleForm.FindAllStringSubmatch(Style, -1) {
			for _, m := range markForm.FindAllStringSubmatch(rule[2], -1) {
				lines++
				for _, ground := range []string{"paper", "sheet"} {
					if got := contrast(light[m[1]], light[ground]); got < 3 {
						t.Errorf("scheme %d: %s has a line of %s, which is %.2f to 1 on %s", i, rule[1], m[1], got, ground)
					}
				}
			}
		}
		if lines < 6 {
			t.Errorf("%d lines were found", lines)
		}
	}
	if got := contrast("dcdfdc", "ffffff"); got > 1.4 {
		t.Errorf("a pale line has %.2f", got)
	}
}

// contrast is how much lighter one colour is than another, as WCAG counts it.
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + .05) / (min(la, lb) + .05)
}

func luminance(hex string) (sum float64) {
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	for i, share := range []float64{.2126, .7152, .0722} {
		n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += share * c
	}
	return sum
}
