package markdown

import (
	"bytes"
	"io"
	"sync"
)

// input cuts what it reads into lines. It holds the current line, up to MaxLine
// bytes of it, and whatever was read beyond.
type input struct {
	r       io.Reader
	buf     []byte
	begin   int // of the current line in buf
	scanned int // no line end lies between begin and here
	end     int // of what was read
	fresh   []byte
	eof     bool
	hasCR   bool // carriage returns have been read; without them one search finds a line's end
	afterCR bool // the last line ended in CR: a LF that follows belongs to it
	lf      int  // index of the first LF from scanned on, or end; not known when before scanned
}

const (
	firstBuffer = 64 << 10
	lastBuffer  = MaxLine + firstBuffer
)

var byteOrderMark = []byte("\xEF\xBB\xBF")

// buffers are those that no input uses. Most texts are a small part of one, so that
// making it would cost more than reading the text.
var buffers = sync.Pool{New: func() any { return new([firstBuffer]byte) }}

// reset forgets everything but the buffer.
func (in *input) reset(r io.Reader) {
	*in = input{r: r, buf: in.buf, lf: -1}
}

// release gives a buffer back that did not have to grow.
func (in *input) release() {
	in.reset(nil)
	if len(in.buf) == firstBuffer {
		buffers.Put((*[firstBuffer]byte)(in.buf))
		in.buf = nil
	}
}

// start reads the first bytes and skips a byte-order mark.
func (in *input) start() error {
	if in.buf == nil {
		in.buf = buffers.Get().(*[firstBuffer]byte)[:]
	}
	for in.end < len(byteOrderMark) && !in.eof {
		if err := in.fill(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(in.buf[:in.end], byteOrderMark) {
		in.begin = len(byteOrderMark)
	}
	in.scanned = in.begin
	in.fresh = in.buf[in.begin:in.end]
	return nil
}

// fill reads more; fresh is what came.
func (in *input) fill() error {
	in.makeRoom()
	in.lf = -1
	for range 100 {
		n, err := in.r.Read(in.buf[in.end:])
		in.fresh = in.buf[in.end : in.end+n]
		in.end += n
		if err == io.EOF {
			in.eof = true
		} else if err != nil {
			return err
		}
		if n > 0 || in.eof {
			in.hasCR = in.hasCR || bytes.IndexByte(in.fresh, '\r') >= 0
			return nil
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves the current line to the front when the buffer is full, and
// doubles a buffer that it more than half fills.
func (in *input) makeRoom() {
	held := in.end - in.begin
	if held > 0 && in.end < len(in.buf) {
		return
	}
	to := in.buf
	if held > len(in.buf)/2 && len(in.buf) < lastBuffer {
		to = make([]byte, min(2*len(in.buf), lastBuffer))
	}
	copy(to, in.buf[in.begin:in.end])
	in.buf = to
	in.scanned -= in.begin
	in.begin, in.end = 0, held
}

// line returns the next line without its end, or, with cut, the first MaxLine
// bytes of a longer one, whose other pieces come from [input.piece]. It is not ok
// when a whole line cannot be had without reading more.
func (in *input) line() (line []byte, cut, ok bool) {
	i := in.lineEnd()
	switch {
	case i < 0 && in.end-in.begin > MaxLine, i-in.begin > MaxLine:
		line = in.buf[in.begin : in.begin+MaxLine]
		in.begin += MaxLine
		if i >= 0 {
			in.scanned = in.begin
		}
		return line, true, true
	case i >= 0:
		line = in.buf[in.begin:i]
		in.endLine(i)
		return line, false, true
	case in.eof && in.begin < in.end:
		line = in.buf[in.begin:in.end]
		in.begin = in.end
		return line, false, true
	}
	return nil, false, false
}

// piece returns what was read of the rest of a cut line, and whether it is the
// last piece.
func (in *input) piece() (piece []byte, last bool) {
	i := in.lineEnd()
	if i < 0 {
		piece = in.buf[in.begin:in.end]
		in.begin = in.end
		return piece, in.eof
	}
	piece = in.buf[in.begin:i]
	in.endLine(i)
	return piece, true
}

// lineEnd is the index of the LF or CR that ends the current line, or -1.
func (in *input) lineEnd() int {
	if in.hasCR {
		return in.lineEndCR()
	}
	i := bytes.IndexByte(in.buf[in.scanned:in.end], '\n')
	if i < 0 {
		in.scanned = in.end
		return -1
	}
	return in.scanned + i
}

func (in *input) lineEndCR() int {
	if in.afterCR && in.begin < in.end {
		in.afterCR = false
		if in.buf[in.begin] == '\n' {
			in.begin++
			in.scanned = in.begin
		}
	}
	if in.lf < in.scanned {
		in.lf = in.end
		if i := bytes.IndexByte(in.buf[in.scanned:in.end], '\n'); i >= 0 {
			in.lf = in.scanned + i
		}
	}
	if i := bytes.IndexByte(in.buf[in.scanned:in.lf], '\r'); i >= 0 {
		return in.scanned + i
	}
	if in.lf < in.end {
		return in.lf
	}
	in.scanned = in.end
	return -1
}

// endLine moves to the line after the one that ends at i.
func (in *input) endLine(i int) {
	in.afterCR = in.buf[i] == '\r'
	in.begin = i + 1
	in.scanned = in.begin
}
