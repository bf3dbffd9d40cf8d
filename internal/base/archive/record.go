package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/artifact"
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

// errDamaged says that a record cannot be read although others follow it.
var errDamaged = errors.New("the archive is damaged")

// scan reads the records of an archive of the given size from an offset on,
// hands each over without its block, and returns where the last complete one
// ends. What a killed process left there in part is not an error; a record that
// cannot be read although one that counts follows is errDamaged.
func scan(ctx context.Context, file io.ReaderAt, from, size int64, each func(*record), counts func(digest string) bool) (int64, error) {
	in := takeMembers(ctx, file, from, size)
	defer in.giveBack()
	for in.at < size {
		start := in.at
		rec, err := in.next(false)
		if ctx.Err() != nil {
			return start, ctx.Err()
		}
		if err == nil {
			rec.Ref, err = in.refSince(start)
		}
		if err != nil {
			return start, damage(ctx, file, start, size, counts, err)
		}
		each(rec)
	}
	return in.at, nil
}

// damage is nil when no record that counts follows the fault at an offset, so
// that what is there can only be what a killed process left.
func damage(ctx context.Context, file io.ReaderAt, start, size int64, counts func(digest string) bool, fault error) error {
	// The header that our records begin with, up to the byte for the level.
	mark := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}
	const most = 1000 // places that look like a record, before they look like a trap
	found, next := 0, takeMembers(ctx, file, start, size)
	defer next.giveBack()
	in := bufio.NewReaderSize(io.NewSectionReader(file, start+1, size-start-1), 64<<10)
	for at := start + 1; ; {
		window, err := in.Peek(in.Size())
		if len(window) < len(mark) {
			return nil
		}
		i := bytes.Index(window, mark)
		if i >= 0 {
			if found++; found > most {
				return fmt.Errorf("%w at byte %d (%w), and what follows looks like a record in too many places", errDamaged, start, fault)
			}
			next.seek(at + int64(i))
			if _, err := next.next(false); err == nil {
				if ref, err := next.refSince(at + int64(i)); err != nil || counts(ref.Digest) {
					return fmt.Errorf("%w at byte %d (%w), and a record that counts follows at byte %d", errDamaged, start, fault, at+int64(i))
				}
			}
			i++
		} else {
			i = len(window) - len(mark) + 1
		}
		in.Discard(i)
		at += int64(i)
		if err != nil && err != io.EOF {
			return err
		}
	}
}

// members reads gzip members one after the other. It takes much memory, and uses it
// again for each.
type members struct {
	at   int64 // the offset that was read up to
	ctx  context.Context
	file io.ReaderAt
	size int64

	in     *bufio.Reader // the file
	gz     *gzip.Reader
	header *bufio.Reader // a record
	block  *bufio.Reader // its block
	buffer []byte
}

var membersPool = sync.Pool{New: func() any {
	return &members{
		in: bufio.NewReaderSize(nil, 16<<10), gz: &gzip.Reader{},
		header: bufio.NewReaderSize(nil, 4<<10), block: bufio.NewReaderSize(nil, 4<<10), buffer: make([]byte, 16<<10),
	}
}}

func takeMembers(ctx context.Context, file io.ReaderAt, from, size int64) *members {
	m := membersPool.Get().(*members)
	m.ctx, m.file, m.size = ctx, file, size
	m.seek(from)
	return m
}

func (m *members) giveBack() {
	m.ctx, m.file = nil, nil
	for _, reader := range []*bufio.Reader{m.in, m.header, m.block} {
		reader.Reset(nil)
	}
	membersPool.Put(m)
}

func (m *members) seek(at int64) {
	m.at = at
	m.in.Reset(artifact.Until(m.ctx, io.NewSectionReader(m.file, at, m.size-at)))
}

// Read and ReadByte count what is read, so that the end of a member is known:
// with a ReadByte, gzip reads no further than that.
func (m *members) Read(p []byte) (int, error) {
	n, err := m.in.Read(p)
	m.at += int64(n)
	return n, err
}

func (m *members) ReadByte() (byte, error) {
	b, err := m.in.ReadByte()
	if err == nil {
		m.at++
	}
	return b, err
}

// refSince is the place of the record that begins at an offset and has just been
// read.
func (m *members) refSince(start int64) (Ref, error) {
	hash := sha256.New()
	_, err := io.CopyBuffer(hash, io.NewSectionReader(m.file, start, m.at-start), m.buffer)
	return Ref{start, m.at - start, codec.DigestOf(hash)}, err
}

