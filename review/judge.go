package review

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/tidegate/tidegate"
)

// Reviewed is what a review is about.
type Reviewed struct {
	// Lines is how many lines a file of the reviewed tree has; ok is false for a name
	// that is not a file of it.
	Lines func(ctx context.Context, file string) (lines int, ok bool, err error)
	// Shown reports whether the reviewer was shown a line of a file; line 0 stands
	// for the file.
	Shown func(file string, line int64) bool
	// Tests is what the project's tests said, nil when none were run.
	Tests *TestRun
	// Earlier are the issues of the review before that the reviewer was shown.
	Earlier []Identified
}

// Remark is one thing that is wrong with a review, or remarkable.
type Remark struct {
	Code    tidegate.Code // of a fault
	Path    string        // such as $.issues[2].file
	Message string        // what is the matter
	Change  string        // what to change, of a fault
}

// Judge judges a review that [Parse] accepted by what it is about. Faults keep it
// from being accepted: a file that the reviewed tree does not have, a line outside
// its file, an approval although tests failed or an issue is High. Warnings are
// about issues outside what was shown.
//
// The error is one of reading the tree.
func Judge(ctx context.Context, p Payload, about Reviewed) (faults, warnings []Remark, err error) {
	for i, issue := range p.Issues {
		file := cleanLine(issue.File)
		if file == "" {
			continue
		}
		at := fmt.Sprintf("$.issues[%d].", i)
		if local := path.Clean(strings.ReplaceAll(file, `\`, "/")); local != file {
			faults = append(faults, Remark{tidegate.FileNotFound, at + "file", fmt.Sprintf("%q is not how the file is named", file),
				fmt.Sprintf("Name the file as the diff does, relative to the project: %q.", local)})
			continue
		}
		lines, ok, err := about.Lines(ctx, file)
		switch {
		case err != nil:
			return nil, nil, err
		case !ok:
			faults = append(faults, Remark{tidegate.FileNotFound, at + "file", fmt.Sprintf("there is no file %q in the reviewed tree", file),
				"Name a file of the diff as it stands there, or leave file and line out."})
		case issue.Line != nil && (*issue.Line < 1 || *issue.Line > int64(lines)):
			faults = append(faults, Remark{tidegate.LineNotFound, at + "line", fmt.Sprintf("line %d is outside %s, which has %d lines", *issue.Line, file, lines),
				fmt.Sprintf("Give the number that stands before the line, from 1 to %d, or leave line out.", lines)})
		case !about.Shown(file, lineOrZero(issue)):
			warnings = append(warnings, Remark{Path: at + "file", Message: fmt.Sprintf("%s is outside the diff", issue.where())})
		}
	}
	if p.Verdict != Approved {
		return faults, warnings, nil
	}
	if about.Tests != nil && about.Tests.Failed > 0 {
		faults = append(faults, Remark{tidegate.SchemaValidationFailed, "$.verdict", fmt.Sprintf("the verdict is APPROVED, but %d of the project's tests failed", about.Tests.Failed),
			"Answer NEEDS_FIX or MAJOR_ISSUES, with an issue for what makes the tests fail."})
	}
	if high := p.Counts().High; high > 0 {
		faults = append(faults, Remark{tidegate.SchemaValidationFailed, "$.verdict", fmt.Sprintf("the verdict is APPROVED, but %d of the issues are High", high),
			"Answer NEEDS_FIX or MAJOR_ISSUES, or give the issues the severity that they have."})
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
