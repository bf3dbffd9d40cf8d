package pivot

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// stated says whether a line states a gap to a reader of the page.
type stated uint8

const (
	prose   stated = iota // its first word is not a list marker
	gapLine               // its visible text begins with a priority
	unclear               // it has nothing but signs and white space
)

// readStart looks for a priority at the start of the visible text of a line: (P0)
// to (P3), once list markers of any kind, quote marks, emphasis, escapes,
// character references, tags, bars of tables and zero-width characters before it
// and in it are removed. A list marker is a sign, or a number, a single letter or
// a small Roman number, in brackets or not. The article a is not one, so that
// prose may begin with it.
//
// A line that is cut goes on beyond what is seen, where a tag may end.
func readStart(line []byte, cut bool) stated {
	c := characters{line: line, cut: cut}
	for {
		r, ok := c.next()
		switch {
		case !ok:
			return unclear
		case r == '(' && c.atPriority():
			return gapLine
		case !isNumeral(r):
			continue // a sign, or white space
		}
		word := []rune{r}
		for r, ok = c.next(); ok && isNumeral(r); r, ok = c.next() {
			if word = append(word, r); len(word) > longestNumber {
				return prose
			}
		}
		if !isListNumber(string(word), !ok || unicode.IsSpace(r)) {
			return prose
		}
		if ok {
			c.back() // it may be the parenthesis of a priority
		}
	}
}

// longestNumber is the length of the longest number of a list.
const longestNumber = 12

func isNumeral(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

var (
	romanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:x{0,3}(?:ix|iv|v?i{0,3})|X{0,3}(?:IX|IV|V?I{0,3}))$`)
	})
	chineseNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[一二三四五六七八九十百]+$`) })
	mixedNumber   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\pL\d{1,2}|\d{1,3}\pL)$`) }) // G1, 1a
)

// isListNumber reports whether a word numbers an item of a list. Bare says that no
// sign follows it.
func isListNumber(word string, bare bool) bool {
	switch {
	case strings.IndexFunc(word, func(r rune) bool { return !unicode.IsNumber(r) }) < 0, romanNumber().MatchString(word):
		return true
	case bare && strings.EqualFold(word, "a"):
		return false
	}
	return utf8.RuneCountInString(word) == 1 || chineseNumber().MatchString(word) || !bare && mixedNumber().MatchString(word)
}

// characters are the characters of a line that a page shows.
type characters struct {
	line    []byte
	at      int
	decoded []rune // of a character reference, still to come
	last    rune
	again   bool // last comes once more
	noEnd   bool // no tag ends in the rest of the line
	cut     bool // the line goes on
}

// back makes the last character come once more.
func (c *characters) back() { c.again = true }

// next is the next character; it is not ok at the end of the line.
func (c *characters) next() (r rune, ok bool) {
	if c.again {
		c.again = false
		return c.last, true
	}
	for {
		if len(c.decoded) > 0 {
			r, c.decoded = c.decoded[0], c.decoded[1:]
		} else if r, ok = c.read(); !ok {
			return 0, false
		}
		if r >= '！' && r <= '～' { // the wide forms of ASCII
			r -= '！' - '!'
		}
		// Marks, such as that of a key cap, belong to the character before.
		if r > 0 && !markdown.Hidden(r) && !unicode.IsMark(r) {
			c.last = r
			return r, true
		}
	}
}

// read takes the next character of the line, 0 for what is not one.
func (c *characters) read() (r rune, ok bool) {
	if c.at == len(c.line) {
		return 0, false
	}
	rest := c.line[c.at:]
	switch {
	case rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rest[1]) >= 0:
		c.at++
		return 0, true
	case rest[0] == '&':
		if text, n := markdown.CharacterReference(rest); n > 0 {
			c.at += n
			c.decoded = []rune(text)
			return 0, true
		}
	case rest[0] == '<' && !c.noEnd && len(rest) > 1 && (rest[1] == '/' || rest[1] == '!' || rest[1] == '?' || rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'):
		end := bytes.IndexByte(rest, '>')
		if bytes.HasPrefix(rest, []byte("<!--")) {
			if i := bytes.Index(rest, []byte("-->")); i >= 0 {
				end = i + len("--")
			}
		}
		switch {
		case end >= 0:
			c.at += end + 1
			return 0, true
		case c.cut:
			return 0, false
		}
		c.noEnd = true
	}
	r, size := utf8.DecodeRune(rest)
	c.at += size
	return r, true
}

// atPriority reports whether P0) to P3) comes next, marks of emphasis aside.
func (c *characters) atPriority() bool {
	ahead := *c
	want := []string{"P", "0123", ")"}
	for _, one := range want {
		r, ok := ahead.next()
		for ok && strings.ContainsRune("*_~`", r) {
			r, ok = ahead.next()
		}
		if !ok || !strings.ContainsRune(one, r) {
			return false
		}
	}
	return true
}
