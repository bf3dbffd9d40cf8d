package change

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// maxBrief is how many bytes the documents of a change may have together.
const maxBrief = 256 << 10

// Brief is what a change is to do: the Markdown files of its folder and of the
// folder specs in it, except its reviews, in byte order, proposal.md first. It
// returns INVALID_STATE where there is none, SIZE_CAP_EXCEEDED, and what [StatusOf]
// returns for a change that does not exist.
func Brief(desk run.Desk, project, id string) ([]git.Document, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var names []string
	for _, dir := range []string{".", "specs"} {
		entries, err := folder.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.Type()&fs.ModeType == 0 && path.Ext(name) == ".md" && !strings.Contains(name, "REVIEW") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	if i, found := slices.BinarySearch(names, "proposal.md"); found {
		names = slices.Concat([]string{"proposal.md"}, names[:i], names[i+1:])
	}
	if len(names) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", id, "folder", folder.Path()),
			"nothing says what change %s is to do: write %s", id, filepath.Join(folder.Path(), "proposal.md"))
	}
	var documents []git.Document
	size := 0
	for _, name := range names {
		data, err := folder.ReadDocument(name)
		if err != nil {
			return nil, err
		}
		if size += len(data); size > maxBrief {
			return nil, tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("change_id", id, "max_bytes", maxBrief), "the documents of change %s have more than %d bytes", id, maxBrief)
		}
		documents = append(documents, git.Document{Name: name, Text: string(data)})
	}
	return documents, nil
}
