package codereview

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/forge"
	"github.com/tidegate/tidegate/review"
)

// maxComment is the most bytes of a comment; GitHub takes 65,536 characters.
const maxComment = 65_000

// commentText is how much of a text of a finding a comment shows, in bytes.
const commentText = 4000

// mark is the first line of a comment of ours, which no reader sees and by which the
// next review finds it.
func mark(kind, name, of string) string {
	return fmt.Sprintf("<!-- tidegate %s %s %s -->", kind, name, of)
}

// marked is what a comment is about, "" where it has no such mark.
func marked(body, kind, name string) string {
	line, _, _ := strings.Cut(body, "\n")
	of, ok := strings.CutPrefix(strings.TrimSpace(line), fmt.Sprintf("<!-- tidegate %s %s ", kind, name))
	if of, closed := strings.CutSuffix(of, " -->"); ok && closed {
		return of
	}
	return ""
}

// findingMark is the mark of a comment about a finding, with what a dismissal of it holds for.
func findingMark(name string, f Finding) string {
	about := []byte{}
	if len(f.Quote) <= commentText {
		about, _ = json.Marshal(forge.About{File: f.File, Category: f.Category, Severity: f.Severity, Quote: f.Quote})
	}
	return mark("finding", name, f.ID+" "+base64.RawStdEncoding.EncodeToString(about))
}

// markedFinding is the finding that a comment is about, "" for none.
func markedFinding(body, name string) (id string, about forge.About) {
	id, encoded, _ := strings.Cut(marked(body, "finding", name), " ")
	data, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(data, &about) != nil || !slices.Contains(review.Severities, string(about.Severity)) {
		return id, forge.About{}
	}
	return id, about
}

// prose is a text of a finding as markdown, cut where it is very long.
func prose(text string) string {
	if len(text) > commentText {
		text = strings.ToValidUTF8(text[:commentText], "") + "…"
	}
	return report.Prose(text)
}

// texts are what a finding says.
func (f Finding) texts() string {
	text := prose(f.Description)
	if f.Recommendation != "" {
		text += "\n\n**What to do:** " + prose(f.Recommendation)
	}
	if f.Reply != "" {
		text += "\n\n**Reply:** " + prose(f.Reply)
	}
	return text
}

func (f Finding) title() string {
	return fmt.Sprintf("**%s, %s: %s**", f.Severity, report.Inline(f.Category), report.Inline(f.Title))
}

// known is how to name a finding to others.
func (f Finding) known() string {
	text := "Finding " + report.Code(f.ID)
	if len(f.FoundBy) > 0 {
		text += ", by " + report.Inline(strings.Join(f.FoundBy, ", "))
	}
	return text
}

// suggests reports whether the suggestion can be shown as one that a person applies with
// a click: it replaces the lines that the comment stands at, and shows all that it does.
func (f Finding) suggests() bool {
	for line := range strings.SplitSeq(f.Suggestion, "\n") {
		if plain := strings.ReplaceAll(line, "\t", ""); markdown.Show(plain) != plain {
			return false
		}
	}
	return f.Suggestion != "" && f.Quote != "" && len(f.Suggestion) <= commentText
}

// suggestion is the suggestion for people to read.
func (f Finding) suggestion() string {
	return "**Suggestion:**\n" + prose(report.Fenced(f.Suggestion, ""))
}

// lines are those that a finding is about, 0 where it names none.
func (f Finding) lines() (from, to int) {
	if f.File == "" || f.Line == nil || *f.Line < 1 || *f.Line > 1<<31 {
		return 0, 0
	}
	return int(*f.Line), int(*f.Line) + strings.Count(strings.TrimRight(f.Quote, "\n"), "\n")
}

// lineComment is a finding as a comment on its lines, with the word that follows the fence of
// a suggestion.
func (r ReviewRun) lineComment(f Finding, word string) string {
	parts := []string{findingMark(r.ChangeID, f) + "\n" + f.title(), f.texts()}
	if f.suggests() {
		parts = append(parts, report.Fenced(f.Suggestion, word))
	} else if f.Suggestion != "" {
		parts = append(parts, f.suggestion())
	}
	return strings.Join(append(parts, f.known()), "\n\n")
}

// place is where a finding is, as a link to the lines in the reviewed commit.
func (f Finding) place(p published) string {
	if f.File == "" {
		return ""
	}
	from, to := f.lines()
	text := f.File
	if from > 0 {
		text = fmt.Sprintf("%s:%d", f.File, from)
	}
	address := p.page(p.head, f.File, from, to)
	if address == "" || strings.Contains(f.File, "|") {
		return report.Code(text)
	}
	return "[" + report.Code(text) + "](" + address + ")"
}

// outcome says in a line how the review ended.
func (r ReviewRun) outcome() string {
	switch {
	case r.NeedsPerson != nil:
		return "A person has to look"
	case r.Fails != nil:
		return "Does not pass"
	case r.Nothing:
		return "Nothing to review"
	}
	if r.spared() {
		return "No finding stops it"
	}
	return "Passes"
}

