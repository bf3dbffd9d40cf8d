package seal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
)

// A container is a zip archive of the plainest kind: entries are stored, not
// compressed, dated 1980-01-01, without extra fields and comments, in the order
// given, followed by their directory. So there is exactly one archive for a list
// of files. It is written here and not by archive/zip, because the bytes must
// stay the same when that package changes.

// File is a file to be sealed, or one that was.
type File struct {
	Name string // relative, with slashes
	Data []byte
}

// The parts of an archive begin with these words.
const (
	entryMark     = 0x04034b50
	directoryMark = 0x02014b50
	endMark       = 0x06054b50
)

// maxName is the length of the longest name, in bytes.
const maxName = 1024

// entryHead is the length of an entry's header before its name.
const entryHead = 30

// described is the part that an entry's header and its line of the directory
// have in common.
func described(out []byte, file File) []byte {
	le := binary.LittleEndian
	out = le.AppendUint16(out, 10)     // version of zip needed to extract
	out = le.AppendUint16(out, 1<<11)  // names are UTF-8
	out = le.AppendUint16(out, 0)      // stored
	out = le.AppendUint16(out, 0)      // 00:00:00
	out = le.AppendUint16(out, 1<<5|1) // 1980-01-01
	out = le.AppendUint32(out, crc32.ChecksumIEEE(file.Data))
	out = le.AppendUint32(out, uint32(len(file.Data)))
	out = le.AppendUint32(out, uint32(len(file.Data)))
	out = le.AppendUint16(out, uint16(len(file.Name)))
	return le.AppendUint16(out, 0) // no extra field
}

// header is what stands before the data of an entry.
func header(file File) []byte {
	out := binary.LittleEndian.AppendUint32(nil, entryMark)
	return append(described(out, file), file.Name...)
}

// directory is what stands after all entries.
func directory(files []File) []byte {
	le := binary.LittleEndian
	var out []byte
	offset := 0
	for _, file := range files {
		out = le.AppendUint32(out, directoryMark)
		out = le.AppendUint16(out, 10) // version of zip, on no particular system
		out = described(out, file)
		out = append(out, make([]byte, 10)...) // no comment, first disk, no attributes
		out = le.AppendUint32(out, uint32(offset))
		out = append(out, file.Name...)
		offset += entryHead + len(file.Name) + len(file.Data)
	}
	size := len(out)
	out = le.AppendUint32(out, endMark)
	out = le.AppendUint32(out, 0) // the only disk
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint16(out, uint16(len(files)))
	out = le.AppendUint32(out, uint32(size))
	out = le.AppendUint32(out, uint32(offset))
	return le.AppendUint16(out, 0) // no comment
}

// pack writes the archive of files. It returns INVALID_ARGS when they are too
// many or too large for an archive of this kind, and the errors of w.
func pack(w io.Writer, files []File) error {
	end := directory(files)
	total := uint64(len(end))
	for _, file := range files {
		total += uint64(entryHead + len(file.Name) + len(file.Data))
	}
	if len(files) >= math.MaxUint16 || total >= math.MaxUint32 {
		return tidegate.Errorf(tidegate.InvalidArgs, nil, "%d files are too many, or their %d bytes too large, for one file; it has at most 65534 entries and 4 GiB", len(files), total)
	}
	for _, file := range files {
		for _, part := range [][]byte{header(file), file.Data} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(end)
	return err
}

// unpack reads an archive, which must be, byte for byte, the one that pack
// writes for the files in it. The data of the files are parts of data.
func unpack(data []byte) (files []File, err error) {
	rest := data
	for len(rest) >= entryHead && binary.LittleEndian.Uint32(rest) == entryMark {
		at := len(data) - len(rest)
		size := uint64(binary.LittleEndian.Uint32(rest[18:]))
		names := uint64(binary.LittleEndian.Uint16(rest[26:]))
		if size+names > uint64(len(rest)-entryHead) {
			return nil, damaged(at, "the entry at byte %d is longer than what is left", at)
		}
		start := entryHead + names
		file := File{string(rest[entryHead:start]), rest[start : start+size]}
		if !validName(file.Name) {
			return nil, damaged(at, "the entry at byte %d has a name that cannot stand here: %q", at, file.Name)
		}
		if binary.LittleEndian.Uint32(rest[14:]) != crc32.ChecksumIEEE(file.Data) {
			return nil, tampered(tidegate.Pairs("file", file.Name), "the file is damaged: an entry does not have its checksum: %q", file.Name)
		}
		if n, same := differ(rest, header(file)); !same {
			return nil, tampered(tidegate.Pairs("file", file.Name, "byte", at+n), "the file is damaged: byte %d, in the header of %q", at+n, file.Name)
		}
		files = append(files, file)
		rest = rest[start+size:]
	}
	at, want := len(data)-len(rest), directory(files)
	if n, same := differ(rest, want); !same || len(rest) > len(want) {
		return nil, damaged(at+n, "what follows the last of %d entries is not their directory, byte %d", len(files), at+n)
	}
	return files, nil
}

func damaged(at int, format string, args ...any) error {
	return tampered(tidegate.Pairs("byte", at), "the file is damaged: "+format, args...)
}

// differ is where data first differs from want, and whether it begins with all
// of it.
func differ(data, want []byte) (at int, same bool) {
	if bytes.HasPrefix(data, want) {
		return len(want), true
	}
	for at < len(data) && data[at] == want[at] {
		at++
	}
	return at, false
}

// validName reports whether name stays in its folder wherever the archive is
// unpacked.
func validName(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxName &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}
