package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
)

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
