package artifact

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// A chained log is a file of JSON objects, one on each line. A line that this
// package wrote has "prev" as its last key: the digest of the bytes of the line
// before it, without the newline, whoever wrote that one.

// FirstPrev is the prev of a line that begins a log.
const FirstPrev = digestMark + "0000000000000000000000000000000000000000000000000000000000000000"

// MaxLine is how much of a line [ReadLog] keeps, and how long a line of
// [Tx.Log] may be.
const MaxLine = 1 << 20

const (
	digestMark = "sha256:"
	prevMark   = `"prev":"` + digestMark
	prevEnd    = `"}`
	prevLen    = len(prevMark) + 2*sha256.Size + len(prevEnd)
)

// Line is one line of a log.
type Line struct {
	Number int    // counted from 1
	Text   []byte // without the newline, at most MaxLine bytes; valid until the next line is read
	Cut    bool   // the line is longer than Text
	Torn   bool   // the last line, and it has no newline
	Prev   string // the digest that the line gives for the one before it; "" when it gives none
	Digest string // the digest of the whole line
	End    int64  // where the line ends in the log, after its newline
}

// ReadLog reads a log line by line, in memory that does not grow with the log.
// It takes any bytes. It ends with READ_FAILED when r fails.
func ReadLog(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := scanReaders.Get().(*bufio.Reader)
		in.Reset(r)
		defer func() {
			in.Reset(nil)
			scanReaders.Put(in)
		}()
		(&lineScanner{in: in, sum: sha256.New()}).each(yield)
	}
}

// ReadLogAfter reads the lines of a log after last, a whole line that was read from
// it before. It ends with READ_FAILED as [ReadLog] does, and with TAMPERED when
// last is no longer there.
func ReadLogAfter(log *os.File, last Line) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		info, err := log.Stat()
		if err == nil {
			var scanner *lineScanner
			if scanner, err = (head{last.Number, last.Digest, last.End}).seek(log, info.Size()); err == nil {
				scanner.each(yield)
				return
			}
		}
		yield(Line{}, place{"path", log.Name()}.unreadable(err))
	}
}

// LogReport is what the chain of a log shows. A line is covered by the prev of
// the line after it. So the chain cannot show a change of the last line, or of a
// line followed by one that others wrote; nor that the last lines were removed,
// which the head file shows. Neither can show that both were rewritten as a whole:
// for that, compare Head with a digest kept elsewhere.
type LogReport struct {
	Lines     int     // whole lines
	Unchained int     // lines without prev: others wrote them
	Foreign   []int   // the numbers of the first of them, at most [MaxListed]
	Broken    int     // lines whose prev is not the digest of the line before
	Breaks    []Break // the first of them, at most [MaxListed]
	Torn      bool    // a last line without newline is left out of all this
	Head      string  // the digest of the last whole line; FirstPrev when there is none
	Headed    bool    // there is a head file; only [Folder.VerifyLog] looks
	Mismatch  string  // why the log is not the one that its head file names; "" when it is
}

// Break is a place where a line was changed, removed, inserted or moved: the
// line before Line, or between the two.
type Break struct {
	Line int    // the line that shows it
	Want string // the digest of the line before it
	Got  string // what the line has as prev
}

// MaxListed is how many lines of a kind a [LogReport] lists.
const MaxListed = 100

// verifyLog follows the chain of a log from its first line to its last, in memory
// that does not grow with the log, and looks for the line that h names. What comes
// after it must follow from it. It returns READ_FAILED when r fails.
func verifyLog(r io.Reader, h head) (LogReport, error) {
	report := LogReport{Head: FirstPrev, Foreign: []int{}, Breaks: []Break{}}
	end := noLines
	for line, err := range ReadLog(r) {
		if err != nil {
			return LogReport{}, err
		}
		if line.Torn {
			report.Torn = true
			break
		}
		follows := line.Prev == report.Head
		switch {
		case line.Prev == "":
			report.Unchained++
			if len(report.Foreign) < MaxListed {
				report.Foreign = append(report.Foreign, line.Number)
			}
		case !follows:
			report.Broken++
			if len(report.Breaks) < MaxListed {
				report.Breaks = append(report.Breaks, Break{Line: line.Number, Want: report.Head, Got: line.Prev})
			}
		}
		end = head{line.Number, line.Digest, line.End}
		if line.Number == h.Lines && end != h {
			report.Mismatch = errOtherLine(line.Number).Error()
		} else if h.Lines > 0 && line.Number > h.Lines && !follows && report.Mismatch == "" {
			report.Mismatch = errStrayLine(line.Number).Error()
		}
		report.Lines++
		report.Head = line.Digest
	}
	if end.Lines < h.Lines {
		report.Mismatch = errShorter.Error()
	}
	return report, nil
}

