package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxName is the length of the longest name in a folder, in bytes. It bounds
// the depth of the folders that a name can make us open and make.
const maxName = 1024

// localName is the cleaned form of a name in a folder, or PATH_NOT_ALLOWED.
func localName(name string, p place) (string, error) {
	switch {
	case len(name) > maxName:
		return "", p.notAllowed("name is longer than 1024 bytes")
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return "", p.notAllowed("name is not UTF-8 text")
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "", p.notAllowed("name must be relative and stay in its folder")
	}
	local := path.Clean(filepath.ToSlash(name))
	if first, _, _ := strings.Cut(local, "/"); strings.EqualFold(first, lockName) || strings.EqualFold(first, stagingDir) {
		return "", p.notAllowed("name is kept for locks and transactions")
	}
	return local, nil
}

// writeTarget is where a write to a name goes: the name itself or, when a
// symbolic link stands there, what the link names, provided that lies in the
// folder of the link or below it. It also returns the file that is there, or
// nil. Only regular files can be written over.
//
// The answer may be out of date at once. That is safe: what it names is
// replaced by renaming, which never follows a link, and os.Root keeps the
// folders on the way inside.
func writeTarget(root *os.Root, name string, p place) (string, fs.FileInfo, error) {
	const maxLinks = 16
	for range maxLinks {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil, nil
		case err != nil:
			return "", nil, p.unwritable(err)
		case info.Mode().IsRegular():
			return name, info, nil
		case info.IsDir():
			return "", nil, p.unwritable(errIsFolder)
		case info.Mode()&fs.ModeSymlink == 0:
			return "", nil, p.unwritable(errNotRegular)
		}
		link, err := root.Readlink(name)
		if err != nil {
			return "", nil, p.unwritable(err)
		}
		link = filepath.ToSlash(link)
		if strings.Contains("/"+link+"/", "/../") || !filepath.IsLocal(filepath.FromSlash(link)) {
			return "", nil, p.notAllowed("symbolic link leads out of its folder")
		}
		if name, err = localName(path.Join(path.Dir(name), link), p); err != nil {
			return "", nil, err
		}
	}
	return "", nil, p.unwritable(errors.New("too many symbolic links"))
}

// tempName is a name beside target for what is to become target. It has a fixed
// length, so that the longest name that a folder takes can be written.
func tempName(target string, slot any) string {
	sum := sha256.Sum256([]byte(path.Base(target)))
	return path.Join(path.Dir(target), fmt.Sprintf(".tidegate-%x-%v.tmp", sum[:6], slot))
}

// maxFileName is the length in bytes up to which a file name is kept whole. File
// systems take 255, and something may be appended.
const maxFileName = 200

// FileName is the name of a file or folder for an id: the id itself, with every
// byte that some file system does not take in a name written as %XX. Different
// ids have different names. One that is too long ends in a digest of the id.
func FileName(id string) string {
	var name strings.Builder
	for i, b := range []byte(id) {
		last := i == len(id)-1
		if b < 0x20 || b == 0x7f || strings.IndexByte(`%/\:*?"<>|~`, b) >= 0 || last && (b == '.' || b == ' ') || i == 0 && b == '.' {
			fmt.Fprintf(&name, "%%%02X", b)
		} else {
			name.WriteByte(b)
		}
	}
	if name.Len() <= maxFileName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToValidUTF8(name.String()[:maxFileName-17], "") + "~" + hex.EncodeToString(sum[:8])
}

// NameOf is the name in f of a file at path, which is absolute or relative to
// f; "" when it does not lie in f. Two spellings of one folder, by a symbolic
// link, are one folder. The file need not be there.
func (f *Folder) NameOf(path string) string {
	if !filepath.IsAbs(path) {
		return localPath(path)
	}
	if name := below(f.path, path); name != "" {
		return name
	}
	root, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	return below(root, filepath.Join(dir, filepath.Base(path)))
}

func below(root, path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	return localPath(name)
}

func localPath(name string) string {
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}
