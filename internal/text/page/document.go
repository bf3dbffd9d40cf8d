package page

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/text/office"
)

// readOffice reads a file of an office program, or a book.
func (c *Content) readOffice(body []byte) {
	doc, known := office.Read(body, maxPageText)
	if !known {
		c.Media = Other
		return
	}
	c.Title, c.Author, c.Language = ownTitle(doc.Title), personName(doc.Author), CutBytes(TidySpace(doc.Language), maxKeptLen)
	for i, heading := range doc.Headings {
		c.addHeading(heading, 1, doc.Places[i])
	}
	c.Published = Date(doc.Created)
	c.Text, c.Cut = tidyLines(doc.Text), !doc.Whole
	if len(doc.Pages) > 0 {
		parts := parts{c: c}
		for _, chapter := range doc.Pages {
			var part Content
			part.readHTML(chapter, "application/xhtml+xml")
			parts.add(part)
		}
		c.Text = parts.text()
	}
}

// parts are the texts of a page that has several.
type parts struct {
	c     *Content
	texts []string
	size  int
	at    int // where the next one begins
}

// add takes a part.
func (p *parts) add(part Content) {
	text := strings.Trim(part.Text, "\n")
	if p.size += len(text) + 1; p.size > maxPageText {
		p.c.Cut = true
		return
	}
	if text != "" {
		p.texts = append(p.texts, text)
	}
	p.c.Cut = p.c.Cut || part.Cut
	for i, heading := range part.Headings {
		p.c.addHeading(heading, part.Levels[i], p.at+part.Places[i])
	}
	p.at += len(text) + min(1, len(text))
	p.c.Works = append(p.c.Works, part.Works...)
}

func (p *parts) text() string { return strings.Join(p.texts, "\n") }

// readTable writes each row of a table with its header cells, so that it says by itself
// what its cells are. A text that is no table stays as it is.
func (c *Content) readTable() {
	r := csv.NewReader(strings.NewReader(c.Text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(c.Text), true, -1, true
	var table office.Table
	var b strings.Builder
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || b.Len() > maxPageText {
			return
		}
		if line := table.Row(row); line != "" {
			b.WriteString(line + "\n")
		}
	}
	c.Text = strings.TrimSuffix(b.String(), "\n")
}

// separator is what stands between the cells of the first line.
func separator(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, r := range ",;\t|" {
		if n := strings.Count(line, string(r)); n > most {
			best, most = r, n
		}
	}
	return best
}

// maxMails is how many mails and parts stand inside each other.
const maxMails = 8

// mailRoom is what a mail may still hold, whatever is inside what.
type mailRoom struct {
	parts int
	files int // that are unpacked
}

var wholeMail = mailRoom{parts: 500, files: 50}

// readMail reads a mail: who wrote what when, its text, and the texts that are attached
// to it.
func (c *Content) readMail(body []byte, room *mailRoom, depth int) {
	head, rest := mailHead(body)
	if len(head) == 0 {
		c.Media = Other
		return
	}
	var words mime.WordDecoder
	shown := func(name string) string {
		value := head[name]
		if decoded, err := words.DecodeHeader(value); err == nil {
			value = decoded
		}
		return CutBytes(TidySpace(value), maxKeptLen)
	}
	var lines strings.Builder
	for _, name := range []string{"From", "To", "Cc", "Date", "Subject"} {
		if value := shown(strings.ToLower(name)); value != "" {
			lines.WriteString(name + ": " + value + "\n")
		}
	}
	c.Title, c.Author = shown("subject"), shown("from")
	c.Published = mailDate(shown("date"))
	all := parts{c: c}
	all.add(Content{Text: tidyLines(lines.String())})
	all.add(mailPart(head["content-type"], head["content-transfer-encoding"], head["content-disposition"], rest, room, depth))
	c.Text = all.text()
}

// mailHead reads the fields of a mail, by their names in lower case, the first of each.
func mailHead(body []byte) (fields map[string]string, rest []byte) {
	fields = map[string]string{}
	last := ""
	for len(body) > 0 {
		line, after, _ := bytes.Cut(body, []byte("\n"))
		body = after
		text := strings.TrimRight(string(line[:min(len(line), maxAttribute)]), "\r")
		if text == "" {
			return fields, body
		}
		if text[0] == ' ' || text[0] == '\t' {
			if last != "" && len(fields[last]) < maxAttribute {
				fields[last] += " " + strings.TrimSpace(text)
			}
			continue
		}
		name, value, found := strings.Cut(text, ":")
		if !found || strings.ContainsAny(name, " \t") {
			return nil, nil
		}
		if last = strings.ToLower(name); fields[last] != "" {
			last = ""
			continue
		}
		fields[last] = strings.TrimSpace(value)
	}
	return fields, nil
}

// mailPart reads a part of a mail.
func mailPart(contentType, encoding, disposition string, body []byte, room *mailRoom, depth int) (c Content) {
	if room.parts--; room.parts < 0 || depth >= maxMails {
		return Content{Cut: true}
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, contentType = "text/plain", "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") {
		return mailParts(kind, params["boundary"], body, room, depth)
	}
	body, err = transferred(body, encoding)
	if office.Is(body) || bytes.HasPrefix(body, []byte("%PDF-")) {
		room.files--
	}
	switch {
	case kind == "message/rfc822":
		c.readMail(body, room, depth+1)
	case room.files < 0:
		c.Cut = true
	default:
		c = Read(body, contentType)
	}
	_, named, _ := mime.ParseMediaType(disposition)
	if name := CutBytes(TidySpace(named["filename"]), maxKeptLen); name != "" {
		before := "Attached: " + name + "\n"
		c.Text = before + c.Text
		for i := range c.Places {
			c.Places[i] += len(before)
		}
	}
	c.Cut = c.Cut || err != nil
	return c
}

// transferred takes the coding from a part in which it was transferred.
func transferred(body []byte, encoding string) ([]byte, error) {
	var r io.Reader = bytes.NewReader(body)
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	}
	return io.ReadAll(r)
}

