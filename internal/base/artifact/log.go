package artifact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// appendix is what a transaction adds to a log, and what is needed to take it
// away again.
type appendix struct {
	Name string `json:"name"`
	// From is where the log ended before, so that a line that is there already is not added
	// again; see begin.
	From     int64    `json:"from"`
	Lines    []string `json:"lines"`    // JSON objects without prev
	Recorded bool     `json:"recorded"` // part of the transaction, not best effort
	Accepted bool     `json:"accepted"` // the log is taken as it is found
	New      bool     `json:"new"`
	Head     []byte   `json:"head"` // what its head file said, empty when it had none
}

// headed reports whether the log has a head, or is given one.
func (a *appendix) headed() bool { return a.Recorded || len(a.Head) > 0 }

// strict reports whether the log must be the one that its head names.
func (a *appendix) strict() bool { return len(a.Head) > 0 && !a.Accepted }

// logLine is a line for a log, as yet without prev.
func logLine(line any) ([]byte, error) {
	body, err := codec.MarshalLine(line)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must be JSON: %w", err)
	}
	switch {
	case body[0] != '{':
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must be a JSON object")
	case hasPrev(body):
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must not have a prev of its own")
	case len(body)+1+prevLen > MaxLine:
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must not be longer than %d bytes", MaxLine)
	}
	return body, nil
}

// hasPrev reports whether a JSON object has the key prev.
func hasPrev(body []byte) bool {
	if !bytes.Contains(body, []byte(`"prev":`)) {
		return false
	}
	v, err := codec.Parse(body) // the words may stand deeper, or in a text
	return err != nil || v.Get("prev") != nil
}

// begin notes how the log is before anything is added, and finds out whether
// lines can be added to it.
func (a *appendix) begin(f *Folder) error {
	p := f.place(a.Name)
	log, err := openRegular(f.root, a.Name, os.O_RDWR)
	if a.New = errors.Is(err, fs.ErrNotExist); !a.New {
		if err != nil {
			return p.unwritable(err)
		}
		defer log.Close()
		info, err := log.Stat()
		if err != nil {
			return p.unwritable(err)
		}
		a.From = info.Size()
	}
	text, err := readHead(f, a.Name)
	if a.Head = []byte(text); err != nil || !a.strict() {
		return err
	}
	end, _, err := checkLog(f, a.Name, text)
	a.From = end.Size
	return p.unreadable(err)
}

// extend makes sure that the lines of a stand in the log after a.From, in
// order, durably, and moves the head of the log. It reads the whole log where it
// gets its first head or is accepted as it is, otherwise only its end.
func (a *appendix) extend(f *Folder) error {
	added, err := a.add(f)
	if err != nil {
		return err
	}
	var syncs syncer
	added.sync(&syncs)
	return added.finish(f, f.place(a.Name).unwritable(syncs.wait()))
}

// addition is what was added to a log, not yet durably, with the head that is to
// follow.
type addition struct {
	*appendix
	log  *os.File
	head *tempHead // nil where the head stays as it is
}

// add adds the lines of a to the log, and writes the head that is to follow
// beside the one that stands there.
func (a *appendix) add(f *Folder) (*addition, error) {
	p := f.place(a.Name)
	if _, err := f.makeMissing(path.Dir(a.Name)); err != nil {
		return nil, p.unwritable(err)
	}
	log, err := openLog(f.root, a.Name, f.newFileMode())
	if err != nil {
		return nil, p.unwritable(err)
	}
	added := &addition{appendix: a, log: log}
	if err := added.write(f); err != nil {
		log.Close()
		return nil, p.unwritable(err)
	}
	return added, nil
}

func (d *addition) write(f *Folder) error {
	text := ""
	if d.headed() {
		var err error
		if text, err = readHead(f, d.Name); err != nil {
			return err
		}
	}
	if err := d.writeLines(d.log, text); err != nil || !d.headed() {
		return err
	}
	end, err := d.end(d.log, text)
	if err != nil {
		return err
	}
	next, err := end.encode()
	if err != nil || next == text {
		return err
	}
	d.head, err = stageHead(f, d.Name, next)
	return err
}

