package page

import (
	"bytes"
	"io"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/tidegate/tidegate/internal/text/office"
)

// MarkdownType is what servers call Markdown.
const MarkdownType = "text/markdown"

// maxPageText is how many bytes of text are read of one page.
const maxPageText = 64 << 20

// Content is what a page says: its text, and what it says about itself.
type Content struct {
	// Text is what a reader of the page sees, in UTF-8: a line for each block of
	// text, with tabs between the cells of a table. Grounding looks here.
	Text      string
	Title     string // as the page calls itself
	Publisher string // the site or journal
	Author    string
	Published string // a date, 2021-03-04, 2021-03 or 2021
	Language  string // as declared: de, pt-BR
	Canonical string // the URL that the page gives for itself, not resolved
	DOI       string // as the page of a work gives it, in whatever form

	Media    Media
	Signals  Signals // of an HTML page
	Cut      bool    // there is more text than Text has: the page is broken, or beyond a limit
	Words    int     // in Text
	Prose    int     // of them in lines that are sentences, not menus
	Headings []string
	Levels   []int    // of the headings, 1 for the highest
	Places   []int    // where they begin in Text
	Works    []string // what an HTML page links or sets in italics, where it has the length of a title
}

// Media says what kind of bytes a body is.
type Media uint8

// The kinds.
const (
	None Media = iota // nothing at all
	HTML
	Text
	PDF
	Document // a file of an office program, a book or a mail
	Other    // no text can be read from it
)

// Read reads the text and the metadata of a page from its body and from what the
// server calls it. Whatever the bytes are, it returns what can be read of them, in
// time and memory that are linear in their number.
func Read(body []byte, contentType string) Content {
	c := Content{Media: mediaOf(body, contentType)}
	switch c.Media {
	case HTML:
		c.readHTML(body, contentType)
	case Text:
		text, _ := io.ReadAll(io.LimitReader(utf8Reader(body, contentType), maxPageText+1))
		c.Cut = len(text) > maxPageText
		c.Text = tidyLines(string(text[:min(len(text), maxPageText)]))
		switch kind, _, _ := mime.ParseMediaType(contentType); kind {
		case "text/csv", "text/tab-separated-values":
			c.readTable()
		case MarkdownType:
			c.readMarkdown(c.Text)
		case "", "text/plain", "application/octet-stream":
			c.Text = unwrapped(c.Text)
			c.readUnderlined()
		default:
			c.readUnderlined()
		}
	case PDF:
		c.readPDF(body)
	case Document:
		if office.Is(body) {
			c.readOffice(body)
		} else {
			room := wholeMail
			c.readMail(body, &room, 0)
		}
	}
	c.measure()
	return c
}

// junkBeforePDF is how many bytes may stand before the beginning of a file that
// the server calls a PDF.
const junkBeforePDF = 1024

// mediaOf goes by the bytes where they are clear, and otherwise by what the server
// says: servers call error pages PDF, and PDF files octets. A PDF that stands
// somewhere in another text is not what a reader sees.
func mediaOf(body []byte, contentType string) Media {
	kind, _, _ := mime.ParseMediaType(contentType)
	start := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), junkBeforePDF)], []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := strings.ToLower(string(start))
	switch {
	case len(start) == 0 && len(bytes.TrimSpace(body)) == 0:
		return None
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return PDF
	case office.Is(body), kind == "message/rfc822":
		return Document
	case strings.HasPrefix(lower, "<!doctype html"), strings.HasPrefix(lower, "<html"):
		return HTML
	case kind == "application/pdf" && !strings.HasPrefix(lower, "<") && bytes.Contains(start, []byte("%PDF-")):
		return PDF
	case kind == "text/html", strings.HasSuffix(kind, "xml"):
		return HTML
	case kind == "application/pdf":
		return Other
	case strings.HasPrefix(kind, "text/"), kind == "application/json", strings.HasSuffix(kind, "+json"),
		kind == "application/x-ndjson", kind == "application/yaml", kind == "application/javascript":
		return Text
	case strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"), strings.HasPrefix(kind, "video/"), strings.HasPrefix(kind, "font/"):
		return Other
	case isBinary(start):
		return Other
	case strings.HasPrefix(lower, "<?xml"), strings.HasPrefix(lower, "<!--"), beginsElement(lower):
		return HTML
	}
	return Text
}

// isBinary holds for bytes that no text has.
func isBinary(start []byte) bool {
	return bytes.ContainsFunc(start, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", r) })
}

// beginsElement holds for the start tag of an element that HTML has.
func beginsElement(lower string) bool {
	name, found := strings.CutPrefix(lower, "<")
	if i := strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !isAlnum(byte(r)) }); i >= 0 {
		name = name[:i]
	}
	return found && atom.Lookup([]byte(name)) != 0
}

// tidyLines makes a text of lines: ends of all kinds become line feeds, and
// bytes that are not UTF-8 become U+FFFD.
func tidyLines(text string) string {
	return strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\ufffd")
}

// ProseLine is how many words make a line a sentence rather than a menu.
const ProseLine = 10

// measure counts words, all of them and those in prose.
func (c *Content) measure() {
	for line := range strings.SplitSeq(c.Text, "\n") {
		n := CountWords(line)
		c.Words += n
		if n >= ProseLine {
			c.Prose += n
		}
	}
}

// CountWords counts the words of a line. Two characters of a script that puts no
// blanks between words count as one.
func CountWords(line string) int {
	words, dense, in := 0, 0, noWord
	for i := 0; i < len(line); {
		if c := line[i]; c < utf8.RuneSelf {
			// Without a branch: where words begin and end cannot be foretold.
			part := asciiPart[c]
			words += int(part & inWord &^ in)
			in = part&inWord | in&(part>>1)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		i += size
		letter := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
		switch {
		case letter && IsDense(r):
			dense++
			in = noWord
		case letter && in == noWord:
			words++
			in = inWord
		case !letter && r != '’':
			in = noWord
		}
	}
	return words + (dense+1)/2
}

// asciiPart says what a character of ASCII does to a word.
var asciiPart = func() (parts [utf8.RuneSelf]wordPart) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case isAlnum(c):
			parts[c] = inWord
		case c == '\'' || c == '-':
			parts[c] = joinsWord
		}
	}
	return parts
}()

type wordPart uint8

const (
	noWord    wordPart = 0
	inWord    wordPart = 1
	joinsWord wordPart = 2 // continues a word, but does not begin one
)

// IsDense holds for the scripts that put no blanks between words.
func IsDense(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }
