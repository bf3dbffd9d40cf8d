package page

import (
	"bytes"
	"strconv"
)

// The objects of a file: nil, bool, float64, name, str, array, dict, ref and
// *stream; and, in content, keyword.
type (
	object  any
	name    string
	str     string
	keyword string
	array   []object
	dict    map[name]object
	ref     struct{ number, generation int }
)

// stream is a dictionary with data, as it is in the file.
type stream struct {
	dict dict
	raw  []byte
	self ref // its encryption depends on it
}

// lexer reads objects from bytes. Every byte costs a unit of the budget.
type lexer struct {
	data   []byte
	at     int
	budget *int
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func isRegular(c byte) bool { return !isSpace(c) && !isDelimiter(c) }

func (l *lexer) skipSpace() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case isSpace(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// done reports whether nothing more can be read.
func (l *lexer) done() bool {
	l.skipSpace()
	return l.at >= len(l.data) || *l.budget <= 0
}

// object reads the next object. Anything else comes as a keyword, "" at the end.
func (l *lexer) object(depth int) object {
	start := l.at
	defer func() { *l.budget -= l.at - start + 1 }()
	if l.done() || depth > maxDepth {
		l.at = len(l.data)
		return keyword("")
	}
	c := l.data[l.at]
	switch {
	case c == '/':
		return l.name()
	case c == '(':
		return l.literal()
	case c == '[':
		l.at++
		return l.array(depth)
	case c == '<':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '<' {
			l.at += 2
			return l.dict(depth)
		}
		return l.hex()
	case c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9':
		return l.number()
	case isDelimiter(c):
		l.at++
		if c == '>' && l.at < len(l.data) && l.data[l.at] == '>' {
			l.at++
			return keyword(">>")
		}
		return keyword(c)
	}
	end := l.at
	for end < len(l.data) && isRegular(l.data[end]) {
		end++
	}
	word := string(l.data[l.at:end])
	l.at = end
	switch word {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return keyword(word)
}

func (l *lexer) name() object {
	l.at++
	var b []byte
	for l.at < len(l.data) && isRegular(l.data[l.at]) {
		c := l.data[l.at]
		if c == '#' && l.at+2 < len(l.data) {
			if v, ok := hexByte(l.data[l.at+1], l.data[l.at+2]); ok {
				c = v
				l.at += 2
			}
		}
		b = append(b, c)
		l.at++
	}
	return name(b)
}

func hexByte(a, b byte) (byte, bool) {
	x, okX := hexDigit(a)
	y, okY := hexDigit(b)
	return x<<4 | y, okX && okY
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

func (l *lexer) number() object {
	end := l.at + 1
	for end < len(l.data) && isRegular(l.data[end]) && bytes.IndexByte([]byte("0123456789.-+"), l.data[end]) >= 0 {
		end++
	}
	text := l.data[l.at:end]
	l.at = end
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		// Some programs write --5 and 5.-3.
		v, _ = strconv.ParseFloat(string(bytes.TrimLeft(text, "+-")), 64)
	}
	return v
}

// literal reads a string in parentheses.
func (l *lexer) literal() object {
	l.at++
	var b []byte
	for depth := 1; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.at++
				return str(b)
			}
		case '\\':
			if l.at++; l.at == len(l.data) {
				return str(b)
			}
			escaped, more := l.escape()
			if more {
				b = append(b, escaped)
			}
			continue
		}
		b = append(b, c)
	}
	return str(b)
}

// escape reads what follows a backslash; false for a line that continues.
func (l *lexer) escape() (byte, bool) {
	switch c := l.data[l.at]; c {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '\n':
		return 0, false
	case '\r':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '\n' {
			l.at++
		}
		return 0, false
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v := c - '0'
		for range 2 {
			if l.at+1 == len(l.data) || l.data[l.at+1] < '0' || l.data[l.at+1] > '7' {
				break
			}
			l.at++
			v = v<<3 | (l.data[l.at] - '0')
		}
		return v, true
	default:
		return c, true
	}
}

// hex reads a string of hexadecimal digits.
func (l *lexer) hex() object {
	l.at++
	var b []byte
	var high byte
	odd := false
	for ; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		if c == '>' {
			l.at++
			break
		}
		v, ok := hexDigit(c)
		switch {
		case !ok:
		case odd:
			b, odd = append(b, high<<4|v), false
		default:
			high, odd = v, true
		}
	}
	if odd {
		b = append(b, high<<4)
	}
	return str(b)
}

func (l *lexer) array(depth int) object {
	list := array{}
	for !l.done() {
		o := l.object(depth + 1)
		switch o {
		case keyword("]"), keyword(""), keyword("endobj"):
			return list
		case keyword("R"):
			if n := len(list); n >= 2 {
				if r, ok := refOf(list[n-2], list[n-1]); ok {
					list = append(list[:n-2], r)
				}
			}
			continue
		}
		list = append(list, o)
	}
	return list
}

func refOf(number, generation object) (ref, bool) {
	n, okN := number.(float64)
	g, okG := generation.(float64)
	return ref{int(n), int(g)}, okN && okG && n >= 0 && n < 1<<31 && g >= 0 && g < 1<<16
}

func (l *lexer) dict(depth int) object {
	d := dict{}
	for !l.done() {
		key, ok := l.object(depth + 1).(name)
		if !ok {
			return d // the end, or something that is not a key
		}
		before := l.at
		value := l.object(depth + 1)
		if word, isWord := value.(keyword); isWord {
			if word == ">>" || word == "" || word == "endobj" {
				return d
			}
			l.at = before + 1
			continue
		}
		if _, isNumber := value.(float64); isNumber {
			value = l.reference(value)
		}
		d[key] = value
	}
	return d
}

// reference reads on where a number may begin a reference.
func (l *lexer) reference(number object) object {
	start := l.at
	if l.done() || l.data[l.at] < '0' || l.data[l.at] > '9' {
		l.at = start
		return number
	}
	generation := l.number()
	if !l.done() && l.data[l.at] == 'R' && (l.at+1 == len(l.data) || !isRegular(l.data[l.at+1])) {
		if r, ok := refOf(number, generation); ok {
			l.at++
			return r
		}
	}
	l.at = start
	return number
}
