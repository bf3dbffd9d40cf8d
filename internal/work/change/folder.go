package change

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// changesDir is where the changes of a project live.
func changesDir(desk run.Desk) string { return desk.ChangesFolder() + "/changes" }

// openProject opens the project folder. It returns INVALID_ARGS for a relative
// path and NOT_FOUND when there is no such folder.
func openProject(desk run.Desk, project string) (*artifact.Folder, error) {
	if !filepath.IsAbs(project) {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("project", tidegate.Cut(project)),
			"project must be the absolute path of a folder, got %q", tidegate.Cut(project))
	}
	return desk.Reach.Open("project", project)
}

// open opens the folder of a change to read from it. It returns INVALID_ARGS for
// an id that cannot be one, NOT_FOUND when the project or the change has no
// folder, and PATH_NOT_ALLOWED when a link leads out of the project.
func open(desk run.Desk, project, id string) (*artifact.Folder, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := openProject(desk, project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Folder(changesDir(desk) + "/" + id)
}

// openToWrite is open for a change that is written to. In a repository, which
// people share, what is made gets the modes of other files.
func openToWrite(ctx context.Context, desk run.Desk, project, id string) (*artifact.Folder, error) {
	folder, err := open(desk, project, id)
	if err == nil && inRepository(ctx, desk, project) {
		folder.Share()
	}
	return folder, err
}

// openOrMake is openToWrite for a change that may be new; made says that it was.
func openOrMake(ctx context.Context, desk run.Desk, project, id string) (folder *artifact.Folder, made bool, err error) {
	folder, err = openToWrite(ctx, desk, project, id)
	if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return folder, false, err
	}
	root, err := openProject(desk, project)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	if inRepository(ctx, desk, project) {
		root.Share()
	}
	if err := root.MakeFolder(changesDir(desk) + "/" + id); err != nil {
		return nil, false, err
	}
	folder, err = root.Folder(changesDir(desk) + "/" + id)
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
