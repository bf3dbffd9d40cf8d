package wave

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Verdict is the judgement of one output.
type Verdict struct {
	Words           int
	Sources         int      // well-formed source lines, whatever the verdict
	MissingSections []string // in contract order
	Faults          []Fault  // every rule that is not met, in the order of judgement
}

// Fault is one rule that an output does not meet.
type Fault struct {
	Error      *tidegate.Error // of class [tidegate.NotMet]
	Line       int             // where it is, 1-based; 0 when it has no line
	ChangeNote string          // what to change, one imperative sentence with the numbers it needs

	// hint is what to put after the message: what may have misled the author, or
	// how many more lines have the same fault.
	hint string
}

// Message says what is wrong, in a line.
func (f Fault) Message() string { return f.Error.Message + f.hint }

// Failure is the first rule that is not met, or nil when all are.
func (v Verdict) Failure() *tidegate.Error {
	if len(v.Faults) == 0 {
		return nil
	}
	return v.Faults[0].Error
}

// Judge judges outputs one after the other. The zero value is ready; it keeps
// its buffers, and must not be used by two goroutines at once.
type Judge struct {
	scanner markdown.Scanner
	sources sourceLines
	found   []bool         // by index of the contract's sections
	byTitle map[string]int // the same index, of a contract with many sections
	near    nearHeadings
}

// Judge reads one output to its end and judges it by the contract, in this
// order: MISSING_REQUIRED_SECTION, TOO_MANY_WORDS, MALFORMED_SOURCES,
// TOO_MANY_SOURCES. The only errors are those of r.
func (j *Judge) Judge(contract Contract, r io.Reader) (Verdict, error) {
	sourcesAt := sourcesIndex(contract)
	j.require(contract.Sections)
	j.sources.reset(contract.MaxSources)
	j.near.reset(contract.Sections)
	words, err := j.scanner.Scan(io.TeeReader(r, &j.near), markdown.Events{
		Heading: func(h markdown.Heading) bool {
			i := j.section(contract.Sections, h.Text)
			if i < 0 {
				j.near.heading(contract.Sections, h.Text, h.Line)
			}
			if i < 0 || j.found[i] {
				return false
			}
			j.found[i] = true
			return i == sourcesAt
		},
		Line: j.sources.line,
	})
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Words: words, Sources: j.sources.count}
	for i, title := range contract.Sections {
		if !j.found[i] {
			v.MissingSections = append(v.MissingSections, title)
		}
	}
	v.findFaults(contract, &j.sources)
	if len(v.MissingSections) > 0 {
		v.Faults[0].hint = j.near.hint(j.found)
	}
	return v, nil
}

// fewSections are found faster without an index.
const fewSections = 16

func (j *Judge) require(sections []string) {
	j.found = append(j.found[:0], make([]bool, len(sections))...)
	if len(sections) <= fewSections {
		return
	}
	j.byTitle = make(map[string]int, len(sections))
	for i, title := range sections {
		j.byTitle[title] = i
	}
}

