package step

import (
	"errors"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
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

// WaveContracts are the contracts of one wave.
type WaveContracts struct {
	Wave run.Stage
	Name string // of the document
	Doc  *wave.Perspectives
}

// ReadContracts reads the contracts of a wave, where the run keeps them and
// nowhere else. It returns NOT_FOUND, READ_FAILED, INVALID_JSON and
// SCHEMA_VALIDATION_FAILED.
func ReadContracts(r *run.Run, of run.Stage) (WaveContracts, error) {
	c := WaveContracts{Wave: of, Name: r.ContractsOf(of)}
	data, err := r.Folder().Read(c.Name)
	if err != nil {
		return c, tidegate.WithDetails(err, tidegate.Pairs("perspectives_path", r.Path(c.Name)))
	}
	c.Doc, err = wave.ParsePerspectives(data, wave.Contracts)
	var syntax *codec.SyntaxError
	if errors.As(err, &syntax) {
		err = codec.NotJSON(tidegate.Pairs("perspectives_path", r.Path(c.Name)), c.Name, syntax)
	}
	return c, err
}

// Contracts reads the run's own contracts of a wave, and the digest of their
// file. It returns the errors of reading them, and INVALID_STATE for those of
// another run.
func Contracts(r *run.Run, of run.Stage) (*wave.Perspectives, string, error) {
	contracts, digest, err := contractsForIngest(r, of)
	return contracts.Doc, digest, err
}

// InStage returns STAGE_MISMATCH unless the run is in one of the stages.
func InStage(m run.Manifest, stages ...run.Stage) error {
	if slices.Contains(stages, m.Stage()) {
		return nil
	}
	return tidegate.Errorf(tidegate.StageMismatch, tidegate.Pairs("current_stage", m.Stage(), "allowed", stages),
		"the run is in stage %s; this is done in %s", m.Stage(), strings.Join(run.Texts(stages), ", "))
}

// TakesIn returns INVALID_STATE for a run that is final, and STAGE_MISMATCH for
// one that is not in that stage.
func TakesIn(u *run.Update, stage run.Stage) error {
	if err := u.NotFinal(); err != nil {
		return err
	}
	return InStage(u.Manifest(), stage)
}
