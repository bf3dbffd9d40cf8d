package git

import (
	"cmp"
	"context"
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

// convertedEnds are those of files with CRLF that git commits with LF.
func convertedEnds(ctx context.Context, dir string, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	answer, err := AskWith(ctx, dir, []byte(strings.Join(names, "\x00")+"\x00"), "check-attr", "-z", "--stdin", "text", "eol")
	if err != nil {
		return nil, err
	}
	auto, _ := Ask(ctx, dir, "config", "--get", "core.autocrlf") // it fails where nothing is set
	automatic := slices.Contains([]string{"true", "input"}, strings.ToLower(strings.TrimSpace(string(auto))))
	converted, text := map[string]bool{}, ""
	fields := strings.Split(string(answer), "\x00") // name, attribute, value, …
	for i := 0; i+2 < len(fields); i += 3 {
		if fields[i+1] == "text" {
			text = fields[i+2]
			continue
		}
		eol := fields[i+2] == "lf" || fields[i+2] == "crlf"
		converted[fields[i]] = text == "set" || text == "auto" || text == "unspecified" && (eol || automatic)
	}
	return converted, nil
}

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

// unlinked says, of a link in place of a file that decides about reviews, what git makes of
// it, "" for others: it follows none, so that the attributes of the base are gone.
func unlinked(name string) string {
	if !DecidesReviews(strings.ToLower(name)) {
		return ""
	}
	return ", where what decides about reviews must be a file: nobody reviews what it says"
}

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
