package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The markdown of people's and models' prose. Code in it stays code: spans and fenced
// blocks are written anew, with fences that what they hold cannot close and without the
// word behind the fence, by which a code host would do something with it. Lists and
// paragraphs stay. Everything else is quoted as [Markdown] quotes it: no headings,
// links, images, HTML, mentions or references.

// Inline is text on one line for the inside of a paragraph, a list item or a cell.
func Inline(s string) string { return mdProse(OneLine(s), mdInline) }

// Code is text on one line as code.
func Code(s string) string { return mdCode(s) }

// Fenced is text as a block of code, opened with a word that the code host knows, or "".
func Fenced(s, word string) string {
	s = strings.TrimSuffix(s, "\n")
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return fence + word + "\n" + s + "\n" + fence
}

var (
	proseFence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ {0,3}(`{3,}[^`]*|~{3,}.*)$") })
	proseItem  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:[-*+]|([0-9]{1,4})[.)])\s+(\S.*)$`) })
)

// Prose is running text as markdown, without a line end at its end.
func Prose(s string) string {
	var out []string
	lines := strings.Split(Visible(strings.ReplaceAll(s, "\t", "    ")), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " ")
		if m := proseFence().FindStringSubmatch(line); m != nil {
			mark := m[1][:len(m[1])-len(strings.TrimLeft(m[1], m[1][:1]))]
			begin := i + 1
			for i = begin; i < len(lines); i++ {
				if end := strings.TrimSpace(lines[i]); len(end) >= len(mark) && strings.Trim(end, mark[:1]) == "" {
					break
				}
			}
			out = append(out, Fenced(strings.Join(lines[begin:min(i, len(lines))], "\n"), ""))
			continue
		}
		if m := proseItem().FindStringSubmatch(line); m != nil {
			mark := "- "
			if m[1] != "" {
				mark = m[1] + ". "
			}
			out = append(out, mark+mdProse(m[2], mdStart))
			continue
		}
		out = append(out, mdProse(strings.TrimSpace(line), mdStart))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// mdProse is a line with its code spans. What comes first is quoted by start.
func mdProse(line string, start func(string) string) string {
	var b strings.Builder
	quote := start
	write := func(s string) {
		if strings.HasSuffix(b.String(), "`") && strings.HasPrefix(s, "`") {
			b.WriteByte(' ') // the two runs of backticks would be one, which nothing closes
		}
		b.WriteString(s)
		quote = mdInline
	}
	text := func(s string) {
		trimmed := strings.TrimSpace(s)
		if trimmed == "" {
			b.WriteString(s)
			return
		}
		at := strings.Index(s, trimmed)
		b.WriteString(s[:at])
		write(quote(trimmed))
		b.WriteString(s[at+len(trimmed):])
	}
	for {
		from := strings.IndexByte(line, '`')
		if from < 0 {
			text(line)
			return b.String()
		}
		fence := line[from:]
		fence = fence[:len(fence)-len(strings.TrimLeft(fence, "`"))]
		rest := line[from+len(fence):]
		to := closing(rest, fence)
		if to < 0 {
			text(line)
			return b.String()
		}
		text(line[:from])
		write(mdCode(strings.TrimSpace(rest[:to])))
		line = rest[to+len(fence):]
	}
}

