package library

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// resultFile is the result of what is kept, and aboutFile says what it is about.
const (
	resultFile = "result.json"
	aboutFile  = "about.json"
)

// about is aboutFile: what a kept folder is bound to.
type about struct {
	SchemaVersion string    `json:"schema_version"`
	ID            string    `json:"id"`
	CreatedAt     string    `json:"created_at"`
	Program       string    `json:"program"`
	Question      string    `json:"question,omitzero"` // of an answer
	Of            []Subject `json:"of"`
}

// judged is the line that records a result.
func judged(desk run.Desk, result []byte, more tidegate.Details) tidegate.Details {
	return run.KeptLine(desk, "judged", tidegate.Pairs("files", append(more, tidegate.Detail{Key: resultFile, Value: codec.DigestBytes(result)})))
}

// create makes a folder under home that is bound to runs and audits, with what more adds to
// it, which may be nil.
func create(desk run.Desk, home string, a about, more func(d *artifact.Draft, path string) error) (about, string, error) {
	seed := ""
	for _, s := range a.Of {
		seed += s.ID + s.Head
	}
	path, err := run.CreateKept(desk, home, seed, func(d *artifact.Draft, id, stamp string) (tidegate.Details, error) {
		a.ID, a.CreatedAt, a.Program = id, stamp, desk.Program
		data, err := codec.MarshalFile(a)
		if err != nil {
			return nil, err
		}
		return tidegate.Pairs(aboutFile, codec.DigestBytes(data)), d.Write(aboutFile, data)
	}, more)
	return a, path, err
}
