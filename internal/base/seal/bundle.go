package seal

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
)

// BundleName is the name of the list with which a bundle begins.
const BundleName = "bundle.json"

const bundleSchema = "bundle.v1"

// Bundle is a folder that moves between machines in one file: the container of sealed files
// with a list of digests in the place of a signature. It shows that nothing was lost on the
// way, not who made it.
type Bundle struct {
	Kind  string // of the folder, as its home calls it
	ID    string
	Files []File
}

// bundleList is BundleName.
type bundleList struct {
	SchemaVersion string        `json:"schema_version"`
	Kind          string        `json:"kind"`
	ID            string        `json:"id"`
	Files         []bundledFile `json:"files"`
}

type bundledFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Write writes the bundle: the same files give the same bytes. It returns INVALID_ARGS when
// they are too many or a name leads out of its folder, and the errors of w.
func (b Bundle) Write(w io.Writer) error {
	files := slices.SortedFunc(slices.Values(b.Files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if name, fault := checkBundled(files); fault != "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	list := bundleList{bundleSchema, b.Kind, b.ID, []bundledFile{}}
	for _, file := range files {
		list.Files = append(list.Files, bundledFile{file.Name, codec.DigestBytes(file.Data)})
	}
	data, err := codec.MarshalFile(list)
	if err != nil {
		return err
	}
	return pack(w, append([]File{{BundleName, data}}, files...))
}

// BeginsBundle reports whether data can be the beginning of a bundle.
func BeginsBundle(data []byte) bool {
	return len(data) >= entryHead+len(BundleName) && string(data[entryHead:entryHead+len(BundleName)]) == BundleName
}

// OpenBundle reads a bundle; the files are parts of data. It returns TAMPERED, with what
// differs, for what is not a bundle, for one that [Bundle.Write] would not write, byte for
// byte, and for a file that does not have its digest.
func OpenBundle(data []byte) (*Bundle, error) {
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || files[0].Name != BundleName {
		return nil, tampered(tidegate.Pairs("file", BundleName), "a bundle begins with %s, and this one does not", BundleName)
	}
	var list bundleList
	if err := json.Unmarshal(files[0].Data, &list); err != nil || list.SchemaVersion != bundleSchema {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s is not a list of the files of a bundle", BundleName)
	}
	listed, err := codec.MarshalFile(list)
	if err != nil || string(listed) != string(files[0].Data) {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s is not written as a bundle writes it", BundleName)
	}
	files = files[1:]
	if name, fault := checkBundled(files); fault != "" {
		return nil, tampered(tidegate.Pairs("file", name), "%s: %q", fault, name)
	}
	if len(files) != len(list.Files) {
		return nil, tampered(tidegate.Pairs("file", BundleName), "%s lists %d files, and %d are there", BundleName, len(list.Files), len(files))
	}
	for i, file := range files {
		if list.Files[i] != (bundledFile{file.Name, codec.DigestBytes(file.Data)}) {
			return nil, tampered(tidegate.Pairs("file", file.Name), "the file is not the one that %s lists: %q", BundleName, file.Name)
		}
	}
	return &Bundle{list.Kind, list.ID, files}, nil
}

// checkBundled is checkNames for the files of a bundle. They lie in one folder, on any system,
// so that no name can be that of a folder or of another file in other letters, and none is
// one that a system or another program obeys, or by which programs hold a folder.
func checkBundled(files []File) (name, fault string) {
	if name, fault = checkNames(files); fault != "" {
		return name, fault
	}
	names := map[string]string{} // as systems compare them → as they stand here, folders with a slash
	for _, file := range files {
		if strings.EqualFold(file.Name, BundleName) || isHolder(file.Name) {
			return file.Name, "a file of that name cannot be moved"
		}
		for at := file.Name; at != "."; at = path.Dir(at) {
			if name := path.Base(at); name != ".accepted" { // where a run keeps the outputs that it took
				if why := config.Obeyed(name); why != "" {
					return file.Name, "a file cannot be moved: " + why
				}
			}
			written, folded := at, config.Folded(at)
			if at != file.Name {
				written += "/"
			}
			if other, there := names[folded]; there && other != written {
				return at, "a name is that of a file and of a folder, or differs from another in the case or the form of letters alone"
			}
			names[folded] = written
		}
	}
	return "", ""
}

// isHolder holds for the files at the top of a folder by which programs hold it.
func isHolder(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ".tidegate") || name == ".lock"
}

// Recorded are the files that a log records, by name, each with how many bytes of it: those of
// an archive end with its last record. All bytes of another file are -1.
type Recorded map[string]int64

// FilesOf are the files of a folder that its log records, each with a prefix before its name,
// and the names of those that it does not record; see [Unrecorded]. It returns READ_FAILED.
func FilesOf(folder *artifact.Folder, prefix string, recorded Recorded) (files []File, left []string, err error) {
	left, err = eachFile(folder, recorded, func(name string, end int64) error {
		data, err := folder.Read(name)
		if end >= 0 && int64(len(data)) > end {
			data = data[:end]
		}
		files = append(files, File{Name: prefix + name, Data: data})
		return err
	})
	return files, left, err
}

// Unrecorded are the names of what lies in a folder and its log does not record, in order.
// Folders are not, nor files by which programs hold it. It returns READ_FAILED.
func Unrecorded(folder *artifact.Folder, recorded Recorded) ([]string, error) {
	return eachFile(folder, recorded, func(string, int64) error { return nil })
}

// eachFile visits the files of a folder that are recorded, and names the others.
func eachFile(folder *artifact.Folder, recorded Recorded, visit func(name string, end int64) error) (others []string, err error) {
	others = []string{}
	err = fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		end, known := recorded[name]
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isHolder(name):
			return fs.SkipDir
		case entry.IsDir() || isHolder(name):
			return nil
		case known && entry.Type().IsRegular():
			return visit(name, end)
		}
		others = append(others, name)
		return nil
	})
	if err != nil && tidegate.CodeOf(err) == tidegate.Internal {
		err = tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", folder.Path()), "the folder cannot be read: %w", err)
	}
	return others, err
}
