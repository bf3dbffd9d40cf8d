package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineEnd says where the line that begins at a place ends, and where the next begins.
func lineEnd(text string, start int) (end, next int) {
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '\n' && c <= '\r':
			return i, i + 1
		case c == 0xc2 && strings.HasPrefix(text[i:], "\u0085"):
			return i, i + 2
		case c == 0xe2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			return i, i + 3
		}
	}
	return len(text), len(text)
}

// unmarked holds for a line in which more letters than not are of a script that does
// not mark the ends of sentences: Thai, Lao or Tibetan.
func unmarked(line string) bool {
	if !strings.Contains(line, "\xe0") { // no character of these scripts begins another way
		return false
	}
	of, others := 0, 0
	for _, r := range line {
		switch {
		case r >= 0x0e00 && r <= 0x0fff:
			of++
		case unicode.IsLetter(r):
			others++
		}
	}
	return of > others
}

func isFullStop(r rune) bool { return r == '.' || r == '․' || r == '﹒' || r == '．' }

// isAttached holds for characters that belong to the one before them.
func isAttached(r rune) bool { return r >= 0x80 && (unicode.IsMark(r) || unicode.Is(unicode.Cf, r)) }

func isBlank(r rune) bool { return unicode.IsSpace(r) }

// isClosing holds for brackets and quotation marks that close. Some of them open in
// other languages, where a letter or digit follows.
func isClosing(r rune, wordFollows bool) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf) || !wordFollows && unicode.Is(unicode.Pi, r)
}

// continues holds for marks that a sentence goes on with.
func continues(r rune) bool {
	return strings.ContainsRune(",-:;՝،؍߸᠂᠈–—、︐︑︓︱︲﹐﹑﹕﹘﹣，－：､", r)
}

// lastToken is the word at the end of a text, inner full stops and hyphens included.
// It is "" for a word longer than any abbreviation.
func lastToken(text string) string {
	const longest = 48
	at := len(text)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !isAttached(r) && !strings.ContainsRune(".-°º", r) {
			break
		}
		if at -= size; len(text)-at > longest {
			return ""
		}
	}
	return strings.TrimLeft(text[at:], ".-")
}

// isInitial holds for a word whose last part is a single capital.
func isInitial(token string) bool {
	r, size := utf8.DecodeLastRuneInString(token)
	rest := token[:len(token)-size]
	return unicode.IsUpper(r) && (rest == "" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "-"))
}

// isOrdinal holds for a number that can be an ordinal: a year is none.
func isOrdinal(token string) bool {
	return len(token) <= 3 && strings.Trim(token, "0123456789") == ""
}
