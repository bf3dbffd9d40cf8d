package pivot

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
)

// source is where outputs are read from: the folder of a run, nil where no run
// is named.
type source struct {
	folder   *artifact.Folder
	progress func(done, total int)
}

// open opens an output. It returns NOT_FOUND, READ_FAILED and, for a relative
// path that leads out of the run, PATH_NOT_ALLOWED.
func (s source) open(ctx context.Context, o Output) (*os.File, error) {
	var file *os.File
	var err error
	if filepath.IsAbs(o.Path) {
		file, err = artifact.OpenFile(ctx, "output_md_path", o.Path)
	} else {
		file, err = s.folder.Open(filepath.ToSlash(o.Path))
	}
	if err != nil {
		return nil, tidegate.WithDetails(err, o.details())
	}
	return file, nil
}

func (o Output) details() tidegate.Details {
	return tidegate.D("perspective_id", o.PerspectiveID, "output_md_path", o.Path)
}

// unreadable is READ_FAILED for an error of the file, and every other error as it
// is.
func (o Output) unreadable(err error) error {
	if tidegate.CodeOf(err) != tidegate.Internal {
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, o.details(), "%s cannot be read to its end: %w", o.Path, err)
}

// path is where an output lies, for people.
func (s source) path(o Output) string {
	if filepath.IsAbs(o.Path) {
		return o.Path
	}
	return filepath.Join(s.folder.Path(), o.Path)
}

// gaps reads the outputs, which are sorted, on all cores, and returns what they
// state. Of several failures it returns the first in the order of outputs.
func (s source) gaps(ctx context.Context, outputs []Output) ([]Gap, error) {
	found := make([][]Gap, len(outputs))
	err := parallel.Each(ctx, len(outputs), s.progress, func() func(i int) error {
		var e extractor
		return func(i int) error {
			o := outputs[i]
			file, err := s.open(ctx, o)
			if err != nil {
				return err
			}
			defer file.Close()
			found[i], err = e.extract(o.PerspectiveID, artifact.Until(ctx, file))
			for g := range found[i] {
				found[i][g].file = s.path(o)
			}
			return o.unreadable(err)
		}
	})
	if err != nil {
		return nil, err
	}
	if all := slices.Concat(found...); all != nil {
		return all, nil
	}
	return []Gap{}, nil
}

// exist demands that every output can be opened, as far as that can be seen
// without reading it.
func (s source) exist(ctx context.Context, outputs []Output) error {
	return parallel.Each(ctx, len(outputs), s.progress, func() func(i int) error {
		return func(i int) error {
			file, err := s.open(ctx, outputs[i])
			if err != nil {
				return err
			}
			return file.Close()
		}
	})
}

// digests are the digests of the outputs' bytes, in their order.
func (s source) digests(ctx context.Context, outputs []Output) ([]string, error) {
	digests := make([]string, len(outputs))
	err := parallel.Each(ctx, len(outputs), nil, func() func(i int) error {
		return func(i int) error {
			file, err := s.open(ctx, outputs[i])
			if err != nil {
				return err
			}
			defer file.Close()
			if digests[i], err = codec.DigestReader(artifact.Until(ctx, file)); err != nil {
				return outputs[i].unreadable(err)
			}
			return nil
		}
	})
	return digests, err
}
