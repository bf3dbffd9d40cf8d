package foreign

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxPart is how many bytes of a part of a docx file are read, unpacked.
const maxPart = 64 << 20

// isDocx reports whether bytes are a zip file with a Word document in it.
func isDocx(body []byte) bool {
	return bytes.HasPrefix(body, []byte("PK\x03\x04")) && bytes.Contains(body, []byte("word/document.xml"))
}

// readDocx reads the blocks of a docx file: paragraphs, headings, numbered items, rows
// of tables, links and footnotes. Lines are counted by paragraph. It returns an error
// that says what is wrong with the file.
func readDocx(body []byte) ([]block, error) {
	files, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	part := func(name string) ([]byte, error) {
		f, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxPart+1))
		if err == nil && len(data) > maxPart {
			err = errors.New(name + " is larger than 64 MiB")
		}
		return data, err
	}
	r := &docxReader{links: map[string]string{}, m: &maker{}}
	for _, name := range []string{"word/_rels/document.xml.rels", "word/_rels/footnotes.xml.rels"} {
		if data, err := part(name); err == nil { // a document without links has none
			r.prefix = name
			if err := r.walk(data, r.relation, nil); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range []string{"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"} {
		data, err := part(name)
		if err != nil {
			if name == "word/document.xml" {
				return nil, err
			}
			continue
		}
		r.prefix = "word/_rels/" + strings.TrimPrefix(name, "word/") + ".rels"
		if err := r.walk(data, r.start, r.end); err != nil {
			return nil, err
		}
		r.flush()
	}
	return r.out, nil
}

type docxReader struct {
	prefix   string
	links    map[string]string // relation, with the part that has it → URL
	out      []block
	m        *maker
	line     int
	inText   bool
	note     string // id of the footnote that is read
	field    string // instruction of the field that is open
	inField  bool
	numbered map[string]int // list → number of its last item
	tables   int
	cells    []block
	inCell   int
	rows     int
}

// walk visits the elements of a part.
func (r *docxReader) walk(data []byte, start func(xml.StartElement), end func(xml.EndElement)) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			start(t)
		case xml.EndElement:
			if end != nil {
				end(t)
			}
		case xml.CharData:
			if r.inText {
				r.m.add(string(t), r.line+1)
			} else if r.inField {
				r.field += string(t)
			}
		}
	}
}

func (r *docxReader) relation(e xml.StartElement) {
	if e.Name.Local == "Relationship" && strings.HasSuffix(value(e, "Type"), "/hyperlink") {
		r.links[r.prefix+" "+value(e, "Id")] = value(e, "Target")
	}
}

func (r *docxReader) start(e xml.StartElement) {
	switch e.Name.Local {
	case "t":
		r.inText = true
	case "instrText":
		r.inField = true
	case "fldChar":
		switch value(e, "fldCharType") {
		case "begin":
			r.field = ""
		case "separate":
			if words := strings.Fields(r.field); len(words) > 1 && words[0] == "HYPERLINK" {
				r.m.openLink(strings.Trim(words[1], `"`))
			}
		case "end":
			r.m.closeLink()
		}
	case "tab":
		r.m.add(" ", r.line+1)
	case "br":
		r.m.add("\n", r.line+1)
	case "hyperlink":
		if url := r.links[r.prefix+" "+value(e, "id")]; url != "" {
			r.m.openLink(url)
		} else {
			r.m.openLink("#" + value(e, "anchor"))
		}
	case "vertAlign":
		if value(e, "val") == "superscript" {
			r.m.up = 1
		}
	case "pStyle":
		style := strings.ToLower(value(e, "val"))
		if level, found := strings.CutPrefix(style, "heading"); found {
			r.m.kind, r.m.level = heading, 1
			if n, err := strconv.Atoi(level); err == nil {
				r.m.level = n
			}
		} else if style == "title" {
			r.m.kind, r.m.level = heading, 1
		}
	case "numId":
		if id := value(e, "val"); id != "0" && r.m.kind != heading {
			if r.numbered == nil {
				r.numbered = map[string]int{}
			}
			r.numbered[id]++
			r.m.kind, r.m.number = item, r.numbered[id]
		}
	case "footnoteReference", "endnoteReference":
		r.m.add("[^"+value(e, "id")+"]", r.line+1)
	case "footnote", "endnote":
		r.note = value(e, "id")
	case "tbl":
		r.tables++
		r.rows = 0
	case "tr":
		r.cells = nil
	case "tc":
		r.inCell++
	}
}

func (r *docxReader) end(e xml.EndElement) {
	switch e.Name.Local {
	case "t":
		r.inText = false
	case "instrText":
		r.inField = false
	case "r":
		r.m.up = 0
	case "hyperlink":
		r.m.closeLink()
	case "p":
		r.line++
		if r.inCell > 0 {
			r.m.add(" ", r.line)
		} else {
			r.flush()
		}
	case "tc":
		b, _ := r.m.done()
		r.cells, r.m = append(r.cells, b), &maker{}
		r.inCell = max(0, r.inCell-1)
	case "tr":
		k := row
		if r.rows++; r.rows == 1 {
			k = headerRow
		}
		if b := cells(r.cells, k, r.tables); strings.Trim(b.text, " |") != "" {
			r.out = append(r.out, b)
		}
		r.cells = nil
	}
}

func (r *docxReader) flush() {
	b, says := r.m.done()
	r.m = &maker{}
	if !says {
		return
	}
	if r.note != "" {
		shift := "[^" + r.note + "]: "
		b = cells([]block{{text: shift, starts: b.starts}, b}, paragraph, 0)
		b.text = strings.Replace(b.text, cellMark, "   ", 1)
		r.note = ""
	}
	r.out = append(r.out, b)
}

func value(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
