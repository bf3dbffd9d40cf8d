package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Finding is an issue with what ties it to the code, and what was decided about it.
type Finding struct {
	ID string `json:"id"` // by which it is recognised in another review of the same change
	Issue
	Confidence string   `json:"confidence,omitempty"` // one of Confidences, in the word of the reviewer
	Quote      string   `json:"quote,omitempty"`      // whole lines of the file, beginning at the line
	Suggestion string   `json:"suggestion,omitempty"` // what could stand in the place of the quoted lines
	Reply      string   `json:"reply,omitempty"`      // to what the author said about an earlier issue
	FoundBy    []string `json:"found_by,omitempty"`   // the reviewers, where there are several
	Checked    string   `json:"checked,omitempty"`    // what a verifier said of it
	Decision   string   `json:"decision,omitempty"`   // DecidedDismissed, DecidedRefuted or ""
	Reason     string   `json:"reason,omitempty"`     // of the decision
}

// Confidences are the words for how sure a reviewer is.
var Confidences = []string{"certain", "likely", "possible"}

// What can be decided about a finding.
const (
	DecidedDismissed = "dismissed"
	DecidedRefuted   = "refuted"
)

// Dropped is a finding that does not hold: what it says about the code is not so.
type Dropped struct {
	Finding
	Why    string `json:"why"`
	Person string `json:"person,omitempty"` // why a person has to look at it all the same
}

// neighbours is how far a quotation may stand from the line that it is said to be at.
const neighbours = 3

// quotedAt is the line, from 1, at which lines have a quotation, the nearest to the
// named one; white space is folded. It is 0 where the line and its neighbours do not
// have it, and, without a named line, where no line has it.
func quotedAt(lines []string, quote string, named int64) int {
	want := splitLines([]byte(strings.TrimRight(quote, " \t\r\n")))
	if named == 0 {
		for at := 1; at <= len(lines); at++ {
			if standsAt(lines, want, at) {
				return at
			}
		}
		return 0
	}
	for off := range neighbours + 1 {
		for _, at := range []int{int(named) - off, int(named) + off} {
			if standsAt(lines, want, at) {
				return at
			}
		}
	}
	return 0
}

func standsAt(lines, want []string, at int) bool {
	if at < 1 || at-1+len(want) > len(lines) {
		return false
	}
	for i, text := range want {
		if !isQuoted(lines[at-1+i], text) {
			return false
		}
	}
	return true
}

// isQuoted reports whether text quotes a line, or what stands in it before or behind a
// carriage return. A reviewer sees a line as the prompt shows it.
func isQuoted(line, text string) bool {
	text = strings.TrimSuffix(fold(text), markdown.Code("\r"))
	return slices.ContainsFunc(append(strings.Split(line, "\r"), line), func(part string) bool {
		return fold(part) == text || strings.TrimSuffix(fold(markdown.Code(part)), markdown.Code("\r")) == text
	})
}

func fold(line string) string { return markdown.OneLine(line) }

// judgeQuote holds the quotation of a finding, and its suggestion, against the file,
// and takes the line from where the quotation stands. Said is what became of the
// suggestion.
func (f *Finding) judgeQuote(
	path string, text []byte, parses func(string, []byte) error,
) (faults []Remark, said string) {
	if f.Quote == "" {
		if f.Suggestion != "" {
			said = f.withoutSuggestion("there is no quotation that it could replace")
		}
		return nil, said
	}
	lines := splitLines(text)
	at := quotedAt(lines, f.Quote, lineOrZero(f.Issue))
	if at == 0 {
		where := "is not in " + f.File
		if f.Line != nil {
			where = fmt.Sprintf("does not stand at line %d of %s or near it", *f.Line, f.File)
		}
		return []Remark{{Code: tidegate.QuoteNotFound, Path: path + "quote", Message: fmt.Sprintf("%q %s", tidegate.Cut(f.Quote), where),
			Change: "Quote whole lines as they stand in the file after the change, beginning at the line that you name, or leave the issue out if the code is not as you thought."}}, ""
	}
	line := int64(at)
	f.Line = &line
	n := len(splitLines([]byte(strings.TrimRight(f.Quote, " \t\r\n"))))
	f.Quote = strings.Join(lines[at-1:at-1+n], "\n")
	if f.Suggestion != "" {
		said = f.judgeSuggestion(text, at, n, parses)
	}
	return nil, said
}

// last is the last line that a finding is about, 0 without a line.
func (f Finding) last() int64 {
	return lineOrZero(f.Issue) + max(0, int64(strings.Count(f.Quote, "\n")))
}

// SetAside takes out of an answer the findings that the faults say do not hold, and opens the earlier issues again that it had no right to close, so
// that the rest of it can count. It returns the faults that are about something
// else. [Answer.Dropped] says what was done.
func (a *Answer) SetAside(faults []Remark) (rest []Remark) {
	gone := map[int]string{} // why, by index
	for _, f := range faults {
		switch {
		case f.reopens != nil:
			a.Closed = slices.DeleteFunc(a.Closed, func(id string) bool { return id == f.reopens.ID })
			a.Issues, a.Findings = append(a.Issues, f.reopens.Issue), append(a.Findings, *f.reopens)
			a.Warnings = append(a.Warnings, f.Message)
		case f.finding == 0:
			rest = append(rest, f)
		case gone[f.finding-1] == "":
			gone[f.finding-1] = f.Message
		}
	}
	if len(gone) == 0 {
		return rest
	}
	var kept []Finding
	for i, f := range a.Findings {
		why, drop := gone[i]
		if !drop {
			kept = append(kept, f)
			continue
		}
		f.Issue = Clean(Payload{Issues: []Issue{f.Issue}}).Issues[0]
		d := Dropped{Finding: f, Why: why}
		if f.Severity == High {
			d.Person = fmt.Sprintf("the finding %q is High and does not hold: %s", f.Title, why)
		}
		a.Dropped = append(a.Dropped, d)
	}
	a.Findings, a.Issues = kept, issuesOf(kept)
	if len(kept) == 0 && a.Verdict != Approved {
		for i, d := range a.Dropped {
			a.Dropped[i].Person = cmp.Or(d.Person,
				fmt.Sprintf("the verdict is %s, and none of its findings holds, such as %q", a.Verdict, d.Title))
		}
	}
	return rest
}

