package style

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// declaration is a property with its value, both in lower case.
type declaration struct {
	name, value string
	important   bool
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// isWide holds for the words that every property takes.
func isWide(value string) bool {
	switch value {
	case "inherit", "initial", "unset", "revert", "revert-layer":
		return true
	}
	return false
}

// declarations reads the declarations of a block or of a style attribute, and hands what
// is no declaration, a nested rule, to nested.
func declarations(text string, nested func(prelude, block string)) (all []declaration) {
	for text != "" {
		end, open := declarationEnd(text)
		if open {
			block, rest := blockOf(text[end+1:])
			if nested != nil {
				nested(strings.TrimSpace(text[:end]), block)
			}
			text = rest
			continue
		}
		part := text[:end]
		text = text[min(len(text), end+1):]
		name, value, ok := strings.Cut(part, ":")
		if name = plain(strings.TrimSpace(name)); !strings.HasPrefix(name, "--") {
			name = properties()[name]
		}
		if !ok || name == "" {
			continue
		}
		value = strings.TrimSpace(plain(value))
		d := declaration{name: name, value: value}
		if at := strings.LastIndexByte(value, '!'); at >= 0 && strings.TrimSpace(value[at+1:]) == "important" {
			d.value, d.important = strings.TrimSpace(value[:at]), true
		}
		if (d.value != "" || strings.HasPrefix(name, "--")) && namesVariables(d.value) {
			all = append(all, d)
		}
	}
	return all
}

// namesVariables reports whether each reference to a variable has its name.
func namesVariables(value string) bool {
	for {
		_, rest, ok := strings.Cut(value, "var(")
		if !ok {
			return true
		}
		if rest = strings.TrimLeft(rest, blanks); !strings.HasPrefix(rest, "--") {
			return false
		}
		value = rest
	}
}

// declarationEnd is where a declaration ends, or the prelude of a nested rule, which open
// says.
func declarationEnd(text string) (end int, open bool) {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"', '\'':
			at = stringEnd(text, at)
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(0, depth-1)
		case ';':
			if depth == 0 {
				return at, false
			}
		case '{':
			if depth == 0 && !strings.HasPrefix(strings.TrimSpace(text[:at]), "--") {
				return at, true
			}
			depth++
		case '}':
			depth = max(0, depth-1)
		}
	}
	return len(text), false
}

// stringEnd is where the string ends that begins at an index: at its quotation mark, or
// before the end of its line.
func stringEnd(text string, at int) int {
	for end := at + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case text[at]:
			return end
		case '\n':
			return end - 1
		}
	}
	return len(text)
}

// blockOf is what stands up to the bracket that closes a block, and what stands behind it.
func blockOf(text string) (block, rest string) {
	depth := 1
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"', '\'':
			at = stringEnd(text, at)
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:at], text[at+1:]
			}
		}
	}
	return text, ""
}

// withoutComments takes the comments out of a sheet.
func withoutComments(text string) string {
	if !strings.Contains(text, "/*") {
		return text
	}
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case text[at] == '"' || text[at] == '\'':
			at = stringEnd(text, at)
		case strings.HasPrefix(text[at:], "/*"):
			b.WriteString(text[from:at])
			end := strings.Index(text[at+2:], "*/")
			if end < 0 {
				return b.String()
			}
			at += end + 3
			if from = at + 1; nameEnd(text[:from]) < from && from < len(text) && nameEnd(b.String()[max(0, b.Len()-1):]) == 1 && nameEnd(text[from:]) > 0 {
				b.WriteByte(' ') // it parts two names
			}
		}
	}
	if from < len(text) {
		b.WriteString(text[from:])
	}
	return b.String()
}

// plain is a text in lower case with its escapes decoded, and with nothing in the place of
// its strings. Names of variables keep their case. An escaped character that begins no name
// does not become what it would be without the escape.
func plain(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == '\\' || r == '"' || r == '\'' || unicode.IsUpper(r) }) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		switch text[at] {
		case '\\':
			r, size := escape(text[at:])
			if r < 0x80 && !unicode.IsLetter(r) && r != '-' && r != '_' {
				r = unicode.ReplacementChar
			}
			b.WriteRune(unicode.ToLower(r))
			at += size
		case '-':
			end := at + 1
			if strings.HasPrefix(text[at:], "--") {
				end = at + nameEnd(text[at:])
			}
			b.WriteString(text[at:end])
			at = end
		case '"', '\'':
			at = stringEnd(text, at) + 1
			b.WriteString(`""`)
		default:
			r, size := utf8.DecodeRuneInString(text[at:])
			b.WriteRune(unicode.ToLower(r))
			at += size
		}
	}
	return b.String()
}

// escape decodes the escape with which a text begins: up to six hexadecimal digits and a
// blank, or the character itself.
func escape(text string) (r rune, size int) {
	end := 1
	for end < len(text) && end <= 6 && strings.IndexByte("0123456789abcdefABCDEF", text[end]) >= 0 {
		end++
	}
	if end == 1 {
		r, size := utf8.DecodeRuneInString(text[1:])
		return r, 1 + size
	}
	code, _ := strconv.ParseUint(text[1:end], 16, 32)
	if end < len(text) && strings.IndexByte(blanks, text[end]) >= 0 {
		end++
	}
	return rune(code), end
}
