package driver

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder is the folder of an attempt. It lies among the temporary files, outside
// every run and every root, and nothing in it outlives the attempt, so it is
// made and removed here and not by package artifact.
//
//	work/    where the agent works, empty
//	tmp/     its temporary files
//	prompt   its standard input
//	stdout, stderr
//
// Clients put their configuration beside these.
type folder struct {
	root *os.Root
	path string
	key  string // the key that makes another folder at the same path
}

const folderPrefix = "tidegate-"

// makeFolder makes a folder below temp: at the place that had key before, for a
// client whose sessions belong to a path, or anywhere.
func makeFolder(temp, key string) (*folder, error) {
	var path string
	var err error
	if key == "" {
		path, err = os.MkdirTemp(temp, folderPrefix+"*")
	} else {
		path = filepath.Join(temp, folderPrefix+key)
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, key: strings.TrimPrefix(filepath.Base(path), folderPrefix)}
	if f.root, err = os.OpenRoot(path); err != nil {
		removeTree(path)
		return nil, err
	}
	for _, name := range []string{"work", "tmp"} {
		if err := f.root.Mkdir(name, 0o700); err != nil {
			f.remove()
			return nil, err
		}
	}
	return f, nil
}

// inFolder calls do with the folder of an attempt at task, which is gone
// afterwards. It is made at the place that had key before, where there is one.
// The task that do gets has its Folder and the arguments of its servers filled
// in.
func (h Host) inFolder(key string, task Task, do func(*folder, Task) (Answer, error)) (Answer, error) {
	f, err := makeFolder(h.Temp, key)
	if err != nil {
		return Answer{}, &Error{Kind: Unavailable, Message: "no folder can be made for the attempt: " + err.Error(), SessionGone: key != ""}
	}
	defer f.remove()
	if task.Folder == "" {
		task.Folder = f.in("work")
		for name, text := range task.Files {
			if !filepath.IsLocal(name) {
				return Answer{}, failf(Unavailable, "the file %q leads out of the attempt's folder", shown(name))
			}
			if err := f.write(filepath.Join("work", name), []byte(text)); err != nil {
				return Answer{}, failf(Unavailable, "the attempt's folder cannot be furnished: %v", err)
			}
		}
	}
	task.Tools.MCP = slices.Clone(task.Tools.MCP)
	for i, server := range task.Tools.MCP {
		task.Tools.MCP[i].Args = slices.Clone(server.Args)
		for j, arg := range server.Args {
			if arg == FolderArg {
				task.Tools.MCP[i].Args[j] = task.Folder
			}
		}
	}
	return do(f, task)
}

// owns reports whether the agent works in f.
func (f *folder) owns(task Task) bool { return task.Folder == f.in("work") }

// variables are those by which an agent keeps its temporary files in f.
func (f *folder) variables() []string {
	return []string{"TMPDIR=" + f.in("tmp"), "TMP=" + f.in("tmp"), "TEMP=" + f.in("tmp")}
}

// in is the path of a file or folder in f.
func (f *folder) in(name string) string { return filepath.Join(f.path, name) }

// write writes a file, with the folders above it.
func (f *folder) write(name string, data []byte) error {
	if err := f.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return f.root.WriteFile(name, data, 0o600)
}

// output makes a file that a program writes to, and opens it a second time for
// the one that follows it.
func (f *folder) output(name string) (write, read *os.File, err error) {
	// O_APPEND keeps what several processes write from covering each other.
	if write, err = f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	if read, err = f.root.Open(name); err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, read, nil
}

func (f *folder) remove() error {
	f.root.Close()
	return removeTree(f.path)
}

// removeTree removes a folder, even one in which an agent took away its own
// right to do so.
func removeTree(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	// WalkDir reads a folder after it was visited.
	fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			root.Chmod(name, 0o700)
		}
		return nil
	})
	root.Close()
	return os.RemoveAll(path)
}

// tail is the end of a file, at most size bytes.
func tail(file *os.File, size int64) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-size), size))
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