// Opinion is what counts of an answer of the reviewer by: its payload, cleaned, and
// its findings in the order of the issues.
func (a Answer) Opinion(by string) Opinion {
	o := Opinion{By: by, Review: a.Payload, Findings: cleanFindings(a.Findings)}
	o.Review.Issues = issuesOf(o.Findings)
	o.Review = Clean(o.Review)
	return o
}

func issuesOf(findings []Finding) []Issue {
	var issues []Issue
	for _, f := range findings {
		issues = append(issues, f.Issue)
	}
	return issues
}

// cleanFindings are findings as [Clean] makes their issues, in its order.
func cleanFindings(findings []Finding) []Finding {
	findings = slices.Clone(findings)
	for i, f := range findings {
		findings[i].Issue = Clean(Payload{Issues: []Issue{f.Issue}}).Issues[0]
		findings[i].Quote, findings[i].Suggestion = cleanText(f.Quote), cleanText(f.Suggestion)
		findings[i].FoundBy = nil
		for _, name := range f.FoundBy {
			if name = cleanLine(name); name != "" {
				findings[i].FoundBy = append(findings[i].FoundBy, name)
			}
		}
		findings[i].Reply, findings[i].Reason = strings.TrimSpace(cleanText(f.Reply)), cleanLine(f.Reason)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	return findings
}

// Carry adds findings of the review before, whose verdict is given, to a review. One
// that the review has, too, is not added. The order is that of the severities.
func Carry(p Payload, findings []Finding, verdict Verdict, carried []Finding) (Payload, []Finding) {
	used := map[string]bool{}
	for _, f := range findings {
		used[f.ID] = true
	}
	all := slices.Clone(findings)
	for _, f := range carried {
		if slices.ContainsFunc(findings, func(g Finding) bool {
			return place{identity(f.Issue), lineOrZero(f.Issue)} == place{identity(g.Issue), lineOrZero(g.Issue)}
		}) {
			continue
		}
		f.ID = unused(f.ID, used)
		used[f.ID] = true
		all = append(all, f)
	}
	if len(all) > len(findings) {
		p.Verdict = worse(p.Verdict, verdict)
	}
	all = cleanFindings(all)
	p.Issues = issuesOf(all)
	return p, all
}

// Dismissal is a person's decision that something does not count: a finding, one that did
// not hold, or what no reviewer answers for.
type Dismissal struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	File     string   `json:"file"`
	Category string   `json:"category,omitempty"`
	Severity Severity `json:"severity,omitempty"` // the gravest that it holds for
	Quote    string   `json:"quote,omitempty"`    // the lines that it is about
	Reason   string   `json:"reason"`
	At       string   `json:"dismissed_at"`
	// Signature is over the canonical JSON of the rest, "" where decisions are not
	// signed.
	Signature string `json:"signature,omitempty"`
}

// Dismissible is the dismissal of what has an id in a review, still without reason and
// time.
func Dismissible(id string, findings []Finding, dropped []Dropped, open []Unanswered) (Dismissal, bool) {
	for _, d := range dropped {
		findings = append(findings[:len(findings):len(findings)], d.Finding)
	}
	for _, f := range findings {
		if f.ID == id {
			return Dismissal{ID: id, Title: f.Title, File: f.File, Category: f.Category, Severity: f.Severity,
				Quote: f.Quote}, true
		}
	}
	for _, u := range open {
		if u.ID == id {
			return Dismissal{ID: id, Title: u.Message, File: u.File}, true
		}
	}
	return Dismissal{}, false
}

// isAbout reports whether a dismissal is about a finding: the same file, quoted lines and
// category, whatever the title. Where there are no quoted lines, the id says it.
func (d Dismissal) isAbout(f Finding) bool {
	if d.Quote == "" {
		return d.ID == f.ID
	}
	return d.File == f.File && d.Category == f.Category && fold(d.Quote) == fold(f.Quote)
}

// Dismissals are what persons dismissed.
type Dismissals []Dismissal

// Of is the dismissal that holds for a finding, nil where none does. A finding graver
// than what was dismissed is not, and graver is the dismissal that it goes beyond.
func (l Dismissals) Of(f Finding) (holds, graver *Dismissal) {
	for i, d := range l {
		if !d.isAbout(f) {
			continue
		}
		if rank(f.Severity) >= rank(cmp.Or(d.Severity, High)) {
			return &l[i], nil
		}
		graver = &l[i]
	}
	return nil, graver
}

// Spare says of what no reviewer answers for whether a person has dismissed it.
func (l Dismissals) Spare(open []Unanswered) {
	for i, u := range open {
		for _, d := range l {
			if d.ID == u.ID {
				open[i].Spared = d.Reason
			}
		}
	}
}
