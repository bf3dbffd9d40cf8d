package wave

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// LintResult is what [Lint] finds in a document.
type LintResult struct {
	OK               codec.True `json:"ok"`
	Pass             bool       `json:"pass" jsonschema:"true when no finding is an error"`
	PerspectivesPath string     `json:"perspectives_path" jsonschema:"echo of the argument"`
	Perspectives     int        `json:"perspectives" jsonschema:"how many perspectives the document lists"`
	Errors           int        `json:"errors" jsonschema:"how many findings are errors, omitted ones included"`
	Warnings         int        `json:"warnings" jsonschema:"how many findings are warnings, omitted ones included"`
	Findings         []Finding  `json:"findings" jsonschema:"in document order, at most max_findings of them"`
	FindingsOmitted  int        `json:"findings_omitted" jsonschema:"how many more there are"`
}

// Passed reports whether no finding is an error.
func (r LintResult) Passed() bool { return r.Pass }

// Finding is one thing in a document that an author should look at.
type Finding struct {
	Level         string  `json:"level" enum:"error,warning" jsonschema:"error: the document is refused or no output can pass; warning: probably not what was meant"`
	Rule          string  `json:"rule"`
	PerspectiveID *string `json:"perspective_id" jsonschema:"null when the finding is about the document"`
	Path          string  `json:"path" jsonschema:"where it is, such as $.perspectives[2].prompt_contract.max_words"`
	Line          int     `json:"line" jsonschema:"the line of the file that it is on; of what it is missing from where it is not there"`
	Message       string  `json:"message"`
}

// Lint looks for what will cause trouble when outputs are judged by the contracts
// of a document: what the whole table of perspectives.v1 refuses, contracts that
// no output can meet, and contracts that probably do not mean what they say.
// Messages call the document path. It returns INVALID_JSON.
func Lint(path string, data []byte, maxFindings int) (LintResult, error) {
	l := &linter{LintResult: LintResult{PerspectivesPath: path}, most: maxFindings, ids: map[string]int{}, folded: map[string]string{}}
	shape := PerspectivesShape()
	entry, judged := shape.Elem("perspectives"), shape.Using(used[Contracts]...).Elem("perspectives")
	top, err := codec.ParseFile("perspectives_path", path, data)
	if err != nil {
		return LintResult{}, err
	}
	rest, list := without(top)
	for i, elem := range list {
		l.perspective(i, elem, entry, judged)
	}
	l.document(rest, shape)
	l.findLines(data)
	l.Pass = l.Errors == 0
	return l.LintResult, nil
}

type linter struct {
	LintResult
	most   int
	ids    map[string]int    // id → index
	folded map[string]string // what an id looks like → id

	at string  // path of the perspective under way
	id *string // and its id
}

