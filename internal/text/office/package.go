package office

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// Document is what can be read of a document.
type Document struct {
	Text     string // a line for each paragraph, and for each row of a table with tabs between its cells
	Title    string // as its metadata have it
	Author   string
	Created  string // a date as the file has it
	Language string
	Headings []string
	Places   []int    // where they begin in Text
	Pages    [][]byte // the pages of an EPUB book, in XHTML; such a document has no Text
	// Whole says that all of it was read. A broken file, and one that is larger than the
	// limits, is read as far as that goes.
	Whole bool
}

// Limits that no honest file comes near.
const (
	maxEntries   = 50_000 // files in the package
	maxDepth     = 200    // of elements in one another
	maxHeadings  = 10_000
	maxHeaderLen = 80 // of a header cell, which stands before each cell below it
	maxColumns   = 16_384
	// A package unpacks to at most so many bytes, and so many for each of its own.
	unpackedLeast = 32 << 20
	unpackedRatio = 20
	unpackedMost  = 512 << 20
	maxToken      = 16 << 20 // bytes of one tag, or of the text between two
)

// Is reports whether bytes begin like a package.
func Is(body []byte) bool { return bytes.HasPrefix(body, []byte("PK\x03\x04")) }

// Read reads a document, and at most limit bytes of its text. It is false for a package
// that is none of the documents that it knows.
func Read(body []byte, limit int) (Document, bool) {
	p, err := open(body)
	if err != nil {
		return Document{}, false
	}
	w := &writer{limit: limit}
	switch kind := p.kind(); kind {
	case "docx":
		err = readWord(p, w)
	case "xlsx":
		err = readSheets(p, w)
	case "pptx":
		err = readSlides(p, w)
	case "odf":
		err = readOpen(p, w)
	case "epub":
		err = readBook(p, &w.doc, limit)
	default:
		return Document{}, false
	}
	w.doc.Text = strings.TrimSpace(w.b.String())
	w.doc.Whole = err == nil && !w.full && !p.broke
	return w.doc, true
}

// pack is an opened package.
type pack struct {
	files  map[string]*zip.File
	budget int64 // bytes that may still be unpacked
	broke  bool  // the budget ended
}

var errTooLarge = errors.New("larger than its limits")

func open(body []byte) (*pack, error) {
	if bytes.Count(body, []byte("PK\x01\x02")) > maxEntries {
		return nil, errTooLarge
	}
	r, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	p := &pack{files: map[string]*zip.File{}, budget: min(unpackedMost, unpackedLeast+unpackedRatio*int64(len(body)))}
	for _, f := range r.File {
		if p.files[f.Name] == nil {
			p.files[f.Name] = f
		}
	}
	return p, nil
}

// kind says what document the package is, "" for another one.
func (p *pack) kind() string {
	for name, kind := range map[string]string{"word/document.xml": "docx", "xl/workbook.xml": "xlsx", "ppt/presentation.xml": "pptx"} {
		if p.files[name] != nil {
			return kind
		}
	}
	mime, _ := p.read("mimetype", 128)
	switch mime := strings.TrimSpace(string(mime)); {
	case mime == "application/epub+zip":
		return "epub"
	case strings.HasPrefix(mime, "application/vnd.oasis.opendocument."):
		return "odf"
	}
	return ""
}

// metered is a part that is unpacked out of the budget of its package.
type metered struct {
	p     *pack
	r     io.ReadCloser
	token int // bytes since the last token
}

func (m *metered) Read(b []byte) (int, error) {
	if m.p.budget <= 0 || m.token > maxToken {
		m.p.broke = true
		return 0, errTooLarge
	}
	n, err := m.r.Read(b[:min(int64(len(b)), m.p.budget)])
	m.p.budget -= int64(n)
	m.token += n
	return n, err
}

// open opens a part.
func (p *pack) open(name string) (*metered, error) {
	f := p.files[name]
	if f == nil {
		return nil, errors.New("there is no " + name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &metered{p: p, r: r}, nil
}

// read reads a part of at most so many bytes.
func (p *pack) read(name string, most int64) ([]byte, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer r.r.Close()
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, err
}

// node is an element that is open.
type node struct {
	name  string
	attrs []xml.Attr
}

// attr is the value of an attribute, whatever its prefix is.
func (n node) attr(name string) string {
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// visitor is called for the parts of an XML document. Start is false for an element
// that is skipped with all that is in it.
type visitor struct {
	start func(n node) bool
	end   func(name string)
	text  func(text string)
}

// walk visits the elements of a part.
func (p *pack) walk(name string, v visitor) error {
	r, err := p.open(name)
	if err != nil {
		return err
	}
	defer r.r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("not UTF-8") }
	depth := 0
	for {
		token, err := d.RawToken()
		r.token = 0
		if err == io.EOF {
			if depth > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errTooLarge
			}
			if !v.start(node{t.Name.Local, t.Attr}) {
				if err := skip(d, r); err != nil {
					return err
				}
				depth--
			}
		case xml.EndElement:
			if depth--; depth < 0 {
				return errors.New("an end tag without its start tag")
			}
			if v.end != nil {
				v.end(t.Name.Local)
			}
		case xml.CharData:
			if v.text != nil {
				v.text(string(t))
			}
		}
	}
}

// skip reads to the end of the element that has just begun. Unlike the decoder's own
// it keeps no stack, so that depth costs nothing.
func skip(d *xml.Decoder, r *metered) error {
	for depth := 1; depth > 0; {
		token, err := d.RawToken()
		r.token = 0
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// relations are the parts that a part names, by their ids: those inside the package.
func (p *pack) relations(name string) map[string]string {
	targets := map[string]string{}
	dir, base := path.Split(name)
	p.walk(dir+"_rels/"+base+".rels", visitor{start: func(n node) bool {
		if n.name == "Relationship" && !strings.EqualFold(n.attr("TargetMode"), "external") {
			target := n.attr("Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(dir, target)
			}
			targets[n.attr("Id")] = strings.TrimPrefix(target, "/")
		}
		return true
	}})
	return targets
}

// properties reads what a document says about itself.
func (p *pack) properties(name string, doc *Document) {
	fields := map[string]*string{"title": &doc.Title, "creator": &doc.Author, "initial-creator": &doc.Author, "created": &doc.Created, "creation-date": &doc.Created, "date": &doc.Created, "language": &doc.Language}
	var field *string
	// A document without properties, or with broken ones, says nothing about itself.
	p.walk(name, visitor{
		start: func(n node) bool {
			if field = fields[n.name]; field != nil && *field != "" {
				field = nil
			}
			return true
		},
		end: func(string) { field = nil },
		text: func(text string) {
			if field != nil && len(*field)+len(text) < 2_000 {
				*field += text
			}
		},
	})
}
