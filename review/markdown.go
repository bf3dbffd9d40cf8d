package review

import (
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Formatted is a REVIEW.md that was not written anywhere.
type Formatted struct {
	OK       codec.True `json:"ok"`
	Markdown string     `json:"markdown"`
}

// FormatMarkdown is the REVIEW.md that a submitted document would become, its
// warnings included. It returns the errors of [Parse].
func FormatMarkdown(v *codec.Value, strict bool) (Formatted, error) {
	p, warnings, err := Parse(v, strict)
	if err != nil {
		return Formatted{}, err
	}
	return Formatted{Markdown: string(Format(p, warnings))}, nil
}

// Report is the file as it would stand on the disk, and nothing else.
func (f Formatted) Report() report.Report {
	r := report.Report{Name: "review_format"}
	r.Add(report.Preformatted(f.Markdown))
	return r
}