// closing is where a run of exactly the backticks of fence stands, -1 where none does.
func closing(s, fence string) int {
	for at := 0; at < len(s); {
		next := strings.IndexByte(s[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == len(fence) && strings.TrimSpace(s[:at]) != "" {
			return at
		}
		at += run
	}
	return -1
}

// Wrapped breaks the lines of a text at blanks, so that they are not wider than
// width; what is broken off a line stands two columns further in than the line.
// Words stay whole, however long, so that ids, times and paths can be read and
// copied. A width of 0 breaks nothing.
func Wrapped(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		margin := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
		for i, part := range wrap(line, width, max(width-len(margin), min(width, 1))) {
			if i > 0 {
				out.WriteString("\n" + margin)
			}
			out.WriteString(part)
		}
		if end {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Filled fills paragraphs up to width, breaking lines at blanks. Lines that are
// indented are kept apart; what is broken off them is indented further.
func Filled(text string, width int) string {
	var out strings.Builder
	column := 0
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		margin := ""
		if len(words) > 0 {
			margin = line[:strings.Index(line, words[0])]
		}
		if i > 0 && (len(words) == 0 || margin != "" || column == 0) {
			out.WriteByte('\n')
			column = 0
		}
		if margin != "" && Columns(line) <= width {
			out.WriteString(line)
			continue
		}
		for _, w := range words {
			switch {
			case column == 0:
				out.WriteString(margin)
				column = len(margin)
			case column+1+Columns(w) > width:
				further := ""
				if margin != "" {
					further = margin + "  "
				}
				out.WriteString("\n" + further)
				column = len(further)
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(w)
			column += Columns(w)
		}
		if margin != "" {
			column = 0
		}
	}
	return out.String()
}

// Hanging is a line of text in lines that are not wider than width, the first of which
// begins with first and the others with rest. A width of 0 breaks nothing.
func Hanging(first, rest, text string, width int) []string {
	room := func(indent string) int {
		if width == 0 {
			return 0
		}
		return max(width-Columns(indent), minWidth/2)
	}
	parts := wrap(text, room(first), room(rest))
	for i, part := range parts {
		parts[i] = first + part
		first = rest
	}
	return parts
}

// wrap breaks one line at blanks, and between wide characters, which are written
// without blanks, so that the first part is not wider than first and no other
// part wider than rest. A word that is wider stays whole, on a part of its own;
// the first part is empty when the first word fits better below. A first of 0
// breaks nothing.
func wrap(line string, first, rest int) []string {
	if first <= 0 {
		return []string{line}
	}
	var parts []string
	start, end, used, room := 0, 0, 0, first
	for end < len(line) {
		word := end
		for word < len(line) && line[word] == ' ' {
			word++
		}
		stop := wordEnd(line, word)
		width := word - end + Columns(line[word:stop])
		if used+width > room && (used > 0 || rest > first && len(parts) == 0) {
			parts = append(parts, line[start:end])
			start, used, room = word, width-(word-end), rest
		} else {
			used += width
		}
		end = stop
	}
	return append(parts, strings.TrimRight(line[start:], " "))
}

// wordEnd is where the word that begins at i ends: at a blank, or before or
// after a wide character.
func wordEnd(line string, i int) int {
	for at := i; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		switch {
		case r == ' ':
			return at
		case RuneColumns(r) == 2 && at > i:
			return at
		case RuneColumns(r) == 2:
			at += size
			for at < len(line) { // its accents stay with it
				next, size := utf8.DecodeRuneInString(line[at:])
				if RuneColumns(next) > 0 {
					break
				}
				at += size
			}
			return at
		}
		at += size
	}
	return len(line)
}

// longestWord is the width of the widest word of a text.
func longestWord(text string) int {
	longest := 0
	for i := 0; i < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		end := wordEnd(text, i)
		longest = max(longest, Columns(text[i:end]))
		i = end
	}
	return longest
}

// Columns is how many columns of a terminal a text without colours takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += RuneColumns(r)
	}
	return n
}

// RuneColumns is how many columns of a terminal a character takes.
func RuneColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// level is the largest size to which all sizes can be limited so that together
// they fit into room: small things keep their size, large ones share the rest.
// It is the largest size itself when everything fits.
func level(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		if share := room / (len(sorted) - i); size > share {
			return max(share, 0)
		}
		room -= size
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

// Visible makes s fit for a terminal or a log: control characters, terminal
// escapes, bidirectional controls and characters that cannot be seen become
// escapes such as \x1b and \u202e, bytes that are not UTF-8 become \xff, blanks
// of every kind become a space, and the marks by which CI logs recognise a
// command inside a line are broken up. Line ends are kept, as \n. The mark that
// makes an emoji of the symbol before it is left out.
func Visible(s string) string {
	s = lineEnds.Replace(s)
	if strings.IndexFunc(s, escaped) >= 0 || !utf8.ValidString(s) {
		var b strings.Builder
		var r, before rune
		for i, width := 0, 0; i < len(s); i += width {
			before = r
			r, width = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == '\ufe0f' && unicode.Is(unicode.So, before):
			case r == utf8.RuneError && width == 1:
				fmt.Fprintf(&b, `\x%02x`, s[i])
			case !escaped(r) || r == '\n':
				b.WriteRune(r)
			case unicode.IsSpace(r) && r != '\v' && r != '\f' && r != '\u0085' && r != '\u2028' && r != '\u2029':
				b.WriteByte(' ')
			case r < 0x100:
				fmt.Fprintf(&b, `\x%02x`, r)
			case r < 0x10000:
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				fmt.Fprintf(&b, `\U%08x`, r)
			}
		}
		s = b.String()
	}
	if strings.Contains(s, "##") {
		s = logCommand().ReplaceAllString(s, `#\#$1[`)
	}
	return s
}

