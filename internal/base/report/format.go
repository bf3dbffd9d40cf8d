package report

import (
	"io"

	"github.com/tidegate/tidegate"
)

// Options is what a face knows and a report does not.
type Options struct {
	Version string // of the program, for SARIF
	Root    string // absolute folder; files below it are shown relative to it
	Color   bool   // text: terminal colours
	Width   int    // text: columns to fit into; 0 means no limit, one table row per line
}

// Format is one way to write a report.
type Format struct {
	Name    string
	Carries string // what of a report the format holds, one sentence
	Write   func(w io.Writer, r Report, o Options) error
}

// Formats lists the formats in the order in which help shows them.
func Formats() []Format {
	return []Format{
		{"text", "title, all blocks and the summary, laid out for a terminal or a pipe", Text},
		{"markdown", "title, summary and blocks within the length of a pull request comment; says how much was left out", Markdown},
		{"sarif", "every finding with its rule, help, place and fingerprint as SARIF 2.1.0", SARIF},
		{"junit", "every case as a JUnit test case, with its findings as the text of its failure", JUnit},
		{"github", "findings as GitHub workflow commands, ten of a kind, and how many were left out", GitHub},
		{"rdjson", "every finding as a reviewdog diagnostic", RDJSON},
		{"gitlab", "every finding with a file as an entry of a GitLab code quality report", GitLab},
	}
}

// Lookup finds a format by its name.
func Lookup(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// program is the name under which the formats for programs list findings.
const program = "tidegate"

// deliver hands a finished document to w in one piece: a report that cannot be
// rendered has written nothing.
func deliver(w io.Writer, document []byte) error {
	if _, err := w.Write(document); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, nil, "the report cannot be written: %w", err)
	}
	return nil
}
