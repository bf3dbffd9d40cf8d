package report

import (
	"io"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// RDJSON writes every finding as a diagnostic of reviewdog's DiagnosticResult. The
// format has one text per diagnostic and reviewdog refuses keys that it does not
// know, so title, help, category and properties are lines of the message, and the
// fingerprint is left out. It fails only when w does, with WRITE_FAILED.
func RDJSON(w io.Writer, r Report, o Options) error {
	result := rdResult{Source: rdSource{program}, Diagnostics: []rdDiagnostic{}}
	for _, f := range r.occurrences(o.Root) {
		d := rdDiagnostic{Message: f.prose(), Severity: rdSeverity(f.Level), Code: rdCode{f.Rule}}
		if f.File != "" {
			d.Location = &rdLocation{Path: f.File}
			if f.Line > 0 {
				d.Location.Range = &rdRange{rdPosition{f.Line}}
			}
		}
		result.Diagnostics = append(result.Diagnostics, d)
	}
	document, err := codec.MarshalFile(result)
	if err != nil {
		return err
	}
	return deliver(w, document)
}

type rdResult struct {
	Source      rdSource       `json:"source"`
	Diagnostics []rdDiagnostic `json:"diagnostics"`
}

type rdSource struct {
	Name string `json:"name"`
}

type rdDiagnostic struct {
	Message  string      `json:"message"`
	Location *rdLocation `json:"location,omitempty"`
	Severity string      `json:"severity"`
	Code     rdCode      `json:"code"`
}

type rdLocation struct {
	Path  string   `json:"path"`
	Range *rdRange `json:"range,omitempty"`
}

type rdRange struct {
	Start rdPosition `json:"start"`
}

type rdPosition struct {
	Line int `json:"line"`
}

type rdCode struct {
	Value string `json:"value"`
}

func rdSeverity(l Level) string {
	switch l {
	case LevelWarning:
		return "WARNING"
	case LevelNote:
		return "INFO"
	}
	return "ERROR"
}