// VerifyLog follows the chain of a log, and compares its head file, if it has one,
// with it. It takes no lock: it returns what it sees. It returns NOT_FOUND when
// there is neither a log nor a head, and READ_FAILED.
func (f *Folder) VerifyLog(name string) (LogReport, error) {
	local, err := f.local(name)
	if err != nil {
		return LogReport{}, err
	}
	// The head first: the log may only grow meanwhile.
	text, err := readHead(f, local)
	if err != nil {
		return LogReport{}, err
	}
	h, unknown := noLines, error(nil)
	if text != "" {
		h, unknown = decodeHead(text)
	}
	var log io.Reader = strings.NewReader("")
	if file, err := f.Open(name); err == nil {
		defer file.Close()
		log = file
	} else if text == "" || tidegate.CodeOf(err) != tidegate.FileNotFound {
		return LogReport{}, err
	}
	report, err := verifyLog(log, h)
	report.Headed = text != ""
	if unknown != nil {
		report.Mismatch = unknown.Error()
	}
	return report, err
}

// lineScanner cuts a stream into lines of any length.
type lineScanner struct {
	in     *bufio.Reader
	sum    hash.Hash
	text   []byte
	tail   []byte // the last bytes of a line that is longer than text
	number int
	start  int64 // of the present line in the log
	end    int64 // of the present line, after its newline
}

const scanBuffer = 64 << 10

// scanReaders are for whole logs: often only the first line of one is read.
var scanReaders = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, scanBuffer) }}

// scanFrom is a scanner for what stands in a log of size bytes after start.
func scanFrom(log io.ReaderAt, start, size int64) *lineScanner {
	// It is seldom more than a line or two.
	in := bufio.NewReaderSize(io.NewSectionReader(log, start, size-start), int(min(size-start, scanBuffer)))
	return &lineScanner{in: in, sum: sha256.New(), end: start}
}

// each yields the lines that are left; see [ReadLog].
func (s *lineScanner) each(yield func(Line, error) bool) {
	for {
		line, err := s.next()
		if err == io.EOF {
			return
		}
		if err != nil {
			yield(Line{}, tidegate.Errorf(tidegate.ReadFailed, nil, "cannot read the log after line %d: %w", s.number, bare(err)))
			return
		}
		if !yield(line, nil) {
			return
		}
	}
}

// next returns the next line, or io.EOF after the last.
func (s *lineScanner) next() (Line, error) {
	s.sum.Reset()
	s.text, s.tail = s.text[:0], s.tail[:0]
	s.start = s.end
	line := Line{Torn: true}
	for {
		piece, err := s.in.ReadSlice('\n')
		s.end += int64(len(piece))
		if n := len(piece); n > 0 && piece[n-1] == '\n' {
			piece, line.Torn = piece[:n-1], false
		}
		s.sum.Write(piece)
		kept := min(len(piece), MaxLine-len(s.text))
		s.text = append(s.text, piece[:kept]...)
		if kept < len(piece) {
			line.Cut = true
			s.keepTail(piece[kept:])
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && err != io.EOF:
			return Line{}, err
		case err == io.EOF && s.end == s.start:
			return Line{}, io.EOF
		}
		break
	}
	s.number++
	line.Number = s.number
	line.End = s.end
	line.Text = s.text
	line.Digest = codec.DigestOf(s.sum)
	if line.Cut {
		line.Prev = prevOf(s.tail)
	} else {
		line.Prev = prevOf(s.text)
	}
	return line, nil
}

// keepTail keeps the last bytes of text and of what follows it, as many as
// prevOf looks at.
func (s *lineScanner) keepTail(piece []byte) {
	const kept = prevLen + 1
	if len(s.tail) == 0 {
		s.tail = append(s.tail, s.text[max(0, len(s.text)-kept):]...)
	}
	s.tail = append(s.tail, piece[max(0, len(piece)-kept):]...)
	s.tail = s.tail[:copy(s.tail, s.tail[max(0, len(s.tail)-kept):])]
}

