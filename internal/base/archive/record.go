package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	version = "WARC/1.1"

	// maxHead is the size of the largest header, of a record and of HTTP.
	maxHead = 64 << 10
	// maxNote is the size of the largest record that ends a capture.
	maxNote = 16 << 10
	// maxRecord is what a record may have after decompression.
	maxRecord = maxHead + MaxBlock + int64(len("\r\n\r\n"))
)

// record is a record as it was read.
type record struct {
	Ref
	kind, id  string
	date      string
	target    string
	address   string
	truncated string
	mediaType string // of the block
	together  []string
	head      httpMessage // of a request or response
	body      []byte      // what follows it: of a metadata record, and of the others when it was asked for
}

// Ref is where a record lies in the archive, and the digest of its bytes there.
type Ref struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Digest string `json:"digest"`
}

// httpMessage is the part of a block before the body.
type httpMessage struct {
	first  string
	fields []Field
	size   int
}

// readRecord reads a whole decompressed record. Blocks are kept when whole is
// true; they are read and compared with their digest in any case.
func (m *members) readRecord(whole bool) (*record, error) {
	in := m.header
	rec, length, digest, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	if err := m.readBlock(rec, io.LimitReader(in, length), length, digest, whole); err != nil {
		return nil, err
	}
	end, err := io.ReadAll(io.LimitReader(in, 5))
	if err != nil {
		return nil, err
	}
	if string(end) != "\r\n\r\n" {
		return nil, errors.New("a record must end with two empty lines")
	}
	return rec, nil
}

// readHeader reads the header of a record.
func readHeader(in *bufio.Reader) (rec *record, length int64, digest string, err error) {
	var header httpMessage
	if err := header.read(in); err != nil {
		return nil, 0, "", err
	}
	if header.first != version {
		return nil, 0, "", fmt.Errorf("the first line must be %s, got %.40q", version, header.first)
	}
	return takeHeader(header.fields)
}

// takeHeader reads the fields of a record that matter here.
func takeHeader(fields []Field) (rec *record, length int64, digest string, err error) {
	rec, length = &record{}, -1
	for _, field := range fields {
		var place *string
		switch strings.ToLower(field.Name) {
		case "warc-type":
			place = &rec.kind
		case "warc-record-id":
			place = &rec.id
		case "warc-date":
			place = &rec.date
		case "warc-target-uri":
			place = &rec.target
		case "warc-ip-address":
			place = &rec.address
		case "warc-truncated":
			place = &rec.truncated
		case "content-type":
			place = &rec.mediaType
		case "warc-block-digest":
			place = &digest
		case "warc-concurrent-to":
			rec.together = append(rec.together, field.Value)
			continue
		case "content-length":
			n, err := strconv.ParseUint(field.Value, 10, 63)
			if err != nil || length >= 0 || n > MaxBlock {
				return nil, 0, "", fmt.Errorf("Content-Length must be one number up to %d, got %.40q", MaxBlock, field.Value)
			}
			length = int64(n)
			continue
		default:
			continue
		}
		if *place != "" || field.Value == "" {
			return nil, 0, "", fmt.Errorf("%s must stand once and not be empty", field.Name)
		}
		*place = field.Value
	}
	switch {
	case rec.kind == "" || rec.id == "" || rec.date == "" || digest == "":
		err = errors.New("a record must have WARC-Type, WARC-Record-ID, WARC-Date and WARC-Block-Digest")
	case length < 0:
		err = errors.New("a record must have a Content-Length")
	case rec.target == "" && slices.Contains([]string{"request", "response", "resource"}, rec.kind):
		err = fmt.Errorf("a %s record must have a WARC-Target-URI", rec.kind)
	}
	return rec, length, digest, err
}

// readBlock reads a block and compares its length and digest.
func (m *members) readBlock(rec *record, r io.Reader, length int64, digest string, whole bool) error {
	hash, count := sha256.New(), &counter{}
	r = io.TeeReader(r, io.MultiWriter(hash, count))
	switch {
	case rec.kind == "metadata" && length > maxNote:
		return fmt.Errorf("a metadata record must not have more than %d bytes", maxNote)
	case whole || rec.kind == "metadata":
		var block bytes.Buffer
		block.Grow(int(min(length, 1<<20)) + bytes.MinRead)
		if _, err := block.ReadFrom(r); err != nil {
			return err
		}
		rec.body = block.Bytes()
		r = bytes.NewReader(rec.body)
	}
	if rec.isHTTP() {
		if err := m.readHead(rec, r); err != nil {
			return err
		}
		if rec.body != nil {
			rec.body = rec.body[rec.head.size:]
		}
		r = m.block
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if count.n != length {
		return fmt.Errorf("the block must have %d bytes, but has %d: %w", length, count.n, io.ErrUnexpectedEOF)
	}
	if got := codec.DigestOf(hash); got != digest {
		return fmt.Errorf("the block does not have its digest %.80s", digest)
	}
	return nil
}

// readHead reads the head of an HTTP message; what follows is left in m.block.
func (m *members) readHead(rec *record, r io.Reader) error {
	m.block.Reset(r)
	if err := rec.head.read(m.block); err != nil {
		return fmt.Errorf("the block is not an HTTP message: %w", err)
	}
	return nil
}

func (rec *record) isHTTP() bool { return rec.kind == "request" || rec.kind == "response" }

// status is the status of a response, 0 for any other record.
func (rec *record) status() int {
	if rec.kind != "response" {
		return 0
	}
	rest, _ := strings.CutPrefix(rec.head.first, "HTTP/1.1 ")
	n, _ := strconv.Atoi(strings.TrimSpace(rest))
	return n
}

// method is that of a request other than GET.
func (rec *record) method() string {
	method, _, _ := strings.Cut(rec.head.first, " ")
	if method == "GET" {
		return ""
	}
	return method
}

// header is the header of the answer. For a file it has only the type.
func (rec *record) header() []Field {
	if rec.kind == "resource" {
		return []Field{{"Content-Type", rec.mediaType}}
	}
	return rec.head.fields
}

// read reads a first line and the fields after it, to the empty line.
func (m *httpMessage) read(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		long := line
		for errors.Is(err, bufio.ErrBufferFull) && m.size+len(long) <= maxHead {
			long = bytes.Clone(long)
			line, err = in.ReadSlice('\n')
			long = append(long, line...)
		}
		m.size += len(long)
		switch {
		case m.size > maxHead:
			return fmt.Errorf("a header must not have more than %d bytes", maxHead)
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		text, ok := strings.CutSuffix(string(long), "\r\n")
		switch name, value, isField := strings.Cut(text, ":"); {
		case !ok:
			return errors.New("a line of a header must end with CR LF")
		case m.first == "" && text == "":
			return errors.New("a header must not begin with an empty line")
		case m.first == "":
			m.first = text
		case text == "":
			return nil
		case !isField || name == "" || strings.ContainsAny(name, " \t"):
			return fmt.Errorf("a line of a header must be a name, a colon and a value, got %.40q", text)
		default:
			m.fields = append(m.fields, Field{name, strings.Trim(value, " \t")})
		}
	}
}

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
