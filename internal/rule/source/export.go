package source

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// The exports below hand records to reference managers. What a page calls itself
// is text there and nothing more: it ends no field and no record, and is neither
// markup nor a command of TeX.

// OwnDocuments is the address of a person's own documents. Nothing is ever fetched from
// there.
const OwnDocuments = "https://files.invalid/"

// OwnName is the name of a person's own document, by which prompts list it; "" for a page.
func OwnName(address string) string {
	name, own := strings.CutPrefix(address, OwnDocuments)
	if !own {
		return ""
	}
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// entry is a record as reference managers know it.
type entry struct {
	key, title, publisher, url, note string
	doi                              string
	authors                          []string
	published, accessed              []string // year, month, day, as far as known
}

// entriesOf are records with keys that a person can type: the first author's last name,
// or else the publisher's or the site's first word, the year, and the first telling word
// of the title. Two of the same have a letter behind them.
func entriesOf(records []Record) []entry {
	entries, taken := make([]entry, len(records)), map[string]int{}
	for i := range records {
		e := entryOf(&records[i])
		who := ""
		if len(e.authors) > 0 {
			name, _, _ := strings.Cut(e.authors[0], ",") // Holt, M.
			if who = lastWord(name); name != e.authors[0] {
				who = plainWord(name, false)
			}
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(e.url, "http://"), "https://"), "www."), "/")
		e.key = cmp.Or(who, plainWord(e.publisher, true), plainWord(strings.ReplaceAll(host, ".", " "), false), "source")
		if len(e.published) > 0 {
			e.key += e.published[0]
		}
		e.key += plainWord(e.title, true)
		taken[e.key]++
		if n := taken[e.key]; n > 1 {
			e.key += "-" + strconv.Itoa(n)
		}
		entries[i] = e
	}
	return entries
}

// plainWord is the first word of a text that ASCII can write, the first that is not
// common where there is one.
func plainWord(text string, telling bool) string {
	first := ""
	eachPlain(text, func(word string) bool {
		if first == "" {
			first = word
		}
		if telling && (page.IsCommon(word) || len(word) < 3) {
			return true
		}
		first = word
		return false
	})
	return first
}

func lastWord(text string) (last string) {
	eachPlain(text, func(word string) bool {
		last = word
		return true
	})
	return last
}

// eachPlain calls visit for the words of a text that are letters of ASCII once accents are
// off, until it returns false.
func eachPlain(text string, visit func(word string) bool) {
	more := true
	page.EachFolded(asciiLetters.Replace(text), func(word []byte, _ int) {
		if more && !strings.ContainsFunc(string(word), func(r rune) bool { return r < 'a' || r > 'z' }) {
			more = visit(string(word))
		}
	})
}

// asciiLetters writes letters that have no accent to take off.
var asciiLetters = strings.NewReplacer("ø", "o", "Ø", "O", "æ", "ae", "Æ", "Ae", "œ", "oe", "ß", "ss", "ł", "l", "Ł", "L", "đ", "d", "þ", "th", "ð", "d", "ı", "i")

func entryOf(r *Record) entry {
	e := entry{title: visible(r.Title), publisher: visible(r.Publisher), url: exportURL(r.URL), published: dateParts(r.Published), accessed: dateParts(r.CheckedAt)}
	if name := OwnName(r.URL); name != "" {
		e.title, e.url = cmp.Or(e.title, visible(name)), ""
	}
	e.title = cmp.Or(e.title, e.url)
	if doi, ok := strings.CutPrefix(r.Identifier, "doi:"); ok {
		e.doi = exportURL(doi)
	}
	for name := range strings.SplitSeq(r.Author, ";") {
		if name = visible(name); name != "" {
			e.authors = append(e.authors, name)
		}
	}
	if r.Status == Paywalled {
		e.note = "behind a paywall"
	}
	return e
}

// visible puts a text on one line and leaves out what cannot be seen.
func visible(s string) string {
	return page.TidySpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, s))
}

// exportURL escapes what would end a field.
func exportURL(s string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", "\\", "%5C", " ", "%20", "<", "%3C", ">", "%3E", "\"", "%22", "\n", "", "\r", "", "\t", "").Replace(visible(s))
}

