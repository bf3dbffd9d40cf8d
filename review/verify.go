package review

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Check is a finding that another reader holds against the code, or a control: a
// finding that is planted and false.
type Check struct {
	Finding Finding
	Window  string // the lines around it, numbered
	Control bool
}

// Checked is what the reader said of a finding.
type Checked struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"` // one of CheckVerdicts
	Because string `json:"because"`
}

// The verdicts of a reader of findings.
const (
	Confirmed = "confirmed"
	Refuted   = "refuted"
	Unclear   = "unclear"
)

// CheckVerdicts are the verdicts of a reader of findings.
var CheckVerdicts = []string{Confirmed, Refuted, Unclear}

// The size of what a reader is asked.
const (
	windowLines   = 20 // before and after a finding
	checksPerPart = 25 // findings and controls together
	controlFor    = 6  // findings
	fewestControl = 3
)

// PlanChecks are the parts in which findings are held against the code: those that have
// a line. Each has planted controls, as far as the lines that the files add can be
// turned into false ones; the seed chooses them and the order.
func PlanChecks(findings []Finding, files []File, text func(file string) []byte, seed string) [][]Check {
	var real []Check
	for _, f := range findings {
		if f.File != "" && f.Line != nil {
			real = append(real, Check{Finding: f, Window: windowOf(text(f.File), f.File, int(*f.Line))})
		}
	}
	controls := controlsOf(files, seed)
	var parts [][]Check
	for some := range slices.Chunk(real, checksPerPart-fewestControl-1) {
		n := min(len(controls), max(fewestControl, (len(some)+controlFor-1)/controlFor))
		part := slices.Concat(some, controls[:n])
		controls = controls[n:]
		slices.SortStableFunc(part, func(a, b Check) int { return strings.Compare(draw(seed, a.Finding.ID), draw(seed, b.Finding.ID)) })
		parts = append(parts, part)
	}
	return parts
}

// windowOf is the lines around a line of a file.
func windowOf(text []byte, file string, line int) string {
	return markdown.Show(file) + "\n" + Numbered(text, line-windowLines, line+windowLines)
}

// Today is the code around a finding of an earlier review, in the text of its file as it is
// today: where the quoted lines stand, else where the finding was.
func Today(f Finding, text []byte) string {
	lines := splitLines(text)
	was := int(lineOrZero(f.Issue))
	at, note := 0, ""
	if want := splitLines([]byte(strings.TrimRight(f.Quote, " \t\r\n"))); f.Quote != "" {
		for n := 1; n <= len(lines); n++ {
			if standsAt(lines, want, n) && (at == 0 || max(n-was, was-n) < max(at-was, was-at)) {
				at = n
			}
		}
		if at == 0 {
			note = ", where its quoted lines do not stand any more"
		}
	}
	if at == 0 {
		at = max(1, min(was, len(lines)))
	}
	return fmt.Sprintf("issue %s, line %d%s: %s", f.ID, at, note, windowOf(text, f.File, at))
}

// Numbered are lines of a text, with their numbers as in a diff.
func Numbered(text []byte, from, to int) string {
	lines := splitLines(text)
	var b strings.Builder
	for n := max(1, from); n <= min(len(lines), to); n++ {
		Line{Op: ' ', Number: n, Text: lines[n-1]}.write(&b)
	}
	return b.String()
}

func draw(seed, what string) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + what))
	return hex.EncodeToString(sum[:])
}

//go:embed controls.txt
var controlList string

var controlTexts = sync.OnceValue(func() (texts [][2]string) {
	for line := range strings.Lines(controlList) {
		if title, description, ok := strings.Cut(strings.TrimSpace(line), " | "); ok {
			texts = append(texts, [2]string{title, description})
		}
	}
	return texts
})

// controlsOf are false findings about lines that files add: each says that the line
// reads otherwise than it does.
func controlsOf(files []File, seed string) []Check {
	var list []Check
	for _, f := range files {
		for _, hunk := range f.Hunks() {
			for _, line := range hunk {
				wrong := turned(line.Text)
				if line.Op != '+' || wrong == "" {
					continue
				}
				number := int64(line.Number)
				id := draw(seed, fmt.Sprintf("%s:%d", f.Name, number))[:12]
				words := controlTexts()[int(id[0])%len(controlTexts())]
				list = append(list, Check{Control: true, Window: windowOf(f.After, f.Name, line.Number), Finding: Finding{ID: id, Issue: Issue{
					Title: words[0], Severity: Medium, Category: "Bug", File: f.Name, Line: &number, Description: fmt.Sprintf(words[1], strings.TrimSpace(wrong)),
				}}})
			}
		}
	}
	slices.SortFunc(list, func(a, b Check) int { return strings.Compare(a.Finding.ID, b.Finding.ID) })
	return list
}

// opposites are pairs of which one turns a line into another.
var opposites = [][2]string{{"<=", ">"}, {">=", "<"}, {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"}, {"true", "false"}, {"false", "true"}}

var someNumber = pattern(`\b[0-9]{1,9}\b`)

// turned is a line that says something else than text, in as few characters as
// possible; "" where there is none.
func turned(text string) string {
	for _, pair := range opposites {
		if strings.Contains(text, pair[0]) {
			return strings.Replace(text, pair[0], pair[1], 1)
		}
	}
	at := someNumber().FindStringIndex(text)
	if at == nil {
		return ""
	}
	n, err := strconv.Atoi(text[at[0]:at[1]])
	if err != nil {
		return ""
	}
	return text[:at[0]] + strconv.Itoa(n+1) + text[at[1]:]
}

//go:embed verify.md
var verifyText string

var verifyTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("verify").Funcs(template.FuncMap{
		"quote": markdown.QuoteCode,
		"add":   func(a, b int) int { return a + b },
		"finding": func(f Finding) string {
			return fmt.Sprintf("%s\nat %s\n%s\n", cleanLine(f.Title), f.where(), f.Description)
		},
	}).Parse(verifyText))
})

// ChecksPrompt is what a reader is asked.
func ChecksPrompt(checks []Check) (string, error) {
	var b strings.Builder
	if err := verifyTemplate().Execute(&b, checks); err != nil {
		return "", fmt.Errorf("the prompt of a reader cannot be filled: %w", err)
	}
	return b.String(), nil
}

// JudgeChecks judges what a reader answered: every finding once, and words of the code
// for what it confirms. A control that it confirms is a fault that names none, and is
// looked for only where there is no other.
func JudgeChecks(checks []Check, answer *codec.Value) ([]Checked, []Remark) {
	verdicts := answer.Get("verdicts")
	said := make([]*Checked, len(checks))
	var faults []Remark
	for i, v := range verdicts.Elems() {
		at := fmt.Sprintf("$.verdicts[%d].", i)
		n, ok := v.Get("finding").Int()
		verdict := v.Get("verdict").Str()
		switch {
		case !ok || n < 1 || n > int64(len(checks)) || said[n-1] != nil:
			faults = append(faults, Remark{Code: tidegate.VerdictMissing, Path: at + "finding", Message: "it is not the number of a finding that has no verdict yet", Change: fmt.Sprintf("Give each finding from 1 to %d one verdict.", len(checks))})
			continue
		case !slices.Contains(CheckVerdicts, verdict):
			faults = append(faults, Remark{Code: tidegate.VerdictMissing, Path: at + "verdict", Message: fmt.Sprintf("the verdict of finding %d is none", n), Change: "Answer " + strings.Join(CheckVerdicts, ", ") + "."})
		case verdict == Confirmed && !hasWords(checks[n-1].Window, v.Get("words").Str()):
			faults = append(faults, Remark{Code: tidegate.WordsNotFound, Path: at + "words", Message: fmt.Sprintf("the words of finding %d do not stand in its code", n), Change: "Copy the words of the code that show it, or answer refuted or unclear."})
		}
		said[n-1] = &Checked{checks[n-1].Finding.ID, verdict, cutBytes(cleanLine(v.Get("because").Str()))}
	}
	if missing := slices.Index(said, nil); missing >= 0 && len(faults) == 0 {
		faults = append(faults, Remark{Code: tidegate.VerdictMissing, Path: "$.verdicts", Message: fmt.Sprintf("finding %d has no verdict", missing+1), Change: fmt.Sprintf("Give each finding from 1 to %d one verdict.", len(checks))})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	checked := []Checked{}
	for i, c := range checks {
		switch {
		case c.Control && said[i].Verdict == Confirmed:
			return nil, []Remark{{Code: tidegate.ControlFailed, Path: "$.verdicts", Message: "a finding that is not so was confirmed", Change: "Read each finding against its code."}}
		case !c.Control:
			checked = append(checked, *said[i])
		}
	}
	return checked, nil
}

func hasWords(window, words string) bool {
	return len(fold(words)) >= 3 && strings.Contains(fold(window), fold(words))
}