// logCommand is how GitHub, Azure and TeamCity mark a command; the first two
// obey it anywhere in a line.
var logCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`##([a-z]*)\[`) })

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// escaped holds for every character that is not a visible mark of its own, and for
// the blanks that are not a space.
func escaped(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return !unicode.IsPrint(r) || markdown.Concealed(r)
}

// OneLine is [Visible] text on a single line, without blanks at its ends.
func OneLine(s string) string {
	s = strings.TrimSpace(Visible(s))
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return joinNonEmpty(" ", lines...)
}

// shorten keeps the first n code points of s and says so with an ellipsis.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// VisibleJSON is a JSON text in which every character that [Visible] escapes is
// escaped. Such characters stand only inside strings, so the JSON stays the same.
func VisibleJSON(data []byte) []byte {
	var out []byte
	for _, r := range string(data) {
		switch {
		case r == '\n' || !escaped(r):
			out = utf8.AppendRune(out, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}

// ShellWord quotes a path or an id so that a POSIX shell takes it as one word,
// in the commands that reports suggest.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:@%", r))
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// The escaping of markdown. Text is quoted so that every reader of GitHub's
// flavour shows it as it was typed: a backslash or an entity takes the meaning
// from punctuation, and a word that a code host would turn into a link after
// parsing (an address, a mention, a reference to an issue, a formula) becomes a
// code span, because escapes do not reach that far.

// mdInline is text on one line for the inside of a paragraph, list item, table
// cell or heading. It never holds a literal "|".
func mdInline(s string) string {
	var b strings.Builder
	for i, word := range strings.Split(OneLine(s), " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		if !linked(word) {
			mdEscape.WriteString(&b, word)
			continue
		}
		before, core, after := bare(word)
		mdEscape.WriteString(&b, before)
		b.WriteString(mdCode(core))
		mdEscape.WriteString(&b, after)
	}
	return b.String()
}

// bare removes the punctuation of a sentence around an address or the like: the
// quotes and brackets that it stands in, and the full stop or comma after it.
func bare(word string) (before, core, after string) {
	core = strings.TrimLeft(word, `'"(`)
	before = word[:len(word)-len(core)]
	core = strings.TrimRight(core, `'".,;:!?`)
	if strings.HasSuffix(core, ")") && !strings.Contains(core, "(") {
		core = strings.TrimRight(core, `)'".,;:!?`)
	}
	return before, core, word[len(before)+len(core):]
}

var mdEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", mdPipe)

// mdPipe is a pipe that does not divide cells, whatever surrounds it.
const mdPipe = "&#124;"

// mdStart is mdInline where a block may begin: nothing in it opens a list, a
// quote, a fence, a heading, a rule or a table.
func mdStart(s string) string {
	s = mdInline(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "" || s[0] == '\\' || s[0] == '`' || s[0] == '&':
		return s
	case s[0] < unicode.MaxASCII && (unicode.IsPunct(rune(s[0])) || unicode.IsSymbol(rune(s[0]))):
		return `\` + s
	case digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')'):
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// mdCode is text on one line as a code span; pipes stand outside of it.
func mdCode(s string) string {
	pieces := strings.Split(OneLine(s), "|")
	for i, piece := range pieces {
		pieces[i] = codeSpan(piece)
	}
	return strings.Join(pieces, mdPipe)
}

func codeSpan(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}

func longestRun(s string, char byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == char {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// linked holds for a word in which a code host may find a link, a mention, a
// reference or a formula.
func linked(word string) bool {
	if strings.ContainsAny(word, "@$") || strings.Contains(word, "://") {
		return true
	}
	lower := strings.ToLower(word)
	if slices.ContainsFunc([]string{"www.", "mailto:", "xmpp:"}, func(scheme string) bool { return strings.Contains(lower, scheme) }) {
		return true
	}
	for _, sign := range []string{"#", "gh-", "!", "&"} {
		for rest := lower; ; {
			_, after, found := strings.Cut(rest, sign)
			if !found {
				break
			}
			if after != "" && after[0] >= '0' && after[0] <= '9' {
				return true
			}
			rest = after
		}
	}
	return false
}
