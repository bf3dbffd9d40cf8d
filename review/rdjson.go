package review

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// rdjson takes the diagnostics of a DiagnosticResult.
func (r *foreignReader) rdjson(doc *codec.Value) {
	name := doc.Get("source").Get("name").Str()
	if name != "" {
		r.tool(name)
	}
	for _, d := range doc.Get("diagnostics").Elems() {
		if own := d.Get("source").Get("name").Str(); own != "" || name == "" {
			r.tool(own)
		}
		severity := d.Get("severity")
		if severity.Kind() == codec.Absent {
			severity = doc.Get("severity")
		}
		line, _ := d.Get("location").Get("range").Get("start").Get("line").Int()
		r.add(found{
			rule: d.Get("code").Get("value").Str(), message: d.Get("message").Str(), help: rdHelp(d),
			severity: rdSeverity(severity), category: "Bug",
			file: d.Get("location").Get("path").Str(), line: line,
		})
	}
}

// rdSeverity reads a severity by its name or number.
func rdSeverity(v *codec.Value) Severity {
	number, _ := v.Int()
	switch name := v.Str(); {
	case name == "ERROR" || number == 1:
		return High
	case name == "INFO" || number == 3:
		return Low
	}
	return Medium
}

// rdHelp is the text that a tool proposes, otherwise where it explains its rule.
func rdHelp(d *codec.Value) string {
	if text := elem(d.Get("suggestions"), 0).Get("text").Str(); strings.TrimSpace(text) != "" {
		return "Replace by:\n" + text
	}
	if uri := d.Get("code").Get("url").Str(); strings.HasPrefix(uri, "https://") {
		return "See " + uri
	}
	return ""
}
