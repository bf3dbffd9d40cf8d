package step

import (
	"errors"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

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