// prevOf is the digest at the end of a line that this package wrote, or "".
// Only a key that stands last counts: in a line of ours it always does.
func prevOf(text []byte) string {
	if len(text) <= prevLen {
		return ""
	}
	before, end := text[len(text)-prevLen-1], text[len(text)-prevLen:]
	if before != ',' && before != '{' || !bytes.HasPrefix(end, []byte(prevMark)) || !bytes.HasSuffix(end, []byte(prevEnd)) {
		return ""
	}
	digest := end[len(prevMark)-len(digestMark) : len(end)-len(prevEnd)]
	if len(bytes.Trim(digest[len(digestMark):], "0123456789abcdef")) > 0 {
		return ""
	}
	return string(digest)
}

// chained adds prev to a line: body is a JSON object without that key.
func chained(body []byte, prev string) []byte {
	line := append([]byte{}, body[:len(body)-1]...)
	if len(body) > len("{}") {
		line = append(line, ',')
	}
	line = append(line, prevMark...)
	line = append(line, strings.TrimPrefix(prev, digestMark)...)
	return append(line, prevEnd...)
}

// The head of a log is a small file beside it (audit.head for audit.jsonl) that
// says how far the log goes. The chain shows a line that was changed; the head
// shows lines that were taken off the end, and lines that others added. It is
// written after the lines that it names, so that a log may be longer than its
// head by lines that follow from it, and never shorter.

// maxHead is more bytes than any head of ours has.
const maxHead = 1 << 10

// head is what a head file says.
type head struct {
	Lines  int    `json:"lines"`
	Digest string `json:"digest"` // of the last of them
	Size   int64  `json:"size"`   // of the log, up to the end of that line
}

// noLines is the head of an empty log.
var noLines = head{Digest: FirstPrev}

func (h head) encode() (string, error) {
	line, err := codec.MarshalLine(h)
	return string(line) + "\n", err
}

// mismatch is why a log is not the one that its head names. It becomes TAMPERED.
type mismatch string

const (
	errShorter     = mismatch("it is shorter than it was")
	errUnknownHead = mismatch("its head is not one that this program wrote")
)

func (m mismatch) Error() string { return string(m) }

func errOtherLine(number int) error {
	return mismatch(fmt.Sprintf("its line %d is another than it was", number))
}

func errStrayLine(number int) error {
	return mismatch(fmt.Sprintf("its line %d was added and does not follow from the line before it", number))
}

// decodeHead is the head in the text of a head file. A text that is not exactly
// what encode makes is a mismatch.
func decodeHead(text string) (head, error) {
	v, err := codec.Parse([]byte(text))
	if err != nil || v.Kind() != codec.Object {
		return head{}, errUnknownHead
	}
	lines, _ := v.Get("lines").Int()
	size, _ := v.Get("size").Int()
	h := head{Lines: int(lines), Digest: v.Get("digest").Str(), Size: size}
	if again, err := h.encode(); err != nil || again != text || lines < 1 || size < lines {
		return head{}, errUnknownHead
	}
	return h, nil
}

func headName(log string) string { return strings.TrimSuffix(log, ".jsonl") + ".head" }