// Snapshot is the page in a file that a browser saved whole (MHTML), with the address and
// the content type that it says; ok is false for any other file.
func Snapshot(body []byte) (url string, html []byte, contentType string, ok bool) {
	head, rest := mailHead(body)
	kind, params, err := mime.ParseMediaType(head["content-type"])
	if err != nil || kind != "multipart/related" || params["boundary"] == "" {
		return "", nil, "", false
	}
	r := multipart.NewReader(bytes.NewReader(rest), params["boundary"])
	for range wholeMail.parts {
		part, err := r.NextRawPart()
		if err != nil {
			break
		}
		contentType = part.Header.Get("Content-Type")
		if !strings.HasPrefix(contentType, "text/html") {
			continue
		}
		data, err := io.ReadAll(part)
		if err == nil {
			html, err = transferred(data, part.Header.Get("Content-Transfer-Encoding"))
		}
		return cmp.Or(head["snapshot-content-location"], part.Header.Get("Content-Location")), html, contentType, err == nil
	}
	return "", nil, "", false
}

// mailParts reads the parts of a mail. Of those that say the same the last one counts
// that can be read as text.
func mailParts(kind, boundary string, body []byte, room *mailRoom, depth int) (c Content) {
	if boundary == "" {
		return Content{Cut: true}
	}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	all, best := parts{c: &c}, Content{}
	for {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(part)
		}
		if err != nil || room.parts <= 0 {
			c.Cut = true
			break
		}
		one := mailPart(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part.Header.Get("Content-Disposition"), data, room, depth+1)
		if kind != "multipart/alternative" {
			all.add(one)
		} else if one.Text != "" {
			best = one
		}
	}
	all.add(best)
	c.Text = all.text()
	return c
}

// mailDate is the day of a date such as "Tue, 4 Mar 2021 10:00:00 +0100".
func mailDate(date string) string {
	_, day, found := strings.Cut(date, ",")
	if !found {
		day = date
	}
	fields := strings.Fields(day)
	if len(fields) < 3 {
		return ""
	}
	on, err := time.Parse("2 Jan 2006", strings.Join(fields[:3], " "))
	if err != nil {
		return ""
	}
	return on.Format("2006-01-02")
}
