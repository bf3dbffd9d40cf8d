package demo

import _ "embed" // the report

// ForeignReport is a report as an AI system writes one, with lies in it: what
// `tidegate audit --demo` shows. [Pages] has what it cites.
//
//go:embed audit.md
var ForeignReport string
