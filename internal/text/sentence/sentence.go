// Package sentence cuts texts into sentences: at Unicode's sentence boundaries
// (UAX 29), tailored for languages. Everything that decides stands in lists/, so that
// another toolchain does not cut another way.
package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// MaxUnmarked is how many characters a sentence has at most in a script that does not
// mark the ends of sentences.
const MaxUnmarked = 400

// Split lists the sentences of a text in order, without the white space around them.
// Language is that of the text in two letters, "" where it is not known. A line end
// ends a sentence. Beyond what Unicode says, none ends
//
//   - after an abbreviation of the language, or one that any language has;
//   - after a single capital, as in initials;
//   - before a quotation mark that closes, with a blank before it as in French; one
//     that opens belongs to what follows;
//   - after an ordinal before a month or another word that follows ordinals, in
//     languages that write ordinals with a full stop.
//
// Where a citation or another mark was taken out of the text beside a full stop, at one of
// the places in cited, in order, a sentence ends there whatever stands around it: such a place is that
// of the full stop or right behind it.
//
// A no-break space is a blank like others. A line of Thai, Lao or Tibetan is one
// sentence, cut at [MaxUnmarked] characters or at the last blank before.
//
// Split takes time in proportion to the length of the text. Any bytes are a text.
func Split(text, language string, cited ...int) []Span {
	s := splitter{text: text, words: wordsOf(language), cited: cited}
	for start := 0; start < len(text); {
		end, next := lineEnd(text, start)
		if unmarked(text[start:end]) {
			s.unmarkedLine(start, end)
		} else {
			s.line(start, end)
		}
		start = next
	}
	return s.found
}

type splitter struct {
	text   string
	words  words
	found  []Span
	cited  []int // the places that are not behind the text
	letter int   // the first letter or mark of an end that was found beyond the last full stop
}

// add keeps a sentence unless it is empty.
func (s *splitter) add(start, end int) {
	for start < end {
		r, size := utf8.DecodeRuneInString(s.text[start:end])
		if !isBlank(r) {
			break
		}
		start += size
	}
	for start < end {
		r, size := utf8.DecodeLastRuneInString(s.text[start:end])
		if !isBlank(r) {
			break
		}
		end -= size
	}
	if start < end {
		s.found = append(s.found, Span{start, end})
	}
}

// line cuts a line at its marks.
func (s *splitter) line(start, end int) {
	for at := start; at < end; {
		if c := s.text[at]; c == ' ' || c >= 'A' && c < utf8.RuneSelf { // most bytes of most texts
			at++
			continue
		}
		mark, size := utf8.DecodeRuneInString(s.text[at:end])
		if !s.words.ends(mark) {
			at += size
			continue
		}
		behind := s.skip(at+size, end, isAttached)
		next := s.skip(s.closed(start, behind, end), end, isBlank)
		if next < end && s.cuts(mark, at, behind, next, start, end) {
			s.add(start, next)
			start = next
		}
		at = next
	}
	s.add(start, end)
}

// cuts decides whether a sentence ends with a mark. What stands behind the mark
// begins at behind, and, closing marks and blanks left out, at next.
func (s *splitter) cuts(mark rune, at, behind, next, start, end int) bool {
	follows, _ := utf8.DecodeRuneInString(s.text[next:end])
	if s.words.ends(follows) || continues(follows) {
		return false
	}
	for len(s.cited) > 0 && s.cited[0] < at {
		s.cited = s.cited[1:]
	}
	if !isFullStop(mark) || len(s.cited) > 0 && s.cited[0] <= next {
		return true
	}
	if before, _ := utf8.DecodeLastRuneInString(s.text[start:at]); behind == next &&
		(unicode.IsDigit(follows) || unicode.IsUpper(follows) && (unicode.IsUpper(before) || unicode.IsLower(before))) {
		return false
	}
	if s.smallFollows(next, end) {
		return false
	}
	token := lastToken(s.text[start:at])
	switch {
	case token == "":
		return true
	case isInitial(token), s.words.abbreviated(token):
		return false
	case unicode.IsDigit(follows):
		return !s.words.beforeNumber(token)
	}
	return !isOrdinal(token) || !s.words.afterOrdinal(s.text[next:end])
}

// smallFollows holds when the next letter is a small one and no mark of an end stands
// before it. A word with a capital behind it, such as iPhone, begins a sentence.
func (s *splitter) smallFollows(next, end int) bool {
	for s.letter = max(s.letter, next); s.letter < end; {
		r, size := utf8.DecodeRuneInString(s.text[s.letter:end])
		if unicode.IsLetter(r) || s.words.ends(r) {
			second, _ := utf8.DecodeRuneInString(s.text[s.letter+size : end])
			return unicode.IsLower(r) && !unicode.IsUpper(second)
		}
		s.letter += size
	}
	return false
}

// mostQuoted is how far back a quotation begins that a straight mark closes.
const mostQuoted = 4096

// closed is where the brackets and quotation marks end that close what ends at a place.
// French has a blank before them. A straight mark before a word opens where none is open.
func (s *splitter) closed(start, at, end int) int {
	for at < end {
		from := s.skip(at, end, isBlank)
		r, size := utf8.DecodeRuneInString(s.text[from:end])
		next, _ := utf8.DecodeRuneInString(s.text[from+size : end])
		inner := unicode.IsLetter(next) || unicode.IsDigit(next)
		opens := r == '"' && inner && strings.Count(s.text[max(start, from-mostQuoted):from], `"`)%2 == 0
		if opens || !isClosing(r, inner) || from > at && (inner || r != '»' && r != '›') {
			break
		}
		at = s.skip(from+size, end, isAttached)
	}
	return at
}

func (s *splitter) skip(at, end int, over func(rune) bool) int {
	for at < end {
		r, size := utf8.DecodeRuneInString(s.text[at:end])
		if !over(r) && !isAttached(r) {
			break
		}
		at += size
	}
	return at
}

// unmarkedLine cuts a line that has no marks by its length.
func (s *splitter) unmarkedLine(start, end int) {
	blank, n := start, 0 // the last blank, and how many characters stand before at
	for at := start; at < end; {
		r, size := utf8.DecodeRuneInString(s.text[at:end])
		if n >= MaxUnmarked && !isAttached(r) {
			cut := at
			if blank > start {
				cut = blank
			}
			s.add(start, cut)
			start, blank, n = cut, cut, utf8.RuneCountInString(s.text[cut:at])
		}
		if isBlank(r) && n > 0 {
			blank = at
		}
		n++
		at += size
	}
	s.add(start, end)
}

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