func (l *linter) fail(rule, path, format string, args ...any) {
	l.Errors++
	l.add(Finding{Level: "error", Rule: rule, Path: l.at + path, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) warn(rule, path, format string, args ...any) {
	l.Warnings++
	l.add(Finding{Level: "warning", Rule: rule, Path: l.at + path, Message: fmt.Sprintf(format, args...)})
}

func (l *linter) add(f Finding) {
	if len(l.Findings) == l.most {
		l.FindingsOmitted++
		return
	}
	f.PerspectiveID, f.Message = l.id, tidegate.Cut(f.Message)
	l.Findings = append(l.Findings, f)
}

func (l *linter) findLines(data []byte) {
	paths := make([]string, len(l.Findings))
	for i, f := range l.Findings {
		paths[i] = f.Path
	}
	for i, line := range codec.LinesOf(data, paths) {
		l.Findings[i].Line = line
	}
}

// unknown warns of names that nothing reads, and suggests the one that was
// probably meant.
func (l *linter) unknown(shape codec.Shape, path string, v *codec.Value) {
	l.at = ""
	for _, m := range shape.Unknown(path, v) {
		hint := "nothing reads it"
		if near := codec.Nearest(m.Key, m.Known); near != "" {
			hint += "; did you mean " + near + "?"
		} else if tables := PerspectivesShape().Tables(m.Key); len(tables) > 0 {
			hint += " here; it belongs into " + strings.Join(tables, " or ")
		}
		l.warn("UNKNOWN_KEY", m.Path, "%q is not a key of perspectives.v1: %s", tidegate.Cut(m.Key), hint)
	}
}

// document checks what stands beside the list, and puts those findings first.
func (l *linter) document(top *codec.Value, shape codec.Shape) {
	list := l.Findings
	l.Findings, l.at, l.id = nil, "", nil
	violations := shape.CheckFields("$", top)
	for _, err := range violations {
		l.violation(err)
	}
	if len(violations) == 0 && l.Perspectives == 0 {
		l.fail("NO_PERSPECTIVES", "$.perspectives", "the list is empty, so that there is nothing to review")
	}
	l.unknown(shape, "$", top)
	if at := top.Get("created_at").Str(); strings.TrimSpace(at) != "" {
		if _, ok := tidegate.ParseTime(at); !ok {
			l.warn("NOT_A_TIME", "$.created_at", "%q is not a time such as 2026-02-14T12:00:00Z", tidegate.Cut(at))
		}
	}
	l.Findings = append(l.Findings, list...)
	if over := len(l.Findings) - l.most; over > 0 {
		l.Findings = l.Findings[:l.most]
		l.FindingsOmitted += over
	}
}

func (l *linter) violation(err error) {
	e := tidegate.AsError(err)
	path, _ := e.Details.Get("path")
	l.at = ""
	l.fail(string(e.Code), path.(string), "%s", e.Message)
}

// perspective checks one perspective by the whole table and, where judging could
// still use it, what its contract says.
func (l *linter) perspective(i int, v *codec.Value, entry, judged codec.Shape) {
	l.Perspectives++
	at := "$.perspectives[" + strconv.Itoa(i) + "]"
	l.id = nil
	id := v.Get("id").Str()
	if id != "" {
		l.id = &id
	}
	violations := entry.CheckFields(at, v)
	for _, err := range violations {
		l.violation(err)
	}
	l.unknown(entry, at, v)
	if len(violations) > 0 && judged.CheckAt(at, v) != nil {
		return
	}
	if first, ok := l.ids[id]; ok {
		l.violation(repeatedID(i, first, id))
		return
	}
	l.at = at
	fold := looks(id)
	switch other, ok := l.folded[fold]; {
	case ok && strings.EqualFold(id, other):
		l.warn("ID_DIFFERS_ONLY_IN_CASE", ".id", "%q differs from %q only in letter case: on some systems both outputs are the same file", id, other)
	case ok:
		l.warn("ID_LOOKS_THE_SAME", ".id", "%+q looks like %+q: on some systems both outputs are the same file, and no reader tells them apart", id, other)
	}
	l.ids[id], l.folded[fold] = i, id
	if reason := unportable(id); reason != "" {
		l.warn("ID_NOT_PORTABLE", ".id", "%q %s", id, reason)
	}
	l.at += ".prompt_contract"
	l.caps(v.Get("prompt_contract"), l.titles(v.Get("prompt_contract").Get("must_include_sections")))
	l.sections(ContractOf(v))
}

// looks is the same for ids that differ only in letter case, in how characters are
// composed, or in characters that cannot be seen.
func looks(id string) string {
	seen := strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(id))
	return norm.NFKC.String(cases.Fold().String(seen))
}

// caps checks the caps; needed is how many words the required headings have.
func (l *linter) caps(contract *codec.Value, needed int) {
	words, _ := contract.Get("max_words").Float()
	switch {
	case words < float64(needed):
		l.fail("CAP_BELOW_HEADINGS", ".max_words", "%s words cannot hold the required headings, which have %d", plain(words), needed)
	case words < float64(needed)+1:
		l.warn("CAP_LEAVES_NO_TEXT", ".max_words", "%s words hold the required headings, which have %d, and nothing else", plain(words), needed)
	}
	for _, name := range []string{"max_words", "max_sources"} {
		if f, _ := contract.Get(name).Float(); f != math.Floor(f) {
			l.warn("CAP_NOT_WHOLE", "."+name, "%s acts as %s, because only whole ones are counted", plain(f), plain(math.Floor(f)))
		}
	}
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// titles checks the required titles and returns how many words their headings
// have at least.
func (l *linter) titles(list *codec.Value) (words int) {
	seen, folded := map[string]bool{}, map[string]string{}
	for i, elem := range list.Elems() {
		path := ".must_include_sections[" + strconv.Itoa(i) + "]"
		title := strings.TrimSpace(elem.Str())
		if title != elem.Str() {
			l.warn("TITLE_TRIMMED", path, "the white space around %q is not part of the title", title)
		}
		if seen[title] {
			l.warn("TITLE_REPEATED", path, "%q is in the list already", title)
			continue
		}
		fold := strings.ToLower(title)
		if other, ok := folded[fold]; ok {
			l.warn("TITLE_DIFFERS_ONLY_IN_CASE", path, "%q differs from %q only in letter case, and each needs a heading of its own", title, other)
		}
		seen[title], folded[fold] = true, title
		line := HeadingLine(title)
		words += len(strings.Fields(line))
		switch {
		case line == "":
			l.fail("TITLE_UNMATCHABLE", path, "no heading can have this text: a heading is one line of at most %d bytes", maxHeading)
		case strings.ContainsFunc(title, invisible):
			l.warn("TITLE_INVISIBLE", path, "%+q holds characters that cannot be seen, and a heading must have the same ones", title)
		case endsInMarks(title):
			l.warn("TITLE_ENDS_IN_MARKS", path, "the # at the end is taken for a closing mark unless the heading is written %q", line)
		}
	}
	return words
}

// invisible holds for control and format characters, and for blanks that look like
// a space but are another character.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Zs, r) && r != ' '
}

// sections checks the sections that have a meaning of their own.
func (l *linter) sections(c Contract) {
	const path = ".must_include_sections"
	var sources, gaps []string
	for _, title := range c.Sections {
		switch strings.ToLower(title) {
		case "sources":
			sources = append(sources, title)
		case "gaps":
			gaps = append(gaps, title)
		}
	}
	switch {
	case len(sources) == 0:
		l.warn("NO_SOURCES_SECTION", path, "no Sources section is required, so that sources are neither counted nor compared with max_sources")
	case len(sources) > 1:
		l.warn("SOURCES_AMBIGUOUS", path, "only the section %q is judged as the list of sources", sources[0])
	case sources[0] != "Sources":
		l.warn("SOURCES_OTHER_CASE", path, "%q is judged as the list of sources, and the heading must have exactly that letter case; Sources is usual", sources[0])
	}
	if len(sources) > 0 && c.MaxSources < 1 {
		l.warn("CAP_LEAVES_NO_SOURCE", ".max_sources", "%s sources: an output passes only with an empty section %q", plain(c.MaxSources), sources[0])
	}
	switch {
	case len(gaps) == 0:
		l.warn("NO_GAPS_SECTION", path, "no Gaps section is required, and the pivot after the wave fails on an output without one")
	case !slices.Contains(gaps, "Gaps"):
		l.warn("GAPS_OTHER_CASE", path, "the pivot reads the section Gaps, not %q", gaps[0])
	}
}

// Report shows the findings and, for programs, one case per perspective that
// has any.
func (r LintResult) Report() report.Report {
	out := report.Report{
		Name: "perspectives_check", Title: "Check of contracts", Status: report.PassIf(r.Pass),
		Summary: fmt.Sprintf("%s: %s, %s.", report.Counted(r.Perspectives, "perspective"), report.Counted(r.Errors, "error"), report.Counted(r.Warnings, "warning")),
	}
	if r.Pass && r.Warnings > 0 {
		out.Status = report.Warn
	}
	for _, f := range r.Findings {
		name, status, level := "document", report.Fail, report.LevelError
		if f.PerspectiveID != nil {
			name = *f.PerspectiveID
		}
		if f.Level == "warning" {
			status, level = report.Warn, report.LevelWarning
		}
		if n := len(out.Cases); n == 0 || out.Cases[n-1].Name != name {
			out.AddCase(report.Case{Name: name, File: r.PerspectivesPath, Status: status})
		}
		last := &out.Cases[len(out.Cases)-1]
		if status == report.Fail {
			last.Status = report.Fail
		}
		last.Findings = append(last.Findings, report.Finding{
			Rule: f.Rule, Level: level, Title: f.Path, Message: f.Message, Line: f.Line,
		})
	}
	if len(out.Cases) == 0 {
		out.AddCase(report.Case{Name: "document", File: r.PerspectivesPath, Status: report.Pass})
	} else {
		out.Add(report.Findings{})
	}
	if r.FindingsOmitted > 0 {
		out.Add(report.Paragraph(report.Counted(r.FindingsOmitted, "more finding") + "; a higher --max-findings lists all."))
	}
	return out
}

// reservedNames are devices on Windows, whatever extension follows.
var reservedNames = []string{
	"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// unportable says why an id cannot be the name of a file on every system, or
// "". Such an id is valid, because a run usually stays where it was made.
func unportable(id string) string {
	stem, _, _ := strings.Cut(id, ".")
	switch {
	case slices.Contains(reservedNames, strings.ToLower(strings.TrimRight(stem, " "))):
		return "is the name of a device on Windows"
	case strings.ContainsAny(id, `<>:"|?*`):
		return `has one of < > : " | ? *, which no file name on Windows can have`
	}
	return ""
}
