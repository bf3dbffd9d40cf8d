package review

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Prompt is what a reviewer is given. Everything but the rules is quoted: it was
// written by the author of the change, by the tests or by another reviewer.
type Prompt struct {
	ChangeID   string
	Diff       string // with line numbers
	Part       int    // of the change that is shown, from 1
	Parts      int
	LeftOut    []string  // files that changed and are not shown, with the reason
	Tests      *TestRun  // nil when none were run
	TestsGone  []string  // tests of the base that do not run any more
	Earlier    []Finding // the issues of the review before
	Today      []string  // the code around these issues, as it is
	Said       string    // by the author about the work since then, "" where nothing was
	Asked      []string  // the documents that say what the change is to do
	Guidelines []string  // texts of the project that say how it wants its code
	Commits    []string  // the messages of the commits that make up the change, the oldest first
	Dismissed  []string  // findings of which a person wants to hear no more, with the reason
	Linters    []Finding // what other tools found
	Tree       bool      // the reviewer may read the repository in a folder
	Lookups    int       // how often the reviewer may look something up by tools, 0 for not
	Quotes     bool      // the answer is a job's, whose issues quote the code
}

//go:embed prompt.md
var promptText string

var promptTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompt").Funcs(template.FuncMap{
		"quote": markdown.QuoteCode, "leftOut": leftOut, "testText": (*TestRun).OwnWords, "issues": IssueList,
		"commits": commitList,
	}).Parse(promptText))
})

// Text is the whole text for the reviewer.
func (p Prompt) Text() (string, error) {
	line := int64(12)
	verdict := Approved
	if p.Tests != nil && p.Tests.FailedNew > 0 {
		verdict = NeedsFix
	}
	example := Payload{
		ChangeID: p.ChangeID, Verdict: verdict, Summary: "The change adds a limit to the queue. It reads well; one name is misleading.",
		Issues: []Issue{{
			Title: "Name says minutes, value is seconds", Severity: Low, Category: "Style", File: "queue/limit.go", Line: &line,
			Description: "waitMinutes holds seconds, as its only caller shows: who sets it in minutes waits sixty times too short.", Recommendation: "Call it waitSeconds.",
		}},
	}
	shown, err := codec.MarshalFile(example)
	if err == nil && p.Quotes {
		shown, err = withQuote(shown)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = promptTemplate().Execute(&b, struct {
		Prompt
		Example string
	}{p, string(shown)})
	if err != nil {
		return "", fmt.Errorf("the prompt of a review cannot be filled: %w", err)
	}
	return b.String(), nil
}

// withQuote is the example with what ties its issue to the code.
func withQuote(example []byte) ([]byte, error) {
	doc, err := codec.Parse(example)
	if err != nil {
		return nil, err
	}
	issue := doc.Get("issues").Elems()[0]
	issue.Set("quote", codec.Of("const waitMinutes = 90"))
	issue.Set("suggestion", codec.Of("const waitSeconds = 90"))
	issue.Set("confidence", codec.Of("certain"))
	return codec.MarshalFile(doc)
}

// leftOut lists files with one line for each, whatever their names are.
func leftOut(list []string) string {
	var b strings.Builder
	for _, file := range list {
		b.WriteString(markdown.Show(file) + "\n")
	}
	return b.String()
}

// OwnWords is what the tests said beyond their counts: those that failed, where they can
// be told apart, else the end of the output.
func (r *TestRun) OwnWords() string {
	var b strings.Builder
	for _, name := range r.Shown() {
		b.WriteString("failed: " + name + "\n")
		if r.Said[name] != "" {
			b.WriteString(r.Said[name] + "\n")
		}
	}
	if len(r.Said) == 0 && (r.Failed > 0 || r.Format == "") {
		b.WriteString("the output ends with:\n" + r.Tail)
	}
	return b.String()
}

// IssueList lists issues with their ids, for a quotation.
func IssueList(list []Finding) string {
	var b strings.Builder
	for _, issue := range list {
		fmt.Fprintf(&b, "- id %s, title %s, category %s, severity %s", issue.ID, cleanLine(issue.Title), issue.Category, issue.Severity)
		if issue.File != "" {
			b.WriteString(", at " + issue.where())
		}
		fmt.Fprintf(&b, "\n  %s\n", cutBytes(cleanLine(issue.Description)))
		if issue.Recommendation != "" {
			fmt.Fprintf(&b, "  recommended: %s\n", cutBytes(cleanLine(issue.Recommendation)))
		}
	}
	return b.String()
}

// What is shown of commit messages.
const (
	maxCommits     = 50
	maxCommitBytes = 2 << 10
)

// commitList is the messages of commits, each cut, and the newest where there are
// many.
func commitList(messages []string) string {
	var b strings.Builder
	if more := len(messages) - maxCommits; more > 0 {
		fmt.Fprintf(&b, "(%d older commits are not shown)\n", more)
		messages = messages[more:]
	}
	for i, message := range messages {
		if i > 0 {
			b.WriteString("\n")
		}
		message = strings.TrimSpace(message)
		if len(message) > maxCommitBytes {
			message = strings.ToValidUTF8(message[:maxCommitBytes], "") + " (cut)"
		}
		b.WriteString(message + "\n")
	}
	return b.String()
}
