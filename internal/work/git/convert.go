package git

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/review"
)

// attributesFile says, in any folder, what git makes of the files there.
const attributesFile = ".gitattributes"

// Converted is a line of attributes that comes or goes with a change, and by which a
// checkout has other bytes than were reviewed.
type Converted struct{ File, Line string }

// Converted are the first such lines of the files with attributes.
func (d *Diff) Converted() []Converted { return d.converted }

// convertedBy is the line of a file by which checkouts change, "" where there is none.
func convertedBy(f review.File) string {
	before, after := convertingLines(cmp.Or(f.From, f.Name), f.Before), convertingLines(f.Name, f.After)
	if f.From != "" && len(before) > 0 {
		return before[0] // it is about another folder
	}
	for _, line := range after {
		if len(before) > 0 && line == before[0] {
			before = before[1:]
		} else if !onlyOff(line) {
			return line
		}
	}
	if len(before) > 0 {
		return before[0]
	}
	return ""
}

// harmless are attributes that change nothing about the bytes of a checkout.
var harmless = []string{"diff", "merge", "whitespace", "delta", "conflict-marker-size", "export-ignore", "export-subst"}

// convertingLines are the lines of attributes that may be about conversions: any that git
// does not use otherwise can be a name for some.
func convertingLines(name string, text []byte) (lines []string) {
	if !strings.EqualFold(path.Base(name), attributesFile) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		fields := attributeFields(line)
		if len(fields) > 1 && !strings.HasPrefix(fields[0], "#") && slices.ContainsFunc(fields[1:], converts) {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

// attributeFields are the pattern of a line and its attributes, as git parts them.
func attributeFields(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
}

func converts(attribute string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(attribute, "-!"), "=")
	return !slices.Contains(harmless, name) && !strings.HasPrefix(name, "linguist-") && !strings.HasPrefix(name, "gitlab-")
}

// onlyOff reports whether a line turns conversions off and none on: a checkout then has
// the bytes that are committed.
func onlyOff(line string) bool {
	fields := attributeFields(line)
	return !strings.HasPrefix(fields[0], "[attr]") && !slices.ContainsFunc(fields[1:], func(attribute string) bool {
		return converts(attribute) && attribute != "binary" && !strings.HasPrefix(attribute, "-") && !strings.HasPrefix(attribute, "!")
	})
}