// section is the index of the section with that title, or -1.
func (j *Judge) section(sections []string, title []byte) int {
	if len(sections) > fewSections {
		if i, ok := j.byTitle[string(title)]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(sections, func(section string) bool { return section == string(title) })
}

// sourcesIndex is the index of the section that is judged as Sources, or -1.
func sourcesIndex(contract Contract) int {
	return slices.IndexFunc(contract.Sections, func(title string) bool { return strings.ToLower(title) == "sources" })
}

func (v *Verdict) findFaults(contract Contract, sources *sourceLines) {
	if len(v.MissingSections) > 0 {
		first := v.MissingSections[0]
		details := tidegate.Pairs("section", tidegate.Cut(first))
		if len(v.MissingSections) > 1 {
			details = append(details, tidegate.Pairs("missing_sections", v.MissingSections)...)
		}
		v.add(Fault{ChangeNote: addSections(v.MissingSections)}, tidegate.MissingRequiredSection, details, "Missing section: %s", first)
	}
	if float64(v.Words) > contract.MaxWords {
		v.add(Fault{ChangeNote: removeWords(v.Words, contract)}, tidegate.TooManyWords, tidegate.Pairs("max_words", contract.MaxWords, "words", v.Words),
			"the output has %s, the contract allows %s", report.Counted(v.Words, "word"), limitText(contract.MaxWords))
	}
	if sources.malformed > 0 {
		what := "is not a list item"
		if sources.fault == missingURL {
			what = "has no http(s) URL"
		}
		line := sources.lines[0]
		fault := Fault{Line: line, ChangeNote: rewriteSources(sources)}
		if more := sources.malformed - 1; more > 0 {
			fault.hint = "; " + report.Counted(more, "more line") + " likewise malformed"
		}
		v.add(fault, tidegate.MalformedSources,
			tidegate.Pairs("line", sources.faultText, "line_number", line, "reason", sources.fault),
			"line %d, in the Sources section, %s", line, what)
	}
	if float64(v.Sources) > contract.MaxSources {
		v.add(Fault{Line: sources.overLine, ChangeNote: removeSources(v.Sources, contract)}, tidegate.TooManySources, tidegate.Pairs("max_sources", contract.MaxSources, "sources", v.Sources),
			"the output lists %s, the contract allows %s", report.Counted(v.Sources, "source"), limitText(contract.MaxSources))
	}
}

func (v *Verdict) add(f Fault, code tidegate.Code, details tidegate.Details, format string, args ...any) {
	f.Error = tidegate.AsError(tidegate.Errorf(code, details, format, args...))
	v.Faults = append(v.Faults, f)
}

// limitText is a cap as a person writes it.
func limitText(limit float64) string {
	if limit < 1e15 {
		return strconv.FormatFloat(limit, 'f', -1, 64)
	}
	return strconv.FormatFloat(limit, 'g', -1, 64)
}

// most is the greatest count within the cap.
func most(limit float64) int {
	return int(math.Min(math.Floor(limit), 1<<53))
}

// The functions below make the change notes of faults: what the agent has to
// change, one imperative sentence with the numbers it needs.

func addSections(missing []string) string {
	switch {
	case len(missing) == 1 && missing[0] == "Sources":
		return "Add missing required section 'Sources' and include only bullet URL entries."
	case len(missing) == 1:
		return fmt.Sprintf("Add missing required section '%s' under a heading with exactly that text.", missing[0])
	}
	return fmt.Sprintf("Add these missing required sections, each under a heading with exactly that text: %s.", joinTitles(missing))
}

func removeWords(words int, contract Contract) string {
	allowed := most(contract.MaxWords)
	return fmt.Sprintf("Shorten the output by at least %s: it has %d and may have at most %d, markup and URLs included.",
		report.Counted(words-allowed, "word"), words, allowed)
}

func rewriteSources(sources *sourceLines) string {
	return fmt.Sprintf("Rewrite %s in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.",
		theLines(sources.lines, sources.malformed))
}

func removeSources(sources int, contract Contract) string {
	allowed := most(contract.MaxSources)
	return fmt.Sprintf("Remove at least %s from the Sources section: it lists %d and may list at most %d.",
		report.Counted(sources-allowed, "source"), sources, allowed)
}

// theLines names lines, of which only the first are known by number: "line 12",
// "each of the lines 12, 14 and 5 more".
func theLines(first []int, count int) string {
	if count == 1 {
		return "line " + strconv.Itoa(first[0])
	}
	numbers := make([]string, len(first))
	for i, n := range first {
		numbers[i] = strconv.Itoa(n)
	}
	list := strings.Join(numbers, ", ")
	if unlisted := count - len(numbers); unlisted > 0 {
		list += " and " + strconv.Itoa(unlisted) + " more"
	}
	return "each of the lines " + list
}

func joinTitles(titles []string) string { return "'" + strings.Join(titles, "', '") + "'" }

// maxHeading is the length in bytes up to which a line of an output is seen
// whole; a longer one has no title that could match.
const maxHeading = 1 << 20

// HeadingLine is a line by which an output has the section that title asks for,
// or "" when no heading of one line can have that text.
func HeadingLine(title string) string {
	title = strings.TrimSpace(title)
	line := "## " + title
	if endsInMarks(title) {
		line += " ##"
	}
	if title == "" || strings.ContainsAny(title, "\r\n") || len(line) > maxHeading {
		return ""
	}
	return line
}

// endsInMarks reports whether the end of title would be taken for the closing
// marks of its heading, unless closing marks follow it.
func endsInMarks(title string) bool {
	text := strings.TrimRight(title, "#")
	return text != title && (text == "" || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t"))
}

// Obstacles says why no output can meet the contract; it is empty when one can.
func (c Contract) Obstacles() []string {
	var list []string
	words := 0
	for _, title := range c.Sections {
		line := HeadingLine(title)
		words += len(strings.Fields(line))
		if line == "" {
			list = append(list, fmt.Sprintf("no heading can have the required text %q: a heading is one line of at most %d bytes", tidegate.Cut(title), maxHeading))
		}
	}
	if c.MaxWords < float64(words) {
		list = append(list, fmt.Sprintf("max_words %s cannot hold the required headings, which have %d words", plain(c.MaxWords), words))
	}
	return list
}

// nearHeadings collects why a required heading may be missing although its author
// believes that it is there: a heading that differs in letter case, emphasis or
// punctuation, or a code fence around the output.
type nearHeadings struct {
	lines []int // by index of the contract's sections; 0 for none
	seen  int
	first []byte // the first bytes of the output
}

// An output with more headings than that was not written by an agent.
const mostHeadings = 1000

const firstBytes = 64

func (a *nearHeadings) reset(sections []string) {
	a.lines = append(a.lines[:0], make([]int, min(len(sections), fewSections))...)
	a.seen, a.first = 0, a.first[:0]
}

// Write sees the output as it is read.
func (a *nearHeadings) Write(data []byte) (int, error) {
	if room := firstBytes - len(a.first); room > 0 {
		a.first = append(a.first, data[:min(room, len(data))]...)
	}
	return len(data), nil
}

// heading looks at one that is not among the required ones.
func (a *nearHeadings) heading(sections []string, text []byte, line int) {
	if a.seen++; a.seen > mostHeadings {
		return
	}
	for i := range a.lines {
		if a.lines[i] == 0 && alike(text, sections[i]) {
			a.lines[i] = line
		}
	}
}

// hint says this about the sections that were not found, "" when there is nothing
// to say. It repeats nothing of the output: agents read it as instructions.
func (a *nearHeadings) hint(found []bool) string {
	var lines []string
	for i, line := range a.lines {
		if line > 0 && !found[i] {
			lines = append(lines, strconv.Itoa(line))
		}
	}
	start := bytes.TrimSpace(bytes.TrimPrefix(a.first, []byte("\ufeff")))
	switch {
	case len(lines) == 1:
		return "; the heading in line " + lines[0] + " is almost it, but not exactly"
	case len(lines) > 1:
		return "; the headings in lines " + strings.Join(lines, ", ") + " are almost these, but not exactly"
	case bytes.HasPrefix(start, []byte("```")) || bytes.HasPrefix(start, []byte("~~~")):
		return "; the output begins with a code fence, and headings inside a fence do not count"
	}
	return ""
}

// alike reports whether the letters and digits of both are the same, letter case
// and a number before the first letter aside.
func alike(heading []byte, title string) bool {
	heading = bytes.TrimLeftFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	title = strings.TrimLeftFunc(title, func(r rune) bool { return !unicode.IsLetter(r) })
	counts := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for len(title) > 0 {
		want, width := utf8.DecodeRuneInString(title)
		title = title[width:]
		if !counts(want) {
			continue
		}
		at := bytes.IndexFunc(heading, counts)
		if at < 0 {
			return false
		}
		got, width := utf8.DecodeRune(heading[at:])
		if unicode.ToLower(got) != unicode.ToLower(want) {
			return false
		}
		heading = heading[at+width:]
	}
	return len(heading) == 0 || bytes.IndexFunc(heading, counts) < 0
}

// charactersPerWord is how many characters an output may have for each word that
// its contract allows, the Sources section aside.
const charactersPerWord = 12

// Visible judges what a run asks of an output that it takes, beyond the rules of
// [Judge]: what a reader cannot see is not text, and no cap can be evaded. Its
// faults, all of class [tidegate.NotMet], are
//
//   - HTML_NOT_ALLOWED for tags and comments; autolinks and code are neither,
//   - INVISIBLE_TEXT for characters that turn the text around or have no width,
//     also those that a character reference stands for,
//   - TOO_LONG for more than 12 characters for each word,
//   - TOO_MANY_SOURCES for more different URLs in Sources than sources,
//   - CREDENTIALS_NOT_ALLOWED for a URL with something in it that lets its bearer
//     in.
//
// They come in document order, one for each line; where very many lines break a
// rule, the last one listed says how many more there are. The text of a heading
// that the contract requires is the contract's, and may be anything.
func Visible(contract Contract, output []byte) []Fault {
	v := viewer{contract: contract, text: output, doc: markdown.Parse(output)}
	v.findSections()
	v.unseen()
	v.length()
	v.urls()
	slices.SortStableFunc(v.faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return v.faults
}

// Refusals is everything that keeps a run from taking an output, its gaps aside:
// the faults of its verdict, and those of [Visible] after them. Where the output
// lists too many sources, the number of URLs that they name is not a fault as
// well.
func Refusals(verdict Verdict, contract Contract, output []byte) []Fault {
	faults := slices.Clone(verdict.Faults)
	counted := slices.ContainsFunc(faults, func(f Fault) bool { return f.Error.Code == tidegate.TooManySources })
	for _, f := range Visible(contract, output) {
		if !counted || f.Error.Code != tidegate.TooManySources {
			faults = append(faults, f)
		}
	}
	return faults
}

// viewer is one output that is being judged.
type viewer struct {
	contract Contract
	text     []byte
	doc      *markdown.Document
	required []link.Span // the text of headings that the contract requires
	sources  link.Span   // the Sources section with its heading; empty where there is none
	faults   []Fault
}

// findSections finds the sections that the contract is about.
func (v *viewer) findSections() {
	v.sources = link.Span{Start: len(v.text), End: len(v.text)}
	title, found, inside := "", false, false
	if i := sourcesIndex(v.contract); i >= 0 {
		title = v.contract.Sections[i]
	}
	for _, b := range v.doc.Blocks {
		if !b.Top {
			continue
		}
		start, end := v.doc.Range(b)
		text := string(v.text[start:end])
		if slices.Contains(v.contract.Sections, text) {
			v.required = append(v.required, link.Span{Start: start, End: end})
		}
		line := bytes.LastIndexAny(v.text[:start], "\r\n") + 1
		switch {
		case inside:
			v.sources.End, inside = line, false
		case !found && title != "" && text == title:
			v.sources.Start, found, inside = line, true, true
		}
	}
}

// isRequired reports whether a place is in the text of a required heading.
func (v *viewer) isRequired(at int) bool {
	_, found := slices.BinarySearchFunc(v.required, at, func(s link.Span, at int) int {
		switch {
		case at < s.Start:
			return 1
		case at >= s.End:
			return -1
		}
		return 0
	})
	return found
}

// place is where a rule is broken, and what stands there.
type place struct {
	at   int
	what string
}

// maxVisible is how many lines that break the same rule are listed.
const maxVisible = 20

// list lists a fault for each line with a place. Message and note have a verb for
// the line. They repeat nothing of the output: agents read them as instructions.
func (v *viewer) list(code tidegate.Code, places []place, message, note string) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	lines := markdown.CountLines(v.text)
	line, broken := 0, 0
	for _, p := range places {
		n := lines.Of(p.at)
		if n == line {
			continue
		}
		line = n
		if broken++; broken > maxVisible {
			continue
		}
		v.add(Fault{Line: line, ChangeNote: fmt.Sprintf(note, line)}, code, tidegate.Pairs("line_number", line, "text", tidegate.Cut(p.what)), message, line)
	}
	if more := broken - maxVisible; more > 0 {
		v.faults[len(v.faults)-1].hint = "; " + report.Counted(more, "more line") + " likewise"
	}
}

func (v *viewer) add(f Fault, code tidegate.Code, details tidegate.Details, format string, args ...any) {
	f.Error = tidegate.AsError(tidegate.Errorf(code, details, format, args...))
	v.faults = append(v.faults, f)
}

// unseen finds HTML, and characters that a reader cannot see: those that stand in
// the text, and those that a character reference stands for.
func (v *viewer) unseen() {
	var hidden, html []place
	for _, u := range v.doc.Unseen() {
		switch {
		case v.isRequired(u.At):
		case u.HTML != nil:
			html = append(html, place{u.At, markdown.Show(string(u.HTML[:min(len(u.HTML), quoteSize)]))})
		default:
			hidden = append(hidden, place{u.At, fmt.Sprintf("U+%04X", u.Char)})
		}
	}
	v.list(tidegate.HTMLNotAllowed, html, "line %d has HTML, of which a reader sees nothing",
		"Remove the HTML from line %d, or write it as code between back-ticks.")
	v.list(tidegate.InvisibleText, hidden, "line %d has a character that a reader cannot see",
		"Remove the characters that cannot be seen from line %d.")
}

var byteOrderMark = []byte("\ufeff")

// length checks the characters outside the Sources section against their cap.
func (v *viewer) length() {
	allowed := charactersPerWord * v.contract.MaxWords
	outside := v.text[:v.sources.Start]
	count := utf8.RuneCount(bytes.TrimPrefix(outside, byteOrderMark)) + utf8.RuneCount(v.text[v.sources.End:])
	if float64(count) <= allowed {
		return
	}
	line := markdown.CountLines(v.text).Of(v.overLength(allowed))
	v.add(Fault{
		Line: line,
		ChangeNote: fmt.Sprintf("Shorten the output by at least %s: outside the Sources section it has %d and may have at most %d.",
			report.Counted(count-most(allowed), "character"), count, most(allowed)),
	}, tidegate.TooLong, tidegate.Pairs("max_characters", allowed, "characters", count, "line_number", line),
		"the output has %s outside the Sources section, the contract allows %s, %d for each word", report.Counted(count, "character"), limitText(allowed), charactersPerWord)
}

// overLength is the place of the first character beyond the cap.
func (v *viewer) overLength(allowed float64) int {
	left := most(allowed)
	for i := 0; i < len(v.text); {
		if i == v.sources.Start && v.sources.End > i {
			i = v.sources.End
			continue
		}
		if left == 0 {
			return i
		}
		r, size := utf8.DecodeRune(v.text[i:])
		if r != '\ufeff' || i > 0 {
			left--
		}
		i += size
	}
	return 0
}

// urls checks the URLs of the Sources section against their cap, and finds those
// with credentials everywhere.
func (v *viewer) urls() {
	var shown []place
	different, over := map[string]bool{}, -1
	for _, url := range claim.Inspect(v.text).URLs {
		if masked := link.Mask(url.Text); masked != url.Text && link.ShowsCredentials(url.Text) {
			shown = append(shown, place{url.Start, markdown.Show(masked)})
		}
		if url.Start < v.sources.Start || url.Start >= v.sources.End {
			continue
		}
		for _, each := range splitURLs(url.Text) {
			if different[link.Key(each)] = true; over < 0 && float64(len(different)) > v.contract.MaxSources {
				over = url.Start
			}
		}
	}
	v.list(tidegate.CredentialsNotAllowed, shown, "line %d has a URL with credentials in it",
		"Replace the URL in line %d by one without a user name, a password, a token or a key, or remove it.")
	if over >= 0 {
		allowed := most(v.contract.MaxSources)
		line := markdown.CountLines(v.text).Of(over)
		v.add(Fault{
			Line: line,
			ChangeNote: fmt.Sprintf("Remove at least %s from the Sources section: it names %d and may name at most %d different ones.",
				report.Counted(len(different)-allowed, "URL"), len(different), allowed),
		}, tidegate.TooManySources, tidegate.Pairs("max_sources", v.contract.MaxSources, "sources", len(different), "line_number", line),
			"the Sources section names %s, the contract allows %s", report.Counted(len(different), "different URL"), limitText(v.contract.MaxSources))
	}
}

// splitURLs separates URLs that are written one after the other without a blank.
// After a sign that occurs inside URLs, as in the URL of an archive, one is part
// of the other. What leads to no page is not a source.
func splitURLs(text string) []string {
	var list []string
	from := 0
	add := func(to int) {
		if url := text[from:to]; strings.Contains(url, "//") || len(url) > 4 && strings.EqualFold(url[:4], "www.") {
			list = append(list, url)
		}
		from = to
	}
	for i := 1; i < len(text); i++ {
		if text[i]|0x20 != 'h' || !strings.ContainsRune(`,;|()[]{}'"!*\`, rune(text[i-1])) {
			continue
		}
		if rest := strings.ToLower(text[i:min(len(text), i+8)]); strings.HasPrefix(rest, "http://") || rest == "https://" {
			add(i)
		}
	}
	add(len(text))
	return list
}
