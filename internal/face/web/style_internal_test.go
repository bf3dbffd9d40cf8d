package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	ruleForm    = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	sizeForm    = regexp.MustCompile(`^var\(--t[1-5]\)$`)
	spaceForm   = regexp.MustCompile(`^(0|auto|var\(--s[1-6]\)|calc\(-1\*var\(--s[1-6]\)\))$`)
	spaceNames  = regexp.MustCompile(`^((margin|padding)(-.*)?|(row-|column-)?gap)$`)
	commentForm = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// TestTheStyleHasFiveSizesAndOneScale: type and spacing come from the scales at the head of
// the style sheet, and the colour of the person marks what needs the person, and nothing else.
func TestTheStyleHasFiveSizesAndOneScale(t *testing.T) {
	t.Parallel()
	sheet, _, _ := strings.Cut(commentForm.ReplaceAllString(ownStyle, ""), "@media print")
	rules := ruleForm.FindAllStringSubmatch(sheet, -1)
	if len(rules) < 100 {
		t.Fatalf("%d rules were read", len(rules))
	}
	for _, rule := range rules {
		selector := strings.TrimSpace(rule[1])
		for declaration := range strings.SplitSeq(rule[2], ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(declaration), ":")
			switch {
			case name == "font-size" && value != "inherit" && !sizeForm.MatchString(value):
				t.Errorf("%s has the size %s", selector, value)
			case name == "font" && selector != "html" && value != "inherit":
				t.Errorf("%s sets its whole font", selector)
			case spaceNames.MatchString(name) && slices.ContainsFunc(strings.Fields(value), func(v string) bool { return !spaceForm.MatchString(v) }):
				t.Errorf("%s has %s:%s", selector, name, value)
			case strings.Contains(value, "var(--person") && !strings.Contains(selector, ".person"):
				t.Errorf("%s has the colour of the person", selector)
			}
		}
	}
}
