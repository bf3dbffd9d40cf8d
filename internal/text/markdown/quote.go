package markdown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxQuoted is how many characters of a line a quotation has.
const maxQuoted = 4000

// Quote is text as data, for a place where a program or a model could take it for
// more: every line as [Show] has it, cut after 4,000 characters with a remark that
// says so, between fences longer than any in it. It ends with a line feed. The
// text around it must say that it is data.
func Quote(text string) string { return quoted(text, Show) }

// QuoteCells is [Quote] of a page's text: two blanks are between the cells of a row.
func QuoteCells(text string) string { return Quote(strings.ReplaceAll(text, "\t", "  ")) }

// QuoteCode is [Quote] of a program: its lines keep their tabs.
func QuoteCode(text string) string { return quoted(text, Code) }

func quoted(text string, show func(line string) string) string {
	longest, ticks := 2, 0
	for i := range len(text) {
		if ticks++; text[i] != '`' {
			ticks = 0
		}
		longest = max(longest, ticks)
	}
	fence := strings.Repeat("`", longest+1)
	var b strings.Builder
	b.WriteString(fence + "\n")
	if text = strings.TrimSuffix(unixLines.Replace(text), "\n"); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(cutLine(line, show) + "\n")
		}
	}
	b.WriteString(fence + "\n")
	return b.String()
}

// Fold breaks the lines of a text that [Quote] would cut, at a blank where there is one.
func Fold(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for utf8.RuneCountInString(line) > maxQuoted {
			end := 0
			for n := range line {
				if end++; end == maxQuoted {
					end = n
					break
				}
			}
			if blank := strings.LastIndexByte(line[:end], ' '); blank > 0 {
				end = blank + 1
			}
			b.WriteString(line[:end] + "\n")
			line = line[end:]
		}
		b.WriteString(line)
	}
	return b.String()
}

var unixLines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// OneLine is text with every run of white space as one blank, and none at its ends.
func OneLine(text string) string {
	if isOneLine(text) {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// isOneLine holds for most texts that are one line already: those in ASCII.
func isOneLine(text string) bool {
	before := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= utf8.RuneSelf || c|before == ' ' { // the last: two blanks
			return false
		}
		before = c
	}
	return text == "" || before != ' '
}

// Code is a line of a program as [Show] has it, with its tabs. A carriage return is
// shown as well, because some languages end a line there, and so is a character that
// joins others, beside one of ASCII: it makes another name of the same letters.
func Code(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = shown(strings.ReplaceAll(part, "\r", "U+000D"), true)
	}
	return strings.Join(parts, "\t")
}

// Show is text on one line, with everything in it shown for what it is: what is
// [Concealed] is written as U+XXXX, and bytes that are not UTF-8 as U+FFFD. Line ends become blanks. One character that joins two others stays, and so does
// one that selects a variant, behind a character that has variants.
func Show(text string) string { return shown(unixLines.Replace(text), false) }

func shown(text string, code bool) string {
	if isPlain(text) {
		return text
	}
	runes := []rune(strings.ReplaceAll(text, "\n", " "))
	var b strings.Builder
	before := ' '
	for i, r := range runes {
		after := ' '
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		switch {
		case varies(r) && varied(before, r),
			Joins(r) && (seen(before) || varies(before)) && seen(after) && !(code && min(before, after) <= unicode.MaxASCII):
			b.WriteRune(r)
		case Concealed(r):
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// isPlain reports whether text has nothing that Show could change, which is the usual
// case.
func isPlain(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || Concealed(r) {
			return false
		}
	}
	return true
}

func cutLine(line string, show func(line string) string) string {
	n := 0
	for i := range line {
		if n == maxQuoted {
			return fmt.Sprintf("%s [… cut: %d more characters]", show(line[:i]), utf8.RuneCountInString(line[i:]))
		}
		n++
	}
	return show(line)
}