// readHead reads the head file of a log as it is, "" when there is none.
func readHead(f *Folder, log string) (string, error) {
	p := f.place(headName(log))
	file, err := openRegular(f.root, headName(log), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", p.unreadable(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxHead))
	if len(text) == 0 && err == nil {
		return "\n", nil // a file that is there is not a missing one
	}
	return string(text), p.unreadable(err)
}

// writeHead makes text the head file of a log, durably; "" removes it.
func writeHead(f *Folder, log, text string) error {
	target, old, err := f.target(headName(log))
	if err != nil {
		return err
	}
	switch {
	case text != "":
		err = replace(f.root, target, f.newFileMode(), old, []byte(text))
	case old != nil:
		if err = f.root.Remove(target); err == nil {
			err = syncFolder(f.root, path.Dir(target))
		}
	}
	return f.place(target).unwritable(err)
}

// tempHead is a head in the making, beside the one that it is to replace.
type tempHead struct {
	file         *os.File
	name, target string
}

// stageHead writes the next head of a log, not yet durably.
func stageHead(f *Folder, log, text string) (*tempHead, error) {
	target, old, err := f.target(headName(log))
	if err != nil {
		return nil, err
	}
	file, name, err := createTemp(f.root, target, f.newFileMode())
	if err != nil {
		return nil, err
	}
	h := &tempHead{file, name, target}
	if err := fill(file, f.newFileMode(), old, []byte(text)); err != nil {
		return nil, h.move(f, err)
	}
	return h, nil
}

// move gives the head its name, unless err says that it must not have it.
func (h *tempHead) move(f *Folder, err error) error {
	return moveTemp(f.root, h.file, h.name, h.target, err)
}

// moveHead makes h the head of a log whose head file says text.
func moveHead(f *Folder, log, text string, h head) error {
	next, err := h.encode()
	if err != nil || next == text {
		return err
	}
	return writeHead(f, log, next)
}

// seek returns a scanner for what comes after h in a log of size bytes. It reads
// the line that h names. A log that is not the one that h names is a mismatch.
func (h head) seek(log io.ReaderAt, size int64) (*lineScanner, error) {
	if size < h.Size {
		return nil, errShorter
	}
	start, err := startOfLastLine(log, h.Size)
	if err != nil {
		return nil, err
	}
	scanner := scanFrom(log, start, size)
	if h.Size == 0 {
		return scanner, nil
	}
	scanner.number = h.Lines - 1
	line, err := scanner.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err == io.EOF || line.Torn || line.End != h.Size || line.Digest != h.Digest {
		return nil, errOtherLine(h.Lines)
	}
	return scanner, nil
}

// roll follows a log of size bytes from h to its last whole line. It returns the
// head of that line and the unfinished line after it, if there is one. It reads
// the line that h names and what comes after it. A log that is not the one that
// h names is a mismatch; when strict, so is a line that does not follow from the
// line before it.
func (h head) roll(log io.ReaderAt, size int64, strict bool) (end head, torn Line, err error) {
	scanner, err := h.seek(log, size)
	if err != nil {
		return h, Line{}, err
	}
	for {
		line, err := scanner.next()
		switch {
		case err == io.EOF:
			return h, Line{}, nil
		case err != nil:
			return h, Line{}, err
		case line.Torn:
			return h, line, nil
		case strict && line.Prev != h.Digest:
			return h, Line{}, errStrayLine(line.Number)
		}
		h = head{line.Number, line.Digest, line.End}
	}
}

// LogState is where a log ends.
type LogState struct {
	Lines  int    // that will stand before the next line that is added
	Digest string // of the last of them; FirstPrev when there is none
	Headed bool   // the log has a head: [Tx.Record] or [Draft.Record] began or continued it
}

// CheckLog checks whether the log name is the one that its head names, and where
// it ends. A log that is longer by lines that follow from each other was left so by
// a killed process, and its head is moved on. A log without a head is accepted as it
// is, and read from its first line; otherwise what is read does not depend on the
// length of the log. A log that does not exist has no lines.
//
// It returns TAMPERED with the reason when the log is shorter than its head
// says, the line there is a different one, a later line does not follow from the
// one before it, or the head itself was changed. It returns READ_FAILED and
// WRITE_FAILED.
func (l *Lock) CheckLog(name string) (LogState, error) {
	f := l.folder
	local, err := f.local(name)
	if err != nil {
		return LogState{}, err
	}
	text, err := readHead(f, local)
	if err != nil {
		return LogState{}, err
	}
	end, torn, err := checkLog(f, local, text)
	if err != nil {
		return LogState{}, f.place(local).unreadable(err)
	}
	if text == "" {
		state := LogState{Lines: end.Lines, Digest: end.Digest}
		if torn.Torn { // it is ended before a line is added
			state.Lines, state.Digest = torn.Number, torn.Digest
		}
		return state, nil
	}
	return LogState{Lines: end.Lines, Digest: end.Digest, Headed: true}, moveHead(f, local, text, end)
}

// CheckEnd is [Lock.CheckLog] for a reader: it takes no lock and moves nothing. It returns
// TAMPERED and READ_FAILED.
func (f *Folder) CheckEnd(name string) error {
	local, err := f.local(name)
	if err != nil {
		return err
	}
	text, err := readHead(f, local)
	if err == nil {
		_, _, err = checkLog(f, local, text)
	}
	return f.place(local).unreadable(err)
}

// checkLog compares the log name with the text of its head file; see roll.
func checkLog(f *Folder, name, text string) (end head, torn Line, err error) {
	h := noLines
	if text != "" {
		if h, err = decodeHead(text); err != nil {
			return head{}, Line{}, err
		}
	}
	log, err := openRegular(f.root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return h.roll(bytes.NewReader(nil), 0, true)
	}
	if err != nil {
		return head{}, Line{}, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return head{}, Line{}, err
	}
	return h.roll(log, info.Size(), text != "")
}