// sync begins to make the lines and the head durable.
func (d *addition) sync(syncs *syncer) {
	syncs.run(d.log.Sync)
	if d.head != nil {
		syncs.run(d.head.file.Sync)
	}
}

// finish moves the head, unless err says why it must not; then it returns err.
// A head that falls behind in a power failure is moved on again, so that only the
// name of a first one has to be durable.
func (d *addition) finish(f *Folder, err error) error {
	d.log.Close()
	if d.head != nil {
		err = f.place(d.Name).unwritable(d.head.move(f, err))
	}
	if err == nil && (d.New || d.head != nil && len(d.Head) == 0) {
		err = f.place(d.Name).unwritable(syncFolder(f.root, path.Dir(d.Name)))
	}
	return err
}

// writeLines adds the lines to the log, whose head file says text.
func (a *appendix) writeLines(log *os.File, text string) error {
	if a.strict() {
		if err := cutTorn(log, text); err != nil {
			return err
		}
	}
	info, err := log.Stat()
	if err != nil {
		return err
	}
	missing, err := a.missing(log, info.Size())
	if err != nil {
		return err
	}
	_, err = log.Write(missing)
	return err
}

// cutTorn cuts off what a killed process left of a line after the last whole
// one: it was never reported as written. The log must be the one that the text of
// its head names.
func cutTorn(log *os.File, text string) error {
	h, err := decodeHead(text)
	if err != nil {
		return err
	}
	info, err := log.Stat()
	if err != nil {
		return err
	}
	end, torn, err := h.roll(log, info.Size(), true)
	if err != nil || !torn.Torn {
		return err
	}
	return log.Truncate(end.Size)
}

// end is the head of the log at this moment. Text is what its head file says,
// which does not count where the log is accepted as it is.
func (a *appendix) end(log *os.File, text string) (head, error) {
	info, err := log.Stat()
	if err != nil {
		return head{}, err
	}
	h := noLines
	if a.strict() {
		if h, err = decodeHead(text); err != nil {
			return head{}, err
		}
	}
	h, _, err = h.roll(log, info.Size(), a.strict())
	return h, err
}

// isDone reports whether the log has the lines and its head has moved, so that
// Commit may have said that it succeeded.
func (a *appendix) isDone(f *Folder) (bool, error) {
	text, err := readHead(f, a.Name)
	if err != nil || text == string(a.Head) {
		return false, err
	}
	h, _ := decodeHead(text) // a head that cannot be understood names nothing
	return h.Size > a.From, nil
}

// missing is what must be added at the end of a log of that size. A torn last
// line that is the beginning of one of ours is completed; any other is ended and
// becomes a line that others wrote.
func (a *appendix) missing(log io.ReaderAt, size int64) ([]byte, error) {
	from := min(a.From, size)
	start, err := startOfLastLine(log, from)
	if err != nil {
		return nil, err
	}
	scanner := scanFrom(log, start, size)
	prev, lines := FirstPrev, a.Lines
	var out []byte
	for {
		line, err := scanner.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		isNew := scanner.start >= from && len(lines) > 0
		if line.Torn {
			if whole := []byte(nil); isNew {
				whole = chained([]byte(lines[0]), prev)
				if rest, ok := bytes.CutPrefix(whole, line.Text); ok && !line.Cut {
					out = append(out, rest...)
					line.Digest = codec.DigestBytes(whole)
					lines = lines[1:]
				}
			}
			out = append(out, '\n')
		} else if isNew && line.Prev != "" && bytes.Equal(line.Text, chained([]byte(lines[0]), line.Prev)) {
			lines = lines[1:]
		}
		prev = line.Digest
	}
	for _, body := range lines {
		line := chained([]byte(body), prev)
		out = append(append(out, line...), '\n')
		prev = codec.DigestBytes(line)
	}
	return out, nil
}

// takeBack takes away what extend did, unless others have written after it. The
// head goes first, because a log must not be shorter than its head says.
func (a *appendix) takeBack(f *Folder) error {
	if a.headed() {
		text, err := readHead(f, a.Name)
		if err == nil && text != string(a.Head) {
			err = writeHead(f, a.Name, string(a.Head))
		}
		if err != nil {
			return err
		}
		clearTemp(f.root, headName(a.Name)) // it would keep the folder
	}
	return f.place(a.Name).unwritable(a.removeLines(f.root))
}

