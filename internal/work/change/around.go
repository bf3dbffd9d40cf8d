package change

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Around is what the git of a person goes by when it merges a branch: hooks, settings,
// refs and the index of the repository, each by its name in words, with its digest. An
// agent without a cell can write to all of it.
type Around map[string]string

// settingFiles are files of a repository that change what git does, beside its config.
var settingFiles = []string{"info/attributes", "info/exclude", "info/grafts", "objects/info/alternates", "shallow"}

// LookAround reads what lies around the worktree. The branch of the change is no part of
// it. It returns READ_FAILED.
func (w *Worktree) LookAround(ctx context.Context, desk run.Desk) (Around, error) {
	a, err := w.lookAround(ctx, desk)
	if err != nil {
		return nil, git.Unread(ctx, err)
	}
	return a, nil
}

func (w *Worktree) lookAround(ctx context.Context, desk run.Desk) (Around, error) {
	a := Around{}
	for what, args := range map[string][]string{
		"setting": {"config", "--null", "--includes", "--list"},
		"ref":     {"for-each-ref", "--format=%(refname)%0a%(objectname) %(symref)%00"},
		"index":   {"ls-files", "-z", "--stage", "-v"},
		"HEAD":    {"rev-parse", "--symbolic-full-name", "HEAD"},
	} {
		said, err := git.Ask(ctx, w.project, args...)
		if err != nil {
			return nil, err
		}
		if what == "index" || what == "HEAD" {
			a["the "+what] = codec.DigestBytes(said)
			continue
		}
		for each := range git.ZeroTerminated(said) {
			name, value, _ := strings.Cut(strings.TrimPrefix(string(each), "\n"), "\n")
			if what != "ref" || name != "refs/heads/"+w.Branch {
				a["the "+what+" "+name] += codec.DigestBytes([]byte(value))
			}
		}
	}
	for _, name := range settingFiles {
		if text := git.ReadLine(desk, w.origin.Common, name); text != "" {
			a["the file .git/"+name] = codec.DigestBytes([]byte(text))
		}
	}
	for _, folder := range w.hookFolders(ctx) {
		a.addHooks(desk, folder)
	}
	return a, nil
}

// hookFolders are where the person's git looks for hooks.
func (w *Worktree) hookFolders(ctx context.Context) []string {
	list := []string{filepath.Join(w.origin.Common, "hooks")}
	for _, place := range []string{"--local", "--global"} {
		said, err := git.Ask(ctx, w.project, "config", place, "--type=path", "--get", "core.hooksPath")
		if folder := strings.TrimSpace(string(said)); err == nil && folder != "" {
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(w.project, folder)
			}
			list = append(list, folder)
		}
	}
	return list
}

func (a Around) addHooks(desk run.Desk, path string) {
	folder, err := desk.Reach.Open("hooks", path)
	if err != nil {
		return
	}
	defer folder.Close()
	fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, ".sample") {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		text, _ := folder.Read(name)
		a["the hook "+name] = codec.Digest([]string{path, info.Mode().String(), codec.DigestBytes(text)})
		return nil
	})
}

// Differences are the names of what is not as it was before, in byte order.
func (a Around) Differences(before Around) []string {
	var list []string
	for name, digest := range a {
		if before[name] != digest {
			list = append(list, name)
		}
	}
	for name := range before {
		if _, there := a[name]; !there {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
