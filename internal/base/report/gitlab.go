package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// GitLab writes every finding that has a file as an entry of a GitLab code quality
// report, which GitLab shows beside the lines of a merge request. It fails only when w
// does, with WRITE_FAILED.
func GitLab(w io.Writer, r Report, o Options) error {
	entries := []glEntry{}
	seen := map[string]int{}
	for _, f := range r.occurrences(o.Root) {
		if f.File == "" {
			continue // the format has no place for it
		}
		e := glEntry{Description: f.prose(), CheckName: f.Rule, Severity: glSeverity(f.Level), Location: glLocation{f.File,
			glLines{max(1, f.Line), max(1, f.last())}}}
		// GitLab drops entries with the fingerprint of another one.
		key := f.ID
		if key == "" {
			key = f.Rule + "\x00" + f.File + "\x00" + e.Description
		}
		if seen[key]++; seen[key] > 1 {
			key = fmt.Sprintf("%s\x00%d", key, seen[key])
		}
		sum := sha256.Sum256([]byte(key))
		e.Fingerprint = hex.EncodeToString(sum[:16])
		entries = append(entries, e)
	}
	document, err := codec.MarshalFile(entries)
	if err != nil {
		return err
	}
	return deliver(w, document)
}

type glEntry struct {
	Description string     `json:"description"`
	CheckName   string     `json:"check_name"`
	Fingerprint string     `json:"fingerprint"`
	Severity    string     `json:"severity"`
	Location    glLocation `json:"location"`
}

type glLocation struct {
	Path  string  `json:"path"`
	Lines glLines `json:"lines"`
}

type glLines struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

func glSeverity(l Level) string {
	switch l {
	case LevelWarning:
		return "minor"
	case LevelNote:
		return "info"
	}
	return "major"
}
