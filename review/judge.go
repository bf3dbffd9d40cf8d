package review

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
)

// Reviewed is what a review is about.
type Reviewed struct {
	// Text is the text of a file of the reviewed tree; ok is false for a name that is
	// not a file of it.
	Text func(ctx context.Context, file string) (text []byte, ok bool, err error)
	// Shown reports whether the reviewer was shown a line of a file; line 0 stands
	// for the file.
	Shown func(file string, line int64) bool
	// Tests is what the project's tests said, nil when none were run.
	Tests *TestRun
	// Earlier are the issues of the review before that the reviewer was shown.
	Earlier []Finding
	// Parses says what keeps a file from being well-formed; nil: nothing is known of any.
	Parses func(file string, text []byte) error
	// Changed reports whether a file has changed since that review; nil: all may have.
	Changed func(file string) bool
}

// Remark is one thing that is wrong with a review, or remarkable.
type Remark struct {
	Code    tidegate.Code // of a fault
	Path    string        // such as $.issues[2].file
	Message string        // what is the matter
	Change  string        // what to change, of a fault

	finding int      // that it is about, counted from 1; 0 for the answer as a whole
	reopens *Finding // the earlier issue that the answer has no right to close
}

// Judge judges a review that [ParseAnswer] accepted by what it is about. Faults keep
// it from being accepted: a file that the reviewed tree does not have, a line outside
// its file, a quotation that does not stand there, a suggestion that does not apply,
// an earlier issue that is closed although its file was neither shown nor changed, an
// approval although tests failed or an issue is High. Warnings are about issues outside
// what was shown, and about suggestions that do not apply, which are left out. A finding whose
// quotation stands near its line gets the right one.
//
// The error is one of reading the tree.
func Judge(ctx context.Context, a *Answer, about Reviewed) (faults, warnings []Remark, err error) {
	for i := range a.Findings {
		found, warned, err := a.Findings[i].judge(ctx, i, about)
		if err != nil {
			return nil, nil, err
		}
		faults, warnings = append(faults, found...), append(warnings, warned...)
		a.Issues[i] = a.Findings[i].Issue
	}
	for _, issue := range about.Earlier {
		if slices.Contains(a.Closed, issue.ID) && issue.File != "" && about.Changed != nil && !about.Shown(issue.File, 0) && !about.Changed(issue.File) {
			faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: "$.closed", reopens: &issue,
				Message: fmt.Sprintf("the earlier issue %s cannot be closed: %s was neither shown nor changed", issue.ID, issue.File),
				Change:  "Repeat it among the issues with its id."})
		}
	}
	if a.Verdict != Approved {
		return faults, warnings, nil
	}
	if about.Tests != nil && about.Tests.FailedNew > 0 {
		faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: "$.verdict",
			Message: fmt.Sprintf("the verdict is APPROVED, but %d of the project's tests failed", about.Tests.FailedNew),
			Change:  "Answer NEEDS_FIX or MAJOR_ISSUES, with an issue for what makes the tests fail."})
	}
	if high := a.Counts().High; high > 0 {
		faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: "$.verdict", Message: fmt.Sprintf("the verdict is APPROVED, but %d of the issues are High", high),
			Change: "Answer NEEDS_FIX or MAJOR_ISSUES, or give the issues the severity that they have."})
	}
	return faults, warnings, nil
}

// judge judges one finding, whose index is i.
func (f *Finding) judge(ctx context.Context, i int, about Reviewed) (faults, warnings []Remark, err error) {
	at := fmt.Sprintf("$.issues[%d].", i)
	file := cleanLine(f.File)
	if file == "" {
		if f.Quote+f.Suggestion != "" {
			faults = append(faults, Remark{Code: tidegate.QuoteNotFound, Path: at + "quote", Message: "the quotation names no file", Change: "Name the file and the line that the quotation is from.", finding: i + 1})
		}
		return faults, nil, nil
	}
	if local := path.Clean(strings.ReplaceAll(file, `\`, "/")); local != file {
		return []Remark{{Code: tidegate.FileNotFound, Path: at + "file", Message: fmt.Sprintf("%q is not how the file is named", file),
			Change: fmt.Sprintf("Name the file as the diff does, relative to the repository: %q.", local), finding: i + 1}}, nil, nil
	}
	text, ok, err := about.Text(ctx, file)
	if err != nil {
		return nil, nil, err
	}
	lines := CountLines(text)
	switch {
	case !ok:
		faults = append(faults, Remark{Code: tidegate.FileNotFound, Path: at + "file", Message: fmt.Sprintf("there is no file %q in the reviewed tree", file),
			Change: "Name a file of the diff as it stands there, or leave file and line out."})
	case f.Line != nil && (*f.Line < 1 || *f.Line > int64(lines)):
		faults = append(faults, Remark{Code: tidegate.LineNotFound, Path: at + "line", Message: fmt.Sprintf("line %d is outside %s, which has %d lines", *f.Line, file, lines),
			Change: fmt.Sprintf("Give the number that stands before the line, from 1 to %d, or leave line out.", lines)})
	default:
		var said string
		if faults, said = f.judgeQuote(at, text, about.Parses); said != "" {
			warnings = append(warnings, Remark{Code: tidegate.Unchanged, Path: at + "suggestion", Message: said})
		}
		if !about.Shown(file, lineOrZero(f.Issue)) {
			warnings = append(warnings, Remark{Path: at + "file", Message: fmt.Sprintf("%s is outside the diff", f.where())})
		}
	}
	for n := range faults {
		faults[n].finding = i + 1
	}
	return faults, warnings, nil
}

// where is the place of an issue in words.
func (i Issue) where() string {
	if i.Line == nil {
		return i.File
	}
	return fmt.Sprintf("%s:%d", i.File, *i.Line)
}
