package change

import (
	"context"
	"path"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// open opens the folder of a change to read from it. It returns INVALID_ARGS for
// an id that cannot be one, NOT_FOUND when the project or the change has no
// folder, and PATH_NOT_ALLOWED when a link leads out of the project.
func open(desk run.Desk, project, id string) (*artifact.Folder, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Folder(git.ChangesDir(desk) + "/" + id)
}

// OpenFolder opens the folder of a change that is written to. In a repository, which
// people share, what is made gets the modes of other files. It returns INVALID_ARGS,
// NOT_FOUND and PATH_NOT_ALLOWED.
func OpenFolder(ctx context.Context, desk run.Desk, project, id string) (*artifact.Folder, error) {
	folder, err := open(desk, project, id)
	if err == nil && git.InRepository(ctx, desk, project) {
		folder.Share()
	}
	return folder, err
}

// openOrMake is OpenFolder for a change that may be new; made says that it was.
func openOrMake(ctx context.Context, desk run.Desk, project, id string) (folder *artifact.Folder, made bool, err error) {
	folder, err = OpenFolder(ctx, desk, project, id)
	if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return folder, false, err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	if git.InRepository(ctx, desk, project) {
		root.Share()
	}
	if err := root.MakeFolder(git.ChangesDir(desk) + "/" + id); err != nil {
		return nil, false, err
	}
	folder, err = root.Folder(git.ChangesDir(desk) + "/" + id)
	return folder, true, err
}

func checkID(id string) error {
	if review.ValidChangeID(id) {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("change_id", tidegate.Cut(id)),
		"change_id must be %s, got %q", review.ChangeIDRule, tidegate.Cut(id))
}

// readIfThere reads a file; nil when it is not there.
func readIfThere(f *artifact.Folder, name string) ([]byte, error) {
	data, err := f.Read(name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// ignoreFile keeps locks and unfinished writes, and itself, out of what git
// reports.
const (
	ignoreFile = ".gitignore"
	ignored    = "/.gitignore\n/.tidegate.lock\n/.tidegate.home\n/.tidegate.tools\n/.tidegate-tx/\n.tidegate-*.tmp\n"
)

// lock takes the lock of the folder of a change. It returns the errors of
// [artifact.Folder.Lock].
func lock(ctx context.Context, desk run.Desk, folder *artifact.Folder) (*artifact.Lock, error) {
	held, err := folder.Lock(ctx, desk.Now)
	if err != nil {
		return nil, err
	}
	if there, err := folder.Exists(ignoreFile); err == nil && !there && git.InRepository(ctx, desk, folder.Path()) {
		// Without it git reports one more file; nothing else is wrong.
		_ = folder.Write(ignoreFile, []byte(ignored))
	}
	return held, nil
}

// UnnamedIn are the files that documents do not name: neither by path, nor by a name with an
// extension, nor by a folder above them that ends with a slash or has one in it.
func UnnamedIn(documents []git.Document, files []string) []string {
	words := map[string]bool{}
	for _, d := range documents {
		for _, word := range strings.FieldsFunc(d.Text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("_-./+@~", r)
		}) {
			words[strings.TrimPrefix(strings.TrimRight(word, "."), "./")] = true
		}
	}
	named := func(file string) bool {
		if base := path.Base(file); words[file] || words[base] && path.Ext(base) != "" {
			return true
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if words[dir+"/"] || words[dir] && strings.Contains(dir, "/") {
				return true
			}
		}
		return false
	}
	var unnamed []string
	for _, file := range files {
		if !named(file) {
			unnamed = append(unnamed, file)
		}
	}
	return unnamed
}
