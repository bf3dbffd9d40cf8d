package git

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Origin is the project's repository.
type Origin struct {
	Common, Format string // its folder, and the format of its objects
	// options are settings of the person: what is never committed, and with whom the
	// objects are shared.
	options []string
}

// ReadOrigin asks git about the repository of a project.
func ReadOrigin(ctx context.Context, project string) (Origin, error) {
	answer, err := Ask(ctx, project, "rev-parse", "--show-object-format", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return Origin{}, err
	}
	format, common, _ := strings.Cut(string(answer), "\n")
	o := Origin{Format: format}
	if o.Common, err = filepath.EvalSymlinks(filepath.FromSlash(strings.TrimSpace(common))); err != nil {
		return Origin{}, err
	}
	if found, err := Ask(ctx, project, "config", "--null", "--get-regexp", `^core\.(excludesfile|sharedrepository)$`); err == nil {
		for each := range ZeroTerminated(found) {
			key, value, _ := strings.Cut(string(each), "\n")
			o.options = append(o.options, "-c", key+"="+value)
		}
	}
	return o, nil
}

// ReadLine is the text of a file without the blanks around it, "" where the file
// cannot be read or is a link.
func ReadLine(desk run.Desk, dir, name string) string {
	folder, err := desk.Reach.Open("worktree", dir)
	if err != nil {
		return ""
	}
	defer folder.Close()
	if info, err := fs.Lstat(folder.FS(), name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := folder.Read(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Keeper looks at the files of a worktree, and writes them, with a repository of its
// own that has nothing of the project's but its objects. An agent can write to the
// project's repository: its configuration, attributes, filters, index and the files
// that it leaves out of a work tree count for nothing here.
type Keeper struct {
	env     []string
	options []string
	dir     string
	Remove  func()
}

// asItIs has git take the content of files as it is, but for the ends of their lines: no
// attribute of a work tree makes a file other than what a reviewer is shown.
const asItIs = "* !working-tree-encoding !ident !filter\n"

// Keep makes the keeper of a folder with files of the repository.
func (o Origin) Keep(ctx context.Context, dir string) (*Keeper, error) {
	scratch, remove, err := artifact.Scratch("tidegate-worktree-")
	if err != nil {
		return nil, err
	}
	k := &Keeper{dir: dir, Remove: remove, options: append([]string{"-c", "core.autocrlf=false", "-c", "advice.addEmbeddedRepo=false"}, o.options...), env: []string{
		"GIT_DIR=" + filepath.Join(scratch, "git"), "GIT_WORK_TREE=" + dir, "GIT_OBJECT_DIRECTORY=" + filepath.Join(o.Common, "objects"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
	}}
	if _, err = k.Git(ctx, "init", "--quiet", "--template=", "--object-format="+o.Format); err == nil {
		err = artifact.WriteScratch(scratch, "git/info/attributes", []byte(asItIs))
	}
	if err != nil {
		remove()
		return nil, err
	}
	return k, nil
}

// Git asks git with the repository of the keeper.
func (k *Keeper) Git(ctx context.Context, args ...string) ([]byte, error) {
	return k.Ask(ctx, nil, args...)
}

// Ask is git with something to read.
func (k *Keeper) Ask(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	return Run(ctx, k.dir, k.env, input, slices.Concat(k.options, args)...)
}

// AskAnyway is what git says, also where it fails.
func (k *Keeper) AskAnyway(ctx context.Context, args ...string) ([]byte, error) {
	said := &bounded{limit: maxAnswer}
	err := said.ask(ctx, k.dir, k.env, nil, slices.Concat(k.options, args)...)
	return said.text, err
}

// TrackedFile is a file of an index.
type TrackedFile struct{ Mode, Name string }

// Tracked are the files of the keeper's index.
func (k *Keeper) Tracked(ctx context.Context) ([]TrackedFile, error) {
	listed, err := k.Git(ctx, "ls-files", "-z", "--stage")
	var files []TrackedFile
	for line := range ZeroTerminated(listed) {
		about, name, _ := strings.Cut(string(line), "\t")
		mode, _, _ := strings.Cut(about, " ")
		files = append(files, TrackedFile{mode, name})
	}
	return files, err
}

// UpdateIndex does something to files of the keeper's index.
func (k *Keeper) UpdateIndex(ctx context.Context, how string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := k.Ask(ctx, []byte(strings.Join(names, "\x00")+"\x00"), "update-index", "-z", how, "--stdin")
	return err
}