// dateParts are year, month and day at the start of a time.
func dateParts(s string) []string {
	if s = page.Date(s); s == "" {
		return nil
	}
	return strings.Split(s, "-")
}

// CSLJSON writes records as CSL-JSON, the citation style language's own format.
func CSLJSON(records []Record) ([]byte, error) {
	type name struct {
		Literal string `json:"literal"`
	}
	type date struct {
		Parts [][]int `json:"date-parts"`
	}
	type item struct {
		ID        string `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		Author    []name `json:"author,omitempty"`
		Container string `json:"container-title,omitzero"`
		Issued    *date  `json:"issued,omitzero"`
		Accessed  *date  `json:"accessed,omitzero"`
		DOI       string `json:"DOI,omitzero"`
		URL       string `json:"URL,omitzero"`
		Note      string `json:"note,omitzero"`
	}
	dateFrom := func(parts []string) *date {
		if len(parts) == 0 {
			return nil
		}
		numbers := make([]int, len(parts))
		for i, part := range parts {
			numbers[i], _ = strconv.Atoi(part)
		}
		return &date{[][]int{numbers}}
	}
	items := make([]item, 0, len(records))
	for _, e := range entriesOf(records) {
		it := item{ID: e.key, Type: "webpage", Title: noTags(e.title), Container: noTags(e.publisher), Issued: dateFrom(e.published), Accessed: dateFrom(e.accessed), DOI: e.doi, URL: e.url, Note: e.note}
		for _, a := range e.authors {
			it.Author = append(it.Author, name{noTags(a)})
		}
		items = append(items, it)
	}
	return codec.MarshalFile(items)
}

// noTags parts the angle brackets that styles read as markup.
func noTags(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '<' && i+1 < len(s) && (isLetter(s[i+1]) || s[i+1] == '/') {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// BibTeX writes records as a BibTeX file.
func BibTeX(records []Record) []byte {
	var b strings.Builder
	for _, e := range entriesOf(records) {
		b.WriteString("@misc{" + e.key)
		field := func(name, value string) {
			if value != "" {
				b.WriteString(",\n  " + name + " = {" + value + "}")
			}
		}
		field("title", "{"+tex(e.title)+"}")
		var authors []string
		for _, a := range e.authors {
			authors = append(authors, "{"+tex(a)+"}")
		}
		field("author", strings.Join(authors, " and "))
		field("howpublished", tex(e.publisher))
		if len(e.published) > 0 {
			field("year", e.published[0])
			field("date", strings.Join(e.published, "-"))
		}
		field("doi", tex(e.doi))
		field("url", e.url)
		field("urldate", strings.Join(e.accessed, "-"))
		field("note", e.note)
		b.WriteString("\n}\n\n")
	}
	return []byte(b.String())
}

// tex writes a text so that TeX prints it. Braces are written by their names,
// because BibTeX counts them even where they are escaped.
func tex(s string) string { return texSpelling.Replace(s) }

var texSpelling = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\textbraceleft{}`, "}", `\textbraceright{}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`,
	"_", `\_`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`)

// RIS writes records in the format of Research Information Systems.
func RIS(records []Record) []byte {
	var b strings.Builder
	for _, e := range entriesOf(records) {
		field := func(tag, value string) {
			if value != "" {
				b.WriteString(tag + "  - " + value + "\r\n")
			}
		}
		field("TY", "ELEC")
		field("ID", e.key)
		field("TI", e.title)
		for _, a := range e.authors {
			field("AU", a)
		}
		field("PB", e.publisher)
		if len(e.published) > 0 {
			field("PY", e.published[0])
			field("DA", risDate(e.published))
		}
		field("DO", e.doi)
		field("UR", e.url)
		if len(e.accessed) > 0 {
			field("Y2", risDate(e.accessed))
		}
		field("N1", e.note)
		b.WriteString("ER  - \r\n\r\n")
	}
	return []byte(b.String())
}

// risDate is year, month and day with slashes, whatever is known.
func risDate(parts []string) string {
	full := make([]string, 4)
	copy(full, parts)
	return strings.Join(full, "/")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
