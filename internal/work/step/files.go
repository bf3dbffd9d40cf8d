package step

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// OwnFile returns PATH_NOT_ALLOWED for a given path that is not that of the run's
// own file of that name.
func OwnFile(r *run.Run, arg, path, name string) error {
	if path == "" {
		return nil
	}
	if given, err := r.Name(arg, path); err != nil || given == name {
		return err
	}
	return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path, "run_root", r.Root()), "the run keeps this in %s and nowhere else", r.Path(name))
}

// NameOr is the name of a given path in the run, and that of the run's own file where
// none is given. It returns PATH_NOT_ALLOWED for a path outside the run.
func NameOr(r *run.Run, arg, path, own string) (string, error) {
	if path == "" {
		return own, nil
	}
	return r.Name(arg, path)
}

// ReadDocument reads a JSON document of the run. It returns NOT_FOUND,
// READ_FAILED and INVALID_JSON with its path under arg.
func ReadDocument(r *run.Run, arg, name string) (*codec.Value, error) {
	data, err := r.Folder().Read(name)
	if err != nil {
		return nil, tidegate.WithDetails(err, tidegate.Pairs(arg, r.Path(name)))
	}
	return codec.ParseFile(arg, r.Path(name), data)
}

// Existing are those of some files that the run has: a gate cannot be bound to a file
// that may be missing.
func Existing(r *run.Run, names ...string) (there []string, err error) {
	for _, name := range names {
		exists, err := r.Folder().Exists(name)
		if err != nil {
			return nil, err
		}
		if exists {
			there = append(there, name)
		}
	}
	return there, nil
}