// spared reports whether a review passes although its reviewer wants something changed.
func (r ReviewRun) spared() bool {
	return r.NeedsPerson == nil && r.Fails == nil && !r.Nothing && r.Verdict != string(review.Approved)
}

// published is what a summary says besides the review.
type published struct {
	head     string
	page     func(head, file string, from, to int) string // as [forge.Host] has it
	onLines  map[string]bool                              // by id, the findings that have a comment on their lines
	reported []forge.Reported
}

// summaryComment is the review as one comment.
func (r ReviewRun) summaryComment(p published) string {
	var b strings.Builder
	b.WriteString(mark("review", r.ChangeID, p.head) + "\n")
	b.WriteString("### Code review: " + r.outcome())
	if !r.Nothing && !r.spared() {
		b.WriteString(" (" + r.Verdict + ")")
	}
	b.WriteString("\n\n")
	if r.NeedsPerson != nil {
		b.WriteString(prose(sentence(*r.NeedsPerson)) + "\n\n")
	}
	if r.Fails != nil {
		b.WriteString(prose(sentence(*r.Fails)) + "\n\n")
	}
	b.WriteString(prose(r.Summary) + "\n")
	end := r.commentEnd(p)
	left := maxComment - b.Len() - len(end) - 200 // for the line that says what is left out
	shown, counting := 0, r.counting()
	for _, f := range counting {
		text := "\n" + f.title() + "\n" + f.place(p) + "\n"
		if f.File == "" {
			text = "\n" + f.title() + "\n"
		}
		if !p.onLines[f.ID] {
			text += "\n" + f.texts() + "\n\n"
			if f.Suggestion != "" {
				text += f.suggestion() + "\n\n"
			}
			text += f.known() + "\n"
		}
		if len(text) > left {
			continue
		}
		left -= len(text)
		b.WriteString(text)
		shown++
	}
	if shown < len(counting) {
		fmt.Fprintf(&b, "\n*%d of %d findings are left out here: the artifact of the job has all of them.*\n", len(counting)-shown, len(counting))
	}
	b.WriteString(end)
	return b.String()
}

// sentence is a text that begins and ends as a sentence does.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// maxListed is how many entries a list of a comment has.
const maxListed = 30

// commentEnd is what follows the findings.
func (r ReviewRun) commentEnd(p published) string {
	var b strings.Builder
	list := func(heading string, lines []string) {
		if len(lines) == 0 {
			return
		}
		b.WriteString("\n#### " + heading + "\n\n")
		for i, line := range lines {
			if i == maxListed {
				fmt.Fprintf(&b, "- %d more\n", len(lines)-i)
				break
			}
			b.WriteString("- " + line + "\n")
		}
	}
	var spared, dropped, person, reported, failing, warnings []string
	for _, w := range r.Warnings {
		warnings = append(warnings, cutInline(w))
	}
	for _, f := range r.Findings {
		if !f.Counts {
			spared = append(spared, fmt.Sprintf("%s %s (%s): %s", report.Code(f.ID), cutInline(f.Title), f.Severity, cutInline(f.Spared)))
		}
	}
	for _, d := range r.Dropped {
		dropped = append(dropped, cutInline(d.Title)+": "+cutInline(d.Why))
	}
	for _, u := range r.ForPerson {
		person = append(person, cutInline(u.Message))
	}
	for _, name := range r.Failing {
		failing = append(failing, cutInline(name))
	}
	for _, w := range p.reported {
		how := w.Conclusion
		if how == "" {
			how = "not finished"
		}
		reported = append(reported, cutInline(w.Name)+": "+report.Inline(how))
	}
	list("For a person to decide", person)
	list("Failed tests", failing)
	list("Findings that do not count", spared)
	list("Findings that do not hold", dropped)
	list("Tests, as reported by the change itself", reported)
	list("Warnings", warnings)
	base := "the empty tree"
	if len(r.Base) >= 12 {
		base = report.Code(r.Base[:12])
	}
	fmt.Fprintf(&b, "\n---\nReviewed %s since %s", report.Code(p.head[:12]), base)
	if n := len(r.LeftOut); n > 0 {
		fmt.Fprintf(&b, ", %s left out", report.Counted(n, "file"))
	}
	if len(r.Paths) > 0 {
		b.WriteString(", only " + cutInline(strings.Join(r.Paths, ", ")))
	}
	b.WriteString("; " + dispatch.SpentText(r.Spent))
	if len(r.counting()) > 0 {
		b.WriteString(". `tidegate review dismiss ID --reason TEXT` lets a finding count no more.")
	}
	b.WriteString("\n")
	return b.String()
}

// counting are the findings that count, the gravest first.
func (r ReviewRun) counting() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return !f.Counts })
}

// cutInline is a text on one line, cut where it is long.
func cutInline(s string) string {
	const limit = 300
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return report.Inline(s)
}

// closedReply answers a comment on a line whose finding is gone.
func closedReply(name, id, head string) string {
	return mark("closed", name, id) + "\nClosed in " + head + "."
}
