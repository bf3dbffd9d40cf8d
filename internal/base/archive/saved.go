package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
