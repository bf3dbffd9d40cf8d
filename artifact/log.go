package artifact

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/codec"
)

// appendix is what a transaction adds to a log. From says where the log ended
// before, so that a line that is there already is not added again.
type appendix struct {
	name  string
	from  int64
	lines [][]byte // JSON objects without prev
}

// logLine is a line for a log, as yet without prev.
func logLine(line any) ([]byte, error) {
	body, err := codec.MarshalLine(line)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must be JSON: %w", err)
	}
	v, err := codec.Parse(body)
	switch {
	case err != nil || v.Kind() != codec.Object:
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must be a JSON object")
	case v.Get("prev") != nil:
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must not have a prev of its own")
	case len(body)+1+prevLen > MaxLine:
		return nil, tidegate.Errorf(tidegate.Internal, nil, "a log line must not be longer than %d bytes", MaxLine)
	}
	return body, nil
}

// logEnd is the size of a log, 0 when there is none.
func logEnd(root *os.Root, name string) (int64, error) {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// appendLines makes sure that the lines of a stand in the log after a.from, in
// order, and adds those that do not, durably. What it reads does not depend on
// the length of the log, only on that of its last line.
func appendLines(folder *Folder, a appendix) error {
	root := folder.root
	dirs, err := missingFolders(root, path.Dir(a.name))
	if err == nil {
		err = makeFolders(root, dirs, folder.newFolderMode())
	}
	if err != nil {
		return err
	}
	f, err := openLog(root, a.name, folder.newFileMode())
	if err != nil {
		return err
	}
	defer f.Close()
	missing, end, err := missingBytes(f, a)
	if err != nil {
		return err
	}
	n, err := f.Write(missing)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && a.from == 0 {
		err = syncFolder(root, path.Dir(a.name))
	}
	if err != nil {
		takeBack(f, end, int64(n))
	}
	return err
}

// missingBytes is what must be added at the end of the log f, and where that
// is. A torn last line that is the beginning of one of ours is completed; any
// other is ended and becomes a line that others wrote.
func missingBytes(f *os.File, a appendix) ([]byte, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	end := info.Size()
	from := min(a.from, end)
	start, err := startOfLastLine(f, from)
	if err != nil {
		return nil, 0, err
	}
	scanner := newLineScanner(io.NewSectionReader(f, start, end-start))
	prev, lines := FirstPrev, a.lines
	var out []byte
	for {
		line, err := scanner.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		isNew := start+scanner.start >= from && len(lines) > 0
		if line.Torn {
			if whole := []byte(nil); isNew {
				whole = chained(lines[0], prev)
				if rest, ok := bytes.CutPrefix(whole, line.Text); ok && !line.Cut {
					out = append(out, rest...)
					line.Digest = codec.DigestBytes(whole)
					lines = lines[1:]
				}
			}
			out = append(out, '\n')
		} else if isNew && line.Prev != "" && bytes.Equal(line.Text, chained(lines[0], line.Prev)) {
			lines = lines[1:]
		}
		prev = line.Digest
	}
	for _, body := range lines {
		line := chained(body, prev)
		out = append(append(out, line...), '\n')
		prev = codec.DigestBytes(line)
	}
	return out, end, nil
}

// startOfLastLine is where the last line that begins before end begins.
func startOfLastLine(f *os.File, end int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for at := max(0, end-1); at > 0; { // the last byte may be the line's own newline
		n := min(at, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}

// takeBack removes the n bytes that were added to a log at end, unless others
// have written after them.
func takeBack(f *os.File, end, n int64) {
	if info, err := f.Stat(); err == nil && n > 0 && info.Size() == end+n {
		f.Truncate(end)
	}
}
