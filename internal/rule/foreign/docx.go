package foreign

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
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
		large := errors.New(name + " is larger than 64 MiB")
		if info, err := f.Stat(); err != nil || info.Size() > maxPart { // so the file says, which may lie
			return nil, cmp.Or(err, large)
		}
		data, err := io.ReadAll(io.LimitReader(f, maxPart+1))
		if err == nil && len(data) > maxPart {
			return nil, large
		}
		return data, err
	}
	r := &docxReader{links: map[string]string{}, numbered: map[string]int{}}
	for _, name := range []string{"document", "footnotes", "endnotes"} {
		links, err := part("word/_rels/" + name + ".xml.rels")
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a part without links has none
			return nil, err
		}
		text, err := part("word/" + name + ".xml")
		if err != nil && (name == "document" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		clear(r.links)
		if err := errors.Join(walk(links, r.relation, nil, nil), walk(text, r.start, r.end, r.read)); err != nil {
			return nil, err
		}
		r.closeTo(0)
		r.flush()
	}
	return r.out, nil
}

type docxReader struct {
	builder
	links    map[string]string // relation → URL
	line     int
	inText   bool
	inField  bool
	field    string // instruction of the field that is open
	note     string // id of the footnote that is read
	numbered map[string]int
	rows     int
}

// walk visits the elements of a part.
func walk(data []byte, start func(xml.StartElement), end func(xml.EndElement), text func(string)) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
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
			if text != nil {
				text(string(t))
			}
		}
	}
}

func (r *docxReader) relation(e xml.StartElement) {
	if e.Name.Local == "Relationship" && strings.HasSuffix(value(e, "Type"), "/hyperlink") {
		r.links[value(e, "Id")] = value(e, "Target")
	}
}

func (r *docxReader) read(text string) {
	if r.inText {
		r.add(text, r.line+1)
	} else if r.inField {
		r.field += text
	}
}

// inHTML is what elements of Word are called by others.
var inHTML = map[string]string{"tbl": "table", "tr": "tr", "tc": "td", "p": "p", "hyperlink": "a", "br": "br"}

func (r *docxReader) start(e xml.StartElement) {
	switch name := e.Name.Local; name {
	case "t":
		r.inText = true
	case "instrText":
		r.inField = true
	case "fldChar":
		r.fieldMark(value(e, "fldCharType"))
	case "tab":
		r.add(" ", r.line+1)
	case "hyperlink":
		url := r.links[value(e, "id")]
		if url == "" {
			url = "#" + value(e, "anchor")
		}
		r.open(element{name: "a", url: url}, r.line+1)
	case "vertAlign":
		if value(e, "val") == "superscript" {
			r.open(element{name: "sup"}, r.line+1)
		}
	case "pStyle":
		r.style(strings.ToLower(value(e, "val")))
	case "numId":
		if id := value(e, "val"); id != "0" && r.now.kind != heading {
			r.numbered[id]++
			r.now.kind, r.now.number = item, r.numbered[id]
		}
	case "footnoteReference", "endnoteReference":
		r.add("[^"+value(e, "id")+"]", r.line+1)
	case "footnote", "endnote":
		r.note = value(e, "id")
	case "tbl":
		r.rows = 0
		r.open(element{name: "table"}, r.line+1)
	case "tr":
		r.rows++
		r.open(element{name: "tr"}, r.line+1)
	default:
		if is := inHTML[name]; is != "" {
			r.open(element{name: r.cell(is)}, r.line+1)
		}
	}
	if e.Name.Local == "p" && r.note != "" {
		r.add("[^"+r.note+"]: ", r.line+1)
		r.note = ""
	}
}

// cell is the name of a cell: those of the first row of a table are its header.
func (r *docxReader) cell(name string) string {
	if name == "td" && r.rows == 1 {
		return "th"
	}
	return name
}

// fieldMark takes the beginning, the middle or the end of a field, which can be a link.
func (r *docxReader) fieldMark(kind string) {
	switch kind {
	case "begin":
		r.field = ""
	case "separate":
		if words := strings.Fields(r.field); len(words) > 1 && words[0] == "HYPERLINK" {
			r.begin(&element{name: "a", url: strings.Trim(words[1], `"`)})
		}
	case "end":
		r.closeLink()
	}
}

// style takes the style of a paragraph.
func (r *docxReader) style(name string) {
	level, isHeading := strings.CutPrefix(name, "heading")
	if !isHeading && name != "title" {
		return
	}
	r.now.kind, r.now.level = heading, 1
	if n, err := strconv.Atoi(level); err == nil && isHeading {
		r.now.level = n
	}
}

func (r *docxReader) end(e xml.EndElement) {
	switch name := e.Name.Local; name {
	case "t":
		r.inText = false
	case "instrText":
		r.inField = false
	case "r":
		r.close("sup")
	case "p":
		r.line++
		r.close("p")
	default:
		if is := inHTML[name]; is != "" {
			r.close(r.cell(is))
		}
	}
}

func value(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
