package wave

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

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
