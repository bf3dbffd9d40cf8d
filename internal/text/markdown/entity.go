package markdown

import (
	"html"
	"strconv"
	"unicode/utf8"
)

// longestEntity is the length of the longest name of a character reference,
// with & and ;.
const longestEntity = 33

// CharacterReference decodes the character reference that b begins with: &name;
// or a number. It says how many bytes it takes, 0 when there is none.
func CharacterReference(b []byte) (decoded string, n int) {
	if len(b) < 3 || b[0] != '&' {
		return "", 0
	}
	for n = 1; n < len(b) && n < longestEntity && b[n] != ';'; n++ {
		if !isLetter(b[n]) && !isDigit(b[n]) && (n > 1 || b[n] != '#') {
			return "", 0
		}
	}
	if n == len(b) || b[n] != ';' {
		return "", 0
	}
	n++
	if b[1] == '#' {
		if decoded = numericEntity(string(b[2 : n-1])); decoded == "" {
			return "", 0
		}
		return decoded, n
	}
	name := string(b[:n])
	decoded = html.UnescapeString(name)
	// Names that HTML also knows without a semicolon leave the rest behind.
	if decoded == name || decoded[len(decoded)-1] == ';' && name != "&semi;" {
		return "", 0
	}
	return decoded, n
}

// numericEntity is the character whose number, without &# and ;, is given; "" for
// what is not a number.
func numericEntity(number string) string {
	base, most := 10, 7
	if number != "" && number[0]|0x20 == 'x' {
		number, base, most = number[1:], 16, 6
	}
	if len(number) > most {
		return ""
	}
	code, err := strconv.ParseUint(number, base, 32)
	if err != nil {
		return ""
	}
	r := rune(code)
	if r == 0 || code > utf8.MaxRune || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return string(r)
}

// unescape decodes the backslash escapes and character references of a
// destination.
func unescape(b []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\' && i+1 < len(b) && isPunctuation(b[i+1]):
			out = append(out, b[from:i]...)
			from = i + 1
			i++
		case b[i] == '&':
			if decoded, n := CharacterReference(b[i:]); n > 0 {
				out = append(append(out, b[from:i]...), decoded...)
				from = i + n
				i += n - 1
			}
		}
	}
	if from == 0 {
		return b
	}
	return append(out, b[from:]...)
}
