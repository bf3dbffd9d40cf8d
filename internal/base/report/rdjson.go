package report

import (
	"io"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// RDJSON writes every finding as a diagnostic of reviewdog's DiagnosticResult. The
// format has one text per diagnostic and reviewdog refuses keys that it does not
// know, so title, help, category and properties are lines of the message, and the
// fingerprint is left out. It fails only when w does, with WRITE_FAILED.
func RDJSON(w io.Writer, r Report, o Options) error {
	diagnostics := []tidegate.Details{}
	for _, f := range r.occurrences(o.Root) {
		d := tidegate.Pairs("message", f.prose())
		if f.File != "" {
			location := tidegate.Pairs("path", f.File)
			lines := tidegate.Pairs("start", tidegate.Pairs("line", f.Line))
			if f.last() > f.Line {
				lines = append(lines, tidegate.Pairs("end", tidegate.Pairs("line", f.last()))...)
			}
			if f.Line > 0 {
				location = append(location, tidegate.Pairs("range", lines)...)
			}
			d = append(d, tidegate.Pairs("location", location)...)
			if f.Fix != "" && f.Line > 0 {
				d = append(d, tidegate.Pairs("suggestions", []tidegate.Details{tidegate.Pairs("range", lines, "text",
					strings.TrimSuffix(f.Fix, "\n"))})...)
			}
		}
		d = append(d, tidegate.Pairs("severity", levelShownAs[f.Level].rdjson, "code", tidegate.Pairs("value", f.Rule))...)
		diagnostics = append(diagnostics, d)
	}
	document, err := codec.MarshalFile(tidegate.Pairs("source", tidegate.Pairs("name", program), "diagnostics", diagnostics))
	if err != nil {
		return err
	}
	return deliver(w, document)
}
