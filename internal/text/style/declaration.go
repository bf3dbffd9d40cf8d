package style

import (
	"slices"
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

// properties are those that are kept: what can hide a text, and what that depends on.
var properties = setOf(`display visibility opacity content-visibility font font-size color background background-color background-image
	background-clip -webkit-background-clip -webkit-text-fill-color fill text-shadow text-decoration text-decoration-line -webkit-text-security
	position left right top bottom inset inset-inline-start inset-inline-end inset-inline inset-block inset-block-start inset-block-end
	margin margin-left margin-top margin-right margin-bottom margin-inline-start margin-inline-end margin-block-start margin-inline margin-block
	text-indent letter-spacing transform translate scale rotate zoom filter clip clip-path mask mask-image -webkit-mask -webkit-mask-image
	overflow overflow-x overflow-y width height max-width max-height inline-size block-size max-inline-size max-block-size line-height
	animation animation-name animation-fill-mode -webkit-animation -webkit-animation-name -webkit-animation-fill-mode all offset-path`)

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
		if open && nested != nil {
			block, rest := blockOf(text[end+1:])
			nested(strings.TrimSpace(text[:end]), block)
			text = rest
			continue
		}
		part := text[:end]
		text = text[min(len(text), end+1):]
		name, value, ok := strings.Cut(part, ":")
		name = plain(strings.TrimSpace(name))
		if !ok || !properties[name] && !strings.HasPrefix(name, "--") {
			continue
		}
		value = strings.TrimSpace(plain(value))
		d := declaration{name: name, value: value}
		if at := strings.LastIndexByte(value, '!'); at >= 0 && strings.TrimSpace(value[at+1:]) == "important" {
			d.value, d.important = strings.TrimSpace(value[:at]), true
		}
		if d.value != "" || strings.HasPrefix(name, "--") {
			all = append(all, d)
		}
	}
	return all
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
			from = at + 1
		}
	}
	if from < len(text) {
		b.WriteString(text[from:])
	}
	return b.String()
}

// plain is a text in lower case with its escapes decoded, and with nothing in the place of
// its strings.
func plain(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == '\\' || r == '"' || r == '\'' || unicode.IsUpper(r) }) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		switch text[at] {
		case '\\':
			r, size := escape(text[at:])
			b.WriteRune(unicode.ToLower(r))
			at += size
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

// The words that a browser takes for some properties.
var keywords = map[string]map[string]bool{
	"display": setOf(`none block inline inline-block flex inline-flex grid inline-grid table inline-table table-row table-cell table-column
		table-row-group table-header-group table-footer-group table-column-group table-caption list-item contents flow flow-root ruby ruby-base
		ruby-text ruby-base-container ruby-text-container math grid-lanes -webkit-box -webkit-inline-box -webkit-flex -webkit-inline-flex`),
	"visibility":         setOf("visible hidden collapse"),
	"content-visibility": setOf("visible auto hidden"),
	"position":           setOf("static relative absolute fixed sticky -webkit-sticky"),
	"font-size":          setOf("xx-small x-small small medium large x-large xx-large xxx-large smaller larger math"),
	"overflow":           setOf("visible hidden clip scroll auto overlay"),
	"background-clip":    setOf("border-box padding-box content-box text border-area"),
}

// isValid reports whether a browser takes a value for a property. For those that are not
// listed here it takes anything: what reads their values does not act on what it does not
// understand.
func isValid(name, value string) bool {
	if isWide(value) {
		return true
	}
	fn, _, isFunction := function(value)
	switch name {
	case "display", "visibility", "content-visibility", "position", "overflow", "overflow-x", "overflow-y", "background-clip", "-webkit-background-clip":
		words := keywords[strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "-webkit-"), "-x"), "-y")]
		fields := split(value, blanks+",")
		if name == "display" && len(fields) > 1 && slices.Contains(fields, "none") || (name == "visibility" || name == "position") && len(fields) > 1 {
			return false
		}
		return isFunction || !slices.ContainsFunc(fields, func(word string) bool { return !words[word] })
	case "opacity":
		_, k := quantity(value, scale{em: mediumLetters, full: 1})
		return k == number || k == unknown || k == length && (strings.HasSuffix(value, "%") || isFunction)
	case "font-size":
		n, k := quantity(value, scale{em: mediumLetters, full: mediumLetters})
		return keywords[name][value] || k == unknown || (k == length || n < tiny) && n >= 0 && k != wrong && k != angle
	case "color", "background-color", "-webkit-text-fill-color":
		_, ok := colourOf(value)
		return ok || value == "currentcolor"
	case "width", "height", "max-width", "max-height", "inline-size", "block-size", "max-inline-size", "max-block-size", "text-indent", "letter-spacing", "left", "right", "top", "bottom":
		n, k := quantity(value, scale{em: mediumLetters, full: screenWidth})
		return isFunction || strings.IndexByte("+-.0123456789", value[0]) < 0 || k == length || k == number && n == 0 || strings.Contains(value, " ")
	case "clip":
		return fn == "rect" || value == "auto"
	}
	return true
}
