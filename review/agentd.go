package review

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
)

// AgentdVerdict is the verdict that the Agentd implementation workflow reads in a
// REVIEW.md: a checked box anywhere in the text, otherwise a verdict heading
// followed by the word, by plain substring search. The empty verdict is Agentd's
// Unknown. It returns INVALID_STATE for a file that is not UTF-8, on which Agentd
// fails.
func AgentdVerdict(data []byte) (Verdict, error) {
	if !utf8.Valid(data) {
		return "", tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("reason", "not UTF-8"),
			"REVIEW.md is not valid UTF-8, so Agentd cannot read it")
	}
	// Agentd's lower case of U+0130 keeps the dot as a second character; Go's does
	// not, and would find a heading where Agentd finds none.
	text := strings.ToLower(strings.ReplaceAll(string(data), "\u0130", "i\u0307"))
	if v := firstFound(text, "[x] "); v != "" {
		return v, nil
	}
	return firstFound(normaliseVerdict(text), agentdHeading+"\n"), nil
}

const agentdHeading = "## verdict"

func firstFound(text, before string) Verdict {
	for _, v := range []Verdict{Approved, NeedsFix, MajorIssues} {
		if strings.Contains(text, before+strings.ToLower(v.token())) {
			return v
		}
	}
	return ""
}

// normaliseVerdict puts exactly one line feed between the first verdict heading
// and the next text, and trims the line on which that text stands.
func normaliseVerdict(text string) string {
	before, after, found := strings.Cut(text, agentdHeading)
	if !found {
		return text
	}
	line, rest := strings.TrimLeftFunc(after, unicode.IsSpace), ""
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line, rest = line[:end], line[end:]
	}
	return before + agentdHeading + "\n" + strings.TrimSpace(line) + rest
}