// next reads one record, which is one member.
func (m *members) next(whole bool) (*record, error) {
	if err := m.gz.Reset(m); err != nil {
		return nil, err
	}
	m.gz.Multistream(false)
	m.header.Reset(io.LimitReader(m.gz, maxRecord))
	rec, err := m.readRecord(whole)
	if err != nil {
		return nil, err
	}
	if _, err := m.gz.Read(m.buffer[:1]); err != io.EOF {
		return nil, errors.New("a member must hold one record and nothing else")
	}
	return rec, nil
}

// Saved reads a WARC file that another program wrote, as it is or packed with gzip, and
// hands over the answers and files in it as the hops that they were. What is said about
// them, and what cannot be read, is left out: nothing here has to be right for a record
// of ours. It returns the errors of the file and of take.
func Saved(file io.Reader, take func(Hop) error) error {
	in := bufio.NewReader(file)
	if start, _ := in.Peek(2); string(start) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(unpacked)
	}
	for {
		for end, _ := in.Peek(1); len(end) == 1 && (end[0] == '\r' || end[0] == '\n'); end, _ = in.Peek(1) {
			in.Discard(1)
		}
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		var head httpMessage
		if err := head.read(in); err != nil {
			return err
		}
		of := Hop{Header: head.fields}
		length, err := strconv.ParseInt(of.Get("Content-Length"), 10, 64)
		if err != nil || length < 0 || !strings.HasPrefix(head.first, "WARC/") {
			return errors.New("it is not a WARC file")
		}
		block := &io.LimitedReader{R: in, N: length}
		hop := Hop{URL: strings.Trim(of.Get("WARC-Target-URI"), "<>"), Status: 200, Header: []Field{{"Content-Type", of.Get("Content-Type")}}}
		hop.Time, _ = time.Parse(time.RFC3339, of.Get("WARC-Date"))
		kind := of.Get("WARC-Type")
		if length <= MaxBlock && (kind == "response" || kind == "resource") {
			if hop.Body, err = io.ReadAll(block); err != nil {
				return err
			}
			if block.N == 0 && (kind == "resource" || hop.answer() == nil) {
				if err := take(hop); err != nil {
					return err
				}
			}
		}
		if _, err := io.Copy(io.Discard, block); err != nil {
			return err
		}
		if block.N > 0 {
			return io.ErrUnexpectedEOF
		}
	}
}

// answer reads the body of a hop as the answer that it is, with its head and codings.
func (h *Hop) answer() error {
	in := bufio.NewReader(bytes.NewReader(h.Body))
	var head httpMessage
	if err := head.read(in); err != nil {
		return err
	}
	_, status, _ := strings.Cut(head.first, " ")
	h.Status, _ = strconv.Atoi(strings.TrimSpace(status[:min(len(status), 3)]))
	h.Header = head.fields
	var body io.Reader = in
	if strings.EqualFold(h.Get("Transfer-Encoding"), "chunked") {
		if first, _ := in.Peek(19); isChunk(first) { // some programs keep the field and not the coding
			body = &chunks{in: in}
		}
	}
	var err error
	switch strings.ToLower(h.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip", "x-gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	default:
		err = errors.New("its coding is not known")
	}
	if err != nil {
		return err
	}
	if h.Body, err = io.ReadAll(io.LimitReader(body, MaxBlock)); errors.Is(err, io.ErrUnexpectedEOF) {
		h.Truncated, err = "unspecified", nil
	}
	h.Header = slices.DeleteFunc(h.Header, func(f Field) bool {
		return slices.Contains([]string{"transfer-encoding", "content-encoding", "content-length"}, strings.ToLower(f.Name))
	})
	return err
}

// isChunk reports whether a body begins with the size of a chunk.
func isChunk(start []byte) bool {
	line, _, found := bytes.Cut(start, []byte("\r\n"))
	_, err := chunkSize(string(line))
	return found && err == nil
}

func chunkSize(line string) (int64, error) {
	size, _, _ := strings.Cut(line, ";")
	return strconv.ParseInt(strings.TrimSpace(size), 16, 63)
}

// chunks reads a body that was sent in chunks.
type chunks struct {
	in   *bufio.Reader
	left int64
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 {
		line, err := c.in.ReadString('\n')
		if line == "\r\n" && err == nil { // the end of the chunk before
			line, err = c.in.ReadString('\n')
		}
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		if c.left, err = chunkSize(strings.TrimSpace(line)); err != nil || c.left < 0 {
			return 0, errors.New("a chunk has no size")
		}
		if c.left == 0 {
			return 0, io.EOF
		}
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