func (a *appendix) removeLines(root *os.Root) error {
	log, err := openRegular(root, a.Name, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errIsFolder), errors.Is(err, errNotRegular), err != nil && isNoFolder(err):
		return nil // nothing was added
	case err != nil:
		return err
	}
	defer log.Close()
	ours, err := a.isAllAfterFrom(log)
	if err != nil || !ours {
		return err
	}
	if !a.New {
		return cut(root, a.Name, a.From)
	}
	if err := root.Remove(a.Name); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(a.Name))
}

// isAllAfterFrom reports whether what stands in a log after a.From is what
// extend added, or a part of it.
func (a *appendix) isAllAfterFrom(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.Size() < a.From {
		return false, err
	}
	added, err := a.missing(f, a.From)
	if err != nil || info.Size()-a.From > int64(len(added)) {
		return false, err
	}
	there, err := io.ReadAll(io.NewSectionReader(f, a.From, info.Size()-a.From))
	return bytes.HasPrefix(added, there), err
}

// cut makes a log end at size, durably.
func cut(root *os.Root, name string, size int64) error {
	info, err := root.Stat(name)
	if err != nil || info.Size() == size {
		return err
	}
	f, err := openRegular(root, name, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// startOfLastLine is where the last line starts that begins before end.
func startOfLastLine(log io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for at := max(0, end-1); at > 0; { // the last byte may be the line's own newline
		n := min(at, int64(len(buf)))
		if _, err := log.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}

// openLog opens a log for adding lines. A log that has a second name, by a hard
// link, is first replaced by a copy: otherwise lines would also be added under that
// other name, wherever that is.
func openLog(root *os.Root, name string, mode fs.FileMode) (*os.File, error) {
	const flag = os.O_RDWR | os.O_CREATE | os.O_APPEND
	f, err := openOrCreate(root, name, flag, mode)
	if err != nil {
		return nil, err
	}
	shared, err := hasOtherName(f)
	if err == nil && !shared {
		return f, nil
	}
	if err == nil {
		err = replaceByCopy(root, name, f)
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	if f, err = openRegular(root, name, flag); err != nil {
		return nil, err
	}
	if shared, err = hasOtherName(f); err == nil && shared {
		err = errors.New("the log has a second name again")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// replaceByCopy gives the name of f to a file of its own with the same content.
func replaceByCopy(root *os.Root, name string, f *os.File) error {
	target, old, err := writeTarget(root, name, place{"path", name})
	if err != nil {
		return err
	}
	temp, tempName, err := createTemp(root, target, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(temp, io.NewSectionReader(f, 0, 1<<62))
	if err == nil {
		err = keepMode(temp, fileMode, old)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = moveTemp(root, temp, tempName, target, err); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(target))
}

// LastLine reads the last whole line of a log, whatever its length, without the
// lines before it. It returns the zero Line for a log that does not exist or has no
// whole line. Its Number is unknown and 0. It returns READ_FAILED.
func (f *Folder) LastLine(name string) (Line, error) {
	file, err := f.Open(name)
	if err != nil {
		return Line{}, UnlessMissing(err)
	}
	defer file.Close()
	line, err := lastLine(file)
	if err != nil {
		return Line{}, f.place(name).unreadable(err)
	}
	return line, nil
}

func lastLine(file *os.File) (Line, error) {
	info, err := file.Stat()
	if err != nil {
		return Line{}, err
	}
	for end := info.Size(); end > 0; {
		start, err := startOfLastLine(file, end)
		if err != nil {
			return Line{}, err
		}
		line, err := scanFrom(file, start, end).next()
		if err != nil && !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if !line.Torn {
			line.Number, line.Text = 0, slices.Clone(line.Text)
			return line, nil
		}
		end = start
	}
	return Line{}, nil
}

// pollEvery is how often a log that is followed is looked at.
const pollEvery = 100 * time.Millisecond

// Follow yields the whole lines of the log name whose number is at least from:
// those that are there and then each that is added, until ctx ends. A log that
// is not there yet is waited for. A line is yielded once it has its end.
//
// However many callers follow a log by the same path, the process looks at it ten
// times a second, and only wakes them. Each reads the file for itself, so that a
// slow one delays nobody.
//
// It ends with an error when it yields one: TAMPERED when a line that was there
// is not there any more, or the log is another file, and READ_FAILED. The end
// of ctx is not an error.
func (f *Folder) Follow(ctx context.Context, name string, from int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		p := f.place(name)
		local, err := f.local(name)
		if err != nil {
			yield(Line{}, err)
			return
		}
		w, err := joinWatch(f, local)
		if err != nil {
			yield(Line{}, p.unreadable(err))
			return
		}
		defer w.leave()
		r := follower{root: w.root, name: local, last: noLines}
		defer r.close()
		for {
			changed := w.next() // before reading: what comes later wakes us again
			for line, err := range r.lines() {
				switch {
				case ctx.Err() != nil:
					return
				case err != nil:
					yield(Line{}, p.unreadable(err))
					return
				case line.Number >= from && !yield(line, nil):
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// follower reads a log that grows.
type follower struct {
	root *os.Root
	name string
	file *os.File // nil until there is one
	last head     // of what was read
}

// lines yields the whole lines that are there and were not read yet, or why
// there will be no more.
func (r *follower) lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		size, err := r.size()
		if err != nil || r.file == nil {
			if err != nil {
				yield(Line{}, err)
			}
			return
		}
		scanner, err := r.last.seek(r.file, size)
		for err == nil {
			var line Line
			if line, err = scanner.next(); err != nil || line.Torn {
				break
			}
			r.last = head{line.Number, line.Digest, line.End}
			if !yield(line, nil) {
				return
			}
		}
		if err != nil && err != io.EOF {
			yield(Line{}, err)
		}
	}
}

// size opens the log if it is there by now, and returns its size. The file stays
// open, so that no other can pass for it.
func (r *follower) size() (int64, error) {
	there, err := r.root.Stat(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		if r.file != nil {
			return 0, mismatch("it is gone")
		}
		return 0, nil
	}
	if err == nil && r.file == nil {
		r.file, err = openRegular(r.root, r.name, os.O_RDONLY)
	}
	if err != nil {
		return 0, err
	}
	mine, err := r.file.Stat()
	if err != nil {
		return 0, err
	}
	if !os.SameFile(there, mine) {
		return 0, mismatch("it is another file")
	}
	return mine.Size(), nil
}

func (r *follower) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// watches are the logs that this process looks at, by path.
var watches = struct {
	mu     sync.Mutex
	byPath map[string]*watch
}{byPath: map[string]*watch{}}

// watch looks at one log for all that follow it.
type watch struct {
	root *os.Root // its own, because followers come and go
	name string
	path string
	in   int // how many follow
	stop chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed when the log has changed
}

// joinWatch joins those who follow a log. The caller calls leave in the end.
func joinWatch(f *Folder, name string) (*watch, error) {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	path := f.place(name).path
	w := watches.byPath[path]
	if w == nil {
		root, err := f.root.OpenRoot(".")
		if err != nil {
			return nil, err
		}
		w = &watch{root: root, name: name, path: path, stop: make(chan struct{}), changed: make(chan struct{})}
		watches.byPath[path] = w
		go w.run()
	}
	w.in++
	return w, nil
}

func (w *watch) leave() {
	watches.mu.Lock()
	defer watches.mu.Unlock()
	if w.in--; w.in == 0 {
		delete(watches.byPath, w.path)
		close(w.stop)
	}
}

// next is closed when the log changes after the last look at it.
func (w *watch) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func (w *watch) run() {
	defer w.root.Close()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var seen fs.FileInfo
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
		}
		// What cannot be seen is for the followers to report.
		now, _ := w.root.Stat(w.name)
		if !unchanged(seen, now) {
			w.mu.Lock()
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
		}
		seen = now
	}
}

// unchanged reports whether a file looks the same in two looks at it; nil is one
// that is not there. The time is compared because an unfinished line may be replaced
// by as many bytes.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
