// Package review is the pure part of code review: the diff that a reviewer is
// shown, the payload that the reviewer submits, the REVIEW.md that is made of it,
// the way back from the file to the payload, ids by which an issue is recognised in
// the next review, and the review as a report.
//
// Whatever a reviewer typed is quoted, never interpreted. A REVIEW.md that
// [Format] wrote has the verdict of its payload for [Read] and for the rule by
// which Agentd reads such files ([AgentdVerdict]), whatever the texts say.
//
// The package opens no file and knows nothing of changes, histories or faces.
package review

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Verdict is the outcome of a review. The empty verdict means that a file does
// not say, or not clearly, what the outcome is.
type Verdict string

// The verdicts.
const (
	Approved    Verdict = "APPROVED"
	NeedsFix    Verdict = "NEEDS_FIX"
	MajorIssues Verdict = "MAJOR_ISSUES"
)

// Verdicts are the verdicts that a payload may have, in the order of the data
// model.
var Verdicts = []string{string(Approved), string(NeedsFix), string(MajorIssues)}

// String is the verdict's own word, UNKNOWN for the empty verdict.
func (v Verdict) String() string {
	if v == "" {
		return "UNKNOWN"
	}
	return string(v)
}

// token is the word by which Agentd knows the verdict.
func (v Verdict) token() string {
	if v == NeedsFix {
		return "NEEDS_CHANGES"
	}
	return string(v)
}

// Severity says how much an issue matters.
type Severity string

// The severities.
const (
	High   Severity = "High"
	Medium Severity = "Medium"
	Low    Severity = "Low"
)

// Severities are the severities from the gravest down; issues stand in this
// order in the file.
var Severities = []string{string(High), string(Medium), string(Low)}

// Categories are the documented categories. A payload may use any other text;
// these are recognised in any letter case.
var Categories = []string{"Bug", "Security", "Performance", "Style"}

// Payload is what a reviewer submits.
type Payload struct {
	ChangeID    string       `json:"change_id"`
	Verdict     Verdict      `json:"verdict"`
	Summary     string       `json:"summary"`
	TestResults *TestResults `json:"test_results,omitempty"`
	Issues      []Issue      `json:"issues"`
}

// TestResults are the counts of the tests that the reviewer ran. A nil count
// was not given.
type TestResults struct {
	Passed *int64 `json:"passed,omitempty"`
	Failed *int64 `json:"failed,omitempty"`
	Total  *int64 `json:"total,omitempty"`
}

// Issue is one thing that the reviewer found.
type Issue struct {
	Title          string   `json:"title"`
	Severity       Severity `json:"severity"`
	Category       string   `json:"category"`
	File           string   `json:"file,omitempty"`
	Line           *int64   `json:"line,omitempty"`
	Description    string   `json:"description"`
	Recommendation string   `json:"recommendation,omitempty"`
}

// Counts is the number of issues of each severity.
type Counts struct {
	High   int `json:"high"`
	Medium int `json:"medium"`
	Low    int `json:"low"`
}

// Total is the number of all issues.
func (c Counts) Total() int { return c.High + c.Medium + c.Low }

// Counts counts the issues of each severity.
func (p Payload) Counts() Counts {
	var c Counts
	for _, issue := range p.Issues {
		switch issue.Severity {
		case High:
			c.High++
		case Medium:
			c.Medium++
		case Low:
			c.Low++
		}
	}
	return c
}

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

// earlierNames are what earlier tools called the keys and values of the model.
var earlierNames = map[string]string{
	"file_path":     "file",
	"filename":      "file",
	"path":          "file",
	"line_number":   "line",
	"details":       "description",
	"suggestion":    "recommendation",
	"fix":           "recommendation",
	"type":          "category",
	"tests":         "test_results",
	"findings":      "issues",
	"pass":          "passed",
	"fail":          "failed",
	"needs_changes": string(NeedsFix),
	"critical":      string(High),
	"minor":         string(Low),
}

// probablyMeant is the candidate that a misspelt word stands for, or "": an
// earlier name of it, or the nearest one.
func probablyMeant(word string, candidates []string) string {
	if name := earlierNames[strings.ToLower(word)]; slices.Contains(candidates, name) {
		return name
	}
	return codec.Nearest(word, candidates)
}

// CommentMark is the first line of a review that is shown as a comment: by it the
// next one finds its predecessor and takes its place. A reader does not see it.
func CommentMark(changeID string) string { return "<!-- tidegate review " + changeID + " -->" }
