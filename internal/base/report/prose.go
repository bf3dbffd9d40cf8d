package report

import (
	"regexp"
	"strings"
	"sync"
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
